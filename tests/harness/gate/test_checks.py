"""Secondary checks: each by its own threshold, and never passed for want of data."""

from __future__ import annotations

import pytest

from harness.gate.checks import Check, run_checks


def verdict(check, value, before=None):
    (result,) = run_checks([check], {"m": value}, {"m": before})
    return result.verdict


@pytest.mark.parametrize(
    ("check", "value", "before", "expected"),
    [
        (Check("m", max=0.1), 0.1, None, "pass"),
        (Check("m", max=0.1), 0.11, None, "regression"),
        (Check("m", min=0.1), 0.09, None, "regression"),
        (Check("m", min=0.1, max=0.2), 0.15, None, "pass"),
        (Check("m", max_increase=0.05), 0.15, 0.1, "pass"),
        (Check("m", max_increase=0.05), 0.16, 0.1, "regression"),
        (Check("m", max_decrease=0.05), 0.04, 0.1, "regression"),
        (Check("m", max=0.5, max_increase=0.05), 0.2, 0.1, "regression"),
        (Check("m", max=0.1), None, None, "inconclusive"),
        (Check("m", max_increase=0.05), 0.1, None, "inconclusive"),
        (Check("m", max=0.05, max_increase=0.05), 0.1, None, "regression"),
        (Check("m", max=0.0), 0.0, None, "pass"),
    ],
)
def test_a_check_is_held_against_its_own_threshold(check, value, before, expected):
    assert verdict(check, value, before) == expected


def test_a_measure_that_nobody_took_is_inconclusive():
    (result,) = run_checks([Check("m", max=1.0)], {}, {})
    assert (result.verdict, result.value) == ("inconclusive", None)


def test_a_result_names_value_bounds_and_baseline():
    (result,) = run_checks([Check("m", min=0.0, max_increase=0.1)], {"m": 0.5}, {"m": 0.2})
    assert (result.value, result.baseline, result.low) == (0.5, 0.2, 0.0)
    assert result.high == pytest.approx(0.3)
    assert "0.5 is above 0.3" in result.reason
