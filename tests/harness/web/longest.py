"""The longest episode the default Half-Hearted Step allows: 75 steps, every square visited before a life is lost."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

from tests.harness.web.episodes import given, played
from weigh.games.game import Move, State
from weigh.games.registry import game_named
from weigh.harness.store.record import Record

GAME = "half_hearted_step"


def longest_half_hearted_step() -> Record:
    """Twenty bids that never part, the choice, then squares that leave the fewest ways on (Warnsdorff's rule)."""
    rules = game_named(GAME)
    config = rules.config_type()
    rng = Random(0)
    deal = rules.deal(config, rng)
    state, lives = rules.start(config, deal), [config.lives] * 2
    rows: list[tuple[Move, Move]] = []
    while state.to_act:
        move = _next(state, len(rows), lives, config.auction_rounds, rng)
        state = state.play(move)
        rows.append((move.get(0), move.get(1)))
        if state.events[-1].kind in ("move", "end"):
            lives = _landing(state)["lives_after"]
    return played(GAME, deal=deal, choose=given(rows))


def _next(state: State, step: int, lives: list[int], rounds: int, rng: Random) -> dict[int, Move]:
    if len(state.to_act) == 1:
        (seat,) = state.to_act
        return {seat: next(iter(state.legal(seat)))}
    if step < rounds:
        return {0: step, 1: step}
    new = _new_squares(state, lives)
    if not new:
        return {seat: next(iter(state.legal(seat))) for seat in (0, 1)}
    rng.shuffle(new)
    return min(new, key=lambda move: _ways_on(state.play(move), lives))


def _new_squares(state: State, lives: list[int]) -> list[dict[int, Move]]:
    moves = [dict(enumerate(pair)) for pair in product(state.legal(0), state.legal(1))]
    return [move for move in moves if _landing(state.play(move))["lives_after"] == lives]


def _ways_on(state: State, lives: list[int]) -> int:
    if not state.to_act:
        return 99
    return len({tuple(_landing(state.play(move))["square"]) for move in _new_squares(state, lives)})


def _landing(state: State) -> dict[str, Any]:
    return dict(next(event.data for event in reversed(state.events) if event.kind == "move"))
