"""Whole-number bids: the moves of a seat in a game where a move is one integer.

Owns how an integer is read from JSON (the shape) and whether it is among the bids allowed (the legality). Knows no
game: what the numbers mean, and the words for why one is missing, come from the caller.

The rule for integers: 7, 7.0, "7" and " 7 " are 7; "-1" is -1, well-formed and then usually illegal. 7.5, true, null,
NaN, "7 or 8", "1_0", "", digits other than ASCII ones, lists and objects are no moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from games.game import AnswerForm, Json, MoveIllegal, MoveUnreadable
from games.quoting import quote

KEY = "bid"
"""The key of the answer object that holds the bid."""

OVERBID = 6
"""A bid that beats the next lower one by at least this much is an overbid, in every bidding game."""

_LONGEST_TEXT = 40
"""No bid takes more characters than this, spaces included; longer text is refused unread."""

_LONG_RUN = 8
"""From this length on, an unbroken run of bids is described by its ends."""

_INTEGER = re.compile(r"-?[0-9]+")


@dataclass(frozen=True, slots=True)
class Bids:
    """The bids open to one seat. Implements `games.game.Legal`."""

    values: tuple[int, ...]
    """Ascending, without repeats."""
    having: str = "you may bid"
    """What stands before the legal bids in a refusal, e.g. `you hold`."""
    faces: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Upper-case words that stand for a number, e.g. `K` for 13."""

    @property
    def answer(self) -> AnswerForm:
        """One key, `bid`, limited to the legal integers. The example is the middle one."""
        middle = self.values[len(self.values) // 2]
        return AnswerForm(
            keys=(KEY,),
            schema={KEY: {"type": "integer", "enum": list(self.values)}},
            required=(KEY,),
            example=f'{{"{KEY}": {middle}}}',
        )

    def __contains__(self, move: object) -> bool:
        return type(move) is int and move in self.values

    def __iter__(self) -> Iterator[int]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def describe(self) -> str:
        """`1, 2, 5, 9`; a long unbroken run as `1 to 20`."""
        first, last = self.values[0], self.values[-1]
        if len(self.values) >= _LONG_RUN and last - first == len(self.values) - 1:
            return f"{first} to {last}"
        return ", ".join(map(str, self.values))

    def sample(self, rng: Random) -> int:
        """One bid; all have the same chance to within 2**-47. Takes one `rng.random()`."""
        values = self.values
        return values[int(rng.random() * len(values))]

    def read(self, value: Json) -> int:
        """The bid that `value` stands for. Raises MoveUnreadable or MoveIllegal, quoting a short cut of `value`."""
        bid = self._integer(value)
        if bid not in self.values:
            raise MoveIllegal(f"{quote(value)} is not a legal bid now: {self.having} {self.describe()}")
        return bid

    def _integer(self, value: Json) -> int:
        if isinstance(value, str):
            return self._integer_in(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise MoveUnreadable(f"{quote(value)} is not a number; a bid is one whole number")
        if isinstance(value, float) and not value.is_integer():  # true of NaN and the infinities as well
            raise MoveUnreadable(f"{quote(value)} is not a whole number")
        return int(value)

    def _integer_in(self, text: str) -> int:
        if len(text) > _LONGEST_TEXT:
            raise MoveUnreadable(f"{quote(text)} is too long for a bid; a bid is one whole number")
        bare = text.strip(" \t\r\n")
        if _INTEGER.fullmatch(bare):
            return int(bare)
        if bare.upper() in self.faces:
            return self.faces[bare.upper()]
        raise MoveUnreadable(f"{quote(text)} is not one whole number in plain digits")
