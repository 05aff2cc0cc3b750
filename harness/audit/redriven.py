"""A policy at its seat once more, led through a finished episode by what it was answered then.

Owns putting a player into the state it was in at any of its decisions, notes and all, without asking anybody: a script
draws from the same stream again, and a model's replies come from the run. So what a player asked, and what an altered
one wanted to do, need not be believed: it follows from the record and the calls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import Protocol

from weigh.games.game import Seat, State
from weigh.harness.store.calls import Call, CallKey
from weigh.harness.store.record import Decision, Record
from weigh.policies.contract import (
    Completion,
    DecisionTimedOut,
    ModelClient,
    Player,
    Policy,
    Reply,
    Request,
    Retry,
)
from weigh.policies.layout import hint

ATTEMPTS = 2


class NotKept(Exception):
    """The run holds no answer to this question."""


class Kept(Protocol):
    """Where the answers of a run are found."""

    def paid(self, key: CallKey, request: Request) -> Call | None: ...


class Line(ModelClient, Protocol):
    """A seat's way to its model: see `harness.run.episode.Line`."""

    def open(self, step: int, attempt: int) -> None: ...


class KeptLine:
    """A line that gives the answers a run holds, and asks nobody. Raises NotKept for any other question."""

    def __init__(self, kept: Kept, episode: str, seat: Seat) -> None:
        self._kept = kept
        self._episode = episode
        self._seat = seat
        self.open(0, 1)

    def open(self, step: int, attempt: int) -> None:
        self._key = CallKey(self._episode, self._seat, step, attempt)

    async def complete(self, request: Request) -> Completion:
        call = self._kept.paid(self._key, request)
        if call is None:
            raise NotKept(f"{self._key.episode}, seat {self._key.seat}, step {self._key.step}")
        if call.completion is None:
            raise DecisionTimedOut(call.error or "timed out")
        return call.completion


class Switch:
    """A line that can be put through to another one in the midst of an episode."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def open(self, step: int, attempt: int) -> None:
        self.line.open(step, attempt)

    async def complete(self, request: Request) -> Completion:
        return await self.line.complete(request)


class Redriven:
    """A policy sat down again at a seat of a finished episode."""

    def __init__(
        self, policy: Policy, record: Record, states: Sequence[State], seat: Seat, rng: Random, kept: Kept
    ) -> None:
        """`rng` is the seat's stream, as it was when the policy first sat down. Of an altered policy, hand in the
        policy itself to learn what it wanted."""
        self.line = Switch(KeptLine(kept, record.key, seat))
        self.rng = rng
        self.player: Player = policy.sit(seat, rng, self.line if policy.model is not None else None)
        self._record = record
        self._states = states
        self._seat = seat
        self._notes: str | None = None

    async def decisions(self, before: int | None = None) -> AsyncIterator[tuple[Decision, Reply]]:
        """Its decisions in turn, each with what it answers last; only those before a step, if given."""
        for decision in self._record.decisions:
            if decision.seat == self._seat and (before is None or decision.step < before):
                yield decision, (await self.attempts(decision.step))[-1]

    async def attempts(self, step: int) -> list[Reply]:
        """What it answers at a step: a legal move, or a fault and what its second attempt gave. Where that failed as
        well, the fallback moved. To be asked for every step at which the seat moved, in order."""
        seen = self._states[step].observe(self._seat, self._record.aliases)
        retry: Retry | None = None
        replies: list[Reply] = []
        for attempt in range(1, ATTEMPTS + 1):
            self.line.open(step, attempt)
            try:
                reply = await self.player.decide(seen, retry)
                self._notes = reply.notes
            except DecisionTimedOut as late:
                reply = Reply(fault="timed_out", detail=str(late), notes=self._notes)
            replies.append(reply)
            if reply.fault is None:
                break
            retry = Retry(reply.fault, reply.detail, hint(reply.fault, reply.detail, seen.legal))
        return replies
