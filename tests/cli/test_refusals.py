"""The words of refusals, a file a command in tests/cli/refusals/: read them there; `make golden` writes them anew.

Every refusal has a kind that tests and programs can rely on; words may change, and a change shows as a diff.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.runner import SCRIPTED, config, weigh

RUN_ID = re.compile(r"\d{8}-\d{6}-s\d+-[0-9a-f]{8}")
GOLDEN = Path(__file__).parent / "refusals"
WRITE = os.environ.get("WEIGH_GOLDEN") == "1"
SITUATIONS = {
    "audit": [
        "nowhere",
        "run --pair match:hoard",
        "run --replay-shuffled s.toml",
        "run --replay-shuffled s.toml --pair match",
        "run --replay-shuffled s.toml --pair match:match",
        "run --replay-shuffled s.toml --pair match:hoad",
    ],
    "diff-prompts": [
        "match hoard --game goofspiel",
        "goofspiel/plain.md none.md",
        "goofspiel/plain.md goofspiel/plain.md --step 1 --all",
        "goofspiel/plain.md oshi_zumo/plain.md",
    ],
    "doctor": ["nowhere.toml", "broken.toml", "latin.toml"],
    "export": [
        "nowhere out.csv",
        "run out.pdf",
        "run out.json",
        "run out.csv --dataset records",
        "run out.json --episode none",
        "run run",
        "run missing/out.csv --dataset seats",
    ],
    "ladder": [
        "nowhere.toml",
        "broken.toml",
        "latin.toml",
        "keys.toml",
        "lonely.toml",
        "s.toml --results . --name s.toml",
        "s.toml --results . --name run --seed 9",
        "s.toml --results . --name none --extend",
        "s.toml --reuse nowhere --results .",
        "s.toml --serve 99999",
        "s.toml --max-calls 0",
    ],
    "mock-server": ["--port 99999", "--plan nowhere.toml"],
    "plan": ["nowhere.toml", "s.toml --difference 0", "run --seed 3", "s.toml --extend --results ."],
    "play": [
        "chess match hoard",
        "goofspiel match",
        "goofspiel match hoad",
        "goofspiel match ballast/plain.md@local:smollm2",
        "goofspiel match none.md@local:smollm2",
        "goofspiel match goofspiel/plain.md@nobody",
        "goofspiel match steady",
        "goofspiel match @mine",
        "goofspiel match @mine --config s.toml",
        "goofspiel match hoard --style schema",
        "goofspiel match hoard --set cards",
        "goofspiel match hoard --set cards=4 --set cards=5",
        "goofspiel match hoard --set cards=two",
        "goofspiel match hoard --set seats=3",
        "goofspiel match hoard --out .",
        "goofspiel match hoard --out missing/file.json",
        "goofspiel match hoard --save s.toml",
        "goofspiel match human",
    ],
    "prompt": [
        "show goofspiel match",
        "show goofspiel goofspiel/plain.md --round 14",
        "show goofspiel goofspiel/plain.md --round 0",
        "show oshi_zumo goofspiel/plain.md",
    ],
    "rank": [
        "nowhere",
        "s.toml",
        "run run",
        "run --equal-weight --format csv",
        "run --measures --format markdown",
        "run --ratings --format csv",
        "run --columns mean,retired",
        "run --columns mean --format csv",
        "run --format yaml",
    ],
    "read": ["-", "nowhere.json", "s.toml", "list.json", "strange.json"],
    "report": ["nowhere", "run --format html -o x.md", "run --replays d -o -", "run -o run/run.sqlite", "run -o x.txt"],
    "resolve": ["-", "nowhere.json", "list.json", "strange.json", "game.json", "moves.json"],
    "verify": ["nowhere", "s.toml"],
    "view": [
        "nowhere",
        "run --text -o x.html",
        "run -o - --json",
        "run --episode none",
        "s.toml",
        "list.json --episode x",
        "run -o run",
    ],
}
"""Command lines that are refused, by command, in a folder that `folder` fills."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where they are given: a finished run, a config of it, and files that cannot be used."""
    home = tmp_path_factory.mktemp("refusals")
    config(home)
    (home / "broken.toml").write_text("seed = \n")
    (home / "latin.toml").write_bytes(b'name = "\xe9"\n')
    (home / "keys.toml").write_text('seeds = 3\n[games.chess]\n[entrants]\nmine = "hoad"\n')
    (home / "lonely.toml").write_text(f'baselines = false\n{SCRIPTED}[entrants]\none = "match"\n')
    (home / "list.json").write_text("[1]")
    (home / "strange.json").write_text('{"gme": "goofspiel"}')
    (home / "game.json").write_text('{"game": "chess", "moves": []}')
    (home / "moves.json").write_text('{"game": "goofspiel", "seed": 1, "moves": 3}')
    assert weigh("ladder", home / "s.toml", "--results", home, "--name", "run", "--json").code == 0
    return home


@pytest.mark.parametrize("command", sorted(SITUATIONS))
def test_refusals_say_what_their_file_says(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    told = []
    for words in SITUATIONS[command]:
        said = weigh(command, *shlex.split(words))
        assert (said.code, said.out) == (2, ""), (words, said)
        assert said.kind, words
        lines = RUN_ID.sub("RUN-ID", said.err.replace(str(folder), "HERE")).splitlines()
        assert all(line.startswith("weigh: ") for line in lines)
        told.append("\n".join([f"$ weigh {command} {words}", f"[{said.kind}]", *lines]))
    text = "\n\n".join(told) + "\n"
    file = GOLDEN / f"{command}.txt"
    if WRITE:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), "read the difference; `make golden` keeps it"


def test_every_file_of_words_belongs_to_a_command() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(SITUATIONS)
