"""The rulebooks: true for every config, tight, and with a goal that is the score the rules settle."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from weigh.games.ballast.rules import BALLAST, BallastConfig
from weigh.games.checks import rulebook_text
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION, PersistentCalibrationConfig
from weigh.games.registry import GAMES

LONGEST = {"ballast": 535}
"""Words. Ballast keeps the text its author wrote, whole, and needs rulings beside it."""


@pytest.mark.parametrize("name", GAMES)
def test_a_rulebook_is_filled_and_tight(name: str) -> None:
    game = GAMES[name]
    text = game.rulebook(game.config_type())
    assert text.startswith("# ")
    assert "$" not in text
    assert len(text.split()) <= LONGEST.get(name, 290)


def test_goofspiel_in_the_default_config() -> None:
    text = GOOFSPIEL.rulebook(GoofspielConfig())
    for line in (
        "4 players bid cards for prizes in 13 rounds.",
        "the cards 1 to 13, one of each.",
        "Only the order of the prizes to come is unknown.",
        "you score (4 × s − 1) / 3. Winning every prize is +1, the equal share of 1/4 is 0, winning nothing is −1/3.",
    ):
        assert line in text


def test_goofspiel_in_a_variant() -> None:
    text = GOOFSPIEL.rulebook(GoofspielConfig(seats=2, cards=5, max_rounds=1))
    for line in (
        "2 players bid cards for prizes in 1 round.",
        "the cards 1 to 5, one of each.",
        "the game ends before the deck does.",
        "Only which of the other prizes come up, and in what order, is unknown.",
        "After 1 round.",
        "you score (2 × s − 1) / 1.",
        "winning nothing is −1.",
    ):
        assert line in text
    assert "13" not in text


def test_oshi_zumo_in_the_default_config() -> None:
    text = OSHI_ZUMO.rulebook(OshiZumoConfig())
    for line in (
        "cells 0 to 6; the token is on the middle cell, 3.",
        "Each has 20 coins",
        "up to what they have, and at least 1; a player without coins bids 0.",
        "20 rounds have been played",
        "above 3 the player who pushes up wins, below 3 the player who pushes down, on 3 it is a draw.",
        "A win is +1, a loss is −1, a draw is 0 for both.",
    ):
        assert line in text


def test_oshi_zumo_in_variants() -> None:
    text = OSHI_ZUMO.rulebook(OshiZumoConfig(coins=9, size=5, min_bid=0, max_rounds=1))
    for line in (
        "cells 0 to 10;",
        "middle cell, 5.",
        "Each has 9 coins",
        "what they have, or 0.",
        "1 round has been played",
    ):
        assert line in text
    assert "and at least 2, or all they have if that is less." in OSHI_ZUMO.rulebook(OshiZumoConfig(min_bid=2))


def test_ballast_in_the_default_config_is_the_authors_text_to_the_letter() -> None:
    text = BALLAST.rulebook(BallastConfig())
    authors, rulings = text.removeprefix("# Ballast\n\n").split("\n\n**Rulings.**\n")
    assert sha256(authors.encode()).hexdigest() == "0d1cc61b6bac912b727b19cac6e9343fa26c799d1415b8f2567eff5787ae019b"
    assert authors.startswith("Ballast is a game for two players.\n\nEach player starts with 5 weights.")
    assert rulings.endswith("The highest mean score over many games.")


def test_ballast_in_a_variant() -> None:
    text = BALLAST.rulebook(BallastConfig(weights=2, scales=4))
    for line in (
        "Each player starts with 2 weights. The weights are 1 and 2.",
        "players have the same 2 weights.",
        "There are 4 scales. The scales are numbered 0, 1, 2 and 3.",
        "announce a value from 1 to 2.",
    ):
        assert line in text
    assert "5" not in text


def test_persistent_calibration_in_the_default_config() -> None:
    text = PERSISTENT_CALIBRATION.rulebook(PersistentCalibrationConfig())
    for line in (
        "13 players put weights on three balance scales",
        "Before rounds 1 and 4 everyone gets the weights 1, 2 and 3.",
        "**Each of the 6 rounds.**",
        "Scales, weights and points of the others stay secret to the end.",
        "If you submit no legal move, you lose your lowest weight",
        "Awards do not count: the ladder scores only (players beaten − players who beat you) / 12",
        "4 Tokens of Life (two winners 2 each, more 1 each)",
        "Elimination Candidate",
        "Every full 6 points earn a garnet.",
    ):
        assert line in text
    assert "modify" not in text


def test_persistent_calibration_speaks_of_garnets_where_some_can_be_spent() -> None:
    def rules(**fields: Any) -> str:
        return PERSISTENT_CALIBRATION.rulebook(PersistentCalibrationConfig(seats=2, **fields))

    assert "Everyone starts with 1 garnet." in rules(starting_garnets=1)
    assert "Everyone starts with 4 garnets." in rules(starting_garnets=4)
    assert "by up to 2, for 1 garnet each, within 1 to 3" in rules(starting_garnets=4)
    assert "by 1 for 1 garnet, within 1 to 3" in rules(starting_garnets=4, max_garnets_per_round=1)
    assert "Scales, weights, garnets and points of the others stay secret" in rules(starting_garnets=4)
    assert "Players hold garnets, each in secret." in rules(starting_garnets=(0, 1))
    for none in ({"starting_garnets": 4, "max_garnets_per_round": 0}, {"starting_garnets": (0, 0)}):
        assert rules(**none).count("garnet") == 1  # as an award


@pytest.mark.parametrize("name", GAMES)
def test_a_rulebook_says_what_happens_to_a_player_without_a_legal_move(name: str) -> None:
    text = GAMES[name].rulebook(GAMES[name].config_type())
    assert "No legal" in text
    assert "two attempts" in text


def test_the_sentences_of_goofspiel_and_half_hearted_step_are_of_one_reading() -> None:
    assert "bids one card from their own hand" in GOOFSPIEL.rulebook(GoofspielConfig())
    step = GAMES["half_hearted_step"]
    told = "You may stay, but not two turns in a row, and never leave the board."
    assert told in step.rulebook(step.config_type())


def test_a_value_without_a_blank_and_a_blank_without_a_value_are_errors() -> None:
    with pytest.raises(KeyError, match="no blank for players"):
        rulebook_text("oshi_zumo", players=2)
    with pytest.raises(KeyError, match="last"):
        rulebook_text("oshi_zumo", coins=20)
