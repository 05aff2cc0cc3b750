"""Where a gate stands: from the block differences there are to a verdict, or to how many more blocks to play.

Owns what `harness.gate.sequential` leaves open: blocks that outages took, a schedule that runs out before the cap, and
how much more it would take. Pure; the same differences and terms give the same standing, whenever and however often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from harness.gate.fixed import fixed_size
from harness.gate.pairs import credible_ends, surest_ends
from harness.gate.sequential import CAP_SHARE, WIDEST, Design, Look, decide

FEWEST = 2
"""Blocks without which nothing can be judged."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a gate promises. Raises ValueError, in words for a person, for terms that promise nothing."""

    margin: float
    limit: int
    """The most blocks it may play."""
    alpha: float = 0.05
    beta: float = 0.05
    first: int = 10
    """Blocks before the first look."""
    batch: int = 5
    """Blocks from look to look."""
    max_void_rate: float = 0.1
    """The largest share of its blocks that outages may take."""

    def __post_init__(self) -> None:
        if self.limit < FEWEST:
            raise ValueError(f"{self.limit} blocks cannot be judged: it takes {FEWEST} or more")
        self.design((-WIDEST, WIDEST))

    def design(self, ends: tuple[float, float]) -> Design:
        return Design(
            margin=self.margin,
            max_blocks=self.limit,
            min_blocks=min(self.first, self.limit),
            batch=self.batch,
            alpha=self.alpha,
            beta=self.beta,
            least=ends[0],
            greatest=ends[1],
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """What the blocks so far say."""

    look: Look | None
    """None while fewer than FEWEST blocks have a difference, and no more are to come."""
    design: Design
    judged: int
    """Blocks up to the look, the missing ones among them included."""
    missing: int
    """Of these, how many an outage took."""
    more: int
    """Blocks to be played next; 0 when the gate is over."""
    too_void: bool
    """More of its blocks are missing than its terms allow: invalid, whatever the look says."""


def stand(differences: Sequence[float | None], baseline: Sequence[float], terms: Terms) -> Standing:
    """Where the gate stands after the blocks of `differences`, the first of its schedule; None for a void one.

    `baseline` are mean scores of the baseline in its blocks, from which the ends of a difference are taken: all that
    are known beforehand, or those of the blocks before the first look.
    """
    given = differences[: terms.limit]
    design = terms.design(ends_of(baseline, terms.margin))
    missing = sum(difference is None for difference in given)
    if missing > terms.max_void_rate * terms.limit:
        return Standing(_judged(given, design), design, len(given), missing, 0, too_void=True)
    look = decide(given, design)
    left = terms.limit - len(given)
    if look.verdict == "continue" and left:
        return Standing(look, design, len(given), missing, min(look.next_batch, left), too_void=False)
    last = look if look.verdict != "continue" else _judged(given, design)
    judged = _position(given, last.n) if last is not None and last.by == "bounds" else len(given)
    gone = sum(difference is None for difference in given[:judged])
    return Standing(last, design, judged, gone, 0, too_void=gone > terms.max_void_rate * judged)


def ends_of(baseline: Sequence[float], margin: float) -> tuple[float, float]:
    """The least and greatest difference of a block, wide enough for the margin."""
    if not baseline:
        return -WIDEST, WIDEST
    if len(baseline) >= FEWEST:
        ends = credible_ends(baseline)
        if ends[0] < -margin and ends[1] > 0:
            return ends
    least, greatest = surest_ends(baseline)
    return (least, greatest) if least < -margin and greatest > 0 else (-WIDEST, WIDEST)


def further(look: Look, design: Design) -> int | None:
    """How many more blocks an inconclusive gate would probably take, if differences go on as they were.

    So many that one of the bounds at the cap would clear its threshold. None where nothing is known of the spread.
    """
    from scipy import stats

    if look.mean is None or look.sd is None:
        return None
    to_pass, to_fail = look.mean + design.margin, -look.mean
    distance, level = max((to_pass, design.alpha), (to_fail, design.beta))
    wanted = fixed_size(design.margin, look.sd, design.alpha, design.beta) or design.fewest_to_pass
    if distance > 0:
        clear = float(stats.norm.isf(CAP_SHARE * level)) * look.sd / distance
        wanted = max(min(wanted, ceil(clear * clear)), look.n + design.batch)
    return max(design.batch, wanted - look.n)


def _judged(differences: Sequence[float | None], design: Design) -> Look | None:
    """The look at all there is, as the last one."""
    count = sum(difference is not None for difference in differences)
    if count < FEWEST:
        return None
    return decide(differences, replace(design, max_blocks=count, min_blocks=min(design.min_blocks, count)))


def _position(differences: Sequence[float | None], number: int) -> int:
    """How many blocks it takes to have so many differences."""
    seen = 0
    for place, difference in enumerate(differences, start=1):
        seen += difference is not None
        if seen == number:
            return place
    return len(differences)
