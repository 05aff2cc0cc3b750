"""The recipe of docs/ci.md, followed in a repository that holds only what it says; and the example file."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.runner import ROOT, weigh
from weigh.harness.gate.spec import GateHead, GateLimits, GateTable, load_gate_file

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
PROVIDER = ("openai:", "mock:")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    return re.findall(r"^ *(weigh .*)$", "\n".join([*blocks("sh"), *blocks("yaml")]), re.MULTILINE)


@pytest.mark.slow
def test_every_command_of_the_page_works_as_it_stands(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("bidder", "old"):
        place = Path("prompts") / f"{name}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"Play the {name} way.\n")
    Path("baselines").mkdir()
    # The model's own provider is the only thing that a test cannot have; and fewer pairs will do.
    (text,) = blocks("toml")
    Path("gate.toml").write_text(f'{text.replace(*PROVIDER)}\n[models.mock]\nbase_url = "{server.openai_url}"\n')
    codes = []
    for line in commands():
        words = shlex.split(line.replace(*PROVIDER).replace("--blocks 30", "--blocks 12"))[1:]
        said = weigh(*words, *([] if "gate.toml" in words else ["--base-url", server.openai_url]))
        codes.append(said.code)
        assert said.code in (0, 3), (line, said)
    assert len(codes) == 7
    document = JUnitXml.fromfile("gate.xml")
    assert (document.tests, document.failures, document.errors) == (2, 0, 0)
    assert "## weigh gate: bidder" in Path("gate.md").read_text()
    assert Path(".gate/gate-bidder/goofspiel").is_dir()
    for run in Path("results").glob("*/*/*/run.sqlite"):
        assert weigh("verify", run.parent).code == 0


def test_the_table_of_exit_codes_is_that_of_the_command():
    table = dict(re.findall(r"^\| (\d+) \| (\w*) ?\|", PAGE, re.MULTILINE))
    assert table == {"0": "pass", "1": "regression", "2": "", "3": "inconclusive", "4": "invalid", "130": ""}


def test_every_key_of_the_json_form_is_documented(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = ("--game", "goofspiel", "--set", "cards=4")
    build = weigh("gate", "--baseline", "match", "--candidate", "match", *small, "--margin", 0.5, "--json").json
    saved = weigh("gate", "--save-baseline", "b.json", "--candidate", "match", *small, "--blocks", 2, "--json").json
    for key in (*build, *build["gates"][0], *saved):
        assert f"`{key}`" in PAGE or f"`{key}[]`" in PAGE, key


def test_the_example_shows_every_key_and_plays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("examples").mkdir()
    path = Path(shutil.copy(ROOT / "examples" / "gate.toml", "examples"))
    text = path.read_text()
    for key in (*GateHead.model_fields, *GateTable.model_fields, *GateLimits.model_fields):
        assert re.search(rf"\b{key}\b", text), key
    assert load_gate_file(path).name == "example"
    said = weigh("gate", path, "--json")
    assert said.code in (0, 3), said
    assert [gate["verdict"] for gate in said.json["gates"]] == ["pass", "pass"]
