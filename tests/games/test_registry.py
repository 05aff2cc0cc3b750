"""Games by name and by config: what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from weigh.games.game import ConfigInvalid
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.registry import GAMES, UnknownGame, game_named, read_config


def test_games_are_listed_by_their_own_names() -> None:
    assert GAMES["goofspiel"] is GOOFSPIEL
    assert GAMES["oshi_zumo"] is OSHI_ZUMO
    assert [game.name for game in GAMES.values()] == list(GAMES)
    assert game_named("goofspiel") is GOOFSPIEL


@pytest.mark.parametrize(
    ("name", "hint"),
    [("goofspeil", "'goofspiel'"), ("Goofspiel", "'goofspiel'"), ("oshi-zumo", "'oshi_zumo'"), ("x" * 9999, "xx…")],
)
def test_an_unknown_game_names_the_nearest_and_all(name: str, hint: str) -> None:
    with pytest.raises(UnknownGame) as error:
        game_named(name)
    assert hint in str(error.value)
    assert "(games: goofspiel, oshi_zumo" in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("name", [None, 7, ["goofspiel"], ""])
def test_what_is_no_name_is_an_unknown_game(name: object) -> None:
    with pytest.raises(UnknownGame, match="there is no game"):
        game_named(name)


def test_defaults_are_written_out_and_reload_equal() -> None:
    for game, fields, whole in [
        (GOOFSPIEL, {}, {"seats": 4, "cards": 13, "max_rounds": 13}),
        (GOOFSPIEL, {"cards": 5}, {"seats": 4, "cards": 5, "max_rounds": 5}),
        (GOOFSPIEL, {"seats": 2, "max_rounds": 3}, {"seats": 2, "cards": 13, "max_rounds": 3}),
        (OSHI_ZUMO, {}, {"coins": 20, "size": 3, "min_bid": 1, "max_rounds": 20}),
        (OSHI_ZUMO, {"coins": 7, "min_bid": 0}, {"coins": 7, "size": 3, "min_bid": 0, "max_rounds": 7}),
    ]:
        config = read_config(game, fields)
        assert config.model_dump() == whole
        assert config.model_dump(mode="json") == whole
        assert read_config(game, config.model_dump()) == config


BOUNDS = [
    ("goofspiel", "seats", 2, 10),
    ("goofspiel", "cards", 4, 13),
    ("oshi_zumo", "coins", 4, 50),
    ("oshi_zumo", "size", 1, 5),
    ("oshi_zumo", "min_bid", 0, 2),
]


@pytest.mark.parametrize(("name", "field", "low", "high"), BOUNDS)
def test_a_field_out_of_bounds_names_field_value_and_bound(name: str, field: str, low: int, high: int) -> None:
    game = game_named(name)
    for fine in (low, high):
        assert getattr(read_config(game, {field: fine}), field) == fine
    for value in (low - 1, high + 1):
        with pytest.raises(ConfigInvalid) as error:
            read_config(game, {field: value})
        assert str(error.value) == f"{name} config: {field} is {value}: it must be a whole number from {low} to {high}"


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("goofspiel", {"max_rounds": 14}, "max_rounds is 14: it must be at most cards, which is 13"),
        ("goofspiel", {"cards": 5, "max_rounds": 6}, "max_rounds is 6: it must be at most cards, which is 5"),
        ("goofspiel", {"max_rounds": 0}, "max_rounds is 0: it must be a whole number of at least 1"),
        ("oshi_zumo", {"max_rounds": 41}, "max_rounds is 41: it must be at most twice the coins, which is 40"),
        ("goofspiel", {"seats": True}, "seats is true: it must be a whole number from 2 to 10"),
        ("goofspiel", {"seats": "4"}, 'seats is "4": it must be a whole number from 2 to 10'),
        ("goofspiel", {"seats": 4.0}, "seats is 4.0: it must be a whole number from 2 to 10"),
        ("goofspiel", {"seats": None}, "seats is null: it must be a whole number from 2 to 10"),
        ("goofspiel", {"card": 5}, "unknown key \"card\"; did you mean 'cards'? (keys: seats, cards, max_rounds)"),
        ("oshi_zumo", {"seats": 2}, 'unknown key "seats"'),
        ("goofspiel", {"seats": 1, "cards": 99}, "seats is 1: it must be a whole number from 2 to 10; cards is 99:"),
        ("goofspiel", {5: 1}, "the key 5 is not text"),
    ],
)
def test_a_wrong_config_is_one_line_that_says_what_to_mend(name: str, fields: Any, message: str) -> None:
    with pytest.raises(ConfigInvalid) as error:
        read_config(game_named(name), fields)
    assert str(error.value).startswith(f"{name} config: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("fields", [None, [], "seats", 4])
def test_a_config_that_is_no_object_is_refused(fields: Any) -> None:
    with pytest.raises(ConfigInvalid, match="it must be an object of fields"):
        read_config(GOOFSPIEL, fields)


def test_configs_are_frozen() -> None:
    for config in (GoofspielConfig(), OshiZumoConfig()):
        with pytest.raises(ValueError, match="frozen"):
            config.max_rounds = 1


def test_a_config_of_many_faults_is_still_one_short_line() -> None:
    with pytest.raises(ConfigInvalid) as error:
        read_config(GOOFSPIEL, {f"key{number}": number for number in range(2000)})
    assert str(error.value).endswith("; and 1995 more")
    assert len(str(error.value)) < 1000
