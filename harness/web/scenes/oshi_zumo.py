"""Oshi-Zumo as pictures: two purses, two sealed bids, and a token on a field that either side wants to push off.

Owns its frames and how they look: the bids are revealed, an overbid is a frame of its own, then the token moves or
stays, and the end says who was pushed off or where the token stood. Every number is the engine's. Seat 0 pushes up,
which is to the right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

from weigh.games.game import Move, Outcome, Seat, State
from weigh.games.oshi_zumo.rules import OshiZumoState
from weigh.harness.web.assets import asset
from weigh.harness.web.scene import (
    Board,
    Counts,
    Frame,
    Names,
    exact_score,
    full_score,
    listed,
    overbid,
    score,
    seat_class,
)
from weigh.harness.web.svg import Element, drawing, h, part

STYLE: Final = asset("scenes/oshi_zumo.css")


def words(before: State, seat: Seat, move: Move) -> str:
    """The coins: see `harness.web.scene.BoardView`."""
    return str(move)


def opening(names: Names, state: OshiZumoState) -> Iterator[Frame]:
    """The token in the middle."""
    size, coins = state.config.size, state.config.coins
    yield Ring(names, state, state.position).frame(
        "start",
        "the token in the middle",
        f"The token starts on cell {size} of 0 to {2 * size}; each purse holds {coins} coins.",
        f"{names[0]} pushes up, past cell {2 * size}; {names[1]} pushes down, past cell 0.",
    )


def played(names: Names, before: OshiZumoState, after: OshiZumoState) -> Iterator[Frame]:
    """The bids of a round, an overbid among them, and the push."""
    number, bids, position = len(after.rounds), after.rounds[-1], after.position
    happened = {event.kind: event for event in after.events[len(before.events) :]}
    line = f"Round {number}: {names[0]} bids {bids[0]}, {names[1]} bids {bids[1]}."
    yield Ring(names, after, before.position, bids=bids).frame("reveal", f"round {number}: bids", line)
    if "overbid" in happened:
        seat = cast(int, happened["overbid"].data["seat"])
        label, line, banner = overbid(names, number, happened["overbid"], f"{names[1 - seat]}'s")
        shown = Ring(names, after, before.position, bids=bids, overbid=seat)
        yield shown.frame("overbid", label, line, banner=banner)
    delta = cast(int, happened["push"].data["delta"])
    where = f"to cell {position}" if 0 <= position <= 2 * after.config.size else "off the field"
    if delta > 0:
        label, line = f"round {number}: push", f"{names[0]} pushes the token up {where}."
    elif delta < 0:
        label, line = f"round {number}: push", f"{names[1]} pushes the token down {where}."
    else:
        label, line = f"round {number}: no push", f"The bids are equal: the token stays on cell {position}."
    yield Ring(names, after, position, bids=bids, was=before.position).frame("move", label, line)


_WHY: Final = {
    "pushout": "The token is off the field.",
    "coins-exhausted": "Both purses are empty.",
    "round-cap": "The last round is over.",
    "wall-clock": "The clock stopped the match.",
}


def ended(names: Names, state: OshiZumoState, outcome: Outcome) -> Frame:
    """Who won."""
    scores, ending = outcome.scores, outcome.ending
    verdict = f"{names[0 if scores[0] > 0 else 1]} wins."
    if scores[0] == 0:
        verdict = f"A draw: the token stands in the middle, on cell {state.position}."
    shown = Ring(names, state, state.position, scores=scores, verdict=verdict)
    line = f"Scores: {listed(names, map(full_score, scores))}."
    return shown.frame("end", f"end: {ending}", _WHY.get(ending, ending), verdict, line)


_ROW: Final = 10
_PITCH: Final = 16
"""Coins of a purse in one row, and from one coin to the next."""

_CELL: Final = 64
_OUT: Final = 62
_TOP: Final = 34
"""A cell of the field, what is beyond its ends, and what is above it."""

_BAR: Final = 14
_HIGH: Final = 44
"""Width and height of the largest bid among all bids so far."""


@dataclass(frozen=True)
class Ring(Board):
    """One position, and what is pointed at in it."""

    game = "oshi_zumo"
    names: Names
    state: OshiZumoState
    position: int
    """The token's cell as it is shown; -1 or 2 * size + 1 off the field."""
    bids: tuple[int, int] | None = None
    """The bids that lie open; None between rounds."""
    was: int | None = None
    """Where the token came from, where the picture is about its move (or about its staying: the same cell)."""
    overbid: Seat | None = None
    """The seat that overbid, where the picture is about that."""
    scores: tuple[Fraction, ...] | None = None
    """At the end only."""
    verdict: str = ""

    def counts(self) -> Counts:
        coins, purse = self.state.coins, self.state.config.coins
        needed = (2 * self.state.config.size + 1 - self.position, self.position + 1)
        return (
            ("coins left", tuple(map(str, coins))),
            ("spent", tuple(str(purse - left) for left in coins)),
            ("pushes needed", tuple("-" if self.scores else str(pushes) for pushes in needed)),
        )

    def draw(self) -> Element:
        sides = part("div", "oshi_zumo-sides", self._side(0), self._between(), self._side(1))
        return self.figure(self._label(), sides, self._field(), self._history() if self.state.rounds else None)

    def _label(self) -> str:
        last = 2 * self.state.config.size
        place = f"on cell {self.position} of 0 to {last}" if 0 <= self.position <= last else "off the field"
        bids = f" Bids: {listed(self.names, self.bids)}." if self.bids else ""
        return f"{self.verdict} The token is {place}.{bids} Coins: {listed(self.names, self.state.coins)}.".strip()

    def _side(self, seat: Seat) -> Element:
        left = h("small", None, h("b", None, str(self.state.coins[seat])), f" of {self.state.config.coins} coins")
        purse = part("div", "oshi_zumo-purse", self._coins(seat), left)
        return part("div", f"oshi_zumo-side {seat_class(seat)}", self.who(seat), self._stake(seat), purse)

    def _stake(self, seat: Seat) -> Element:
        """The bid as a card, face down between rounds; at the end the score."""
        if self.scores is not None:
            kind, value, under = " oshi_zumo-score", score(self.scores[seat]), exact_score(self.scores[seat])
        elif self.bids is None:
            kind, value, under = " oshi_zumo-sealed", "?", "sealed"
        else:
            mine, theirs = self.bids[seat], self.bids[1 - seat]
            kind, value, under = " oshi_zumo-higher" if mine > theirs else "", str(mine), "bid"
            if self.overbid == seat:
                kind, under = " oshi_zumo-over", f"{mine - theirs} over"
        return part("div", f"oshi_zumo-stake{kind}", h("b", None, value), h("small", None, under))

    def _coins(self, seat: Seat) -> Element:
        """The purse, a dot a coin: full ones left, ringed ones just paid, faint ones spent before."""
        purse, left = self.state.config.coins, self.state.coins[seat]
        paid = self.bids[seat] if self.bids else 0
        kinds = [*[""] * left, *[" oshi_zumo-paid"] * paid, *[" oshi_zumo-spent"] * (purse - left - paid)]
        dots = (
            part(
                "circle",
                f"oshi_zumo-coin{kind}",
                cx=(coin % _ROW + 0.5) * _PITCH,
                cy=(coin // _ROW + 0.5) * _PITCH,
                r=5.5,
            )
            for coin, kind in enumerate(kinds)
        )
        return drawing("oshi_zumo-coins", _ROW * _PITCH, -(-purse // _ROW) * _PITCH, *dots)

    def _between(self) -> Element:
        """What the comparison of the two bids says, between them."""
        number, of = len(self.state.rounds), self.state.config.max_rounds
        if self.scores is not None:
            verdict = "end"
        elif self.bids is None:
            verdict = f"round {number + 1}"
        else:
            mine, theirs = self.bids
            verdict = "beats" if mine > theirs else "loses to" if mine < theirs else "equals"
        rounds = f"round {number} of {of}" if number else f"at most {of}"
        return part("div", "oshi_zumo-between", h("b", None, verdict), h("small", None, rounds))

    def _field(self) -> Element:
        cells = 2 * self.state.config.size + 1
        wide = cells * _CELL + 2 * _OUT
        return drawing(
            "oshi_zumo-field",
            wide,
            _CELL + _TOP + 14,
            # A push past an edge wins: the winner's colour and mark stand behind the edge.
            _edge(0, 1, self.marks[1], "◀"),
            _edge(wide - _OUT, 0, self.marks[0], "▶"),
            *(_cell(number, number == self.state.config.size) for number in range(cells)),
            *self._token(cells),
        )

    def _token(self, cells: int) -> Iterator[Element]:
        middle = _TOP + _CELL / 2
        now = min(max(_at(self.position), _OUT / 2), cells * _CELL + _OUT * 1.5)
        if self.was is not None and self.was != self.position:
            pusher, way = (0, 1) if self.position > self.was else (1, -1)
            then = _at(self.was)
            yield part("circle", "oshi_zumo-ghost", cx=then, cy=middle, r=22)
            line = f"M{then:g} {middle:g}H{now - way * 30:g}m{-way * 9} -8l{way * 9} 8l{-way * 9} 8"
            yield part("path", f"oshi_zumo-push {seat_class(pusher)}", d=line)
        yield part("circle", "oshi_zumo-token", cx=now, cy=middle, r=24)
        yield part("circle", "oshi_zumo-knot", cx=now, cy=middle, r=14)

    def _history(self) -> Element:
        """All bids, round by round, seat 0's upwards and seat 1's downwards from one line."""
        rounds = self.state.rounds
        top = max(map(max, rounds)) or 1
        wide = max(len(rounds), min(self.state.config.max_rounds, 20)) * _BAR
        bars = (bar for number, bids in enumerate(rounds) for bar in _bars(number, bids, top))
        axis = part("line", "oshi_zumo-axis", x1=0, x2=wide, y1=_HIGH + 2, y2=_HIGH + 2)
        drawn = drawing(None, wide, 2 * _HIGH + 4, axis, *bars, stretched=True)
        return part("div", "oshi_zumo-past", h("small", None, "all bids, round by round"), drawn)


def _edge(left: int, seat: Seat, mark: str, arrow: str) -> Element:
    return part(
        "g",
        f"oshi_zumo-edge {seat_class(seat)}",
        part("rect", None, x=left + 4, y=_TOP, width=_OUT - 8, height=_CELL, rx=10),
        part("text", None, arrow, x=left + _OUT / 2, y=_TOP + 30),
        part("text", None, mark, x=left + _OUT / 2, y=_TOP + 54),
    )


def _cell(number: int, middle: bool) -> Element:
    left = _OUT + number * _CELL
    square = part("rect", None, x=left + 2, y=_TOP, width=_CELL - 4, height=_CELL, rx=8)
    name = part("text", None, str(number), x=left + _CELL / 2, y=_TOP - 10)
    return part("g", "oshi_zumo-cell oshi_zumo-middle" if middle else "oshi_zumo-cell", square, name)


def _at(position: int) -> float:
    return _OUT + (position + 0.5) * _CELL


def _bars(number: int, bids: tuple[int, int], top: int) -> Iterator[Element]:
    for seat, bid in enumerate(bids):
        tall = round(bid / top * _HIGH, 1)
        above = _HIGH + 2 - (tall if seat == 0 else 0)
        yield part("rect", seat_class(seat), x=number * _BAR + 2, y=round(above, 1), width=_BAR - 4, height=tall)
