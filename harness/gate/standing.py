"""Where a gate stands: from the block differences there are to a verdict, or to how many more blocks to play.

Owns what `harness.gate.sequential` leaves open: blocks that outages took, a schedule that runs out before the cap, and
how much more it would take. Pure; the same differences and terms give the same standing, whenever and however often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log

from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.gate.differences import HIGHEST, LOWEST, block_ends
from weigh.harness.gate.sequential import Design, Look, decide
from weigh.harness.stats.betting import MOST
from weigh.harness.stats.power import fixed_size

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
    max_fallback_rate: float = MAX_FALLBACK_RATE
    """The largest share of an arm's moves that the fallback may make."""
    lowest: float = LOWEST
    """The lowest score the game's rules allow: `Game.lowest` of its config."""

    def __post_init__(self) -> None:
        if self.limit < FEWEST:
            raise ValueError(f"{self.limit} blocks cannot be judged: it takes {FEWEST} or more")
        if not LOWEST <= self.lowest < 0:
            raise ValueError(f"a lowest score of {self.lowest} does not lie between {LOWEST:g} and 0")
        self.design((self.lowest - HIGHEST, HIGHEST - self.lowest))

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

    `baseline` are the baseline's mean scores in its blocks, from which the ends of a difference are taken: those of a
    baseline file, in the order of its schedule; or, where the baseline is played too, of the blocks before the first
    look, which say nothing of later ones (see `ends_of`).
    """
    given = differences[: terms.limit]
    design = terms.design(ends_of(baseline, terms))
    missing = sum(difference is None for difference in given)
    if missing > terms.max_void_rate * terms.limit:
        return Standing(_judged(given, design), design, len(given), missing, 0, too_void=True)
    look = decide(given, design)
    left = terms.limit - len(given)
    if look.verdict == "continue" and left:
        return Standing(look, design, len(given), missing, min(look.next_batch, left), too_void=False)
    last = look if look.verdict != "continue" else _judged(given, design)
    judged = _position(given, last.n) if last is not None and last.by == "bets" else len(given)
    gone = sum(difference is None for difference in given[:judged])
    return Standing(last, design, judged, gone, 0, too_void=gone > terms.max_void_rate * judged)


def ends_of(baseline: Sequence[float], terms: Terms) -> tuple[float, float]:
    """The least and the greatest difference of a block: the largest loss and the largest gain.

    Nothing is assumed: what the rules allow against the baseline's own scores, where all blocks that may be played are
    among `baseline`. Where they are not, the baseline's next block may be its best, so it is what the rules allow at
    all. All blocks of a file count, not only those up to the limit: so a gate that goes on under a higher limit lays
    the same bets, and its errors stay what they were.
    """
    widest = terms.lowest - HIGHEST, HIGHEST - terms.lowest
    known = baseline and len(baseline) >= terms.limit
    least, greatest = block_ends(baseline, terms.lowest) if known else widest
    if least >= -terms.margin:
        least = widest[0]
    if greatest <= 0:
        greatest = widest[1]
    return least, greatest


def further(look: Look, design: Design) -> int | None:
    """How many more blocks an inconclusive gate would probably take, if differences go on as they were.

    What the better of both bets lacks, over what it gains in a block; at most twice the fixed test, within which most
    gates end. None where nothing is known of the spread.
    """
    if look.mean is None or look.sd is None:
        return None
    to_pass = _blocks(look.mean + design.margin, look.sd, -design.least - design.margin, look.p_pass / design.alpha)
    to_fail = _blocks(-look.mean, look.sd, design.greatest, look.p_regression / design.beta)
    fixed = fixed_size(design.margin, look.sd, design.alpha, design.beta) or 0
    most = max(2 * fixed, design.fewest_to_pass) - look.n
    return max(design.batch, min(most, *(count for count in (to_pass, to_fail) if count is not None)))


def _blocks(distance: float, sd: float, gap: float, lacking: float) -> int | None:
    """Blocks in which a bet on a mean that lies at `distance` from the one it is against grows by so many times."""
    if distance <= 0:
        return None
    square = sd * sd + distance * distance
    bet = min(distance / square, MOST / gap)
    return ceil(log(max(1.0, lacking)) / (bet * distance - bet * bet * square / 2))


def largest_loss(baseline: Sequence[float], lowest: float = LOWEST) -> float | None:
    """What the mean can lose at most: a candidate that scores `lowest` everywhere. None where nothing is known."""
    return sum(baseline) / len(baseline) - lowest if baseline else None


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
