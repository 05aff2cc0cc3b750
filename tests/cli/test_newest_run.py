"""RUN may be left out: the newest run of results/ is taken, and named before anything else."""

from __future__ import annotations

import os

import pytest

from tests.cli.runner import weigh

LADDER = """\
seed = {seed}
[games.oshi_zumo]
coins = 6
blocks = 2
[entrants]
first = "match"
second = "random"
"""


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Two ladders, `old` written before `new`, and a single game written last."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("new", "old")):
        (tmp_path / f"{name}.toml").write_text(LADDER.format(seed=number), encoding="utf-8")
        assert weigh("ladder", f"{name}.toml", "--json").code == 0
    assert weigh("play", "oshi_zumo", "match", "random", "--set", "coins=6", "--save", "results/single").code == 0
    for age, name in enumerate(("old", "new", "single")):
        os.utime(tmp_path / "results" / name / "run.sqlite", (1_000_000 + age, 1_000_000 + age))
    return tmp_path / "results"


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        (("rank",), "results/new, the newest ladder"),
        (("report", "-o", "-", "--format", "markdown"), "results/new, the newest ladder"),
        (("audit",), "results/new, the newest ladder"),
        (("verify",), "results/single, the newest run"),
        (("view", "--text"), "results/single, the newest run"),
        (("export", "seats.csv"), "results/single, the newest run"),
    ],
)
def test_the_newest_run_that_a_command_can_read_is_taken_and_named_first(results, words, taken):
    said = weigh(*words)
    assert said.err.splitlines()[0] == taken
    named = taken.partition(",")[0]
    place = (named, *words[1:]) if words[0] != "export" else (named, "again.csv")
    assert weigh(words[0], *place).out == said.out


def test_reading_a_run_does_not_make_it_the_newest(results):
    assert weigh("rank", "results/old").code == 0
    assert weigh("rank").err.splitlines()[0] == "results/new, the newest ladder"


def test_a_run_without_a_file_to_export_to_is_not_taken_for_the_file(results):
    said = weigh("export", "results/old")
    assert said.code == 2
    assert "say where to write" in said.err
    assert weigh("verify", "results/old").code == 0


def test_without_any_run_what_to_do_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ("rank", "report", "audit", "verify", "view"):
        said = weigh(command)
        assert said.code == 2
        assert said.err.count("\n") == 1
        assert "results holds no " in said.err
