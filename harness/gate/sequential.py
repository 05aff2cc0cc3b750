"""The gate's sequential test: from block differences to a verdict, or to how many more blocks to play.

Owns the design of a gate, its interim analyses and verdicts, blocks that outages took, a schedule that runs out before
the maximum, and how much more it would take. Knows no games, records, files or money. Pure functions of the differences
in the order of the schedule and of the design, whenever and however often they are asked.

    d(b) = mean over the block's seats of (candidate score - baseline score)
    H0: E[d] <= -margin ("worse by the margin")     H1: E[d] >= 0 ("as good")

Interim analyses are made after `min_blocks` blocks, then after every `batch`, and at `max_blocks`.
- An analysis passes when the e-process against H0 has come to 1 / alpha, and is a regression when the one against H1
  has come to 1 / beta (`harness.stats.betting`). Both at once (worse, by less than the margin) is a pass.
- At `max_blocks` a gate that neither of them decided is inconclusive.

So a candidate worse by the margin or more passes with a chance of at most alpha, and one as good is called a regression
with at most beta, for differences of any shape and any number of analyses: as long as blocks are drawn independently,
and none shows a difference beyond the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.stats.betting import MOST, fewest_zeros, log_stakes, lower_bound, upper_bound
from weigh.harness.stats.paired import HIGHEST, LOWEST, difference_range, minimum_detectable, present
from weigh.harness.stats.power import LARGEST, fixed_size

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Floats

Verdict: TypeAlias = Literal["pass", "regression", "continue", "inconclusive"]

FEWEST = 2
"""Blocks without which nothing can be judged."""

_ROUNDING = 1e-9
"""By how much a difference may lie beyond an end that it reaches exactly."""


@dataclass(frozen=True, slots=True)
class Design:
    """What a gate promises, and when its test is asked. Raises ValueError, naming the field, for values that promise
    nothing."""

    margin: float
    """The worsening of the mean score that must not pass, above 0."""
    max_blocks: int
    """The maximum sample size: the last analysis is made here."""
    min_blocks: int = 10
    """The first analysis is made here, or at the maximum where that is less."""
    batch: int = 5
    """Blocks from analysis to analysis."""
    alpha: float = 0.05
    """The chance that a candidate worse by exactly the margin passes."""
    beta: float = 0.05
    """The chance that a candidate as good as the baseline is called a regression."""
    max_void_rate: float = 0.1
    """The largest share of its blocks that outages may take."""
    max_fallback_rate: float = MAX_FALLBACK_RATE
    """The largest share of an arm's moves that the fallback may make."""
    lowest: float = LOWEST
    """The lowest score the game's rules allow: `Game.lowest` of its config."""
    range: tuple[float, float] | None = None
    """The least and the greatest difference a block can show; None is what the rules allow at all (see `within`). The
    least decides how many blocks without a loss it takes to exclude losses that are rare: about 3 * loss / margin at an
    alpha of 5 %, and no valid test takes fewer."""

    def __post_init__(self) -> None:
        for name, level in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < level < 0.5:
                raise ValueError(f"{name} is {level}: it must lie between 0 and 0.5")
        if not LOWEST <= self.lowest < 0:
            raise ValueError(f"a lowest score of {self.lowest} does not lie between {LOWEST:g} and 0")
        if not -LARGEST <= self.least < 0 < self.greatest <= LARGEST:
            raise ValueError(
                f"differences from {self.least} to {self.greatest}: 0 must lie between them, and both in [-2, 2]"
            )
        if not self.margin > 0:
            raise ValueError(f"margin is {self.margin}: it must be above 0, or no number of blocks could show a pass")
        if not self.margin < -self.least:
            raise ValueError(
                f"margin is {self.margin}: no block can show a loss beyond {-self.least:g}, so it must be less"
            )
        if self.max_blocks < FEWEST:
            raise ValueError(f"{self.max_blocks} blocks cannot be judged: it takes {FEWEST} or more")
        if self.min_blocks < FEWEST or self.batch < 1:
            raise ValueError(
                f"analyses from {self.min_blocks} blocks on every {self.batch}: it takes {FEWEST} or more for the "
                "first, and 1 or more between"
            )

    @property
    def least(self) -> float:
        return self.range[0] if self.range is not None else self.lowest - HIGHEST

    @property
    def greatest(self) -> float:
        return self.range[1] if self.range is not None else HIGHEST - self.lowest

    def within(self, baseline: Sequence[float]) -> Design:
        """With the range of a block's difference that is known of the baseline's mean scores in its blocks.

        Nothing is assumed: what the rules allow against the baseline's own scores, where all blocks that may be played
        are among `baseline`. Where they are not, the baseline's next block may be its best, so it is what the rules
        allow at all. All blocks of a file count, not only those up to the maximum: so a gate that goes on under a
        higher maximum lays the same bets, and its errors stay what they were.
        """
        widest = replace(self, range=None)
        if not baseline or len(baseline) < self.max_blocks:
            return widest
        least, greatest = difference_range(baseline, self.lowest)
        low = widest.least if least >= -self.margin else least
        return replace(self, range=(low, widest.greatest if greatest <= 0 else greatest))

    @property
    def fewest_to_pass(self) -> int:
        """Blocks it takes to pass when every difference is exactly 0: analyses come where they come,
        so perhaps some more.

        log(1 / alpha) / log(1 + 0.95 * margin / (-least - margin)), rounded up, for a margin of at most half of -least;
        at least `min_blocks`. So many exclude that the margin is lost in rare blocks of the `least` difference.
        """
        return max(min(self.min_blocks, self.max_blocks), fewest_zeros(self.alpha, -self.margin, self.least))

    def analysis_after(self, count: int) -> int | None:
        """The blocks at the first analysis after `count` blocks; None at the maximum."""
        if count >= self.max_blocks:
            return None
        first = min(self.min_blocks, self.max_blocks)
        done = (count - first) // self.batch + 1 if count >= first else 0
        return min(self.max_blocks, first + done * self.batch)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the blocks up to one analysis say. A number that does not exist is None."""

    verdict: Verdict
    by: Literal["e-process", "maximum"] | None
    """Whether the e-process decided or the maximum came; None for `continue`."""
    n: int
    """Blocks judged."""
    missing: int
    """Blocks handed in without a difference, which count for nothing."""
    next_batch: int
    """How many more blocks to play before the next analysis; 0 when there is none."""
    mean: float | None
    sd: float | None
    """Of block differences, divided by n - 1."""
    lower: float
    """The largest mean that was given up at alpha at any of the blocks: above -margin where the gate passes. It is ever
    above the true mean with a chance of at most alpha, however many analyses there were."""
    upper: float
    """The same from above at beta: below 0 for a regression."""
    p_pass: float
    """Sequential p-value of "worse by the margin or more": the least `alpha` at which a block so far had passed."""
    p_regression: float
    """Sequential p-value of "as good as the baseline", likewise; what several gates correct."""
    detectable: float | None
    """Minimum detectable difference: what a fixed comparison of `n` blocks finds with 80 % power, two-sided at 5 %."""
    fixed_n: int | None
    """Blocks the fixed t test would have taken for the same margin, errors and spread."""

    @property
    def saved(self) -> int | None:
        """Blocks saved against the fixed test; negative when it took more."""
        return None if self.fixed_n is None else self.fixed_n - self.n


def decide(differences: Sequence[float | None], design: Design) -> Analysis:
    """The analysis at which the gate stands: the one that decided it, or the present one with what to play next.

    `differences` in the order of the schedule; None or NaN for a block that has none. Blocks beyond the analysis that
    decided change nothing. Between analyses nothing is decided: the numbers are those of all blocks there are, and the
    verdict is `continue`. Raises ValueError for a difference outside [-2, 2].
    """
    values, missing = present(differences)
    return _analysis(values, missing, design, walk(values, design)[-1])


@dataclass(frozen=True, slots=True)
class Step:
    """What decides at one analysis, without what is only told of it."""

    count: int
    verdict: Verdict
    by: Literal["e-process", "maximum"] | None
    p_pass: float
    p_regression: float


def walk(values: Floats, design: Design) -> list[Step]:
    """The analyses at the blocks there are; at least one step, the last for the blocks beyond the last analysis."""
    steps: list[Step] = []
    evidence = _Evidence(values, design)
    count = design.analysis_after(0)
    while count is not None and count <= len(values):
        steps.append(_step(evidence.after(count), count, design))
        if steps[-1].verdict != "continue":
            return steps
        count = design.analysis_after(count)
    if not steps or steps[-1].count < len(values):
        steps.append(Step(len(values), "continue", None, *evidence.after(len(values))))
    return steps


def _step(p_values: tuple[float, float], count: int, design: Design) -> Step:
    p_pass, p_regression = p_values
    if p_pass <= design.alpha:
        return Step(count, "pass", "e-process", p_pass, p_regression)
    if p_regression <= design.beta:
        return Step(count, "regression", "e-process", p_pass, p_regression)
    if count >= design.max_blocks:
        return Step(count, "inconclusive", "maximum", p_pass, p_regression)
    return Step(count, "continue", None, p_pass, p_regression)


class _Evidence:
    """Both p-values after any number of the values; the bets are laid once, and again where a value moved the range."""

    def __init__(self, values: Floats, design: Design) -> None:
        self._values, self._design = values, design
        self._range: tuple[float, float] | None = None

    def after(self, count: int) -> tuple[float, float]:
        """Of "worse by the margin", and of "as good"."""
        if not count:
            return 1.0, 1.0
        ends = _range(self._values[:count], self._design)
        if ends != self._range:
            self._lay(ends)
        return exp(-float(self._best[0][count - 1])), exp(-float(self._best[1][count - 1]))

    def _lay(self, ends: tuple[float, float]) -> None:
        import numpy as np

        (low, high), values, margin = ends, self._values, self._design.margin
        beyond = np.flatnonzero((values < low - _ROUNDING) | (values > high + _ROUNDING))
        inside = values[: beyond[0]] if len(beyond) else values
        stakes = log_stakes(inside, -margin, low, margin), log_stakes(-inside, 0.0, -high, margin)
        self._range = ends
        self._best = [np.maximum.accumulate(np.maximum(stake, 0.0)) for stake in stakes]


def _range(values: Floats, design: Design) -> tuple[float, float]:
    """The range of the design, moved out to what was seen where it proved too narrow."""
    if not len(values):
        return design.least, design.greatest
    low, high = float(values.min()), float(values.max())
    return (
        low if low < design.least - _ROUNDING else design.least,
        high if high > design.greatest + _ROUNDING else design.greatest,
    )


def _analysis(values: Floats, missing: int, design: Design, step: Step) -> Analysis:
    seen = values[: step.count]
    low, high = _range(seen, design)
    sd = float(seen.std(ddof=1)) if step.count > 1 else None
    following = design.analysis_after(step.count) if step.verdict == "continue" else None
    return Analysis(
        verdict=step.verdict,
        by=step.by,
        n=step.count,
        missing=missing,
        next_batch=0 if following is None else following - step.count,
        mean=float(seen.mean()) if step.count else None,
        sd=sd,
        lower=lower_bound(seen, design.alpha, low, design.margin),
        upper=upper_bound(seen, design.beta, high, design.margin),
        p_pass=step.p_pass,
        p_regression=step.p_regression,
        detectable=None if sd is None else minimum_detectable(step.count, sd),
        fixed_n=None if sd is None else fixed_size(design.margin, sd, design.alpha, design.beta),
    )


@dataclass(frozen=True, slots=True)
class GateState:
    """What the blocks so far say."""

    analysis: Analysis | None
    """None while fewer than FEWEST blocks have a difference, and no more are to come."""
    design: Design
    judged: int
    """Blocks up to the analysis, the missing ones among them included."""
    missing: int
    """Of these, how many an outage took."""
    more: int
    """Blocks to be played next; 0 when the gate is over."""
    too_void: bool
    """More of its blocks are missing than its design allows: invalid, whatever the analysis says."""


def evaluate(differences: Sequence[float | None], baseline: Sequence[float], design: Design) -> GateState:
    """Where the gate stands after the blocks of `differences`, the first of its schedule; None for a void one.

    `baseline` are the baseline's mean scores in its blocks, from which the range of a difference is taken: those of a
    baseline file, in the order of its schedule; or, where the baseline is played too, of the blocks before the first
    analysis, which say nothing of later ones (see `Design.within`).
    """
    given = differences[: design.max_blocks]
    design = design.within(baseline)
    missing = sum(difference is None for difference in given)
    if missing > design.max_void_rate * design.max_blocks:
        return GateState(_judged(given, design), design, len(given), missing, 0, too_void=True)
    analysis = decide(given, design)
    left = design.max_blocks - len(given)
    if analysis.verdict == "continue" and left:
        return GateState(analysis, design, len(given), missing, min(analysis.next_batch, left), too_void=False)
    last = analysis if analysis.verdict != "continue" else _judged(given, design)
    judged = _position(given, last.n) if last is not None and last.by == "e-process" else len(given)
    gone = sum(difference is None for difference in given[:judged])
    return GateState(last, design, judged, gone, 0, too_void=gone > design.max_void_rate * judged)


def further(analysis: Analysis, design: Design) -> int | None:
    """How many more blocks an inconclusive gate would probably take, if differences go on as they were.

    What the better of both tests lacks, over what it gains in a block; at most twice the fixed test, within which most
    gates end. None where nothing is known of the spread.
    """
    if analysis.mean is None or analysis.sd is None:
        return None
    mean, sd, margin = analysis.mean, analysis.sd, design.margin
    to_pass = _blocks(mean + margin, sd, -design.least - margin, analysis.p_pass / design.alpha)
    to_fail = _blocks(-mean, sd, design.greatest, analysis.p_regression / design.beta)
    fixed = fixed_size(margin, sd, design.alpha, design.beta) or 0
    most = max(2 * fixed, design.fewest_to_pass) - analysis.n
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


def _judged(differences: Sequence[float | None], design: Design) -> Analysis | None:
    """The analysis at all there is, as the last one."""
    count = sum(difference is not None for difference in differences)
    if count < FEWEST:
        return None
    return decide(differences, replace(design, max_blocks=count))


def _position(differences: Sequence[float | None], number: int) -> int:
    """How many blocks it takes to have so many differences."""
    seen = 0
    for place, difference in enumerate(differences, start=1):
        seen += difference is not None
        if seen == number:
            return place
    return len(differences)
