"""Intervals and ranks as arithmetic: the textbook where it applies, and measured coverage where it does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from benches.coverage import ADDITIVE, League, Table, measure, measure_ranks
from weigh.harness.stats.clustered import cluster_mean, estimate
from weigh.harness.stats.rank_bootstrap import draw_ranks, gap


def played(league, seed=1):
    table = Table(league)
    score = table.draw(np.random.default_rng(seed))
    return table, score, estimate(table.entrant, table.episode, table.block, score, league.entrants)


@pytest.mark.parametrize(("entrants", "seats", "blocks"), [(2, 2, 2), (2, 2, 9), (4, 4, 5), (6, 6, 3)])
def test_at_a_full_table_interval_and_freedom_are_those_of_block_means(entrants, seats, blocks):
    table, score, found = played(League(entrants, seats, blocks))
    for i in range(entrants):
        mean, half = cluster_mean(score[table.entrant == i], table.block[table.entrant == i])
        assert found.mean[i] == pytest.approx(mean, abs=1e-12)
        assert found.half_width[i] == pytest.approx(half, rel=1e-9)
        assert found.freedom[i] == pytest.approx(blocks - 1)


def test_cluster_mean_is_the_textbook_t_interval_for_equal_clusters():
    score = np.array([1.0, 3.0, 2.0, 6.0, 1.0, 5.0])
    block = np.array([0, 0, 1, 1, 2, 2])
    mean, half = cluster_mean(score, block)
    means = np.array([2.0, 4.0, 3.0])
    assert mean == pytest.approx(3.0)
    assert half == pytest.approx(4.302652729911275 * means.std(ddof=1) / np.sqrt(3))
    assert np.isnan(cluster_mean(score[:2], block[:2])[1])
    assert all(np.isnan(cluster_mean(score[:0], block[:0])))


def test_what_tables_explain_is_no_noise():
    """Strengths far apart and nothing else: every mean is known exactly, though block means differ widely."""
    league = League(7, 4, 14)
    table = Table(league)
    found = estimate(table.entrant, table.episode, table.block, table.expected.ravel(), league.entrants)
    assert found.half_width == pytest.approx(np.zeros(7), abs=1e-9)
    mine = table.entrant == 0
    assert cluster_mean(table.expected.ravel()[mine], table.block[mine])[1] > 0.05


def test_the_adjusted_mean_recovers_strengths_from_any_linked_schedule():
    league = League(9, 4, 11, episodes=29)
    table = Table(league)
    found = estimate(table.entrant, table.episode, table.block, table.expected.ravel(), league.entrants)
    assert found.adjusted == pytest.approx(table.even_truth, abs=1e-9)
    assert found.adjusted.sum() == pytest.approx(0, abs=1e-9)


def test_a_saturated_schedule_has_no_interval():
    """Three pairs, each seen once: strengths explain a tree of games exactly, so nothing is left to judge noise by."""
    entrant = np.array([0, 1, 1, 2, 2, 3])
    episode = block = np.array([0, 0, 1, 1, 2, 2])
    score = np.array([0.5, -0.5, 0.25, -0.25, 1.0, -1.0])
    found = estimate(entrant, episode, block, score, 4)
    assert np.isnan(found.half_width).all()
    assert np.isnan(found.influence).any()
    assert not np.isnan(found.adjusted).any()


@given(st.permutations(range(6)), st.integers(0, 100))
@settings(max_examples=settings.default.max_examples // 5)
def test_renumbering_entrants_renumbers_the_estimates(order, seed):
    table, score, found = played(League(6, 4, 9), seed)
    renamed = np.array(order)[table.entrant]
    other = estimate(renamed, table.episode, table.block, score, 6)
    for name in ("mean", "half_width", "freedom", "adjusted", "strength"):
        assert getattr(other, name)[list(order)] == pytest.approx(getattr(found, name), abs=1e-9)


def test_no_scores_at_all_give_no_estimates():
    nothing = np.array([], dtype=np.intp)
    found = estimate(nothing, nothing, nothing, np.array([]), 0)
    assert len(found.mean) == 0
    assert found.influence.shape == (0, 0)


def test_the_gap_is_paired_by_block():
    """Both gain and lose with the deal, so their difference is surer than either mean."""
    _, _, found = played(League(4, 4, 12))
    close = gap(found, 0, 1)
    assert close.difference == pytest.approx(found.mean[0] - found.mean[1])
    assert gap(found, 1, 0).difference == -close.difference
    assert gap(found, 1, 0).half_width == pytest.approx(close.half_width)
    spread = np.sqrt(((found.influence[:, 0] - found.influence[:, 1]) ** 2).sum())
    assert close.half_width == pytest.approx(2.200985160082949 * spread)
    effect = abs(close.difference) / (spread * np.sqrt(12))
    power = TTestPower().power
    assert power(effect, close.blocks_needed, 0.05) >= 0.8 > power(effect, close.blocks_needed - 1, 0.05)


def test_for_two_entrants_p_first_is_one_minus_the_one_sided_p_value():
    from scipy import stats

    for seed in range(5):
        _, _, found = played(League(2, 2, 6, spread=0.05), seed)
        leader = int(found.mean[1] > found.mean[0])
        error = found.half_width[leader] / 2.570581835636314
        expected = float(stats.t.cdf(found.mean[leader] / error, 5))
        assert draw_ranks(found, [0, 1]).first[leader] == pytest.approx(expected, abs=0.04)


def test_ranks_are_equal_on_every_call_and_shares_of_first_add_to_one():
    _, _, found = played(League(6, 4, 12))
    one, other = draw_ranks(found, range(6)), draw_ranks(found, range(6))
    assert (one.low == other.low).all()
    assert (one.first == other.first).all()
    assert one.first.sum() == pytest.approx(1)
    assert (one.low <= one.high).all()


@pytest.mark.slow
@pytest.mark.parametrize("league", ADDITIVE, ids=lambda league: league.title)
def test_intervals_hold_the_truth_in_93_to_97_of_100_leagues(league):
    repetitions = 6_000 // league.entrants
    assert 0.93 <= measure(league, repetitions).clustered <= 0.97


@pytest.mark.slow
def test_the_textbook_interval_is_too_wide_where_strengths_differ():
    """Why the intervals allow for the tables: these would hold the truth nearly always, at a third more width."""
    found = measure(League(13, 4, 26), 150)
    assert found.textbook > 0.97
    assert found.narrower < 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("league", "strengths"), [(League(2, 2, 5), (0, 0)), (League(4, 4, 10), (0.4, 0.4, -0.4, -0.4))]
)
def test_somebody_who_is_not_alone_at_the_top_is_called_first_in_at_most_7_of_100_leagues(league, strengths):
    """Nominally 5; 400 repetitions leave an error of 1.1 either way."""
    found = measure_ranks(league, np.array(strengths), 400)
    assert found.called <= 0.07
    assert found.covered > 0.95
