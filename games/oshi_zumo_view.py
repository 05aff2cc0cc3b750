"""What one seat of Oshi-Zumo is shown: facts for programs, short plain lines for a prompt, from its own side.

Owns the wording. Knows only the `View` it is handed; nothing in this game is hidden but the bids of the open round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games.bids import Bids
from games.game import Observation, Seat


class View(NamedTuple):
    """The public side of a position whose next round is open."""

    size: int
    min_bid: int
    max_rounds: int
    position: int
    coins: tuple[int, int]
    rounds: tuple[tuple[int, int], ...]
    """The bids of each finished round."""


def observe(view: View, seat: Seat, names: Sequence[str], legal: Bids) -> Observation:
    """The observation of `seat`. Raises ValueError unless there are two names."""
    if len(names) != 2:
        raise ValueError(f"{len(names)} names for 2 seats")
    needed = [2 * view.size + 1 - view.position, view.position + 1]
    return Observation(
        seat=seat,
        facts={
            "seat": seat,
            "names": list(names),
            "round": len(view.rounds),
            "max_rounds": view.max_rounds,
            "size": view.size,
            "min_bid": view.min_bid,
            "position": view.position,
            "coins": list(view.coins),
            "pushes_needed": needed,
            "history": [
                {"bids": list(bids), "position": after}
                for bids, after in zip(view.rounds, _positions(view), strict=True)
            ],
        },
        history=tuple(
            _line(number, seat, bids, after, names[1 - seat])
            for number, (bids, after) in enumerate(zip(view.rounds, _positions(view), strict=True), start=1)
        ),
        situation=_situation(view, seat, names, needed, legal),
        legal=legal,
    )


def _positions(view: View) -> Iterator[int]:
    """The token's cell after each finished round."""
    position = view.size
    for up, down in view.rounds:
        position += (up > down) - (up < down)
        yield position


def _line(number: int, seat: Seat, bids: tuple[int, int], after: int, rival: str) -> str:
    mine, theirs = bids[seat], bids[1 - seat]
    if mine == theirs:
        move = f"token stays at cell {after}"
    else:
        move = f"token moves {'your way' if mine > theirs else 'against you'} to cell {after}"
    return f"Round {number}: you {mine}, {rival} {theirs}; {move}."


def _situation(view: View, seat: Seat, names: Sequence[str], needed: Sequence[int], legal: Bids) -> str:
    rival = names[1 - seat]
    edges = (f"up, past cell {2 * view.size}", "down, past cell 0")
    return "\n".join(
        [
            f"Round {len(view.rounds) + 1} of at most {view.max_rounds}. "
            f"Field: cells 0 to {2 * view.size}. Token at cell {view.position}.",
            f"You are {names[seat]}. You push {edges[seat]}: {_pushes(needed[seat])} needed.",
            f"{rival} pushes {edges[1 - seat]}: {_pushes(needed[1 - seat])} needed.",
            f"Coins: you {view.coins[seat]}, {rival} {view.coins[1 - seat]}.",
            f"Your legal bids: {legal.describe()}.",
        ]
    )


def _pushes(number: int) -> str:
    return "1 push" if number == 1 else f"{number} pushes"
