"""The moves of Half-Hearted Step, one kind for each phase: a bid or a pass, a choice, a movement along an axis.

Owns how each is written and read, and which are legal given what the rules allow now. Knows neither board nor state:
the bounds are handed in. Each class implements `games.game.Legal`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from weigh.games import legal_line
from weigh.games.game import AnswerForm, Json, MoveIllegal, MoveUnreadable
from weigh.games.legal import Numbers
from weigh.games.values import commas, quote, read_integer, read_word

Axis: TypeAlias = Literal["horizontal", "vertical"]

PASS = "pass"  # noqa: S105 - a word of the auction, no secret

_BID = f'{{"bid": N or "{PASS}"}}'
_CHOICE = '{"active": "WHO", "axis": "AXIS"}'
_STEP = '{"direction": "WORD", "distance": N}'

ME, OPPONENT = "me", "opponent"
HORIZONTAL: Axis = "horizontal"
VERTICAL: Axis = "vertical"

_WAYS: Mapping[Axis, tuple[str, str]] = MappingProxyType({HORIZONTAL: ("left", "right"), VERTICAL: ("up", "down")})
"""The directions of each axis: towards square 0, and away from it."""

_STAY = "stay"


@dataclass(frozen=True, slots=True)
class AuctionBids:
    """A bid from `low` to `high`, or a pass. When `low` is above `high`, a pass is all there is."""

    low: int
    high: int

    @property
    def _bids(self) -> range:
        return range(self.low, self.high + 1)

    @property
    def answer(self) -> AnswerForm:
        """`{"bid": 3}` or `{"bid": "pass"}`; free text may say `{"pass": true}` as well.

        The range is given by its ends: a list of all bids would fill a prompt. The example is the pass: a number in it
        that a model copies would be a raise in every round.
        """
        silent: Json = {"type": "string", "enum": [PASS]}
        raising: Json = {"type": "integer", "minimum": self.low, "maximum": self.high}
        bid: Json = {"anyOf": [silent, raising]} if self._bids else silent
        return AnswerForm(("bid", PASS), {"bid": bid}, ("bid",), _BID, json.dumps({"bid": PASS}))

    def __contains__(self, move: object) -> bool:
        return move == PASS if isinstance(move, str) else type(move) is int and move in self._bids

    def __iter__(self) -> Iterator[int | str]:
        yield PASS
        yield from self._bids

    def __len__(self) -> int:
        return len(self._bids) + 1

    def describe(self) -> str:
        """`"pass", 4 to 999`."""
        return commas([f'"{PASS}"', *([legal_line.run(self._bids)] if self._bids else [])])

    def sample(self, rng: Random) -> int | str:
        """One of them. Takes one `rng.random()`."""
        index = int(rng.random() * len(self))
        return self._bids[index - 1] if index else PASS

    def read(self, value: Json) -> int | str:
        bid = _bid_in(value) if isinstance(value, Mapping) else value
        if _is_pass(bid):
            return PASS
        number = read_integer(bid, "a bid")
        if number not in self._bids:
            raise MoveIllegal(f"{quote(bid)} is not a legal bid now: you may bid {self.describe()}")
        return number


def _is_pass(bid: Json) -> bool:
    return isinstance(bid, str) and bid.strip(" \t\r\n").lower() == PASS


def _bid_in(answer: Mapping[str, Json]) -> Json:
    """What an answer object bids. A pass that is also a bid is neither."""
    bid, passes = answer.get("bid"), answer.get(PASS)
    if passes is not None and not isinstance(passes, bool):
        raise MoveUnreadable(f'"{PASS}" is {quote(passes)}: it must be true or false')
    if passes:
        if bid is None or _is_pass(bid):
            return PASS
        raise MoveUnreadable(f"{quote(answer)} both bids and passes; do one of them")
    if bid is None:
        raise MoveUnreadable(f'{quote(answer)} neither bids nor passes; a bid is one whole number or "{PASS}"')
    return bid


@dataclass(frozen=True, slots=True)
class FirstChoices:
    """What the winner of the auction chooses between: who is active first, times its own axis."""

    @property
    def answer(self) -> AnswerForm:
        words: dict[str, Json] = {key: {"type": "string", "enum": list(those)} for key, those in _CHOICES.items()}
        return AnswerForm(tuple(_CHOICES), words, tuple(_CHOICES), _CHOICE, json.dumps(_choice(OPPONENT, VERTICAL)))

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Mapping) and any(move == choice for choice in self)

    def __iter__(self) -> Iterator[dict[str, Json]]:
        for active in _CHOICES["active"]:
            for axis in _CHOICES["axis"]:
                yield _choice(active, axis)

    def __len__(self) -> int:
        return 4

    def describe(self) -> str:
        """The four of them as JSON objects."""
        return commas(map(json.dumps, self))

    def sample(self, rng: Random) -> dict[str, Json]:
        """One of them. Takes one `rng.random()`."""
        return list(self)[int(rng.random() * 4)]

    def read(self, value: Json) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise MoveUnreadable(f'{quote(value)} is no choice; a choice has "active" and "axis"')
        return _choice(_word_in(value, "active"), _word_in(value, "axis"))


_CHOICES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"active": (ME, OPPONENT), "axis": (HORIZONTAL, VERTICAL)},
)


def _choice(active: str, axis: str) -> dict[str, Json]:
    return {"active": active, "axis": axis}


def _word_in(answer: Mapping[str, Json], key: str) -> str:
    if key not in answer:
        raise MoveUnreadable(f'{quote(answer)} lacks "{key}", which is {" or ".join(_CHOICES[key])}')
    return read_word(answer[key], f'a value of "{key}"', _CHOICES[key])


def worded(axis: Axis, step: int) -> str:
    """A movement in words: `left 2`, `stay`, `down 1`."""
    return f"{_WAYS[axis][step > 0]} {abs(step)}" if step else _STAY


def ways(axis: Axis) -> str:
    """`left or right`, `up or down`."""
    return " or ".join(_WAYS[axis])


def answered(axis: Axis, step: int) -> dict[str, Json]:
    """A movement as a model writes it: `{"direction": "left", "distance": 2}`."""
    return {"direction": _WAYS[axis][step > 0] if step else _STAY, "distance": abs(step)}


@dataclass(frozen=True, slots=True)
class Steps(Numbers):
    """Movements along one axis, as signed numbers of squares: left and up are negative.

    One square, at least one way, is always among them.
    """

    axis: Axis

    @property
    def answer(self) -> AnswerForm:
        """`direction` and `distance`, each limited to what occurs in a legal movement."""
        moves = [answered(self.axis, step) for step in self.values]
        schema: dict[str, Json] = {
            "direction": {"type": "string", "enum": list(dict.fromkeys(move["direction"] for move in moves))},
            "distance": {"type": "integer", "enum": sorted({abs(step) for step in self.values})},
        }
        by_one = next(step for step in self.values if abs(step) == 1)
        return AnswerForm(tuple(schema), schema, tuple(schema), _STEP, json.dumps(answered(self.axis, by_one)))

    def describe(self) -> str:
        """Each as the JSON object that a model would write."""
        return commas(json.dumps(answered(self.axis, step)) for step in self.values)

    @property
    def words(self) -> str:
        """`left 1, stay, right 1`."""
        return ", ".join(worded(self.axis, step) for step in self.values)

    def read(self, value: Json) -> int:
        """Also takes the signed number itself, as records keep it."""
        step = self._step_in(value) if isinstance(value, Mapping) else read_integer(value, "a movement")
        if step in self.values:
            return step
        why = "you stayed in the turn before" if not step else "that is too far or off the board"
        raise MoveIllegal(f"{quote(value)} is not a legal move now, {why}: you may go {self.words}")

    def _step_in(self, answer: Mapping[str, Json]) -> int:
        sign = self._sign_in(answer)
        if sign == 0 and answer.get("distance") is None:
            return 0
        if "distance" not in answer:
            raise MoveUnreadable(f'{quote(answer)} lacks "distance", the number of squares')
        distance = read_integer(answer["distance"], "a distance")
        if distance < 0:
            raise MoveUnreadable(f'"distance" is {distance}: it counts squares, and the direction is said in words')
        if sign == 0 and distance:
            raise MoveUnreadable(f'"{_STAY}" goes 0 squares, not {quote(answer["distance"])}')
        return sign * distance

    def _sign_in(self, answer: Mapping[str, Json]) -> int:
        if "direction" not in answer:
            raise MoveUnreadable(f'{quote(answer)} lacks "direction", which is {ways(self.axis)} or {_STAY}')
        word = read_word(answer["direction"], "a direction", (*_WAYS[HORIZONTAL], *_WAYS[VERTICAL], _STAY))
        if word == _STAY:
            return 0
        if word not in _WAYS[self.axis]:
            raise MoveIllegal(f"{word} is along the other axis: you may go {self.words}")
        return 1 if word == _WAYS[self.axis][1] else -1


@cache
def steps(axis: Axis, at: int, size: int, reach: int, may_stay: bool) -> Steps:
    """The movements of up to `reach` squares from coordinate `at` that stay on a board of `size`."""
    return Steps(tuple(step for step in range(-reach, reach + 1) if 0 <= at + step < size and (step or may_stay)), axis)
