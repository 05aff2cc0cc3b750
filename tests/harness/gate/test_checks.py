"""Secondary checks: each by its own threshold, and never passed for want of data."""

from __future__ import annotations

import pytest
from scipy import stats

from weigh.harness.gate.measures import Check, Measures, run_checks


def verdict(check, value, before=None):
    return run(check, value, before).verdict


def run(check, value, before=None, error=0.0, error_before=None, blocks=10):
    """Measures without spread, unless said otherwise: then every change that was seen is sure."""
    mine = Measures({"m": value}, {"m": error}, blocks - 1, blocks)
    theirs = Measures({"m": before}, {} if error_before is None else {"m": error_before}, 29, 30)
    (result,) = run_checks([check], mine, theirs)
    return result


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
    (result,) = run_checks([Check("m", max=1.0)], Measures(), Measures())
    assert (result.verdict, result.value) == ("inconclusive", None)


def test_a_result_names_value_bounds_and_baseline():
    result = run(Check("m", min=0.0, max_increase=0.1), 0.5, 0.2)
    assert (result.value, result.baseline, result.low) == (0.5, 0.2, 0.0)
    assert result.high == pytest.approx(0.3)
    assert "0.5 is above 0.3" in result.reason


def test_an_increase_fails_when_it_is_sure_and_is_inconclusive_when_it_is_not():
    """0.3 less 0.1 is 0.2, with an error of .05; t(.95, 9) = 1.8331, so at least 0.2 - 0.0917 = 0.1083."""
    check = Check("m", max_increase=0.1)
    sure = run(check, 0.3, 0.1, error=0.05)
    assert sure.verdict == "regression"
    assert sure.change_bound == pytest.approx(0.2 - stats.t.ppf(0.95, 9) * 0.05)
    assert "increase of 0.1083 or more, one-sided 95 %" in sure.reason
    unsure = run(check, 0.3, 0.1, error=0.06)
    assert unsure.verdict == "inconclusive"
    assert unsure.reason.startswith("0.3 is above 0.2, but 10 blocks do not show it")
    assert unsure.change_bound == pytest.approx(0.2 - stats.t.ppf(0.95, 9) * 0.06)
    assert run(check, 0.2, 0.1, error=9.0).verdict == "pass"


def test_a_decrease_is_the_mirror_image():
    check = Check("m", max_decrease=0.1)
    assert run(check, 0.1, 0.3, error=0.05).verdict == "regression"
    assert run(check, 0.1, 0.3, error=0.05).change_bound == pytest.approx(-0.2 + stats.t.ppf(0.95, 9) * 0.05)
    assert run(check, 0.1, 0.3, error=0.06).verdict == "inconclusive"
    assert run(check, 0.9, 0.3, error=0.0).verdict == "pass"


def test_the_noise_of_the_baseline_counts_as_well():
    check = Check("m", max_increase=0.1)
    assert run(check, 0.3, 0.1, error=0.05, error_before=0.0).verdict == "regression"
    both = run(check, 0.3, 0.1, error=0.05, error_before=0.05)
    assert both.verdict == "inconclusive"
    assert both.change_bound == pytest.approx(0.2 - stats.t.ppf(0.95, 9) * 0.05 * 2**0.5)


def test_max_is_held_against_the_value_itself():
    assert run(Check("m", max=0.1), 0.11, error=9.0).verdict == "regression"
    assert run(Check("m", max=0.1), 0.09, error=9.0).verdict == "pass"


@pytest.mark.parametrize(("blocks", "error"), [(4, 0.0), (1, None), (1, 0.0)])
def test_too_few_blocks_that_agree_show_no_change(blocks, error):
    result = run(Check("m", max_increase=0.1), 0.9, 0.1, error=error, blocks=blocks)
    assert (result.verdict, result.change_bound, result.blocks) == ("inconclusive", None, blocks)


def test_a_value_on_its_bound_passes_however_bound_and_value_were_summed():
    assert 0.7 + 0.1 < 0.8
    assert verdict(Check("m", max_increase=0.1), 0.8, 0.7) == "pass"
    assert 0.4 - 0.1 > 0.3
    assert verdict(Check("m", max_decrease=0.1), 0.3, 0.4) == "pass"
    assert verdict(Check("m", max=0.3), 0.1 + 0.2) == "pass"
    assert verdict(Check("m", min=0.8), 0.7 + 0.1) == "pass"


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e6])
def test_a_measure_is_judged_alike_in_every_unit(unit):
    check = Check("m", max_increase=0.1 * unit)
    for error in (0.05, 0.2):
        plain = run(Check("m", max_increase=0.1), 0.3, 0.1, error, error / 2, blocks=4)
        scaled = run(check, 0.3 * unit, 0.1 * unit, error * unit, error / 2 * unit, blocks=4)
        assert scaled.verdict == plain.verdict
        assert scaled.change_bound == pytest.approx(plain.change_bound * unit)


def test_a_baseline_error_of_nothing_but_rounding_takes_no_degrees_of_freedom():
    check = Check("m", max_increase=0.1)
    exact, rounded = (run(check, 0.5, 0.1, 0.05, before, blocks=40) for before in (0.0, 1e-17))
    assert exact.change_bound == rounded.change_bound
