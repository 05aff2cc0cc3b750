"""What a claim tells, against entropies known by hand and claims made blindly."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from weigh.harness.audit.claims.ledger import LEAST, PERMUTATIONS, signalling


def games(count: int, claim: str, seed: int = 1) -> tuple[list[int], list[int], list[str]]:
    """Claims of so many games of five weights each."""
    rng = np.random.default_rng(seed)
    true: list[int] = []
    announced: list[int] = []
    episodes: list[str] = []
    for game in range(count):
        weights = list(rng.permutation(5) + 1)
        true += weights
        told = {"true": weights, "mirrored": [6 - w for w in weights], "blind": list(rng.permutation(5) + 1)}
        announced += told.get(claim, [5] * 5)
        episodes += [f"g{game}"] * 5
    return [int(each) for each in true], [int(each) for each in announced], episodes


@pytest.mark.parametrize("claim", ["true", "mirrored"])
def test_claims_that_always_mean_the_same_tell_all_there_is(claim: str) -> None:
    found = signalling(*games(100, claim))
    assert found.plain == pytest.approx(log2(5))
    assert found.most == pytest.approx(log2(5))
    assert found.by_chance == pytest.approx(16 / (2 * 500 * np.log(2)), rel=0.5)  # about (5-1)(5-1)/(2 n ln 2)
    assert found.information == pytest.approx((found.plain or 0) - (found.by_chance or 0))
    assert found.p == 1 / (1 + PERMUTATIONS)


def test_one_claim_for_everything_tells_nothing() -> None:
    found = signalling(*games(100, "always five"))
    assert (found.plain, found.by_chance, found.information, found.p) == (0, 0, 0, 1)


def test_half_a_bit_less_where_two_values_are_never_told_apart() -> None:
    true, _, episodes = games(100, "true")
    announced = [2 if weight == 1 else weight for weight in true]
    found = signalling(true, announced, episodes)
    assert found.plain == pytest.approx(log2(5) - 2 / 5)


def test_blind_claims_tell_nothing_once_chance_is_left_out() -> None:
    found = [signalling(*games(60, "blind", seed)) for seed in range(20)]
    assert np.mean([each.plain or 0 for each in found]) > 0.02
    assert abs(np.mean([each.information or 0 for each in found])) < 0.004
    assert sum((each.p or 0) <= 0.05 for each in found) <= 4


def test_too_few_claims_say_nothing() -> None:
    true, announced, episodes = games(LEAST // 5, "true")
    assert signalling(true, announced, episodes).plain is not None
    few = signalling(true[1:], announced[1:], episodes[1:])
    assert (few.claims, few.plain, few.information, few.p) == (LEAST - 1, None, None, None)


def test_the_order_of_claims_changes_nothing_that_is_not_drawn() -> None:
    true, announced, episodes = games(50, "blind")
    turned = signalling(true[::-1], announced[::-1], episodes[::-1])
    assert turned.plain == pytest.approx(signalling(true, announced, episodes).plain or 0)
