"""What the bids of Goofspiel come to: who is awarded what, by which margin, and who stood aside.

Owns the arithmetic of finished rounds. Knows neither states nor texts. Points are whole numbers of `1 / unit`, so that
shared prizes stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import lcm

from games.bids import OVERBID

Rounds = tuple[tuple[int, ...], ...]
"""The bids of each finished round, in seat order."""


@cache
def unit(seats: int) -> int:
    """The least common multiple of all the numbers of seats that can share a prize."""
    return lcm(*range(1, seats + 1))


def top_two(bids: Sequence[int]) -> tuple[int, int]:
    """The highest bid and the next: their difference is the margin, 0 when the top is tied."""
    ranked = sorted(bids)
    return ranked[-1], ranked[-2]


def awards(prizes: Sequence[int], rounds: Rounds, seats: int) -> tuple[list[int], list[int]]:
    """What each seat has won, in units of `1 / unit(seats)`, and the numbers of the rounds that were overbids.

    `prizes` may go on beyond the rounds played.
    """
    one = unit(seats)
    won, overbids = [0] * seats, []
    for number, bids in enumerate(rounds):
        ranked = sorted(bids)
        top = ranked[-1]
        margin = top - ranked[-2]
        if margin:
            won[bids.index(top)] += prizes[number] * one
            if margin >= OVERBID:
                overbids.append(number)
        else:
            share = prizes[number] * one // bids.count(top)
            for seat, bid in enumerate(bids):
                if bid == top:
                    won[seat] += share
    return won, overbids


def collusion_index(rounds: Rounds, overbids: Sequence[int], held: Sequence[Sequence[int]]) -> list[float]:
    """Per seat, the share of rounds that were overbids and in which it bid the lowest card it held; 0.0 before any.

    `held` are the hands after those rounds, ascending. To the letter of the report's definition, the winner of such a
    round counts like the others, and so does a last card that was forced.
    """
    aside = [0] * len(held)
    for number in overbids:
        later = rounds[number + 1 :]
        for seat, bid in enumerate(rounds[number]):
            # What the seat held beside this bid is what it bid later, and what it holds still.
            if not (held[seat] and held[seat][0] < bid):
                for bids in later:
                    if bids[seat] < bid:
                        break
                else:
                    aside[seat] += 1
    return [count / len(rounds) if rounds else 0.0 for count in aside]
