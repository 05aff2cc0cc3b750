"""Corrections for many claims, against figures worked out by hand and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from weigh.harness.stats.multiple_tests import benjamini_hochberg, holm, holm_of_known


def test_the_smallest_is_multiplied_most_and_the_order_is_kept() -> None:
    # Sorted: .005 * 4 = .02, .01 * 3 = .03, .03 * 2 = .06, and .04 * 1 is no less than the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.9]) == [1.0, 1.0]


def test_one_claim_or_none_is_not_corrected() -> None:
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_what_could_not_be_tested_stays_unknown_and_does_not_count() -> None:
    assert holm_of_known([None, 0.02, None, 0.03]) == pytest.approx([None, 0.04, None, 0.04])
    assert holm_of_known([None]) == [None]
    assert holm_of_known([]) == []


def test_false_discoveries_are_a_share_of_the_claims_made() -> None:
    # Sorted: .01 * 4 / 1 = .04, .02 * 4 / 2 = .04, .04 * 4 / 3 = .0533, .5; each no more than the one after.
    assert benjamini_hochberg([0.04, 0.01, 0.5, 0.02]) == pytest.approx([0.16 / 3, 0.04, 0.5, 0.04])
    assert benjamini_hochberg([]) == []


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_corrections_are_those_of_statsmodels_to_the_bit(count: int) -> None:
    p = np.round(np.random.default_rng(count).uniform(0, 0.2, count), 2)  # with ties
    assert holm(p.tolist()) == multipletests(p, method="holm")[1].tolist()
    assert benjamini_hochberg(p.tolist()) == multipletests(p, method="fdr_bh")[1].tolist()
