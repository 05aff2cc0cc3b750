"""Random playouts per second of the two bidding games: the object engine, with and without observations, and numpy.

A playout deals, plays uniform legal bids to the end and asks for the outcome. Figures are CPU time of one process, the
best of several runs, as other work on the machine only ever makes a run slower. `vectorised` counts the games whose
moves, points and margins are all kept.

Where OpenSpiel is installed (`pip install open_spiel`), its playouts through Python stand beside ours, from the same
run. It settles returns alone, without hands, spending or a collusion index.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from random import Random
from time import process_time
from typing import Any

import numpy as np
from pydantic import BaseModel

from weigh.games.game import AnyGame
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.games.goofspiel.vectorised import random_goofspiel
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.oshi_zumo.vectorised import random_oshi_zumo

NAMES = ("Ash", "Birch", "Cedar", "Dune")
RUNS = 5


def playouts(game: AnyGame, config: BaseModel, observing: bool, rng: Random, count: int) -> None:
    """Plays `count` episodes; with `observing`, every seat is shown the position before every bid."""
    names = NAMES[: game.seat_count(config)]
    for _ in range(count):
        state = game.start(config, game.deal(config, rng))
        while state.to_act:
            if observing:
                for seat in state.to_act:
                    state.observe(seat, names)
            state = state.play({seat: state.legal(seat).sample(rng) for seat in state.to_act})
        assert state.outcome is not None


OPENSPIEL: dict[str, dict[str, Any]] = {
    "goofspiel": {"players": 4, "num_cards": 13, "points_order": "random", "returns_type": "total_points"},
    "oshi_zumo": {"coins": 20, "size": 3, "horizon": 20, "min_bid": 1},
}


def openspiel_playouts(game: Any, rng: Random, count: int) -> None:
    """The same by OpenSpiel, whose chance nodes deal the prizes one by one."""
    for _ in range(count):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(rng.choice([action for action, _ in state.chance_outcomes()]))
            else:
                state.apply_actions([rng.choice(state.legal_actions(seat)) for seat in range(game.num_players())])
        assert len(state.returns()) == game.num_players()


def rate(count: int, run: Callable[[int], object]) -> float:
    """Playouts per second of CPU time, best of `RUNS`."""
    run(count)  # fills the caches and settles the interpreter's specialised code
    best = float("inf")
    for _ in range(RUNS):
        start = process_time()
        run(count)
        best = min(best, process_time() - start)
    return count / best


def main() -> None:
    print(f"{'playouts/s':<14}{'objects':>12}{'observing':>12}{'vectorised':>14}{'ratio':>8}")
    rng, numbers = Random(1), np.random.Generator(np.random.SFC64(1))
    goofspiel, oshi_zumo = GoofspielConfig(), OshiZumoConfig()
    rows: list[tuple[AnyGame, BaseModel, Callable[[int], object]]] = [
        (GOOFSPIEL, goofspiel, lambda count: random_goofspiel(goofspiel, count, numbers)),
        (OSHI_ZUMO, oshi_zumo, lambda count: random_oshi_zumo(oshi_zumo, count, numbers)),
    ]
    for game, config, vectorised in rows:
        objects = rate(4_000, partial(playouts, game, config, False, rng))
        observing = rate(200, partial(playouts, game, config, True, rng))
        batch = rate(500_000, vectorised)
        print(f"{game.name:<14}{objects:>12,.0f}{observing:>12,.0f}{batch:>14,.0f}{batch / objects:>7,.0f}x")
        if find_spec("pyspiel"):
            theirs = import_module("pyspiel").load_game(game.name, OPENSPIEL[game.name])
            peer = rate(4_000, partial(openspiel_playouts, theirs, rng))
            print(f"{'  OpenSpiel':<14}{peer:>12,.0f}   ours over theirs: {objects / peer:.2f}")
