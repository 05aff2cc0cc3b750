"""Pairing two arms, and the range of their differences."""

import math
from itertools import permutations

import pytest

from weigh.harness.stats.paired import block_difference, difference_range, paired


def test_a_block_is_the_mean_of_its_pairs():
    assert block_difference([1.0, -1.0, 0.5, 0.0], [0.0, -1.0, -0.5, 0.0]) == pytest.approx(0.5)
    assert block_difference([-1, -1], [1, 1]) == -2


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_a_block_that_lacks_a_rotation_is_missing_as_a_whole(nothing):
    assert block_difference([0.5, nothing], [0.5, 0.5]) is None
    assert block_difference([0.5, 0.5], [nothing, 0.5]) is None


def test_arms_that_do_not_match_and_scores_that_cannot_be_are_refused():
    for candidate, baseline in (([0.1], [0.1, 0.2]), ([], [])):
        with pytest.raises(ValueError, match="has no pairs"):
            block_difference(candidate, baseline)
    for score in (1.1, math.inf):
        with pytest.raises(ValueError, match="does not lie between -1 and 1"):
            block_difference([score, 0.0], [0.0, 0.0])


def test_the_ends_are_the_worst_in_the_best_block_and_the_best_in_the_worst():
    assert difference_range([0.25, -0.5, 0.0]) == (-1.25, 1.5)
    assert difference_range([0.25, -0.5, 0.0], lowest=-1 / 3) == pytest.approx((-1 / 3 - 0.25, 1.5))
    with pytest.raises(ValueError, match="without blocks"):
        difference_range([])


def test_pairs_that_cancel_are_a_difference_of_0_in_every_order():
    for scores in permutations([0.1, 0.2, -0.3]):
        assert block_difference(list(scores), [0.0, 0.0, 0.0]) == 0
    assert paired([block_difference([0.1, 0.2, -0.3], [0.0, 0.0, 0.0])] * 8).p == 1
