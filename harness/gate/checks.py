"""Secondary checks of a gate: a measure of the candidate held against a threshold of its own.

Owns thresholds and what becomes of them. Never averaged with the score or with each other, and never passed for want of
data. Knows no records: measures are numbers by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

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


def run_checks(
    checks: Sequence[Check], candidate: Mapping[str, float | None], baseline: Mapping[str, float | None]
) -> tuple[CheckResult, ...]:
    """Every check, in order."""
    return tuple(_run(check, candidate.get(check.measure), baseline.get(check.measure)) for check in checks)


def _run(check: Check, value: float | None, before: float | None) -> CheckResult:
    relative = check.max_increase is not None or check.max_decrease is not None
    lows = [check.min, None if before is None or check.max_decrease is None else before - check.max_decrease]
    highs = [check.max, None if before is None or check.max_increase is None else before + check.max_increase]
    low = max((bound for bound in lows if bound is not None), default=None)
    high = min((bound for bound in highs if bound is not None), default=None)
    if value is None:
        return CheckResult(check.measure, "inconclusive", None, before, low, high, "nothing was observed")
    if low is not None and value < low:
        return CheckResult(check.measure, "regression", value, before, low, high, f"{value:.4g} is below {low:.4g}")
    if high is not None and value > high:
        return CheckResult(check.measure, "regression", value, before, low, high, f"{value:.4g} is above {high:.4g}")
    if relative and before is None:
        reason = "the baseline has no value to compare with"
        return CheckResult(check.measure, "inconclusive", value, None, low, high, reason)
    return CheckResult(check.measure, "pass", value, before, low, high, f"{value:.4g} is within {_span(low, high)}")


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:.4g}"
    return f"at least {low:.4g}" if high is None else f"{low:.4g} to {high:.4g}"
