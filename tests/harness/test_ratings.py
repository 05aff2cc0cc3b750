"""The ladder: who is ranked, in which order, and what is said beside the rank."""

import json
import math
import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.rating_rows import SEAT_COLUMNS, VOID_COLUMNS, RowsInvalid
from harness.ratings import rank
from harness.result_rows import SEATS, VOIDS
from harness.standings import Interval
from tests.harness.ladder_frames import by_strength, planned, seats, voids

FOUR = {"ann": 0.3, "bob": 0.1, "cy": -0.1, "dan": -0.3}


def game_of(ladder):
    (game,) = ladder.games
    return game


def row(ladder, entrant):
    (found,) = (standing for standing in game_of(ladder).standings if standing.entrant == entrant)
    return found


def kinds(ladder):
    return [caveat.kind for caveat in game_of(ladder).caveats]


def text(ladder, kind):
    (found,) = (caveat.text for caveat in game_of(ladder).caveats if caveat.kind == kind)
    return found


def four(**options):
    return seats(planned(list(FOUR), seats=4, blocks=6), by_strength(FOUR), scripted=["dan"], **options)


def test_the_columns_read_are_columns_of_the_results():
    assert set(SEAT_COLUMNS) <= set(SEATS)
    assert set(VOID_COLUMNS) <= set(VOIDS)


def test_the_mean_episode_score_decides_the_order():
    ladder = rank(four())
    game = game_of(ladder)
    assert [standing.entrant for standing in game.standings] == ["ann", "bob", "cy", "dan"]
    assert [standing.rank for standing in game.standings] == [1, 2, 3, 4]
    frame = four()
    assert row(ladder, "bob").mean == pytest.approx(frame[frame.entrant == "bob"].score.mean(), abs=1e-12)
    assert (game.episodes, game.blocks, row(ladder, "bob").episodes, row(ladder, "bob").blocks) == (24, 6, 24, 6)


def test_the_interval_of_a_full_table_is_the_t_interval_of_block_means():
    frame = four()
    means = frame[frame.entrant == "ann"].groupby("block").score.mean()
    half = 2.570581835636314 * means.std(ddof=1) / math.sqrt(6)
    """The .975 quantile of t with 5 degrees of freedom, from a table."""
    found = row(rank(frame), "ann")
    assert found.interval.low == pytest.approx(means.mean() - half, abs=1e-12)
    assert found.interval.high == pytest.approx(means.mean() + half, abs=1e-12)


def test_an_interval_ends_where_scores_end():
    results = [1, 1, 1, -1]

    def score(episode, seat):
        won = results[int(episode.block[-1])]
        return won if episode.entrants[seat] == "ann" else -won

    ladder = rank(seats(planned(["ann", "bob"], blocks=4), score))
    assert row(ladder, "ann").mean == 0.5
    assert row(ladder, "ann").interval.high == 1.0
    assert row(ladder, "ann").interval.low == -1.0
    assert row(ladder, "bob").interval == Interval(-1.0, 1.0)


def test_in_a_balanced_schedule_the_adjusted_mean_is_the_mean_and_the_schedule_neutral():
    strengths = {f"e{n}": n / 10 for n in range(5)}
    ladder = rank(seats(planned(list(strengths), blocks=10), by_strength(strengths)))
    for standing in game_of(ladder).standings:
        assert standing.adjusted == pytest.approx(standing.mean, abs=1e-12)
        assert standing.strength == pytest.approx(0, abs=1e-12)
    assert "uneven_meetings" not in kinds(ladder)


def test_m16_the_adjusted_mean_undoes_a_skewed_pairing():
    """Ann meets strong bob again and again; cy, exactly as strong, only meets weak dan. Their means say otherwise."""
    strengths = {"ann": 0.0, "bob": 0.5, "cy": 0.0, "dan": -0.5}
    pairs = [("ann", "bob"), ("ann", "bob"), ("cy", "dan"), ("cy", "dan"), ("ann", "cy"), ("bob", "dan")]
    episodes = [episode for n, pair in enumerate(pairs) for episode in planned(pair, blocks=1, game=f"{n}")]
    frame = seats(episodes, by_strength(strengths, ripple=0.0))
    frame["episode"], frame["block"], frame["game"] = frame.game + frame.episode, frame.game + frame.block, "g"
    ladder = rank(frame)
    assert row(ladder, "ann").mean == pytest.approx(-1 / 6)
    assert row(ladder, "cy").mean == pytest.approx(1 / 6)
    assert row(ladder, "ann").adjusted == pytest.approx(0)
    assert row(ladder, "cy").adjusted == pytest.approx(0)
    assert row(ladder, "ann").strength > 0 > row(ladder, "cy").strength
    assert text(ladder, "uneven_meetings").startswith("pairs met in 0 to 4 episodes")


def test_m16_one_opponent_is_pointed_out():
    episodes = [*planned(["ann", "bob"], blocks=3, game="x"), *planned(["bob", "cy"], blocks=3, game="y")]
    frame = seats(episodes, by_strength(FOUR))
    frame["game"] = "g"
    ladder = rank(frame)
    assert [c.text.split()[0] for c in game_of(ladder).caveats if c.kind == "one_opponent"] == ["ann", "cy"]
    assert [row(ladder, name).opponents for name in ("ann", "bob", "cy")] == [1, 2, 1]


def test_entrants_never_linked_have_no_adjusted_mean():
    episodes = [*planned(["ann", "bob"], blocks=3, game="x"), *planned(["cy", "dan"], blocks=3, game="y")]
    frame = seats(episodes, by_strength(FOUR))
    frame["game"] = "g"
    ladder = rank(frame)
    assert {standing.adjusted for standing in game_of(ladder).standings} == {None}
    assert text(ladder, "not_linked").endswith("ann, bob | cy, dan")


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=12)
def test_m14_ranks_do_not_depend_on_the_order_of_rows(shuffler: random.Random):
    frame = four(changes={"cy": {"by_fallback": 1, "by_model": 9}})
    lost = voids([(planned(list(FOUR), 4)[0], [1]), (planned(list(FOUR), 4)[1], [2, 3])])
    order, lost_order = list(range(len(frame))), list(range(len(lost)))
    shuffler.shuffle(order)
    shuffler.shuffle(lost_order)
    assert rank(frame.iloc[order], lost.iloc[lost_order]) == rank(frame, lost)


def test_the_frames_given_are_left_as_they_were():
    frame = four()
    before = frame.copy()
    rank(frame, exclude_fallback_episodes=True)
    assert frame.equals(before)


def test_o34_a_partial_run_says_how_partial_it_is():
    frame = four()
    done = frame[frame.episode.isin(sorted(set(frame.episode))[:5])]
    ladder = rank(done, expected_episodes={"g": 10})
    assert (game_of(ladder).episodes, game_of(ladder).expected) == (5, 10)
    assert text(ladder, "partial") == "5 of 10 episodes are finished; ranks may change"
    assert text(ladder, "incomplete_blocks").startswith("1 of 2 blocks are incomplete")
    assert "partial" not in kinds(rank(frame, expected_episodes={"g": 24}))


def test_o34_a_game_of_which_nothing_is_finished_is_there_all_the_same():
    episodes = planned(list(FOUR), 4, 1)
    ladder = rank(seats([], by_strength(FOUR)), voids([(episodes[0], [0])]), expected_episodes={"g": 4, "h": 4})
    lost, ordered = ladder.games
    assert (lost.game, lost.episodes, lost.voids, len(lost.standings)) == ("g", 0, 1, 4)
    assert {(s.rank, s.mean, s.unranked) for s in lost.standings} == {(None, None, "no scored episode")}
    assert (ordered.game, ordered.episodes, ordered.expected, ordered.standings) == ("h", 0, 4, ())
    assert rank(seats([], by_strength(FOUR))).games == ()


def test_one_block_is_not_enough_for_an_interval_or_for_a_first():
    ladder = rank(seats(planned(list(FOUR), 4, 1), by_strength(FOUR)))
    for standing in game_of(ladder).standings:
        assert standing.interval is None
        assert standing.p_first is None
        assert standing.rank_interval == (1, 4)
        assert not standing.first
    assert "few_blocks" in kinds(ladder)
    assert game_of(ladder).lead.interval is None


def test_two_blocks_never_make_a_narrow_winner_the_first():
    """Plain resampling of two blocks that agree would be certain."""
    lead = {"g/b0000": 0.1, "g/b0001": 0.2}

    def score(episode, seat):
        return lead[episode.block] if episode.entrants[seat] == "ann" else -lead[episode.block]

    ladder = rank(seats(planned(["ann", "bob"], blocks=2), score))
    assert row(ladder, "ann").rank_interval == (1, 2)
    assert 0.85 < row(ladder, "ann").p_first < 0.95
    assert not row(ladder, "ann").first


@pytest.mark.parametrize(("blocks", "sure"), [(2, False), (4, False), (5, True)])
def test_a_few_won_games_without_a_loss_are_no_proof(blocks, sure):
    """Of two equals, one wins all four games of two blocks in one run of eight."""
    frame = seats(planned(["ann", "bob"], blocks=blocks), lambda e, s: 1.0 if e.entrants[s] == "ann" else -1.0)
    ladder = rank(frame)
    ann = row(ladder, "ann")
    assert ann.first == sure
    assert ann.rank_interval == ((1, 1) if sure else (1, 2))
    assert (ann.interval == Interval(1.0, 1.0)) == sure
    assert (ann.interval is None) == (not sure)
    assert ("few_blocks" in kinds(ladder), "no_spread" in kinds(ladder)) == (not sure, sure)


def test_a_clear_leader_is_called_first():
    ladder = rank(four())
    assert row(ladder, "ann").first
    assert row(ladder, "ann").rank_interval == (1, 1)
    assert row(ladder, "ann").p_first > 0.975
    assert sum(standing.p_first for standing in game_of(ladder).standings) == pytest.approx(1)
    assert "not_separated" not in kinds(ladder)


def test_m28_equal_models_share_ranks_and_the_ladder_says_how_many_blocks_it_would_take():
    noise = random.Random(3)
    table = {episode.key: noise.gauss(0, 0.3) for episode in planned(["ann", "bob"], blocks=10)}
    episodes = planned(["ann", "bob"], blocks=10)

    def score(episode, seat):
        return table[episode.key] if episode.entrants[seat] == "ann" else -table[episode.key]

    ladder = rank(seats(episodes, score))
    lead = game_of(ladder).lead
    assert [standing.rank_interval for standing in game_of(ladder).standings] == [(1, 2), (1, 2)]
    assert lead.interval.low < 0 < lead.interval.high
    assert lead.blocks_needed > 10
    assert f"needs about {lead.blocks_needed} blocks to show (there are 10)" in text(ladder, "not_separated")


def test_equal_means_share_a_rank():
    ladder = rank(seats(planned(list(FOUR), 4, 5), lambda episode, seat: 0.0, scripted=FOUR))
    assert [(s.entrant, s.rank, s.rank_interval) for s in game_of(ladder).standings] == [
        (name, 1, (1, 4)) for name in sorted(FOUR)
    ]
    assert {s.p_first for s in game_of(ladder).standings} == {0.25}
    assert text(ladder, "not_separated") == "nobody is called first: ann and bob have equal means"
    assert "no_spread" in kinds(ladder)


def test_m05_seats_that_win_ties_cancel_out_and_show():
    """Whoever sits in seat 1 wins: everybody does so equally often, so all come out equal, and the seats tell."""
    ladder = rank(seats(planned(["ann", "bob", "cy"], blocks=6), lambda episode, seat: 1.0 if seat else -1.0))
    assert {standing.mean for standing in game_of(ladder).standings} == {0.0}
    assert [(seat.seat, seat.mean, seat.episodes) for seat in game_of(ladder).seats] == [(0, -1.0, 12), (1, 1.0, 12)]
    assert row(ladder, "ann").seat_means == (-1.0, 1.0)


def test_m01_a_broken_entrant_is_listed_below_and_not_ranked():
    broken = {"by_model": 0, "by_fallback": 10, "fault_illegal": 20}
    ladder = rank(four(changes={"ann": broken}), max_fallback_rate=1.0)
    assert [standing.entrant for standing in game_of(ladder).standings] == ["bob", "cy", "dan", "ann"]
    ann = row(ladder, "ann")
    assert (ann.rank, ann.unranked, ann.conduct.own_move_rate) == (None, "made no move of its own", 0.0)
    assert ann.mean > row(ladder, "bob").mean
    assert row(ladder, "bob").rank == 1


def test_m01_the_threshold_decides_who_is_ranked():
    helped = {"by_model": 7, "by_fallback": 3}
    ladder = rank(four(changes={"ann": helped}))
    assert row(ladder, "ann").unranked == "the fallback made 30.0% of its moves, more than 20.0%"
    assert row(rank(four(changes={"ann": helped}), max_fallback_rate=0.3), "ann").rank == 1


def test_the_view_without_fallback_episodes_drops_whole_episodes_and_keeps_the_rates():
    frame = four()
    first = frame.episode.min()
    frame.loc[(frame.episode == first) & (frame.entrant == "cy"), ["by_model", "by_fallback"]] = [5, 5]
    every, some = rank(frame), rank(frame, exclude_fallback_episodes=True)
    assert (every.fallback_episodes, some.fallback_episodes) == ("included", "left out")
    assert (game_of(some).episodes, game_of(some).left_out) == (23, 1)
    assert row(some, "ann").episodes == 23
    assert row(some, "cy").conduct == row(every, "cy").conduct
    assert row(some, "cy").conduct.fallback_rate == pytest.approx(5 / 240)
    assert row(some, "cy").conduct.fallback_episodes == 1
    kept = frame[(frame.episode != first) & (frame.entrant == "ann")].score.mean()
    assert row(some, "ann").mean == pytest.approx(kept, abs=1e-12)
    assert "a selection, not a sample" in text(some, "left_out")


def test_leaving_fallback_episodes_out_never_lets_a_helped_entrant_be_ranked():
    frame = four()
    half = sorted(set(frame.episode))[:12]
    frame.loc[frame.episode.isin(half) & (frame.entrant == "ann"), ["by_model", "by_fallback"]] = [2, 8]
    ladder = rank(frame, exclude_fallback_episodes=True)
    assert row(ladder, "ann").episodes == 12
    assert row(ladder, "ann").rank is None


def test_m04_missing_scores_are_counted_and_stand_in_no_mean():
    frame = four()
    frame.loc[(frame.entrant == "ann") & frame.block.isin(sorted(set(frame.block))[:2]), "score"] = math.nan
    ladder = rank(frame)
    ann = row(ladder, "ann")
    scored = frame[(frame.entrant == "ann")].score.dropna()
    assert (ann.unscored, ann.episodes, ann.blocks) == (8, 16, 4)
    assert ann.mean == pytest.approx(scored.mean(), abs=1e-12)
    assert text(ladder, "unscored") == "8 of 96 seat-episodes have no score; means are over the other 88"


def test_an_entrant_without_any_score_is_listed():
    frame = four()
    frame.loc[frame.entrant == "ann", "score"] = math.nan
    ann = row(rank(frame), "ann")
    assert (ann.rank, ann.unranked, ann.mean, ann.unscored) == (None, "no scored episode", None, 24)


def test_m02_voids_are_counted_against_nobody_and_told_by_provider():
    episodes = planned(list(FOUR), 4, 6)
    seat = episodes[0].entrants.index("cy")
    lost = voids([(episodes[0], [seat]), (episodes[0], [seat]), (episodes[4], [episodes[4].entrants.index("cy")])])
    frame = four()
    ladder = rank(frame[frame.episode != episodes[4].key], lost)
    cy, ann = row(ladder, "cy").conduct, row(ladder, "ann").conduct
    assert (cy.voids, cy.voids_own, cy.void_rate) == (3, 3, pytest.approx(3 / 26))
    assert (ann.voids, ann.voids_own) == (3, 0)
    assert game_of(ladder).voids == 3
    assert text(ladder, "voids") == (
        "3 starts ended by an outage and not rated; whose provider failed: cy 3; 1 episode of them not replayed yet"
    )
    assert row(ladder, "ann").mean == row(rank(frame[frame.episode != episodes[4].key]), "ann").mean


def test_m17_an_entrant_that_left_is_listed_and_its_episodes_count():
    ladder = rank(four(), entered={"g": ["ann", "cy", "dan", "eve"]})
    bob = row(ladder, "bob")
    assert (bob.rank, bob.unranked) == (None, "no longer entered")
    assert row(ladder, "ann").mean == row(rank(four()), "ann").mean
    assert row(ladder, "cy").rank == 2
    eve = row(ladder, "eve")
    assert (eve.rank, eve.unranked, eve.episodes, eve.conduct.decisions) == (None, "no scored episode", 0, 0)
    assert eve.spend.cost_usd == 0
    assert not eve.scripted


def test_m25_entrants_are_told_apart_by_their_whole_name():
    names = {"gpt-5": 0.2, "gpt-5-mini": 0.0, "gpt-5 ": -0.2}
    ladder = rank(seats(planned(list(names), blocks=6), by_strength(names)))
    assert [standing.entrant for standing in game_of(ladder).standings] == ["gpt-5", "gpt-5-mini", "gpt-5 "]


def test_m31_a_ladder_without_scripted_rows_is_flagged():
    assert "no_baseline" not in kinds(rank(four()))
    ladder = rank(seats(planned(list(FOUR), 4, 6), by_strength(FOUR)))
    assert text(ladder, "no_baseline").endswith("add match and random")
    assert row(rank(four()), "dan").scripted
    assert not row(rank(four()), "ann").scripted


def test_one_policy_under_two_names_and_two_policies_under_one_are_pointed_out():
    frame = four(changes={"ann": {"policy": "same"}, "bob": {"policy": "same"}})
    assert text(rank(frame), "same_policy") == "one policy under 2 names: ann, bob; what is between them is luck"
    frame = four()
    frame.loc[(frame.entrant == "cy") & (frame.index < 20), "policy"] = "older"
    ladder = rank(frame)
    assert text(ladder, "renamed_policy") == "cy stood for 2 different policies: its row mixes them"
    assert row(ladder, "cy").policies == ("digest of cy", "older")


def test_faults_rates_tokens_and_costs_are_sums_over_all_episodes():
    conduct = {"by_model": 7, "by_retry": 2, "by_fallback": 1, "fault_illegal": 3, "fault_truncated": 1}
    ladder = rank(four(changes={"ann": conduct}))
    ann = row(ladder, "ann").conduct
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


def test_several_games_are_never_averaged():
    frames = [seats(planned(list(FOUR), 4, 3, game=game), by_strength(FOUR)) for game in ("oshi", "goof")]
    ladder = rank(pd.concat(frames, ignore_index=True))
    assert [game.game for game in ladder.games] == ["goof", "oshi"]
    assert ladder.games[0] == game_of(rank(frames[1]))


def test_blocks_of_two_runs_are_different_blocks():
    both = pd.concat([four(run="run-1"), four(run="run-2")])
    ladder = rank(both)
    assert (game_of(ladder).blocks, game_of(ladder).episodes) == (12, 48)


def test_blocks_of_runs_with_one_seed_share_their_deals_and_count_once():
    once, twice = four(run="run-1"), pd.concat([four(run="run-1"), four(run="run-2")])
    alone, both = rank(once, seeds={"run-1": 7}), rank(twice, seeds={"run-1": 7, "run-2": 7})
    assert (game_of(both).blocks, game_of(both).episodes) == (6, 48)
    assert "shared_deals" in kinds(both)
    assert "shared_deals" not in kinds(alone)
    for name in FOUR:  # the same episodes once more say nothing new
        found, expected = row(both, name).interval, row(alone, name).interval
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    apart = rank(twice, seeds={"run-1": 7, "run-2": 8})
    assert game_of(apart).blocks == 12
    assert "shared_deals" not in kinds(apart)


def test_an_entrant_in_several_seats_of_a_table_does_no_harm():
    episodes = planned(["ann", "bob"], blocks=4)
    frame = seats(episodes, lambda episode, seat: 0.1 if seat else -0.1)
    frame["entrant"] = "ann"
    ladder = rank(frame)
    ann = row(ladder, "ann")
    assert (ann.mean, ann.interval, ann.rank, ann.first, ann.opponents) == (0.0, None, 1, False, 0)


def test_unusable_rows_are_refused_in_one_line():
    frame = four()
    with pytest.raises(RowsInvalid, match="the seats frame has no column score, calls"):
        rank(frame.drop(columns=["calls", "score"]))
    with pytest.raises(RowsInvalid, match=r"holds run run-1, episode g/b0000/r0, seat 0 twice: give every run once"):
        rank(pd.concat([frame, frame.iloc[:1]]))
    frame.loc[3, "entrant"] = None
    with pytest.raises(RowsInvalid, match="1 rows without an entrant"):
        rank(frame)


def test_json_has_no_nan_and_survives_a_round_trip():
    ladder = rank(seats(planned(list(FOUR), 4, 1), by_strength(FOUR)))
    document = ladder.to_json()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema_version"] == 1
    standing = document["games"][0]["standings"][0]
    assert standing["interval"] is None
    assert standing["rank_interval"] == [1, 4]
    assert standing["conduct"]["faults"]["illegal"] == 0
