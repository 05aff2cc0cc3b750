"""Who follows what is played: a display, a live page, a person's page, several of them told as one.

Owns that several are told in order. Shows nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias

from weigh.games.game import Move, Seat, State
from weigh.harness.run.episode import Table, Watch
from weigh.harness.run.events import Closing, Plan, Progress
from weigh.harness.run.runner import Onlooker
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Decision, Record

Watching: TypeAlias = Callable[[Table], Watch | None]
"""The watch of each episode, by the table it is played at; None where nobody watches it."""


@dataclass(frozen=True, slots=True)
class Onlookers:
    """Several onlookers of one run, told in this order."""

    each: tuple[Onlooker, ...]

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        for one in self.each:
            one.episode_started(key, entrants)

    def episode_finished(self, record: Record) -> None:
        for one in self.each:
            one.episode_finished(record)

    def episode_void(self, void: Void) -> None:
        for one in self.each:
            one.episode_void(void)

    def call_finished(self, call: Call) -> None:
        for one in self.each:
            one.call_finished(call)

    def note(self, line: str) -> None:
        for one in self.each:
            one.note(line)


class Together(Onlookers):
    """The same for all that a `harness.run.events.Progress` is told. The first is entered first and left last."""

    __slots__ = ()

    def __init__(self, first: Progress, second: Progress) -> None:
        super().__init__((first, second))

    def __enter__(self) -> Self:
        for one in self._each():
            one.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in reversed(self._each()):
            one.__exit__(kind, error, trace)

    def run_started(self, plan: Plan) -> None:
        for one in self._each():
            one.run_started(plan)

    def run_finished(self, closing: Closing) -> None:
        for one in self._each():
            one.run_finished(closing)

    def _each(self) -> Sequence[Any]:
        return self.each


@dataclass(frozen=True, slots=True)
class Watches:
    """Several watches of one episode, told in this order."""

    each: tuple[Watch, ...]

    def step_played(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
        for one in self.each:
            one.step_played(state, moves, decisions)
