"""What happens in a match of Half-Hearted Step: an auction of the lead, then turns on the board.

Owns who is called in the auction and when it closes, what a turn does, who wins with which points, and what is reported
of it all: events and outcome. Knows neither legality beyond the bounds of a movement, nor texts. Seats are 0 and 1,
squares (row, column) from the top left, rounds and turns counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from weigh.games.game import Event, Json, Outcome, Seat
from weigh.games.half_hearted_step.moves import HORIZONTAL, ME, OPPONENT, PASS, VERTICAL, Axis, Steps, steps

Board: TypeAlias = tuple[tuple[int | None, ...], ...]
"""The rows from the top; None is the middle square, which has no number."""

Square: TypeAlias = tuple[int, int]

Sealed: TypeAlias = tuple[int | None, int | None]
"""What each seat handed in for one round of the auction: a bid, or None for a pass."""

ClosedBy: TypeAlias = Literal["all-pass", "no-bid", "cap"]
"""Why the auction ended: a round without a bid, two of them before any bid at all, or the last round allowed."""

SILENT_ROUNDS = 2
"""Rounds without a bid after which an auction without an opening bid is over."""

DEEMED = 0
"""The bid that the first priority seat is then taken to have made."""

ACTIVE_REACH = 2
OTHER_REACH = 1
"""Squares that the active seat, and the other one, may go at most."""


def middle(size: int) -> Square:
    """Where the piece starts."""
    return size // 2, size // 2


@dataclass(frozen=True, slots=True)
class Table:
    """What stays the same throughout an episode."""

    board: Board
    priority: Seat
    lives: int
    bid_limit: int
    auction_rounds: int

    def board_json(self) -> list[Json]:
        """The board as a deal holds it."""
        return [list(row) for row in self.board]


class Call(NamedTuple):
    """One bid as it was called out."""

    seat: Seat
    bid: int


def called(sealed: Sealed, priority: Seat) -> tuple[Call, ...]:
    """The bids of one round in the order in which they are called: the smaller, then the larger.

    Of two equal ones only that of the seat with priority is called; the later would not be larger than the latest.
    """
    calls = [Call(seat, bid) for seat, bid in enumerate(sealed) if bid is not None]
    if len(calls) == 2 and calls[0].bid == calls[1].bid:
        return (calls[priority],)
    return tuple(sorted(calls, key=lambda call: call.bid))


@dataclass(frozen=True, slots=True)
class Auction:
    """An auction so far."""

    priority: Seat
    """Who has priority in the first round; it changes hands every round."""
    cap: int
    """Rounds after which it ends whatever happens."""
    rounds: tuple[Sealed, ...] = ()
    standing: Call | None = None
    """The latest call; of an auction that was closed by `no-bid`, the bid that is deemed made."""
    closed_by: ClosedBy | None = None
    """None while it is on."""

    def priority_in(self, number: int) -> Seat:
        """The seat with priority in a round, counted from 0."""
        return (self.priority + number) % 2

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call in order. A bid that is only deemed made was never called."""
        return tuple(
            call for number, sealed in enumerate(self.rounds) for call in called(sealed, self.priority_in(number))
        )

    @property
    def won(self) -> Call | None:
        """The bid that won, whose number is the threshold; None while the auction is on."""
        return None if self.closed_by is None else self.standing

    def after(self, sealed: Sealed) -> Auction:
        """The auction after one more round."""
        calls = called(sealed, self.priority_in(len(self.rounds)))
        rounds = (*self.rounds, sealed)
        standing = calls[-1] if calls else self.standing
        closed_by: ClosedBy | None = None
        if standing is None:
            if len(rounds) >= SILENT_ROUNDS:
                standing, closed_by = Call(self.priority, DEEMED), "no-bid"
        elif not calls:
            closed_by = "all-pass"
        elif len(rounds) >= self.cap:
            closed_by = "cap"
        return Auction(self.priority, self.cap, rounds, standing, closed_by)

    def standing_by_round(self) -> Iterator[tuple[Sealed, Call | None]]:
        """Each round with the call that stood after it."""
        standing: Call | None = None
        for number, sealed in enumerate(self.rounds):
            calls = called(sealed, self.priority_in(number))
            standing = calls[-1] if calls else standing
            yield sealed, standing

    def bids_json(self) -> list[Json]:
        """The bids and passes of each round, in seat order."""
        return [[PASS if bid is None else bid for bid in sealed] for sealed in self.rounds]


class Contest(NamedTuple):
    """What is played for: the holder wins with a lead of at least the threshold, else the opponent does."""

    holder: Seat
    threshold: int

    def lead(self, points: Sequence[int]) -> int:
        """The holder's points minus the opponent's."""
        return points[self.holder] - points[1 - self.holder]

    def winner(self, points: Sequence[int]) -> Seat:
        """Who wins with these points at the end."""
        return self.holder if self.lead(points) >= self.threshold else 1 - self.holder


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
        """What `seat` may do, whether it is due to move or not."""
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

    def landing(self, seat: Seat, own: int, other: int) -> tuple[Square, int | None]:
        """`lands_on` for the movement of `seat` and that of its opponent."""
        return self.lands_on((own, other) if seat == 0 else (other, own))

    def after(self, moves: tuple[int, int]) -> tuple[Turn, Position]:
        """The turn that two legal movements make, and the position it leads to."""
        square, number = self.lands_on(moves)
        points, lives, active = self.points, self.lives, self.active
        if number is None:
            lives = (lives[0] - 1, lives[1]) if active == 0 else (lives[0], lives[1] - 1)
        else:
            points = (points[0] + number, points[1]) if active == 0 else (points[0], points[1] + number)
        row, column = square
        return Turn(moves, active, square, number), Position(
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


def opening(table: Table, horizontal: Seat, active: Seat) -> Position:
    """The piece in the middle, which counts as visited, and nothing won or lost."""
    size = len(table.board)
    row, column = middle(size)
    lives = (table.lives, table.lives)
    return Position(
        table.board, horizontal, active, row, column, 1 << row * size + column, (0, 0), lives, (False, False)
    )


def positions(first: Position, turns: Sequence[Turn]) -> Iterator[Position]:
    """The position after each turn."""
    position = first
    for turn in turns:
        _, position = position.after(turn.moves)
        yield position


@dataclass(frozen=True, slots=True)
class Match:
    """A match in which play has begun."""

    table: Table
    auction: Auction | None
    """None when the deal began with play."""
    contest: Contest
    first: Position
    """Where play began."""
    position: Position
    turns: tuple[Turn, ...] = ()
    stopped: bool = False

    @property
    def trail(self) -> list[Square]:
        """The visited squares in the order of their first visit, the middle one first."""
        return list(dict.fromkeys([self.first.square, *(turn.square for turn in self.turns)]))


def auction_events(table: Table, auction: Auction) -> Iterator[Event]:
    """`start`; `bid` for each round, with what both seats handed in and whose bid then stands; `auction-end`."""
    yield Event.of("start", board=table.board_json(), priority=auction.priority)
    for number, (bids, (_, standing)) in enumerate(zip(auction.bids_json(), auction.standing_by_round(), strict=True)):
        seat, bid = standing or (None, None)
        yield Event.of("bid", round=number, priority=auction.priority_in(number), bids=bids, standing=bid, seat=seat)
    if auction.won is not None:
        seat, bid = auction.won
        closed_by, rounds = auction.closed_by, len(auction.rounds)
        yield Event.of("auction-end", seat=seat, threshold=bid, closed_by=closed_by, rounds=rounds)


def match_events(match: Match) -> Iterator[Event]:
    """Those of the auction, then `choice`: the winner's choice, and the seats that it makes horizontal and active.

    Without an auction `start` says what auction and choice would have settled. Then `move` for each turn, with the
    `points` gained by the active seat, or the `life` it lost as the number it has left.
    """
    first, (holder, threshold) = match.first, match.contest
    if match.auction is None:
        settled: dict[str, Json] = {"horizontal": first.horizontal, "active": first.active, "holder": holder}
        board, priority = match.table.board_json(), match.table.priority
        yield Event.of("start", board=board, priority=priority, **settled, threshold=threshold)
    else:
        yield from auction_events(match.table, match.auction)
        active = ME if first.active == holder else OPPONENT
        seats: dict[str, Json] = {"horizontal": first.horizontal, "first": first.active}
        yield Event.of("choice", seat=holder, active=active, axis=first.axis(holder), **seats)
    for number, (turn, after) in enumerate(zip(match.turns, positions(first, match.turns), strict=True)):
        lost = turn.number is None
        result: dict[str, Json] = {"life": after.lives[turn.active]} if lost else {"points": turn.number}
        result |= {"points_after": list(after.points), "lives_after": list(after.lives)}
        due = after.active if any(after.lives) else None
        moves, square = list(turn.moves), list(turn.square)
        yield Event.of("move", turn=number, seat=turn.active, moves=moves, square=square, **result, next=due)


def end_event(outcome: Outcome) -> Event:
    """`end`: the result, without a winner when play never began."""
    winner = None if not any(outcome.scores) else int(outcome.scores[1] > 0)
    measures = outcome.measures
    return Event("end", {key: measures[key] for key in ("points", "lead", "threshold", "holder")} | {"winner": winner})


def unplayed(table: Table, auction: Auction) -> Outcome:
    """The outcome of an episode that the wall clock ended before play: it has no winner."""
    square: list[Json] = list(middle(len(table.board)))
    holder, threshold = auction.won or (None, None)
    measures: dict[str, Json] = {
        "points": [0, 0],
        "lives": [table.lives, table.lives],
        "threshold": threshold,
        "holder": holder,
        "position": square,
        "visited": [square],
        "lead": None,
        "auction": _calls(auction),
        "turns": 0,
    }
    return Outcome((Fraction(0), Fraction(0)), "deadline", "wall-clock", measures)


def played(match: Match) -> Outcome:
    """The outcome of an episode that ended in play, by the points as they are. Without lives left it is complete."""
    now, contest = match.position, match.contest
    winner = contest.winner(now.points)
    measures: dict[str, Json] = {
        "points": list(now.points),
        "lives": list(now.lives),
        "threshold": contest.threshold,
        "holder": contest.holder,
        "position": list(now.square),
        "visited": [list(square) for square in match.trail],
        "lead": contest.lead(now.points),
        "auction": _calls(match.auction),
        "turns": len(match.turns),
    }
    scores = tuple(Fraction(1 if seat == winner else -1) for seat in (0, 1))
    if any(now.lives):
        return Outcome(scores, "deadline", "wall-clock", measures)
    return Outcome(scores, "complete", "lives-spent", measures)


def _calls(auction: Auction | None) -> dict[str, Json]:
    """Every call in order, and why the auction closed: none and None where it was not held."""
    calls: list[Json] = [call._asdict() for call in (auction.calls if auction else ())]
    return {"calls": calls, "closed_by": auction.closed_by if auction else None}
