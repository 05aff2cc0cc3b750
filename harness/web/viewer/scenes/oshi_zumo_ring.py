"""The drawing of an Oshi-Zumo match: a panel for each side with its purse and bid, the field, and all bids so far.

Owns how it looks, knows no rule: `Ring` holds everything that is drawn. Seat 0 pushes up, which is to the right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.seat_marks import badge, marks, seat_class


@dataclass(frozen=True, slots=True)
class Ring:
    """One position, and what is pointed at in it."""

    names: tuple[str, str]
    size: int
    """Cells on either side of the middle."""
    purse: int
    """Coins at the start."""
    max_rounds: int
    position: int
    """The token's cell; -1 or 2 * size + 1 off the field."""
    was: int | None
    """Where the token came from, where the picture is about its move (or about its staying: the same cell)."""
    coins: tuple[int, int]
    rounds: tuple[tuple[int, int], ...]
    bids: tuple[int, int] | None
    """The bids that lie open; None between rounds."""
    overbid: int | None
    """The seat that overbid, where the picture is about that."""
    scores: tuple[Fraction, Fraction] | None
    """At the end only."""
    verdict: str


def draw(ring: Ring) -> Element:
    """The whole picture."""
    own = marks(ring.names)
    return h(
        "div",
        {"class": "oshi_zumo", "role": "img", "aria-label": _told(ring)},
        h("div", {"class": "oshi_zumo-sides"}, _side(ring, own, 0), _between(ring), _side(ring, own, 1)),
        _field(ring, own),
        _bids(ring) if ring.rounds else None,
    )


def _told(ring: Ring) -> str:
    last = 2 * ring.size
    place = f"on cell {ring.position} of 0 to {last}" if 0 <= ring.position <= last else "off the field"
    purses = ", ".join(f"{name} {coins}" for name, coins in zip(ring.names, ring.coins, strict=True))
    bids = f" Bids: {ring.names[0]} {ring.bids[0]}, {ring.names[1]} {ring.bids[1]}." if ring.bids else ""
    return f"{ring.verdict} The token is {place}.{bids} Coins: {purses}.".strip()


# -- the two sides -----------------------------------------------------------------------------------------------------


def _side(ring: Ring, own: tuple[str, ...], seat: int) -> Element:
    return h(
        "div",
        {"class": f"oshi_zumo-side {seat_class(seat)}"},
        h("div", {"class": "oshi_zumo-who"}, badge(seat, own[seat]), h("span", None, ring.names[seat])),
        _stake(ring, seat),
        h(
            "div",
            {"class": "oshi_zumo-purse"},
            _coins(ring, seat),
            h("small", None, h("b", None, str(ring.coins[seat])), f" of {ring.purse} coins"),
        ),
    )


def _stake(ring: Ring, seat: int) -> Element:
    """The bid as a card, face down between rounds; at the end the score."""
    if ring.scores is not None:
        classes, said = "oshi_zumo-stake oshi_zumo-score", score(ring.scores[seat])
        under = exact_score(ring.scores[seat])
    elif ring.bids is None:
        classes, said, under = "oshi_zumo-stake oshi_zumo-sealed", "?", "sealed"
    else:
        mine, theirs = ring.bids[seat], ring.bids[1 - seat]
        kind = " oshi_zumo-over" if ring.overbid == seat else " oshi_zumo-higher" if mine > theirs else ""
        classes, said = f"oshi_zumo-stake{kind}", str(mine)
        under = f"{mine - theirs} over" if ring.overbid == seat else "bid"
    return h("div", {"class": classes}, h("b", None, said), h("small", None, under))


_ROW: Final = 10
_PITCH: Final = 16


def _coins(ring: Ring, seat: int) -> Element:
    """The purse, a dot a coin: full ones left, ringed ones just paid, faint ones spent before."""
    paid = ring.bids[seat] if ring.bids else 0
    rows = -(-ring.purse // _ROW)
    return h(
        "svg",
        {"class": "oshi_zumo-coins", "viewBox": f"0 0 {_ROW * _PITCH} {rows * _PITCH}", "aria-hidden": "true"},
        *(
            h(
                "circle",
                {
                    "cx": coin % _ROW * _PITCH + _PITCH / 2,
                    "cy": coin // _ROW * _PITCH + _PITCH / 2,
                    "r": 5.5,
                    "class": "oshi_zumo-coin"
                    + (
                        ""
                        if coin < ring.coins[seat]
                        else " oshi_zumo-paid"
                        if coin < ring.coins[seat] + paid
                        else " oshi_zumo-spent"
                    ),
                },
            )
            for coin in range(ring.purse)
        ),
    )


def _between(ring: Ring) -> Element:
    """What the comparison of the two bids says, between them."""
    if ring.scores is not None:
        said = "end"
    elif ring.bids is None:
        said = f"round {len(ring.rounds) + 1}"
    else:
        said = "beats" if ring.bids[0] > ring.bids[1] else "loses to" if ring.bids[0] < ring.bids[1] else "equals"
    return h(
        "div",
        {"class": "oshi_zumo-between"},
        h("b", None, said),
        h(
            "small",
            None,
            f"round {len(ring.rounds)} of {ring.max_rounds}" if ring.rounds else f"at most {ring.max_rounds}",
        ),
    )


# -- the field ---------------------------------------------------------------------------------------------------------

_CELL: Final = 64
_OUT: Final = 62
_TOP: Final = 34


def _field(ring: Ring, own: tuple[str, ...]) -> Element:
    cells = 2 * ring.size + 1
    wide = cells * _CELL + 2 * _OUT
    return h(
        "svg",
        {"class": "oshi_zumo-field", "viewBox": f"0 0 {wide} {_CELL + _TOP + 14}", "aria-hidden": "true"},
        # Whoever pushes past an edge wins: its colour and mark stand behind the edge.
        _edge(0, 1, own[1], "◀"),
        _edge(wide - _OUT, 0, own[0], "▶"),
        *(_cell(number, number == ring.size) for number in range(cells)),
        *_token(ring),
    )


def _edge(left: int, seat: int, mark: str, arrow: str) -> Element:
    return h(
        "g",
        {"class": f"oshi_zumo-edge {seat_class(seat)}"},
        h("rect", {"x": left + 4, "y": _TOP, "width": _OUT - 8, "height": _CELL, "rx": 10}),
        h("text", {"x": left + _OUT / 2, "y": _TOP + 30}, arrow),
        h("text", {"x": left + _OUT / 2, "y": _TOP + 54}, mark),
    )


def _cell(number: int, middle: bool) -> Element:
    left = _OUT + number * _CELL
    return h(
        "g",
        {"class": "oshi_zumo-cell oshi_zumo-middle" if middle else "oshi_zumo-cell"},
        h("rect", {"x": left + 2, "y": _TOP, "width": _CELL - 4, "height": _CELL, "rx": 8}),
        h("text", {"x": left + _CELL / 2, "y": _TOP - 10}, str(number)),
    )


def _at(position: int) -> float:
    return _OUT + (position + 0.5) * _CELL


def _token(ring: Ring) -> Iterator[Element]:
    middle, last = _TOP + _CELL / 2, 2 * ring.size
    now = min(max(_at(ring.position), _OUT / 2), (last + 1) * _CELL + _OUT * 1.5)
    if ring.was is not None and ring.was != ring.position:
        pusher = 0 if ring.position > ring.was else 1
        then, towards = _at(ring.was), 1 if ring.position > ring.was else -1
        yield h("circle", {"cx": then, "cy": middle, "r": 22, "class": "oshi_zumo-ghost"})
        yield h(
            "path",
            {
                "class": f"oshi_zumo-push {seat_class(pusher)}",
                "d": f"M{then:g} {middle:g}H{now - towards * 30:g}m{-towards * 9} -8l{towards * 9} 8l{-towards * 9} 8",
            },
        )
    yield h("circle", {"cx": now, "cy": middle, "r": 24, "class": "oshi_zumo-token"})
    yield h("circle", {"cx": now, "cy": middle, "r": 14, "class": "oshi_zumo-knot"})


# -- all bids so far ---------------------------------------------------------------------------------------------------

_BAR: Final = 14
_HIGH: Final = 44


def _bids(ring: Ring) -> Element:
    """Round by round, seat 0's bid upwards and seat 1's downwards from one line."""
    top = max(max(bids) for bids in ring.rounds) or 1
    room = max(len(ring.rounds), min(ring.max_rounds, 20))
    return h(
        "div",
        {"class": "oshi_zumo-past"},
        h("small", None, "all bids, round by round"),
        h(
            "svg",
            {"viewBox": f"0 0 {room * _BAR} {2 * _HIGH + 4}", "preserveAspectRatio": "none", "aria-hidden": "true"},
            h("line", {"x1": 0, "x2": room * _BAR, "y1": _HIGH + 2, "y2": _HIGH + 2, "class": "oshi_zumo-axis"}),
            *(bar for number, bids in enumerate(ring.rounds) for bar in _bars(number, bids, top)),
        ),
    )


def _bars(number: int, bids: tuple[int, int], top: int) -> Iterator[Element]:
    for seat, bid in enumerate(bids):
        tall = round(bid / top * _HIGH, 1)
        yield h(
            "rect",
            {
                "class": seat_class(seat),
                "x": number * _BAR + 2,
                "y": round(_HIGH + 2 - tall, 1) if seat == 0 else _HIGH + 2,
                "width": _BAR - 4,
                "height": tall,
            },
        )
