"""`weigh games` and `weigh policies`."""

from __future__ import annotations

import pytest

from tests.cli.runner import weigh
from weigh.games.registry import GAMES
from weigh.harness.config.prompt_files import packaged_words
from weigh.policies.scripted.registry import scripted_names


def test_games_are_listed_with_seats_config_keys_and_fallback():
    said = weigh("games")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(GAMES)
    (goofspiel,) = [line for line in lines if line.startswith("goofspiel ")]
    assert "2-10" in goofspiel
    assert "cards (13)" in goofspiel
    assert "  match  " in goofspiel


def test_games_as_json_hold_every_config_key_with_its_bounds():
    listed = {game["game"]: game for game in weigh("games", "--json").json}
    assert list(listed) == list(GAMES)
    for name, game in listed.items():
        assert set(game["config"]) == set(GAMES[name].config_type.model_fields)
        assert game["seats"] == [GAMES[name].seats.start, GAMES[name].seats.stop - 1]
    cards = listed["goofspiel"]["config"]["cards"]
    assert (cards["default"], cards["minimum"], cards["maximum"]) == (13, 4, 13)


def test_every_policy_and_every_built_in_prompt_is_listed():
    rows = weigh("policies", "--json").json
    for name, game in GAMES.items():
        scripted = {row["policy"]: row for row in rows if row["kind"] == "scripted" and row["game"] == name}
        assert set(scripted) == set(scripted_names(name))
        assert [row["policy"] for row in scripted.values() if row["fallback"]] == [game.fallback]
    assert {row["policy"] for row in rows if row["kind"] == "prompt"} == set(packaged_words())
    assert all(row["description"] for row in rows if row["kind"] == "prompt")


def test_policies_say_how_a_prompt_is_played():
    said = weigh("policies")
    assert said.code == 0
    assert "PROMPT.md@provider:model" in said.out
    assert "match" in said.out


@pytest.mark.parametrize("name", ["games", "policies"])
def test_lists_in_a_pipe_have_one_line_a_row(name):
    said = weigh(name, environ={"COLUMNS": "30"})
    rows = len(weigh(name, "--json").json)
    assert (
        len([line for line in said.out.splitlines() if line and not line.startswith(("A prompt", "game ", "policy "))])
        == rows
    )
