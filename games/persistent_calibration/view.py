"""What one seat of Persistent Calibration observes: facts for programs, short plain lines for a prompt.

Owns the wording. Knows only the `View` it is handed, which holds what that seat may know and nothing else: no scale, no
weight, no garnets and no points of another seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from weigh.games.game import Json, Observation, Seat
from weigh.games.persistent_calibration.moves import (
    EMPTY,
    HEAVIEST,
    LIGHTEST,
    PLACES,
    SCALES,
    SIDES,
    Placement,
    Placements,
    Totals,
    lighter_places,
    scale_of,
    side_of,
    totals_after,
)
from weigh.games.values import commas

Sides: TypeAlias = tuple[str | None, ...]
"""Which side each seat used in one round; None for a seat that put down nothing."""

_REMEMBERED = 512
"""Public lines kept so that the seats of one round share them; enough for the episodes that are in flight together."""


class View(NamedTuple):
    """What all seats know of a position whose next round is open, and what one seat knows of itself."""

    seats: int
    rounds_total: int
    deals: tuple[int, ...]
    """The rounds, counted from 0, before which every seat gets new weights."""
    max_garnets_per_round: int
    totals: tuple[Totals, ...]
    """What lay on the six sides after each finished round."""
    sides: tuple[Sides, ...]
    placed: tuple[Placement | None, ...]
    """What the seat itself put down in each finished round."""
    points: tuple[int, ...]
    """What the seat has scored in each."""
    garnets: int
    """What the seat holds."""
    garnets_matter: bool
    """Whether any seat could ever spend one. All know that."""


def observe(view: View, seat: Seat, names: Sequence[str], legal: Placements) -> Observation:
    """The observation of `seat`, with one name per seat."""
    return Observation(
        seat=seat,
        facts=_facts(view, seat, names, legal),
        history=tuple(
            f"{_public_line(number, totals, sides, tuple(names))} {_own_line(placement, won)}"
            for number, (totals, sides, placement, won) in enumerate(
                zip(view.totals, view.sides, view.placed, view.points, strict=True), start=1
            )
        ),
        situation=_situation(view, legal),
        legal=legal,
    )


def _facts(view: View, seat: Seat, names: Sequence[str], legal: Placements) -> dict[str, Json]:
    now, own = _now(view), _own(view)
    return {
        "seat": seat,
        "names": list(names),
        "your_alias": names[seat],
        "round": len(view.totals),
        "rounds_total": view.rounds_total,
        "rounds_left": view.rounds_total - len(view.totals),
        "deal_rounds": list(view.deals),
        "hand": list(legal.hand),
        "garnets": view.garnets,
        "max_garnets_per_round": view.max_garnets_per_round,
        "totals": _sides_of(now),
        "lighter": {scale_of(place): side_of(place) for place in lighter_places(now)},
        "history": [
            {"totals": _sides_of(totals), "sides": list(sides)}
            for totals, sides in zip(view.totals, view.sides, strict=True)
        ],
        "placements": [
            {"round": number, "scale": scale_of(put.place), "side": side_of(put.place), "value": put.value}
            for number, put in enumerate(view.placed)
            if put
        ],
        "own": _sides_of(own),
        "points": sum(view.points),
        "points_by_round": list(view.points),
        "scoring_now": _scoring(now, own),
    }


def _now(view: View) -> Totals:
    return view.totals[-1] if view.totals else EMPTY


def _own(view: View) -> Totals:
    """What the seat has put down itself, on each of the six sides."""
    return totals_after(EMPTY, view.placed)


def _scoring(totals: Totals, own: Totals) -> int:
    """What the seat would score if the scales stayed as they are."""
    return sum(own[place] for place in lighter_places(totals))


def _sides_of(totals: Totals) -> dict[str, Json]:
    """`{"A": {"left": 3, "right": 2}, ...}`."""
    sides: dict[str, dict[str, Json]] = {scale: {} for scale in SCALES}
    for place in PLACES:
        sides[scale_of(place)][side_of(place)] = totals[place]
    return dict(sides)


def _situation(view: View, legal: Placements) -> str:
    now, own = _now(view), _own(view)
    lines = [
        f"Round {len(view.totals) + 1} of {view.rounds_total}.",
        *(_scale_line(scale, now, own) for scale in SCALES),
        f"Your points: {sum(view.points)}. "
        f"If the scales stayed like this, this round would give you {_scoring(now, own)}.",
        f"Your hand: {commas(legal.hand)}.{_next_deal(view)}",
    ]
    if view.garnets_matter:
        lines.append(f"Your garnets: {view.garnets}. You may spend {legal.most or 'none'} now.")
    return "\n".join([*lines, f"Your legal moves: {legal.describe()}."])


def _scale_line(scale: str, totals: Totals, own: Totals) -> str:
    """`Scale A: left 4 (yours 1), right 3. Right is lighter by 1.`"""
    left = PLACES[SCALES.index(scale) * len(SIDES)]
    weighed = commas(
        f"{side_of(place)} {totals[place]}" + (f" (yours {own[place]})" if own[place] else "")
        for place in (left, left + 1)
    )
    lead = totals[left] - totals[left + 1]
    state = "Balanced." if not lead else f"{'Right' if lead > 0 else 'Left'} is lighter by {abs(lead)}."
    return f"Scale {scale}: {weighed}. {state}"


def _next_deal(view: View) -> str:
    """The next time new weights come; an empty text when there is none."""
    coming = [number for number in view.deals if number > len(view.totals)]
    if not coming:
        return ""
    return f" Before round {coming[0] + 1} you get {commas(range(LIGHTEST, HEAVIEST + 1))} anew."


@lru_cache(_REMEMBERED)
def _public_line(number: int, totals: Totals, sides: Sides, names: tuple[str, ...]) -> str:
    weighed = "; ".join(
        f"{scale} left {totals[2 * index]}, right {totals[2 * index + 1]}" for index, scale in enumerate(SCALES)
    )
    groups = [
        f"{label}: {commas(who)}."
        for label, side in (("Left", "left"), ("Right", "right"), ("No move", None))
        if (who := [name for name, used in zip(names, sides, strict=True) if used == side])
    ]
    return f"Round {number}: {weighed}. {' '.join(groups)}"


def _own_line(placement: Placement | None, won: int) -> str:
    if placement is None:
        put = "You put down nothing"
    else:
        put = f"You put {placement.value} on {scale_of(placement.place)} {side_of(placement.place)}"
        if placement.modify:
            put += f" (weight {placement.weight}, modify {placement.modify})"
    return f"{put} and scored {won}."
