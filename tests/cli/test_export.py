"""`weigh export`: files for other tools."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.cli.runner import config, weigh


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    assert weigh("ladder", config(folder)).code == 0
    return folder / "results" / "s"


@pytest.mark.parametrize(
    ("name", "words", "rows"),
    [
        ("x.jsonl", "", 6),
        ("x.csv", "", 18),
        ("x.parquet", "", 18),
        ("x.jsonl", "--dataset decisions", 72),
        ("x.csv", "--dataset calls", 0),
        ("x.data", "--format csv --dataset voids", 0),
        ("x.json", "--episode goofspiel/b0000/r1", 1),
    ],
)
def test_the_ending_or_the_option_chooses_the_format(run, tmp_path, name, words, rows):
    out = tmp_path / name
    said = weigh("export", run, out, *words.split())
    assert (said.code, said.out) == (0, "")
    assert said.err == f"weigh: {rows} {'row' if rows == 1 else 'rows'} in {out}\n"
    assert out.stat().st_size > 0
    told = weigh("export", run, out, *words.split(), "--json")
    assert (told.json["rows"], told.json["file"], told.err) == (rows, str(out), "")


def test_a_dash_writes_to_standard_output(run, tmp_path):
    out = tmp_path / "x.csv"
    weigh("export", run, out)
    said = weigh("export", run, "-", "--format", "csv")
    assert said.out == out.read_text(encoding="utf-8")
    assert said.err == "weigh: 18 rows in standard output\n"
    assert len(list(csv.DictReader(io.StringIO(said.out)))) == 18


def test_json_of_a_run_with_one_episode_needs_no_name(tmp_path):
    folder = tmp_path / "one"
    weigh("play", "oshi_zumo", "match", "random", "--save", folder)
    said = weigh("export", folder, "-", "--format", "json")
    assert json.loads(said.out)["key"] == "oshi_zumo/play"


@pytest.mark.parametrize(
    ("name", "words", "parts"),
    [
        ("x.json", "", ["has 6 finished episodes", "--episode", "goofspiel/b0000/r0"]),
        ("x.json", "--episode nix", ["no finished episode nix"]),
        ("x.csv", "--dataset records", ["records do not fit into csv"]),
        ("x.csv", "--episode goofspiel/b0000/r0", ["only json holds one episode"]),
        ("x.json", "--dataset seats", ["json holds one record"]),
        ("nowhere/x.csv", "", ["its folder does not exist"]),
    ],
)
def test_what_does_not_go_together_is_one_line_and_writes_nothing(run, tmp_path, name, words, parts):
    weigh("export", run, tmp_path / name, *words.split()).refused(*parts)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_a_file(run, tmp_path):
    weigh("export", run, tmp_path, "--format", "csv").refused(kind="target-is-folder")
    weigh("export", tmp_path, tmp_path / "x.csv").refused(kind="not-a-run")
