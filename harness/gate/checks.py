"""Secondary checks of a gate: a measure of the candidate held against a threshold of its own.

Owns thresholds and what becomes of them. Never averaged with the score or with each other, and never passed for want of
data. Knows no records: measures are numbers by name, with their standard errors.

Checks are no sequential test. `max` and `min` hold the measured value itself against the threshold and have no error
rate. `max_increase` and `max_decrease` fail when the change is beyond the threshold by a one-sided 95 % bound clustered
by block, pass when the measured change is within it, and are inconclusive in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from weigh.harness.stats.clustered import LEAST_ALIKE, at_most
from weigh.harness.stats.power import LEVEL

Checked: TypeAlias = Literal["pass", "regression", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Check:
    """A measure and where it must lie. None bounds nothing; a value on a bound passes."""

    measure: str
    max: float | None = None
    min: float | None = None
    max_increase: float | None = None
    """Over the baseline's value."""
    max_decrease: float | None = None
    """Below the baseline's value."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What one arm showed in its blocks, by the name of the measure."""

    values: Mapping[str, float | None] = field(default_factory=dict)
    """None where nothing was observed."""
    errors: Mapping[str, float | None] = field(default_factory=dict)
    """Standard errors, clustered by block; None or missing where there is none."""
    freedom: int = 0
    """Degrees of freedom of these errors."""
    blocks: int = 0
    """What they were measured over."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check came to."""

    measure: str
    verdict: Checked
    value: float | None
    """The candidate's."""
    baseline: float | None
    low: float | None
    """The least value that passes; None for no bound."""
    high: float | None
    reason: str
    """One line."""
    change_bound: float | None = None
    """Of a change beyond what is allowed: the least increase, or the greatest (negative) decrease, that is sure at one-
    sided 95 %."""
    blocks: int = 0
    """What the candidate was measured over."""


def run_checks(checks: Sequence[Check], candidate: Measures, baseline: Measures) -> tuple[CheckResult, ...]:
    """Every check, in order."""
    return tuple(_run(check, candidate, baseline) for check in checks)


def _run(check: Check, mine: Measures, theirs: Measures) -> CheckResult:
    value, before = mine.values.get(check.measure), theirs.values.get(check.measure)
    relative = check.max_increase is not None or check.max_decrease is not None
    lows = [check.min, None if before is None or check.max_decrease is None else before - check.max_decrease]
    highs = [check.max, None if before is None or check.max_increase is None else before + check.max_increase]
    low = max((bound for bound in lows if bound is not None), default=None)
    high = min((bound for bound in highs if bound is not None), default=None)

    def came_to(verdict: Checked, reason: str, bound: float | None = None) -> CheckResult:
        return CheckResult(check.measure, verdict, value, before, low, high, reason, bound, mine.blocks)

    if value is None:
        return came_to("inconclusive", "nothing was observed")
    if check.min is not None and not at_most(-value, -check.min):
        return came_to("regression", f"{value:.4g} is below {check.min:.4g}")
    if check.max is not None and not at_most(value, check.max):
        return came_to("regression", f"{value:.4g} is above {check.max:.4g}")
    if relative and before is None:
        return came_to("inconclusive", "the baseline has no value to compare with")
    sides = (("above", 1, high, check.max_increase), ("below", -1, low, check.max_decrease))
    for side, sign, bound, allowed in sides:
        if before is None or bound is None or allowed is None or at_most(sign * (value - before), allowed, value):
            continue
        sure = _sure_change(check.measure, sign * (value - before), mine, theirs)
        told = f"{value:.4g} is {side} {bound:.4g}"
        if sure is not None and sure > allowed:
            change = "increase" if sign > 0 else "decrease"
            return came_to("regression", f"{told} ({change} of {sure:.4g} or more, one-sided 95 %)", sign * sure)
        reason = f"{told}, but {mine.blocks} blocks do not show it (one-sided 95 % bound, clustered by block)"
        return came_to("inconclusive", reason, None if sure is None else sign * sure)
    return came_to("pass", f"{value:.4g} is within {_span(low, high)}")


def _sure_change(measure: str, change: float, mine: Measures, theirs: Measures) -> float | None:
    """The one-sided lower bound of a change for the worse; None where blocks are too few for one.

    change - t * error, with both arms' errors as if independent (pairing would make them smaller) and the smaller of
    their degrees of freedom. A baseline whose errors are not known counts as known exactly.
    """
    from scipy import stats

    error, before = mine.errors.get(measure), theirs.errors.get(measure)
    if error is None or mine.freedom < 1:
        return None
    freedom = mine.freedom
    if before is not None and not at_most(before, 0.0, error) and theirs.freedom >= 1:
        error, freedom = (error**2 + before**2) ** 0.5, min(freedom, theirs.freedom)
    if at_most(error, 0.0, change):
        return change if mine.blocks >= LEAST_ALIKE else None
    return change - float(stats.t.isf(LEVEL, freedom)) * error


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:.4g}"
    return f"at least {low:.4g}" if high is None else f"{low:.4g} to {high:.4g}"
