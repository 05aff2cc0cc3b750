"""`weigh rank`: the ladder of runs, for people and for programs."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tests.cli.runner import SCRIPTED, config, weigh
from weigh.harness.report.sections.ladder_table import ALL
from weigh.harness.store.store import Store


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two ladders that differ by name only, one with another seed, and one that was stopped."""
    place = tmp_path_factory.mktemp("runs")
    order = config(place)
    for words in ((), ("--name", "again"), ("--name", "other", "--seed", 4)):
        assert weigh("ladder", order, *words).code == 0
    assert weigh("ladder", order, "--name", "none", "--max-seconds", "0.000001").code == 4
    return place / "results"


def test_the_formats_hold_the_same_ladder(folder):
    said = weigh("rank", folder / "s", "--json")
    assert (said.code, said.err) == (0, "")
    (game,) = said.json["games"]
    names = [standing["entrant"] for standing in game["standings"]]
    assert sorted(names) == ["hoard", "match", "random"]
    assert weigh("rank", folder / "s", "--format", "json") == said
    rows = list(csv.DictReader(io.StringIO(weigh("rank", folder / "s", "--format", "csv").out)))
    assert [row["entrant"] for row in rows] == names
    assert [float(row["mean"]) for row in rows] == [standing["mean"] for standing in game["standings"]]
    table = weigh("rank", folder / "s").out.splitlines()
    assert table[0].startswith("goofspiel  ")
    assert table[2].split()[:4] == ["rank", "entrant", "mean", "95%"]
    assert [line.split()[1] for line in table[3:6]] == names
    assert [line.split()[1] for line in weigh("rank", folder / "s", "--wide").out.splitlines()[2:5]] == names
    latex = weigh("rank", folder / "s", "--format", "latex").out.splitlines()
    assert [line.split(" & ")[1] for line in latex[5:8]] == names
    assert weigh("rank", folder / "s", "--format", "markdown").out.startswith("### goofspiel: 6 of 6 episodes")


def test_the_help_names_every_column():
    words = re.split(r"[\s,.]+", weigh("rank", "--help").out)
    assert {field.name.lower() for field in ALL} <= set(words)


def test_columns_are_shown_as_asked_for(folder):
    table = weigh("rank", folder / "s", "--columns", "mean,blocks,rank").out.splitlines()
    assert table[0] == "goofspiel"
    assert table[1].split() == ["entrant", "mean", "blocks", "rank"]
    latex = weigh("rank", folder / "s", "--columns", "rank,blocks", "--format", "latex").out.splitlines()
    assert latex[3] == r"rank & entrant & blocks \\"


def test_a_pipe_gets_every_column_whatever_the_width(folder):
    assert weigh("rank", folder / "s", "--wide", environ={"COLUMNS": "40"}) == weigh("rank", folder / "s", "--wide")


def test_two_ladders_that_differ_by_name_only_are_no_more_evidence_than_one(folder):
    once = weigh("rank", folder / "s", "--json").json["games"][0]
    both = weigh("rank", folder / "s", folder / "again", "--json").json["games"][0]
    assert (both["episodes"], both["blocks"]) == (12, once["blocks"])
    for one, two in zip(once["standings"], both["standings"], strict=True):
        assert two["interval"] == pytest.approx(one["interval"])
        assert two["rank_interval"] == one["rank_interval"]
    assert "shared_deals" in [caveat["kind"] for caveat in both["warnings"]]
    apart = weigh("rank", folder / "s", folder / "other", "--json").json["games"][0]
    assert apart["blocks"] == 2 * once["blocks"]


def test_the_same_run_twice_is_refused(folder):
    weigh("rank", folder / "s", folder / "s").refused(kind="given-twice")


def test_runs_of_one_game_under_different_configs_are_not_read_as_one(folder, tmp_path):
    large = config(tmp_path, SCRIPTED.replace("cards = 4", "cards = 6"))
    assert weigh("ladder", large).code == 0
    both = (folder / "s", tmp_path / "results" / "s")
    for command in ("rank", "report"):
        said = weigh(command, *both, *(["-o", tmp_path / "r.md"] if command == "report" else []))
        said.refused(f"{both[0]} and {both[1]} play goofspiel under different configs", ": cards 4 and 6, ")
    for option in ("--head-to-head", "--ratings", "--json", "--measures"):
        weigh("rank", *both, option).refused(kind="other-config")
    assert not (tmp_path / "r.md").exists()


def test_c01_no_finished_episode_ranks_nobody(folder):
    said = weigh("rank", folder / "none")
    assert said.code == 4
    assert said.err.splitlines()[-1] == "weigh: no episode was finished, so nothing is ranked"
    assert weigh("rank", folder / "none", "--json").code == 4


def test_o05_a_partial_run_is_ranked_and_says_how_much_of_it_there_is_and_why(tmp_path, monkeypatch):
    from weigh.harness.run.limits import Brake

    kept = Brake.check
    steps = iter(range(1000))

    def check(self):
        if next(steps) > 10:
            self.pull("interrupted", "interrupted")
        kept(self)

    monkeypatch.setattr(Brake, "check", check)
    assert weigh("ladder", config(tmp_path, SCRIPTED + "[limits]\nepisodes_in_flight = 1\n")).code == 130
    said = weigh("rank", tmp_path / "results" / "s")
    assert said.code == 0
    assert "2 of 6 episodes are finished" in said.out.splitlines()[0]
    assert said.err == f"{tmp_path / 'results' / 's'}: interrupted\n"


def test_a_run_that_is_still_written_is_ranked_and_says_so(folder, tmp_path):
    import shutil

    copy = tmp_path / "s"
    shutil.copytree(folder / "s", copy)
    with Store.open(copy) as store:
        store.set_status("running")
        assert weigh("rank", copy).err == f"{copy}: running\n"


def test_what_is_no_run_is_one_line(folder, tmp_path):
    weigh("rank", tmp_path).refused(kind="not-a-run")
    weigh("rank", config(tmp_path)).refused(kind="not-a-run")
    weigh("rank", folder / "s", tmp_path / "x").refused(kind="not-a-run")
    (tmp_path / "run.sqlite").write_bytes(b"not a database at all" * 100)
    weigh("rank", tmp_path).refused("run.sqlite")


def test_fallback_options_reach_the_ladder(folder):
    strict = weigh("rank", folder / "s", "--max-fallback-rate", "0", "--without-fallbacks", "--json").json
    assert (strict["max_fallback_rate"], strict["fallback_episodes"]) == (0, "left out")


def test_ratings_and_head_to_head_add_keys_to_the_document_and_tables_below_the_ladder(folder):
    plain = weigh("rank", folder / "s", "--json").json
    assert not {"ratings", "head_to_head"} & plain.keys()
    document = weigh("rank", folder / "s", "--ratings", "--head-to-head", "--json").json
    assert {key: document[key] for key in plain} == plain
    (board,), (met,) = document["ratings"], document["head_to_head"]
    names = [standing["entrant"] for standing in plain["games"][0]["standings"]]
    assert [row["entrant"] for row in board["rows"]] == names == met["entrants"]
    assert [row["mean"] for row in board["rows"]] == [s["mean"] for s in plain["games"][0]["standings"]]
    assert sum(row["elo"] for row in board["rows"]) == pytest.approx(3000)
    assert len(met["pairs"]) == 6
    assert weigh("rank", folder / "s", "--ratings", "--json").json.keys() == plain.keys() | {"ratings"}
    assert weigh("rank", folder / "s", "--head-to-head", "--json").json.keys() == plain.keys() | {"head_to_head"}
    ladder, table = (weigh("rank", folder / "s", *words).out for words in ((), ("--ratings", "--head-to-head")))
    assert table.startswith(ladder)
    assert "goofspiel: a second board, 6 episodes in the order of the schedule" in table[len(ladder) :]
    assert "goofspiel: who beats whom" in table[len(ladder) :]


def test_ratings_and_head_to_head_as_markdown_and_not_as_csv(folder):
    said = weigh("rank", folder / "s", "--ratings", "--head-to-head", "--format", "markdown")
    assert said.code == 0
    assert said.out.startswith(weigh("rank", folder / "s", "--format", "markdown").out)
    assert "### goofspiel: a second board" in said.out
    assert "### goofspiel: who beats whom" in said.out
    for option in ("--ratings", "--head-to-head"):
        weigh("rank", folder / "s", option, "--format", "csv").refused(option, "use --json")


def test_ratings_and_head_to_head_of_several_runs_and_of_none_finished(folder):
    both = weigh("rank", folder / "s", folder / "again", "--head-to-head", "--ratings", "--json").json
    assert both == weigh("rank", folder / "again", folder / "s", "--head-to-head", "--ratings", "--json").json
    once = weigh("rank", folder / "s", "--head-to-head", "--json").json["head_to_head"][0]["pairs"]
    for one, two in zip(once, both["head_to_head"][0]["pairs"], strict=True):
        assert (two["episodes"], two["blocks"]) == (2 * one["episodes"], one["blocks"])
    none = weigh("rank", folder / "none", "--ratings", "--head-to-head", "--json")
    assert none.code == 4
    assert (none.json["ratings"][0]["rows"], none.json["head_to_head"][0]["pairs"]) == ([], [])
    assert "no scored episode" in weigh("rank", folder / "none", "--ratings", "--head-to-head").out
