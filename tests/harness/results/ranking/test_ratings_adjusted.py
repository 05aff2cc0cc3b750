"""The interval of the opponent-adjusted mean: the sandwich of its least squares fit, and measured coverage."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import OLS

from benches.coverage import League, Table, measure
from tests.harness.results.ladder_frames import FOUR, by_strength, four, game_of, kinds, planned, row, seats, text
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.stats.clustered import estimate

UNEVEN = [
    League(9, 4, 11, episodes=29),
    League(6, 4, 12),
    League(5, 2, 20, episodes=33),
    League(13, 4, 26, episodes=50),
]


def played(league, seed=1):
    table = Table(league)
    score = table.draw(np.random.default_rng(seed))
    return table, score, estimate(table.entrant, table.episode, table.block, score, league.entrants)


def dummies(labels):
    return (labels[:, None] == np.unique(labels)).astype(float)


@pytest.mark.parametrize("league", UNEVEN, ids=lambda league: league.title)
def test_the_adjusted_mean_and_its_error_are_those_of_a_regression_with_an_effect_of_each_table(league):
    """Effects of entrants sum to 0, every table has an effect of its own; statsmodels fits and clusters."""
    table, score, found = played(league)
    number, size = league.entrants, league.seats
    entrants = dummies(table.entrant)
    design = np.hstack([entrants[:, :-1] - entrants[:, -1:], dummies(table.episode)])
    fit = OLS(score, design).fit(cov_type="cluster", cov_kwds={"groups": table.block, "use_correction": False})
    every = np.zeros((number, design.shape[1]))
    every[:, : number - 1] = np.vstack([np.eye(number - 1), -np.ones(number - 1)])
    scale = (size - 1) / size * number / (number - 1)
    assert found.adjusted == pytest.approx(scale * every @ fit.params, abs=1e-10)

    sandwich = np.diag(every @ fit.cov_params() @ every.T)
    pseudo = np.linalg.pinv(design)
    left = np.eye(len(score)) - design @ pseudo
    clusters = dummies(table.block)
    for i in range(number):
        weight = every[i] @ pseudo
        spread = clusters.T @ (weight[:, None] * left * weight) @ clusters
        """Covariance of the blocks' parts in the error, were all errors alike."""
        factor = weight @ weight / np.trace(spread)
        freedom = np.trace(spread) ** 2 / (spread**2).sum()
        half = stats.t.ppf(0.975, freedom) * scale * np.sqrt(factor * sandwich[i])
        assert found.adjusted_freedom[i] == pytest.approx(freedom, rel=1e-8)
        assert found.adjusted_half_width[i] == pytest.approx(half, rel=1e-8)


@pytest.mark.parametrize("league", [League(2, 2, 9), League(4, 4, 6), League(5, 2, 20), League(13, 4, 13)])
def test_in_a_balanced_schedule_it_is_the_interval_of_the_mean(league):
    _, _, found = played(league)
    assert found.adjusted_half_width == pytest.approx(found.half_width, rel=1e-9)
    assert found.adjusted_freedom == pytest.approx(found.freedom, rel=1e-9)


def test_the_ladder_has_it_around_the_adjusted_mean():
    for standing in game_of(rank(four())).standings:
        interval = standing.adjusted_interval
        assert (interval.low + interval.high) / 2 == pytest.approx(standing.adjusted)
        assert (interval.low, interval.high) == pytest.approx((standing.interval.low, standing.interval.high))


def test_there_is_none_without_an_adjusted_mean_or_without_an_interval():
    one_block = rank(seats(planned(list(FOUR), 4, 1), by_strength(FOUR)))
    assert {standing.adjusted_interval for standing in game_of(one_block).standings} == {None}
    apart = [*planned(["ann", "bob"], blocks=3, game="x"), *planned(["cy", "dan"], blocks=3, game="y")]
    frame = seats(apart, by_strength(FOUR))
    frame["game"] = "g"
    for standing in game_of(rank(frame)).standings:
        assert (standing.interval is None, standing.adjusted_interval) == (False, None)
    few = rank(seats(planned(["ann", "bob"], blocks=4), lambda e, s: 1.0 if e.entrants[s] == "ann" else -1.0))
    assert row(few, "ann").adjusted == pytest.approx(1.0)
    assert row(few, "ann").adjusted_interval is None


def test_a_saturated_schedule_has_none():
    entrant = np.array([0, 1, 1, 2, 2, 3])
    episode = block = np.array([0, 0, 1, 1, 2, 2])
    found = estimate(entrant, episode, block, np.array([0.5, -0.5, 0.25, -0.25, 1.0, -1.0]), 4)
    assert np.isnan(found.adjusted_half_width).all()


def test_an_adjusted_mean_beyond_all_scores_is_pointed_out():
    """A chain in which everybody beats the next: ann's strength is measured through bob, cy and dan."""
    order = ["ann", "bob", "cy", "dan"]
    episodes = [episode for n, pair in enumerate(pairwise(order)) for episode in planned(pair, blocks=2, game=str(n))]
    frame = seats(episodes, lambda e, s: 1.0 if e.entrants[s] == min(e.entrants) else -1.0)
    frame["episode"], frame["block"], frame["game"] = frame.game + frame.episode, frame.game + frame.block, "g"
    ladder = rank(frame)
    assert row(ladder, "ann").adjusted == pytest.approx(2.0)
    assert text(ladder, "adjusted_beyond").startswith(
        "opponent-adjusted means beyond the scores that can be had, [-1, 1]: ann +2.000, dan -2.000"
    )
    assert "adjusted_beyond" not in kinds(rank(four()))


@pytest.mark.slow
@pytest.mark.parametrize("league", UNEVEN, ids=lambda league: league.title)
def test_it_holds_the_truth_in_93_to_97_of_100_leagues(league):
    assert 0.93 <= measure(league, 6_000 // league.entrants).adjusted <= 0.97
