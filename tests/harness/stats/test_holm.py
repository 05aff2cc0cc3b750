"""Holm's correction against figures worked out by hand."""

from __future__ import annotations

import pytest

from weigh.harness.stats.multiple_tests import holm, holm_of_known


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
