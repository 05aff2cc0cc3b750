"""Who may be called first where not everybody met the same opponents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benches.coverage import UNEVEN, League, Table, measure_uneven
from tests.harness.results.ladder_frames import FOUR, by_strength, game_of, kinds, planned, row, seats, text
from weigh.harness.report.sections.ladder import verdict
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.ranks import places
from weigh.harness.results.ranking.rows import Ordered
from weigh.harness.stats.clustered import estimate
from weigh.harness.stats.rank_bootstrap import draw_ranks

STRENGTHS = {"top": 1.0, "top2": 0.98, "mid": 0.3, "low": -0.6}


def frame(*pairs, blocks=8, strengths=STRENGTHS, ripple=0.02):
    """So many blocks of each pair, all of one game."""
    episodes = [
        (n, episode) for n, pair in enumerate(pairs) for episode in planned(sorted(pair), blocks=blocks, game=f"{n}")
    ]
    found = seats([episode for _, episode in episodes], by_strength(strengths, ripple))
    found["game"] = "g"
    return found


def test_the_leader_by_mean_of_weak_opponents_is_not_called_first():
    """Mid beats low again and again and loses every game to those it is ranked against."""
    found = frame(*[("mid", "low")] * 6, ("mid", "top"), ("mid", "top2"), *[("top", "top2")] * 4)
    ladder = rank(found, ordered={"g": Ordered(entrants=frozenset(["mid", "top", "top2"]))})
    mid, top = row(ladder, "mid"), row(ladder, "top")
    assert mid.rank == 1 and mid.mean > top.mean and mid.probability_first > 0.97
    assert mid.adjusted < top.adjusted
    assert not any(standing.first for standing in game_of(ladder).standings)
    assert mid.first_p_value > 0.9 and mid.rank_interval[1] > 1 and top.rank_interval[0] == 1
    said = text(ladder, "uneven_schedule")
    assert said.startswith(f"no clear first: mid leads by mean ({mid.mean:+.3f}), and top by opponent-adjusted")
    assert "not_separated" not in kinds(ladder)
    assert "and top by opponent-adjusted mean" in "".join(str(part) for part in verdict(game_of(ladder), ladder))


def test_a_leader_by_both_means_is_called_first_by_the_weaker_claim():
    found = frame(("ann", "bob"), ("ann", "cy"), ("bob", "cy"), ("ann", "bob"), strengths=FOUR)
    ladder = rank(found)
    assert not kinds(ladder).count("uneven_schedule")
    assert row(ladder, "ann").first and row(ladder, "ann").rank_interval == (1, 1)
    assert row(ladder, "ann").adjusted != pytest.approx(row(ladder, "ann").mean)


def test_a_balanced_schedule_asks_for_the_mean_alone():
    """The p-value and the rank intervals are those of the draws of means, to the last bit."""
    table = Table(League(6, 4, 15, spread=0.1))
    score = table.draw(np.random.default_rng(3))
    found = estimate(table.entrant, table.episode, table.block, score, 6)
    names = [f"e{n}" for n in range(6)]
    assert found.even and found.linked
    ranks = draw_ranks(found, range(6))
    for n, place in enumerate(places(names, names, found, 1).values()):
        assert place.interval == (ranks.low[n], ranks.high[n])
        assert place.probability_first == ranks.first[n]
        assert place.first_p_value == (ranks.first_p_value[n] if place.claims else None)
    short = len(table.entrant) - 4
    cut = estimate(*(each[:short] for each in (table.entrant, table.episode, table.block)), score[:short], 6)
    assert cut.linked and not cut.even


def test_nobody_is_first_among_groups_that_never_met():
    strengths = {"ann": 0.4, "bob": -0.4, "cy": 0.1, "dan": -0.1}
    ladder = rank(frame(("ann", "bob"), ("cy", "dan"), strengths=strengths))
    ann = row(ladder, "ann")
    assert ann.rank == 1
    assert (ann.first, ann.first_p_value, ann.probability_first, ann.rank_interval) == (False, None, None, (1, 3))
    assert row(ladder, "bob").rank_interval == (2, 4)
    said = text(ladder, "not_linked")
    assert said.startswith("no clear first, and there are no opponent-adjusted means: these groups never met")
    assert "not_separated" not in kinds(ladder)


def test_adjusted_influences_square_to_the_adjusted_interval():
    table = Table(League(9, 4, 11))
    found = estimate(table.entrant, table.episode, table.block, table.draw(np.random.default_rng(1)), 9)
    error = np.sqrt((found.adjusted_influence**2).sum(axis=0))
    assert found.adjusted_half_width == pytest.approx(stats.t.ppf(0.975, found.adjusted_freedom) * error)
    swapped = found.by_adjusted()
    assert swapped.mean is found.adjusted and swapped.influence is found.adjusted_influence


@pytest.mark.slow
@pytest.mark.parametrize("case", UNEVEN, ids=lambda case: case.title)
def test_on_uneven_schedules_somebody_is_wrongly_called_first_in_at_most_7_of_100_leagues(case):
    assert measure_uneven(case, 300).called <= 0.07
