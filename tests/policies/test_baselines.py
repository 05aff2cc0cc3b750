"""The table of baselines, and each rule on positions that decide it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from weigh.games.game import Move
from weigh.games.goofspiel.rules import hand
from weigh.games.oshi_zumo.rules import purse
from weigh.games.registry import GAMES, UnknownGame
from weigh.policies.scripted.registry import BASELINES, UnknownPolicy, scripted, scripted_names


def move(game: str, policy: str, facts: dict[str, Any], legal: Any, seed: int = 1) -> Move:
    return scripted(game, policy).baseline.rule(facts, legal, Random(seed))


# Goofspiel


@pytest.mark.parametrize(
    ("prize", "cards", "bid"),
    [
        (7, (1, 6, 7, 8), 7),
        (7, (1, 6, 8, 9), 8),
        (7, (1, 6, 13), 13),
        (7, (1, 3, 6), 6),
        (1, (2, 5), 2),
        (13, (1,), 1),
    ],
    ids=["held", "cheapest above", "far above", "highest", "lowest prize", "forced"],
)
def test_match_pays_the_prize_or_the_cheapest_above_or_the_highest(prize: int, cards: Any, bid: int) -> None:
    assert move("goofspiel", "match", {"prize": prize}, hand(sum(1 << card for card in cards))) == bid


@pytest.mark.parametrize(
    ("prize", "deck", "bid"),
    [(1, 13, 2), (7, 13, 2), (8, 13, 11), (13, 13, 11), (2, 4, 2), (3, 4, 11), (3, 5, 2), (4, 5, 11)],
)
def test_hoard_dumps_on_the_lower_half_and_swings_on_the_upper(prize: int, deck: int, bid: int) -> None:
    assert move("goofspiel", "hoard", {"prize": prize, "cards": deck}, hand(1 << 2 | 1 << 5 | 1 << 11)) == bid


# Oshi-Zumo


@pytest.mark.parametrize(
    ("seat", "needed", "coins", "bid"),
    [
        (0, [4, 4], [20, 20], 5),
        (1, [4, 4], [20, 18], 5),
        (0, [1, 7], [9, 3], 9),
        (1, [6, 2], [9, 3], 2),
        (0, [7, 1], [20, 1], 3),
        (0, [7, 1], [0, 5], 0),
        (0, [7, 1], [2, 5], 1),
    ],
)
def test_match_spreads_its_purse_over_the_pushes_needed(
    seat: int, needed: list[int], coins: list[int], bid: int
) -> None:
    facts = {"seat": seat, "pushes_needed": needed, "coins": coins}
    assert move("oshi_zumo", "match", facts, purse(1, coins[seat])) == bid


def test_match_is_clamped_to_the_least_bid() -> None:
    facts = {"seat": 0, "pushes_needed": [7, 1], "coins": [6, 6]}
    assert move("oshi_zumo", "match", facts, purse(2, 6)) == 2


@pytest.mark.parametrize(
    ("seat", "needed", "coins", "bid"),
    [
        (0, [4, 4], [20, 20], 1),
        (0, [7, 1], [17, 4], 9),
        (1, [1, 7], [17, 4], 2),
        (1, [7, 1], [17, 4], 1),
        (0, [7, 1], [0, 4], 0),
        (0, [6, 2], [0, 4], 0),
    ],
)
def test_hoard_saves_until_it_is_one_loss_from_defeat(seat: int, needed: list[int], coins: list[int], bid: int) -> None:
    facts = {"seat": seat, "pushes_needed": needed, "coins": coins}
    assert move("oshi_zumo", "hoard", facts, purse(1, coins[seat])) == bid


# random


@pytest.mark.parametrize("game", GAMES)
def test_random_plays_every_game_uniformly_from_its_own_stream(game: str) -> None:
    rules = GAMES[game]
    config = rules.config_type()
    state = rules.start(config, rules.deal(config, Random(1)))
    seat = min(state.to_act)
    facts, legal = state.observe(seat, [f"P{n}" for n in range(rules.seat_count(config))]).facts, state.legal(seat)
    bids = [move(game, "random", dict(facts), legal, seed) for seed in range(400)]
    assert all(bid in legal for bid in bids)
    assert len({repr(bid) for bid in bids}) > min(len(legal), len(bids)) // 2
    assert bids[:50] == [move(game, "random", dict(facts), legal, seed) for seed in range(50)]


# The table


def test_names_are_listed_own_first() -> None:
    assert scripted_names("goofspiel") == ("match", "hoard", "random")
    assert scripted_names("oshi_zumo") == ("match", "hoard", "random")
    assert scripted_names("half_hearted_step") == ("forager", "spoiler", "stand", "random")


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_its_fallback_among_its_baselines(game: str) -> None:
    assert GAMES[game].fallback in scripted_names(game)
    policy = scripted(game, GAMES[game].fallback)
    assert (policy.name, policy.game) == (GAMES[game].fallback, game)


def test_the_table_names_games_that_exist() -> None:
    assert set(BASELINES) <= set(GAMES)


def test_digests_are_pinned() -> None:
    """A digest stands in records: it changes exactly when a baseline's version is raised."""
    assert {game: scripted(game, "match").digest[:12] for game in ("goofspiel", "oshi_zumo")} == {
        "goofspiel": "5da3574a9521",
        "oshi_zumo": "200f96aaa48a",
    }


def test_an_unknown_policy_names_the_nearest_and_all() -> None:
    with pytest.raises(UnknownPolicy) as error:
        scripted("goofspiel", "mach")
    assert str(error.value) == (
        "goofspiel has no scripted policy \"mach\"; did you mean 'match'? (policies: match, hoard, random)"
    )


def test_an_unknown_game_is_named() -> None:
    for ask in (lambda: scripted("chess", "match"), lambda: scripted_names("chess")):
        with pytest.raises(UnknownGame, match='there is no game "chess"'):
            ask()
