"""What is counted beside a rank: faults, voids, missing scores, tokens, money."""

import math

import pytest

from tests.harness.results.ladder_frames import FOUR, four, game_of, planned, row, text, voids
from weigh.harness.results.ranking.ladder import rank


def test_faults_rates_tokens_and_costs_are_sums_over_all_episodes():
    conduct = {"by_model": 7, "by_retry": 2, "by_fallback": 1, "fault_illegal": 3, "fault_truncated": 1}
    ladder = rank(four(changes={"ann": conduct}))
    ann = row(ladder, "ann").reliability
    assert (ann.decisions, ann.by_model, ann.by_retry, ann.by_fallback) == (240, 168, 48, 24)
    assert (ann.own_move_rate, ann.retry_rate, ann.fallback_rate) == pytest.approx((0.9, 0.3, 0.1))
    assert ann.faults == {
        "illegal": 72,
        "unreadable": 0,
        "ambiguous": 0,
        "empty": 0,
        "truncated": 24,
        "refused": 0,
        "timed_out": 0,
    }
    spend = row(ladder, "ann").spend
    assert (spend.calls, spend.answered, spend.input_tokens, spend.cached_tokens) == (240, 240, 24000, 9600)
    assert (spend.output_tokens, spend.reasoning_tokens, spend.latency_mean) == (4800, 1200, 0.5)
    assert (spend.cost_usd, spend.cost_per_episode_usd) == (pytest.approx(0.24), pytest.approx(0.01))
    dan = row(ladder, "dan").spend
    assert (dan.calls, dan.cost_usd, dan.latency_mean) == (0, 0.0, None)


def test_an_unknown_cost_is_none_never_zero():
    frame = four()
    some = (frame.entrant == "ann") & (frame.seat == 0)
    frame.loc[some, "cost_usd"] = math.nan
    frame.loc[frame.entrant == "bob", ["cost_usd", "reasoning_tokens"]] = [math.nan, None]
    ladder = rank(frame)
    ann, bob = row(ladder, "ann").spend, row(ladder, "bob").spend
    assert (ann.cost_usd, ann.cost_per_episode_usd, ann.cost_unknown_episodes) == (None, None, 6)
    assert ann.cost_known_usd == pytest.approx(0.18)
    assert (bob.cost_usd, bob.cost_known_usd, bob.reasoning_tokens, bob.input_tokens) == (None, 0.0, None, 24000)
    assert text(ladder, "unknown_cost").endswith("ann in 6 episodes, bob in 24 episodes")


def test_the_collusion_index_is_averaged_where_there_is_one():
    frame = four()
    assert row(rank(frame), "ann").collusion is None
    assert row(rank(frame), "ann").collusion_high is None
    frame["collusion_index"] = [0.5 if seat == 0 else 0.1 for seat in frame.seat]
    ann = row(rank(frame), "ann")
    assert ann.collusion == pytest.approx(0.2)
    assert ann.collusion_high == pytest.approx(0.25)


def test_m02_voids_are_counted_against_nobody_and_told_by_provider():
    episodes = planned(list(FOUR), 4, 6)
    seat = episodes[0].entrants.index("cy")
    lost = voids([(episodes[0], [seat]), (episodes[0], [seat]), (episodes[4], [episodes[4].entrants.index("cy")])])
    frame = four()
    ladder = rank(frame[frame.episode != episodes[4].key], lost)
    cy, ann = row(ladder, "cy").reliability, row(ladder, "ann").reliability
    assert (cy.voids, cy.voids_own, cy.void_rate) == (3, 3, pytest.approx(3 / 26))
    assert (ann.voids, ann.voids_own) == (3, 0)
    assert game_of(ladder).voids == 3
    assert text(ladder, "voids") == (
        "3 starts ended by an outage and not rated (11.5% of all); where outages depend on the score, means are "
        "shifted and intervals hold less often; whose provider failed: cy 3; 1 episode of them not replayed yet"
    )
    assert row(ladder, "ann").mean == row(rank(frame[frame.episode != episodes[4].key]), "ann").mean


def test_m04_missing_scores_are_counted_and_stand_in_no_mean():
    frame = four()
    frame.loc[(frame.entrant == "ann") & frame.block.isin(sorted(set(frame.block))[:2]), "score"] = math.nan
    ladder = rank(frame)
    ann = row(ladder, "ann")
    scored = frame[(frame.entrant == "ann")].score.dropna()
    assert (ann.unscored, ann.episodes, ann.blocks) == (8, 16, 4)
    assert ann.mean == pytest.approx(scored.mean(), abs=1e-12)
    assert text(ladder, "unscored") == "8 of 96 seat-episodes have no score; means are over the other 88"
