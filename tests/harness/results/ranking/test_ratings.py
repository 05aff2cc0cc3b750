"""The ladder: who is ranked, in which order, by which numbers."""

import json
import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.results.ladder_frames import (
    FOUR,
    by_strength,
    four,
    game_of,
    kinds,
    planned,
    row,
    seats,
    text,
    voids,
)
from weigh.harness.errors import RowsInvalid
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.rows import SEAT_COLUMNS, VOID_COLUMNS, Ordered
from weigh.harness.results.ranking.standings import Interval
from weigh.harness.results.rows import SEATS, VOIDS


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
        assert standing.schedule_strength == pytest.approx(0, abs=1e-12)
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
    assert row(ladder, "ann").schedule_strength > 0 > row(ladder, "cy").schedule_strength
    assert text(ladder, "uneven_meetings").startswith("pairs met in 0 to 4 episodes")


def test_m14_ranks_do_not_depend_on_the_order_of_rows():
    frame = four(changes={"cy": {"by_fallback": 1, "by_model": 9}})
    lost = voids([(planned(list(FOUR), 4)[0], [1]), (planned(list(FOUR), 4)[1], [2, 3])])
    ranked = rank(frame, lost)

    @given(st.permutations(range(len(frame))), st.permutations(range(len(lost))))
    @settings(max_examples=settings.default.max_examples // 5)
    def in_any_order(order, lost_order):
        assert rank(frame.iloc[order], lost.iloc[lost_order]) == ranked

    in_any_order()


def test_the_frames_given_are_left_as_they_were():
    frame = four()
    before = frame.copy()
    rank(frame, exclude_fallback_episodes=True)
    assert frame.equals(before)


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
    assert (ann.rank, ann.unranked, ann.reliability.own_move_rate) == (None, "made no move of its own", 0.0)
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
    assert row(some, "cy").reliability == row(every, "cy").reliability
    assert row(some, "cy").reliability.fallback_rate == pytest.approx(5 / 240)
    assert row(some, "cy").reliability.fallback_episodes == 1
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


def test_an_entrant_without_any_score_is_listed():
    frame = four()
    frame.loc[frame.entrant == "ann", "score"] = math.nan
    ann = row(rank(frame), "ann")
    assert (ann.rank, ann.unranked, ann.mean, ann.unscored) == (None, "no scored episode", None, 24)


def test_m17_an_entrant_that_left_is_listed_and_its_episodes_count():
    ladder = rank(four(), ordered={"g": Ordered(entrants=frozenset(["ann", "cy", "dan", "eve"]))})
    bob = row(ladder, "bob")
    assert (bob.rank, bob.unranked) == (None, "no longer entered")
    assert row(ladder, "ann").mean == row(rank(four()), "ann").mean
    assert row(ladder, "cy").rank == 2
    eve = row(ladder, "eve")
    assert (eve.rank, eve.unranked, eve.episodes, eve.reliability.decisions) == (None, "no scored episode", 0, 0)
    assert eve.spend.cost_usd == 0
    assert not eve.scripted


def test_m25_entrants_are_told_apart_by_their_whole_name():
    names = {"gpt-5": 0.2, "gpt-5-mini": 0.0, "gpt-5 ": -0.2}
    ladder = rank(seats(planned(list(names), blocks=6), by_strength(names)))
    assert [standing.entrant for standing in game_of(ladder).standings] == ["gpt-5", "gpt-5-mini", "gpt-5 "]


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
    assert document["schema_version"] == 2
    standing = document["games"][0]["standings"][0]
    assert standing["interval"] is None
    assert standing["rank_interval"] == [1, 4]
    assert standing["reliability"]["faults"]["illegal"] == 0


@given(st.permutations(["w", "x", "y", "z"]))
@settings(max_examples=settings.default.max_examples // 5)
def test_other_names_for_the_entrants_change_nothing_but_the_names(order):
    names = dict(zip(FOUR, order, strict=True))
    costly = {"cy": {"by_fallback": 1, "by_model": 9, "cost_usd": 0.03}}
    frame = four(changes=costly)
    uneven = frame[frame.episode != frame.episode.min()]
    renamed = uneven.assign(entrant=uneven.entrant.map(names))
    one, other = rank(uneven), rank(renamed)
    for before in game_of(one).standings:
        after = row(other, names[before.entrant]).to_json()
        for key, value in before.to_json().items():
            if key != "entrant":
                assert after[key] == nearly(value), key
    lead, renamed_lead = game_of(one).lead, game_of(other).lead
    assert renamed_lead.leader == names[lead.leader]
    assert renamed_lead.minimum_detectable_difference == pytest.approx(lead.minimum_detectable_difference)
    assert game_of(other).minimum_detectable_difference == pytest.approx(game_of(one).minimum_detectable_difference)


def nearly(value):
    """Equal but for the order in which floats were added."""
    if isinstance(value, dict):
        return {key: nearly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [nearly(item) for item in value]
    return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
