"""Where a prompt file lies, and what it says.

Owns the search: as written, from a given folder, else among the prompts that come with the package. Reads files; knows
neither entrants nor models, and leaves a prompt's own syntax to `policies.operator_prompt`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePath

from weigh.games.registry import GAMES
from weigh.games.values import nearest, quote
from weigh.harness.errors import ConfigError
from weigh.harness.words import did_you_mean
from weigh.policies.operator_prompt import OperatorPrompt, PromptInvalid, parse_prompt_bytes

PACKAGED = Path(str(files("weigh.prompts")))
"""The package's own prompts, next to this package wherever it is installed; never what the current folder calls so."""

LARGEST = 1_000_000
"""Bytes; what is larger is no prompt."""


@dataclass(frozen=True, slots=True)
class PromptFile:
    """One prompt file, read."""

    written: str
    """The path as the person wrote it."""
    place: Path
    """Where it was found."""
    sha256: str
    """Hex, of its bytes."""
    prompt: OperatorPrompt

    def to_json(self) -> dict[str, str]:
        """What identifies it on any machine: its path as written (of an absolute one, the last part) and its hash."""
        path = PurePath(self.written)
        name = path.name if path.is_absolute() or self.written.startswith("~") else path.as_posix()
        return {"file": name, "sha256": self.sha256}


def read_prompt(written: str, folder: Path) -> PromptFile:
    """Find and read a prompt file; `folder` is where relative paths start. Raises ConfigError with one line."""
    place = _find(written, folder)
    try:
        with place.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"prompt file {place}: {error.strerror or error}", kind="unreadable-file") from error
    if len(content) > LARGEST:
        raise ConfigError(f"prompt file {place}: larger than {LARGEST // 1000} kB", kind="too-large")
    try:
        prompt = parse_prompt_bytes(content, str(place))
    except PromptInvalid as error:
        raise ConfigError(str(error), kind="prompt-invalid") from error
    for game in prompt.games:
        if game not in GAMES:
            raise ConfigError(
                f"{place}: its header names an unknown game {quote(game)}{did_you_mean(game, GAMES)}",
                kind="unknown-game",
            )
    return PromptFile(written, place, hashlib.sha256(content).hexdigest(), prompt)


def packaged_prompts() -> Iterator[tuple[str, OperatorPrompt]]:
    """The prompts that come with the package, by the words that name them: `goofspiel/tempo.md`."""
    for word in packaged_words():
        yield word, read_prompt(word, PACKAGED).prompt


def packaged_words() -> list[str]:
    """What `packaged_prompts` names, without reading a file."""
    return sorted(path.relative_to(PACKAGED).as_posix() for path in PACKAGED.glob("*/*.md"))


def _find(written: str, folder: Path) -> Path:
    if not written.strip() or "\0" in written:
        raise ConfigError(f"prompt file {quote(written)}: not a file name", kind="not-a-file-name")
    try:
        asked = folder / Path(written).expanduser()
    except RuntimeError as error:  # ~NAME, of a user without a home here
        raise ConfigError(f"prompt file {quote(written)}: {error}", kind="not-a-file-name") from error
    if asked.is_dir():
        raise ConfigError(f"prompt file {asked}: is a folder; name a file in it", kind="target-is-folder")
    if asked.exists():
        return asked
    word = PurePath(written).as_posix().removeprefix("./").removeprefix("prompts/")
    words = packaged_words()
    if word in words:
        return PACKAGED / word
    near = nearest(word, words) or f" ({', '.join(words)})"
    raise ConfigError(
        f"prompt file {written}: not found; looked for {asked} and among the built-in prompts{near}", kind="no-file"
    )
