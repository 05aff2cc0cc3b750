"""What one seat of Goofspiel observes: facts for programs, short plain lines for a prompt.

Owns the wording. Knows only the `View` it is handed, which holds what every seat may know and nothing else: the order
of the prizes to come is not in it. Texts are kept for a while, so that the seats of one round share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from weigh.games.game import Observation, Seat
from weigh.games.legal import Bids
from weigh.games.values import commas

_REMEMBERED = 512
"""Texts kept: enough for the episodes that are in flight together."""

Rounds: TypeAlias = tuple[tuple[int, ...], ...]
"""The bids of each finished round, in seat order."""


class View(NamedTuple):
    """The public side of a position whose next round is open."""

    prizes: tuple[int, ...]
    """Those revealed, in order; the last is the one now bid for."""
    remaining: tuple[int, ...]
    """Those not revealed yet, ascending."""
    max_rounds: int
    hands: tuple[tuple[int, ...], ...]
    rounds: Rounds
    points: tuple[int, ...]
    """What each seat has won, in units of `1 / unit`."""
    unit: int


def observe(view: View, seat: Seat, names: tuple[str, ...], legal: Bids) -> Observation:
    """The observation of `seat`, with one name per seat."""
    head, table = _public(view, names)
    return Observation(
        seat=seat,
        facts={
            "seat": seat,
            "names": list(names),
            "round": len(view.rounds),
            "max_rounds": view.max_rounds,
            "cards": len(view.prizes) + len(view.remaining),
            "prize": view.prizes[-1],
            "remaining": list(view.remaining),
            "hands": [list(hand) for hand in view.hands],
            "points": [won / view.unit for won in view.points],
            "history": [
                {"prize": prize, "bids": list(bids)} for prize, bids in zip(view.prizes, view.rounds, strict=False)
            ],
        },
        history=_history(view.prizes[:-1], view.rounds, names),
        situation=f"{head}\n{table}\nYour legal bids: {legal.describe()}.",
        legal=legal,
    )


@lru_cache(_REMEMBERED)
def _history(prizes: tuple[int, ...], rounds: Rounds, names: tuple[str, ...]) -> tuple[str, ...]:
    if not rounds:
        return ()
    return (*_history(prizes[:-1], rounds[:-1], names), _line(len(rounds), prizes[-1], rounds[-1], names))


def _line(number: int, prize: int, bids: Sequence[int], names: Sequence[str]) -> str:
    top = max(bids)
    winners = [name for name, bid in zip(names, bids, strict=True) if bid == top]
    if len(winners) == 1:
        award = f"{winners[0]} wins {prize}"
    else:
        award = f"{commas(winners)} win {_amount(Fraction(prize, len(winners)))} each"
    bid_by = commas(f"{name} {bid}" for name, bid in zip(names, bids, strict=True))
    return f"Round {number}, prize {prize}: {bid_by}. {award}."


@lru_cache(_REMEMBERED)
def _public(view: View, names: tuple[str, ...]) -> tuple[str, str]:
    """The lines about the prizes, and those about the seats: the same for every seat."""
    share = _amount(Fraction(sum(view.points), view.unit * len(names)))
    seats = [
        f"{name}: {_amount(Fraction(won, view.unit))} points won, hand {_cards(hand)}."
        for name, won, hand in zip(names, view.points, view.hands, strict=True)
    ]
    return (
        f"Round {len(view.rounds) + 1} of {view.max_rounds}. Prize: {view.prizes[-1]}. {_to_come(view)}",
        "\n".join([*seats, f"Equal share so far: {share}."]),
    )


def _to_come(view: View) -> str:
    left = view.max_rounds - len(view.prizes)
    if not left:
        return "It is the last prize."
    prizes = commas(view.remaining)
    if left < len(view.remaining):
        return f"Still to come, unknown which: {left} out of {prizes}."
    return f"Still to come, order unknown: {prizes}."


def _cards(hand: Sequence[int]) -> str:
    """`1-5 7 9-13`: runs of three or more by their ends."""
    runs: list[list[int]] = []
    for card in hand:
        if runs and card == runs[-1][-1] + 1:
            runs[-1].append(card)
        else:
            runs.append([card])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else " ".join(map(str, run)) for run in runs)


def _amount(points: Fraction) -> str:
    """Whole points as they are, others rounded to two decimals: `4`, `4.33`, `22.75`."""
    return str(points.numerator) if points.denominator == 1 else f"{float(points):.2f}".rstrip("0")
