"""Where a gate stands: what it plays next, what outages take from it, and that nothing depends on when one looks."""

from __future__ import annotations

from dataclasses import replace
from math import log, sin
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import array

from weigh.harness.gate.sequential import Design, decide, evaluate, further, walk

DESIGN = Design(margin=0.1, max_blocks=40)
SPREAD = [0.1 * sin(n) for n in range(60)]
"""Means of a baseline's blocks."""


def known(design, baseline):
    """The range of a block's difference."""
    found = design.within(baseline)
    return found.least, found.greatest


def played(differences, baseline, design):
    """Play a gate as the state asks, block by block as given."""
    count = 0
    sizes = []
    while True:
        state = evaluate(differences[:count], baseline, design)
        if not state.more:
            return state, sizes
        count += state.more
        sizes.append(state.more)


def test_the_first_batch_is_that_of_the_first_look_and_the_next_ones_follow():
    noise = Random(1)
    state, sizes = played([noise.uniform(-0.5, 0.4) for _ in range(40)], SPREAD, DESIGN)
    assert sizes[0] == 10
    assert set(sizes[1:]) <= {5}
    assert state.judged == sum(sizes)


def test_without_voids_it_is_what_the_sequential_test_says():
    noise = Random(4)
    differences = [noise.uniform(-0.3, 0.25) for _ in range(40)]
    state, _ = played(differences, SPREAD, DESIGN)
    assert state.analysis == decide(differences, state.design)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(-0.4, 0.3)), min_size=40, max_size=40), st.integers(0, 40))
def test_it_is_the_same_however_the_sittings_were_cut(differences, cut):
    design = Design(margin=0.1, max_blocks=40, max_void_rate=0.9)
    whole, sizes = played(differences, SPREAD, design)
    ended = sum(sizes)
    begun = evaluate(differences[: min(cut, ended)], SPREAD, design)
    again = evaluate(differences[:ended], SPREAD, design)
    assert again == whole
    if begun.more:
        assert min(cut, ended) + begun.more <= 40


def test_a_void_block_is_made_up_for_by_the_next_one_while_there_are_any():
    differences = [0.0, None, *[0.0] * 38]
    state = evaluate(differences[:10], SPREAD, DESIGN)
    assert (state.more, state.missing) == (1, 1)


def test_where_blocks_run_out_those_there_are_decide():
    differences = [None, *[-0.06 + 0.3 * (-1) ** n for n in range(11)]]
    design = Design(margin=0.1, max_blocks=12)
    state = evaluate(differences, SPREAD[:12], design)
    assert state.more == 0
    assert state.analysis is not None
    assert (state.analysis.verdict, state.analysis.by, state.analysis.n) == ("inconclusive", "maximum", 11)
    assert not state.too_void


def test_more_voids_than_allowed_end_the_gate_at_once():
    design = Design(margin=0.1, max_blocks=20, max_void_rate=0.1)
    assert not evaluate([None, None, *[0.0] * 6], SPREAD, design).too_void
    state = evaluate([None, None, None, *[0.0] * 5], SPREAD, design)
    assert state.too_void
    assert state.more == 0


def test_voids_are_held_against_the_blocks_that_were_judged():
    design = Design(margin=0.35, max_blocks=100, max_void_rate=0.1)
    differences = [None, None, *[0.0] * 10]
    state = evaluate(differences, [0.06 * sin(n) for n in range(100)], design)
    assert state.analysis is not None
    assert state.analysis.verdict == "pass"
    assert (state.judged, state.missing, state.too_void) == (12, 2, True)


@pytest.mark.parametrize("differences", [[None, None], [None, 0.0]])
def test_one_difference_says_nothing(differences):
    state = evaluate(differences, [], Design(margin=0.1, max_blocks=2, max_void_rate=0.9))
    assert (state.analysis, state.more) == (None, 0)


def test_blocks_beyond_the_look_that_decided_change_nothing():
    good = [0.0] * 15
    few = Design(margin=0.5, max_blocks=40)
    assert evaluate([*good, *[-0.4] * 25], SPREAD, few).analysis == evaluate(good, SPREAD, few).analysis


NARROW = [0.001 * n for n in range(20)]
FOUR = -1 / 3
"""The lowest score of goofspiel for four."""


def test_ends_without_an_assumption_are_what_the_rules_allow_against_the_baselines_own_blocks():
    design = Design(margin=0.01, max_blocks=20, lowest=FOUR)
    assert known(design, NARROW) == pytest.approx((FOUR - 0.019, 1.0))
    fewer = replace(design, max_blocks=10)
    assert known(fewer, NARROW) == known(design, NARROW)  # so a raised maximum changes no bet
    assert known(replace(design, lowest=-1.0), NARROW) == pytest.approx((-1.019, 1.0))


def test_a_baseline_whose_blocks_are_not_all_known_may_yet_have_its_best():
    design = Design(margin=0.01, max_blocks=21, lowest=FOUR)
    assert known(design, NARROW) == known(design, []) == pytest.approx((FOUR - 1, 1 - FOUR))


def test_the_ends_are_wide_enough_for_the_margin():
    assert known(Design(margin=0.5, max_blocks=2), [1.0, 1.0]) == (-2, 2)  # nothing can be better than best
    assert known(Design(margin=0.5, max_blocks=2), [-0.9, -0.8]) == pytest.approx((-2, 1.9))


def test_rare_breakdowns_pass_no_more_often_than_alpha_without_an_assumption():
    """A baseline that spreads .1 about .3, and a candidate that is the same but for deals in which all is lost."""
    noise = Random(11)
    baseline = [noise.gauss(0.3, 0.1) for _ in range(100)]
    share = 0.1 / (sum(baseline) / 100 + 1)
    design = Design(margin=0.1, max_blocks=100)
    design, passed = design.within(baseline), 0
    narrow, by_narrow = (
        replace(design, range=(-0.4, 0.4)),
        0,
    )  # four standard deviations: an assumption that is false here
    for _ in range(150):
        differences = array([-1 - score if noise.random() < share else 0.0 for score in baseline])
        passed += walk(differences, design)[-1].verdict == "pass"
        by_narrow += walk(differences, narrow)[-1].verdict == "pass"
    assert passed <= 14  # 15 or more: one run of 100 at a true rate of 5 %
    assert by_narrow >= 25


@pytest.mark.parametrize(("changes", "word"), [({"lowest": 0.0}, "lowest score")])
def test_terms_name_what_they_cannot_reckon_with(changes, word):
    with pytest.raises(ValueError, match=word):
        Design(margin=0.1, max_blocks=10, **changes)


def test_a_margin_that_no_game_can_lose_is_refused():
    with pytest.raises(ValueError, match=r"no block can show a loss beyond 1\.33333"):
        Design(margin=1.4, max_blocks=10, lowest=FOUR)


@pytest.mark.parametrize(("limit", "margin", "word"), [(1, 0.1, "blocks"), (10, 2.0, "margin"), (10, 0.0, "margin")])
def test_terms_that_promise_nothing_are_refused(limit, margin, word):
    with pytest.raises(ValueError, match=word):
        Design(margin=margin, max_blocks=limit)


def test_how_many_more_blocks_are_told_for_the_nearer_of_both_verdicts():
    design = Design(margin=0.1, max_blocks=12)
    noise = Random(2)
    differences = [noise.gauss(-0.3, 0.8) for _ in range(12)]
    state = evaluate(differences, [], design)
    assert state.analysis is not None
    assert state.analysis.verdict == "inconclusive"
    more = further(state.analysis, state.design)
    assert more is not None
    assert state.analysis.mean is not None and state.analysis.sd is not None
    mean, sd = state.analysis.mean, state.analysis.sd
    assert mean < -0.2  # so a regression is nearer
    bet = min(-mean / (sd**2 + mean**2), 0.95 / 2)
    gain = bet * -mean - bet**2 * (sd**2 + mean**2) / 2
    assert more == pytest.approx(log(state.analysis.p_regression / 0.05) / gain, abs=1)
