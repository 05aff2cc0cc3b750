"""A league of games: all five on one config, each ranked by itself, one number only when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import ROOT, weigh
from weigh.games.registry import GAMES
from weigh.harness.config.config import load_config
from weigh.harness.results import load

LEAGUE = """
name = "league"
seed = 3
[games.goofspiel]
seats = 3
cards = 5
blocks = 5
[games.oshi_zumo]
coins = 8
blocks = 18
[games.ballast]
blocks = 18
[games.persistent_calibration]
seats = 3
blocks = 5
[games.half_hearted_step]
blocks = 18
"""


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("league")
    order = folder / "league.toml"
    order.write_text(LEAGUE, encoding="utf-8")
    said = weigh("ladder", order, "--json")
    assert said.code == 0, said.err
    return folder / "results" / "league"


def test_every_game_is_ranked_by_itself_and_no_number_is_blended_unasked(league: Path) -> None:
    said = weigh("rank", league, "--json").json
    assert [game["game"] for game in said["games"]] == sorted(GAMES)
    assert "macro_average" not in said
    assert "macro average" not in weigh("rank", league).out
    for game in said["games"]:
        scores = [standing["mean"] * standing["episodes"] for standing in game["standings"]]
        assert sum(scores) == pytest.approx(0.0, abs=1e-9)


def test_each_games_own_yardsticks_take_part_and_what_only_stands_aside_does_not(league: Path) -> None:
    said = weigh("rank", league, "--json").json
    fields = {game["game"]: {standing["entrant"] for standing in game["standings"]} for game in said["games"]}
    assert fields == {
        "goofspiel": {"match", "hoard", "random"},
        "oshi_zumo": {"match", "hoard", "random"},
        "ballast": {"steady", "bluffer", "random"},
        "persistent_calibration": {"spread", "loyal", "random"},
        "half_hearted_step": {"forager", "spoiler", "random"},
    }


def test_the_macro_average_when_asked_puts_every_game_on_the_scale_of_its_scripted_entrants(league: Path) -> None:
    said = weigh("rank", league, "--equal-weight", "--json").json
    # Only `random` plays all five games, and it is 0 on the scale of each.
    (row,) = said["macro_average"]
    assert (row["entrant"], row["mean"], row["interval"]) == ("random", 0.0, [0.0, 0.0])
    assert row["by_game"] == dict.fromkeys(sorted(GAMES), 0.0)
    assert "random" in weigh("rank", league, "--equal-weight").out.splitlines()[-1]


@pytest.mark.slow
def test_measures_of_every_game_are_shown_with_their_meaning(league: Path) -> None:
    said = weigh("rank", league, "--measures", "--json").json["measures"]
    assert set(said) == set(GAMES)
    assert said["ballast"]["entrants"]["bluffer"]["lie_rate"] == 1.0
    assert said["ballast"]["entrants"]["steady"]["lie_rate"] == 0.0
    assert said["persistent_calibration"]["entrants"]["loyal"]["loyalty"] == 1.0
    lines = weigh("rank", league, "--measures").out.splitlines()
    assert any("lie_rate: share of its claims that are false" in line for line in lines)
    for game, measured in said.items():
        for values in measured["entrants"].values():
            assert set(values) == set(measured["meanings"]), game


def test_measures_and_equal_weight_do_not_fit_every_format(league: Path) -> None:
    weigh("rank", league, "--measures", "--format", "csv").refused("--measures", "csv")
    weigh("rank", league, "--equal-weight", "--format", "markdown").refused("--equal-weight", "markdown")


@pytest.mark.slow
def test_all_games_of_a_league_re_derive(league: Path) -> None:
    said = weigh("verify", league, "--json")
    assert said.code == 0
    assert said.json["records"] == 5 * 3 + 18 * 2 + 18 * 2 + 5 * 3 + 18 * 2


@pytest.mark.parametrize("name", ["league.toml", "ladder.toml"])
def test_the_examples_are_valid_configs(name: str) -> None:
    order = load_config(ROOT / "examples" / name)
    assert order.games
    if name == "league.toml":
        assert {entry.game.name for entry in order.games} == set(GAMES)
        for game in GAMES:
            assert "plain" in {spec.name for spec in order.playing(game)}


@pytest.mark.slow
def test_measures_are_exported_with_their_meaning(league: Path, tmp_path: Path) -> None:
    said = weigh("export", league, tmp_path / "measures.jsonl", "--dataset", "measures")
    assert said.code == 0, said.err
    rows = [json.loads(line) for line in (tmp_path / "measures.jsonl").read_text(encoding="utf-8").splitlines()]
    shown = weigh("rank", league, "--measures", "--json").json["measures"]
    assert rows
    for row in rows:
        assert shown[row["game"]]["entrants"][row["entrant"]][row["measure"]] == row["value"]
        assert shown[row["game"]]["meanings"][row["measure"]] == row["meaning"]
    assert load(league).measures["value"].tolist() == [row["value"] for row in rows]
