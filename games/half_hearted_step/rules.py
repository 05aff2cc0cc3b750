"""Half-Hearted Step: two seats share one piece, each moves it along one axis, and a lead is auctioned beforehand.

Owns the rules as a value, the deal, and the three kinds of position: in the auction, at the choice, in play; who moves
when, and how one phase follows from another. What a step does is in `play`, what a seat observes in `view`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

from pydantic import Field, field_validator

from weigh.games.checks import ALONE, BOTH, NOBODY, check_names, check_on, not_asked, refusal, rulebook_text
from weigh.games.game import Deal, DealInvalid, Event, GameConfig, Json, Move, Observation, Outcome, Seat, State
from weigh.games.half_hearted_step import view
from weigh.games.half_hearted_step.moves import HORIZONTAL, ME, AuctionBids, FirstChoices, Steps
from weigh.games.half_hearted_step.play import (
    SILENT_ROUNDS,
    Auction,
    Board,
    Call,
    Contest,
    Match,
    Table,
    auction_events,
    end_event,
    match_events,
    middle,
    opening,
    played,
    unplayed,
)
from weigh.games.values import commas, cut, nearest, quote

RARE = (-2, -1, -1, 0, 0, 0)
"""The numbers of six squares drawn without replacement, ascending."""

USUAL = range(1, 6)
"""What each of the other squares may hold."""

_DEAL = ("board", "priority", "start")
_START = ("horizontal", "active", "threshold", "holder")


class HalfHeartedStepConfig(GameConfig):
    """What may vary between matches."""

    size: int = Field(default=7, ge=3, le=11)
    """Rows and columns of the board; odd, so that there is a middle square for the piece to start on."""
    lives: int = Field(default=3, ge=1, le=9)
    """Each seat's at the start of play."""
    bid_limit: int = Field(default=999, ge=1, le=9999)
    """Bids lie between minus this and this. No lead on a board of 7 is beyond 214 either way."""
    auction_rounds: int = Field(default=20, ge=2, le=100)
    """Rounds after which the auction is over whatever happens."""

    @field_validator("size")
    @classmethod
    def _with_a_middle(cls, size: int) -> int:
        if size % 2 == 0:
            raise ValueError("it must be odd, so that the board has a middle square")
        return size


def _may_play(state: State, moves: Mapping[Seat, Move]) -> bool:
    return bool(moves) and moves.keys() == state.to_act and all(moves[seat] in state.legal(seat) for seat in moves)


@dataclass(frozen=True, slots=True)
class _BeforePlay:
    """What the auction and the choice have in common."""

    table: Table
    auction: Auction
    stopped: bool = False

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(_with_end(auction_events(self.table, self.auction), self.outcome))

    @property
    def outcome(self) -> Outcome | None:
        return unplayed(self.table, self.auction) if self.stopped else None


def _with_end(events: Iterator[Event], outcome: Outcome | None) -> Iterator[Event]:
    yield from events
    if outcome is not None:
        yield end_event(outcome)


@dataclass(frozen=True, slots=True)
class AuctionState(_BeforePlay):
    """A round of the auction is open. Implements `games.game.State`, as the other two do."""

    @property
    def to_act(self) -> frozenset[Seat]:
        return NOBODY if self.stopped else BOTH

    def legal(self, seat: Seat) -> AuctionBids:
        """Whatever is larger than the standing bid, or a pass."""
        if seat not in self.to_act:
            raise not_asked(seat)
        standing = self.auction.standing
        return AuctionBids(standing.bid + 1 if standing else -self.table.bid_limit, self.table.bid_limit)

    def play(self, moves: Mapping[Seat, Move]) -> AuctionState | ChoiceState:
        if not _may_play(self, moves):
            raise refusal(self, moves)
        one, other = (move if isinstance(move := moves[seat], int) else None for seat in (0, 1))
        auction = self.auction.after((one, other))
        return AuctionState(self.table, auction) if auction.won is None else ChoiceState(self.table, auction)

    def stop(self) -> AuctionState:
        check_on(self)
        return replace(self, stopped=True)

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        check_names(names, 2)
        return view.in_auction(self.table, self.auction, seat, names, legal)


@dataclass(frozen=True, slots=True)
class ChoiceState(_BeforePlay):
    """The auction is over and its winner chooses."""

    @property
    def won(self) -> Call:
        """The bid that won; its number is the threshold."""
        if self.auction.won is None:
            raise ValueError("a choice before the end of the auction")
        return self.auction.won

    @property
    def to_act(self) -> frozenset[Seat]:
        return NOBODY if self.stopped else ALONE[self.won.seat]

    def legal(self, seat: Seat) -> FirstChoices:
        """The four choices, for the winner."""
        if seat not in self.to_act:
            raise not_asked(seat)
        return FirstChoices()

    def play(self, moves: Mapping[Seat, Move]) -> PlayState:
        if not _may_play(self, moves):
            raise refusal(self, moves)
        holder, threshold = self.won
        choice = self.legal(holder).read(moves[holder])
        horizontal = holder if choice["axis"] == HORIZONTAL else 1 - holder
        active = holder if choice["active"] == ME else 1 - holder
        first = opening(self.table, horizontal, active)
        return PlayState(self.table, self.auction, Contest(holder, threshold), first, first)

    def stop(self) -> ChoiceState:
        check_on(self)
        return replace(self, stopped=True)

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        check_names(names, 2)
        return view.at_choice(self.table, self.auction, self.won, seat, names, legal)


@dataclass(frozen=True, slots=True)
class PlayState(Match):
    """Both seats move the piece."""

    @property
    def to_act(self) -> frozenset[Seat]:
        return BOTH if any(self.position.lives) and not self.stopped else NOBODY

    def legal(self, seat: Seat) -> Steps:
        """Movements of up to 2 squares for the active seat, up to 1 for the other."""
        if seat not in self.to_act:
            raise not_asked(seat)
        return self.position.legal(seat)

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
            raise refusal(self, moves)
        turn, after = position.after((one, other))
        return PlayState(self.table, self.auction, self.contest, self.first, after, (*self.turns, turn))

    def stop(self) -> PlayState:
        check_on(self)
        return replace(self, stopped=True)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(_with_end(match_events(self), self.outcome))

    @property
    def outcome(self) -> Outcome | None:
        return None if self.to_act else played(self)

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        check_names(names, 2)
        return view.in_play(self, seat, names, legal)


class HalfHeartedStep:
    """The rules as a value. Implements `games.game.Game`."""

    name = "half_hearted_step"
    title = "Half-Hearted Step: an auction of a lead, then each seat moves one piece along its own axis"
    seats = range(2, 3)
    config_type = HalfHeartedStepConfig
    fallback = "stand"

    def seat_count(self, config: HalfHeartedStepConfig) -> int:
        return 2

    def rulebook(self, config: HalfHeartedStepConfig) -> str:
        return rulebook_text(
            self.name,
            size=config.size,
            lives="1 life" if config.lives == 1 else f"{config.lives} lives",
            limit=config.bid_limit,
            rounds=config.auction_rounds,
        )

    def deal(self, config: HalfHeartedStepConfig, rng: Random) -> Deal:
        """The board and the seat with priority in the first round of the auction."""
        return {"board": draw_board(config.size, rng), "priority": rng.randrange(2)}

    def start(self, config: HalfHeartedStepConfig, deal: Deal) -> AuctionState | PlayState:
        """The first round of the auction; or the first turn, when the deal has a `start`.

        `start` says what auction and choice would have settled: the seats `horizontal`, `active` and `holder`, and the
        `threshold`. Beside it `priority` may be left out.
        """
        if not isinstance(deal, Mapping):
            raise DealInvalid(f"the deal is {quote(deal)}: it must be an object with the keys board and priority")
        _check_keys("the deal", deal, _DEAL, optional=("start", "priority") if "start" in deal else ("start",))
        priority = _seat("priority", deal["priority"]) if "priority" in deal else 0
        board = read_board(deal["board"], config.size)
        table = Table(board, priority, config.lives, config.bid_limit, config.auction_rounds)
        if "start" not in deal:
            return AuctionState(table, Auction(priority, config.auction_rounds))
        given = deal["start"]
        if not isinstance(given, Mapping):
            raise DealInvalid(f"start is {quote(given)}: it must be an object with the keys {commas(_START)}")
        _check_keys("start", given, _START)
        contest = Contest(_seat("start.holder", given["holder"]), _threshold(given["threshold"], config.bid_limit))
        horizontal, active = (_seat(f"start.{key}", given[key]) for key in ("horizontal", "active"))
        first = opening(table, horizontal, active)
        return PlayState(table, None, contest, first, first)

    def longest(self, config: HalfHeartedStepConfig) -> int:
        """Auction, choice, a turn for each square of the board but the first, and one for each life."""
        return config.auction_rounds + 1 + config.size**2 - 1 + 2 * config.lives

    def decisions(self, config: HalfHeartedStepConfig) -> tuple[int, int]:
        """The fewest: a silent auction, no choice, and a turn for each life and one more, for both seats may stay on a
        visited square every second turn, and in the second turn only one square has been visited, which they leave."""
        return SILENT_ROUNDS + 2 * config.lives + 1, self.longest(config)

    def lowest(self, config: HalfHeartedStepConfig) -> Fraction:
        """That of the loser: once play has begun there is one, whenever it ends."""
        return Fraction(-1)


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
    others = sorted(number for row in rows for number in row if number is not None and number not in USUAL)
    if tuple(others) != RARE:
        raise DealInvalid(
            f"beside {USUAL[0]} to {USUAL[-1]} the board holds {cut(commas(others)) if others else 'nothing'}: "
            f"it must hold {commas(RARE)}"
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


def _check_keys(what: str, given: Mapping[Any, Json], known: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    for key in given:
        if key not in known:
            hint = nearest(key, known) if isinstance(key, str) else ""
            raise DealInvalid(f"{what} has the unknown key {quote(key)}{hint} (keys: {commas(known)})")
    for key in known:
        if key not in given and key not in optional:
            raise DealInvalid(f"{what} lacks {key} (keys: {commas(known)})")


def _seat(where: str, value: Json) -> Seat:
    if type(value) is not int or value not in (0, 1):
        raise DealInvalid(f"{where} is {quote(value)}: it must be seat 0 or 1")
    return value


def _threshold(value: Json, limit: int) -> int:
    if type(value) is not int or abs(value) > limit:
        raise DealInvalid(f"start.threshold is {quote(value)}: it must be a whole number from {-limit} to {limit}")
    return value


HALF_HEARTED_STEP = HalfHeartedStep()
