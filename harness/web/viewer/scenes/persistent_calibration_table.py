"""The table of seats below the balances of Persistent Calibration: what each one did, won and holds, or how it ended.

Owns how it looks, knows no rule: `Row` and `Place` hold everything that is shown. What the players knew of each other
stands under a heading of its own, so that the spectator sees what was secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from weigh.games.game import Seat
from weigh.games.persistent_calibration.moves import Placement, scale_of, side_of
from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.nodes import Child, Element, h
from weigh.harness.web.viewer.seat_marks import badge, seat_class


@dataclass(frozen=True, slots=True)
class Row:
    """One seat while the game is on."""

    name: str
    mark: str
    moved: bool
    """Whether a round is shown; if not, the next three are empty."""
    placement: Placement | None
    """What it put down this round."""
    lost: int | None
    """The weight that went because nothing was put down."""
    won: int | None
    """Its points of this round; None before they are given."""
    points: int
    hand: tuple[int, ...]
    garnets: int | None
    """None where nobody can have any."""


@dataclass(frozen=True, slots=True)
class Place:
    """One seat at the end."""

    seat: Seat
    name: str
    mark: str
    place: int
    """1 for the most points; the same for equal ones."""
    points: int
    by_round: tuple[int, ...]
    score: Fraction
    tokens: int
    garnets: int
    winner: bool
    candidate: bool


def draw_rows(rows: Sequence[Row], most: int) -> Element:
    """The table while the game is on. A bar of points is full at `most`."""
    garnets = rows[0].garnets is not None
    columns = ["scale, weight", "won", "points", "hand", *(["garnets"] if garnets else [])]
    return h(
        "table",
        {"class": "persistent_calibration-table"},
        h(
            "thead",
            None,
            h(
                "tr",
                {"class": "persistent_calibration-groups"},
                h("td", None),
                h("th", {"scope": "colgroup"}, "known to all"),
                h("th", {"scope": "colgroup", "colspan": len(columns)}, "secret to the end"),
            ),
            h("tr", None, *(h("th", {"scope": "col"}, each) for each in ("seat", "side", *columns))),
        ),
        h("tbody", None, *(_row(seat, row, most) for seat, row in enumerate(rows))),
    )


def _row(seat: Seat, row: Row, most: int) -> Element:
    return h(
        "tr",
        {"class": seat_class(seat)},
        _named(seat, row.mark, row.name),
        h("td", None, _side(row)),
        h("td", None, *_put(row)),
        h("td", {"class": "persistent_calibration-won"}, "" if row.won is None else f"+{row.won}" if row.won else "0"),
        _points(row.points, most),
        h("td", {"class": "persistent_calibration-hand"}, " ".join(map(str, row.hand)) or "-"),
        None if row.garnets is None else h("td", None, str(row.garnets)),
    )


def _named(seat: Seat, mark: str, name: str, under: str | None = None) -> Element:
    return h(
        "th",
        {"scope": "row", "class": "persistent_calibration-who"},
        h("div", None, badge(seat, mark), h("span", None, name)),
        h("small", None, under) if under else None,
    )


def _side(row: Row) -> str:
    if not row.moved:
        return "-"
    return side_of(row.placement.place) if row.placement else "no move"


def _put(row: Row) -> Iterator[Child]:
    if row.placement is not None:
        yield f"{scale_of(row.placement.place)} "
        yield h("b", None, str(row.placement.value))
        if row.placement.modify:
            sign = "+" if row.placement.modify > 0 else "−"
            yield h("small", None, f" = {row.placement.weight}{sign}{abs(row.placement.modify)}")
    else:
        yield f"lost {row.lost}" if row.lost is not None else "-"


_BAR: Final = 100


def _points(points: int, most: int) -> Element:
    """A bar and the number; the bar is full at `most`."""
    full = _BAR * points / most if most else 0
    bar = h(
        "svg",
        {"viewBox": f"0 0 {_BAR} 8", "preserveAspectRatio": "none", "aria-hidden": "true"},
        h("rect", {"width": _BAR, "height": 8, "class": "persistent_calibration-empty"}),
        h("rect", {"width": full, "height": 8, "class": "persistent_calibration-full"}),
    )
    return h("td", None, h("div", {"class": "persistent_calibration-points"}, bar, h("b", None, str(points))))


def draw_places(places: Sequence[Place]) -> Element:
    """The table at the end, the best first."""
    most = max(place.points for place in places)
    columns = ("seat", "points", "by round", "score", "tokens of life", "garnets")
    return h(
        "table",
        {"class": "persistent_calibration-table persistent_calibration-final"},
        h("thead", None, h("tr", None, *(h("th", {"scope": "col"}, each) for each in ("place", *columns)))),
        h("tbody", None, *(_place(place, most) for place in places)),
    )


def _place(place: Place, most: int) -> Element:
    verdicts = [
        word for word, holds in (("★ winner", place.winner), ("▼ elimination candidate", place.candidate)) if holds
    ]
    return h(
        "tr",
        {"class": f"{seat_class(place.seat)}{' persistent_calibration-first' if place.winner else ''}"},
        h("td", None, h("b", None, f"{place.place}.")),
        _named(place.seat, place.mark, place.name, ", ".join(verdicts) or None),
        _points(place.points, most),
        h("td", {"class": "persistent_calibration-rounds"}, " ".join(map(str, place.by_round)) or "-"),
        h(
            "td",
            {"class": "persistent_calibration-score"},
            h("b", None, score(place.score)),
            h("small", None, exact_score(place.score)),
        ),
        h("td", None, str(place.tokens)),
        h("td", None, str(place.garnets)),
    )
