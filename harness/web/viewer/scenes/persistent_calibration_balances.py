"""The drawing of the three balances of Persistent Calibration, with all that every seat has on each of their sides.

Owns how they look, knows no rule: `Balances` holds everything that is drawn. A chip is what one seat has on one side,
so thirteen seats find room after six rounds too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weigh.games.game import Seat
from weigh.games.persistent_calibration.moves import SCALES, Place, Totals, across, scale_of, side_of
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.seat_marks import seat_class


@dataclass(frozen=True, slots=True)
class Balances:
    """What lies on the scales, and what is pointed at."""

    marks: tuple[str, ...]
    """By seat."""
    totals: Totals
    lighter: tuple[Place, ...]
    own: tuple[tuple[int, ...], ...]
    """By place and seat: all that the seat has put down there."""
    fresh: tuple[Place | None, ...]
    """By seat: where it put a weight this round. Empty where the picture is not about that."""
    scoring: bool
    """Whether the picture is about what scores."""
    tipped: tuple[str, ...]
    """The scales whose lighter side has changed."""


def draw(shown: Balances, label: str) -> Element:
    """The three balances side by side, or one below the other where it is narrow. `label` tells what they show."""
    rows = max([2, *(-(-sum(map(bool, own)) // 2) for own in shown.own)])
    return h(
        "div",
        {"class": "persistent_calibration-scales", "role": "img", "aria-label": label},
        *(_balance(shown, number, rows) for number in range(len(SCALES))),
    )


_WIDE: Final = 200
_CENTRES: Final = (50, 150)
_PITCH: Final = 48
_CHIP: Final = 46
_ROW: Final = 22
_SWING: Final = 13
"""How far a pan goes down at most."""
_SOFT: Final = 4
"""The lead that brings it half that far. A larger lead always tilts further."""


def _balance(shown: Balances, number: int, rows: int) -> Element:
    left, right = 2 * number, 2 * number + 1
    lead = shown.totals[left] - shown.totals[right]
    drop = _SWING * lead / (abs(lead) + _SOFT)
    floor = rows * _ROW + _SWING + 3
    lighter = next((place for place in (left, right) if place in shown.lighter), None)
    scale = SCALES[number]
    if lighter is None:
        state = "balanced"
    else:
        by = abs(lead)
        state = f"{side_of(lighter)} is lighter by {by}"
    return h(
        "div",
        {"class": "persistent_calibration-scale"},
        h(
            "div",
            {"class": "persistent_calibration-head"},
            h("b", None, f"Scale {scale}"),
            h("span", {"class": "persistent_calibration-tips"}, "⇄ tips") if scale in shown.tipped else None,
            h("span", None, state),
        ),
        h(
            "svg",
            {"viewBox": f"0 0 {_WIDE} {floor + 60}", "aria-hidden": "true"},
            h("path", {"class": "persistent_calibration-stand", "d": f"M{_WIDE // 2} {floor + 15}l-13 32h26z"}),
            h(
                "line",
                {
                    "class": "persistent_calibration-beam",
                    "x1": _CENTRES[0],
                    "y1": floor + 15 + drop,
                    "x2": _CENTRES[1],
                    "y2": floor + 15 - drop,
                },
            ),
            h("circle", {"class": "persistent_calibration-pivot", "cx": _WIDE // 2, "cy": floor + 15, "r": 4.5}),
            _pan(shown, left, floor + drop),
            _pan(shown, right, floor - drop),
            *_total(shown, left, floor),
            *_total(shown, right, floor),
        ),
    )


def _total(shown: Balances, place: Place, floor: int) -> Iterator[Element]:
    light = place in shown.lighter
    kind = "persistent_calibration-total" + (" persistent_calibration-light" if light else "")
    centre = _CENTRES[place % 2]
    yield h("text", {"class": kind, "x": centre, "y": floor + 42}, f"{'▲ ' if light else ''}{shown.totals[place]}")
    yield h("text", {"class": "persistent_calibration-side", "x": centre, "y": floor + 56}, side_of(place))


def _pan(shown: Balances, place: Place, floor: float) -> Element:
    """One pan; drawn from the middle of its upper edge, so that it is the same at every height."""
    seats = [seat for seat, value in enumerate(shown.own[place]) if value]
    light = place in shown.lighter
    kind = "persistent_calibration-pan"
    if shown.scoring:
        kind += " persistent_calibration-scores" if light else " persistent_calibration-rests"
    return h(
        "g",
        {"class": kind, "transform": f"translate({_CENTRES[place % 2]} {round(floor, 2):g})"},
        h("path", {"d": "M-48 0h96l-8 6h-80zM0 6v9"}),
        *(_chip(shown, place, seat, where) for where, seat in _places(seats)),
    )


def _places(seats: Sequence[Seat]) -> Iterator[tuple[tuple[int, int], Seat]]:
    """Two in a row from the pan upwards; the last one of an odd number in the middle."""
    for index, seat in enumerate(seats):
        row, column = divmod(index, 2)
        alone = index == len(seats) - 1 and column == 0
        yield (-_CHIP // 2 if alone else -_PITCH + 1 + column * _PITCH, -(row + 1) * _ROW), seat


def _chip(shown: Balances, place: Place, seat: Seat, where: tuple[int, int]) -> Element:
    fresh = bool(shown.fresh) and shown.fresh[seat] == place
    value = shown.own[place][seat]
    kind = "persistent_calibration-chip" + (" persistent_calibration-fresh" if fresh else "")
    return h(
        "g",
        {"class": f"{kind} {seat_class(seat)}", "transform": f"translate({where[0]} {where[1]})"},
        h("rect", {"width": _CHIP, "height": _ROW - 2, "rx": 5}),
        h("path", {"d": f"M5 0h20v{_ROW - 2}h-20q-5 0-5-5v-{_ROW - 12}q0-5 5-5z"}),
        h("text", {"x": 12.5, "y": 14}, shown.marks[seat]),
        h("text", {"x": 35.5, "y": 14.5, "class": "persistent_calibration-value"}, str(value)),
    )


def told(shown: Balances) -> str:
    """The balances in one sentence: `A left 3, right 4, left is lighter; B balanced at 2; ...`."""
    parts = []
    for scale, left in zip(SCALES, range(0, 2 * len(SCALES), 2), strict=True):
        lighter = next((place for place in shown.lighter if scale_of(place) == scale), None)
        if lighter is None:
            parts.append(f"{scale} balanced at {shown.totals[left]}")
        else:
            totals = f"left {shown.totals[left]}, right {shown.totals[across(left)]}"
            parts.append(f"{scale} {totals}, {side_of(lighter)} is lighter")
    return "; ".join(parts)
