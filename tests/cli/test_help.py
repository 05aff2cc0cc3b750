"""Help pages: complete, quick to make, and with examples that work."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from importlib import import_module

import pytest
import typer

from tests.cli.runner import parsed, process, weigh
from weigh.harness.cli.app import COMMANDS

ENTRIES = [entry for chapter in COMMANDS for entry in chapter.entries]
PAGES = [*([entry.name] for entry in ENTRIES), ["local", "setup"], ["experiment", "ballast-claims"]]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_list_of_commands_says_what_each_page_says(entry):
    module, _, name = entry.home.partition(":")
    target = getattr(import_module(f"weigh.harness.cli.commands.{module}"), name)
    text = target.info.help if isinstance(target, typer.Typer) else target.__doc__
    assert inspect.cleandoc(text).splitlines()[0] == entry.line


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_page_states_its_exit_codes(words):
    said = weigh(*words, "--help")
    assert (said.code, said.err) == (0, "")
    assert "Exit codes: " in said.out
    assert said.out.startswith(f"Usage: weigh {' '.join(words)} ")
    assert weigh(*words, "-h") == said


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_c10_every_example_of_a_page_parses(words):
    page = weigh(*words, "--help", environ={"COLUMNS": "100"}).out
    examples = re.findall(r"^  weigh (.+)$", page, re.MULTILINE)
    if words in (["local"], ["experiment"]):
        return
    assert any(example.split()[: len(words)] == words for example in examples), "a page without an example of its own"
    for example in examples:
        parsed(shlex.split(example.partition(" < ")[0]))


def test_c10_the_examples_of_the_first_page_parse():
    for example in re.findall(r"^  weigh (.+?)(?:   .*)?$", weigh("--help").out, re.MULTILINE):
        parsed(shlex.split(example))


OPTIONS = {
    "games": ["--json"],
    "policies": ["--json"],
    "play": [
        *("--seed 7", "--set cards=6", "--config ladder.toml", "--style schema", "--max-tokens 32", "--temperature 0"),
        *("--base-url http://127.0.0.1:8000/v1", "--timeout 2.5", "--save results/try", "--out record.json", "--json"),
        *("--serve", "--serve 8000"),
    ],
    "plan": [
        *("--from results/ladder", "--output-tokens 300", "--retry-share 0.05", "--latency 2.5"),
        *("--difference 0.05", "--alpha 0.01", "--power 0.9", "--json"),
        *("--extend", "--seed 0", "--name second", "--results runs", "--wide"),
    ],
    "ladder": [
        *("--seed 0", "--name second", "--results runs", "--max-calls 10", "--max-tokens 5000", "--max-usd 2.50"),
        *("--max-seconds 0.5", "--reuse results/ladder", "--extend", "--json"),
        *("--serve", "--serve 8000"),
    ],
    "demo": ["--mock", "--results runs", "--json"],
    "rank": [
        *("--max-fallback-rate 0.2", "--max-fallback-rate 0", "--without-fallbacks", "--format table"),
        *("--format markdown", "--format csv", "--format json", "--json", "--measures"),
        *("--equal-weight", "--ratings", "--head-to-head", "--wide", "--format latex", "--columns mean,cost"),
    ],
    "audit": [
        *("--fdr 0.05", "--permutations 9999", "--threshold 0.5", "--seed 1", "--rounds 0", "--fail-on-flag"),
        *("--replay-shuffled ladder.toml", "--pair ann:bob", "--replace-with match", "--name again"),
        *("--format table", "--format markdown", "--format json", "--json", "--wide"),
    ],
    "compare": [
        *("--game goofspiel", "--blocks 20", "--aa", "--wide", "--opponents match,random", "--set cards=6", "--seed 7"),
        *("--config ladder.toml", "--style schema", "--max-tokens 32", "--temperature 0"),
        *("--base-url http://127.0.0.1:8000/v1", "--timeout 2.5", "--max-calls 10", "--max-usd 2.50"),
        *("--name prompts", "--results runs", "--json"),
    ],
    "gate": [
        *("--baseline base.json", "--candidate match", "--game goofspiel", "--margin 0.05", "--alpha 0.01"),
        *("--beta 0.1", "--max-blocks 100", "--opponents match,hoard,random", "--set cards=6", "--seed 7"),
        *("--config ladder.toml", "--style schema", "--max-tokens 32", "--temperature 0"),
        *("--base-url http://127.0.0.1:8000/v1", "--timeout 2.5", "--max-calls 500", "--max-usd 2.50"),
        *("--max-fallback-rate 0.1", "--max-fallback-rate 0"),
        *("--max-void-rate 0.05", "--name nightly", "--results runs", "--junit gate.xml", "--summary gate.md"),
        *("--save-baseline base.json", "--blocks 50", "--wide", "--json"),
    ],
    "verify": ["--run results/gate-demo/baseline-91f6708a", "--json"],
    "export": [
        *(
            "--format jsonl",
            "--format json",
            "--format csv",
            "--format parquet",
            "--dataset records",
            "--dataset seats",
        ),
        *(
            "--dataset decisions",
            "--dataset calls",
            "--dataset voids",
            "--dataset accounts",
            "--dataset measures",
            "--dataset measures",
            "--episode goofspiel/b0000/r0",
            "--json",
        ),
    ],
    "view": [
        *("--out page.html", "--out pages/", "--episode goofspiel/b0000/r0", "--text", "--no-open", "--max-mb 50"),
        "--json",
    ],
    "report": [
        *("--out report.html", "--out report.md", "--format html", "--format markdown", "--replays replays"),
        *("--max-fallback-rate 0.5", "--without-fallbacks", "--json"),
    ],
    "resolve": ["--json"],
    "read": ["--json"],
    "diff-prompts": [
        *("--game goofspiel", "--set cards=6", "--config ladder.toml", "--step 3", "--all", "--words"),
        *("--exit-code", "--json"),
    ],
    "doctor": ["--calls", "--no-calls", "--timeout 5", "--json"],
    "mock-server": [
        *("--port 0", "--host 127.0.0.1", "--seed 0", "--latency 200ms", "--latency uniform:50-400ms"),
        *("--latency lognormal:200ms,0.5", "--faults illegal=0.1,empty=0.02,429=0.05", "--plan plan.toml"),
        *("--requests-per-minute 60", "--model mock-small", "--only-listed", "--answer-style json-only"),
        *("--log-size 10", "--json"),
    ],
    "local setup": ["--json"],
    "experiment ballast-claims": [
        *(
            "--claimer feint",
            "--listener steady",
            "--blocks 400",
            "--wide",
            "--margin 0.05",
            "--listening 100",
            "--seed 0",
        ),
        *("--name second", "--results runs", "--json"),
    ],
}
"""An example of every option, and of every value that its help names."""

NEEDED = {
    "play": "oshi_zumo match match",
    "plan": "ladder.toml",
    "ladder": "ladder.toml",
    "experiment ballast-claims": "ballast.toml",
    "rank": "results/demo",
    "audit": "results/demo",
    "report": "results/demo",
    "verify": "results/demo",
    "export": "results/demo seats.csv",
    "view": "results/demo",
    "resolve": "-",
    "read": "-",
    "diff-prompts": "old.md new.md",
    "compare": "match hoard --game goofspiel",
}


@pytest.mark.parametrize("name", OPTIONS)
def test_c10_every_option_is_documented_and_parses(name):
    words = name.split()
    offered = set(re.findall(r"(?:^  (?:-[a-z], )?| / )(--[a-z-]+)", weigh(*words, "--help").out, re.MULTILINE)) - {
        "--help"
    }
    assert offered == {example.split()[0] for example in OPTIONS[name]}
    for example in OPTIONS[name]:
        option, _, value = example.partition(" ")
        read = parsed([*words, *NEEDED.get(name, "").split(), option, *([value] if value else [])])
        parameter = option[2:].replace("-", "_").replace("no_calls", "calls")
        assert {parameter, f"{parameter}_", f"{parameter}s"} & read.keys() or parameter == "set"


def test_every_command_has_json():
    assert all("--json" in examples for examples in OPTIONS.values())
    assert {name.split()[0] for name in OPTIONS} == {entry.name for entry in ENTRIES}


def test_weigh_alone_shows_what_there_is_and_ends_as_wrong_usage():
    said = weigh()
    assert (said.code, said.out) == (2, "")
    assert said.err == weigh("--help").out
    assert all(f"  {entry.name} " in said.err for entry in ENTRIES)


def test_the_version_is_told():
    from importlib.metadata import version

    assert weigh("--version").out == f"weigh {version('weigh')}\n"


def test_help_imports_no_command_and_nothing_heavy(tmp_path):
    watch = (
        "import sys; from weigh.harness.cli.app import run; run(['--help'])\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules} & {'rich','pydantic','pandas','asyncio','aiohttp',"
        "'openai','anthropic','numpy','weigh.games','weigh.policies'} |"
        " {n for n in sys.modules if n.startswith('weigh.')}),"
        "len(sys.modules), sep='\\n', file=sys.stderr)"
    )
    import subprocess

    from tests.cli.runner import environment

    told = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, env=environment(), timeout=60)
    imported, number = told.stderr.splitlines()
    assert imported == str(
        [
            "weigh.harness",
            "weigh.harness.cli",
            "weigh.harness.cli.app",
            "weigh.harness.cli.help",
            "weigh.harness.cli.output",
            "weigh.harness.errors",
        ]
    )
    assert int(number) < 250  # a bare interpreter has some 40, and numpy alone brings 150


def test_help_is_plain_text_of_the_terminals_width(tmp_path):
    said = process("play", "--help", cwd=tmp_path, COLUMNS="100", FORCE_COLOR="1")
    assert b"\x1b" not in said.stdout
    assert max(map(len, said.stdout.decode().splitlines())) <= 100
    narrow = process("--help", cwd=tmp_path, COLUMNS="40")
    assert narrow.returncode == 0
