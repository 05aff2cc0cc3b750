"""The gate's sequential test: from the block differences so far to a verdict, or to how many more blocks to play.

Owns the design of a gate, its looks and its verdicts. Knows no games, records, files or money. Everything is a pure
function of the differences in the order of the schedule and of the design: whoever has both gets the same looks.

    d(b) = mean over the block's pairs of (candidate score - baseline score)
    H0: E[d] <= -margin ("worse by the margin")     H1: E[d] >= 0 ("as good")

Looks are taken after `min_blocks` blocks, then after every `batch`, and at `max_blocks`.
- A look passes when the log likelihood ratio of mean 0 against mean -margin reaches the high Wald bound, and a
  sign-flip test of d + margin confirms it at `alpha`.
- It is a regression when the ratio reaches the low bound, and a sign-flip test of d confirms it at `beta`.
- An unconfirmed crossing decides nothing; the gate goes on.
- At `max_blocks` the bounds of the mean decide: pass when `lower` is above -margin, regression when `upper` is below 0,
  else inconclusive. Both at once (worse, by less than the margin) is a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.gate.confirm import sign_flip
from harness.gate.fixed import detectable, fixed_size, lower_bound, p_above, upper_bound
from harness.gate.sprt import Bounds, exact_llr, wald_bounds

if TYPE_CHECKING:
    from harness.clusters import Floats

Verdict: TypeAlias = Literal["pass", "regression", "continue", "inconclusive"]

WIDEST = 2.0
"""Scores lie in [-1, 1], so differences in [-2, 2]."""

CAP_SHARE = 0.5
"""The part of alpha and beta at which the bounds of the mean stand. The looks may spend all of both, yet the sum holds:
most samples that err at the cap would have erred at a look, and looks in batches overshoot Wald's bounds. Measured by
`benches/gate.py`, at caps from half to twice the fixed test."""


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
    """The lowest difference a block can show; see `harness.gate.pairs`. Decides how many blocks without a loss it takes
    to exclude losses that are rare."""
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
    def bounds(self) -> Bounds:
        """Wald's bounds of the log likelihood ratio."""
        return wald_bounds(self.alpha, self.beta)

    @property
    def fewest_to_pass(self) -> int:
        """Blocks it takes to pass when every difference is exactly 0: looks come where they come, so perhaps some more.

        So many are needed to exclude that the margin is lost in rare blocks of the `least` difference.
        """
        return max(self.min_blocks, ceil(self.bounds.high / -log(1 - self.margin / -self.least)))

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
    by: Literal["bounds", "cap"] | None
    """Whether the likelihood ratio decided or the cap came; None for `continue`."""
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
    """One-sided bound of the mean at alpha / 2 (97.5 %), guarded against losses too rare to have been met."""
    upper: float
    """The same from above at beta / 2, so that with 5 % for both the two are a 95 % interval."""
    llr: float
    """Log likelihood ratio of mean 0 against mean -margin, exact. Positive speaks for a pass."""
    bounds: Bounds
    """Where it stops the gate."""
    p_confirm: float | None
    """Sign-flip p-value of the side whose bound was crossed; None where none was."""
    p_pass: float
    """Sequential p-value of "worse by the margin": the least `alpha` at which a look so far had crossed."""
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
    return _told(values, missing, design, _walk(values, design)[-1])


def looks(differences: Sequence[float | None], design: Design) -> tuple[Look, ...]:
    """Every look of the gate, in order, up to the one that `decide` gives."""
    values, missing = present(differences)
    return tuple(_told(values, missing, design, step) for step in _walk(values, design))


@dataclass(frozen=True, slots=True)
class _Step:
    """What decides at one look, without what is only told of it."""

    count: int
    llr: float
    verdict: Verdict
    by: Literal["bounds", "cap"] | None
    p_confirm: float | None
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


def _walk(values: Floats, design: Design) -> list[_Step]:
    """The looks at the blocks there are; at least one step, the last for the blocks beyond the last look."""
    steps: list[_Step] = []
    p_pass = p_regression = 1.0
    count = design.look_after(0)
    while count is not None and count <= len(values):
        step = _step(values[:count], design, p_pass, p_regression)
        steps.append(step)
        if step.verdict != "continue":
            return steps
        p_pass, p_regression = step.p_pass, step.p_regression
        count = design.look_after(count)
    if not steps or steps[-1].count < len(values):
        llr = _llr(values, design)
        steps.append(_Step(len(values), llr, "continue", None, None, p_pass, p_regression))
    return steps


def _step(values: Floats, design: Design, p_pass: float, p_regression: float) -> _Step:
    count, llr, bounds = len(values), _llr(values, design), design.bounds
    p_pass = min(p_pass, exp(-llr) * (1 - design.beta))
    p_regression = min(p_regression, exp(llr) * (1 - design.alpha))
    p_confirm: float | None = None
    if llr >= bounds.high:
        p_confirm = sign_flip(values + design.margin, "greater")
        if p_confirm <= design.alpha:
            return _Step(count, llr, "pass", "bounds", p_confirm, p_pass, p_regression)
    elif llr <= bounds.low:
        p_confirm = sign_flip(values, "less")
        if p_confirm <= design.beta:
            return _Step(count, llr, "regression", "bounds", p_confirm, p_pass, p_regression)
    if count < design.max_blocks:
        return _Step(count, llr, "continue", None, p_confirm, p_pass, p_regression)
    low, high = _ends(values, design)
    p_pass = min(p_pass, p_above(values, -design.margin, low) / CAP_SHARE)
    p_regression = min(p_regression, p_above(-values, 0.0, -high) / CAP_SHARE)
    verdict: Verdict = "inconclusive"
    if lower_bound(values, CAP_SHARE * design.alpha, low) > -design.margin:
        verdict = "pass"
    elif upper_bound(values, CAP_SHARE * design.beta, high) < 0:
        verdict = "regression"
    return _Step(count, llr, verdict, "cap", p_confirm, p_pass, p_regression)


def _llr(values: Floats, design: Design) -> float:
    return exact_llr(values, -design.margin, 0.0, _ends(values, design))


def _ends(values: Floats, design: Design) -> tuple[float, float]:
    """The ends of the design, moved out to what was seen where they proved too narrow."""
    if not len(values):
        return design.least, design.greatest
    return min(design.least, float(values.min())), max(design.greatest, float(values.max()))


def _told(values: Floats, missing: int, design: Design, step: _Step) -> Look:
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
        lower=lower_bound(seen, CAP_SHARE * design.alpha, low),
        upper=upper_bound(seen, CAP_SHARE * design.beta, high),
        llr=step.llr,
        bounds=design.bounds,
        p_confirm=step.p_confirm,
        p_pass=min(1.0, step.p_pass),
        p_regression=min(1.0, step.p_regression),
        mde=None if sd is None else detectable(step.count, sd, design.alpha, design.beta),
        fixed_n=None if sd is None else fixed_size(design.margin, sd, design.alpha, design.beta),
    )
