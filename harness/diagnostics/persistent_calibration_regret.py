"""Regret in Persistent Calibration: what a weight would have scored elsewhere, all other seats as they played.

Owns the arithmetic for one placement of one seat. Knows neither records nor averages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from games.persistent_calibration.moves import PLACES, Place, Placement, Totals, across


def scale_points(place: Place, totals: Sequence[int], own: Sequence[int]) -> int:
    """What a seat that has put down `own` scores on the scale of `place`."""
    return sum(own[side] for side in (place, across(place)) if totals[side] < totals[across(side)])


def round_regret(put: Placement, totals: Totals, own: Totals, values: Iterable[int]) -> int:
    """Points that the best placement of this round would have scored in it beyond those of `put`; 0 if none is better.

    `totals` and `own` are those after the round, `values` what the seat could have put down.
    """
    without, rest = _moved(totals, put.place, -put.value), _moved(own, put.place, -put.value)
    standing = {place: scale_points(place, without, rest) for place in PLACES}

    def gained(place: Place, value: int) -> int:
        here = scale_points(place, _moved(without, place, value), _moved(rest, place, value))
        return here - standing[place]

    return max(gained(place, value) for place in PLACES for value in values) - gained(put.place, put.value)


def end_regret(put: Placement, totals: Sequence[Totals], own: Sequence[Totals]) -> int:
    """Points by the end that the same weight on the best side would have scored beyond those of `put`.

    `totals` and `own` are those after its round and each later one. What the seat put down otherwise stays as it was.
    """
    scored = [0] * len(PLACES)
    for sums, mine in zip(totals, own, strict=True):
        without, rest = _moved(sums, put.place, -put.value), _moved(mine, put.place, -put.value)
        for place in PLACES:
            moved = _moved(without, place, put.value), _moved(rest, place, put.value)
            scored[place] += scale_points(place, *moved) - scale_points(place, without, rest)
    return max(scored) - scored[put.place]


def _moved(totals: Sequence[int], place: Place, by: int) -> list[int]:
    changed = list(totals)
    changed[place] += by
    return changed
