"""Values from outside: how one is quoted in a message, and how a whole number or a word is read from it.

Owns three rules that every game shares; what a number or a word is for comes from the caller.

- *Quoting*: as JSON, on one line, cut short. The work is bounded whatever the value: a list of a million items or an
  integer of a million digits costs no more than a short one.
- *Whole numbers*: 7, 7.0, "7" and " 7 " are 7; "-1" is -1. 7.5, true, null, NaN, "7 or 8", "1_0", "", digits other
  than ASCII ones, lists and objects are no whole numbers.
- *Words*: letter case and white space around a word do not matter, and nothing else is forgiven. With the words `left`
  and `right`, "left" and " LEFT " are left; "l", "leftmost", "left side" and a word in other letters that look alike
  are none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from types import MappingProxyType

from weigh.games.game import Json, MoveUnreadable

LIMIT = 60
"""Most characters of a quotation."""

_ITEMS = 6
_DEPTH = 2
_BITS = 160
"""Integers wider than this are described instead of written out."""

_LONGEST_TEXT = 40
"""No number or word of any game takes more characters than this, spaces included; longer text is refused unread."""

_SPACE = " \t\r\n"
_INTEGER = re.compile(r"-?[0-9]+")
_NO_WORDS: Mapping[str, int] = MappingProxyType({})


def cut(text: str) -> str:
    """The text in at most `LIMIT` characters: a longer one ends in an ellipsis."""
    return text if len(text) <= LIMIT else text[: LIMIT - 1] + "…"


def quote(value: object) -> str:
    """`value` as JSON text of at most `LIMIT` characters, control and non-ASCII characters escaped."""
    return cut(_text(value, _DEPTH))


def _text(value: object, depth: int) -> str:
    if isinstance(value, str):
        return json.dumps(value if len(value) <= LIMIT else value[:LIMIT] + "…", ensure_ascii=True)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > _BITS:
        return f"a whole number of about {int(value.bit_length() * 0.30103) + 1} digits"
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Mapping):
        pairs = [f"{_text(k, 0)}: {_text(v, depth - 1)}" for k, v in islice(value.items(), _ITEMS)] if depth else []
        return "{" + _items(pairs, len(value)) + "}"
    if isinstance(value, Sequence):
        return "[" + _items([_text(item, depth - 1) for item in value[:_ITEMS]] if depth else [], len(value)) + "]"
    return f"a value of type {type(value).__name__}"


def _items(items: list[str], whole: int) -> str:
    return ", ".join(items if len(items) == whole else [*items, "…"])


def nearest(name: str, known: Sequence[str]) -> str:
    """`"; did you mean 'x'?"` for the known name most like `name`, or an empty text when none is alike."""
    close = nearest_name(name, known)
    return "" if close is None else f"; did you mean {close!r}?"


def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """The known name most like `name`, None when none is alike."""
    close = get_close_matches(name[:LIMIT].lower(), known, n=1)
    return close[0] if close else None


def commas(items: Iterable[object], last: str = "") -> str:
    """`1, 2, 3`; with `last` between the last two items, `1, 2 and 3`."""
    if not last:
        return ", ".join(map(str, items))
    *before, end = map(str, items)
    return f"{', '.join(before)} {last} {end}" if before else end


def read_integer(value: Json, noun: str, words: Mapping[str, int] = _NO_WORDS) -> int:
    """The whole number that `value` stands for.

    `noun` says what it is, e.g. `a bid`; `words` are upper-case words that stand for a number, e.g. `K` for 13. Raises
    MoveUnreadable, quoting a short cut of `value`.
    """
    if isinstance(value, str):
        return _integer_in(value, noun, words)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MoveUnreadable(f"{quote(value)} is not a number; {noun} is one whole number")
    if isinstance(value, float) and not value.is_integer():  # true of NaN and the infinities as well
        raise MoveUnreadable(f"{quote(value)} is not a whole number")
    return int(value)


def _integer_in(text: str, noun: str, words: Mapping[str, int]) -> int:
    if len(text) > _LONGEST_TEXT:
        raise MoveUnreadable(f"{quote(text)} is too long for {noun}; {noun} is one whole number")
    bare = text.strip(_SPACE)
    if _INTEGER.fullmatch(bare):
        return int(bare)
    if bare.upper() in words:
        return words[bare.upper()]
    raise MoveUnreadable(f"{quote(text)} is not one whole number in plain digits")


def read_word(value: Json, noun: str, words: Sequence[str]) -> str:
    """The one of `words` that `value` stands for, as it is written there. The words are plain ASCII.

    `noun` says what it is, e.g. `a side`. Raises MoveUnreadable, quoting a short cut of `value`.
    """
    if isinstance(value, str) and len(value) <= _LONGEST_TEXT and value.isascii():
        bare = value.strip(_SPACE).lower()
        for word in words:
            if bare == word.lower():
                return word
    raise MoveUnreadable(f"{quote(value)} is not {noun}: {noun} is {commas(words, 'or')}")
