"""What stands beside the board of Half-Hearted Step: both seats, the auction's ladder, and what is played for.

Owns how it looks, knows no rule: `Side`, `Rung` and `Stakes` hold everything that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weigh.games.game import Seat
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.seat_marks import badge, seat_class

_NAME: Final = "half_hearted_step"


@dataclass(frozen=True, slots=True)
class Side:
    """One seat."""

    name: str
    mark: str
    role: str
    """E.g. `↔ left or right`; empty before the choice."""
    doing: str
    """What it did in the step that is shown, or its score at the end."""
    gain: str
    """What the step brought it: `+4`, `−1 life`; empty for nothing."""
    points: int
    lives: int
    of: int
    """Lives at the start."""
    active: bool
    note: str
    """E.g. `active next`; may be empty."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One round of the auction."""

    number: int
    """Counted from 1."""
    priority: Seat
    bids: tuple[str, str]
    standing: tuple[Seat, int] | None


@dataclass(frozen=True, slots=True)
class Stakes:
    """What is played for, and how that stands."""

    holder: Seat
    threshold: int
    lead: int
    winner: Seat
    """Who wins with this lead."""
    over: bool


def draw_sides(sides: Sequence[Side]) -> Element:
    """Both seats side by side."""
    return h("div", {"class": f"{_NAME}-sides"}, *(_side(seat, side) for seat, side in enumerate(sides)))


def _side(seat: Seat, side: Side) -> Element:
    return h(
        "div",
        {"class": f"{_NAME}-side {seat_class(seat)}{f' {_NAME}-active' if side.active else ''}"},
        h("div", {"class": f"{_NAME}-who"}, badge(seat, side.mark), h("span", None, side.name)),
        h("div", {"class": f"{_NAME}-doing"}, side.doing, h("strong", None, side.gain) if side.gain else None),
        h(
            "div",
            {"class": f"{_NAME}-worth"},
            h("b", None, str(side.points)),
            h("small", None, "point" if side.points == 1 else "points"),
        ),
        h(
            "div",
            {"class": f"{_NAME}-lives"},
            f"{'●' * side.lives}{'○' * (side.of - side.lives)}",
            h("small", None, f" {side.lives} {'life' if side.lives == 1 else 'lives'}"),
        ),
        h("small", None, " · ".join(part for part in (side.role, side.note) if part)),
    )


_SHOWN: Final = 8
"""Rounds of the auction that have room; earlier ones are counted."""


def draw_ladder(rungs: Sequence[Rung], marks: Sequence[str], cap: int) -> Element:
    """The auction, round by round, the latest at the bottom."""
    left_out = max(0, len(rungs) - _SHOWN)
    return h(
        "div",
        {"class": f"{_NAME}-ladder"},
        h("b", None, f"Auction of the lead, at most {cap} rounds"),
        h("small", None, f"{left_out} earlier rounds are not shown") if left_out else None,
        h(
            "table",
            None,
            h("thead", None, h("tr", None, *(h("th", {"scope": "col"}, each) for each in ("round", *marks, "stands")))),
            h("tbody", None, *(_rung(rung, marks) for rung in rungs[left_out:])),
        )
        if rungs
        else h("small", None, "Nobody has bid."),
    )


def _rung(rung: Rung, marks: Sequence[str]) -> Element:
    return h(
        "tr",
        None,
        h("th", {"scope": "row"}, str(rung.number)),
        *(_bid(rung, seat) for seat in (0, 1)),
        h("td", None, f"{marks[rung.standing[0]]} {rung.standing[1]}" if rung.standing else "-"),
    )


def _bid(rung: Rung, seat: Seat) -> Element:
    # The sign of priority is worth its room only where two equal bids make it count.
    first = " ◂" if rung.priority == seat and rung.bids[0] == rung.bids[1] != "pass" else ""
    called = rung.standing is not None and rung.standing[0] == seat and rung.bids[seat] == str(rung.standing[1])
    return h("td", {"class": f"{_NAME}-called {seat_class(seat)}"} if called else None, f"{rung.bids[seat]}{first}")


_LINE: Final = 240
_MARGIN: Final = 42


def draw_stakes(stakes: Stakes, names: Sequence[str], marks: Sequence[str]) -> Element:
    """A line of all leads: where the holder begins to win, and where the lead is."""
    holder, other = stakes.holder, 1 - stakes.holder
    ends = sorted((0, stakes.lead, stakes.threshold))
    low, high = ends[0] - 2, ends[-1] + 2

    def at(lead: float) -> float:
        return _MARGIN + (lead - low) / (high - low) * (_LINE - 2 * _MARGIN)

    # With exactly the threshold the holder wins, so the line is drawn just below it.
    border = at(stakes.threshold - 0.5)
    verdict = "wins" if stakes.over else "would win now"
    return h(
        "div",
        {"class": f"{_NAME}-stakes"},
        h("b", None, f"{names[holder]} needs a lead of {stakes.threshold}"),
        h(
            "svg",
            {"viewBox": f"0 0 {_LINE} 62", "aria-hidden": "true"},
            h("rect", {"class": f"{_NAME}-zone {seat_class(other)}", "y": 22, "width": border, "height": 16}),
            h(
                "rect",
                {
                    "class": f"{_NAME}-zone {seat_class(holder)}",
                    "x": border,
                    "y": 22,
                    "width": _LINE - border,
                    "height": 16,
                },
            ),
            h("text", {"class": f"{_NAME}-zoned {seat_class(other)}", "x": 3, "y": 35}, marks[other]),
            h(
                "text",
                {"class": f"{_NAME}-zoned {seat_class(holder)}", "x": _LINE - 4, "y": 35, "text-anchor": "end"},
                marks[holder],
            ),
            h("path", {"class": f"{_NAME}-border", "d": f"M{round(border, 1):g} 16v28"}),
            h(
                "text",
                {"class": f"{_NAME}-needed", "x": min(max(border, 20), _LINE - 20), "y": 12},
                f"≥ {stakes.threshold}",
            ),
            h("circle", {"class": f"{_NAME}-lead", "cx": at(stakes.lead), "cy": 30, "r": 6}),
            h(
                "text",
                {"class": f"{_NAME}-needed", "x": min(max(at(stakes.lead), 28), _LINE - 28), "y": 58},
                f"lead {stakes.lead}",
            ),
        ),
        h("small", None, f"{names[stakes.winner]} {verdict}."),
    )


def told(sides: Sequence[Side]) -> str:
    """Both seats in one sentence."""
    return ", ".join(_told(sides))


def _told(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        lives = "1 life" if side.lives == 1 else f"{side.lives} lives"
        yield f"{side.name} {side.points} points and {lives}"
