"""Config files and the prompts they name, made up for the tests of their reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from weigh.harness.config.config import load_config
from weigh.harness.errors import ConfigError

Write = Callable[[str], Path]

PROMPT = "Bid low on small prizes.\n"
GOOFSPIEL_ONLY = "---\nname: goof\ngame: goofspiel\n---\n" + PROMPT
LEAST = "[games.goofspiel]\n[entrants]\n"
"""The shortest config: baselines fill three of four seats, one entrant is to be added."""


def lay_out(folder: Path) -> Path:
    """`folder`, with a prompt for any game and one for goofspiel in its prompts/."""
    prompts = folder / "prompts"
    prompts.mkdir()
    (prompts / "any.md").write_text(PROMPT, encoding="utf-8")
    (prompts / "goof.md").write_text(GOOFSPIEL_ONLY, encoding="utf-8")
    return folder


def writer(folder: Path) -> Write:
    """Writes a text to the folder's ladder.toml and gives its path."""

    def write(text: str) -> Path:
        path = folder / "ladder.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refused(path: Path, **overrides: object) -> list[str]:
    """The lines of the error that a config gives, without its folder."""
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    return [line.replace(f"{path.parent}/", "") for line in caught.value.lines]
