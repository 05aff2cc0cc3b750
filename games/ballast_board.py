"""The scales of Ballast and what lies on them: placed weights, what happened to them, and who wins a scale.

Owns the numbering of weights, their status, and the verdict on a scale. Knows neither hands nor turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from games.game import Json, Seat

Status: TypeAlias = Literal["down", "up", "removed"]
"""Face down; face up after a challenge of a true claim; off its scale after a challenge of a false one."""


class Weight(NamedTuple):
    """One placed weight. Its number is its index in the order of placement, over both players."""

    owner: Seat
    scale: int
    announced: int
    true: int
    status: Status = "down"

    @property
    def false(self) -> bool:
        """Whether the claim made for it is."""
        return self.announced != self.true


class Verdict(NamedTuple):
    """How one scale stands, by true values of the weights still on it."""

    totals: tuple[int, int]
    counts: tuple[int, int]
    winner: Seat | None

    def to_json(self) -> dict[str, Json]:
        return {"totals": list(self.totals), "counts": list(self.counts), "winner": self.winner}


class Placed(NamedTuple):
    """The log of a game: the weight of this number came down."""

    number: int


class Challenged(NamedTuple):
    """The log of a game: `seat` called the weight of this number, which was turned up."""

    seat: Seat
    number: int


class Discarded(NamedTuple):
    """The log of a game: `seat` gave up a weight of this value for a challenge that failed."""

    seat: Seat
    value: int | None
    """None where whoever reads the log may not know it."""


Entry: TypeAlias = Placed | Challenged | Discarded


def judge(placed: Sequence[Weight], scale: int) -> Verdict:
    """Larger total; then fewer weights; then whoever put down the first weight that is still there."""
    left = [weight for weight in placed if weight.scale == scale and weight.status != "removed"]
    mine = [weight.true for weight in left if weight.owner == 0]
    theirs = [weight.true for weight in left if weight.owner == 1]
    totals, counts = (sum(mine), sum(theirs)), (len(mine), len(theirs))
    if not left:
        return Verdict(totals, counts, None)
    if totals[0] != totals[1]:
        return Verdict(totals, counts, int(totals[1] > totals[0]))
    if counts[0] != counts[1]:
        return Verdict(totals, counts, int(counts[1] < counts[0]))
    return Verdict(totals, counts, left[0].owner)


def listed(placed: Sequence[Weight]) -> Iterator[dict[str, Json]]:
    """Every placed weight with all there is to know of it."""
    for number, weight in enumerate(placed):
        yield {
            "number": number,
            "owner": weight.owner,
            "scale": weight.scale,
            "announced": weight.announced,
            "true": weight.true,
            "status": weight.status,
        }
