"""The board of Half-Hearted Step: how it is drawn, how it is written in a deal, and which boards can be drawn at all.

Owns squares and numbers. A square is a pair (row, column), both from 0, row 0 on top and column 0 at the left. Knows
nothing of what is visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from games.game import DealInvalid, Json
from games.quoting import quote

Board: TypeAlias = tuple[tuple[int | None, ...], ...]
"""The rows from the top; None is the middle square, which has no number."""

Square: TypeAlias = tuple[int, int]

RARE = (-2, -1, -1, 0, 0, 0)
"""The numbers of six squares drawn without replacement, ascending."""

USUAL = range(1, 6)
"""What each of the other squares may hold."""


def middle(size: int) -> Square:
    """Where the piece starts."""
    return size // 2, size // 2


def draw_board(size: int, rng: Random) -> list[Json]:
    """Rows of numbers: six squares get the rare ones, each of the rest an independent usual one."""
    count = size * size - 1
    drawn: dict[int, int] = dict(zip(rng.sample(range(count), len(RARE)), RARE, strict=True))
    numbers: list[Json] = [drawn[place] if place in drawn else rng.choice(USUAL) for place in range(count)]
    numbers.insert(count // 2, None)
    return [numbers[start : start + size] for start in range(0, size * size, size)]


def read_board(value: Json, size: int) -> Board:
    """The board that a deal spells out. Raises DealInvalid for one that `draw_board` could not have drawn."""
    if not isinstance(value, list | tuple) or len(value) != size:
        raise DealInvalid(f"board is {quote(value)}: it must be a list of {size} rows")
    rows = tuple(_row(row, number, size) for number, row in enumerate(value))
    numbers = sorted(number for row in rows for number in row if number is not None)
    if tuple(number for number in numbers if number not in USUAL) != RARE:
        listed = ", ".join(str(number) for number in numbers if number not in USUAL) or "nothing"
        raise DealInvalid(
            f"beside {USUAL[0]} to {USUAL[-1]} the board holds {_short(listed)}: "
            f"it must hold {', '.join(map(str, RARE))}"
        )
    return rows


def _row(value: Json, number: int, size: int) -> tuple[int | None, ...]:
    where = f"row {number} of the board"
    if not isinstance(value, list | tuple) or len(value) != size:
        raise DealInvalid(f"{where} is {quote(value)}: it must be a list of {size} numbers")
    row: list[int | None] = []
    for column, item in enumerate(value):
        if (number, column) == middle(size):
            if item is not None:
                raise DealInvalid(f"{where} has {quote(item)} in the middle of the board: it must be null")
            row.append(None)
        elif isinstance(item, int) and not isinstance(item, bool):
            row.append(item)
        else:
            raise DealInvalid(f"{where} holds {quote(item)} in column {column}: it must be a whole number")
    return tuple(row)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def as_lists(board: Sequence[Sequence[int | None]]) -> list[Json]:
    """The board in JSON, as a deal holds it."""
    return [list(row) for row in board]
