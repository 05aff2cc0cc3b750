"""The maximal lottery against linear and quadratic programs and known fields; the most even where there are several."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from weigh.harness.results.ranking.lottery import _some, drawn_lotteries, maximal_lottery, spread
from weigh.harness.results.ranking.pairwise import Meetings, PairBlocks, pair_blocks


def antisymmetric(entries, size):
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size, 1)] = entries
    return matrix - matrix.T


@st.composite
def margins(draw):
    size = draw(st.integers(2, 6))
    few = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
    entries = draw(st.lists(few, min_size=size * (size - 1) // 2, max_size=size * (size - 1) // 2))
    return antisymmetric(entries, size)


def test_a_weighted_circle_gives_each_the_margin_between_the_others():
    # Fishburn: in a circle a > b > c > a with margins x, y, z the lottery is (y, z, x) / sum.
    margin = antisymmetric([0.2, -0.6, 0.4], 3)
    assert maximal_lottery(margin) == pytest.approx([0.4 / 1.2, 0.6 / 1.2, 0.2 / 1.2])
    assert [Fraction(p).limit_denominator(100) for p in maximal_lottery(margin)] == [
        Fraction(1, 3),
        Fraction(1, 2),
        Fraction(1, 6),
    ]


def test_who_is_above_everybody_gets_all_however_little():
    assert maximal_lottery(antisymmetric([0.001, 0.002, -1.0], 3)).tolist() == [1, 0, 0]


def test_of_several_lotteries_it_is_the_most_even():
    assert maximal_lottery(np.zeros((5, 5))) == pytest.approx([0.2] * 5)
    # Two that tie and beat the third: any mixture of the two is one.
    assert maximal_lottery(antisymmetric([0.0, 1.0, 1.0], 3)) == pytest.approx([0.5, 0.5, 0])


@settings(max_examples=2 * settings.default.max_examples)
@given(margins(), st.randoms(use_true_random=False))
def test_nobody_beats_it_it_is_the_most_even_and_names_play_no_part(margin, random):
    p = maximal_lottery(margin)
    assert p.sum() == pytest.approx(1)
    assert (p >= 0).all()
    assert (p @ margin >= -1e-8).all()
    assert p @ p <= _some(margin) @ _some(margin) + 1e-8
    order = random.sample(range(len(p)), len(p))
    assert maximal_lottery(margin[np.ix_(order, order)]) == pytest.approx(p[order], abs=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_the_least_norm_is_that_of_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 7))
    margin = antisymmetric(rng.integers(-1, 2, size=size * (size - 1) // 2) / 2, size)
    rules = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "ineq", "fun": lambda p: p @ margin},
    ]
    best = optimize.minimize(
        lambda p: p @ p, _some(margin), bounds=[(0, 1)] * size, constraints=rules, options={"ftol": 1e-12}
    )
    assert maximal_lottery(margin) == pytest.approx(best.x, abs=1e-4)


def test_random_margins_have_the_one_lottery_that_linear_programming_finds():
    rng = np.random.default_rng(3)
    for size in range(2, 14):
        margin = antisymmetric(rng.normal(size=size * (size - 1) // 2), size)
        assert maximal_lottery(margin) == pytest.approx(_some(margin), abs=1e-7)


def cells(margin_by_block: dict[tuple[int, int], list[float]], entrants: int) -> PairBlocks:
    rows = [(i, j, b, m) for (i, j), values in margin_by_block.items() for b, m in enumerate(values)]
    one, other, block, margin = (np.array(column) for column in zip(*rows, strict=True))
    return pair_blocks(Meetings(one, other, block, margin.astype(float), margin.astype(float)), entrants)


def test_its_draws_vary_as_the_interval_of_the_margin_says():
    values = [1.0, -1.0, 1.0, 1.0, 0.0, 1.0, -1.0, 1.0]
    drawn = drawn_lotteries(cells({(0, 1): values}, 2))
    low, high, support = spread(drawn)
    # One margin of .375 with standard error .324: below 0 about one time in eight.
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])
    assert support[0] == pytest.approx(0.88, abs=0.04)
    assert support[1] == pytest.approx(1 - support[0])


def test_too_few_blocks_say_nothing_of_how_sure_it_is():
    assert drawn_lotteries(cells({(0, 1): [1.0, -1.0, 1.0, 1.0]}, 2)) is None


def test_who_is_below_all_of_a_circle_is_left_out_of_it():
    circle = antisymmetric([1.0, -1.0, 0.01, 1.0, 0.01, 0.01], 4)
    assert maximal_lottery(circle) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert maximal_lottery(circle, any_will_do=True) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


@given(margins(), st.sampled_from([1e-9, 1e-4, 0.3]))
def test_the_size_of_margins_plays_no_part(margin, size):
    assert maximal_lottery(size * margin) == pytest.approx(maximal_lottery(margin), abs=1e-7)
