"""The drawing of the three balances of Persistent Calibration, with all that every seat has on each of their sides.

Owns how they look. A chip is what one seat has on one side, so thirteen seats find room after six rounds too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from weigh.games.game import Seat
from weigh.games.persistent_calibration.moves import EMPTY, PLACES, SCALES, Place, Totals, lighter_places, side_of
from weigh.games.persistent_calibration.rules import PersistentCalibrationState
from weigh.harness.web.scene import beam, seat_class
from weigh.harness.web.svg import Element, drawing, h, part

_GAME: Final = "persistent_calibration"

_WIDE: Final = 200
_CENTRES: Final = (50, 150)
_PITCH: Final = 48
_CHIP: Final = 46
_ROW: Final = 22
"""The width of a balance, the middles of its pans, from one chip to the next, and width and height of a chip."""
_SWING: Final = 13
"""How far a pan goes down at most."""
_SOFT: Final = 4
"""The lead that brings it half that far. A larger lead always tilts further."""


@dataclass(frozen=True)
class Balances:
    """What lies on the scales, and what is pointed at."""

    marks: tuple[str, ...]
    """By seat."""
    state: PersistentCalibrationState
    fresh: bool
    """Whether the picture is about the weights of this round."""
    scoring: bool
    """Whether it is about what scores."""
    tipped: tuple[str, ...]
    """The scales whose lighter side has changed."""

    @property
    def totals(self) -> Totals:
        return self.state.totals[-1] if self.state.totals else EMPTY

    @cached_property
    def lighter(self) -> tuple[Place, ...]:
        return lighter_places(self.totals)

    @cached_property
    def own(self) -> list[list[int]]:
        """By place and seat: all that the seat has put down there."""
        own = [[0] * len(self.marks) for _ in PLACES]
        for placed in self.state.rounds:
            for seat, placement in enumerate(placed):
                if placement is not None:
                    own[placement.place][seat] += placement.value
        return own

    @property
    def label(self) -> str:
        """The balances in one sentence: `A left 3, right 4, left is lighter; B balanced at 2; ...`."""
        parts = []
        for number, scale in enumerate(SCALES):
            left, right = self.totals[2 * number : 2 * number + 2]
            verdict = f"{'left' if left < right else 'right'} is lighter"
            parts.append(
                f"{scale} left {left}, right {right}, {verdict}" if left != right else f"{scale} balanced at {left}"
            )
        return "; ".join(parts)

    def draw(self, label: str) -> Element:
        """The three balances side by side, or one below the other where it is narrow. `label` says what they show."""
        rows = max([2, *(-(-sum(map(bool, own)) // 2) for own in self.own)])
        scales = (self._scale(number, rows) for number in range(len(SCALES)))
        return part("div", f"{_GAME}-scales", *scales, role="img", aria_label=label)

    def _scale(self, number: int, rows: int) -> Element:
        left, right = 2 * number, 2 * number + 1
        lead = self.totals[left] - self.totals[right]
        state = f"{side_of(left if lead < 0 else right)} is lighter by {abs(lead)}" if lead else "balanced"
        tips = part("span", f"{_GAME}-tips", "⇄ tips") if SCALES[number] in self.tipped else None
        head = part("div", f"{_GAME}-head", h("b", None, f"Scale {SCALES[number]}"), tips, h("span", None, state))
        drop = _SWING * lead / (abs(lead) + _SOFT)
        floor = rows * _ROW + _SWING + 3
        drawn = drawing(
            None,
            _WIDE,
            floor + 60,
            *beam(_GAME, _CENTRES, floor + 15, drop, "l-13 32h26z", 4.5),
            self._pan(left, floor + drop),
            self._pan(right, floor - drop),
            *self._total(left, floor),
            *self._total(right, floor),
        )
        return part("div", f"{_GAME}-scale", head, drawn)

    def _total(self, place: Place, floor: int) -> Iterator[Element]:
        light, centre = place in self.lighter, _CENTRES[place % 2]
        kind, sign = (f"{_GAME}-total {_GAME}-light", "▲ ") if light else (f"{_GAME}-total", "")
        yield part("text", kind, f"{sign}{self.totals[place]}", x=centre, y=floor + 42)
        yield part("text", f"{_GAME}-side", side_of(place), x=centre, y=floor + 56)

    def _pan(self, place: Place, floor: float) -> Element:
        """One pan; drawn from the middle of its upper edge, so that it is the same at every height."""
        seats = [seat for seat, value in enumerate(self.own[place]) if value]
        kind = f"{_GAME}-pan"
        if self.scoring:
            kind += f" {_GAME}-scores" if place in self.lighter else f" {_GAME}-rests"
        pan = part("path", None, d="M-48 0h96l-8 6h-80zM0 6v9")
        chips = (self._chip(place, seat, where) for where, seat in _stacked(seats))
        return part("g", kind, pan, *chips, transform=f"translate({_CENTRES[place % 2]} {round(floor, 2):g})")

    def _chip(self, place: Place, seat: Seat, where: str) -> Element:
        placement = self.state.rounds[-1][seat] if self.fresh else None
        new = f" {_GAME}-fresh" if placement is not None and placement.place == place else ""
        return part(
            "g",
            f"{_GAME}-chip{new} {seat_class(seat)}",
            part("rect", None, width=_CHIP, height=_ROW - 2, rx=5),
            part("path", None, d=f"M5 0h20v{_ROW - 2}h-20q-5 0-5-5v-{_ROW - 12}q0-5 5-5z"),
            part("text", None, self.marks[seat], x=12.5, y=14),
            part("text", f"{_GAME}-value", str(self.own[place][seat]), x=35.5, y=14.5),
            transform=f"translate({where})",
        )


def _stacked(seats: Sequence[Seat]) -> Iterator[tuple[str, Seat]]:
    """Two in a row from the pan upwards; the last one of an odd number in the middle."""
    for index, seat in enumerate(seats):
        row, column = divmod(index, 2)
        alone = index == len(seats) - 1 and column == 0
        yield f"{-_CHIP // 2 if alone else -_PITCH + 1 + column * _PITCH} {-(row + 1) * _ROW}", seat
