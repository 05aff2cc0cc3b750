"""Every game under every config worth testing, and random episodes of them, for the conformance suite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from tests.games.adapters.adapter import Adapter, Steps
from tests.games.adapters.table import ADAPTERS
from weigh.games.game import AnyGame, Deal, State
from weigh.games.registry import GAMES, read_config

SEEDS = range(4)
NAMES = tuple(f"Name{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Table(NamedTuple):
    """A game under one config, and how to test it."""

    game: AnyGame
    config: Any
    adapter: Adapter

    @property
    def seats(self) -> int:
        return self.game.seat_count(self.config)

    @property
    def names(self) -> tuple[str, ...]:
        return NAMES[: self.seats]


class Episode(NamedTuple):
    """A random episode to its end: the states from the first to the last, and the steps between them."""

    deal: Deal
    states: list[State]
    steps: Steps


def all_tables() -> Iterator[Any]:
    for name, game in GAMES.items():
        adapter = ADAPTERS.get(name)
        for fields in adapter.configs if adapter else ():
            label = "-".join([name, *(f"{key}{value}" for key, value in fields.items())])
            yield pytest.param(Table(game, read_config(game, fields), adapter), id=label)  # type: ignore[arg-type]


every_table = pytest.mark.parametrize("table", list(all_tables()))
every_game = pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))


@cache
def played(game: AnyGame, config: BaseModel, seed: int) -> Episode:
    rng = Random(seed)
    deal = game.deal(config, rng)
    states, steps = [game.start(config, deal)], []
    while states[-1].to_act:
        state = states[-1]
        moves = {seat: state.legal(seat).sample(rng) for seat in sorted(state.to_act)}
        steps.append([moves.get(seat) for seat in range(game.seat_count(config))])
        states.append(state.play(moves))
        assert len(steps) <= game.longest(config)
    return Episode(deal, states, steps)


def episodes(table: Table) -> list[Episode]:
    return [played(table.game, table.config, seed) for seed in SEEDS]


def snapshot(state: State, names: tuple[str, ...]) -> str:
    """Everything a state says of itself, as text."""
    seen = [repr(state.observe(seat, names)) for seat in sorted(state.to_act)]
    return repr([sorted(state.to_act), state.events, state.outcome, seen])


def some_moves(state: State) -> dict[int, Any]:
    return {seat: next(iter(state.legal(seat))) for seat in sorted(state.to_act)}
