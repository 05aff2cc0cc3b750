"""What the scales of Persistent Calibration come to: totals, lighter sides, points, ranks and shares.

Owns the arithmetic of finished rounds. Knows neither states nor texts. Everything is exact: whole numbers, and
fractions of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from games.game import Json, Seat
from games.persistent_calibration_moves import PLACES, SCALES, SIDES, Place, Placement, across, scale_of

Round: TypeAlias = tuple[Placement | None, ...]
"""What each seat put down in one round, in seat order; None for a seat that put down nothing."""

Totals: TypeAlias = tuple[int, ...]
"""What lies on each of the six sides, by place."""

EMPTY: Totals = (0,) * len(PLACES)

POINTS_PER_GARNET = 6

TOKENS = {1: 4, 2: 2}
"""Tokens of Life for each winner, by how many win; 1 for more."""


def totals_after(totals: Totals, placed: Round) -> Totals:
    """The totals with what one more round put down."""
    sums = list(totals)
    for placement in placed:
        if placement is not None:
            sums[placement.place] += placement.value
    return tuple(sums)


def lighter_places(totals: Totals) -> tuple[Place, ...]:
    """The sides that are strictly lighter than the one across; one at most on each scale."""
    return tuple(place for place in PLACES if totals[place] < totals[across(place)])


def own_points(placed: Sequence[Placement | None], totals: Sequence[Totals]) -> list[int]:
    """The points of one seat in each round: all it has put down by then on sides that are lighter then.

    `placed` and `totals` have an entry a round.
    """
    own, points = [0] * len(PLACES), []
    for placement, sums in zip(placed, totals, strict=True):
        if placement is not None:
            own[placement.place] += placement.value
        points.append(sum(own[place] for place in lighter_places(sums)))
    return points


def points_of_all(rounds: Sequence[Round], totals: Sequence[Totals], seats: int) -> list[list[int]]:
    """For each seat, its points in each round."""
    return [own_points([placed[seat] for placed in rounds], totals) for seat in range(seats)]


def flips(totals: Sequence[Totals]) -> Iterator[list[str]]:
    """For each round, the scales that tipped: the side now lighter is the other than when one was last lighter."""
    last: dict[str, Place] = {}
    for sums in totals:
        lighter = {scale_of(place): place for place in lighter_places(sums)}
        yield [scale for scale, place in lighter.items() if last.get(scale, place) != place]
        last |= lighter


def by_scale(totals: Totals) -> dict[str, Json]:
    """`{"A": [left, right], ...}`."""
    return {scale: list(totals[start : start + len(SIDES)]) for scale, start in zip(SCALES, PLACES[::2], strict=True)}


def rank_scores(points: Sequence[int]) -> tuple[Fraction, ...]:
    """For each seat, the seats with fewer points less those with more, over all others: exact, and 0 in sum."""
    ranked, rivals = sorted(points), len(points) - 1
    return tuple(
        Fraction(bisect_left(ranked, own) - (len(ranked) - bisect_right(ranked, own)), rivals) for own in points
    )


def share_scores(points: Sequence[int]) -> tuple[Fraction, ...]:
    """For each seat, its share of all points, scaled so that all of them are 1 and an even share is 0."""
    pool, seats = sum(points), len(points)
    return tuple(Fraction(seats * own - pool, (seats - 1) * pool) if pool else Fraction(0) for own in points)


def winners(points: Sequence[int]) -> list[Seat]:
    """The seats with the most points."""
    return [seat for seat, own in enumerate(points) if own == max(points)]


def elimination_candidates(points: Sequence[int]) -> list[Seat]:
    """The seats with the fewest points: all of them when they are tied."""
    return [seat for seat, own in enumerate(points) if own == min(points)]


def tokens_of_life(points: Sequence[int]) -> list[int]:
    """For each seat, the tokens it wins."""
    first = winners(points)
    each = TOKENS.get(len(first), 1)
    return [each if seat in first else 0 for seat in range(len(points))]
