"""Finding the legal moves in a prompt, the way a model does: by reading it.

Owns what counts as a statement of the legal moves and what counts as the example of an answer:

- the legal moves stand after the last `legal` that is followed by a colon on its line, as games put it in a position
  (`Your legal bids: 1, 2, 5, 9.`) and the hint of a second attempt (`Legal: 1 to 20`). Whole numbers, ranges
  (`1 to 20`, `1..20`), words and JSON values separated by commas are understood, and such a list for each of several
  keys of the example (`scale A, B, C; weight 1, 3`), of which every combination is legal; and the forms of moves that
  are lists (`["place", weight, scale] with weight 1, 3; scale 0, 1; or ["pass", times] with times 1`). What stands
  behind a quotation mark on its line is somebody's words, not the prompt's;
- the example is the last JSON object, as in `One JSON object such as {"bid": 3}`. Its key says where the move goes.

The newest user turn that says it counts. Knows no game and no rules: whether a move is legal, the prompt says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from weigh.harness.providers.mock_server.schema_values import Pick

_LEGAL = re.compile(r"\b[Ll]egal\b[^:\n]{0,60}:[ \t]*(\S[^\n]*)")
_RANGE = re.compile(r"(-?\d{1,9})\s*(?:to|\.\.|–)\s*(-?\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_WORD = re.compile(r"[A-Za-z][\w-]{0,30}")
_FORM = re.compile(r'\["([A-Za-z][\w-]{0,30})", (\w+(?:, \w+)*)\] with (.+)')
_NOTES = "notes"
_DECODER = json.JSONDecoder()
_LOOKED_AT = 200
"""Places of one turn that are tried, from its end."""


@dataclass(frozen=True, slots=True)
class Choices:
    """A legal set as understood: single values and runs of whole numbers, in the order in which they stand."""

    parts: tuple[Any, ...]
    """A `range` for a run, a `Form` for many lists, else one JSON value."""

    def __len__(self) -> int:
        return sum(len(part) if isinstance(part, range | Form) else 1 for part in self.parts)

    def __getitem__(self, index: int) -> Any:
        for part in self.parts:
            size = len(part) if isinstance(part, range | Form) else 1
            if index < size:
                return part[index] if isinstance(part, range | Form) else part
            index -= size
        raise IndexError(index)

    def pick(self, rng: Random, how: Pick) -> Any:
        """One of them."""
        return self[rng.randrange(len(self)) if how == "any" else 0 if how == "first" else len(self) - 1]


@dataclass(frozen=True, slots=True)
class Form:
    """Every list that begins with one word and goes on with one of the values at each place."""

    word: str
    places: tuple[Choices, ...]

    def __len__(self) -> int:
        return math.prod(map(len, self.places))

    def __getitem__(self, index: int) -> list[Any]:
        values: list[Any] = []
        for place in reversed(self.places):
            index, digit = divmod(index, len(place))
            values.append(place[digit])
        return [self.word, *reversed(values)]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a prompt says about the answer it wants."""

    example: dict[str, Any]
    """An answer that would be read, with a legal move."""
    choices: Choices | None
    """The legal moves; None when the prompt does not spell them out, and the example is all there is."""
    lists: Mapping[str, Choices] = field(default_factory=dict)
    """What may stand under each of several keys, where the prompt spells out the legal moves like that."""

    def answer(self, rng: Random, how: Pick) -> dict[str, Any]:
        """An answer with a legal move in it, in the form of the example."""
        if self.choices is None:
            return {**self.example, **{key: choices.pick(rng, how) for key, choices in self.lists.items()}}
        move = self.choices.pick(rng, how)
        if isinstance(move, dict):
            return move
        key = next(key for key in self.example if key != _NOTES)
        return {key: move}


def find_offer(user_turns: Sequence[str]) -> Offer | None:
    """What the user's turns (oldest first) say; None when none has an example of an answer."""
    example = next(filter(None, map(_last_object, reversed(user_turns))), None)
    if example is None:
        return None
    line = next(filter(None, map(_last_legal_line, reversed(user_turns))), None)
    if line is None:
        return Offer(example, None)
    if lists := parse_lists(line, example):
        return Offer(example, None, lists)
    choices = parse_forms(line) or parse_choices(line)
    return Offer(example, choices if choices is not None and _fits(choices[0], example) else None)


def parse_lists(line: str, keys: Container[str]) -> dict[str, Choices]:
    """The list that a line spells out for each of two or more `keys`; none when it says something else."""
    lists = _lists(line, keys)
    return lists if len(lists) > 1 else {}


def parse_forms(line: str) -> Choices | None:
    """The lists whose forms a line spells out; None when it says something else."""
    forms: list[Form] = []
    for part in line.strip().rstrip(".;").split("; or "):
        match = _FORM.fullmatch(part)
        if match is None:
            return None
        names = match[2].split(", ")
        lists = _lists(match[3], names)
        if list(lists) != names:
            return None
        forms.append(Form(match[1], tuple(lists.values())))
    return Choices(tuple(forms))


def _lists(line: str, keys: Container[str]) -> dict[str, Choices]:
    lists: dict[str, Choices] = {}
    for part in line.strip().rstrip(".;").split(";"):
        key, _, rest = part.strip().partition(" ")
        choices = parse_choices(rest)
        if choices is None or key not in keys or key in lists:
            return {}
        lists[key] = choices
    return lists


def parse_choices(line: str) -> Choices | None:
    """The legal set that a line spells out; None when it says something else."""
    rest = line.strip().rstrip(".;")
    parts: list[Any] = []
    while rest:
        found = _one_part(rest)
        if found is None:
            return None
        part, end = found
        parts.append(part)
        rest = rest[end:].strip()
        if rest:
            separator = re.match(r"(?:,\s*(?:or\b|and\b)?|;|\||or\b|and\b)\s*", rest)
            if separator is None:
                return None
            rest = rest[separator.end() :]
    return Choices(tuple(parts)) if parts else None


def _one_part(text: str) -> tuple[Any, int] | None:
    if match := _RANGE.match(text):
        first, last = int(match[1]), int(match[2])
        return (range(first, last + 1), match.end()) if first <= last else None
    if text[0] in '{["':
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        return value, end
    if match := _NUMBER.match(text):
        return int(match[0]), match.end()
    if match := _WORD.match(text):
        return match[0], match.end()
    return None


def _fits(move: Any, example: dict[str, Any]) -> bool:
    """Whether a move can be put into the example's form: as a whole answer, or under its only key."""
    if isinstance(move, dict):
        return bool(move.keys() & example.keys())
    keys = [key for key in example if key != _NOTES]
    return len(keys) == 1 and isinstance(move, int) == isinstance(example[keys[0]], int)


def _last_legal_line(turn: str) -> str | None:
    start = len(turn)
    for _ in range(_LOOKED_AT):
        start = max(turn.rfind("legal", 0, start), turn.rfind("Legal", 0, start))
        if start < 0:
            return None
        quoted = '"' in turn[turn.rfind("\n", 0, start) + 1 : start]
        if not quoted and (match := _LEGAL.match(turn, start)):
            return match[1]
    return None


def _last_object(turn: str) -> dict[str, Any] | None:
    """The last JSON object that stands in a turn and does not stand within another one."""
    start = len(turn)
    for _ in range(_LOOKED_AT):
        start = turn.rfind("{", 0, start)
        if start < 0:
            return None
        try:
            value, end = _DECODER.raw_decode(turn, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.keys() - {_NOTES} and not _inside_another(turn, start, end):
            return value
    return None


def _inside_another(turn: str, start: int, end: int) -> bool:
    """Whether the object at `start` is part of a larger one that also is JSON."""
    outer = turn.rfind("{", 0, start)
    if outer < 0:
        return False
    try:
        _, outer_end = _DECODER.raw_decode(turn, outer)
    except (ValueError, RecursionError):
        return False
    return outer_end >= end
