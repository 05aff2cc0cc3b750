"""The macro average over games: its scale, worked by hand, its interval, and when there is none."""

import pandas as pd
import pytest
from scipy import stats

from tests.harness.results.ladder_frames import planned, seats
from weigh.harness.results.ranking.all_games import macro_averages, unscaled
from weigh.harness.results.ranking.ladder import rank

SCRIPTED = ("random", "good")


def ladder_of(**games):
    """By game: the score of each entrant in every episode, `random` first; all at one table."""
    frames = []
    for game, scores in games.items():
        plan = planned(list(scores), len(scores), 5, game=game)
        frames.append(seats(plan, lambda e, s, scores=scores: scores[e.entrants[s]], scripted=SCRIPTED))
    return rank(pd.concat(frames))


def test_a_mean_on_the_scale_is_0_for_random_and_1_for_the_strongest_other_scripted_entrant():
    found = macro_averages(
        ladder_of(
            g={"random": -0.4, "good": 0.2, "ann": 0.5, "bob": -0.3},
            h={"random": -0.1, "good": 0.1, "ann": 0.02, "bob": -0.06},
        )
    )
    by_name = {row.entrant: row for row in found}
    assert [row.entrant for row in found] == ["ann", "good", "bob", "random"]
    assert by_name["ann"].by_game == pytest.approx({"g": 1.5, "h": 0.6})
    assert by_name["ann"].mean == pytest.approx(1.05)
    half = stats.t.ppf(0.975, 1) * 0.45  # the standard deviation of 1.5 and 0.6 over the root of 2
    assert (by_name["ann"].interval.low, by_name["ann"].interval.high) == pytest.approx((1.05 - half, 1.05 + half))
    assert by_name["random"].mean == 0.0
    assert by_name["random"].interval is None  # two games that agree are no proof


def test_without_both_ends_of_the_scale_in_every_game_there_is_no_average():
    whole = {"random": -0.4, "good": 0.2, "ann": 0.2}
    for broken in ({"good": 0.2, "ann": -0.2}, {"random": 0.2, "ann": -0.2}, {"random": 0.2, "good": -0.2}):
        ladder = ladder_of(g=whole, h=broken)
        assert (unscaled(ladder), macro_averages(ladder)) == (("h",), ())


def test_who_is_not_ranked_in_every_game_has_no_average():
    whole = {"random": -0.4, "good": 0.2, "ann": 0.2}
    found = macro_averages(ladder_of(g=whole, h={"random": -0.2, "good": 0.2}))
    assert [row.entrant for row in found] == ["good", "random"]
