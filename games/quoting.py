"""How a refused value is shown in a message: as JSON, on one line, cut short; and which known name it came near to.

Owns the cut. Knows no game. The work is bounded whatever the value: a list of a million items or an integer of a
million digits costs no more than a short one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

LIMIT = 60
"""Most characters of a quotation."""

_ITEMS = 6
_DEPTH = 2
_BITS = 160
"""Integers wider than this are described instead of written out."""


def quote(value: object) -> str:
    """`value` as JSON text of at most `LIMIT` characters, control and non-ASCII characters escaped."""
    text = _text(value, _DEPTH)
    return text if len(text) <= LIMIT else text[: LIMIT - 1] + "…"


def nearest(name: str, known: Sequence[str]) -> str:
    """`"; did you mean 'x'?"` for the known name most like `name`, or an empty text when none is alike."""
    close = nearest_name(name, known)
    return "" if close is None else f"; did you mean {close!r}?"


def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """The known name most like `name`, None when none is alike."""
    close = get_close_matches(name[:LIMIT].lower(), known, n=1)
    return close[0] if close else None


def _text(value: object, depth: int) -> str:
    if isinstance(value, str):
        return json.dumps(value if len(value) <= LIMIT else value[:LIMIT] + "…", ensure_ascii=True)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > _BITS:
        return f"a whole number of about {int(value.bit_length() * 0.30103) + 1} digits"
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Mapping):
        pairs = [f"{_text(k, 0)}: {_text(v, depth - 1)}" for k, v in islice(value.items(), _ITEMS)] if depth else []
        return "{" + _cut(pairs, len(value)) + "}"
    if isinstance(value, Sequence):
        return "[" + _cut([_text(item, depth - 1) for item in value[:_ITEMS]] if depth else [], len(value)) + "]"
    return f"a value of type {type(value).__name__}"


def _cut(items: list[str], whole: int) -> str:
    return ", ".join(items if len(items) == whole else [*items, "…"])
