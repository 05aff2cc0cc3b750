"""How a whole number is read from JSON: the one rule, shared by every game whose moves hold integers.

Owns the shape of a number, not whether it is allowed. Knows no game: what the number is called comes from the caller.

The rule: 7, 7.0, "7" and " 7 " are 7; "-1" is -1. 7.5, true, null, NaN, "7 or 8", "1_0", "", digits other than ASCII
ones, lists and objects are no whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from games.game import Json, MoveUnreadable
from games.quoting import quote

_LONGEST_TEXT = 40
"""No number of any game takes more characters than this, spaces included; longer text is refused unread."""

_INTEGER = re.compile(r"-?[0-9]+")
_NO_WORDS: Mapping[str, int] = MappingProxyType({})


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
    bare = text.strip(" \t\r\n")
    if _INTEGER.fullmatch(bare):
        return int(bare)
    if bare.upper() in words:
        return words[bare.upper()]
    raise MoveUnreadable(f"{quote(text)} is not one whole number in plain digits")
