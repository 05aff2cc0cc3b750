"""Episodes for the viewer's tests: played by chance or by given moves, through the real rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from weigh.games.game import Move, Seat, State
from weigh.games.registry import game_named
from weigh.harness.seeds import NAMES
from weigh.harness.store.record import Decision, FaultNote, Record

Choice = Callable[[State, Seat, int, Random], Move]


def chance(state: State, seat: Seat, step: int, rng: Random) -> Move:
    return state.legal(seat).sample(rng)


def given(rows: Sequence[Sequence[Move]]) -> Choice:
    """These moves, a row a step."""
    return lambda state, seat, step, rng: rows[step][seat]


def played(
    game: str,
    config: Mapping[str, Any] | None = None,
    *,
    seed: int = 1,
    choose: Choice = chance,
    stop: int | None = None,
    deal: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Record:
    """The record of an episode. `stop`: the clock ends it before this step. `changes` are fields of the record."""
    rules = game_named(game)
    settings = rules.config_type(**dict(config or {}))
    rng = Random(seed)
    drawn = rules.deal(settings, rng) if deal is None else deal
    state = rules.start(settings, drawn)
    seats = rules.seat_count(settings)
    moves: list[tuple[Move, ...]] = []
    decisions: list[Decision] = []
    while state.to_act and (stop is None or len(moves) < stop):
        acting = {seat: choose(state, seat, len(moves), rng) for seat in sorted(state.to_act)}
        decisions += [Decision(step=len(moves), seat=seat, by="scripted") for seat in acting]
        moves.append(tuple(acting.get(seat) for seat in range(seats)))
        state = state.play(acting)
    ended = state.stop() if state.to_act else state
    outcome = ended.outcome
    assert outcome is not None
    values = {
        "key": f"{game}/b0000/r0",
        "block": f"{game}/b0000",
        "game": game,
        "config": settings.model_dump(mode="json"),
        "deal": dict(drawn),
        "entrants": tuple(f"entrant-{seat}" for seat in range(seats)),
        "policies": ("a" * 64,) * seats,
        "models": (None,) * seats,
        "aliases": NAMES[3 : 3 + seats] if seats <= len(NAMES) - 3 else NAMES[:seats],
        "fallback": rules.fallback,
        "episode_deadline": 60.0 if outcome.reason == "deadline" else None,
        "moves": tuple(moves),
        "decisions": [decision.model_dump(mode="json") for decision in decisions],
        "events": tuple(event.to_json() for event in ended.events),
        "reason": outcome.reason,
        "ending": outcome.ending,
        "scores": tuple(float(score) for score in outcome.scores),
        "measures": dict(outcome.measures),
        "fallbacks": (0,) * seats,
    }
    return Record.model_validate(json.loads(json.dumps(values | changes)))


def by_models(record: Record, notes: str | None = None) -> Record:
    """The same episode as if models had played it: seat 0 by a fallback at step 0, seat 1 by a retry, else at once."""

    def made(decision: Decision) -> Decision:
        if decision.step == 0 and decision.seat == 0:
            faults = (
                FaultNote(fault="illegal", detail="99 is not a legal bid"),
                FaultNote(fault="empty", detail="no text"),
            )
            return Decision(step=0, seat=0, by="fallback", faults=faults)
        if decision.step == 0 and decision.seat == 1:
            faults = (FaultNote(fault="truncated", detail="cut at the token cap"),)
            return Decision(step=0, seat=1, by="retry", faults=faults, notes=notes)
        return Decision(step=decision.step, seat=decision.seat, by="model")

    seats = len(record.entrants)
    return record.model_copy(
        update={
            "decisions": tuple(map(made, record.decisions)),
            "models": tuple(f"openai:model-{seat}" for seat in range(seats)),
            "fallbacks": (1, *(0,) * (seats - 1)),
        }
    )
