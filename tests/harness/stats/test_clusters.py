"""Decisions over floats that stand for exact numbers: neither the number of blocks nor an order of sums makes them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.config.designs import KNOWN_BASES, design
from weigh.harness.stats.clustered import (
    at_most,
    cluster_mean,
    components,
    estimate,
    laplacian_inverse,
    levelled,
    zeroed,
)

MOST_BLOCKS = 400
SMALL = [(entrants, seats) for entrants in range(2, 14) for seats in range(2, min(entrants, 10) + 1)]
FULL = [(seats, seats) for seats in range(11, 27)]
EVERY = sorted({*product(range(2, 31), range(2, 11)), *KNOWN_BASES})
"""Up to ten seats (Goofspiel) and thirty entrants, and the large fields that have an exact design of their own."""


@cache
def tables(entrants, seats):
    """tables x entrants: 1 for who sits there, in the order they are played."""
    plan = design(entrants, seats)
    sits = np.zeros((len(plan.tables), entrants))
    for row, table in zip(sits, plan.tables, strict=True):
        row[list(table)] = 1
    return sits


def weights(entrants, seats, blocks):
    """Episodes in which two entrants sat together, over seats: each block plays one table in every rotation."""
    sits = tables(entrants, seats)
    times = np.bincount(np.arange(blocks) % len(sits), minlength=len(sits))
    met = (sits.T * times) @ sits
    np.fill_diagonal(met, 0.0)
    return met


def errors(entrants, seats, blocks):
    """How far the inverse is from one: of L V, which is I - J/n over those who met, and for a balanced schedule of the
    adjusted means less the means, both worked out from scores of -1..1 that sum to 0 at every table."""
    weight = weights(entrants, seats, blocks)
    inverse, group = laplacian_inverse(weight), components(weight)
    alike = group[:, None] == group
    laplacian = np.diag(weight.sum(axis=1)) - weight
    found = [np.abs(laplacian @ inverse - np.eye(entrants) + alike / alike.sum(axis=1)).max()]
    plan, sits = design(entrants, seats), tables(entrants, seats)
    if plan.exact and blocks % len(sits) == 0:
        played = sits * np.random.default_rng(blocks).uniform(-1, 1, (blocks // len(sits), *sits.shape)) * seats
        scored = (played - sits * (played.sum(axis=2) / seats)[:, :, None]).sum(axis=(0, 1)) / 2
        count = blocks * seats * seats / entrants
        scale = (1 - 1 / seats) * entrants / (entrants - 1)
        found.append(np.abs(scale * inverse @ scored - scored / count).max())
    return max(found)


def worst(sizes, blocks):
    return max((errors(*size, count), size, count) for size in sizes for count in blocks)


def test_the_inverse_is_one_at_every_number_of_blocks_of_a_full_table():
    assert worst([(seats, seats) for seats in (2, 3, 5, 6, 10, 13)], range(1, MOST_BLOCKS + 1))[0] < 1e-12


@pytest.mark.slow
def test_the_inverse_is_one_for_every_design_at_a_dense_sample_of_blocks():
    assert worst(SMALL + FULL, [*range(1, 27), 39, 78, 91, 140, 156, 260, 273, 364, 399, 400])[0] < 1e-12
    assert worst([size for size in EVERY if size[0] > 13 and size[1] in (2, 4)], [1, 30, 377])[0] < 1e-12


@pytest.mark.slow
def test_the_inverse_is_one_for_every_design_at_every_number_of_blocks():
    sizes = [(entrants, seats) for entrants, seats in EVERY if seats <= entrants]
    assert worst(sizes + FULL, range(1, MOST_BLOCKS + 1))[0] < 1e-12


def played(entrants, seats, blocks, seed=1, spread=0.3):
    """Entrant, episode, block and score of each seat-episode: scores are 70ths less their mean at the table."""
    rng = np.random.default_rng(seed)
    lines = [np.flatnonzero(row) for row in tables(entrants, seats)]
    table = np.array([np.roll(lines[b % len(lines)], -turn) for b in range(blocks) for turn in range(seats)])
    raw = np.round(rng.uniform(-spread, spread, table.shape) * 70 + 70 * 0.02 * table) / 70
    score = raw - raw.mean(axis=1, keepdims=True)
    episode = np.repeat(np.arange(len(table)), seats)
    return table.ravel(), episode, episode // seats, score.ravel()


def assert_balanced(entrants, seats, blocks):
    found = estimate(*played(entrants, seats, blocks), entrants)
    assert found.linked
    assert found.even
    assert found.adjusted == pytest.approx(found.mean, abs=1e-12)
    assert found.adjusted_half_width == pytest.approx(found.half_width, abs=1e-12, nan_ok=True)
    assert found.adjusted_freedom == pytest.approx(found.freedom, rel=1e-11, nan_ok=True)
    assert np.isnan(found.half_width).all() == (blocks < 2)


@pytest.mark.parametrize("seats", [2, 3, 5, 6, 10, 13])
def test_at_full_tables_adjusted_means_and_intervals_are_those_of_the_means(seats):
    for blocks in [1, 2, 3, 5, 12, 51, *([140, 197, 328, 400] if seats < 6 else [])]:
        assert_balanced(seats, seats, blocks)


@pytest.mark.parametrize(
    ("entrants", "seats"), [size for size in SMALL if size[0] > size[1] and design(*size).exact and size[0] < 12]
)
def test_in_whole_cycles_of_an_exact_design_adjusted_means_and_intervals_are_those_of_the_means(entrants, seats):
    assert_balanced(entrants, seats, len(tables(entrants, seats)))
    assert_balanced(entrants, seats, 3 * len(tables(entrants, seats)))


@pytest.mark.slow
def test_three_at_three_seats_are_even_at_every_number_of_blocks():
    for blocks in range(1, MOST_BLOCKS + 1):
        assert_balanced(3, 3, blocks)


def test_entrants_that_nobody_links_are_solved_apart():
    weight = np.zeros((5, 5))
    weight[0, 1] = weight[1, 0] = 3e6
    weight[2, 3] = weight[3, 2] = 0.5
    assert components(weight).tolist() == [0, 0, 1, 1, 2]
    inverse = laplacian_inverse(weight)
    assert inverse[:2, :2] == pytest.approx(np.array([[1, -1], [-1, 1]]) / 4 / 3e6, rel=1e-12)
    assert inverse[2:4, 2:4] == pytest.approx(np.array([[1, -1], [-1, 1]]) / 4 / 0.5, rel=1e-12)
    assert not inverse[4].any()
    assert not inverse[:2, 2:].any()


UNEVEN = [(9, 4, 11), (6, 4, 7), (5, 2, 13), (8, 3, 29), (3, 3, 41)]


def told(found):
    """All that is said of each entrant: entrants x numbers."""
    columns = (found.mean, found.half_width, found.freedom, found.adjusted, found.adjusted_half_width, found.strength)
    return np.column_stack([*columns, found.adjusted_freedom])


@pytest.mark.parametrize(("entrants", "seats", "blocks"), UNEVEN)
def test_estimates_do_not_depend_on_the_order_of_rows(entrants, seats, blocks):
    rows = played(entrants, seats, blocks)
    order = np.random.default_rng(3).permutation(len(rows[0]))
    one, other = (estimate(*(part[o] for part in rows), entrants) for o in (slice(None), order))
    assert told(other) == pytest.approx(told(one), rel=1e-9, abs=1e-12)
    assert (one.even, one.linked) == (other.even, other.linked)


@pytest.mark.parametrize(("entrants", "seats", "blocks"), UNEVEN)
def test_estimates_do_not_depend_on_the_names_of_entrants_episodes_and_blocks(entrants, seats, blocks):
    entrant, episode, block, score = played(entrants, seats, blocks)
    rng = np.random.default_rng(4)
    new, again, deal = (rng.permutation(int(part.max()) + 1) for part in (entrant, episode, block))
    one = estimate(entrant, episode, block, score, entrants)
    other = estimate(new[entrant], again[episode], deal[block], score, entrants)
    assert told(other)[new] == pytest.approx(told(one), rel=1e-9, abs=1e-12)
    assert (one.even, one.linked) == (other.even, other.linked)


@pytest.mark.parametrize(("entrants", "seats", "blocks"), UNEVEN)
@pytest.mark.parametrize("times", [3, 28])
def test_the_same_blocks_again_change_no_mean_and_divide_variances(entrants, seats, blocks, times):
    entrant, episode, block, score = played(entrants, seats, blocks)
    one = estimate(entrant, episode, block, score, entrants)
    copy = np.repeat(np.arange(times), len(entrant))
    many = (np.tile(part, times) for part in (entrant, episode, block, score))
    entrant, episode, block, score = many
    other = estimate(entrant, episode + copy * (episode.max() + 1), block + copy * (block.max() + 1), score, entrants)
    for name in ("mean", "adjusted", "strength"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-12)
    assert one.even == other.even
    if entrants == seats:
        variances = [(found.adjusted_influence**2).sum(axis=0) for found in (one, other)]
        assert variances[1] == pytest.approx(variances[0] * (blocks - 1) / (times * blocks - 1), rel=1e-9)


@given(
    st.lists(st.fractions(-1, 1, max_denominator=60), min_size=2, max_size=40),
    st.randoms(use_true_random=False),
)
def test_sums_in_any_order_come_to_one_level(parts, random):
    """Half of the parts and their opposites: a mean of exactly 0, and a mean that two orders of sums give."""
    floats = [float(part) for part in parts]
    shuffled = random.sample(floats, len(floats))
    one, other = sum(floats) / len(floats), sum(shuffled) / len(floats)
    nothing = sum(random.sample([*floats, *(-value for value in floats)], 2 * len(floats))) / len(floats)
    level = levelled(np.array([one, nothing, np.nan, other]))
    assert level[0] == level[3] == pytest.approx(float(sum(parts) / Fraction(len(parts))))
    assert level[1] == 0
    assert np.isnan(level[2])


@given(st.lists(st.fractions(-1, 1, max_denominator=1000), min_size=1, max_size=20))
def test_levels_keep_the_order_of_different_means(means):
    level = levelled(np.array([float(mean) for mean in means]))
    for one, other in product(range(len(means)), repeat=2):
        assert (level[one] < level[other]) == (means[one] < means[other])


def test_there_are_no_levels_of_no_means():
    assert levelled(np.array([])).tolist() == []
    assert np.isnan(levelled(np.array([np.nan, np.nan]))).all()


def test_equal_means_rank_alike_beside_a_step_of_rounding():
    """1/1024 is a tie of round(..., 9): either half of it, by the last bit."""
    mean = 1 / 1024
    one, other = np.nextafter(mean, 1), np.nextafter(mean, 0)
    assert round(one, 9) != round(other, 9)
    assert levelled(np.array([one, other]))[0] == levelled(np.array([other, one]))[0]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_a_value_is_at_most_a_bound_that_rounding_alone_puts_below_it(scale):
    assert at_most(scale * (0.1 + 0.2), scale * 0.3)
    assert at_most(scale * 0.3, scale * (0.1 + 0.2))
    assert not at_most(scale * 0.3001, scale * 0.3)
    assert at_most(-scale * 0.3, -scale * (0.1 + 0.2))
    assert not at_most(-scale * 0.2999, -scale * 0.3)


def test_what_cancels_is_zero_and_needs_a_scale_to_be_told():
    assert zeroed(np.array([0.1 + 0.2 - 0.3, -1e-3, np.nan])).tolist()[:2] == [0.0, -1e-3]
    assert not at_most(0.1 + 0.2 - 0.3, 0.0)
    assert at_most(0.1 + 0.2 - 0.3, 0.0, 1.0)


def test_a_mean_of_blocks_that_cancel_is_zero_without_error():
    score = np.tile([0.1, 0.2, -0.3], 40)
    assert score.sum() != 0
    assert cluster_mean(score, np.repeat(np.arange(40), 3)) == (0.0, 0.0)
