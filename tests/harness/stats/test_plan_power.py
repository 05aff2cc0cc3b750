"""Power: against statsmodels, against simulation, and against standard deviations worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from weigh.harness.planning.estimates import Span
from weigh.harness.planning.power_table import Spread, pairs_with, power_table, spread_of
from weigh.harness.stats.clustered import estimate
from weigh.harness.stats.power import Test, blocks_needed, detectable, power_at

SPREAD = Spread("run", 10, 3, 0.3, 0.2, 0.4)


@pytest.mark.parametrize("difference", [0.01, 0.1, 0.5, 1.5])
@pytest.mark.parametrize("blocks", [2, 3, 10, 80, 700])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_power_is_that_of_statsmodels(difference: float, blocks: int, alpha: float) -> None:
    expected = float(TTestPower().power(difference / 0.4, blocks, alpha, df=blocks - 1, alternative="two-sided"))
    if math.isnan(expected):  # its lower tail gives up far out; the upper tail alone is the power there
        expected = float(TTestPower().power(difference / 0.4, blocks, alpha / 2, df=blocks - 1, alternative="larger"))
    assert power_at(difference, 0.4, blocks, alpha) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("difference", "sd", "alpha", "power"), [(0.1, 0.3, 0.05, 0.8), (0.05, 0.6, 0.01, 0.9)])
def test_blocks_needed_are_those_of_statsmodels_rounded_up(
    difference: float, sd: float, alpha: float, power: float
) -> None:
    exact = TTestPower().solve_power(difference / sd, None, alpha, power, "two-sided")
    assert blocks_needed(sd, Test(difference, alpha, power)) == math.ceil(float(exact))


def test_a_textbook_case() -> None:
    # Cohen's d = .5, alpha .05 two-sided, power .80: 34 pairs (e.g. G*Power, t tests, matched pairs).
    assert blocks_needed(1.0, Test(0.5, 0.05, 0.8)) == 34


def test_the_power_promised_is_the_share_of_simulated_runs_that_see_the_difference() -> None:
    rng = np.random.default_rng(3)
    blocks, sd, test = 15, 0.3, Test(0.1, 0.05, 0.8)
    seen = detectable(sd, blocks, test)
    assert seen is not None
    drawn = rng.normal(seen, sd, (20_000, blocks))
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / math.sqrt(blocks))
    share = float((np.abs(t) > stats.t.ppf(0.975, blocks - 1)).mean())
    assert share == pytest.approx(0.8, abs=0.01)


@given(st.floats(0.02, 1.0), st.integers(3, 3_000), st.floats(0.01, 0.2), st.floats(0.55, 0.99))
def test_the_two_questions_are_each_others_inverse(sd: float, blocks: int, alpha: float, power: float) -> None:
    seen = detectable(sd, blocks, Test(0.1, alpha, power))
    if seen is None:
        return
    assert power_at(seen, sd, blocks, alpha) == pytest.approx(power, abs=1e-5)
    assert blocks_needed(sd, Test(seen * 1.0001, alpha, power)) in (blocks, blocks - 1)


def test_more_blocks_see_less_and_fewer_freedoms_see_more() -> None:
    test = Test()
    seen = [detectable(0.3, blocks, test) for blocks in (3, 6, 12, 24)]
    assert None not in seen
    assert seen == sorted(seen, reverse=True)  # type: ignore[type-var]
    whole, half = detectable(0.3, 10, test), detectable(0.3, 10, test, share=0.5)
    assert whole is not None
    assert half is not None
    assert half > whole


def test_what_cannot_be_said_is_none() -> None:
    assert detectable(0.3, 1, Test()) is None  # one block gives no interval
    assert detectable(5.0, 3, Test()) is None  # scores cannot lie so far apart
    assert detectable(0.0, 9, Test()) is None
    assert blocks_needed(0.0, Test()) is None
    assert blocks_needed(1.0, Test(1e-6)) is None
    assert math.isnan(power_at(0.1, 0.3, 1, 0.05))


def test_a_huge_effect_has_power_one() -> None:
    assert power_at(2.0, 0.001, 500, 0.05) == 1.0
    assert blocks_needed(1e-6, Test()) == 2


def test_spread_at_a_full_table_is_the_standard_deviation_of_block_differences() -> None:
    rng = np.random.default_rng(1)
    blocks, entrants = 12, 3
    means = rng.normal(0, 0.2, (blocks, entrants))
    means -= means.mean(axis=1, keepdims=True)  # scores sum to 0 at a table
    entrant, episode, block, score = [], [], [], []
    for b in range(blocks):
        for r in range(entrants):
            noise = rng.normal(0, 0.1, entrants)
            for i in range(entrants):
                entrant.append(i)
                episode.append(b * entrants + r)
                block.append(b)
                score.append(means[b, i] + noise[i] - noise.mean())
    arrays = [np.array(column, dtype=np.intp) for column in (entrant, episode, block)]
    estimates = estimate(*arrays, np.array(score), entrants)
    table = np.zeros((blocks, entrants))
    np.add.at(table, (arrays[2], arrays[0]), np.array(score) / entrants)
    by_hand = [np.std(table[:, i] - table[:, j], ddof=1) for i, j in ((0, 1), (0, 2), (1, 2))]

    spread = spread_of(estimates, [(0, 1), (0, 2), (1, 2)], "run")
    assert spread is not None
    assert (spread.low, spread.high) == pytest.approx((min(by_hand), max(by_hand)))
    assert spread.typical == pytest.approx(math.sqrt(np.mean(np.square(by_hand))))
    assert (spread.blocks, spread.pairs, spread.share) == (blocks, 3, pytest.approx(1.0))


def test_pairs_without_spread_are_left_out_and_counted() -> None:
    entrant = np.tile([0, 1, 2], 6)
    episode = np.repeat(np.arange(6), 3)
    wobble = np.array([0.1, -0.2, 0.3, 0.0, -0.1, 0.2])
    score = np.stack([wobble, wobble, -2 * wobble], axis=1).ravel()
    estimates = estimate(entrant, episode, episode.copy(), score, 3)
    spread = spread_of(estimates, pairs_with([False] * 3), "run")
    assert spread is not None
    assert (spread.pairs, spread.alike) == (2, 1)
    assert spread_of(estimates, [(0, 1)], "run") is None


def test_comparisons_are_those_of_prompted_entrants_where_there_are_any() -> None:
    assert pairs_with([True, False, False]) == [(0, 1), (0, 2)]
    assert pairs_with([False, False]) == [(0, 1)]


def test_an_entrant_that_sits_in_a_quarter_of_the_blocks_needs_four_times_as_many() -> None:
    apart = SPREAD.at(2.0)
    test = Test(0.05)
    once, four = blocks_needed(SPREAD.typical, test), blocks_needed(apart.typical, test, apart.share)
    assert once is not None
    assert four == pytest.approx(4 * once, abs=4)


def test_the_table_has_half_once_twice_and_four_times_the_blocks_and_those_needed() -> None:
    found = power_table(10, 4, Test(), SPREAD, "said", Span(80.0, 80.0, 80.0), None)
    needed = blocks_needed(0.3, Test())
    assert needed is not None
    assert [row.blocks for row in found.rows] == sorted({5, 10, 20, 40, needed})
    assert [row.episodes for row in found.rows] == [row.blocks * 4 for row in found.rows]
    assert (found.rows[0].calls, found.rows[0].cost) == (Span(40.0, 40.0, 40.0), None)
    document = found.to_json()
    assert document["more_blocks"] == needed - 10
    assert document["minimum_detectable_difference"] == pytest.approx(detectable(0.3, 10, Test()), abs=1e-6)


def test_without_a_spread_nothing_is_said_and_costs_still_are() -> None:
    found = power_table(1, 2, Test(), None, "nothing varies", Span(1.0, 1.0, 1.0), Span())
    assert (found.detects, found.needed) == (None, None)
    assert [row.detects for row in found.rows] == [None] * 3
    assert found.to_json()["more_blocks"] is None
