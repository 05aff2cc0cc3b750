"""The drawing of a Goofspiel table: prizes in a row, a bid for each seat, and a line for each seat's hand and points.

Owns how it looks, knows no rule: `Table` holds everything that is drawn. HTML in its large parts, so that it folds to
the width there is; SVG for cards, hands and bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from weigh.harness.web.viewer.amounts import amount, exact_score, score
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.seat_marks import badge, marks, seat_class, short


@dataclass(frozen=True, slots=True)
class Table:
    """One position, and what is pointed at in it. Everything by seat is in seat order."""

    names: tuple[str, ...]
    cards: int
    """The deck holds 1..cards, and so did each hand."""
    prizes: tuple[int, ...]
    """All that the game plays for, in order. Those beyond the open round are drawn face down."""
    rounds: tuple[tuple[int, ...], ...]
    bidding: bool
    """Whether the next prize is open and its bids are not."""
    hands: tuple[tuple[int, ...], ...]
    points: tuple[Fraction, ...]
    gained: tuple[Fraction, ...]
    """What each seat had of the last round's prize."""
    overbid: int | None
    """The seat that overbid, where the picture is about that."""
    margin: int
    scores: tuple[Fraction, ...] | None
    """At the end only."""


_FEW: Final = 6
"""Seats whose bids stand in one row in their full size."""


def draw(table: Table) -> Element:
    """The whole table."""
    own = marks(table.names)
    middle = _standing(table, own) if table.scores is not None else _arena(table, own)
    return h(
        "div",
        {
            "class": "goofspiel goofspiel-many" if len(own) > _FEW else "goofspiel",
            "role": "img",
            "aria-label": _told(table),
        },
        _track(table, own),
        middle,
        h("div", {"class": "goofspiel-hands"}, *(_line(table, own, seat) for seat in range(len(own)))),
    )


def _told(table: Table) -> str:
    standing = ", ".join(f"{name} {amount(points)}" for name, points in zip(table.names, table.points, strict=True))
    hands = "; ".join(
        f"{name} {' '.join(map(str, hand)) or 'nothing'}"
        for name, hand in zip(marks(table.names), table.hands, strict=True)
    )
    if table.scores is not None:
        return f"The end of the game. Points: {standing}."
    standing = f"{standing}. In hand: {hands}"
    if table.bidding:
        number = len(table.rounds)
        return f"Round {number + 1}, prize {table.prizes[number]}, bids face down. Points: {standing}."
    number = len(table.rounds) - 1
    bids = ", ".join(f"{name} {bid}" for name, bid in zip(table.names, table.rounds[number], strict=True))
    return f"Round {number + 1}, prize {table.prizes[number]}. Bids: {bids}. Points: {standing}."


# -- the prizes --------------------------------------------------------------------------------------------------------


def _track(table: Table, own: Sequence[str]) -> Element:
    return h("div", {"class": "goofspiel-track"}, *_slots(table, own))


def _slots(table: Table, own: Sequence[str]) -> Iterator[Element]:
    now = len(table.rounds) - (0 if table.bidding else 1)
    for number, prize in enumerate(table.prizes):
        state = "coming" if number > now else "now" if number == now and table.scores is None else "gone"
        takers: list[Element] = []
        if number < len(table.rounds):
            bids = table.rounds[number]
            takers = [badge(seat, own[seat]) for seat, bid in enumerate(bids) if bid == max(bids)]
        yield h(
            "div",
            {"class": f"goofspiel-slot goofspiel-{state}"},
            h("b", None, "?" if number > now else str(prize)),
            h("span", {"class": "goofspiel-takers"}, *takers),
        )


# -- the open round ----------------------------------------------------------------------------------------------------


def _arena(table: Table, own: Sequence[str]) -> Element:
    number = len(table.rounds) - (0 if table.bidding else 1)
    return h(
        "div",
        {"class": "goofspiel-arena"},
        h(
            "div",
            {"class": "goofspiel-prize"},
            h("small", None, f"prize of round {number + 1}"),
            h(
                "svg",
                {"viewBox": "0 0 96 120", "aria-hidden": "true"},
                h("rect", {"x": 3, "y": 3, "width": 90, "height": 114, "rx": 12, "class": "goofspiel-gold"}),
                h("rect", {"x": 10, "y": 10, "width": 76, "height": 100, "rx": 8, "class": "goofspiel-inlay"}),
                h("text", {"x": 48, "y": 77, "class": "goofspiel-worth"}, str(table.prizes[number])),
            ),
        ),
        h("div", {"class": "goofspiel-bids"}, *(_bid(table, own, seat) for seat in range(len(own)))),
    )


def _bid(table: Table, own: Sequence[str], seat: int) -> Element:
    classes = ["goofspiel-bid", seat_class(seat)]
    said = ""
    if not table.bidding:
        bids = table.rounds[-1]
        if table.gained[seat]:
            shared = bids.count(bids[seat]) > 1
            classes.append("goofspiel-won")
            said = f"{'shares' if shared else 'wins'} {amount(table.gained[seat])}"
        if seat == table.overbid:
            classes.append("goofspiel-over")
            said = f"{table.margin} over"
    return h(
        "div",
        {"class": " ".join(classes)},
        h("span", {"class": "goofspiel-who"}, badge(seat, own[seat]), h("span", None, short(table.names[seat]))),
        _card(None if table.bidding else table.rounds[-1][seat]),
        h("span", {"class": "goofspiel-said"}, said),
    )


@lru_cache(maxsize=4_096)
def _card(value: int | None) -> Element:
    size = {"viewBox": "0 0 60 80", "aria-hidden": "true"}
    edge = {"x": 2.5, "y": 2.5, "width": 55, "height": 75, "rx": 8}
    if value is None:
        lines = "M14 18l32 44M30 18l16 22M14 40l16 22M46 18l-32 44M30 18l-16 22M46 40l-16 22"
        return h(
            "svg",
            size,
            h("rect", {**edge, "class": "goofspiel-back"}),
            h("path", {"d": lines, "class": "goofspiel-weave"}),
        )
    return h(
        "svg",
        size,
        h("rect", {**edge, "class": "goofspiel-face"}),
        h("text", {"x": 30, "y": 52, "class": "goofspiel-value"}, str(value)),
    )


# -- the end -----------------------------------------------------------------------------------------------------------


def _standing(table: Table, own: Sequence[str]) -> Element:
    scores = table.scores or ()
    ranked = sorted(range(len(own)), key=lambda seat: (-scores[seat], seat))
    return h("ol", {"class": "goofspiel-standing"}, *(_place(table, own, scores, seat) for seat in ranked))


def _place(table: Table, own: Sequence[str], scores: Sequence[Fraction], seat: int) -> Element:
    better = sum(other > scores[seat] for other in scores)
    first = " goofspiel-first" if not better else ""
    return h(
        "li",
        {"class": f"goofspiel-place {seat_class(seat)}{first}"},
        h("b", None, f"{better + 1}."),
        badge(seat, own[seat]),
        h("span", {"class": "goofspiel-name"}, table.names[seat]),
        h("span", {"class": "goofspiel-figure"}, f"{amount(table.points[seat])} points"),
        h(
            "span",
            {"class": "goofspiel-figure"},
            h("strong", None, score(scores[seat])),
            h("small", None, f" {exact_score(scores[seat])}"),
        ),
    )


# -- the seats ---------------------------------------------------------------------------------------------------------


def _line(table: Table, own: Sequence[str], seat: int) -> Element:
    deck = table.cards * (table.cards + 1) // 2
    # A bar that is full holds twice the equal share of everything there is to win, or more.
    pool = Fraction(sum(table.prizes) * 2, len(own))
    return h(
        "div",
        {"class": f"goofspiel-line {seat_class(seat)}"},
        h("span", {"class": "goofspiel-who"}, badge(seat, own[seat]), h("span", None, table.names[seat])),
        _hand(table.cards, table.hands[seat], _paid(table, seat)),
        h(
            "div",
            {"class": "goofspiel-bars"},
            *_bar("points", amount(table.points[seat]), min(Fraction(1), table.points[seat] / pool), "goofspiel-full"),
            *_bar("budget", str(sum(table.hands[seat])), Fraction(sum(table.hands[seat]), deck), "goofspiel-purse"),
        ),
    )


_STEP: Final = 22
_LONG: Final = 13
"""Cards that a line has room for; shorter hands leave some of it empty, so that cards are of one size."""


def _paid(table: Table, seat: int) -> int | None:
    """The card of the open round; None where none lies open."""
    return table.rounds[-1][seat] if table.rounds and not table.bidding and table.scores is None else None


@lru_cache(maxsize=4_096)
def _hand(cards: int, held: tuple[int, ...], paid: int | None) -> Element:
    return h(
        "svg",
        {"class": "goofspiel-hand", "viewBox": f"0 0 {max(cards, _LONG) * _STEP} 24", "aria-hidden": "true"},
        *(
            _chip(card, "played" if card == paid else "held" if card in held else "spent")
            for card in range(1, cards + 1)
        ),
    )


@lru_cache(maxsize=4_096)
def _chip(card: int, state: str) -> Element:
    left = (card - 1) * _STEP
    return h(
        "g",
        {"class": f"goofspiel-chip goofspiel-{state}"},
        h("rect", {"x": left + 1, "y": 1, "width": _STEP - 2, "height": 22, "rx": 4}),
        h("text", {"x": left + _STEP / 2, "y": 16.5}, str(card)),
        h("path", {"d": f"M{left + 5} 19l12-14"}) if state == "spent" else None,
    )


def _bar(label: str, value: str, share: Fraction, kind: str) -> tuple[Element, ...]:
    return (
        h("small", None, label),
        h(
            "svg",
            {"viewBox": "0 0 100 8", "preserveAspectRatio": "none", "aria-hidden": "true"},
            h("rect", {"width": 100, "height": 8, "class": "goofspiel-empty"}),
            h("rect", {"width": float(share) * 100, "height": 8, "class": kind}),
        ),
        h("span", {"class": "goofspiel-figure"}, value),
    )
