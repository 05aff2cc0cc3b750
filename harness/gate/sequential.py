"""The gate's sequential test: from the block differences so far to a verdict, or to how many more blocks to play.

Owns the design of a gate, its looks and its verdicts. Knows no games, records, files or money. Everything is a pure
function of the differences in the order of the schedule and of the design: whoever has both gets the same looks.

    d(b) = mean over the block's pairs of (candidate score - baseline score)
    H0: E[d] <= -margin ("worse by the margin")     H1: E[d] >= 0 ("as good")

Looks are taken after `min_blocks` blocks, then after every `batch`, and at `max_blocks`.
- A look passes when a bet against H0 has come to 1 / alpha times its stake, and is a regression when one against H1 has
  come to 1 / beta (`harness.stats.betting`). Both at once (worse, by less than the margin) is a pass.
- At `max_blocks` a gate that neither of them decided is inconclusive.

So a candidate worse by the margin or more passes with a chance of at most alpha, and one as good is called a regression
with at most beta, for differences of any shape and any number of looks: as long as blocks are drawn independently, and
none shows a difference beyond the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.harness.stats.betting import fewest_zeros, log_stakes, lower_bound, upper_bound
from weigh.harness.stats.power import fixed_size, one_sided_detectable

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Floats

Verdict: TypeAlias = Literal["pass", "regression", "continue", "inconclusive"]

WIDEST = 2.0
"""Scores lie in [-1, 1], so differences in [-2, 2]."""

_ROUNDING = 1e-9
"""By how much a difference may lie beyond an end that it reaches exactly."""


@dataclass(frozen=True, slots=True)
class Design:
    """What a gate promises and how it looks. Raises ValueError, naming the field, for values that promise nothing."""

    margin: float
    """The worsening of the mean score that must not pass, above 0."""
    max_blocks: int
    """The cap: the last look is taken here."""
    min_blocks: int = 10
    """The first look is taken here."""
    batch: int = 5
    """Blocks from look to look."""
    alpha: float = 0.05
    """The chance that a candidate worse by exactly the margin passes."""
    beta: float = 0.05
    """The chance that a candidate as good as the baseline is called a regression."""
    least: float = -WIDEST
    """The lowest difference a block can show; see `harness.gate.differences`. Decides how many blocks without a loss
    it takes to exclude losses that are rare: about 3 * -least / margin at an alpha of 5 %, and no valid test takes
    fewer."""
    greatest: float = WIDEST
    """The highest one."""

    def __post_init__(self) -> None:
        for name, level in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < level < 0.5:
                raise ValueError(f"{name} is {level}: it must lie between 0 and 0.5")
        if not -WIDEST <= self.least < 0 < self.greatest <= WIDEST:
            raise ValueError(
                f"differences from {self.least} to {self.greatest}: 0 must lie between them, and both in [-2, 2]"
            )
        if not self.margin > 0:
            raise ValueError(f"margin is {self.margin}: it must be above 0, or no number of blocks could show a pass")
        if not self.margin < -self.least:
            raise ValueError(
                f"margin is {self.margin}: no block can show a loss beyond {-self.least:g}, so it must be less"
            )
        if self.min_blocks < 2 or self.batch < 1 or self.max_blocks < self.min_blocks:
            raise ValueError(
                f"looks from {self.min_blocks} to {self.max_blocks} blocks every {self.batch}: it takes 2 or more for "
                "the first, 1 or more between, and a last that is not before the first"
            )

    @property
    def fewest_to_pass(self) -> int:
        """Blocks it takes to pass when every difference is exactly 0: looks come where they come, so perhaps some more.

        log(1 / alpha) / log(1 + 0.95 * margin / (-least - margin)), rounded up, for a margin of at most half of -least;
        at least `min_blocks`. So many exclude that the margin is lost in rare blocks of the `least` difference.
        """
        return max(self.min_blocks, fewest_zeros(self.alpha, -self.margin, self.least))

    def look_after(self, count: int) -> int | None:
        """The blocks at the first look after `count` blocks; None at the cap."""
        if count >= self.max_blocks:
            return None
        if count < self.min_blocks:
            return self.min_blocks
        done = (count - self.min_blocks) // self.batch + 1
        return min(self.max_blocks, self.min_blocks + done * self.batch)


@dataclass(frozen=True, slots=True)
class Look:
    """What the blocks up to one look say. A number that does not exist is None."""

    verdict: Verdict
    by: Literal["bets", "cap"] | None
    """Whether a bet decided or the cap came; None for `continue`."""
    n: int
    """Blocks judged."""
    missing: int
    """Blocks handed in without a difference, which count for nothing."""
    next_batch: int
    """How many more blocks to play before the next look; 0 when there is none."""
    mean: float | None
    sd: float | None
    """Of block differences, divided by n - 1."""
    lower: float
    """The largest mean that was given up at alpha at any of the blocks: above -margin where the gate passes. It is ever
    above the true mean with a chance of at most alpha, however many looks there were."""
    upper: float
    """The same from above at beta: below 0 for a regression."""
    p_pass: float
    """Sequential p-value of "worse by the margin or more": the least `alpha` at which a block so far had passed."""
    p_regression: float
    """Sequential p-value of "as good as the baseline", likewise; what `harness.gate.family` corrects."""
    mde: float | None
    """Minimum detectable effect: the least loss that a fixed test of `n` blocks finds with chance 1 - beta."""
    fixed_n: int | None
    """Blocks the fixed t test would have taken for the same margin, errors and spread."""

    @property
    def saved(self) -> int | None:
        """Blocks saved against the fixed test; negative when it took more."""
        return None if self.fixed_n is None else self.fixed_n - self.n


def decide(differences: Sequence[float | None], design: Design) -> Look:
    """The look at which the gate stands: the one that decided it, or the present one with what to play next.

    `differences` in the order of the schedule; None or NaN for a block that has none. Blocks beyond the look that
    decided change nothing. Between looks nothing is decided: the numbers are those of all blocks there are, and the
    verdict is `continue`. Raises ValueError for a difference outside [-2, 2].
    """
    values, missing = present(differences)
    return _told(values, missing, design, walk(values, design)[-1])


def looks(differences: Sequence[float | None], design: Design) -> tuple[Look, ...]:
    """Every look of the gate, in order, up to the one that `decide` gives."""
    values, missing = present(differences)
    return tuple(_told(values, missing, design, step) for step in walk(values, design))


@dataclass(frozen=True, slots=True)
class Step:
    """What decides at one look, without what is only told of it."""

    count: int
    verdict: Verdict
    by: Literal["bets", "cap"] | None
    p_pass: float
    p_regression: float


def present(differences: Sequence[float | None]) -> tuple[Floats, int]:
    """Those that are there, in order, and how many are not."""
    import numpy as np

    there = [d for d in differences if d is not None and d == d]
    for d in there:
        if not abs(d) <= WIDEST:
            raise ValueError(f"a block difference of {d} does not lie between -2 and 2")
    return np.array(there, dtype=np.float64), len(differences) - len(there)


def walk(values: Floats, design: Design) -> list[Step]:
    """The looks at the blocks there are; at least one step, the last for the blocks beyond the last look."""
    steps: list[Step] = []
    evidence = _Evidence(values, design)
    count = design.look_after(0)
    while count is not None and count <= len(values):
        steps.append(_step(evidence.after(count), count, design))
        if steps[-1].verdict != "continue":
            return steps
        count = design.look_after(count)
    if not steps or steps[-1].count < len(values):
        steps.append(Step(len(values), "continue", None, *evidence.after(len(values))))
    return steps


def _step(p_values: tuple[float, float], count: int, design: Design) -> Step:
    p_pass, p_regression = p_values
    if p_pass <= design.alpha:
        return Step(count, "pass", "bets", p_pass, p_regression)
    if p_regression <= design.beta:
        return Step(count, "regression", "bets", p_pass, p_regression)
    if count >= design.max_blocks:
        return Step(count, "inconclusive", "cap", p_pass, p_regression)
    return Step(count, "continue", None, p_pass, p_regression)


class _Evidence:
    """Both p-values after any number of the values; the bets are laid once, and again where a value moved the ends."""

    def __init__(self, values: Floats, design: Design) -> None:
        self._values, self._design = values, design
        self._ends: tuple[float, float] | None = None

    def after(self, count: int) -> tuple[float, float]:
        """Of "worse by the margin", and of "as good"."""
        if not count:
            return 1.0, 1.0
        ends = _ends(self._values[:count], self._design)
        if ends != self._ends:
            self._lay(ends)
        return exp(-float(self._best[0][count - 1])), exp(-float(self._best[1][count - 1]))

    def _lay(self, ends: tuple[float, float]) -> None:
        import numpy as np

        (low, high), values, margin = ends, self._values, self._design.margin
        beyond = np.flatnonzero((values < low - _ROUNDING) | (values > high + _ROUNDING))
        inside = values[: beyond[0]] if len(beyond) else values
        stakes = log_stakes(inside, -margin, low, margin), log_stakes(-inside, 0.0, -high, margin)
        self._ends = ends
        self._best = [np.maximum.accumulate(np.maximum(stake, 0.0)) for stake in stakes]


def _ends(values: Floats, design: Design) -> tuple[float, float]:
    """The ends of the design, moved out to what was seen where they proved too narrow."""
    if not len(values):
        return design.least, design.greatest
    low, high = float(values.min()), float(values.max())
    return (
        low if low < design.least - _ROUNDING else design.least,
        high if high > design.greatest + _ROUNDING else design.greatest,
    )


def _told(values: Floats, missing: int, design: Design, step: Step) -> Look:
    seen = values[: step.count]
    low, high = _ends(seen, design)
    sd = float(seen.std(ddof=1)) if step.count > 1 else None
    following = design.look_after(step.count) if step.verdict == "continue" else None
    return Look(
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
        mde=None if sd is None else one_sided_detectable(step.count, sd, design.alpha, design.beta),
        fixed_n=None if sd is None else fixed_size(design.margin, sd, design.alpha, design.beta),
    )
