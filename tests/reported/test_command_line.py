"""How public harnesses misled the people and the CI jobs that ran them, and how `weigh` answers."""

from __future__ import annotations

import asyncio
import re
import threading
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import ROOT, SCRIPTED, config, documents, weigh
from tests.reported.ladders import kept, play
from weigh.harness.cli.app import run
from weigh.harness.providers.mock_server import MockServerProcess, Options
from weigh.harness.results import load
from weigh.harness.run.opening import PACKAGES


@pytest.fixture(scope="module")
def server() -> Iterator[MockServerProcess]:
    with MockServerProcess(Options(log_size=20)) as going:
        yield going


def test_C02_a_ladder_that_was_played_ends_with_0_whoever_lost(tmp_path: Path) -> None:
    lost = weigh("ladder", config(tmp_path, SCRIPTED))
    assert lost.code == 0
    assert "-0." in lost.out
    assert weigh("ladder", config(tmp_path, "seed = -1\n" + SCRIPTED.partition("\n")[2])).code == 2
    assert weigh("rank", tmp_path / "nowhere").code == 2


def test_C02_every_code_a_command_may_end_with_is_documented() -> None:
    shown = " ".join(weigh("--help").out.split())
    assert (
        "Exit codes: 0 fine; 1 the checked thing is wrong; 2 bad usage, config or input; 3 inconclusive; 4 invalid"
        in shown
    )
    assert "130 interrupted" in shown
    for command in ("play", "ladder", "rank", "verify", "resolve", "read", "export", "doctor", "mock-server"):
        assert "Exit codes: 0 " in weigh(command, "--help").out


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("name = on", ["text stands in quotes: name = on"]),
        ("baselines = no", ["text stands in quotes: baselines = no"]),
        ("name = 1.10", ["name: must be text, not 1.1; put it in quotes"]),
        ("seed = 012", ["no zeros in front", "stands in quotes: seed = 012"]),
        ("seed = 12:30", ["stands in quotes: seed = 12:30"]),
        ("seed = 1e3", ["seed: must be a whole number, not 1000.0"]),
        ("name = 12:30:00", ["name: must be text, not the date or time 12:30:00; put it in quotes"]),
        ("seed = 1\nseed = 2", ["x.toml:2: ", "for the second time: seed = 2"]),
        ("limits.decision_timeout = 12:30", ["stands in quotes: limits.decision_timeout = 12:30"]),
        ("games.oshi_zumo.coins = 1\ngames.oshi_zumo.coins = 2", ["for the second time: games.oshi_zumo.coins = 2"]),
    ],
)
def test_C05_what_a_config_makes_of_a_word_is_never_a_surprise(tmp_path: Path, line: str, parts: list[str]) -> None:
    weigh("ladder", config(tmp_path, f"{line}\n[games.goofspiel]\n", "x.toml")).refused("x.toml:", *parts)
    assert documents(tmp_path) == [tmp_path / "x.toml"]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["play", "goofspiel", "python bot.py", "match"], ['"python bot.py" is no entrant (a program cannot play)']),
        (["play", "goofspiel", "match random"], ['"match random" is one word with a space in it']),
        (["play", "goofspiel match random"], ['"goofspiel match random" is one word to weigh: leave out its quotes']),
        (["play goofspiel match random"], ["is one word to weigh: leave out its quotes"]),
        (["ladder ladder.toml"], ['"ladder ladder.toml" is one word to weigh: leave out its quotes']),
    ],
)
def test_C08_several_words_in_one_pair_of_quotes_are_told_as_that(words: list[str], parts: list[str]) -> None:
    weigh(*words).refused(*parts)


def test_C08_a_config_is_held_to_the_same_words(tmp_path: Path) -> None:
    text = '[games.goofspiel]\n[entrants]\na = "python bot.py"\nb = "match random"\n'
    said = weigh("ladder", config(tmp_path, text))
    assert said.code == 2
    first, second = said.err.splitlines()
    assert 'entrants.a: "python bot.py" is no entrant (a program cannot play)' in first
    assert 'entrants.b: "match random" is one word with a space in it' in second


def in_a_cell(*words: str) -> int:
    async def cell() -> int:
        return run(words)

    return asyncio.run(cell())


def in_a_thread(*words: str) -> int:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(run(words)), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    return codes[0]


@pytest.mark.parametrize("place", [in_a_cell, in_a_thread])
@pytest.mark.parametrize("words", ["ladder s.toml", "play goofspiel match random match match", "doctor s.toml"])
def test_C16_what_plays_is_refused_at_once_inside_another_loop_or_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: object, words: str
) -> None:
    config(tmp_path, SCRIPTED)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a coroutine that was never awaited, say
        assert callable(place)
        assert place(*words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "weigh.ladder(CONFIG)" in said.err
    assert "weigh.play(GAME, ENTRANTS)" in said.err
    assert documents(tmp_path) == [tmp_path / "s.toml"]


def test_C16_results_are_read_inside_a_running_loop(tmp_path: Path) -> None:
    assert weigh("ladder", config(tmp_path, SCRIPTED)).code == 0

    async def cell() -> int:
        return len(load(tmp_path / "results" / "s").seats)

    assert asyncio.run(cell()) == 18


def test_C19_every_dependency_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in project["dependencies"]:
        assert re.search(r">=[0-9.]+,<[0-9.]+$", package), package


def test_C19_versions_are_told_at_the_start_and_kept_with_the_run(server: MockServerProcess, tmp_path: Path) -> None:
    said = play(tmp_path, server)
    with kept(tmp_path) as store:
        versions = store.manifest.versions
    assert {"python", "weigh", "anthropic", "openai"} <= set(versions) <= {"python", *PACKAGES}
    told = dict(part.split(" ") for part in said.err.splitlines()[0].split(", "))
    assert told == dict(versions)


@pytest.mark.parametrize(("sampling", "sent"), [(", temperature = 0.0", 0.0), (", temperature = 2.0", 2.0), ("", None)])
def test_C22_a_temperature_of_0_is_sent_and_none_is_not(
    server: MockServerProcess, tmp_path: Path, sampling: str, sent: float | None
) -> None:
    assert play(tmp_path, server, sampling=sampling).code == 0
    assert {entry["body"].get("temperature") for entry in server.log()} == {sent}


def test_C22_no_replay_means_none(server: MockServerProcess, tmp_path: Path) -> None:
    said = play(tmp_path, server, {"nth": 1, "do": "respond", "status": 503, "headers": {"x-should-retry": "false"}})
    assert said.code == 4
    assert "1 of 2 episodes are void" in said.err
    assert server.stats()["requests"] == 1 + 4
