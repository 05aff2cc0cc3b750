"""What the live pages know of a run: all that it reports, kept in memory for its subscribers.

Owns the sealing (nothing of an open round is counted or kept where a page could see it) and the bound on what is
remembered. The run writes from its thread and never waits: a page has no queue here that could fill, it reads what
there is when it is ready. Knows no server.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final, Self

from weigh.games.game import Move, Seat, State
from weigh.harness.run.episode import Table
from weigh.harness.run.events import Closing, Plan
from weigh.harness.run.tally import Tally
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.live.episode import LiveEpisode

RECENT: Final = 50
"""Episodes that are remembered after they ended, so that a page can see them out."""

NOTES: Final = 100
"""The latest notes that are remembered."""


@dataclass(frozen=True, slots=True)
class _Subscriber:
    """The subscriber to one episode, a `harness.run.episode.Watch`."""

    feed: Feed
    key: str

    def step_played(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
        self.feed.step_played(self.key, state, moves, decisions)


class Feed:
    """A `harness.run.events.Progress` that shows nothing and remembers what there is to show. Any thread may read it,
    with `lock` held."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.lock = threading.Lock()
        self.version = 0
        """Grows with everything that changes."""
        self.tally = Tally(Plan("", 0, (), {}), clock)
        self.flights: OrderedDict[str, LiveEpisode] = OrderedDict()
        """Episodes being played, in the order in which they started."""
        self.recent: OrderedDict[str, LiveEpisode] = OrderedDict()
        """Episodes that ended, in that order."""
        self.notes: deque[str] = deque(maxlen=NOTES)
        self.closing: Closing | None = None
        """How the run ended; None while it goes on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A run that ends without `run_finished` failed."""
        if self.closing is None:
            done, total = self.tally.done, self.tally.total
            why = "it failed" if error is None else f"it failed: {type(error).__name__}"
            self.run_finished(Closing("stopped", done, self.tally.void, total, why))

    def watch(self, table: Table) -> _Subscriber:
        """The subscriber to an episode that is about to be played."""
        with self.lock:
            self.flights[table.key] = LiveEpisode(table)
            self.recent.pop(table.key, None)
            self.version += 1
        return _Subscriber(self, table.key)

    def step_played(self, key: str, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
        with self.lock:
            episode = self.flights.get(key)
            if episode is not None:
                self._count(episode.seal(state, moves, decisions))
                self.version += 1

    def run_started(self, plan: Plan) -> None:
        with self.lock:
            self.tally = Tally(plan, self._clock)
            self.version += 1

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        with self.lock:
            self.tally.episode_started(key, tuple(entrants))
            self.version += 1

    def episode_finished(self, record: Record) -> None:
        with self.lock:
            episode = self._land(record.key)
            if episode is not None:
                last = episode.steps[-1].after if episode.steps else None
                if last is not None and last.to_act:
                    # The clock stopped it between rounds, which the subscriber is not told of as a step.
                    episode.seal(last.stop(), {}, ())
                episode.record = record
            self.tally.episode_finished(record)
            self.version += 1

    def episode_void(self, void: Void) -> None:
        with self.lock:
            episode = self._land(void.episode)
            if episode is not None:
                episode.void = void
            self.tally.episode_void(void)
            self.version += 1

    def call_finished(self, call: Call) -> None:
        with self.lock:
            episode = self.flights.get(call.key.episode)
            # A passing failure says nothing of the round, and explains why nothing moves.
            if episode is None or call.fate == "wait":
                self.tally.call_finished(call)
            else:
                self.tally.answered(call.key)
            if episode is not None:
                # Without its messages: a page shows none, and they are the most of what would be remembered.
                episode.held.append(replace(call, request=replace(call.request, messages=())))
            self.version += 1

    def note(self, line: str) -> None:
        with self.lock:
            self.notes.append(line)
            self.version += 1

    def run_finished(self, closing: Closing) -> None:
        with self.lock:
            for episode in self.flights.values():
                self._count(episode.held)
            self.closing = closing
            self.version += 1

    def episode(self, key: str) -> LiveEpisode | None:
        """An episode being played, or one that ended not long ago."""
        return self.flights.get(key) or self.recent.get(key)

    def newest(self) -> str | None:
        """The episode that started last of those being played, or else that ended last."""
        for episodes in (self.flights, self.recent):
            if episodes:
                return next(reversed(episodes))
        return None

    def _land(self, key: str) -> LiveEpisode | None:
        episode = self.flights.pop(key, None)
        if episode is None:
            return None
        self._count(episode.held)
        self.recent[key] = episode
        while len(self.recent) > RECENT:
            self.recent.popitem(last=False)
        return episode

    def _count(self, calls: Sequence[Call]) -> None:
        """Count what was held back; passing failures were counted as they came."""
        for call in calls:
            if call.fate != "wait":
                self.tally.call_finished(call)
