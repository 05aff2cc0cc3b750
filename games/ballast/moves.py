"""The moves of Ballast, and what they leave on the scales: place a weight, challenge one, discard one.

Owns how a move is written, read and judged, the numbering and the status of placed weights, and the verdict on a scale.
Knows neither turns nor states.

A move is a list that begins with a word: `["place", weight, scale, announced]`, `["challenge", number]` and
`["discard", weight]`. Letter case does not matter in the word, and numbers may be written as `games.values` reads
them; the canonical move has the lower-case word and plain integers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from weigh.games import legal_line
from weigh.games.game import AnswerForm, Json, MoveIllegal, MoveUnreadable, Seat
from weigh.games.values import commas, quote, read_integer, read_word

KEY = "move"
"""The key of the answer object that holds the move."""

PLACE: Literal["place"] = "place"
CHALLENGE: Literal["challenge"] = "challenge"
DISCARD: Literal["discard"] = "discard"


class Place(NamedTuple):
    """A weight from the hand, put face down."""

    weight: int
    scale: int
    announced: int


class Challenge(NamedTuple):
    """A call on the opponent's weight of this number."""

    number: int


class Discard(NamedTuple):
    """A weight from the hand, given up for a challenge that failed."""

    weight: int


Action: TypeAlias = Place | Challenge | Discard

_ACTIONS: Mapping[str, type[Action]] = MappingProxyType({PLACE: Place, CHALLENGE: Challenge, DISCARD: Discard})
"""By the word of a move; what follows the word are the fields."""


@dataclass(frozen=True, slots=True)
class Actions:
    """What one seat may do now. Implements `games.game.Legal`."""

    hand: tuple[int, ...]
    """The weights held, ascending; never empty."""
    scales: int
    weights: int
    """The heaviest weight of the game, and the highest value that can be announced."""
    targets: tuple[int, ...] = ()
    """Numbers of the weights that may be challenged, ascending."""
    spent: bool = False
    """Whether the one challenge of the game has been used."""
    discarding: bool = False
    """Whether a failed challenge has still to be paid for: then a discard is all there is."""

    @property
    def answer(self) -> AnswerForm:
        """One key, `move`, limited to the legal lists item by item; the list alone is read as well.

        The example takes the middle of everything, so it is neither a claim that is always true nor one always false.
        """
        options: list[Json] = [_tuple_schema(form) for form in self._forms()]
        middle = self.hand[len(self.hand) // 2]
        example = [PLACE, middle, self.scales // 2, (self.weights + 1) // 2]
        if self.discarding:
            example = [DISCARD, middle]
        written = " or ".join(map(_written, (word for word, _ in self._forms())))
        return AnswerForm(
            keys=(KEY,),
            schema={KEY: options[0] if len(options) == 1 else {"anyOf": options}},
            required=(KEY,),
            form=f'{{"{KEY}": {written}}}',
            example=json.dumps({KEY: example}),
            bare=True,
        )

    def _forms(self) -> list[tuple[str, tuple[Sequence[int], ...]]]:
        """Each word that may begin a move now, with the values that may stand at each place after it."""
        if self.discarding:
            return [(DISCARD, (self.hand,))]
        place = (PLACE, (self.hand, range(self.scales), range(1, self.weights + 1)))
        return [place, (CHALLENGE, (self.targets,))] if self.targets else [place]

    def find(self, move: object) -> Action | None:
        """What a canonical move does, or None when it is not canonical or not legal now."""
        if type(move) is not list or not move:
            return None
        word, *numbers = move
        # True and 1.0 are equal to 1, and are not it.
        if any(type(number) is not int for number in numbers):
            return None
        for form, allowed in self._forms():
            if word == form and len(numbers) == len(allowed):
                fits = all(number in values for number, values in zip(numbers, allowed, strict=True))
                return _action(form, numbers) if fits else None
        return None

    def __contains__(self, move: object) -> bool:
        return self.find(move) is not None

    def __iter__(self) -> Iterator[list[Json]]:
        for word, allowed in self._forms():
            for numbers in product(*allowed):
                yield [word, *numbers]

    def __len__(self) -> int:
        if self.discarding:
            return len(self.hand)
        return len(self.hand) * self.scales * self.weights + len(self.targets)

    def describe(self) -> str:
        """The forms of a move, each with the values that may stand in it now.

        `["place", weight, scale, announced] with weight 1, 5; scale 0, 1, 2; announced 1, 2, 3, 4, 5; or
        ["challenge", number] with number 3`, on one line.
        """
        return legal_line.forms(
            {
                word: dict(zip(_ACTIONS[word]._fields, map(commas, allowed), strict=True))
                for word, allowed in self._forms()
            }
        )

    def sample(self, rng: Random) -> list[Json]:
        """One move; all have the same chance to within 2**-44. Takes one `rng.random()`."""
        index = int(rng.random() * len(self))
        if self.discarding:
            return [DISCARD, self.hand[index]]
        placements = len(self) - len(self.targets)
        if index >= placements:
            return [CHALLENGE, self.targets[index - placements]]
        index, announced = divmod(index, self.weights)
        weight, scale = divmod(index, self.scales)
        return [PLACE, self.hand[weight], scale, announced + 1]

    def read(self, value: Json) -> list[Json]:
        """The canonical move that `value` stands for. Raises MoveUnreadable or MoveIllegal, saying what to change."""
        word, numbers = _shaped(value)
        move: list[Json] = [word, *numbers]
        if self.find(move) is None:
            raise MoveIllegal(self._why_not(_action(word, numbers)))
        return move

    def _why_not(self, action: Action) -> str:
        """What stands in the way of an action that is not legal now."""
        if self.discarding and not isinstance(action, Discard):
            return f"your challenge failed: discard one of {commas(self.hand)} first"
        match action:
            case Discard() if not self.discarding:
                return "nothing is to be discarded now: place a weight or challenge one"
            case Challenge() if self.spent:
                return "you have used your one challenge: place a weight"
            case Challenge() if not self.targets:
                return "your opponent has no face-down weight to challenge: place a weight"
            case Challenge(number):
                return (
                    f"{quote(number)} is not the number of a face-down weight of your opponent: "
                    f"you may challenge {commas(self.targets)}"
                )
            case Place(weight, scale, announced) if weight in self.hand:
                if scale not in range(self.scales):
                    return f"there is no scale {quote(scale)}: the scales are {commas(range(self.scales))}"
                return f"{quote(announced)} cannot be announced: announce 1 to {self.weights}"
            case Place(weight) | Discard(weight):
                return f"you do not hold weight {quote(weight)}: you hold {commas(self.hand)}"


def _shaped(value: Json) -> tuple[str, list[int]]:
    """The word and the numbers of a move, whether it is legal or not. Raises MoveUnreadable."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise MoveUnreadable(f"{quote(value)} is not a list that begins with a word, as {_written(PLACE)} does")
    word = read_word(value[0], "an action", tuple(_ACTIONS))
    parts = _ACTIONS[word]._fields
    if len(value) != len(parts) + 1:
        raise MoveUnreadable(f"{quote(value)} has {len(value)} items; {_written(word)} has {len(parts) + 1}")
    nouns = [f"the {part}" if part != "announced" else "the announced value" for part in parts]
    return word, [read_integer(item, noun) for item, noun in zip(value[1:], nouns, strict=True)]


def _written(word: str) -> str:
    """The form of a move that begins with this word: `["place", WEIGHT, SCALE, ANNOUNCED]`."""
    return f'["{word}", {", ".join(_ACTIONS[word]._fields).upper()}]'


def _action(word: str, numbers: Sequence[int]) -> Action:
    return _ACTIONS[word](*numbers)


def _tuple_schema(form: tuple[str, tuple[Sequence[int], ...]]) -> dict[str, Json]:
    """JSON Schema of a list with this word and one of the allowed numbers at each place after it."""
    word, allowed = form
    items: list[Json] = [{"type": "string", "enum": [word]}]
    items += [{"type": "integer", "enum": list(values)} for values in allowed]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


Status: TypeAlias = Literal["down", "up", "removed"]
"""Face down; face up after a challenge of a true claim; off its scale after a challenge of a false one."""


class Weight(NamedTuple):
    """One placed weight. Its number is its index in the order of placement, over both players."""

    owner: Seat
    scale: int
    announced: int
    true: int
    status: Status = "down"

    @property
    def false(self) -> bool:
        """Whether the claim made for it is."""
        return self.announced != self.true


class Verdict(NamedTuple):
    """How one scale stands, by true values of the weights still on it."""

    totals: tuple[int, int]
    counts: tuple[int, int]
    winner: Seat | None

    def to_json(self) -> dict[str, Json]:
        return {"totals": list(self.totals), "counts": list(self.counts), "winner": self.winner}


class Placed(NamedTuple):
    """The log of a game: the weight of this number came down."""

    number: int


class Challenged(NamedTuple):
    """The log of a game: `seat` called the weight of this number, which was turned up."""

    seat: Seat
    number: int


class Discarded(NamedTuple):
    """The log of a game: `seat` gave up a weight of this value for a challenge that failed."""

    seat: Seat
    value: int | None
    """None where the reader of the log may not know it."""


Entry: TypeAlias = Placed | Challenged | Discarded


def judge(placed: Sequence[Weight], scale: int) -> Verdict:
    """Larger total; then fewer weights; then the owner of the first weight that is still there."""
    left = [weight for weight in placed if weight.scale == scale and weight.status != "removed"]
    mine = [weight.true for weight in left if weight.owner == 0]
    theirs = [weight.true for weight in left if weight.owner == 1]
    totals, counts = (sum(mine), sum(theirs)), (len(mine), len(theirs))
    if not left:
        return Verdict(totals, counts, None)
    lead = totals[0] - totals[1] or counts[1] - counts[0] or (1, -1)[left[0].owner]
    return Verdict(totals, counts, int(lead < 0))
