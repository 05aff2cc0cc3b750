"""`weigh audit`: what it says, how it ends, and what it hands on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import config, weigh
from tests.harness.audit.collusion.leagues import HONEST, PLANTED, SEVEN, League
from weigh.harness.gate.rematch import ReplaySpec

TWO_GAMES = """\
seed = 3
[games.goofspiel]
seats = 3
cards = 4
blocks = 2
[games.oshi_zumo]
blocks = 3
[games.persistent_calibration]
seats = 3
blocks = 4
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    PLANTED.into(place / "planted")
    HONEST.into(place / "honest")
    League(SEVEN, blocks=14, run="few").into(place / "few")
    League(("ann", "bob", "cat"), blocks=2, cards=5, run="part").into(place / "part", played=5)
    League(("ann", "bob", "cat"), blocks=2, cards=5, run="none").into(place / "none", played=0)
    return place


def test_the_forms_hold_the_same_audit(folder):
    said = weigh("audit", folder / "planted", "--json")
    assert (said.code, said.err) == (0, "")
    document = said.json
    assert document["schema_version"] == 2
    assert document["settings"] == {"fdr": 0.05, "permutations": 4999, "threshold": 0.5, "seed": 0}
    (game,) = document["games"]
    (flag,) = game["flagged"]
    assert (flag["by"], flag["toward"]) == ("ann", "bob")
    assert weigh("audit", folder / "planted", "--format", "json") == said
    table = weigh("audit", folder / "planted")
    assert table.code == 0
    first = table.out.splitlines()[0]
    assert first.startswith("goofspiel ")
    assert "ann -> bob" in first
    assert f"{flag['difference']:+.1%}" in table.out
    episode = flag["gain"]["rounds"][0]["episode"]
    assert f"weigh view {folder / 'planted'} --episode {episode}" in table.out
    page = weigh("audit", folder / "planted", "--format", "markdown").out
    assert "84 of 84 episodes, 28 blocks" in page
    assert "| ann | bob | " in page


def test_the_same_command_says_the_same_and_another_seed_draws_anew(folder):
    said = weigh("audit", folder / "honest", "--json")
    assert weigh("audit", folder / "honest", "--json") == said
    other = weigh("audit", folder / "honest", "--seed", 1, "--json").json["games"][0]
    first = said.json["games"][0]
    assert [each["p"] for each in other["directions"]] == [each["p"] for each in first["directions"]]
    assert [each["p_max"] for each in other["directions"]] != [each["p_max"] for each in first["directions"]]


def test_a_flag_is_no_failure_unless_asked_for(folder):
    assert weigh("audit", folder / "planted").code == 0
    assert weigh("audit", folder / "planted", "--fail-on-flag").code == 1
    assert weigh("audit", folder / "honest", "--fail-on-flag").code == 0


def test_fail_on_flag_does_not_pass_what_could_not_be_flagged(folder):
    said = weigh("audit", folder / "few", "--fail-on-flag")
    assert said.code == 3
    assert said.err == "weigh: no pair could have been flagged, so --fail-on-flag proves nothing\n"
    assert said.out.startswith("goofspiel   no pair could have been flagged")
    assert weigh("audit", folder / "few").code == 0


def test_a_stricter_level_flags_less(folder):
    assert weigh("audit", folder / "planted", "--fdr", "0.01", "--json").json["games"][0]["flagged"] == []


def test_the_threshold_is_the_one_asked_for(folder):
    game = weigh("audit", folder / "planted", "--threshold", "0.05", "--permutations", "99", "--json").json["games"][0]
    assert any(each["high_share"] > 0 for each in game["index"])
    assert weigh("audit", folder / "planted", "--threshold", "0.05", "--permutations", "99", "--wide").out.count(
        "with 0.05 or more"
    )


def test_listed_rounds_are_capped(folder):
    assert "more rounds: --rounds" in weigh("audit", folder / "planted", "--rounds", 2).out
    assert "taken by" not in weigh("audit", folder / "planted", "--rounds", 0).out


def test_a_partial_run_says_how_much_of_it_there_is(folder):
    said = weigh("audit", folder / "part")
    assert said.code == 0
    assert "5 of 6 episodes" in said.out
    assert said.err == f"{folder / 'part'}: interrupted\n"


def test_nothing_to_audit_ends_with_3(folder, tmp_path):
    said = weigh("audit", folder / "none")
    assert said.code == 3
    assert said.err.splitlines()[-1] == "weigh: nothing to audit: no episode of goofspiel is finished"
    assert "0 of 6 episodes" in said.out
    (game,) = weigh("audit", folder / "none", "--json").json["games"]
    assert (game["index"], game["not_applicable"]) == (None, "no episode of it is finished")


def test_other_games_are_named_and_several_runs_are_one(tmp_path):
    assert weigh("ladder", config(tmp_path, TWO_GAMES)).code == 0
    said = weigh("audit", tmp_path / "results" / "s")
    assert said.code == 0
    for game in ("oshi_zumo", "persistent_calibration"):
        assert any(line.startswith(f"{game}   not applicable: ") for line in said.out.splitlines())
    games = {game["game"]: game for game in weigh("audit", tmp_path / "results" / "s", "--json").json["games"]}
    assert games["oshi_zumo"]["index"] is None
    assert games["oshi_zumo"]["side_correlations"] is None
    sides: list[dict[str, Any]] = games["persistent_calibration"]["side_correlations"]
    assert sides
    assert all(-1 <= each["correlation"] <= 1 for each in sides if each["correlation"] is not None)
    assert weigh("ladder", config(tmp_path, TWO_GAMES), "--name", "again", "--seed", "4").code == 0
    both = weigh("audit", tmp_path / "results" / "s", tmp_path / "results" / "again", "--json").json["games"]
    assert [(game["episodes"], game["blocks"]) for game in both if game["game"] == "goofspiel"] == [(12, 4)]


def test_what_is_no_run_is_one_line(folder, tmp_path):
    weigh("audit", tmp_path).refused(kind="not-a-run")
    weigh("audit", folder / "part", folder / "part").refused(kind="given-twice")
    weigh("audit", folder / "part", "--fdr", "0").refused("must be a number above 0, at most 1, not 0")
    weigh("audit", folder / "part", "--permutations", "5").refused("a whole number from 99")
    for words in (("--pair", "ann:bob"), ("--replace-with", "match"), ("--name", "x")):
        weigh("audit", folder / "part", *words).refused(words[0], "only with --replay-shuffled")


class Replayed:
    """Stands in for the replay, which has its own tests."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.more: dict[str, object] = {}

    def __call__(self, spec: ReplaySpec, follow: object, note: object, *, quiet: bool) -> Replayed:
        self.pairs = list(spec.pairs)
        self.more = {"replace_with": spec.replace_with, "name": spec.name, "json": quiet}
        return self

    code = 3
    answers: tuple[()] = ()
    folder = Path("results")

    def to_json(self) -> dict[str, object]:
        return {}


@pytest.fixture
def replayed(monkeypatch):
    stand_in = Replayed()
    monkeypatch.setattr("weigh.harness.gate.rematch.replay", stand_in)
    return stand_in


def test_the_flagged_pairs_are_replayed_unless_others_are_named(folder, replayed):
    words = ("audit", folder / "planted", "--replay-shuffled", "league.toml")
    said = weigh(*words, "--replace-with", "match", "--name", "again", "--json")
    assert (said.code, replayed.pairs) == (3, [("ann", "bob")])
    assert replayed.more == {"replace_with": "match", "name": "again", "json": True}
    assert weigh(*words, "--pair", "cat:dan", "--pair", "eve:ann", "--pair", "cat:dan").code == 3
    assert replayed.pairs == [("cat", "dan"), ("eve", "ann")]


def test_a_pair_that_cannot_be_replayed_is_refused(folder, replayed):
    words = ("audit", folder / "honest", "--replay-shuffled", "league.toml")
    weigh(*words).refused("--pair I:J", kind="nothing-flagged")
    weigh(*words, "--pair", "ann").refused(kind="not-a-pair")
    weigh(*words, "--pair", "ann:bobb").refused('no entrant "bobb"', "'bob'")
    weigh(*words, "--pair", "ann:ann").refused(kind="not-a-pair")
    assert replayed.pairs == []
    said = weigh("audit", folder / "none", "--replay-shuffled", "league.toml")
    assert said.code == 3


def test_names_with_colons_are_told_apart(replayed, tmp_path):
    names = ("m:a", "m", "a:m", "bob")
    League(names, blocks=4, cards=5).into(tmp_path / "run")
    words = ("audit", tmp_path / "run", "--replay-shuffled", "league.toml", "--pair")
    assert weigh(*words, "m:a:bob").code == 3
    assert replayed.pairs == [("m:a", "bob")]
    weigh(*words, "m:a:m").refused("2 ways")


def test_every_pair_and_the_index_by_parts_are_wide(folder):
    short, wide = (weigh("audit", folder / "honest", *words).out for words in ((), ("--wide",)))
    tested = weigh("audit", folder / "honest", "--json").json["games"][0]["tested"]
    rows = [line for line in wide.splitlines() if line.count("%") == 3]
    assert len(rows) == tested
    assert "in reach" in wide
    assert "in reach" not in short
    assert len(short.splitlines()) <= 16
    # What the statistic cannot see is said on every call.
    assert "second-lowest card" in short
