"""Diagnostics of Half-Hearted Step: how an entrant bids and moves, beyond whether it wins, from records alone.

Owns the measures and their names. One pass over the records; what is kept does not grow with their number. What a seat
believed of the lead is not among the measures: nobody is asked for an estimate, only for a bid.

A landing is worth its number to the active seat, and `LIFE` when the square was visited; to the other seat it is worth
as much less. A best reply is a move than which no legal one would have been worth more against what the opponent did.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from types import MappingProxyType

from weigh.games.game import Seat, State
from weigh.games.half_hearted_step.play import Auction, Contest, Position, Turn, called, positions
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP, AuctionState, ChoiceState, PlayState
from weigh.games.registry import read_config
from weigh.games.replay import replay_states
from weigh.harness.audit.measures.means import Means, no_means
from weigh.harness.store.record import Record
from weigh.policies.scripted.half_hearted_step import LIFE

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "auction_rounds": "rounds of an auction it took part in",
        "auction_won": "share of finished auctions that it won (0 to 1; equal entrants about 1/2)",
        "opening_bid": "bid it handed in while none stood, in points of lead",
        "raise_by": "how far above the standing bid it bid, in points of lead",
        "self_raise": "share of its raises that were over a bid of its own (0 to 1)",
        "threshold": "threshold it held when it won the auction, in points of lead",
        "lead_over_threshold": "its lead at the end minus the threshold it held, in points (0 is a fair price)",
        "threshold_reached": "share of the thresholds it held that it reached (0 to 1; 1/2 is a fair price)",
        "overbid": "points by which it missed a threshold that it held and did not reach",
        "active_points": "points gained in a turn in which it was active",
        "active_lift": "worth of its active landings over that of its average legal move, same reply, in points",
        "inactive_lift": "worth it took from the opponent's landings against its average legal move, in points",
        "negative_squares": "share of its active turns in which it took a negative number (0 to 1)",
        "best_reply": "share of moves, where it had a choice, that were a best reply to the actual one (0 to 1)",
        "opponent_forced": "share of turns in which the opponent had one legal move (0 to 1)",
        "forced_best_reply": "share of those turns, where it had a choice, answered with a best reply (0 to 1)",
        "stay": "share of its moves that were to stay (0 to 1)",
        "stay_locked": "share of its moves in which it could not stay, having stayed in the turn before (0 to 1)",
        "move_entropy": "entropy of its moves given its legal moves and whether it was active, in bits (0 to 2.32)",
        "first_out": "share of complete episodes in which it lost its last life before the opponent did (0 to 1)",
        "life_avoidable": "share of its lost lives where another of its moves met a new square (0 to 1)",
        "life_on_purpose": "share of its lost lives where all such squares had negative numbers (0 to 1)",
        "fallback_stays": "moves in an episode's play that were the rule's own stay, for want of an answer",
        "fallback_draws": "moves in an episode's play that were the rule's own random draw, for want of an answer",
    }
)
"""What each measure says, with its unit."""


_Situation = tuple[bool, tuple[int, ...]]
"""Whether a seat was active, and its legal moves: some dozens of different ones."""


@dataclass(slots=True)
class _Entrant:
    """What is kept of one entrant."""

    means: Means = field(default_factory=no_means)
    moves: defaultdict[_Situation, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))


def diagnose(records: Iterable[Record]) -> dict[str, dict[str, float | None]]:
    """Every measure of `MEANINGS` by entrant; None where nothing was observed. Records of other games are passed over.

    An entrant counts for each seat it has.
    """
    entrants: defaultdict[str, _Entrant] = defaultdict(_Entrant)
    game = HALF_HEARTED_STEP
    for record in records:
        if record.game == game.name:
            states = list(replay_states(game, read_config(game, record.config), record.deal, list(record.moves)))
            for seat, name in enumerate(record.entrants):
                _add_seat(entrants[name], record, states, seat)
    return {name: _measures(entrant) for name, entrant in sorted(entrants.items())}


def _measures(entrant: _Entrant) -> dict[str, float | None]:
    known = {"move_entropy": _entropy(entrant.moves)}
    return {name: known[name] if name in known else entrant.means[name].value for name in MEANINGS}


def _entropy(moves: Mapping[_Situation, Counter[int]]) -> float | None:
    """The mean over all moves of the entropy of the moves made in the same situation."""
    counts = list(moves.values())
    total = sum(count.total() for count in counts)
    if not total:
        return None
    return sum(n * log2(count.total() / n) for count in counts for n in count.values()) / total


def _add_seat(entrant: _Entrant, record: Record, states: Sequence[State], seat: Seat) -> None:
    end, means = states[-1], entrant.means
    if isinstance(end, AuctionState | ChoiceState | PlayState) and end.auction is not None:
        _add_auction(means, end.auction, seat)
    if not isinstance(end, PlayState):
        return
    if not any(end.position.lives):
        _add_result(means, end.contest, end.position, seat)
        means["first_out"].add(_first_out(end) == seat)
    for before, turn in _turns(end):
        _add_turn(entrant, before, turn, seat)
    _add_fallbacks(means, record, states, seat)


def _add_auction(means: Means, auction: Auction, seat: Seat) -> None:
    standing = None
    for number, sealed in enumerate(auction.rounds):
        bid = sealed[seat]
        if bid is not None and standing is None:
            means["opening_bid"].add(bid)
        elif bid is not None and standing is not None:
            means["raise_by"].add(bid - standing.bid)
            means["self_raise"].add(standing.seat == seat)
        calls = called(sealed, auction.priority_in(number))
        standing = calls[-1] if calls else standing
    if auction.closed_by is not None and auction.standing is not None:
        means["auction_rounds"].add(len(auction.rounds))
        means["auction_won"].add(auction.standing.seat == seat)
        if auction.standing.seat == seat:
            means["threshold"].add(auction.standing.bid)


def _add_result(means: Means, contest: Contest, end: Position, seat: Seat) -> None:
    """How the holder's lead came out against the threshold, once it is final."""
    if contest.holder == seat:
        over = contest.lead(end.points) - contest.threshold
        means["lead_over_threshold"].add(over)
        means["threshold_reached"].add(over >= 0)
        if over < 0:
            means["overbid"].add(-over)


def _first_out(end: PlayState) -> Seat:
    """The seat that was the first to have no lives left."""
    return next(seat for now in positions(end.first, end.turns) for seat, lives in enumerate(now.lives) if not lives)


def _turns(end: PlayState) -> Iterator[tuple[Position, Turn]]:
    """Every turn with the position before it."""
    before = end.first
    for turn, after in zip(end.turns, positions(end.first, end.turns), strict=True):
        yield before, turn
        before = after


def _add_turn(entrant: _Entrant, before: Position, turn: Turn, seat: Seat) -> None:
    means, move, active = entrant.means, turn.moves[seat], turn.active == seat
    open_moves = before.legal(seat).values
    met = {step: before.lands_on(_with(turn.moves, seat, step))[1] for step in open_moves}
    worth = {step: _worth(number, active) for step, number in met.items()}
    lift = worth[move] - sum(worth.values()) / len(worth)
    best = worth[move] == max(worth.values())
    entrant.moves[active, open_moves][move] += 1
    means["stay"].add(move == 0)
    means["stay_locked"].add(before.stayed[seat])
    means["active_lift" if active else "inactive_lift"].add(lift)
    if len(open_moves) > 1:
        means["best_reply"].add(best)
    forced = len(before.legal(1 - seat)) == 1
    means["opponent_forced"].add(forced)
    if forced and len(open_moves) > 1:
        means["forced_best_reply"].add(best)
    if not active:
        return
    means["active_points"].add(turn.number or 0)
    means["negative_squares"].add(turn.number is not None and turn.number < 0)
    if turn.number is None:
        spared = [number for number in met.values() if number is not None]
        means["life_avoidable"].add(bool(spared))
        means["life_on_purpose"].add(bool(spared) and max(spared) < 0)


def _with(moves: tuple[int, int], seat: Seat, step: int) -> tuple[int, int]:
    return (step, moves[1]) if seat == 0 else (moves[0], step)


def _worth(number: int | None, active: bool) -> float:
    worth = LIFE if number is None else float(number)
    return worth if active else -worth


def _add_fallbacks(means: Means, record: Record, states: Sequence[State], seat: Seat) -> None:
    moves = [
        record.moves[decision.step][seat]
        for decision in record.decisions
        if decision.seat == seat and decision.by == "fallback" and isinstance(states[decision.step], PlayState)
    ]
    means["fallback_stays"].add(moves.count(0))
    means["fallback_draws"].add(len(moves) - moves.count(0))
