"""Where a gate stands: what it plays next, what outages take from it, and that nothing depends on when one looks."""

from __future__ import annotations

from dataclasses import replace
from math import log, sin
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import array

from weigh.harness.gate.sequential import decide, walk
from weigh.harness.gate.standing import Terms, ends_of, further, stand

TERMS = Terms(margin=0.1, limit=40)
SPREAD = [0.1 * sin(n) for n in range(60)]
"""Means of a baseline's blocks."""


def played(differences, baseline, terms):
    """Play a gate as the standing asks, block by block as given."""
    count = 0
    sizes = []
    while True:
        standing = stand(differences[:count], baseline, terms)
        if not standing.more:
            return standing, sizes
        count += standing.more
        sizes.append(standing.more)


def test_the_first_batch_is_that_of_the_first_look_and_the_next_ones_follow():
    noise = Random(1)
    standing, sizes = played([noise.uniform(-0.5, 0.4) for _ in range(40)], SPREAD, TERMS)
    assert sizes[0] == 10
    assert set(sizes[1:]) <= {5}
    assert standing.judged == sum(sizes)


def test_without_voids_it_is_what_the_sequential_test_says():
    noise = Random(4)
    differences = [noise.uniform(-0.3, 0.25) for _ in range(40)]
    standing, _ = played(differences, SPREAD, TERMS)
    assert standing.look == decide(differences, standing.design)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(-0.4, 0.3)), min_size=40, max_size=40), st.integers(0, 40))
def test_it_is_the_same_however_the_sittings_were_cut(differences, cut):
    terms = Terms(margin=0.1, limit=40, max_void_rate=0.9)
    whole, sizes = played(differences, SPREAD, terms)
    ended = sum(sizes)
    begun = stand(differences[: min(cut, ended)], SPREAD, terms)
    again = stand(differences[:ended], SPREAD, terms)
    assert again == whole
    if begun.more:
        assert min(cut, ended) + begun.more <= 40


def test_a_void_block_is_made_up_for_by_the_next_one_while_there_are_any():
    differences = [0.0, None, *[0.0] * 38]
    standing = stand(differences[:10], SPREAD, TERMS)
    assert (standing.more, standing.missing) == (1, 1)


def test_where_blocks_run_out_those_there_are_decide():
    differences = [None, *[-0.06 + 0.3 * (-1) ** n for n in range(11)]]
    terms = Terms(margin=0.1, limit=12)
    standing = stand(differences, SPREAD[:12], terms)
    assert standing.more == 0
    assert standing.look is not None
    assert (standing.look.verdict, standing.look.by, standing.look.n) == ("inconclusive", "cap", 11)
    assert not standing.too_void


def test_more_voids_than_allowed_end_the_gate_at_once():
    terms = Terms(margin=0.1, limit=20, max_void_rate=0.1)
    assert not stand([None, None, *[0.0] * 6], SPREAD, terms).too_void
    standing = stand([None, None, None, *[0.0] * 5], SPREAD, terms)
    assert standing.too_void
    assert standing.more == 0


def test_voids_are_held_against_the_blocks_that_were_judged():
    terms = Terms(margin=0.35, limit=100, max_void_rate=0.1)
    differences = [None, None, *[0.0] * 10]
    standing = stand(differences, [0.06 * sin(n) for n in range(100)], terms)
    assert standing.look is not None
    assert standing.look.verdict == "pass"
    assert (standing.judged, standing.missing, standing.too_void) == (12, 2, True)


@pytest.mark.parametrize("differences", [[None, None], [None, 0.0]])
def test_one_difference_says_nothing(differences):
    standing = stand(differences, [], Terms(margin=0.1, limit=2, max_void_rate=0.9))
    assert (standing.look, standing.more) == (None, 0)


def test_blocks_beyond_the_look_that_decided_change_nothing():
    good = [0.0] * 15
    few = Terms(margin=0.5, limit=40)
    assert stand([*good, *[-0.4] * 25], SPREAD, few).look == stand(good, SPREAD, few).look


NARROW = [0.001 * n for n in range(20)]
FOUR = -1 / 3
"""The lowest score of goofspiel for four."""


def test_ends_without_an_assumption_are_what_the_rules_allow_against_the_baselines_own_blocks():
    terms = Terms(margin=0.01, limit=20, lowest=FOUR)
    assert ends_of(NARROW, terms) == pytest.approx((FOUR - 0.019, 1.0))
    assert ends_of(NARROW, replace(terms, limit=10)) == ends_of(NARROW, terms)  # so a raised limit changes no bet
    assert ends_of(NARROW, replace(terms, lowest=-1.0)) == pytest.approx((-1.019, 1.0))


def test_a_baseline_whose_blocks_are_not_all_known_may_yet_have_its_best():
    terms = Terms(margin=0.01, limit=21, lowest=FOUR)
    assert ends_of(NARROW, terms) == ends_of([], terms) == pytest.approx((FOUR - 1, 1 - FOUR))


def test_the_ends_are_wide_enough_for_the_margin():
    assert ends_of([1.0, 1.0], Terms(margin=0.5, limit=2)) == (-2, 2)  # nothing can be better than best
    assert ends_of([-0.9, -0.8], Terms(margin=0.5, limit=2)) == pytest.approx((-2, 1.9))


def test_rare_breakdowns_pass_no_more_often_than_alpha_without_an_assumption():
    """A baseline that spreads .1 about .3, and a candidate that is the same but for deals in which all is lost."""
    noise = Random(11)
    baseline = [noise.gauss(0.3, 0.1) for _ in range(100)]
    share = 0.1 / (sum(baseline) / 100 + 1)
    terms = Terms(margin=0.1, limit=100)
    design, passed = terms.design(ends_of(baseline, terms)), 0
    narrow, by_narrow = terms.design((-0.4, 0.4)), 0  # four standard deviations: an assumption that is false here
    for _ in range(150):
        differences = array([-1 - score if noise.random() < share else 0.0 for score in baseline])
        passed += walk(differences, design)[-1].verdict == "pass"
        by_narrow += walk(differences, narrow)[-1].verdict == "pass"
    assert passed <= 14  # 15 or more: one run of 100 at a true rate of 5 %
    assert by_narrow >= 25


@pytest.mark.parametrize(("changes", "word"), [({"lowest": 0.0}, "lowest score")])
def test_terms_name_what_they_cannot_reckon_with(changes, word):
    with pytest.raises(ValueError, match=word):
        Terms(margin=0.1, limit=10, **changes)


def test_a_margin_that_no_game_can_lose_is_refused():
    with pytest.raises(ValueError, match=r"no block can show a loss beyond 1\.33333"):
        Terms(margin=1.4, limit=10, lowest=FOUR)


@pytest.mark.parametrize(("limit", "margin", "word"), [(1, 0.1, "blocks"), (10, 2.0, "margin"), (10, 0.0, "margin")])
def test_terms_that_promise_nothing_are_refused(limit, margin, word):
    with pytest.raises(ValueError, match=word):
        Terms(margin=margin, limit=limit)


def test_how_many_more_blocks_are_told_for_the_nearer_of_both_verdicts():
    terms = Terms(margin=0.1, limit=12)
    noise = Random(2)
    differences = [noise.gauss(-0.3, 0.8) for _ in range(12)]
    standing = stand(differences, [], terms)
    assert standing.look is not None
    assert standing.look.verdict == "inconclusive"
    more = further(standing.look, standing.design)
    assert more is not None
    assert standing.look.mean is not None and standing.look.sd is not None
    mean, sd = standing.look.mean, standing.look.sd
    assert mean < -0.2  # so a regression is nearer
    bet = min(-mean / (sd**2 + mean**2), 0.95 / 2)
    gain = bet * -mean - bet**2 * (sd**2 + mean**2) / 2
    assert more == pytest.approx(log(standing.look.p_regression / 0.05) / gain, abs=1)
