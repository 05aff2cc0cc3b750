"""The drawing of a game of Ballast: both sides with their hands, and every scale tilted by what truly lies on it.

Owns how it looks, knows no rule: `Scales` holds everything that is drawn. A weight shows what it is worth, and beside
that what was said of it: dashed while it is face down, and marked where the two differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from weigh.games.ballast.moves import Verdict, Weight
from weigh.games.game import Seat
from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.seat_marks import badge, marks, seat_class


@dataclass(frozen=True, slots=True)
class Scales:
    """One position, and what is pointed at in it. Everything by seat is in seat order."""

    names: tuple[str, str]
    weights: int
    """Each side began with 1..weights."""
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    given_up: tuple[tuple[int, ...], tuple[int, ...]]
    """What each side paid for a challenge that failed."""
    placed: tuple[Weight, ...]
    verdicts: tuple[Verdict, ...]
    """By scale, as the engine judges them now."""
    challenged: tuple[bool, bool]
    mover: Seat | None
    discarding: bool
    new: int | None
    """The number of the weight that just came down."""
    called: int | None
    """The number of the weight that was just challenged. It is drawn where it lay even if it was removed."""
    scores: tuple[Fraction, ...] | None
    """At the end only."""


def draw(shown: Scales) -> Element:
    """The whole picture."""
    own = marks(shown.names)
    drawn = [[_on(shown, scale, seat) for seat in (0, 1)] for scale in range(len(shown.verdicts))]
    rooms = max([2, *(len(pan) for pans in drawn for pan in pans)])
    return h(
        "div",
        {"class": "ballast", "role": "img", "aria-label": _told(shown)},
        h("div", {"class": "ballast-sides"}, _side(shown, own, 0), _side(shown, own, 1)),
        h(
            "div",
            {"class": "ballast-scales"},
            *(_scale(shown, own, scale, pans, rooms) for scale, pans in enumerate(drawn)),
        ),
    )


def _on(shown: Scales, scale: int, seat: Seat) -> list[int]:
    """The numbers of what is drawn on one pan, from the bottom."""
    return [
        number
        for number, weight in enumerate(shown.placed)
        if weight.scale == scale and weight.owner == seat and (weight.status != "removed" or number == shown.called)
    ]


def why(verdict: Verdict) -> str:
    """What decides a scale: `larger total, 7 to 4`."""
    if verdict.winner is None:
        return "empty"
    mine, theirs = verdict.winner, 1 - verdict.winner
    if verdict.totals[0] != verdict.totals[1]:
        return f"larger total, {verdict.totals[mine]} to {verdict.totals[theirs]}"
    if verdict.counts[0] != verdict.counts[1]:
        counts = f"{verdict.counts[mine]} to {verdict.counts[theirs]}"
        return f"equal totals of {verdict.totals[0]}, fewer weights, {counts}"
    return f"equal totals of {verdict.totals[0]}, as many weights, first on the scale"


def _told(shown: Scales) -> str:
    names = shown.names
    scales = ". ".join(
        f"Scale {number}: {names[0]} {verdict.totals[0]}, {names[1]} {verdict.totals[1]}"
        for number, verdict in enumerate(shown.verdicts)
    )
    if shown.scores is not None:
        results = ", ".join(f"{name} {score(value)}" for name, value in zip(names, shown.scores, strict=True))
        return f"The end, by true weights. {scales}. Scores: {results}."
    hands = ", ".join(
        f"{name} {' '.join(map(str, hand)) or 'nothing'}" for name, hand in zip(names, shown.hands, strict=True)
    )
    return f"True weights. {scales}. In hand: {hands}."


# -- the two sides -----------------------------------------------------------------------------------------------------


def _side(shown: Scales, own: Sequence[str], seat: Seat) -> Element:
    moving = shown.mover == seat and shown.scores is None
    if shown.scores is not None:
        state = f"{score(shown.scores[seat])} ({exact_score(shown.scores[seat])})"
    elif moving:
        state = "gives up a weight" if shown.discarding else "to move"
    else:
        state = "hand is empty" if not shown.hands[seat] else "waits"
    used = shown.challenged[seat]
    return h(
        "div",
        {"class": f"ballast-side {seat_class(seat)}{' ballast-moving' if moving else ''}"},
        h("div", {"class": "ballast-who"}, badge(seat, own[seat]), h("span", None, shown.names[seat])),
        _hand(shown, seat),
        h(
            "div",
            {"class": "ballast-state"},
            h("b", None, state),
            h(
                "span",
                {"class": "ballast-used" if used else "ballast-ready"},
                f"challenge {'used' if used else 'left'}",
            ),
        ),
    )


_SLOT: Final = 30


def _hand(shown: Scales, seat: Seat) -> Element:
    """Every weight the side began with: full ones held, empty ones on a scale, struck ones out of the game."""
    lost = {weight.true for weight in shown.placed if weight.owner == seat and weight.status == "removed"}
    lost.update(shown.given_up[seat])
    return h(
        "svg",
        {"class": "ballast-hand", "viewBox": f"0 0 {shown.weights * _SLOT} 30", "aria-hidden": "true"},
        *(
            _held(value, "held" if value in shown.hands[seat] else "lost" if value in lost else "gone")
            for value in range(1, shown.weights + 1)
        ),
    )


@lru_cache(maxsize=4_096)
def _held(value: int, state: str) -> Element:
    left = (value - 1) * _SLOT
    return h(
        "g",
        {"class": f"ballast-{state}"},
        h("rect", {"x": left + 2, "y": 2, "width": _SLOT - 4, "height": 26, "rx": 6}),
        h("text", {"x": left + _SLOT / 2, "y": 20}, str(value)),
        h("path", {"d": f"M{left + 6} 24l18-18"}) if state == "lost" else None,
    )


# -- the scales --------------------------------------------------------------------------------------------------------

_WIDE: Final = 192
_CHIP: Final = 80
_HIGH: Final = 32
_SWING: Final = 14
"""How far a pan goes down at most."""
_CENTRES: Final = (48, 144)


def _scale(shown: Scales, own: Sequence[str], scale: int, pans: Sequence[Sequence[int]], rooms: int) -> Element:
    verdict = shown.verdicts[scale]
    over = shown.scores is not None
    if verdict.winner is None:
        classes, leader = "ballast-scale", None
    else:
        classes = f"ballast-scale {seat_class(verdict.winner)}{' ballast-won' if over else ''}"
        leader = badge(verdict.winner, own[verdict.winner])
    said = "nobody" if verdict.winner is None else "wins" if over else "ahead"
    gone = [
        number for number, weight in enumerate(shown.placed) if weight.scale == scale and weight.status == "removed"
    ]
    return h(
        "div",
        {"class": classes},
        h("div", {"class": "ballast-head"}, h("b", None, f"Scale {scale}"), h("span", None, leader, said)),
        _balance(shown, own, verdict, pans, rooms),
        h("small", {"class": "ballast-why"}, why(verdict)),
        *(h("small", {"class": "ballast-out"}, _out(own, shown.placed[number], number)) for number in gone),
    )


def _out(own: Sequence[str], weight: Weight, number: int) -> str:
    return f"#{number} removed: {own[weight.owner]}'s {weight.true}, said {weight.announced}"


def _balance(shown: Scales, own: Sequence[str], verdict: Verdict, pans: Sequence[Sequence[int]], rooms: int) -> Element:
    lead = verdict.totals[0] - verdict.totals[1]
    # The same lead tilts as far on every scale, and a larger one always further.
    drop = _SWING * lead / (abs(lead) + shown.weights / 2)
    floor = rooms * _HIGH + _SWING + 4
    drops = (drop, -drop)
    return h(
        "svg",
        {"class": "ballast-balance", "viewBox": f"0 0 {_WIDE} {floor + 62}", "aria-hidden": "true"},
        h("path", {"class": "ballast-stand", "d": f"M{_WIDE // 2} {floor + 16}l-15 38h30z"}),
        h(
            "line",
            {
                "class": "ballast-beam",
                "x1": _CENTRES[0],
                "y1": floor + 16 + drop,
                "x2": _CENTRES[1],
                "y2": floor + 16 - drop,
            },
        ),
        h("circle", {"class": "ballast-pivot", "cx": _WIDE // 2, "cy": floor + 16, "r": 5}),
        *(_pan(shown, seat, pans[seat], floor + drops[seat]) for seat in (0, 1)),
        *(
            h(
                "text",
                {"class": f"ballast-total {seat_class(seat)}", "x": _CENTRES[seat] + (-11, 11)[seat], "y": floor + 54},
                f"{own[seat]} {verdict.totals[seat]}",
            )
            for seat in (0, 1)
        ),
    )


def _pan(shown: Scales, seat: Seat, numbers: Sequence[int], floor: float) -> Element:
    """One pan with its weights; drawn from the middle of its upper edge, so that it is the same at every height."""
    return h(
        "g",
        {"transform": f"translate({_CENTRES[seat]} {round(floor, 2):g})", "class": seat_class(seat)},
        h("path", {"class": "ballast-pan", "d": "M-45 0h90l-8 6h-74zM0 6v10"}),
        *(_chip(shown, number, place) for place, number in enumerate(numbers)),
    )


def _chip(shown: Scales, number: int, place: int) -> Element:
    weight = shown.placed[number]
    kinds = ["ballast-weight", f"ballast-{weight.status}"]
    if weight.false:
        kinds.append("ballast-lie")
    if number == shown.new:
        kinds.append("ballast-new")
    if number == shown.called:
        kinds.append("ballast-called")
    left, top = -_CHIP // 2, -(place + 1) * _HIGH + 1
    return h("g", {"class": " ".join(kinds)}, *_face(weight, number, left, top))


def _face(weight: Weight, number: int, left: int, top: int) -> Iterator[Element]:
    tall = _HIGH - 3
    yield h("rect", {"class": "ballast-body", "x": left, "y": top, "width": _CHIP, "height": tall, "rx": 6})
    yield h("path", {"class": "ballast-worth", "d": f"M{left + 28} {top}v{tall}h-22q-6 0-6-6v-{tall - 12}q0-6 6-6z"})
    yield h("text", {"class": "ballast-true", "x": left + 14, "y": top + 21}, str(weight.true))
    yield h("text", {"class": "ballast-number", "x": left + 33, "y": top + 11.5}, f"#{number}")
    said = "face up" if weight.status == "up" else f"says {weight.announced}"
    yield h("text", {"class": "ballast-said", "x": left + 33, "y": top + 24.5}, said)
    if weight.false:
        # A sign besides the colour: what it is differs from what was said.
        yield h("text", {"class": "ballast-sign", "x": left + 70, "y": top + 13}, "≠")
    if weight.status == "removed":
        yield h("path", {"class": "ballast-strike", "d": f"M{left + 4} {top + tall - 4}l20-21"})
