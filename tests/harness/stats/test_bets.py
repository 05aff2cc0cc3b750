"""Bets against a mean: worked by hand, never more than their level, and bounds that agree with p-values."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.stats.betting import MOST, fewest_zeros, log_stakes, lower_bound, p_above, upper_bound


def by_hand(values, mean, end, effect):
    """The stake after each value, one at a time and in plain numbers."""
    stake, stakes, seen = 1.0, [], [effect]
    squares = [effect * (mean - end)]
    for x in values:
        center, square = sum(seen) / len(seen), sum(squares) / len(squares)
        variance = max(0.0, square - center**2)
        hoped = max(effect, center - (variance / len(seen)) ** 0.5)
        bet = min(hoped / (variance + hoped**2), MOST / (mean - end))
        y = x - mean
        stake *= 1 + bet * y
        stakes.append(stake)
        seen.append(y)
        squares.append(y * y)
    return stakes


def test_stakes_are_those_worked_one_bet_at_a_time():
    values = np.random.default_rng(3).normal(0.05, 0.3, 60).clip(-1, 1)
    assert np.exp(log_stakes(values, -0.1, -1.0, 0.1)) == pytest.approx(by_hand(values, -0.1, -1.0, 0.1))


def test_the_first_bets_worked_by_hand():
    """Against a mean of -.1 with an end of -1, at most .95 / .9 is bet: on 0 the stake grows by 1 + .95 / 9."""
    assert np.exp(log_stakes(np.zeros(2), -0.1, -1.0, 0.1)) == pytest.approx([1 + 0.95 / 9, (1 + 0.95 / 9) ** 2])
    assert np.exp(log_stakes(np.array([-1.0]), -0.1, -1.0, 0.1)) == pytest.approx([1 - MOST])
    assert p_above(np.array([-1.0]), -0.1, -1.0, 0.1) == 1.0
    assert p_above(np.array([0.0, -1.0]), -0.1, -1.0, 0.1) == pytest.approx(1 / (1 + 0.95 / 9))  # what once was reached


two_valued = st.tuples(st.floats(-1, -0.15), st.floats(-0.05, 1))


@given(two_valued, st.lists(st.booleans(), max_size=9))
def test_no_block_makes_the_stake_grow_on_average_where_the_mean_is_the_one_bet_against(ends, history):
    """For any past: the mean over the next value, of two with a mean of -.1, is the stake that was there."""
    low, high = ends
    share = (high + 0.1) / (high - low)  # of `low`
    past = [high if up else low for up in history]
    before = by_hand(past, -0.1, -1.0, 0.1)[-1] if past else 1.0
    after = [float(np.exp(log_stakes(np.array([*past, x]), -0.1, -1.0, 0.1)[-1])) for x in (low, high)]
    assert share * after[0] + (1 - share) * after[1] == pytest.approx(before)
    assert min(after) > 0


@pytest.mark.parametrize("loss", [1.0, 0.6, 0.3])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_rare_losses_that_make_up_the_mean_are_called_absent_no_more_often_than_the_level(loss, noise):
    """400 runs at a true rate of 5 % give 34 or more in one of 500."""
    rng = np.random.default_rng(7)
    share = 0.1 / loss
    wrong = 0
    for _ in range(400):
        values = np.where(rng.random(150) < share, -loss, 0.0)
        if noise:
            values = values + rng.choice([-noise, noise], 150) * (values == 0)
        wrong += p_above(values, -0.1, -1.0, 0.1) <= 0.05
    assert wrong <= 33


@given(st.lists(st.sampled_from([-1.0, -0.3, 0.0, 0.05, 0.4, 1.0]), min_size=1, max_size=80))
def test_a_bound_is_above_a_mean_exactly_when_that_mean_is_given_up(values):
    seen = np.array(values)
    for mean in (-0.5, -0.1, 0.0):
        given_up = p_above(seen, mean, -1.0, 0.1) <= 0.05
        assert (lower_bound(seen, 0.05, -1.0, 0.1) >= mean - 1e-9) == given_up
        assert (upper_bound(-seen, 0.05, 1.0, 0.1) <= -mean + 1e-9) == given_up


@pytest.mark.parametrize(("margin", "end"), [(0.1, -2.0), (0.1, -1.0), (0.012, -0.6), (0.4, -1.0), (0.5, -1.0)])
def test_so_many_zeros_exclude_a_margin_lost_in_rare_blocks(margin, end):
    """No test that is right does with much fewer: so many blocks miss a loss of `end` in margin / -end of them."""
    fewest = fewest_zeros(0.05, -margin, end)
    assert fewest == np.ceil(log(20) / log(1 + MOST * margin / (-end - margin)))
    assert (1 + margin / end) ** fewest <= 0.05 < (1 + margin / end) ** (0.94 * (fewest - 1))


def test_margins_of_more_than_half_the_range_take_a_few_more():
    assert fewest_zeros(0.05, -0.9, -1.0) == 5
    assert p_above(np.zeros(4), -0.9, -1.0, 0.9) > 0.05 >= p_above(np.zeros(5), -0.9, -1.0, 0.9)


def test_without_values_there_is_only_the_range():
    nothing = np.array([])
    assert (lower_bound(nothing, 0.05, -2.0, 0.1), upper_bound(nothing, 0.05, 1.5, 0.1)) == (-2.0, 1.5)
    assert p_above(nothing, 0.0, -2.0, 0.1) == 1.0


def test_clear_losses_are_told_at_once():
    """Each block loses .75 of a possible gain of 1.5: .475 of the stake and more for each, 20 times it in 8 blocks."""
    assert p_above(np.full(8, 0.75), 0.0, -1.5, 0.1) == pytest.approx((1 + 0.5 * MOST) ** -8.0)
    assert exp(log(1 + 0.5 * MOST) * 8) > 20
