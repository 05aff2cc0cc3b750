"""Goofspiel as pictures: the track of prizes, sealed bids laid side by side, and what each seat has left to pay with.

Owns its frames and how they look: each round opens with its prize, then the bids are revealed, an overbid is a frame of
its own, and the end shows the ranks. Every number is the engine's: hands and bids of its states, points of its
arithmetic of awards. HTML in its large parts, so that it folds to the width there is; SVG for cards, hands and bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

from weigh.games.game import Json, Move, Outcome, Seat, State
from weigh.games.goofspiel.rules import GoofspielState, awards, unit
from weigh.games.goofspiel.view import Rounds
from weigh.harness.web.assets import asset
from weigh.harness.web.scene import (
    Board,
    Counts,
    Frame,
    Names,
    amount,
    badge,
    bar,
    exact_score,
    full_score,
    listed,
    overbid,
    ranking,
    score,
    seat_class,
)
from weigh.harness.web.svg import Element, drawing, h, part

STYLE: Final = asset("scenes/goofspiel.css")

_MANY: Final = 7
"""Seats from which on their bids do not stand in one row in their full size."""


def words(before: State, seat: Seat, move: Move) -> str:
    """The card: see `harness.web.scene.BoardView`."""
    return str(move)


def opening(names: Names, state: GoofspielState) -> Iterator[Frame]:
    """The first prize."""
    yield _prize(names, state)


def played(names: Names, before: GoofspielState, after: GoofspielState) -> Iterator[Frame]:
    """The bids of a round, an overbid among them, and the next prize."""
    number, bids = len(after.rounds), after.rounds[-1]
    prize, top = after.table.prizes[number - 1], max(bids)
    winners = [name for name, bid in zip(names, bids, strict=True) if bid == top]
    if len(winners) == 1:
        award = f"{winners[0]} wins {prize}."
    else:
        award = f"{', '.join(winners)} tie at {top} and share {prize}: {amount(Fraction(prize, len(winners)))} each."
    yield Table(names, after).frame(
        "reveal", f"round {number}: bids", f"Bids for {prize}: {listed(names, bids)}.", award
    )
    # The engine says what an overbid is: its event stands last, but for the next prize.
    event = next((event for event in reversed(after.events) if event.kind != "prize"), None)
    if event is not None and event.kind == "overbid":
        label, line, banner = overbid(names, number, event, "the next bid,")
        yield Table(names, after, loud=event.data).frame("overbid", label, line, banner=banner)
    if after.outcome is None:
        yield _prize(names, after)


def _prize(names: Names, state: GoofspielState) -> Frame:
    number, of = len(state.rounds) + 1, state.table.max_rounds
    prize = state.table.prizes[number - 1]
    coming = "the last prize" if number == of else f"{of - number} more to come"
    return Table(names, state, bidding=True).frame(
        "start" if number == 1 else "prize",
        f"round {number}: prize {prize}",
        f"Round {number} of {of}: the prize is {prize} ({coming}).",
    )


def ended(names: Names, state: GoofspielState, outcome: Outcome) -> Frame:
    """The ranks."""
    table, rounds, planned = Table(names, state, scores=outcome.scores), len(state.rounds), state.table.max_rounds
    standing = "; ".join(
        f"{names[seat]} {amount(table.points[seat])} points, score {full_score(outcome.scores[seat])}"
        for seat in ranking(outcome.scores)
    )
    why = "All prizes are gone."
    if rounds < planned:
        why = f"The clock stopped the game after {rounds} of {planned} rounds."
    return table.frame("end", f"end: {outcome.ending}", why, f"Final standing: {standing}.")


def _points(state: GoofspielState, rounds: Rounds) -> tuple[Fraction, ...]:
    seats = len(state.masks)
    return tuple(Fraction(won, unit(seats)) for won in awards(state.table.prizes, rounds, seats)[0])


@dataclass(frozen=True)
class Table(Board):
    """One position, and what is pointed at in it."""

    game = "goofspiel"
    names: Names
    state: GoofspielState
    bidding: bool = False
    """Whether the next prize is open and its bids are not."""
    loud: Mapping[str, Json] | None = None
    """The overbid that the picture is about: the particulars of its event."""
    scores: tuple[Fraction, ...] | None = None
    """At the end only."""

    @cached_property
    def points(self) -> tuple[Fraction, ...]:
        return _points(self.state, self.state.rounds)

    @cached_property
    def gained(self) -> tuple[Fraction, ...]:
        """What each seat had of the last round's prize."""
        before = _points(self.state, self.state.rounds[:-1])
        return tuple(now - then for now, then in zip(self.points, before, strict=True))

    @property
    def now(self) -> int:
        """The round that is shown, from 0."""
        return len(self.state.rounds) - (0 if self.bidding else 1)

    @property
    def bids(self) -> tuple[int, ...] | None:
        """Those that lie open; None where none do."""
        shown = self.state.rounds and not self.bidding and self.scores is None
        return self.state.rounds[-1] if shown else None

    def counts(self) -> Counts:
        hands, deck = self.state.hands, sum(range(1, len(self.state.table.prizes) + 1))
        return (
            ("points", tuple(map(amount, self.points))),
            ("cards left", tuple(str(len(hand)) for hand in hands)),
            ("budget left", tuple(f"{sum(hand)} of {deck}" for hand in hands)),
        )

    def draw(self) -> Element:
        seats = range(len(self.names))
        middle = self._arena() if self.scores is None else self._ranks(self.scores)
        lines = part("div", "goofspiel-hands", *map(self._line, seats))
        kind = " goofspiel-many" if len(seats) >= _MANY else ""
        return self.figure(self._label(), part("div", "goofspiel-track", *self._slots()), middle, lines, kind=kind)

    def _label(self) -> str:
        points = listed(self.names, map(amount, self.points))
        if self.scores is not None:
            return f"The end of the game. Points: {points}."
        hands = zip(self.marks, self.state.hands, strict=True)
        held = "; ".join(f"{mark} {' '.join(map(str, hand)) or 'nothing'}" for mark, hand in hands)
        shown = f"Round {self.now + 1}, prize {self.state.table.prizes[self.now]}"
        bids = ", bids face down" if self.bids is None else f". Bids: {listed(self.names, self.bids)}"
        return f"{shown}{bids}. Points: {points}. In hand: {held}."

    def _slots(self) -> Iterator[Element]:
        """The prizes in a row, those to come face down, and who took the others."""
        rounds = self.state.rounds
        for number, prize in enumerate(self.state.table.prizes[: self.state.table.max_rounds]):
            hidden, open_now = number > self.now, number == self.now and self.scores is None
            state = "coming" if hidden else "now" if open_now else "gone"
            bids = rounds[number] if number < len(rounds) else ()
            takers = (badge(seat, self.marks[seat]) for seat, bid in enumerate(bids) if bid == max(bids))
            shown = h("b", None, "?" if hidden else str(prize))
            yield part("div", f"goofspiel-slot goofspiel-{state}", shown, part("span", "goofspiel-takers", *takers))

    def _arena(self) -> Element:
        """The open round: its prize, and a bid for each seat."""
        card = drawing(
            None,
            96,
            120,
            part("rect", "goofspiel-gold", x=3, y=3, width=90, height=114, rx=12),
            part("rect", "goofspiel-inlay", x=10, y=10, width=76, height=100, rx=8),
            part("text", "goofspiel-worth", str(self.state.table.prizes[self.now]), x=48, y=77),
        )
        prize = part("div", "goofspiel-prize", h("small", None, f"prize of round {self.now + 1}"), card)
        bids = part("div", "goofspiel-bids", *map(self._bid, range(len(self.names))))
        return part("div", "goofspiel-arena", prize, bids)

    def _bid(self, seat: Seat) -> Element:
        kind, result, bids = f"goofspiel-bid {seat_class(seat)}", "", self.bids
        if bids is not None and self.gained[seat]:
            kind += " goofspiel-won"
            result = f"{'shares' if bids.count(bids[seat]) > 1 else 'wins'} {amount(self.gained[seat])}"
        if self.loud is not None and seat == self.loud["seat"]:
            kind += " goofspiel-over"
            result = f"{self.loud['margin']} over"
        # The alias alone: there is little room.
        name = self.who(seat, self.names[seat].partition(" (")[0], tag="span")
        return part("div", kind, name, _card(bids and bids[seat]), part("span", "goofspiel-said", result))

    def _ranks(self, scores: tuple[Fraction, ...]) -> Element:
        return part("ol", "goofspiel-standing", *(self._rank(seat, scores) for seat in ranking(scores)))

    def _rank(self, seat: Seat, scores: tuple[Fraction, ...]) -> Element:
        better = sum(other > scores[seat] for other in scores)
        exact = h("strong", None, score(scores[seat])), h("small", None, f" {exact_score(scores[seat])}")
        return part(
            "li",
            f"goofspiel-place {seat_class(seat)}{'' if better else ' goofspiel-first'}",
            h("b", None, f"{better + 1}."),
            badge(seat, self.marks[seat]),
            part("span", "goofspiel-name", self.names[seat]),
            part("span", "goofspiel-figure", f"{amount(self.points[seat])} points"),
            part("span", "goofspiel-figure", *exact),
        )

    def _line(self, seat: Seat) -> Element:
        """A seat's hand, its points, and what is left of its budget."""
        table, hand, points = self.state.table, self.state.hands[seat], self.points[seat]
        cards = len(table.prizes)
        # A bar that is full holds twice the equal share of everything there is to win, or more.
        won = points * len(self.names) / (2 * sum(table.prizes[: table.max_rounds]))
        bars = (
            h("small", None, "points"),
            bar("goofspiel-empty", "goofspiel-full", float(min(Fraction(1), won))),
            part("span", "goofspiel-figure", amount(points)),
            h("small", None, "budget"),
            bar("goofspiel-empty", "goofspiel-purse", 2 * sum(hand) / (cards * (cards + 1))),
            part("span", "goofspiel-figure", str(sum(hand))),
        )
        return part(
            "div",
            f"goofspiel-line {seat_class(seat)}",
            self.who(seat, tag="span"),
            _hand(cards, hand, self.bids and self.bids[seat]),
            part("div", "goofspiel-bars", *bars),
        )


@lru_cache(maxsize=4_096)
def _card(value: int | None) -> Element:
    """A card, face down for None."""
    edge = part("rect", f"goofspiel-{'back' if value is None else 'face'}", x=2.5, y=2.5, width=55, height=75, rx=8)
    weave = "M14 18l32 44M30 18l16 22M14 40l16 22M46 18l-32 44M30 18l-16 22M46 40l-16 22"
    if value is None:
        return drawing(None, 60, 80, edge, part("path", "goofspiel-weave", d=weave))
    return drawing(None, 60, 80, edge, part("text", "goofspiel-value", str(value), x=30, y=52))


_STEP: Final = 22
_LONG: Final = 13
"""Cards that a line has room for; shorter hands leave some of it empty, so that cards are of one size."""


@lru_cache(maxsize=4_096)
def _hand(cards: int, held: tuple[int, ...], paid: int | None) -> Element:
    """All the cards a seat began with. `paid` lies open."""
    states = ((card, "played" if card == paid else "held" if card in held else "spent") for card in range(1, cards + 1))
    chips = (_chip(card, state) for card, state in states)
    return drawing("goofspiel-hand", max(cards, _LONG) * _STEP, 24, *chips)


@lru_cache(maxsize=4_096)
def _chip(card: int, state: str) -> Element:
    left = (card - 1) * _STEP
    return part(
        "g",
        f"goofspiel-chip goofspiel-{state}",
        part("rect", None, x=left + 1, y=1, width=_STEP - 2, height=22, rx=4),
        part("text", None, str(card), x=left + _STEP / 2, y=16.5),
        part("path", None, d=f"M{left + 5} 19l12-14") if state == "spent" else None,
    )
