"""What one seat of Goofspiel is shown: facts for programs, short plain lines for a prompt.

Owns the wording. Knows only the `View` it is handed, which holds what every seat may know and nothing else: the order
of the prizes to come is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from games.bids import Bids
from games.game import Observation, Seat
from games.goofspiel_awards import Rounds, awards, unit

_REMEMBERED = 512
"""Texts kept so that the seats of one round share them; enough for the episodes that are in flight together."""


class View(NamedTuple):
    """The public side of a position whose next round is open."""

    prizes: tuple[int, ...]
    """Those revealed, in order; the last is the one now bid for."""
    remaining: tuple[int, ...]
    """Those not revealed yet, ascending."""
    max_rounds: int
    hands: tuple[tuple[int, ...], ...]
    rounds: Rounds


def observe(view: View, seat: Seat, names: Sequence[str], legal: Bids) -> Observation:
    """The observation of `seat`. Raises ValueError unless there is one name per seat."""
    if len(names) != len(view.hands):
        raise ValueError(f"{len(names)} names for {len(view.hands)} seats")
    called = tuple(names)
    head, table = _public(view, called)
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
            "points": [won / unit(len(names)) for won in _points(view)],
            "history": [
                {"prize": prize, "bids": list(bids)} for prize, bids in zip(view.prizes, view.rounds, strict=False)
            ],
        },
        history=_history(view.prizes[:-1], view.rounds, called),
        situation=f"{head}\nYou are {names[seat]}.\n{table}\nYour legal bids: {legal.describe()}.",
        legal=legal,
    )


@lru_cache(_REMEMBERED)
def _points(view: View) -> tuple[int, ...]:
    return tuple(awards(view.prizes, view.rounds, len(view.hands))[0])


@lru_cache(_REMEMBERED)
def _history(prizes: tuple[int, ...], rounds: Rounds, names: tuple[str, ...]) -> tuple[str, ...]:
    if not rounds:
        return ()
    return (*_history(prizes[:-1], rounds[:-1], names), _line(len(rounds), prizes[-1], rounds[-1], names))


def _line(number: int, prize: int, bids: Sequence[int], names: Sequence[str]) -> str:
    top = max(bids)
    winners = [name for name, bid in zip(names, bids, strict=True) if bid == top]
    shown = ", ".join(f"{name} {bid}" for name, bid in zip(names, bids, strict=True))
    if len(winners) == 1:
        award = f"{winners[0]} wins {prize}"
    else:
        award = f"{', '.join(winners)} win {_amount(Fraction(prize, len(winners)))} each"
    return f"Round {number}, prize {prize}: {shown}. {award}."


@lru_cache(_REMEMBERED)
def _public(view: View, names: tuple[str, ...]) -> tuple[str, str]:
    """The lines about the prizes, and those about the seats: the same for every seat."""
    one = unit(len(names))
    share = _amount(Fraction(sum(_points(view)), one * len(names)))
    seats = [
        f"{name}: {_amount(Fraction(won, one))} points won, hand {_cards(hand)}."
        for name, won, hand in zip(names, _points(view), view.hands, strict=True)
    ]
    return (
        f"Round {len(view.rounds) + 1} of {view.max_rounds}. Prize: {view.prizes[-1]}. {_to_come(view)}",
        "\n".join([*seats, f"Equal share so far: {share}."]),
    )


def _to_come(view: View) -> str:
    left = view.max_rounds - len(view.prizes)
    if not left:
        return "It is the last prize."
    prizes = ", ".join(map(str, view.remaining))
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
