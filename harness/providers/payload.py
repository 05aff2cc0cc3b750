"""Careful reading of what came back: plain JSON whose shape nobody promised.

Owns the reading of single values. Compatible servers differ from the providers' own schemas in every field there is, so
the values are read here one by one and whatever is not needed is not looked at: no unknown tier, role or reason can
spoil a good answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.providers.conversation import sendable


class NoAnswer(Exception):
    """An answer with status 200 that holds none. The message says what is missing."""


def table(value: object, *path: str) -> Mapping[str, Any]:
    """The object at `path` below `value`, empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; whatever is not an object is passed over."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def words(value: object) -> str:
    """Text, empty where there is none. Lone surrogates are replaced: they could neither be stored nor sent again."""
    return sendable(value) if isinstance(value, str) else ""


def parts(content: object, kinds: tuple[str, ...] = ("text", "output_text")) -> str:
    """Visible text of a content field: a string, or a list of parts of which those of `kinds` are joined."""
    if isinstance(content, list):
        return "".join(
            words(part) if isinstance(part, str) else words(part.get("text"))
            for part in content
            if isinstance(part, str) or (isinstance(part, Mapping) and part.get("type", "text") in kinds)
        )
    return words(content)


def count(value: object) -> int | None:
    """A number of tokens, or None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return int(value) if 0 <= value < 2**53 and value == int(value) else None


def first_count(*values: object) -> int | None:
    """The first of several fields that is a number of tokens."""
    return next((found for value in values if (found := count(value)) is not None), None)
