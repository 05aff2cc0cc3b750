"""What stands below both seats of Half-Hearted Step: the auction's ladder, then what is played for.

Owns how they look. Every number is the engine's.
"""

from __future__ import annotations

from typing import Final

from weigh.games.game import Seat
from weigh.games.half_hearted_step.moves import PASS
from weigh.games.half_hearted_step.play import Auction, Call, Sealed, called
from weigh.games.half_hearted_step.rules import PlayState
from weigh.harness.web.scene import Names, seat_class
from weigh.harness.web.svg import Element, drawing, h, part

_GAME: Final = "half_hearted_step"

_SHOWN: Final = 8
"""Rounds of the auction that have room; earlier ones are counted."""


def ladder(auction: Auction, marks: Names) -> Element:
    """The auction, round by round, the latest at the bottom."""
    rows: list[Element] = []
    call: Call | None = None
    for number, sealed in enumerate(auction.rounds):
        priority = auction.priority_in(number)
        call = (called(sealed, priority) or (call,))[-1]
        bids = (_bid(sealed, seat, priority, call) for seat in (0, 1))
        standing = h("td", None, f"{marks[call.seat]} {call.bid}" if call else "-")
        rows.append(h("tr", None, h("th", {"scope": "row"}, str(number + 1)), *bids, standing))
    left_out = max(0, len(rows) - _SHOWN)
    columns = (h("th", {"scope": "col"}, each) for each in ("round", *marks, "stands"))
    table = h("table", None, h("thead", None, h("tr", None, *columns)), h("tbody", None, *rows[left_out:]))
    return part(
        "div",
        f"{_GAME}-ladder",
        h("b", None, f"Auction of the lead, at most {auction.cap} rounds"),
        h("small", None, f"{left_out} earlier rounds are not shown") if left_out else None,
        table if rows else h("small", None, "Nobody has bid."),
    )


def _bid(sealed: Sealed, seat: Seat, priority: Seat, call: Call | None) -> Element:
    bid = sealed[seat]
    # The sign of priority is worth its room only where two equal bids make it count.
    first = " ◂" if priority == seat and sealed[0] == sealed[1] is not None else ""
    kind = f"{_GAME}-called {seat_class(seat)}" if call is not None and call == (seat, bid) else None
    return part("td", kind, f"{PASS if bid is None else bid}{first}")


_LINE: Final = 240
_MARGIN: Final = 42


def stakes(names: Names, marks: Names, state: PlayState) -> Element:
    """A line of all leads: where the holder begins to win, and where the lead is."""
    contest, points = state.contest, state.position.points
    holder, threshold, lead = contest.holder, contest.threshold, contest.lead(points)
    ours, theirs = seat_class(holder), seat_class(1 - holder)
    low, high = min(0, lead, threshold) - 2, max(0, lead, threshold) + 2

    def at(value: float) -> float:
        return _MARGIN + (value - low) / (high - low) * (_LINE - 2 * _MARGIN)

    # With exactly the threshold the holder wins, so the line is drawn just below it.
    border, now = at(threshold - 0.5), at(lead)
    drawn = drawing(
        None,
        _LINE,
        62,
        part("rect", f"{_GAME}-zone {theirs}", y=22, width=border, height=16),
        part("rect", f"{_GAME}-zone {ours}", x=border, y=22, width=_LINE - border, height=16),
        part("text", f"{_GAME}-zoned {theirs}", marks[1 - holder], x=3, y=35),
        part("text", f"{_GAME}-zoned {ours}", marks[holder], x=_LINE - 4, y=35, text_anchor="end"),
        part("path", f"{_GAME}-border", d=f"M{round(border, 1):g} 16v28"),
        part("text", f"{_GAME}-needed", f"≥ {threshold}", x=min(max(border, 20), _LINE - 20), y=12),
        part("circle", f"{_GAME}-lead", cx=now, cy=30, r=6),
        part("text", f"{_GAME}-needed", f"lead {lead}", x=min(max(now, 28), _LINE - 28), y=58),
    )
    verdict = "would win now" if state.to_act else "wins"
    return part(
        "div",
        f"{_GAME}-stakes",
        h("b", None, f"{names[holder]} needs a lead of {threshold}"),
        drawn,
        h("small", None, f"{names[contest.winner(points)]} {verdict}."),
    )
