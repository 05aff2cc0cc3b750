"""The numpy engine agrees with the rules, move by move, and draws what they would draw."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.games.goofspiel.vectorised import GoofspielGames, random_goofspiel, settle_goofspiel
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.oshi_zumo.vectorised import OshiZumoGames, random_oshi_zumo
from weigh.games.replay import replay

GOOFSPIELS = [
    GoofspielConfig(),
    GoofspielConfig(seats=2, cards=4),
    GoofspielConfig(seats=3, cards=7, max_rounds=5),
    GoofspielConfig(seats=10, cards=13),
    GoofspielConfig(seats=5, cards=13, max_rounds=1),
]
OSHI_ZUMOS = [
    OshiZumoConfig(),
    OshiZumoConfig(coins=4, size=1, min_bid=0),
    OshiZumoConfig(coins=50, size=5, min_bid=0, max_rounds=100),
    OshiZumoConfig(coins=7, size=2, min_bid=2),
    OshiZumoConfig(max_rounds=2),
]


def assert_agrees_with_the_rules(games: GoofspielGames, index: int) -> None:
    deck = games.prizes[index].tolist()
    deck += [prize for prize in range(1, games.config.cards + 1) if prize not in deck]
    state = replay(GOOFSPIEL, games.config, {"prize_order": deck}, games.bids[index].tolist())
    outcome = state.outcome
    assert outcome is not None
    assert [points / games.unit for points in games.points[index].tolist()] == outcome.measures["points"]
    assert games.scores[index].tolist() == pytest.approx([float(score) for score in outcome.scores], abs=1e-15)
    assert games.collusion_index[index].tolist() == outcome.measures["collusion_index"]
    assert games.margins[index].tolist() == [e.data["margin"] for e in state.events if e.kind == "reveal"]


@pytest.mark.parametrize("config", GOOFSPIELS, ids=str)
def test_random_games_of_goofspiel_replay_to_the_same_result(config: GoofspielConfig) -> None:
    games = random_goofspiel(config, 150, np.random.default_rng(5))
    assert games.bids.shape == (150, config.max_rounds, config.seats)
    for index in range(150):
        assert_agrees_with_the_rules(games, index)


def test_given_games_of_goofspiel_replay_to_the_same_result() -> None:
    rng, config = np.random.default_rng(6), GoofspielConfig(seats=4, cards=6)
    prizes = rng.permuted(np.tile(np.arange(1, 7), (60, 1)), axis=1)
    bids = rng.permuted(np.tile(np.arange(1, 7)[:, np.newaxis], (60, 1, 4)), axis=1)
    games = settle_goofspiel(config, prizes, bids)
    assert (games.prizes == prizes).all()
    assert (games.bids == bids).all()
    for index in range(60):
        assert_agrees_with_the_rules(games, index)


@pytest.mark.parametrize("config", OSHI_ZUMOS, ids=str)
def test_random_games_of_oshi_zumo_replay_to_the_same_result(config: OshiZumoConfig) -> None:
    games = random_oshi_zumo(config, 300, np.random.default_rng(7))
    for index in range(300):
        length = int(games.lengths[index])
        state = replay(OSHI_ZUMO, config, {}, games.bids[index, :length].tolist())
        outcome = state.outcome
        assert outcome is not None
        assert not games.bids[index, length:].any()
        assert games.positions[index] == outcome.measures["position"]
        assert games.coins[index].tolist() == outcome.measures["coins"]
        assert games.scores[index].tolist() == list(outcome.scores)
        margins = [event.data["margin"] for event in state.events if event.kind == "reveal"]
        assert games.margins[index].tolist() == margins + [0] * (OSHI_ZUMO.longest(config) - length)


def test_batches_larger_than_a_chunk_are_whole() -> None:
    """The last game of a chunk and the first of the next are as good as any."""
    games = random_goofspiel(GoofspielConfig(seats=2, cards=4), 20_000, np.random.default_rng(1))
    for index in (0, 8191, 8192, 16383, 16384, 19_999):
        assert_agrees_with_the_rules(games, index)
    assert (games.points.sum(axis=1) == 10 * games.unit).all()
    many: OshiZumoGames = random_oshi_zumo(OshiZumoConfig(coins=4), 40_000, np.random.default_rng(1))
    assert (many.lengths >= 1).all()
    assert (many.bids.sum(axis=1) + many.coins == 4).all()


def test_every_order_of_a_hand_is_as_likely_as_another() -> None:
    games = random_goofspiel(GoofspielConfig(seats=2, cards=4), 24_000, np.random.default_rng(2))
    for orders in (games.prizes, games.bids[..., 0], games.bids[..., 1]):
        counts = [int((orders == order).all(axis=1).sum()) for order in permutations(range(1, 5))]
        assert sum(counts) == 24_000
        # 24 cells of 1,000: a chi-square of 60 with 23 degrees of freedom has a chance of 4 in 100,000.
        assert sum((count - 1000) ** 2 / 1000 for count in counts) < 60


def test_a_first_bid_of_oshi_zumo_is_uniform_over_the_purse() -> None:
    games = random_oshi_zumo(OshiZumoConfig(), 40_000, np.random.default_rng(3))
    counts = np.bincount(games.bids[:, 0, 0], minlength=21)
    assert counts[0] == 0
    # 20 cells of 2,000: a chi-square of 52 with 19 degrees of freedom has a chance of 7 in 100,000.
    assert ((counts[1:] - 2000) ** 2 / 2000).sum() < 52


def test_the_same_generator_gives_the_same_games() -> None:
    first, second = (random_goofspiel(GoofspielConfig(), 50, np.random.default_rng(9)) for _ in range(2))
    assert (first.bids == second.bids).all()
    assert (first.prizes == second.prizes).all()


PRIZES: Any = np.array([[1, 2, 3, 4]])
BIDS: Any = np.array([[[1, 2], [2, 1], [3, 4], [4, 3]]])


@pytest.mark.parametrize(
    ("prizes", "bids", "message"),
    [
        (PRIZES, BIDS[:, :3], r"must be \(games, 4\) and \(games, 4, 2\)"),
        (PRIZES[:, :3], BIDS, "must be"),
        (PRIZES, np.where(BIDS == 4, 5, BIDS), "a bid lies outside 1 to 4"),
        (PRIZES - 1, BIDS, "a prize lies outside 1 to 4"),
        (PRIZES, np.where(BIDS == 4, 3, BIDS), "a bid comes twice in one game"),
        (np.where(PRIZES == 4, 3, PRIZES), BIDS, "a prize comes twice in one game"),
    ],
)
def test_games_that_cannot_be_are_refused(prizes: Any, bids: Any, message: str) -> None:
    config = GoofspielConfig(seats=2, cards=4)
    assert len(settle_goofspiel(config, PRIZES, BIDS).points) == 1
    with pytest.raises(ValueError, match=message):
        settle_goofspiel(config, prizes, bids)
