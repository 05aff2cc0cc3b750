"""What Half-Hearted Step reports: its events, in order, and the outcome of an episode.

Owns the particulars of events and measures. Rounds and turns are counted from 0. Knows no texts and no state: it is
handed the pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from games.game import Event, Json, Outcome, Seat
from games.half_hearted_step.auction import Auction, Call, called
from games.half_hearted_step.board import Board, as_lists, middle
from games.half_hearted_step.contest import Contest
from games.half_hearted_step.moves import HORIZONTAL, ME, OPPONENT, PASS, VERTICAL
from games.half_hearted_step.play import Position, Turn, positions, trail


def before_play(board: Board, auction: Auction, outcome: Outcome | None) -> Iterator[Event]:
    """What has happened up to the choice. `outcome` is given once the episode was stopped there."""
    yield Event("start", {"board": as_lists(board), "priority": auction.priority})
    yield from _auction_events(auction)
    if outcome is not None:
        yield _end_event(outcome)


def in_play(
    priority: Seat,
    auction: Auction | None,
    contest: Contest,
    first: Position,
    turns: Sequence[Turn],
    outcome: Outcome | None,
) -> Iterator[Event]:
    """What has happened up to a turn, or to the end when there is an `outcome`.

    Without an auction `start` says what auction and choice would have settled.
    """
    if auction is None:
        given = {"horizontal": first.horizontal, "active": first.active}
        data: dict[str, Json] = {"board": as_lists(first.board), "priority": priority, **given, **contest._asdict()}
        yield Event("start", data)
    else:
        yield from before_play(first.board, auction, None)
        yield _choice_event(contest.holder, first)
    yield from _turn_events(first, turns)
    if outcome is not None:
        yield _end_event(outcome)


def _auction_events(auction: Auction) -> Iterator[Event]:
    """`bid` for each round, with what both seats handed in and whose bid then stands; `auction-end`."""
    standing: Call | None = None
    for number, sealed in enumerate(auction.rounds):
        priority = auction.priority_in(number)
        calls = called(sealed, priority)
        standing = calls[-1] if calls else standing
        yield Event(
            "bid",
            {
                "round": number,
                "priority": priority,
                "bids": [PASS if bid is None else bid for bid in sealed],
                "standing": standing.bid if standing else None,
                "seat": standing.seat if standing else None,
            },
        )
    if auction.closed_by is not None and auction.standing is not None:
        yield Event(
            "auction-end",
            {
                "seat": auction.standing.seat,
                "threshold": auction.standing.bid,
                "closed_by": auction.closed_by,
                "rounds": len(auction.rounds),
            },
        )


def _choice_event(holder: Seat, first: Position) -> Event:
    """`choice`: the winner's choice in its own words, and the seats that it makes horizontal and active first."""
    return Event(
        "choice",
        {
            "seat": holder,
            "active": ME if first.active == holder else OPPONENT,
            "axis": HORIZONTAL if first.horizontal == holder else VERTICAL,
            "horizontal": first.horizontal,
            "first": first.active,
        },
    )


def _turn_events(first: Position, turns: Sequence[Turn]) -> Iterator[Event]:
    """`move` for each turn: `points` gained by the active seat, or the `life` it lost as the number it has left."""
    for number, (turn, after) in enumerate(zip(turns, positions(first, turns), strict=True)):
        result: dict[str, Json] = {"life": after.lives[turn.active]} if turn.number is None else {"points": turn.number}
        yield Event(
            "move",
            {
                "turn": number,
                "seat": turn.active,
                "moves": list(turn.moves),
                "square": list(turn.square),
                **result,
                "points_after": list(after.points),
                "lives_after": list(after.lives),
                "next": after.active if any(after.lives) else None,
            },
        )


def _end_event(outcome: Outcome) -> Event:
    """`end`: the result, in which nobody wins when play never began."""
    winner = None if not any(outcome.scores) else int(outcome.scores[1] > 0)
    measures = outcome.measures
    return Event("end", {key: measures[key] for key in ("points", "lead", "threshold", "holder")} | {"winner": winner})


def unplayed(board: Board, lives: int, auction: Auction) -> Outcome:
    """The outcome of an episode that the wall clock ended before play: nobody has won."""
    closed = auction.standing if auction.closed_by is not None else None
    square = list(middle(len(board)))
    measures: dict[str, Json] = {
        "points": [0, 0],
        "lives": [lives, lives],
        "threshold": closed.bid if closed else None,
        "holder": closed.seat if closed else None,
        "position": square,
        "visited": [square],
        "lead": None,
        "auction": _calls(auction),
        "turns": 0,
    }
    return Outcome((Fraction(0), Fraction(0)), "deadline", "wall-clock", measures)


def played(auction: Auction | None, contest: Contest, first: Position, turns: Sequence[Turn], now: Position) -> Outcome:
    """The outcome of an episode that ended in play, by the points as they are. Without lives left it is complete."""
    winner = contest.winner(now.points)
    measures: dict[str, Json] = {
        "points": list(now.points),
        "lives": list(now.lives),
        "threshold": contest.threshold,
        "holder": contest.holder,
        "position": list(now.square),
        "visited": [list(square) for square in trail(first, turns)],
        "lead": contest.lead(now.points),
        "auction": _calls(auction),
        "turns": len(turns),
    }
    scores = tuple(Fraction(1 if seat == winner else -1) for seat in (0, 1))
    if any(now.lives):
        return Outcome(scores, "deadline", "wall-clock", measures)
    return Outcome(scores, "complete", "lives-spent", measures)


def _calls(auction: Auction | None) -> dict[str, Json]:
    """Every call in order, and why the auction closed: none and None where it was not held."""
    calls: list[Json] = [{"seat": call.seat, "bid": call.bid} for call in (auction.calls if auction else ())]
    return {"calls": calls, "closed_by": auction.closed_by if auction else None}
