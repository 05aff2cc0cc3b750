"""Oshi-Zumo agrees with OpenSpiel's telling of it: legal bids, length and result of stored games."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.games.oracles.oshi_zumo import CONFIGS, GAMES, rows
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.replay import replay_states


@pytest.mark.parametrize("index", range(len(CONFIGS) * GAMES))
def test_a_game_goes_as_in_openspiel(index: int) -> None:
    row: Any = rows()[index]
    *states, end = replay_states(OSHI_ZUMO, OshiZumoConfig(**row["config"]), {}, row["steps"])
    for state, ranges in zip(states, row["legal"], strict=True):
        assert [list(state.legal(seat)) for seat in (0, 1)] == [list(range(low, high + 1)) for low, high in ranges]
    assert end.outcome is not None
    assert list(end.outcome.scores) == row["returns"]


def test_the_stored_games_reach_every_ending() -> None:
    endings: Counter[str] = Counter()
    for row in rows():
        *_, end = replay_states(OSHI_ZUMO, OshiZumoConfig(**row["config"]), {}, row["steps"])
        assert end.outcome is not None
        endings[end.outcome.ending] += 1
    assert min(endings[ending] for ending in ("pushout", "coins-exhausted", "round-cap")) >= 10
