"""What happens on the board in one turn of Half-Hearted Step.

Owns the position, the movements open from it, and how two of them are resolved. Knows no auction and no winner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from games.game import Seat
from games.half_hearted_step.board import Board, Square, middle
from games.half_hearted_step.moves import HORIZONTAL, VERTICAL, Axis, Steps, steps

ACTIVE_REACH = 2
OTHER_REACH = 1
"""Squares that the active seat, and the other one, may go at most."""


class Turn(NamedTuple):
    """One turn as it was resolved."""

    moves: tuple[int, int]
    """By seat, as signed squares along the own axis."""
    active: Seat
    square: Square
    """Where the piece landed."""
    number: int | None
    """What the active seat gained; None when the square had been visited and it lost a life."""


@dataclass(frozen=True, slots=True)
class Position:
    """The piece, the squares it has been on, and how both seats stand."""

    board: Board
    horizontal: Seat
    """The seat that moves along the rows; the other moves along the columns."""
    active: Seat
    row: int
    column: int
    visited: int
    """Bit row * size + column is set for each square the piece has been on."""
    points: tuple[int, int]
    lives: tuple[int, int]
    stayed: tuple[bool, bool]
    """Whether each seat's movement in the turn before was zero."""

    @property
    def square(self) -> Square:
        return self.row, self.column

    def axis(self, seat: Seat) -> Axis:
        return HORIZONTAL if seat == self.horizontal else VERTICAL

    def legal(self, seat: Seat) -> Steps:
        """What `seat` may do, be it asked now or not."""
        across = seat == self.horizontal
        return steps(
            HORIZONTAL if across else VERTICAL,
            self.column if across else self.row,
            len(self.board),
            ACTIVE_REACH if seat == self.active else OTHER_REACH,
            not self.stayed[seat],
        )

    def lands_on(self, moves: Sequence[int]) -> tuple[Square, int | None]:
        """The square these movements lead to, and its number, or None if it was visited."""
        row = self.row + moves[1 - self.horizontal]
        column = self.column + moves[self.horizontal]
        new = not self.visited >> row * len(self.board) + column & 1
        return (row, column), self.board[row][column] if new else None

    def after(self, moves: tuple[int, int]) -> tuple[Turn, Position]:
        """The turn that two legal movements make, and the position it leads to."""
        square, number = self.lands_on(moves)
        points, lives, active = self.points, self.lives, self.active
        if number is None:
            lives = (lives[0] - 1, lives[1]) if active == 0 else (lives[0], lives[1] - 1)
        else:
            points = (points[0] + number, points[1]) if active == 0 else (points[0], points[1] + number)
        turn = Turn(moves, active, square, number)
        row, column = square
        return turn, Position(
            self.board,
            self.horizontal,
            1 - active if lives[1 - active] else active,
            row,
            column,
            self.visited | 1 << row * len(self.board) + column,
            points,
            lives,
            (moves[0] == 0, moves[1] == 0),
        )


def opening(board: Board, horizontal: Seat, active: Seat, lives: int) -> Position:
    """The piece in the middle, which counts as visited, and nothing won or lost."""
    row, column = middle(len(board))
    return Position(
        board, horizontal, active, row, column, 1 << row * len(board) + column, (0, 0), (lives, lives), (False, False)
    )


def positions(first: Position, turns: Sequence[Turn]) -> Iterator[Position]:
    """The position after each turn."""
    position = first
    for turn in turns:
        _, position = position.after(turn.moves)
        yield position


def trail(first: Position, turns: Sequence[Turn]) -> list[Square]:
    """The visited squares in the order of their first visit, the middle one first."""
    return list(dict.fromkeys([first.square, *(turn.square for turn in turns)]))
