"""Wrong command lines and unusable input: one clear line, exit code 2, and nothing made."""

from __future__ import annotations

import pytest

from tests.cli.runner import config, documents, weigh
from weigh.harness.cli.app import COMMANDS
from weigh.harness.run.signals import onward


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("plya", ["no such command 'plya'", "Did you mean 'play'", "`weigh --help`"]),
        ("play", ["missing argument 'GAME'", "`weigh play --help`"]),
        ("play goofspiel", ["missing argument 'ENTRANT...'"]),
        ("play goofspiel match match --sead 1", ["no such option: --sead", "--seed", "`weigh play --help`"]),
        ("play goofspiel match match --seed", ["--seed", "requires an argument"]),
        ("play goofspiel match match --seed -1", ["--seed: must be a whole number of at least 0, not -1"]),
        ("play goofspiel match match --seed 1_0", ["--seed: must be a whole number of at least 0, not 1_0"]),
        ("play goofspiel match match --seed 7.0", ["--seed: must be a whole number of at least 0, not 7.0"]),
        (
            "play goofspiel match match --style shema",
            ['--style: "shema" is none of its values', "did you mean 'schema'"],
        ),
        ("play goofspiel match match --temperature 3", ["--temperature: must be a number from 0 to 2, not 3"]),
        ("play goofspiel match match --max-tokens 0", ["--max-tokens: must be a whole number of at least 1, not 0"]),
        ("ladder", ["missing argument 'CONFIG.toml'"]),
        ("ladder nowhere.toml", ["nowhere.toml: no such file"]),
        ("ladder x.toml --max-usd 0", ["--max-usd: must be a number above 0, not 0"]),
        ("ladder x.toml --max-calls 0", ["--max-calls: must be a whole number of at least 1, not 0"]),
        ("rank nowhere", ["nowhere does not exist"]),
        ("rank x --format xml", ['--format: "xml" is none of its values; known: table, markdown, latex, csv, json']),
        ("rank x --max-fallback-rate 1.5", ["must be a number from 0 to 1, not 1.5"]),
        ("resolve", ["missing argument 'FILE|-'"]),
        ("resolve nowhere.json", ["nowhere.json: No such file or directory"]),
        ("verify nowhere.json", ["nowhere.json: No such file or directory"]),
        ("verify a b", ["unexpected extra argument"]),
        ("export nowhere x.csv", ["nowhere does not exist"]),
        ("export nowhere x.doc", ["x.doc: doc is none of jsonl, json, csv, parquet", "--format"]),
        ("export nowhere x", ["x: it has no ending that says which format", "--format"]),
        ("export nowhere x.csv --dataset seat", ['"seat" is none of its values', "did you mean 'seats'"]),
        ("doctor nowhere.toml", ["nowhere.toml: no such file"]),
        ("mock-server --port 70000", ["--port: must be a whole number from 0 to 65535, not 70000"]),
        ("mock-server --latency soon", ["latency 'soon'"]),
        ("mock-server --faults nonsense=1", ["nonsense"]),
        ("mock-server --plan nowhere.toml", ["nowhere.toml"]),
        ("local", ["missing command", "`weigh local --help`"]),
        ("local stup", ["no such command 'stup'", "Did you mean 'setup'"]),
    ],
)
def test_a_wrong_command_line_is_one_line_and_makes_nothing(tmp_path, monkeypatch, words, parts):
    monkeypatch.chdir(tmp_path)
    weigh(*words.split()).refused(*parts)
    assert documents(tmp_path) == []


@pytest.mark.parametrize("value", ["inf", "nan", "-1", "0", "1e400", ""])
def test_c22_a_timeout_is_a_finite_number_above_zero(value):
    kind = "finite number" if value in ("inf", "1e400") else "number"
    weigh("play", "goofspiel", "match", "match", "--timeout", value).refused(f"--timeout: must be a {kind} above 0")


def test_the_command_that_goes_on_asks_for_more_of_what_is_used_up(tmp_path):
    order = tmp_path / "l.toml"
    words = ["weigh", "ladder", "l.toml", "--max-calls", "500", "--max-usd=2", "--extend"]
    assert onward(words, None) == "weigh ladder l.toml --max-calls 500 --max-usd=2 --extend"
    assert onward(words, ("max_calls", 500)) == "weigh ladder l.toml --max-usd=2 --extend --max-calls N (above 500)"
    assert onward(words, ("max_usd", 2.0301)) == (
        "weigh ladder l.toml --max-calls 500 --extend --max-usd USD (above 2.04)"
    )
    assert onward(words[:3], ("max_tokens", 90)) == "weigh ladder l.toml --max-tokens N (above 90)"
    assert onward(["weigh", "audit", "r"], ("max_calls", 5), order) == (
        f"weigh audit r (with limits.max_calls above 5 in {order})"
    )


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1_0"])
@pytest.mark.parametrize("option", ["--max-usd", "--max-seconds"])
def test_c22_ceilings_are_finite_numbers(tmp_path, option, value):
    kind = "finite number" if value == "inf" else "number"
    weigh("ladder", config(tmp_path), option, value).refused(f"{option}: must be a {kind} above 0, not {value}")


def test_hostile_words_cannot_act_on_a_terminal():
    line = weigh("play", "goof\x1b[2Jspiel", "match").refused("goof")
    assert "\x1b" not in line
    line = weigh("\x1b[31mplya").refused("no such command")
    assert "\x1b" not in line


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path):
    for words in (["--debug", "rank", "nowhere"], ["rank", "--debug", "nowhere"], ["rank", "nowhere", "--debug"]):
        said = weigh(*words)
        assert said.code == 2
        assert said.err.startswith("Traceback (most recent call last):")
        assert said.err.splitlines()[-1].startswith("weigh: nowhere does not exist")
    assert "Traceback" not in weigh("rank", "nowhere").err


def test_a_bug_is_told_as_one_and_never_looks_like_a_verdict(monkeypatch):
    monkeypatch.setattr("weigh.harness.cli.commands.setup._config_keys", lambda game: 1 // 0)
    said = weigh("games", "--json")
    assert (said.code, said.out) == (4, "")
    assert said.err == (
        "weigh: internal error: ZeroDivisionError: integer division or modulo by zero "
        "(run again with --debug for the traceback)\n"
    )


def test_an_interrupted_command_ends_with_130(monkeypatch):
    def interrupted(game):
        raise KeyboardInterrupt

    monkeypatch.setattr("weigh.harness.cli.commands.setup._config_keys", interrupted)
    said = weigh("games")
    assert (said.code, said.out, said.err) == (130, "", "weigh: interrupted\n")


def test_commands_have_one_name_each():
    names = [entry.name for chapter in COMMANDS for entry in chapter.entries]
    assert len(names) == len(set(names))
