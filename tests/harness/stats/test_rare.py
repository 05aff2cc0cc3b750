"""Claims from few blocks that hold for any bounded scores, and what so few blocks cannot exclude."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benches.rare import GENERATORS, first, higher
from weigh.harness.stats.clustered import cluster_mean
from weigh.harness.stats.rare import bounded_interval, grade, p_bounded, rare_loss


def test_the_stake_on_few_blocks_is_the_product_worked_by_hand():
    """Up to 7 blocks everything is bet: 2 log(40) / n is above 1. Against 0 with an end of -2, a value of 1 makes the
    stake half as large again."""
    assert p_bounded(np.array([1.0, 1.0, 0.5]), 0.0, -2.0) == pytest.approx(1 / (1.5 * 1.5 * 1.25))
    assert p_bounded(np.array([1.0, -2.0]), 0.0, -2.0) == 1.0  # the stake is lost, and p is never above 1


def test_the_stake_on_many_blocks_is_a_mean_over_shares():
    values = np.full(100, 0.2)
    least = sqrt(2 * np.log(40) / 100)
    stakes = [np.prod(1 + share * values / 2) for share in (least, least**0.5, 1.0)]
    assert p_bounded(values, 0.0, -2.0) == pytest.approx(1 / np.mean(stakes))


@pytest.mark.parametrize(
    "tables",
    [
        [((-1.0, 0.1), (0.0, 0.9))] * 6,  # one rare loss, the same in every block
        [((-1.0, 0.5), (1.0, 0.5)), ((-0.5, 0.5), (0.1, 0.5)), ((0.2, 1.0),), ((-1.0, 0.3), (0.3, 0.7))],
    ],
)
def test_stakes_do_not_grow_on_average_however_the_expectations_of_blocks_differ(tables):
    """Every outcome of blocks with (value, chance): at their average expectation the mean stake is at most 1."""
    mean = float(np.mean([sum(value * chance for value, chance in table) for table in tables]))
    total = 0.0
    for outcome in product(*tables):
        values = np.array([value for value, _ in outcome])
        stake = np.prod(1 + (values - mean) / (mean + 1.0))  # fewer than 8 blocks: everything is bet
        assert p_bounded(values, mean, -1.0) == pytest.approx(min(1.0, 1 / stake) if stake else 1.0)
        total += stake * np.prod([chance for _, chance in outcome])
    assert total <= 1 + 1e-12


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.randoms())
def test_the_order_of_blocks_plays_no_part_and_the_mirror_image_is_mirrored(values, random):
    found = bounded_interval(np.array(values), -1.0, 1.0)
    random.shuffle(values)
    assert bounded_interval(np.array(values), -1.0, 1.0) == pytest.approx(found, abs=1e-9)
    assert bounded_interval(-np.array(values), -1.0, 1.0) == pytest.approx((-found[1], -found[0]), abs=1e-9)
    assert found[0] - 1e-9 <= float(np.mean(values)) <= found[1] + 1e-9


def test_bounds_are_where_the_p_value_is_half_the_level():
    values = np.random.default_rng(5).uniform(-0.4, 0.9, 40)
    low, high = bounded_interval(values, -1.0, 1.0)
    assert p_bounded(values, low, -1.0) == pytest.approx(0.025)
    assert p_bounded(-values, -high, -1.0) == pytest.approx(0.025)


def test_a_value_outside_its_ends_is_refused_and_rounding_is_not():
    with pytest.raises(ValueError, match="below the end"):
        p_bounded(np.array([-1.1]), 0.0, -1.0)
    assert p_bounded(np.array([-1.0 - 1e-12]), 0.0, -1.0) == 1.0
    assert bounded_interval(np.array([]), -1.0, 1.0) == (-1.0, 1.0)


def test_equals_of_which_one_fails_rarely_are_distinguished_by_normal_theory_and_not_by_bets():
    """A candidate loses 1 in one block of twenty, and gains what makes the means equal in the others. Fixed seed."""
    rng = np.random.default_rng(7)
    normal = bets = 0
    for _ in range(300):
        values = np.where(rng.random(20) < 0.05, -1.0, 0.05 / 0.95)
        mean, half = cluster_mean(values, np.arange(20))
        found = grade((mean - half, mean + half), bounded_interval(values, -2.0, 2.0))
        normal += found == "barring_rare_failures"
        bets += found == "guaranteed"
    assert (normal, bets) == (117, 0)  # it shows in no block in 36 % of runs


def test_a_difference_has_the_better_grade_that_holds():
    assert grade((0.1, 0.3), (0.05, 0.4)) == "guaranteed"
    assert grade(None, (-0.4, -0.05)) == "guaranteed"
    assert grade((0.1, 0.3), (-0.05, 0.4)) == "barring_rare_failures"
    assert grade((-0.3, -0.1), (-0.5, 0.0)) == "barring_rare_failures"
    assert grade((-0.1, 0.3), (-0.5, 0.4)) is None
    assert grade(None, (-0.5, 0.4)) is None


def test_twelve_blocks_cannot_exclude_a_loss_in_twenty_two_percent():
    found = rare_loss(12)
    assert (round(found.share, 2), round(found.moves, 2)) == (0.22, 0.22)
    assert (1 - found.share) ** 12 == pytest.approx(0.05)
    assert rare_loss(12, 0.5).moves == pytest.approx(found.share / 2)
    assert rare_loss(0).share == 1.0


def test_on_few_blocks_of_rare_losses_only_claims_with_the_reservation_are_wrong():
    """A fixed-seed digest of `python -m benches rare`: equals, of which one loses 1 in 5 % of blocks."""
    (generator,) = (each for each in GENERATORS if each.title == "loses 1 in 5%")
    one, other = first(generator, 20, 40), higher(generator, 20, 40)
    assert (one.guaranteed, other.guaranteed) == (0.0, 0.0)
    assert (one.barring, one.covered, other.barring) == (0.3, 0.65, 0.175)
