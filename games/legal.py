"""Legal sets of whole numbers: what a seat may play where a move is one integer, and bids as the usual kind of it.

Owns whether a whole number is among those allowed; `games.values` says what is a whole number at all. Knows no game:
what the numbers mean, and the words for why one is missing, come from the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from weigh.games import legal_line
from weigh.games.game import AnswerForm, Json, MoveIllegal
from weigh.games.values import commas, quote, read_integer

KEY = "bid"
"""The key of the answer object that holds the bid."""

OVERBID = 6
"""A bid that beats the next lower one by at least this much is an overbid, in every bidding game."""

_LONG_RUN = 8
"""From this length on, an unbroken run of bids is described by its ends."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The whole numbers open to one seat: the half of `games.game.Legal` that needs no words."""

    values: tuple[int, ...]
    """Ascending, without repeats."""

    def __contains__(self, move: object) -> bool:
        return type(move) is int and move in self.values

    def __iter__(self) -> Iterator[int]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def sample(self, rng: Random) -> int:
        """One of them; all have the same chance to within 2**-47. Takes one `rng.random()`."""
        values = self.values
        return values[int(rng.random() * len(values))]


@dataclass(frozen=True, slots=True)
class Bids(Numbers):
    """The bids open to one seat. Implements `games.game.Legal`."""

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
            form=f'{{"{KEY}": N}}',
            example=f'{{"{KEY}": {middle}}}',
        )

    def describe(self) -> str:
        """`1, 2, 5, 9`; a long unbroken run as `1 to 20`."""
        values = self.values
        unbroken = values[-1] - values[0] == len(values) - 1
        return legal_line.run(values) if unbroken and len(values) >= _LONG_RUN else commas(values)

    def read(self, value: Json) -> int:
        """The bid that `value` stands for. Raises MoveUnreadable or MoveIllegal, quoting a short cut of `value`."""
        bid = read_integer(value, "a bid", self.faces)
        if bid not in self.values:
            raise MoveIllegal(f"{quote(value)} is not a legal bid now: {self.having} {self.describe()}")
        return bid
