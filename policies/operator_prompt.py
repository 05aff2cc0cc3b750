"""An operator's prompt: a Markdown text of guidance, with a small header on how to field it.

Owns the form of such a text and the words for what is wrong with one. Reads no file and knows no game: whether a game
named in a header exists is for the caller to check.

    ---
    name: tempo
    game: goofspiel
    style: reason-then-json
    description: spends where rivals are out of cards
    ---
    The guidance, as the model will read it.

`name` is required, the rest may be left out; `game` may list several, comma-separated. A text without a header is all
guidance and is named after its source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from weigh.games.values import nearest
from weigh.policies.contract import STYLES, Style
from weigh.policies.show import one_line

MAX_CHARACTERS = 20_000
"""Of a whole prompt text, header included: some 5,000 tokens, paid for at every decision."""

_FENCE = "---"
KEYS = ("name", "game", "style", "description")
"""What a header may hold."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_BINARY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class PromptInvalid(ValueError):
    """A text is no operator prompt. The message is one line: source, line number, what is wrong, what to do."""


@dataclass(frozen=True, slots=True)
class OperatorPrompt:
    """Guidance for a player, and how its author wants it used."""

    name: str
    text: str
    """The guidance, stripped, with line feeds as line ends; never empty."""
    games: tuple[str, ...] = ()
    """The games it is written for; empty for any game."""
    style: Style | None = None
    """How it asks for answers unless the run says otherwise."""
    description: str = ""
    """One line for lists of policies. Never shown to a model."""
    whole: str = field(default="", compare=False, repr=False)
    """The file as it was read, header and all; empty for a prompt that comes from none."""

    def suits(self, game: str) -> bool:
        """Whether it may play `game`."""
        return not self.games or game in self.games


def parse_prompt_bytes(data: bytes, source: str) -> OperatorPrompt:
    """`parse_prompt` of UTF-8 text. `source` is the file's name. Raises PromptInvalid."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PromptInvalid(f"{source}: this is UTF-16 text; save the prompt as UTF-8")
    if len(data) > 4 * MAX_CHARACTERS:
        raise PromptInvalid(f"{source}: {len(data):,} bytes; a prompt may have {MAX_CHARACTERS:,} characters")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PromptInvalid(f"{source}:{line}: not UTF-8 text; a prompt is a Markdown text file in UTF-8") from None
    return replace(parse_prompt(text, source), whole=text)


def parse_prompt(text: str, source: str) -> OperatorPrompt:
    """Read a prompt. `source` is its file's name, for messages and, without a header, for its name.

    Raises PromptInvalid.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_CHARACTERS:
        raise PromptInvalid(f"{source}: {len(text):,} characters; a prompt may have {MAX_CHARACTERS:,}")
    if binary := _BINARY.search(text):
        line = text.count("\n", 0, binary.start()) + 1
        found = one_line(binary[0])
        raise PromptInvalid(f"{source}:{line}: holds the character {found}; a prompt is plain text, not a binary file")
    if not text.strip():
        raise PromptInvalid(f"{source}: the prompt is empty; write what the player should do")
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    if lines[first].rstrip() != _FENCE:
        return OperatorPrompt(_named_after(source), text.strip())
    end = next((n for n in range(first + 1, len(lines)) if lines[n].rstrip() == _FENCE), None)
    if end is None:
        raise PromptInvalid(f"{source}:{first + 1}: the header has no end; close it with a line of {_FENCE}")
    fields = _header(lines[first + 1 : end], source, first + 2)
    guidance = "\n".join(lines[end + 1 :]).strip()
    if not guidance:
        raise PromptInvalid(f"{source}:{end + 2}: nothing follows the header; write what the player should do")
    if "name" not in fields:
        raise PromptInvalid(f"{source}:{first + 1}: the header has no name; add a line such as `name: tempo`")
    return OperatorPrompt(
        name=_identifier(*fields["name"], source),
        text=guidance,
        games=_games(*fields["game"], source) if "game" in fields else (),
        style=_style(*fields["style"], source) if "style" in fields else None,
        description=fields["description"][0] if "description" in fields else "",
    )


_Field: TypeAlias = tuple[str, int]
"""A header's value and the number of its line."""


def _header(lines: list[str], source: str, first: int) -> dict[str, _Field]:
    fields: dict[str, _Field] = {}
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        where = f"{source}:{number}"
        if not colon:
            raise PromptInvalid(f"{where}: {one_line(line.strip(), 40)} is no header line; write `key: value`")
        if key not in KEYS:
            meant = nearest(key, KEYS) or f"; known keys: {', '.join(KEYS)}"
            raise PromptInvalid(f"{where}: unknown header key {one_line(key, 40)}{meant}")
        if key in fields:
            raise PromptInvalid(f"{where}: the header has {key} twice; keep one")
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1].strip()
        if not value:
            raise PromptInvalid(f"{where}: {key} has no value; give it one or remove the line")
        fields[key] = (value, number)
    return fields


def _identifier(value: str, line: int, source: str) -> str:
    if not _NAME.fullmatch(value):
        raise PromptInvalid(
            f"{source}:{line}: {one_line(value, 40)} is no name; use up to 64 letters, digits, dots, dashes and "
            "underscores, and begin with a letter or digit"
        )
    return value


def _games(value: str, line: int, source: str) -> tuple[str, ...]:
    names = [name.strip() for name in value.split(",")]
    return tuple(dict.fromkeys(_identifier(name, line, source) for name in names))


def _style(value: str, line: int, source: str) -> Style:
    for style in STYLES:
        if value == style:
            return style
    raise PromptInvalid(f"{source}:{line}: unknown style {one_line(value, 40)}; styles: {', '.join(STYLES)}")


def _named_after(source: str) -> str:
    """The stem of a file's name, with what may not stand in a name turned to dashes."""
    name = re.split(r"[/\\]", source)[-1]
    stem = name.rpartition(".")[0] or name
    return _NOT_IN_NAMES.sub("-", stem).strip("-._")[:64] or "prompt"
