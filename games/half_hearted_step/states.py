"""The positions of Half-Hearted Step: in the auction, at the choice, in play.

Owns who moves when, and how one phase follows from another. The arithmetic is in `auction` and `play`, what is reported
in `telling`, what a seat is shown in `view`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from games.game import Event, Json, Legal, Move, MoveRefused, MoveUnreadable, Observation, Outcome, Seat
from games.half_hearted_step import telling, view
from games.half_hearted_step.auction import Auction, Call
from games.half_hearted_step.board import Board
from games.half_hearted_step.contest import Contest
from games.half_hearted_step.moves import HORIZONTAL, ME, AuctionBids, FirstChoices, Steps
from games.half_hearted_step.play import Position, Turn, opening

_BOTH: frozenset[Seat] = frozenset((0, 1))
_ONE: tuple[frozenset[Seat], ...] = (frozenset((0,)), frozenset((1,)))
_NOBODY: frozenset[Seat] = frozenset()


@dataclass(frozen=True, slots=True)
class Table:
    """What stays the same throughout an episode."""

    board: Board
    priority: Seat
    lives: int
    bid_limit: int
    auction_rounds: int


class _Asks(Protocol):
    @property
    def to_act(self) -> frozenset[Seat]: ...

    def legal(self, seat: Seat) -> Legal: ...


def _check_seat(state: _Asks, seat: Seat) -> None:
    if seat not in state.to_act:
        raise ValueError(f"seat {seat} has no move to make")


def _refusal(state: _Asks, moves: Mapping[Seat, Move]) -> ValueError:
    """Why these moves cannot be played; they are known to be refused."""
    if not state.to_act:
        return ValueError("the episode is over")
    if moves.keys() != state.to_act:
        return ValueError(f"this step takes one move from each of the seats {sorted(state.to_act)}, and no other")
    seat = next(seat for seat in sorted(moves) if moves[seat] not in state.legal(seat))
    try:
        state.legal(seat).read(moves[seat])
    except MoveRefused as refused:
        return type(refused)(f"seat {seat}: {refused}")
    return MoveUnreadable(f"seat {seat}: the move is not in its canonical form; `read` makes moves canonical")


def _playable(state: _Asks, moves: Mapping[Seat, Move]) -> bool:
    return bool(moves) and moves.keys() == state.to_act and all(moves[seat] in state.legal(seat) for seat in moves)


@dataclass(frozen=True, slots=True)
class AuctionState:
    """A round of the auction is open. Implements `games.game.State`, as the other two do."""

    table: Table
    auction: Auction
    stopped: bool = False

    @property
    def to_act(self) -> frozenset[Seat]:
        return _NOBODY if self.stopped else _BOTH

    def legal(self, seat: Seat) -> AuctionBids:
        """Whatever is larger than the standing bid, or a pass."""
        _check_seat(self, seat)
        standing = self.auction.standing
        return AuctionBids(standing.bid + 1 if standing else -self.table.bid_limit, self.table.bid_limit)

    def read(self, seat: Seat, value: Json) -> int | str:
        return self.legal(seat).read(value)

    def play(self, moves: Mapping[Seat, Move]) -> AuctionState | ChoiceState:
        if not _playable(self, moves):
            raise _refusal(self, moves)
        auction = self.auction.after((_bid(moves[0]), _bid(moves[1])))
        if auction.closed_by is not None and auction.standing is not None:
            return ChoiceState(self.table, auction, auction.standing)
        return AuctionState(self.table, auction)

    def stop(self) -> AuctionState:
        if self.stopped:
            raise ValueError("the episode is over")
        return AuctionState(self.table, self.auction, stopped=True)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(telling.before_play(self.table.board, self.auction, self.outcome))

    @property
    def outcome(self) -> Outcome | None:
        return telling.unplayed(self.table.board, self.table.lives, self.auction) if self.stopped else None

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        return view.in_auction(self.table.board, self.table.bid_limit, self.auction, seat, names, legal)


def _bid(move: Move) -> int | None:
    return move if isinstance(move, int) else None


@dataclass(frozen=True, slots=True)
class ChoiceState:
    """The auction is over and its winner chooses."""

    table: Table
    auction: Auction
    won: Call
    """The bid that won; its number is the threshold."""
    stopped: bool = False

    @property
    def to_act(self) -> frozenset[Seat]:
        return _NOBODY if self.stopped else _ONE[self.won.seat]

    def legal(self, seat: Seat) -> FirstChoices:
        """The four choices, for the winner."""
        _check_seat(self, seat)
        return FirstChoices()

    def read(self, seat: Seat, value: Json) -> dict[str, Json]:
        return self.legal(seat).read(value)

    def play(self, moves: Mapping[Seat, Move]) -> PlayState:
        if not _playable(self, moves):
            raise _refusal(self, moves)
        holder, threshold = self.won
        choice = self.legal(holder).read(moves[holder])
        first = opening(
            self.table.board,
            horizontal=holder if choice["axis"] == HORIZONTAL else 1 - holder,
            active=holder if choice["active"] == ME else 1 - holder,
            lives=self.table.lives,
        )
        return PlayState(self.table, self.auction, Contest(holder, threshold), first, first, ())

    def stop(self) -> ChoiceState:
        if self.stopped:
            raise ValueError("the episode is over")
        return ChoiceState(self.table, self.auction, self.won, stopped=True)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(telling.before_play(self.table.board, self.auction, self.outcome))

    @property
    def outcome(self) -> Outcome | None:
        return telling.unplayed(self.table.board, self.table.lives, self.auction) if self.stopped else None

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        return view.at_choice(self.table.board, self.auction, self.won, seat, names, self.legal(seat))


@dataclass(frozen=True, slots=True)
class PlayState:
    """Both seats move the piece."""

    table: Table
    auction: Auction | None
    """None when the deal began with play."""
    contest: Contest
    first: Position
    """Where play began."""
    position: Position
    turns: tuple[Turn, ...]
    stopped: bool = False

    @property
    def to_act(self) -> frozenset[Seat]:
        return _BOTH if any(self.position.lives) and not self.stopped else _NOBODY

    def legal(self, seat: Seat) -> Steps:
        """Movements of up to 2 squares for the active seat, up to 1 for the other."""
        _check_seat(self, seat)
        return self.position.legal(seat)

    def read(self, seat: Seat, value: Json) -> int:
        return self.legal(seat).read(value)

    def play(self, moves: Mapping[Seat, Move]) -> PlayState:
        one, other, position = moves.get(0), moves.get(1), self.position
        if (
            type(one) is not int
            or type(other) is not int
            or len(moves) != 2
            or not self.to_act
            or one not in position.legal(0).values
            or other not in position.legal(1).values
        ):
            raise _refusal(self, moves)
        turn, after = position.after((one, other))
        return PlayState(self.table, self.auction, self.contest, self.first, after, (*self.turns, turn))

    def stop(self) -> PlayState:
        if not self.to_act:
            raise ValueError("the episode is over")
        return PlayState(self.table, self.auction, self.contest, self.first, self.position, self.turns, stopped=True)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(
            telling.in_play(self.table.priority, self.auction, self.contest, self.first, self.turns, self.outcome)
        )

    @property
    def outcome(self) -> Outcome | None:
        if self.to_act:
            return None
        return telling.played(self.auction, self.contest, self.first, self.turns, self.position)

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        return view.in_play(self.auction, self.contest, self.first, self.position, self.turns, seat, names, legal)
