"""The tutorial and the how-to pages do what they say: each is followed from top to bottom, in one shell and one folder,
with the mock server in place of every provider. What a page shows of an output is what was printed.

A block that cannot be run here says `no-run` behind its language (it needs a key, a person, or another page's files).
A block of TOML names the file that it is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.runner import ENVIRONMENT, ROOT, weigh
from tests.docs.pages import BLOCK, DOCS, text
from weigh.harness.providers.mock_server.process import MockServerProcess

PAGES = (DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md")))
NO_RUN = 6
"""Blocks that may be marked so, over all pages."""
ELSEWHERE = "http://127.0.0.1:8000/v1"
"""Where the pages say that a server listens."""
PROVIDERS = re.compile(r"\b(openai|anthropic):")
BLOCKS = re.compile(r"--blocks [3-9]\d\b")
"""As many as a user should play; a few will do here."""

COMMAND = """\
#!{python}
import os, subprocess, sys
words = sys.argv[1:]
if words[:1] == ["mock-server"]:  # it is there already
    sys.exit(0)
if any("@mock:" in word for word in words) and "--base-url" not in words:
    words += ["--base-url", "{url}"]
code = subprocess.run([sys.executable, "-m", "weigh", *words]).returncode
sys.exit(0 if code == 3 else code)  # to be inconclusive is no mistake of a page
"""


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Language, what stands behind it, and text of every block."""
    return BLOCK.findall(text(page))


def script(page: Path, url: str) -> str:
    """The page as one script: each TOML block is written to its file, each shell block is run."""
    lines = ["set -e -o pipefail"]
    for language, mark, body in blocks(page):
        here = BLOCKS.sub("--blocks 10", PROVIDERS.sub("mock:", body)).replace(ELSEWHERE, url)
        if mark == "no-run":
            continue
        if language == "toml":
            more = "" if "[models.m" in here else f'[models.mock]\nbase_url = "{url}"\n'
            lines.append(f"cat > {mark} <<'END'\n{here}\n{more}END")
        elif language == "sh":
            lines.append(here)
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, server: MockServerProcess, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    tools = tmp_path / "bin"
    tools.mkdir()
    command = tools / "weigh"
    command.write_text(COMMAND.format(python=sys.executable, url=server.openai_url))
    command.chmod(0o755)
    environ = {**ENVIRONMENT, "PYTHONPATH": str(ROOT), "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    said = subprocess.run(
        ["bash", "-c", script(page, server.openai_url)], cwd=tmp_path, env=environ, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-3_000:]
    for language, _, shown in blocks(page):
        if language == "text":
            assert shown in said.stdout
    for run in tmp_path.glob("results/**/run.sqlite"):
        assert weigh("verify", run.parent).code == 0
    if page.stem == "ci":
        document = JUnitXml.fromfile(str(tmp_path / "gate.xml"))
        assert (document.tests, document.failures, document.errors) == (2, 0, 0)
        assert "## weigh gate: bidder" in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_every_block_is_run_or_says_that_it_is_not() -> None:
    marks = [(language, mark) for page in PAGES for language, mark, _ in blocks(page)]
    assert sum(mark == "no-run" for _, mark in marks) <= NO_RUN
    for language, mark in marks:
        if language == "toml":
            assert mark == "no-run" or mark.endswith(".toml")
        else:
            assert language in ("sh", "python", "yaml", "text", "") and mark in ("", "no-run"), (language, mark)


def test_the_workflow_runs_the_commands_of_its_page() -> None:
    (workflow,) = [body for language, _, body in blocks(DOCS / "howto" / "ci.md") if language == "yaml"]
    shell = "".join(body for language, _, body in blocks(DOCS / "howto" / "ci.md") if language == "sh")
    commands = re.findall(r"^ +(weigh .*)$", workflow, re.MULTILINE)
    assert commands
    assert set(commands) <= set(shell.splitlines())
