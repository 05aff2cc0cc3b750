"""One episode, from its deal to its record.

Owns the round: who is asked, in what order things become visible, the ladder of attempt, retry and fallback, and what
is recorded of it. Knows no provider, no store and no schedule: a seat's line to its model is handed in.

The round
1. Every seat in `to_act` gets its observation. Scripted seats answer inline; then the requests of ALL model seats leave
   in one parallel batch, and people are asked beside them.
2. A seat whose attempt gave no legal move is asked once more, as soon as its own first attempt has failed.
3. After a second fault the game's fallback policy moves for it.
4. The moves are applied together when all are in. Nobody sees any of them before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from pydantic import BaseModel

from weigh.games.game import AnyGame, Deal, Event, Move, Observation, Outcome, Seat, State
from weigh.harness.run.limits import Stopping
from weigh.harness.seeds import stream
from weigh.harness.store.calls import Void
from weigh.harness.store.record import By, Decision, FaultNote, Record, Times
from weigh.policies.contract import (
    DecisionTimedOut,
    ModelClient,
    Outage,
    Player,
    Policy,
    Reply,
    Retry,
)
from weigh.policies.human import HumanPolicy
from weigh.policies.layout import hint

ATTEMPTS = 2
"""A first attempt and one retry."""


class PolicyBroken(Exception):
    """A policy of the harness's own making returned a move that is not legal: a bug, not a fault of a model."""


class Line(ModelClient, Protocol):
    """A seat's way to its model for one episode. It is told which attempt its next calls belong to."""

    def open(self, step: int, attempt: int) -> None:
        """The calls that follow are made for this attempt (1 or 2) at this step, with a fresh decision timeout."""


class Watch(Protocol):
    """Whoever looks on. It is shown a round only after every move of it is in."""

    def step_played(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
        """The position after a step, with the moves that led there."""


@dataclass(frozen=True, slots=True)
class Table:
    """One episode, set up and ready to be played. Every value is derived from the run's config and seed."""

    key: str
    block: str
    game: AnyGame
    config: BaseModel
    deal: Deal
    run_seed: int
    policies: tuple[Policy, ...]
    """By seat."""
    aliases: tuple[str, ...]
    """By seat."""
    fallback: Policy
    """Scripted; moves for a seat after two faults."""
    decision_timeout: float = 60.0
    """Seconds one attempt may take, the waits for its provider included."""
    episode_deadline: float | None = None
    """Seconds the episode may take; None for no limit."""
    stream_key: str = ""
    """What its randomness is drawn for; empty for its own key."""

    @property
    def entrants(self) -> tuple[str, ...]:
        return tuple(policy.name for policy in self.policies)


@dataclass(slots=True)
class _Seated:
    """A player with what the orchestrator keeps for it."""

    player: Player
    line: Line | None
    """None for a player that asks no model."""
    by: By
    """Who its first attempts are made by."""
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    seat: Seat
    move: Move
    decision: Decision


@dataclass(slots=True)
class _Score:
    """What is being written down while an episode is played."""

    moves: list[tuple[Move, ...]] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)


async def play_episode(
    table: Table,
    lines: Mapping[Seat, Line],
    *,
    watch: Watch | None = None,
    now: Callable[[], float] = time.monotonic,
    check: Callable[[], None] = lambda: None,
) -> Record | Void:
    """Play one episode to its end: a Record, or a Void when a provider failed one of its seats.

    `lines` has an entry for every seat whose policy needs a model. `check` is called before each step and may raise
    `Stopping`. Raises Stopping when the run must not go on (the episode is unfinished), Fatal when no call can succeed,
    PolicyBroken and whatever else is a bug. Exceptions are raised only after every seat of the round has come to rest.
    """
    seated = [_sit(table, seat, lines.get(seat)) for seat in range(len(table.policies))]
    state = table.game.start(table.config, table.deal)
    score = _Score()
    began, started = now(), datetime.now(UTC)
    while state.to_act:
        check()
        if _too_late(table, lines, now() - began):
            state = state.stop()
            break
        step = len(score.moves)
        answers = await _round(table, state, seated, step)
        outages = [(seat, result) for seat, result in answers if isinstance(result, Outage)]
        if outages:
            return _void(table, step, outages)
        settled = [result for _, result in answers if isinstance(result, _Answer)]
        moves = {answer.seat: answer.move for answer in settled}
        state = state.play(moves)
        score.moves.append(tuple(moves.get(seat) for seat in range(len(seated))))
        decisions = tuple(answer.decision for answer in settled)
        score.decisions.extend(decisions)
        if watch is not None:
            watch.step_played(state, moves, decisions)
    outcome = state.outcome
    if outcome is None:
        raise PolicyBroken(f"{table.game.name} has no seat to act and no outcome")
    times = Times(started=started.isoformat(timespec="milliseconds"), seconds=round(now() - began, 6))
    return _record(table, score, state.events, outcome, times)


def _sit(table: Table, seat: Seat, line: Line | None) -> _Seated:
    policy = table.policies[seat]
    if policy.model is not None and line is None:
        raise ValueError(f"seat {seat} of {table.key} plays {policy.name} and has no line to {policy.model}")
    rng = stream(table.run_seed, "seat", table.stream_key or table.key, seat)
    player = policy.sit(seat, rng, line)
    if line is not None:
        return _Seated(player, line, "model")
    return _Seated(player, None, "human" if isinstance(policy, HumanPolicy) else "scripted")


def _too_late(table: Table, lines: Mapping[Seat, Line], elapsed: float) -> bool:
    """Whether a round opened now might end after the deadline, at worst."""
    if table.episode_deadline is None:
        return False
    worst = ATTEMPTS * table.decision_timeout if lines else 0.0
    return elapsed + worst > table.episode_deadline


async def _round(table: Table, state: State, seated: list[_Seated], step: int) -> list[tuple[Seat, _Answer | Outage]]:
    """Every acting seat's answer to one position, in seat order."""
    acting = sorted(state.to_act)
    seen = {seat: state.observe(seat, table.aliases) for seat in acting}
    results: dict[Seat, _Answer | BaseException] = {}
    for seat in acting:
        if seated[seat].by == "scripted":
            results[seat] = await _decide(table, seated[seat], seen[seat], step)
    asked = [seat for seat in acting if seated[seat].by != "scripted"]
    # Exceptions are gathered, not raised at once: a seat that fails must not cancel another's paid call.
    batch = await asyncio.gather(
        *(_decide(table, seated[seat], seen[seat], step) for seat in asked), return_exceptions=True
    )
    results.update(zip(asked, batch, strict=True))
    _raise_worst([result for result in results.values() if isinstance(result, BaseException)])
    answers: list[tuple[Seat, _Answer | Outage]] = []
    for seat in acting:
        result = results[seat]
        if isinstance(result, _Answer | Outage):
            answers.append((seat, result))
    return answers


def _raise_worst(failures: list[BaseException]) -> None:
    """Raise what must not be passed over: bugs and Fatal first, then Stopping. Outages are left to void the episode."""
    for failure in failures:
        if not isinstance(failure, Outage | Stopping):
            raise failure
    for failure in failures:
        if isinstance(failure, Stopping):
            raise failure


async def _decide(table: Table, seat: _Seated, seen: Observation, step: int) -> _Answer:
    """One seat's move: at most two attempts, then the fallback."""
    faults: list[FaultNote] = []
    retry: Retry | None = None
    for attempt in range(1, ATTEMPTS + 1):
        if seat.line is not None:
            seat.line.open(step, attempt)
        try:
            reply = await seat.player.decide(seen, retry)
        except DecisionTimedOut as late:
            reply = Reply(fault="timed_out", detail=str(late), notes=seat.notes)
        if reply.fault is None:
            if reply.move not in seen.legal:
                raise PolicyBroken(
                    f"{table.policies[seen.seat].name} played {reply.move!r} at step {step} of {table.key}, "
                    f"seat {seen.seat}; legal: {seen.legal.describe()}"
                )
            by: By = seat.by if attempt == 1 else "retry"
            return _answer(seat, seen, step, reply.move, by, faults, reply.notes)
        faults.append(FaultNote(fault=reply.fault, detail=reply.detail))
        retry = Retry(reply.fault, reply.detail, hint(reply.fault, reply.detail, seen.legal))
    # A player of its own for each call: what the fallback draws does not depend on how often it was needed before.
    rng = stream(table.run_seed, "fallback", table.stream_key or table.key, step, seen.seat)
    stand_in = await table.fallback.sit(seen.seat, rng, None).decide(seen, None)
    if stand_in.fault is not None or stand_in.move not in seen.legal:
        raise PolicyBroken(f"the fallback {table.fallback.name} gave no legal move at step {step} of {table.key}")
    return _answer(seat, seen, step, stand_in.move, "fallback", faults, seat.notes)


def _answer(
    seat: _Seated, seen: Observation, step: int, move: Move, by: By, faults: list[FaultNote], notes: str | None
) -> _Answer:
    changed = notes if notes != seat.notes else None
    seat.notes = notes
    return _Answer(seen.seat, move, Decision(step=step, seat=seen.seat, by=by, faults=tuple(faults), notes=changed))


def _void(table: Table, step: int, outages: list[tuple[Seat, Outage]]) -> Void:
    return Void(
        episode=table.key,
        block=table.block,
        game=table.game.name,
        entrants=table.entrants,
        step=step,
        seats=tuple(seat for seat, _ in outages),
        cause="; ".join(dict.fromkeys(str(outage) for _, outage in outages)),
    )


def _record(table: Table, score: _Score, events: tuple[Event, ...], outcome: Outcome, times: Times) -> Record:
    fallbacks = [0] * len(table.policies)
    for decision in score.decisions:
        fallbacks[decision.seat] += decision.by == "fallback"
    return Record.model_validate(
        {
            "key": table.key,
            "block": table.block,
            "game": table.game.name,
            "config": table.config.model_dump(mode="json"),
            "deal": dict(table.deal),
            "entrants": table.entrants,
            "policies": tuple(policy.digest for policy in table.policies),
            "models": tuple(policy.model for policy in table.policies),
            "aliases": table.aliases,
            "fallback": table.fallback.name,
            "episode_deadline": table.episode_deadline,
            "moves": tuple(score.moves),
            "decisions": tuple(score.decisions),
            "events": tuple(event.to_json() for event in events),
            "reason": outcome.reason,
            "ending": outcome.ending,
            "scores": tuple(float(value) for value in outcome.scores),
            "measures": dict(outcome.measures),
            "fallbacks": tuple(fallbacks),
            "times": times,
        }
    )
