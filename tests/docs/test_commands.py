"""Every `weigh` command that the documentation shows is one that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.runner import ROOT, parsed, weigh
from tests.docs.pages import WRITTEN
from weigh.harness.cli.app import COMMANDS

PAGES = [ROOT / "results" / "README.md", *WRITTEN]
CONFIGS = sorted((ROOT / "examples").glob("*.toml"))
LINE = re.compile(r"^(?:#|\$)? *(weigh [a-z].*)$", re.MULTILINE)
"""A line of its own that begins with the command, in a block of code or as a comment of a config."""


def commands() -> list[str]:
    shown = []
    for page in PAGES:
        for block in re.findall(r"^```.*?\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            shown += LINE.findall(block)
    for config in CONFIGS:
        shown += LINE.findall(config.read_text(encoding="utf-8"))
    return sorted(set(shown))


@pytest.mark.parametrize("line", commands())
def test_c10_a_documented_command_parses(line: str) -> None:
    bare = re.split(r"  +|\s[|<>#&]+(?:\s|$)", line)[0]  # without what is said of it, and without the shell's part
    parsed(shlex.split(bare)[1:])


def test_the_documentation_shows_commands() -> None:
    assert len(commands()) >= 5


def in_sentences() -> list[str]:
    """Commands in the midst of a text, with all their words or with the first only."""
    found = []
    for page in PAGES:
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        found += [" ".join(words.split()) for words in re.findall(r"`weigh ([a-z][^`]*)`", prose)]
    return sorted(set(found))


@pytest.mark.parametrize("words", in_sentences())
def test_a_command_that_is_mentioned_is_there(words: str) -> None:
    name, _, rest = words.partition(" ")
    known = {entry.name for chapter in COMMANDS for entry in chapter.entries}
    assert {part.strip() for part in name.split("|")} <= known | {"weigh"}
    if rest and "..." not in rest and not rest.startswith(("|", "-")):
        parsed(shlex.split(words))


def test_replies_piped_to_read_in_the_readme_are_read() -> None:
    for document, name in re.findall(
        r"^echo '(.*)' \| weigh (\w+) -", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    ):
        assert weigh(name, "-", stdin=document).code == 0


def test_no_model_that_its_sdk_calls_deprecated_is_named_where_people_copy_from_or_in_a_test() -> None:
    from anthropic.resources.messages import DEPRECATED_MODELS

    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.*")]
    pages += [*(ROOT / "harness" / "cli").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    pages += (ROOT / "prompts").rglob("*.md")
    named = {
        (page.relative_to(ROOT).as_posix(), name)
        for page in pages
        for name in re.findall(r"claude-[a-z0-9.-]*[a-z0-9]", page.read_text(encoding="utf-8", errors="ignore"))
    }
    assert named
    assert not [found for found in named if found[1] in DEPRECATED_MODELS]
