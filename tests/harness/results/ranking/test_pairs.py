"""Who beats whom: pairs against numbers worked by hand and by libraries, circles, and what partial runs give."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.results.ladder_frames import by_strength, planned, seats, voids
from tests.harness.results.ranking.pair_cases import (
    CIRCLE,
    by_beating,
    by_list,
    chances,
    episodes,
    pair,
    pairs,
    rock_paper_scissors,
)
from weigh.harness.report.render.markdown import markdown_sections
from weigh.harness.report.render.text import letters, plain_lines
from weigh.harness.report.sections.pairs import pair_sections
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.matchups import pair_boards
from weigh.harness.results.ranking.rows import Ordered

NAMES = ("ann", "bob", "cy", "dan")


def text(found):
    return "\n".join(plain_lines(pair_sections([found])))


def noisy(plan, strengths, seed=5, noise=0.3):
    """Scores by strength with normal noise, zero-sum at each table."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for episode in plan:
        raw = np.array([strengths[name] for name in episode.entrants]) + noise * rng.normal(size=len(episode.entrants))
        drawn[episode.key] = raw - raw.mean()
    return seats(plan, lambda episode, seat: float(drawn[episode.key][seat]))


def test_a_pair_is_worked_by_hand():
    scores = ((0.5, -0.5), (0.1, -0.1), (0.0, 0.0), (-0.2, 0.2))
    found = pairs(seats(episodes(*[("ann", "bob")] * 4), by_list(*scores)))
    ann, bob = pair(found, "ann", "bob"), pair(found, "bob", "ann")
    assert (ann.episodes, ann.blocks) == (4, 4)
    assert ann.difference == pytest.approx(0.2)  # 1.0, 0.2, 0.0, -0.4
    assert (ann.win_share, bob.win_share) == (0.625, 0.375)
    half = 3.182446 * np.std([1.0, 0.2, 0.0, -0.4], ddof=1) / 2
    assert (ann.interval.low, ann.interval.high) == pytest.approx((0.2 - half, 0.2 + half))
    assert (bob.interval.low, bob.interval.high) == pytest.approx((-0.2 - half, -0.2 + half))


def test_the_interval_of_a_pair_is_the_cluster_robust_one():
    frame = noisy(planned(NAMES, 3, 9), dict(zip(NAMES, (0.2, 0.1, 0.0, -0.3), strict=True)))
    wide = frame.pivot(index=["block", "episode"], columns="entrant", values="score")
    both = (wide["ann"] - wide["cy"]).dropna().reset_index(name="d")
    groups = both["block"].astype("category").cat.codes
    fit = sm.OLS(both["d"], np.ones(len(both))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}, use_t=True
    )
    # statsmodels multiplies by (n-1)/(n-k) = 1 beside B/(B-1).
    low, high = np.asarray(fit.conf_int())[0]
    mine = pair(pairs(frame), "ann", "cy").interval
    assert (mine.low, mine.high) == pytest.approx((low, high))


def test_rock_paper_scissors_is_all_circle_and_a_lottery_of_thirds():
    found = pairs(rock_paper_scissors())
    assert found.intransitivity.share == pytest.approx(1)
    assert found.intransitivity.p_value < 0.01
    assert (found.triples, found.intransitive_triples) == (1, 1)
    a, b, c = found.intransitive_triple.entrants
    assert {(a, b), (b, c), (c, a)} == set(CIRCLE)
    assert found.intransitive_triple.p_value == pytest.approx(
        2 * 0.5**10
    )  # ten blocks a pair, one triple, two ways round
    assert chances(found) == pytest.approx(dict.fromkeys(("rock", "paper", "scissors"), 1 / 3))
    assert [ticket.support for ticket in found.lottery] == [1, 1, 1]
    assert "sure: paper > rock > scissors > paper (win shares 100%, 100%, 100%" in text(found)


def test_a_circle_of_few_blocks_is_seen_and_not_named():
    found = pairs(rock_paper_scissors(9))
    assert (found.intransitive_triples, found.intransitive_triple) == (1, None)
    assert "circles: 1 of 1 triple by win share; none is sure" in text(found)
    assert all(ticket.interval is None and ticket.support is None for ticket in found.lottery)
    assert "no interval: some pairs met" in text(found)


def test_a_transitive_field_has_no_circle_and_the_best_gets_the_lottery():
    plan = planned(NAMES, 2, 120)
    found = pairs(noisy(plan, dict(zip(NAMES, (0.6, 0.2, -0.2, -0.6), strict=True)), noise=0.2))
    assert found.intransitivity.share < 0.01
    assert found.intransitivity.p_value > 0.05
    assert (found.intransitive_triples, found.intransitive_triple) == (0, None)
    assert chances(found) == {"ann": 1.0, "bob": 0.0, "cy": 0.0, "dan": 0.0}


def test_the_cyclic_share_is_that_of_weighted_least_squares():
    frame = noisy(planned(NAMES, 3, 10), dict(zip(NAMES, (0.1, 0.1, 0.0, -0.2), strict=True)))
    found = pairs(frame)
    once = [p for p in found.pairs if found.entrants.index(p.entrant) < found.entrants.index(p.opponent)]
    design = [[(name == p.entrant) - (name == p.opponent) for name in found.entrants[1:]] for p in once]
    fit = sm.WLS([p.difference for p in once], np.array(design, float), weights=[p.episodes for p in once]).fit()
    total = sum(p.episodes * p.difference**2 for p in once)
    assert found.intransitivity.share == pytest.approx(fit.ssr / total)
    assert 0 < found.intransitivity.expected < 1


def test_a_steep_field_of_wins_has_a_cyclic_share_without_a_circle_and_says_so():
    beats = [(one, other) for n, one in enumerate(NAMES) for other in NAMES[n + 1 :]]
    found = pairs(seats(planned(NAMES, 2, 60), by_beating(beats)))
    # All differences are 2: strengths fit 1/2, 1, 3/2 of it at distances 1, 2, 3.
    assert found.intransitivity.share == pytest.approx((3 * 0.5**2 + 2 * 0 + 0.5**2) / 6)
    assert found.intransitive_triples == 0
    assert "no circle is in it" in text(found)


def test_at_one_table_of_all_differences_add_up_and_circles_are_looked_for_by_wins():
    # Three orders of finishing, equally often: each is above the next two times in three.
    orders = ((0.3, 0.0, -0.3), (-0.3, 0.3, 0.0), (0.0, -0.3, 0.3))
    table = ("a", "b", "c")
    found = pairs(seats(episodes(*[table] * 30), by_list(*orders * 10)))
    assert found.one_table
    assert found.intransitivity is None
    assert found.intransitive_triples == 1
    assert pair(found, "a", "b").win_share == pytest.approx(2 / 3)
    assert chances(found) == pytest.approx(dict.fromkeys(table, 1 / 3))
    assert "add up by construction" in text(found)


def test_pairs_that_met_in_one_block_tell_no_noise():
    found = pairs(noisy(planned(NAMES, 2, 6), dict.fromkeys(NAMES, 0.0)))
    assert {p.blocks for p in found.pairs} == {1}
    assert all(p.interval is None for p in found.pairs)
    assert (found.intransitivity.expected, found.intransitivity.p_value, found.intransitive_triple) == (
        None,
        None,
        None,
    )
    assert "noise cannot be told apart from circles" in text(found)


def test_entrants_that_never_met_have_no_lottery():
    found = pairs(seats(episodes(("ann", "bob"), ("cy", "dan")), by_list((1, -1), (1, -1))))
    assert sorted(map(sorted, found.never_met)) == [["ann", "cy"], ["ann", "dan"], ["bob", "cy"], ["bob", "dan"]]
    assert (found.lottery, found.intransitivity, found.triples) == (None, None, 0)
    said = text(found)
    assert "never met: ann and cy, " in said
    assert "and 1 further pair" in said
    assert "no maximal lottery" in said


def test_two_entrants_one_entrant_and_none():
    two = pairs(seats(episodes(*[("ann", "bob")] * 6), by_list(*[(1, -1)] * 6)))
    assert chances(two) == {"ann": 1.0, "bob": 0.0}
    assert (two.intransitivity, two.intransitive_triple, two.triples) == (None, None, 0)
    even = pairs(seats(episodes(("ann", "bob"), ("ann", "bob")), by_list((1, -1), (-1, 1))))
    assert chances(even) == {"ann": 0.5, "bob": 0.5}
    one = pairs(seats(episodes(("ann",)), by_list((0.0,))))
    assert (one.pairs, one.never_met, one.lottery) == ((), (), None)
    assert text(one)
    frame = seats(episodes(("ann", "bob")), by_list((1, -1))).iloc[:0]
    (none,) = pair_boards(frame, rank(frame, ordered={"g": Ordered(2)}))
    assert (none.entrants, none.pairs, none.lottery) == ((), (), None)
    assert "no scored episode" in text(none)


def test_who_is_not_ranked_stands_in_the_matrix_and_in_nothing_else():
    changes = {"scissors": {"by_fallback": 9, "by_model": 1}}
    frame = seats(planned(["rock", "paper", "scissors"], 2, 30), by_beating(CIRCLE), changes=changes)
    found = pairs(frame)
    assert pair(found, "rock", "scissors").win_share == 1
    assert list(found.unranked) == ["scissors"]
    assert (found.triples, found.intransitive_triple, found.intransitivity) == (0, None, None)
    assert chances(found) == {"paper": 1.0, "rock": 0.0}
    assert "c scissors #" in text(found)
    assert "# not ranked: scissors: the fallback made" in text(found)


def test_runs_that_share_their_deals_are_no_more_blocks():
    plan = planned(NAMES, 2, 24)
    once = noisy(plan, dict.fromkeys(NAMES, 0.0))
    both = pd.concat([once, once.assign(run="run-2")])
    seeds = {"run-1": 1, "run-2": 1}
    (shared,) = pair_boards(both, rank(both, seeds=seeds), seeds=seeds)
    (apart,) = pair_boards(both, rank(both))
    assert {p.blocks for p in shared.pairs} == {4}
    assert {p.blocks for p in apart.pairs} == {8}
    assert pair(shared, "ann", "bob").interval == pair(pairs(once), "ann", "bob").interval


def test_the_view_without_fallback_episodes_is_the_ladders():
    frame = seats(episodes(("ann", "bob"), ("ann", "bob")), by_list((1, -1), (-1, 1)))
    frame.loc[frame["episode"].str.contains("b0001") & (frame["entrant"] == "bob"), "by_fallback"] = 1
    assert pair(pairs(frame), "ann", "bob").win_share == 0.5
    assert pair(pairs(frame, exclude_fallback_episodes=True), "ann", "bob").win_share == 1


def test_games_are_never_mixed():
    other = [(loser, winner) for winner, loser in CIRCLE]
    g = rock_paper_scissors(8)
    h = seats(planned(["rock", "paper", "scissors"], 2, 8, game="h"), by_beating(other))
    both = pd.concat([h, g])
    first, second = pair_boards(both, rank(both))
    assert (first, second) == (pairs(g), pairs(h))


@settings(max_examples=settings.default.max_examples // 5)
@given(st.randoms(use_true_random=False), st.integers(0, 10))
@pytest.mark.slow
def test_pairs_depend_neither_on_the_order_of_rows_nor_on_names(random, seed):
    frame = noisy(planned(NAMES, 3, 8), dict(zip(NAMES, (0.2, 0.1, 0.0, -0.3), strict=True)), seed=seed)
    order = list(range(len(frame)))
    random.shuffle(order)
    found = pairs(frame)
    assert pairs(frame.iloc[order]) == found
    new = dict(zip(NAMES, random.sample(NAMES, 4), strict=True))
    renamed = pairs(frame.assign(entrant=frame["entrant"].map(new)))
    assert {new[name]: chance for name, chance in chances(found).items()} == pytest.approx(chances(renamed))
    assert renamed.intransitivity.share == pytest.approx(found.intransitivity.share)
    assert renamed.intransitivity.p_value == pytest.approx(found.intransitivity.p_value, abs=0.002)
    assert pair(renamed, new["ann"], new["cy"]).difference == pytest.approx(pair(found, "ann", "cy").difference)


def test_many_entrants_fit_80_columns_and_no_cell_is_lost():
    names = [f"a-provider/a-model-with-a-long-name-{n}" for n in range(30)]
    found = pairs(seats(planned(names, 5, 30), by_strength({name: n / 40 for n, name in enumerate(names)})))
    lines = plain_lines(pair_sections([found]), 80)
    assert max(map(len, lines)) <= 80
    cells = sum(line.count("%") for line in lines if line[:2].strip() and line.split()[0] in map(letters, range(30)))
    assert cells == len(found.pairs)
    piped = plain_lines(pair_sections([found]))
    assert any(names[0] in line for line in piped)
    assert [letters(n) for n in (0, 25, 26, 701, 702)] == ["a", "z", "aa", "zz", "aaa"]


def test_the_forms_hold_hostile_names():
    hostile = {"\x1b[31mred": 0.3, "a|b": 0.1, "[bold]x[/bold]": -0.1, "two\nlines": -0.3}
    found = pairs(seats(planned(list(hostile), 4, 3), by_strength(hostile)))
    assert "\x1b" not in text(found)
    markdown = markdown_sections(pair_sections([found]))
    assert "a\\|b" in markdown
    assert "two\nlines" not in markdown
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert {row["entrant"] for row in document["pairs"]} == set(hostile)
    assert document["intransitivity"] is None


def test_differences_that_cancel_in_each_block_are_none_and_not_sure():
    """.1, .2 and -.3 in the three episodes of each block: as floats they come to 3e-17 in all of them."""
    plan = episodes(*[("ann", "bob")] * 6, each=3)
    lead = [0.1, 0.2, -0.3]
    frame = seats(plan, lambda e, s: (1 - 2 * s) * lead[int(e.key[-1])] / 2)
    found = pair(pairs(frame), "ann", "bob")
    assert (found.difference, found.interval.low, found.interval.high) == (0.0, 0.0, 0.0)


def test_a_pair_is_guaranteed_where_bets_on_its_blocks_say_so_and_the_run_is_whole():
    def judged(blocks, **options):
        found = pairs(seats(planned(["ann", "bob"], blocks=blocks), by_strength({"ann": 0.1, "bob": -0.1})), **options)
        one, other = pair(found, "ann", "bob"), pair(found, "bob", "ann")
        assert one.guaranteed == other.guaranteed
        assert one.interval.low > 0  # significant by normal theory each time
        return one.guaranteed, text(found).count("**")

    assert judged(12) == (False, 1)  # in the line that says what it means
    assert judged(80) == (True, 3)
    assert judged(80, voids=voids([(planned(["ann", "bob"])[0], [0])]))[0] is False
