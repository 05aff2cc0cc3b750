"""The exit codes that docs/howto/ci.md names, and the keys of the example of a gate file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.runner import ROOT, weigh
from weigh.harness.gate.spec import GateHead, GateLimits, GateTable, load_gate_file

PAGE = (ROOT / "docs" / "howto" / "ci.md").read_text(encoding="utf-8")


def test_the_table_of_exit_codes_is_that_of_the_command():
    table = dict(re.findall(r"^\| (\d+) \| (\w*) ?\|", PAGE, re.MULTILINE))
    assert table == {"0": "pass", "1": "regression", "2": "", "3": "inconclusive", "4": "invalid", "130": ""}


@pytest.mark.slow
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
