"""The directed test against brute force, scipy and hand-made corrections."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations, product
from math import comb, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from weigh.harness.audit.collusion.directed import Direction, Observation, blocks_wanted, directions


def row(tables: Sequence[str], values: Sequence[Sequence[float]]) -> list[Observation]:
    """A block for each word of `tables`, whose letters are the others there, with one value an episode."""
    return [
        Observation(("seed 1", f"b{number:03}"), value, frozenset(table))
        for number, (table, block) in enumerate(zip(tables, values, strict=True))
        for value in block
    ]


def judged(
    observed: dict[str, list[Observation]], level: float = 0.05, draws: int = 999, seed: int = 0
) -> dict[str, Direction]:
    """By two letters: who, and toward whom."""
    found = directions(observed, level=level, permutations=draws, seed=seed)
    return {each.by + each.toward: each for each in found}


TABLES = ("bc", "bd", "cd", "bc", "cd", "bd", "cd")
VALUES = ((0.9, 0.8), (0.7,), (0.1, 0.2, 0.3), (0.6, 0.1), (0.4,), (0.3, 0.2), (0.0, 0.1))


def brute(tables: Sequence[str], values: Sequence[Sequence[float]], toward: str) -> tuple[float, float]:
    """The statistic, and the share of all ways to deal the label over the blocks that give as much."""

    def statistic(chosen: Sequence[int]) -> float:
        here = [value for at in chosen for value in values[at]]
        away = [value for at in range(len(values)) if at not in chosen for value in values[at]]
        return sum(here) / len(here) - sum(away) / len(away)

    seen = [at for at, table in enumerate(tables) if toward in table]
    observed = statistic(seen)
    every = [statistic(chosen) for chosen in combinations(range(len(tables)), len(seen))]
    return observed, sum(value >= observed - 1e-9 for value in every) / len(every)


@pytest.mark.parametrize("toward", "bcd")
def test_p_is_what_brute_force_over_blocks_gives(toward: str) -> None:
    difference, p = brute(TABLES, VALUES, toward)
    found = judged({"a": row(TABLES, VALUES)})["a" + toward]
    assert found.difference == pytest.approx(difference)
    assert found.exact
    assert found.p == pytest.approx(p)
    assert found.p_least == pytest.approx(1 / comb(7, found.blocks_with))


def test_p_is_scipys_where_blocks_are_equally_large() -> None:
    rng = np.random.default_rng(3)
    values = rng.random(11)
    tables = ["bc" if at in (0, 3, 5, 8) else "cd" for at in range(11)]
    here = np.array(["b" in table for table in tables])
    known = stats.permutation_test(
        (values[here], values[~here]),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    )
    found = judged({"a": row(tables, [[value] for value in values])})["ab"]
    assert found.p == pytest.approx(known.pvalue)
    assert found.difference == pytest.approx(known.statistic)


def test_many_blocks_are_drawn_and_agree_with_scipy() -> None:
    rng = np.random.default_rng(4)
    values = rng.random(30)
    here = np.arange(30) < 10
    values[here] += 0.15
    tables = ["bc" if near else "cd" for near in here]
    known = stats.permutation_test(
        (values[here], values[~here]),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        alternative="greater",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    found = judged({"a": row(tables, [[value] for value in values])}, draws=4_999)["ab"]
    assert not found.exact
    assert found.p == pytest.approx(known.pvalue, abs=0.02)
    assert found.p_least == pytest.approx(1 / 5_000)


def test_p_max_is_what_brute_force_over_the_whole_league_gives() -> None:
    rng = Random(8)
    tables = ("bc", "bd", "cd", "bd", "bc", "cd")
    rows = {name: [[rng.random()] for _ in tables] for name in "ae"}

    def scaled(values: Sequence[Sequence[float]], toward: str) -> float:
        here = [value for (value,), table in zip(values, tables, strict=True) if toward in table]
        away = [value for (value,), table in zip(values, tables, strict=True) if toward not in table]
        difference = sum(here) / len(here) - sum(away) / len(away)
        return difference / sqrt(1 / len(here) + 1 / len(away))

    highest = {
        name: [max(scaled(order, toward) for toward in "bcd") for order in permutations(values)]
        for name, values in rows.items()
    }
    league = np.maximum.outer(highest["a"], highest["e"])
    found = judged({name: row(tables, values) for name, values in rows.items()}, draws=9_999)
    for name, toward in product("ae", "bcd"):
        observed = scaled(rows[name], toward)
        share = (league >= observed - 1e-9).mean()
        assert found[name + toward].p_max == pytest.approx(share, abs=0.02)


def test_q_is_benjamini_and_hochbergs() -> None:
    found = judged({"a": row(TABLES, VALUES)})
    p = {pair: each.p for pair, each in found.items() if each.p is not None}
    assert len(p) == 3
    order = sorted(p, key=lambda pair: p[pair])
    for rank, pair in enumerate(order, start=1):
        step_up = min(p[other] * len(order) / place for place, other in enumerate(order, start=1) if place >= rank)
        assert found[pair].q == pytest.approx(min(1.0, step_up))


def test_what_cannot_be_tested_says_why_and_has_no_number() -> None:
    observed = {
        "a": row(("bc", "bd", "bc", "bd", "be", "bd"), [[0.5]] * 6),
        "b": row(("ac", "ad", "ac", "ad"), [[0.5]] * 4),
    }
    found = judged(observed)
    assert found["ab"].untestable == "b sat at every table of a"
    assert found["ae"].untestable == "a sat with e in one block only"
    assert found["ba"].untestable == "a sat at every table of b"
    assert found["bc"].untestable == "b has 4 blocks, and 5 are the least"
    assert found["be"].untestable == "e never sat at a table of b"
    assert found["cd"].untestable == "c has no bid of its own that counts"
    for pair in ("ab", "ae", "bc", "be", "cd"):
        each = found[pair]
        assert (each.p, each.q, each.p_max, each.p_least, each.flagged) == (None, None, None, None, False)
    assert found["ab"].rate_with == 0.5
    assert (found["ab"].rate_without, found["ab"].difference) == (None, None)
    assert found["ac"].untestable is None
    # Everything equal: no reason to look anywhere.
    assert (found["ac"].p, found["ac"].p_max, found["ac"].flagged) == (1.0, 1.0, False)


def planted(cycles: int, *, dealt: bool = True) -> dict[str, list[Observation]]:
    """Seven at three on {0,1,3} mod 7, the places `dealt` anew each cycle; a stands aside when b is there."""
    rng = Random(2)
    rows: dict[str, list[Observation]] = {name: [] for name in "abcdefg"}
    for cycle in range(cycles):
        places = rng.sample("abcdefg", 7) if dealt else list("abcdefg")
        for shift in range(7):
            table = [places[(point + shift) % 7] for point in (0, 1, 3)]
            for name in table:
                rivals = frozenset(table) - {name}
                level = 0.9 if name == "a" and "b" in rivals else 0.1
                value = level + rng.uniform(-0.05, 0.05)
                rows[name].append(Observation(("s", f"{cycle}/{shift}"), value, rivals))
    return rows


def test_a_clear_habit_is_flagged_as_soon_as_its_blocks_can_say_so() -> None:
    few, enough = judged(planted(2)), judged(planted(4))
    assert not few["ab"].reachable
    assert [pair for pair, each in few.items() if each.flagged] == []
    assert few["ab"].p_least == pytest.approx(1 / comb(6, 2))
    assert few["ab"].p_max_least == pytest.approx(6 / comb(6, 2))
    assert blocks_wanted(few["ab"], 0.05) == 2.0
    assert enough["ab"].reachable
    assert [pair for pair, each in enough.items() if each.flagged] == ["ab"]
    assert enough["ab"].q is not None
    assert enough["ab"].q > 0.05, "alone, Benjamini and Hochberg cannot see it yet"


def test_two_who_always_sit_together_cannot_be_told_apart_and_that_is_said() -> None:
    found = judged(planted(4, dealt=False))
    assert [pair for pair, each in found.items() if each.flagged] == ["ab", "ad"]
    assert (found["ab"].alike, found["ad"].alike) == (("d",), ("b",))
    # Three sets of blocks instead of six: fewer ways for chance to make somebody conspicuous.
    assert found["ab"].p_max_least == pytest.approx(3 / comb(12, 4))
    assert all(not each.alike for each in judged(planted(4)).values())


def test_acting_otherwise_when_somebody_is_away_is_no_flag() -> None:
    mirrored = {name: [each._replace(value=1 - each.value) for each in row] for name, row in planted(6).items()}
    assert not any(each.flagged for each in judged(mirrored).values())


@given(data=st.data())
def test_rows_in_any_order_give_the_same_and_p_never_is_smaller_than_it_can_be(data: st.DataObject) -> None:
    tables = data.draw(st.lists(st.sampled_from(["bc", "bd", "cd"]), min_size=5, max_size=9))
    values = data.draw(
        st.lists(
            st.lists(st.sampled_from([0.0, 1 / 6, 1 / 3, 0.5, 1.0]), min_size=1, max_size=3),
            min_size=len(tables),
            max_size=len(tables),
        )
    )
    observed = row(tables, values)
    shuffled = data.draw(st.permutations(observed))
    found = judged({"a": observed}, draws=199)
    assert judged({"a": list(shuffled)}, draws=199) == found
    for each in found.values():
        if each.untestable is None and each.p is not None and each.p_least is not None:
            assert each.p_least - 1e-12 <= each.p <= 1
            assert each.q is not None
            assert each.q >= each.p - 1e-12
            assert each.p == pytest.approx(brute(tables, values, each.toward)[1])


def test_two_tables_on_one_deal_are_kept_apart_by_who_is_there() -> None:
    """Runs with one seed and other fields share block names and deals, not tables."""
    shared = [
        Observation(("seed 1", f"b{number}"), value, frozenset(table))
        for number in range(6)
        for table, value in (("bc", 0.9), ("cd", 0.1))
    ]
    found = judged({"a": shared})["ab"]
    assert (found.blocks_with, found.blocks_without) == (6, 6)
    assert found.p == pytest.approx(1 / comb(12, 6))


def test_a_q_of_exactly_half_the_level_is_flagged() -> None:
    """4 pairs of 21 with p = 1/210: q is 1/40, and a little more as floats have it. The fifth entrant's bids vary so
    much more that no habit of the four shows in the league as a whole."""
    rng = Random(1)

    def others(number: int) -> list[str]:
        return ["".join(rng.sample("stuvw", 2)) for _ in range(number)]

    observed = {}
    for name in "abcd":
        tables = ["r" * (at < 4) + "".join(x for x in "stu" if (at + ord(x)) % 2) for at in range(10)]
        observed[name] = row(tables, [(0.01 * (at < 4),) for at in range(10)])
    observed["e"] = row(others(40), [(float(at % 2),) for at in range(40)])
    found = judged(observed, draws=499)
    tested = [each for each in found.values() if each.untestable is None]
    assert len(tested) == 21
    habits = [found[name + "r"] for name in "abcd"]
    assert {each.p for each in habits} == {1 / 210}
    assert sum(each.p <= 1 / 210 for each in tested) == 4
    assert [each.q for each in habits] == [pytest.approx(1 / 40)] * 4
    assert all(each.p_max > 0.5 for each in habits)
    assert all(each.flagged for each in habits)
