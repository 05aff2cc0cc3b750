"""Goofspiel as pictures: the track of prizes, sealed bids laid side by side, and what everybody has left to pay with.

Owns its beats: each round opens with its prize, then the bids are revealed, an overbid is a beat of its own, and the
end shows the standings. Every number is the engine's: hands and bids of its states, points of its arithmetic of awards.
The drawings themselves are in `harness.web.viewer.scenes.goofspiel_table`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, cast

from weigh.games.game import Move, Outcome, Seat, State
from weigh.games.goofspiel.rules import GoofspielState, awards, unit
from weigh.harness.web.viewer.amounts import amount, exact_score, score
from weigh.harness.web.viewer.assets import asset
from weigh.harness.web.viewer.scene import Beat, BeatKind, Moment
from weigh.harness.web.viewer.scenes import goofspiel_table
from weigh.harness.web.viewer.scenes.goofspiel_table import Table

STYLE: Final = asset("goofspiel.css")


def beats(moment: Moment) -> Sequence[Beat]:
    """The beats of one moment: see `harness.web.viewer.scene.Scene`."""
    return tuple(_beats(moment))


def said(before: State, seat: Seat, move: Move) -> str:
    """The card: see `harness.web.viewer.scene.Scene`."""
    return str(move)


def _beats(moment: Moment) -> Iterator[Beat]:
    after = cast(GoofspielState, moment.after)
    if moment.moves:
        yield from _revealed(moment.names, after)
    if after.outcome is not None:
        yield _ended(moment.names, after, after.outcome)
    else:
        yield _prize(moment.names, after)


def _prize(names: Sequence[str], state: GoofspielState) -> Beat:
    number = len(state.rounds)
    prize = state.table.prizes[number]
    left = state.table.max_rounds - number - 1
    shown = table_of(names, state, bidding=True)
    coming = "the last prize" if not left else f"{left} more to come"
    return _beat(
        "start" if not number else "prize",
        f"round {number + 1}: prize {prize}",
        shown,
        f"Round {number + 1} of {state.table.max_rounds}: the prize is {prize} ({coming}).",
    )


def _revealed(names: Sequence[str], state: GoofspielState) -> Iterator[Beat]:
    number = len(state.rounds) - 1
    prize, bids = state.table.prizes[number], state.rounds[number]
    shown = table_of(names, state)
    top = max(bids)
    winners = [name for name, bid in zip(names, bids, strict=True) if bid == top]
    if len(winners) == 1:
        award = f"{winners[0]} wins {prize}."
    else:
        award = f"{', '.join(winners)} tie at {top} and share {prize}: {amount(Fraction(prize, len(winners)))} each."
    said = ", ".join(f"{name} {bid}" for name, bid in zip(names, bids, strict=True))
    yield _beat("reveal", f"round {number + 1}: bids", shown, f"Bids for {prize}: {said}.", award)
    # The engine says what an overbid is: its event stands last, but for the next prize.
    event = next((event for event in reversed(state.events) if event.kind != "prize"), None)
    if event is not None and event.kind == "overbid":
        seat, bid, margin, over = (cast(int, event.data[key]) for key in ("seat", "bid", "margin", "over"))
        yield _beat(
            "overbid",
            f"round {number + 1}: overbid by {margin}",
            table_of(names, state, overbid=seat, margin=margin),
            f"OVERBID: {names[seat]} paid {bid} where {over + 1} was enough: {margin} above the next bid, {over}.",
            banner=f"OVERBID by {margin}",
        )


def _ended(names: Sequence[str], state: GoofspielState, outcome: Outcome) -> Beat:
    ranked = sorted(range(len(names)), key=lambda seat: (-outcome.scores[seat], seat))
    won = _points(state)
    standing = "; ".join(
        f"{names[seat]} {amount(won[seat])} points, score {score(outcome.scores[seat])} "
        f"({exact_score(outcome.scores[seat])})"
        for seat in ranked
    )
    played, planned = len(state.rounds), state.table.max_rounds
    why = (
        "All prizes are gone."
        if played == planned
        else f"The clock stopped the game after {played} of {planned} rounds."
    )
    shown = table_of(names, state, outcome=outcome)
    return _beat("end", f"end: {outcome.ending}", shown, why, f"Final standing: {standing}.")


def _beat(kind: BeatKind, label: str, shown: Table, *feed: str, banner: str | None = None) -> Beat:
    hands, deck = shown.hands, sum(range(1, shown.cards + 1))
    counts = (
        ("points", tuple(amount(points) for points in shown.points)),
        ("cards left", tuple(str(len(hand)) for hand in hands)),
        ("budget left", tuple(f"{sum(hand)} of {deck}" for hand in hands)),
    )
    return Beat(kind, label, goofspiel_table.draw(shown), feed, counts, banner)


def _points(state: GoofspielState) -> tuple[Fraction, ...]:
    one = unit(len(state.masks))
    return tuple(Fraction(won, one) for won in awards(state.table.prizes, state.rounds, len(state.masks))[0])


def table_of(
    names: Sequence[str],
    state: GoofspielState,
    *,
    bidding: bool = False,
    overbid: int | None = None,
    margin: int = 0,
    outcome: Outcome | None = None,
) -> Table:
    """What is drawn of a position. `bidding`: the next prize lies open and bids are face down."""
    rounds = state.rounds
    return Table(
        names=tuple(names),
        cards=len(state.table.prizes),
        prizes=state.table.prizes[: state.table.max_rounds],
        rounds=rounds,
        bidding=bidding,
        hands=state.hands,
        points=_points(state),
        gained=tuple(
            now - then
            for now, then in zip(
                _points(state),
                _points(GoofspielState(state.to_act, state.table, state.masks, rounds[:-1])),
                strict=True,
            )
        ),
        overbid=overbid,
        margin=margin,
        scores=outcome.scores if outcome else None,
    )
