"""The moves of Persistent Calibration and the scales they build up: one weight a round, on one side of one scale.

Owns how a move is written, read and judged, the order of the six sides, what lies on them after each round, and what
that scores. Knows neither states nor texts. Everything is exact.

A submission that never came is a move too, written null: the rules say what becomes of it. So null is legal for
every seat, and `read` takes it. But it is no choice that is offered: it is not among the moves that a legal set counts,
lists, describes or draws, nor in the form of an answer, and no answer of a model is read as null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple, TypeAlias

from weigh.games import legal_line
from weigh.games.game import AnswerForm, Json, MoveIllegal, MoveUnreadable
from weigh.games.values import commas, quote, read_integer, read_word

SCALES = ("A", "B", "C")
SIDES = ("left", "right")

LIGHTEST, HEAVIEST = 1, 3
"""The values a weight can have, garnets spent or not."""

Place: TypeAlias = int
"""One side of one scale, 0..5, in the order A left, A right, B left, B right, C left, C right."""

PLACES: range = range(len(SCALES) * len(SIDES))

KEYS = ("scale", "side", "weight", "modify")
_OBLIGATORY = KEYS[:3]


def across(place: Place) -> Place:
    """The other side of the same scale."""
    return place ^ 1


def scale_of(place: Place) -> str:
    return SCALES[place // len(SIDES)]


def side_of(place: Place) -> str:
    return SIDES[place % len(SIDES)]


class Placement(NamedTuple):
    """A move as the rules keep it."""

    place: Place
    weight: int
    """The one that leaves the hand."""
    modify: int
    """What garnets added to it, a garnet for each 1; may be negative."""

    @property
    def value(self) -> int:
        """What lies on the scale and is scored, for good."""
        return self.weight + self.modify

    def to_json(self) -> dict[str, Json]:
        """The canonical move."""
        scale, side = scale_of(self.place), side_of(self.place)
        return {"scale": scale, "side": side, "weight": self.weight, "modify": self.modify}


_PLACEMENTS: Mapping[tuple[str, str, int, int], Placement] = {
    (scale_of(place), side_of(place), weight, value - weight): Placement(place, weight, value - weight)
    for place in PLACES
    for weight in range(LIGHTEST, HEAVIEST + 1)
    for value in range(LIGHTEST, HEAVIEST + 1)
}
"""Every placement that any hand and any number of garnets allow, by the parts of its move."""


@dataclass(frozen=True, slots=True)
class Placements:
    """What one seat may put down. Implements `games.game.Legal`."""

    hand: tuple[int, ...]
    """The weights held, ascending."""
    most: int
    """Garnets that can be spent on one weight now."""

    @property
    def answer(self) -> AnswerForm:
        """An object of scale, side and weight, and of modify where there are garnets to spend.

        A modify is read even where none is asked for: spending garnets that are not there is an illegal move. The
        schema cannot say which modify goes with which weight.
        """
        schema: dict[str, Json] = {
            "scale": {"type": "string", "enum": list(SCALES)},
            "side": {"type": "string", "enum": list(SIDES)},
            "weight": {"type": "integer", "enum": list(self.hand)},
        }
        example: dict[str, Json] = {"scale": "B", "side": "right", "weight": self.hand[len(self.hand) // 2]}
        form = '{"scale": "LETTER", "side": "WORD", "weight": N}'
        if self.most:
            form = form.replace("N}", 'N, "modify": N}')
            changes = sorted({modify for _, modify in _options(self.hand, self.most)})
            schema["modify"] = {"type": "integer", "enum": list(changes)}
            example["modify"] = 0
        return AnswerForm(KEYS, schema, tuple(schema), form, json.dumps(example))

    @property
    def values(self) -> tuple[int, ...]:
        """What can come to lie on a scale now, ascending."""
        return tuple(sorted({weight + modify for weight, modify in _options(self.hand, self.most)}))

    def find(self, move: object) -> Placement | None:
        """The placement that a canonical move stands for, or None when it is not canonical or not legal now.

        Also None for null, which places nothing.
        """
        if not isinstance(move, Mapping) or len(move) != len(KEYS):
            return None
        weight, modify = move.get("weight"), move.get("modify")
        if type(weight) is not int or type(modify) is not int:  # True and 1.0 are equal to 1, and are not it
            return None
        scale, side = move.get("scale"), move.get("side")
        if not isinstance(scale, str) or not isinstance(side, str):
            return None
        placement = _PLACEMENTS.get((scale, side, weight, modify))
        if placement is None or weight not in self.hand or abs(modify) > self.most:
            return None
        return placement

    def __contains__(self, move: object) -> bool:
        return move is None or self.find(move) is not None

    def __iter__(self) -> Iterator[dict[str, Json]]:
        for place in PLACES:
            for weight, modify in _options(self.hand, self.most):
                yield Placement(place, weight, modify).to_json()

    def __len__(self) -> int:
        return len(PLACES) * len(_options(self.hand, self.most))

    def describe(self) -> str:
        """`scale A, B, C; side left, right; weight 1, 3`; with garnets what may go with each weight in brackets."""
        weights = map(self._with_changes, self.hand) if self.most else self.hand
        return legal_line.lists({"scale": commas(SCALES), "side": commas(SIDES), "weight": commas(weights)})

    def _with_changes(self, weight: int) -> str:
        changes = [modify for held, modify in _options(self.hand, self.most) if held == weight]
        return legal_line.bound(weight, "modify", legal_line.run(changes))

    def sample(self, rng: Random) -> dict[str, Json]:
        """One placement; all have the same chance to within 2**-45. Takes one `rng.random()`."""
        options = _options(self.hand, self.most)
        place, option = divmod(int(rng.random() * len(PLACES) * len(options)), len(options))
        return Placement(place, *options[option]).to_json()

    def read(self, value: Json) -> dict[str, Json] | None:
        """The canonical move that `value` stands for; a modify that is left out is 0. Shape first, then legality.

        Null stays null. Raises MoveUnreadable or MoveIllegal, saying what to change.
        """
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise MoveUnreadable(f"{quote(value)} is not an object with scale, side and weight")
        for key in value:
            if key not in KEYS:
                raise MoveUnreadable(f"{quote(value)} has the unknown key {quote(key)}; keys: {', '.join(KEYS)}")
        if missing := [key for key in _OBLIGATORY if key not in value]:
            raise MoveUnreadable(f"{quote(value)} lacks {', '.join(missing)}")
        scale = read_word(value["scale"], "a scale", SCALES)
        side = read_word(value["side"], "a side", SIDES)
        weight = read_integer(value["weight"], "a weight")
        modify = read_integer(value.get("modify", 0), "modify")
        self._judge(weight, modify)
        return {"scale": scale, "side": side, "weight": weight, "modify": modify}

    def _judge(self, weight: int, modify: int) -> None:
        if weight not in self.hand:
            raise MoveIllegal(f"weight {quote(weight)}: you hold {commas(self.hand)}")
        if abs(modify) > self.most:
            raise MoveIllegal(f"modify {quote(modify)}: you can spend {_garnets(self.most)} now")
        if not LIGHTEST <= weight + modify <= HEAVIEST:
            raise MoveIllegal(
                f"weight {weight} with modify {modify} would be {weight + modify}; "
                f"it must stay within {LIGHTEST} to {HEAVIEST}"
            )


def _garnets(number: int) -> str:
    return {0: "no garnets", 1: "1 garnet"}.get(number, f"at most {number} garnets")


@cache
def _options(hand: tuple[int, ...], most: int) -> tuple[tuple[int, int], ...]:
    """Every weight with every modify that goes with it."""
    return tuple(
        (weight, modify)
        for weight in hand
        for modify in range(-most, most + 1)
        if LIGHTEST <= weight + modify <= HEAVIEST
    )


Round: TypeAlias = tuple[Placement | None, ...]
"""What each seat put down in one round, in seat order; None for a seat that put down nothing."""

Totals: TypeAlias = tuple[int, ...]
"""What lies on each of the six sides, by place."""

EMPTY: Totals = (0,) * len(PLACES)


def totals_after(totals: Totals, placed: Round) -> Totals:
    """The totals with what one more round put down."""
    sums = list(totals)
    for placement in placed:
        if placement is not None:
            sums[placement.place] += placement.value
    return tuple(sums)


def lighter_places(totals: Totals) -> tuple[Place, ...]:
    """The sides that are strictly lighter than the one across; one at most on each scale."""
    return tuple(place for place in PLACES if totals[place] < totals[across(place)])


def own_points(placed: Sequence[Placement | None], totals: Sequence[Totals]) -> list[int]:
    """The points of one seat in each round: all it has put down by then on sides that are lighter then.

    `placed` and `totals` have an entry a round.
    """
    own, points = [0] * len(PLACES), []
    for placement, sums in zip(placed, totals, strict=True):
        if placement is not None:
            own[placement.place] += placement.value
        points.append(sum(own[place] for place in lighter_places(sums)))
    return points


def flips(totals: Sequence[Totals]) -> Iterator[list[str]]:
    """For each round, the scales that tipped: the side now lighter is the other than when one was last lighter."""
    last: dict[str, Place] = {}
    for sums in totals:
        lighter = {scale_of(place): place for place in lighter_places(sums)}
        yield [scale for scale, place in lighter.items() if last.get(scale, place) != place]
        last |= lighter


def by_scale(totals: Totals) -> dict[str, Json]:
    """`{"A": [left, right], ...}`."""
    return {scale: list(totals[start : start + len(SIDES)]) for scale, start in zip(SCALES, PLACES[::2], strict=True)}
