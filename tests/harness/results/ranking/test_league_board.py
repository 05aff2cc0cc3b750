"""The second board: Elo, worked by hand, and what it owes to the order."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.results.ladder_frames import by_strength, planned, seats
from tests.harness.results.ranking.pair_cases import board, by_list, episodes
from weigh.harness.errors import RowsInvalid
from weigh.harness.report.render.markdown import markdown_sections
from weigh.harness.report.render.text import plain_lines
from weigh.harness.report.sections.ladder import board_sections
from weigh.harness.results.ranking.elo import SHUFFLES, boards
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.rows import Ordered

NAMES = ("ann", "bob", "cy", "dan")


def ratings(found):
    return {row.entrant: row.elo for row in found.rows}


def row(found, entrant):
    (only,) = (row for row in found.rows if row.entrant == entrant)
    return only


def test_elo_of_two_games_worked_by_hand():
    # ann beats bob from 1000 each: +-16. Then bob beats ann: he was expected to score 1/(1 + 10^(32/400)).
    found = board(seats(episodes(("ann", "bob"), ("bob", "ann")), by_list((1, -1), (1, -1))))
    expected = 1 / (1 + 10 ** (32 / 400))
    assert ratings(found) == pytest.approx({"bob": 984 + 32 * (1 - expected), "ann": 1016 - 32 * (1 - expected)})
    assert ratings(found)["ann"] == pytest.approx(998.53, abs=0.005)


def test_elo_of_a_table_of_four_is_six_games_judged_by_the_ratings_before_it():
    # Scores 3, 1, 1, -5 from equal ratings: the first wins three games, the tied win one, draw one and lose one.
    found = board(seats(episodes(NAMES), by_list((0.6, 0.2, 0.2, -1.0))))
    assert ratings(found) == pytest.approx({"ann": 1048, "bob": 1000, "cy": 1000, "dan": 952})
    assert {row.games for row in found.rows} == {3}
    # A second table with the order reversed: changes are summed from 1048, 1000, 1000, 952.
    before = dict(zip(NAMES, (1048.0, 1000.0, 1000.0, 952.0), strict=True))
    score = dict(zip(NAMES, (-0.6, 0.0, 0.1, 0.5), strict=True))
    by_hand = {
        a: before[a]
        + sum(32 * ((score[a] > score[b]) - 1 / (1 + 10 ** ((before[b] - before[a]) / 400))) for b in NAMES if b != a)
        for a in NAMES
    }
    both = seats(episodes(NAMES, NAMES), by_list((0.6, 0.2, 0.2, -1.0), (-0.6, 0.0, 0.1, 0.5)))
    assert ratings(board(both)) == pytest.approx(by_hand)


def test_scores_a_rounding_apart_are_a_draw():
    found = board(seats(episodes(("ann", "bob")), by_list((1 / 3, 0.1 + 0.7 / 3))))
    assert ratings(found) == pytest.approx({"ann": 1000, "bob": 1000})


def test_elo_follows_the_schedule_past_ten_thousand_blocks_and_over_runs():
    # As text b10000 stands before b9999.
    late = episodes(("ann", "bob"), ("ann", "bob"))
    named = [
        type(late[0])(f"g/b{n}/r0", "g", f"g/b{n}", e.entrants, f"g/b{n}")
        for e, n in zip(late, (9999, 10000), strict=True)
    ]
    won = {"g/b9999": (1, -1), "g/b10000": (-1, 1)}
    frame = seats(named, lambda episode, seat: won[episode.block][seat])
    assert ratings(board(frame))["bob"] > 1000  # the last game counts most
    import pandas as pd

    first = seats(episodes(("ann", "bob")), by_list((1, -1)), run="20260101-a")
    second = seats(episodes(("ann", "bob")), by_list((-1, 1)), run="20260102-b")
    assert ratings(board(pd.concat([second, first])))["bob"] > 1000


def test_the_spread_is_that_of_elo_over_random_orders():
    # One win each: who won last is ahead, so half of the orders have each ahead.
    found = board(seats(episodes(("ann", "bob"), ("ann", "bob")), by_list((1, -1), (-1, 1))))
    ahead = 1000 - row(found, "ann").elo
    spread = row(found, "ann").elo_spread
    assert (spread.low, spread.high) == pytest.approx((1000 - ahead, 1000 + ahead))
    assert spread.sd == pytest.approx(ahead, rel=0.05)
    assert (spread.best_rank, spread.worst_rank) == (1, 2)
    assert 0.35 < found.same_order < 0.65
    assert SHUFFLES == 200


def test_one_episode_has_no_spread_and_no_episode_no_rows():
    one = seats(episodes(("ann", "bob")), by_list((1, -1)))
    assert [line.elo_spread for line in board(one).rows] == [None, None]
    assert board(one).same_order is None
    none = boards(one.iloc[:0], rank(one.iloc[:0], ordered={"g": Ordered(6)}))
    assert [(found.game, found.rows) for found in none] == [("g", ())]
    assert "no scored episode" in plain_lines(board_sections(none), 80)


def test_a_board_that_orders_otherwise_than_the_mean_is_marked():
    # ann wins small and often, bob loses small and wins once, large: Elo counts wins, the mean counts scores.
    scores = [(0.1, -0.1)] * 5 + [(-1.0, 1.0)]
    found = board(seats(episodes(*[("ann", "bob")] * 6), by_list(*scores)))
    assert [line.entrant for line in found.rows] == ["bob", "ann"]
    assert all(line.elo_disagrees for line in found.rows)
    assert [line.elo_rank for line in found.rows] == [2, 1]
    lines = plain_lines(board_sections([found]), 80)
    assert any("2*" in line for line in lines)
    assert "* another order than the mean's" in lines
    agreeing = board(seats(planned(NAMES, 4, 4), by_strength({"ann": 0.4, "bob": 0.1, "cy": -0.1, "dan": -0.4})))
    assert not any(line.elo_disagrees for line in agreeing.rows)
    assert "*" not in "\n".join(plain_lines(board_sections([agreeing]), 80))


def test_an_entrant_that_is_not_ranked_is_rated_and_takes_nobodys_rank():
    strengths = {"ann": 0.4, "bob": 0.1, "cy": -0.1, "dan": -0.4}
    frame = seats(planned(NAMES, 4, 4), by_strength(strengths), changes={"ann": {"by_fallback": 9, "by_model": 1}})
    found = board(frame)
    ann = row(found, "ann")
    assert (ann.rank, ann.elo_rank) == (None, None)
    assert ann.elo > 1000
    assert [line.elo_rank for line in found.rows if line.unranked is None] == [1, 2, 3]
    assert any(line.startswith("not ranked: ann: the fallback made") for line in plain_lines(board_sections([found])))


def test_the_view_without_fallback_episodes_is_the_ladders():
    frame = seats(episodes(("ann", "bob"), ("ann", "bob")), by_list((1, -1), (-1, 1)))
    frame.loc[frame["episode"].str.contains("b0001") & (frame["entrant"] == "bob"), "by_fallback"] = 1
    assert ratings(board(frame, exclude_fallback_episodes=True)) == pytest.approx({"ann": 1016, "bob": 984})


def test_games_are_never_mixed():
    import pandas as pd

    g = seats(planned(NAMES, 2, 6, game="g"), by_strength(dict(zip(NAMES, (0.3, 0.1, -0.1, -0.3), strict=True))))
    h = seats(planned(NAMES, 2, 6, game="h"), by_strength(dict(zip(NAMES, (-0.3, -0.1, 0.1, 0.3), strict=True))))
    both = pd.concat([g, h])
    apart = [*boards(g, rank(g)), *boards(h, rank(h))]
    assert list(boards(both, rank(both))) == apart


def test_an_entrant_at_two_seats_of_a_table_is_refused():
    frame = seats(episodes(("ann", "bob", "ann")), by_list((0.1, 0.2, -0.3)))
    with pytest.raises(RowsInvalid, match=r"ann sits twice at the table of g/b0000/r0"):
        board(frame)


@settings(max_examples=settings.default.max_examples // 5)
@given(st.randoms(use_true_random=False), st.lists(st.integers(-3, 3), min_size=4, max_size=4))
@pytest.mark.slow
def test_boards_depend_neither_on_the_order_of_rows_nor_on_names(random, strengths):
    plan = planned(NAMES, 4, 3)
    frame = seats(plan, by_strength(dict(zip(NAMES, [s / 10 for s in strengths], strict=True))))
    order = list(range(len(frame)))
    random.shuffle(order)
    assert board(frame.iloc[order]) == board(frame)
    renamed = frame.assign(entrant=frame["entrant"].map({name: f"new {name}" for name in NAMES}))
    assert {f"new {name}": elo for name, elo in ratings(board(frame)).items()} == pytest.approx(ratings(board(renamed)))
    assert np.mean([line.elo for line in board(frame).rows]) == pytest.approx(1000)


def test_the_forms_hold_hostile_names_and_80_columns():
    hostile = {
        "\x1b[31mred": 0.3,
        "a|b": 0.1,
        "[bold]x[/bold]": -0.1,
        "very-long-provider/very-long-model-name@1": -0.3,
    }
    found = board(seats(planned(list(hostile), 4, 3), by_strength(hostile)))
    lines = plain_lines(board_sections([found]), 80)
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "\n".join(lines)
    assert "a\\|b" in markdown_sections(board_sections([found]))
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert document["rows"][0]["elo_spread"].keys() == {"mean", "sd", "low", "high", "best_rank", "worst_rank"}
