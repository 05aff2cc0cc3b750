"""Oshi-Zumo as pictures: two purses, two sealed bids, and a token on a field that either side wants to push off.

Owns its beats: the bids are revealed, an overbid is a beat of its own, then the token moves or stays, and the end says
who was pushed off or where the token stood. Every number is the engine's. The drawing is in
`harness.web.viewer.scenes.oshi_zumo_ring`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from weigh.games.game import Event, Move, Outcome, Seat, State
from weigh.games.oshi_zumo.rules import OshiZumoState
from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.assets import asset
from weigh.harness.web.viewer.scene import Beat, BeatKind, Moment
from weigh.harness.web.viewer.scenes import oshi_zumo_ring
from weigh.harness.web.viewer.scenes.oshi_zumo_ring import Ring

STYLE: Final = asset("oshi_zumo.css")


def beats(moment: Moment) -> Sequence[Beat]:
    """The beats of one moment: see `harness.web.viewer.scene.Scene`."""
    return tuple(_beats(moment))


def said(before: State, seat: Seat, move: Move) -> str:
    """The coins: see `harness.web.viewer.scene.Scene`."""
    return str(move)


def _beats(moment: Moment) -> Iterator[Beat]:
    names, after = moment.names, cast(OshiZumoState, moment.after)
    if moment.before is None:
        size, coins = after.config.size, after.config.coins
        yield _beat(
            "start",
            "the token in the middle",
            ring_of(names, after, position=after.position),
            f"The token starts on cell {size} of 0 to {2 * size}; each purse holds {coins} coins.",
            f"{names[0]} pushes up, past cell {2 * size}; {names[1]} pushes down, past cell 0.",
        )
    if moment.moves:
        yield from _round(names, cast(OshiZumoState, moment.before), after)
    if after.outcome is not None:
        yield _ended(names, after, after.outcome)


def _round(names: Sequence[str], before: OshiZumoState, after: OshiZumoState) -> Iterator[Beat]:
    number, (up, down) = len(after.rounds), after.rounds[-1]
    happened = {event.kind: event for event in after.events[len(before.events) :]}
    yield _beat(
        "reveal",
        f"round {number}: bids",
        ring_of(names, after, position=before.position, bids=True),
        f"Round {number}: {names[0]} bids {up}, {names[1]} bids {down}.",
    )
    if "overbid" in happened:
        yield _overbid(names, before, after, happened["overbid"])
    delta = cast(int, happened["push"].data["delta"])
    if delta:
        winner = 0 if delta > 0 else 1
        place = "off the field" if not 0 <= after.position <= 2 * after.config.size else f"to cell {after.position}"
        label, said = (
            f"round {number}: push",
            f"{names[winner]} pushes the token {'up' if delta > 0 else 'down'} {place}.",
        )
    else:
        label, said = f"round {number}: no push", f"The bids are equal: the token stays on cell {after.position}."
    shown = ring_of(names, after, position=after.position, was=before.position, bids=True)
    yield _beat("move", label, shown, said)


def _overbid(names: Sequence[str], before: OshiZumoState, after: OshiZumoState, event: Event) -> Beat:
    seat, bid, margin, over = (cast(int, event.data[key]) for key in ("seat", "bid", "margin", "over"))
    return _beat(
        "overbid",
        f"round {len(after.rounds)}: overbid by {margin}",
        ring_of(names, after, position=before.position, bids=True, overbid=seat),
        f"OVERBID: {names[seat]} paid {bid} where {over + 1} was enough: {margin} above {names[1 - seat]}'s {over}.",
        banner=f"OVERBID by {margin}",
    )


_WHY: Final = {
    "pushout": "The token is off the field.",
    "coins-exhausted": "Both purses are empty.",
    "round-cap": "The last round is over.",
    "wall-clock": "The clock stopped the match.",
}


def _ended(names: Sequence[str], state: OshiZumoState, outcome: Outcome) -> Beat:
    if outcome.scores[0] == 0:
        verdict = f"A draw: the token stands in the middle, on cell {state.position}."
    else:
        verdict = f"{names[0 if outcome.scores[0] > 0 else 1]} wins."
    scores = ", ".join(
        f"{name} {score(value)} ({exact_score(value)})" for name, value in zip(names, outcome.scores, strict=True)
    )
    shown = ring_of(names, state, position=state.position, outcome=outcome, verdict=verdict)
    return _beat(
        "end", f"end: {outcome.ending}", shown, _WHY.get(outcome.ending, outcome.ending), verdict, f"Scores: {scores}."
    )


def _beat(kind: BeatKind, label: str, shown: Ring, *feed: str, banner: str | None = None) -> Beat:
    cells = 2 * shown.size + 1
    needed = (cells - shown.position, shown.position + 1)
    counts = (
        ("coins left", tuple(map(str, shown.coins))),
        ("spent", tuple(str(shown.purse - coins) for coins in shown.coins)),
        ("pushes needed", tuple("-" if shown.scores else str(pushes) for pushes in needed)),
    )
    return Beat(kind, label, oshi_zumo_ring.draw(shown), feed, counts, banner)


def ring_of(
    names: Sequence[str],
    state: OshiZumoState,
    *,
    position: int,
    was: int | None = None,
    bids: bool = False,
    overbid: int | None = None,
    outcome: Outcome | None = None,
    verdict: str = "",
) -> Ring:
    """What is drawn of a position. `bids`: those of the last round lie open; `was`: where the token came from."""
    return Ring(
        names=(names[0], names[1]),
        size=state.config.size,
        purse=state.config.coins,
        max_rounds=state.config.max_rounds,
        position=position,
        was=was,
        coins=state.coins,
        rounds=state.rounds,
        bids=state.rounds[-1] if bids else None,
        overbid=overbid,
        scores=(outcome.scores[0], outcome.scores[1]) if outcome else None,
        verdict=verdict,
    )
