"""Goofspiel's deals, and its states as values."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from weigh.games.game import DealInvalid
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig

FOUR = GoofspielConfig()


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        ({"prize_order": [1, 2, 3, 3]}, "no permutation of 1 to 4: 4 is missing, 3 comes 2 times"),
        ({"prize_order": [1, 2, 3]}, "no permutation of 1 to 4: 4 is missing"),
        ({"prize_order": [1, 2, 3, 5]}, "no permutation of 1 to 4: 4 is missing, 5 is no prize"),
        ({"prize_order": [1, 2, 3, 4, 4]}, "no permutation of 1 to 4: 4 comes 2 times"),
        ({"prize_order": [0, 2, 3, 4]}, "no permutation of 1 to 4: 1 is missing, 0 is no prize"),
        ({"prize_order": [1, 2, 3, 4.0]}, "prize_order holds 4.0: it must hold whole numbers only"),
        ({"prize_order": [True, 2, 3, 4]}, "prize_order holds true"),
        ({"prize_order": ["1", 2, 3, 4]}, 'prize_order holds "1"'),
        ({"prize_order": [[1], 2, 3, 4]}, "prize_order holds [1]"),
        ({"prize_order": "1234"}, 'prize_order is "1234": it must be a list of whole numbers'),
        ({"prize_order": None}, "prize_order is null"),
        ({}, "the deal lacks prize_order"),
        ({"prize_order": [1, 2, 3, 4], "seed": 1}, 'unknown key "seed"'),
        ({"prizeOrder": [1, 2, 3, 4]}, 'unknown key "prizeOrder"'),
        ([1, 2, 3, 4], "the deal is [1, 2, 3, 4]: it must be an object with the key prize_order"),
        (None, "the deal is null"),
    ],
)
def test_a_deal_the_rules_could_not_have_drawn_is_refused(deal: Any, message: str) -> None:
    with pytest.raises(DealInvalid) as error:
        GOOFSPIEL.start(GoofspielConfig(cards=4), deal)
    assert message in str(error.value)


def test_a_deal_of_giants_is_refused_in_short() -> None:
    with pytest.raises(DealInvalid) as error:
        GOOFSPIEL.start(GoofspielConfig(cards=4), {"prize_order": [10**9999] * 100_000})
    assert len(str(error.value)) < 300


def test_deals_are_shuffles_and_every_prize_may_come_first() -> None:
    rng = Random(1)
    deals: list[Any] = [GOOFSPIEL.deal(FOUR, rng)["prize_order"] for _ in range(300)]
    assert all(sorted(deal) == list(range(1, 14)) for deal in deals)
    assert {deal[0] for deal in deals} == set(range(1, 14))
    assert deals[0] != deals[1]
