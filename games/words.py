"""How a word is read from JSON: the one rule, shared by every game whose moves hold words.

Owns the shape of a word. Knows no game: the words, and what they are words for, come from the caller.

The rule: letter case and white space around a word do not matter, and nothing else is forgiven. With the words `left`
and `right`, "left" and " LEFT " are left; "l", "leftmost", "left side" and a word in other letters that look alike are
none.
"""

from __future__ import annotations

from collections.abc import Sequence

from games.game import Json, MoveUnreadable
from games.quoting import quote

_LONGEST_TEXT = 40
"""No word of any game takes more characters than this, spaces included; longer text is refused unread."""


def read_word(value: Json, noun: str, words: Sequence[str]) -> str:
    """The one of `words` that `value` stands for, as it is written there. The words are plain ASCII.

    `noun` says what it is, e.g. `a side`. Raises MoveUnreadable, quoting a short cut of `value`.
    """
    if isinstance(value, str) and len(value) <= _LONGEST_TEXT and value.isascii():
        bare = value.strip(" \t\r\n").lower()
        for word in words:
            if bare == word.lower():
                return word
    raise MoveUnreadable(f"{quote(value)} is not {noun}: {noun} is {_listed(words)}")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
