"""Contrasts of arms, against scipy, statsmodels, closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from weigh.harness.audit.claims.arms import Direction
from weigh.harness.audit.claims.contrasts import blocks_needed, contrast, judged
from weigh.harness.stats.paired import paired
from weigh.harness.stats.power import LEVEL
from weigh.harness.stats.sign_flip import sign_flip

WHO = Direction("ada", "bea")


def drawn(seed: int, count: int, shift: float, spread: float) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    base = rng.normal(0, 0.5, count)
    return list(base + shift + rng.normal(0, spread, count)), list(base)


def test_differences_of_pairs_are_tested_and_not_the_scores() -> None:
    one, other = drawn(1, 40, 0.3, 0.4)
    found = contrast(WHO, "mute", one, other, 0.1)
    difference = np.array(one) - np.array(other)
    half = stats.t.ppf(0.975, 39) * difference.std(ddof=1) / math.sqrt(40)
    assert found.blocks == 40
    assert found.normal == pytest.approx(np.mean(one))
    assert found.altered == pytest.approx(np.mean(other))
    assert found.difference == pytest.approx(difference.mean())
    assert found.interval == pytest.approx((difference.mean() - half, difference.mean() + half))
    assert found.p == sign_flip(difference, "two-sided")
    assert found.detectable == paired(list(difference)).detectable


def test_equivalence_is_two_one_sided_tests_at_the_margin() -> None:
    one, other = drawn(2, 60, 0.02, 0.2)
    found = contrast(WHO, "mute", one, other, 0.1)
    difference = np.array(one) - np.array(other)
    upper = stats.ttest_1samp(difference, 0.1, alternative="less").pvalue
    lower = stats.ttest_1samp(difference, -0.1, alternative="greater").pvalue
    assert found.p_equivalence == pytest.approx(max(upper, lower))


def test_holm_is_over_every_contrast_of_the_report() -> None:
    cases = [contrast(WHO, "mute", *drawn(seed, 30, 0.25, 0.5), 0.1) for seed in (3, 4, 5)]
    told = judged(cases, 0.1)
    order = sorted(range(3), key=lambda at: cases[at].p or 0)
    due, highest = {}, 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (cases[at].p or 0) * (3 - rank)))
        due[at] = highest
    for at in range(3):
        assert told[at].p_holm == pytest.approx(due[at])


@pytest.mark.parametrize(
    ("shift", "spread", "count", "verdict"),
    [
        (0.5, 0.5, 50, "differs"),
        (0.0, 0.1, 60, "equivalent"),
        (0.1, 0.6, 10, "not_enough_evidence"),
    ],
)
def test_the_verdict_is_one_of_three(shift: float, spread: float, count: int, verdict: str) -> None:
    (told,) = judged([contrast(WHO, "mute", *drawn(6, count, shift, spread), 0.1)], 0.1)
    assert told.verdict == verdict
    assert (told.blocks_needed is None) == (verdict != "not_enough_evidence")


def test_without_a_pair_or_with_one_nothing_is_claimed() -> None:
    for scores in ([], [1.0]):
        (told,) = judged([contrast(WHO, "mute", scores, [0.0] * len(scores), 0.1)], 0.1)
        assert (told.interval, told.p, told.p_holm, told.p_equivalence) == (None, None, None, None)
        assert (told.verdict, told.blocks_needed) == ("not_enough_evidence", None)
    assert told.difference == 1.0


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.5])
def test_equivalence_is_that_of_statsmodels(margin: float) -> None:
    one, other = drawn(3, 40, 0.05, 0.3)
    expected, _, _ = ttost_paired(np.array(one), np.array(other), -margin, margin)
    assert contrast(WHO, "mute", one, other, margin).p_equivalence == pytest.approx(float(expected), rel=1e-9)


def test_unequal_lengths_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        contrast(WHO, "mute", [1.0], [], 0.1)


def test_pairs_that_all_agree_have_the_width_that_unseen_ones_leave() -> None:
    """59 equal pairs bound the share of others at 1 - .05 ** (1 / 59) < .05, and each may differ by 2."""
    few, enough = (contrast(WHO, "mute", [0.5] * n, [0.5] * n, 0.1) for n in (58, 59))
    assert few.p_equivalence is not None
    assert enough.p_equivalence is not None
    assert few.p_equivalence > LEVEL > enough.p_equivalence
    assert enough.p_equivalence == pytest.approx(0.95**59)
    half = 2 * (1 - 0.025 ** (1 / 59))
    assert enough.interval == pytest.approx((-half, half))
    assert (enough.p, enough.spread) == (1.0, 0.0)
    assert judged([few], 0.1)[0].blocks_needed == 59


def test_pairs_that_all_differ_alike_are_tested_by_their_signs() -> None:
    found = contrast(WHO, "mute", [1.0] * 6, [0.0] * 6, 0.1)
    assert found.p == pytest.approx(stats.binomtest(6, 6).pvalue)
    assert found.p_equivalence == 1.0
    assert judged([found], 0.1)[0].verdict == "differs"
    assert judged([contrast(WHO, "mute", [1.0] * 5, [0.0] * 5, 0.1)], 0.1)[0].blocks_needed == 6


def test_a_win_everywhere_against_a_loss_everywhere_stays_in_range() -> None:
    found = contrast(WHO, "mute", [1.0] * 3, [-1.0] * 3, 0.1)
    assert found.interval is not None
    low, high = found.interval
    assert -2 <= low <= high == 2.0


@pytest.mark.parametrize(("shift", "spread"), [(0.2, 0.6), (0.0, 0.5)], ids=["to see it", "to rule it out"])
def test_as_many_pairs_as_are_asked_for_settle_it_in_about_four_runs_of_five(shift: float, spread: float) -> None:
    """The advice takes what was observed for the truth; so the runs are drawn from exactly that."""
    row = np.linspace(-1, 1, 10)
    asked = blocks_needed(contrast(WHO, "mute", list(shift + spread * row / row.std(ddof=1)), [0.0] * 10, 0.1), 0.1, 1)
    assert asked is not None
    rng = np.random.default_rng(8)
    settled = 0
    for _ in range(200):
        found = contrast(WHO, "mute", list(rng.normal(shift, spread, asked).clip(-2, 2)), [0.0] * asked, 0.1)
        settled += min(found.p or 0.0, found.p_equivalence or 0.0) < LEVEL
    assert 0.72 <= settled / 200 <= 0.93


def test_no_effect_is_called_one_in_about_one_report_of_twenty() -> None:
    """Of three contrasts Holm calls one different exactly when the smallest p, times three, is below 5 %."""
    rng = np.random.default_rng(9)
    called = 0
    for _ in range(300):
        three = [contrast(WHO, "mute", list(rng.normal(0, 0.7, 20).clip(-2, 2)), [0.0] * 20, 0.1) for _ in range(3)]
        called += min(each.p or 0.0 for each in three) * 3 < LEVEL
    assert called / 300 < 0.09


def test_pairs_whose_scores_cancel_are_equal() -> None:
    """.1 + .2 and .3 are one score; eight equal signs of 5e-17 were a difference at p = 2/256."""
    found = contrast(WHO, "mute", [0.1 + 0.2] * 8, [0.3] * 8, 0.1)
    assert (found.difference, found.spread, found.p) == (0.0, 0.0, 1.0)
    (told,) = judged([found], 0.1)
    assert told.verdict != "differs"
