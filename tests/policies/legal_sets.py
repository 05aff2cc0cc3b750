"""Legal sets for tests of what stands between a reply and a move. No part of the product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from weigh.games.game import AnswerForm, Json, Legal, Move, MoveIllegal, MoveUnreadable
from weigh.games.legal import Bids
from weigh.games.registry import game_named


def opening(name: str, rounds: int = 0) -> Legal:
    """What seat 0 may play in a game with its defaults, after some rounds of everybody's lowest bid."""
    game = game_named(name)
    config = game.config_type()
    state = game.start(config, game.deal(config, Random(1)))
    for _ in range(rounds):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.to_act})
    return state.legal(0)


TO_TEN = Bids(tuple(range(11)))
"""Bids from 0 to 10."""


@dataclass(frozen=True, slots=True)
class Words:
    """Moves that are words under one key, read without regard to case and otherwise exactly."""

    key: str
    words: tuple[str, ...]

    @property
    def answer(self) -> AnswerForm:
        schema: dict[str, Json] = {self.key: {"type": "string", "enum": list(self.words)}}
        return AnswerForm(
            (self.key,), schema, (self.key,), f'{{"{self.key}": WORD}}', f'{{"{self.key}": "{self.words[0]}"}}'
        )

    def __contains__(self, move: object) -> bool:
        return move in self.words

    def __iter__(self) -> Iterator[Move]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def describe(self) -> str:
        return ", ".join(self.words)

    def sample(self, rng: Random) -> Move:
        return self.words[int(rng.random() * len(self.words))]

    def read(self, value: Json) -> Move:
        if not isinstance(value, str):
            raise MoveUnreadable(f"{value!r} is no word")
        for word in self.words:
            if word.casefold() == value.strip().casefold():
                return word
        raise MoveIllegal(f"{value!r} is none of {self.describe()}")


@dataclass(frozen=True, slots=True)
class Steps:
    """Moves made of two keys: a direction and a distance. The canonical move is a list of both."""

    most: int = 2

    @property
    def answer(self) -> AnswerForm:
        schema: dict[str, Json] = {"direction": {"enum": ["left", "right"]}, "distance": {"type": "integer"}}
        return AnswerForm(
            ("direction", "distance"),
            schema,
            ("direction", "distance"),
            '{"direction": "WORD", "distance": N}',
            '{"direction": "left", "distance": 1}',
        )

    def __contains__(self, move: object) -> bool:
        return move in list(self)

    def __iter__(self) -> Iterator[Move]:
        for direction in ("left", "right"):
            for distance in range(self.most + 1):
                yield [direction, distance]

    def __len__(self) -> int:
        return 2 * (self.most + 1)

    def describe(self) -> str:
        return f"left or right, 0 to {self.most}"

    def sample(self, rng: Random) -> Move:
        return list(self)[int(rng.random() * len(self))]

    def read(self, value: Json) -> Move:
        if not isinstance(value, Mapping) or set(value) != {"direction", "distance"}:
            raise MoveUnreadable(f"{value!r} has not both direction and distance")
        move: Move = [value["direction"], value["distance"]]
        if move not in self:
            raise MoveIllegal(f"{value!r} is not among {self.describe()}")
        return move
