"""What a run tells the person who waits for it, and who shows it.

Owns the calls a run makes while it goes on (`Progress`), the values they carry, and the choice between a live picture,
plain lines and silence. Knows nothing of how a run is driven. Progress goes to stderr; results belong to stdout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, Self, TypeAlias

from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Record

Ended: TypeAlias = Literal["complete", "stopped", "interrupted"]
"""How a run ended: every episode was played or void; something stopped it (a budget, a fatal failure); Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is about to do."""

    name: str
    seed: int
    """The seed in force, whichever of config and command line it came from."""
    entrants: tuple[str, ...]
    """Names, in the order in which they are shown."""
    episodes: Mapping[str, int]
    """How many episodes of each game the run holds in all, in the order in which games are shown."""
    finished: Mapping[str, int] = field(default_factory=dict)
    """How many of them, by game, were finished in earlier sittings. Absent games: none."""
    scores: Mapping[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    """What those gave: (game, entrant) -> (seat-episodes, sum of scores), so that means run on where they stood."""


@dataclass(frozen=True, slots=True)
class Closing:
    """How a run ended."""

    ended: Ended
    finished: int
    """Finished episodes in the run's folder, earlier sittings included."""
    void: int
    """Episodes that an outage ended and that were not replayed."""
    total: int
    detail: str = ""
    """One line: why it stopped. Empty for a complete run."""
    resume: str | None = None
    """The command that goes on from here, or None when nothing is left to do."""


class Progress(Protocol):
    """Called synchronously by a run, from one thread, in the order of events. No call blocks or raises for want of a
    terminal; each takes microseconds, `call_finished` above all.

    Used as a context manager: leaving it puts the terminal back, whatever happened inside.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def run_started(self, plan: Plan) -> None:
        """Once, before anything else but notes."""

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        """`key` as in records (`game/block/rotation`); who sits where, in seat order."""

    def episode_finished(self, record: Record) -> None:
        """An episode came to its end and is stored."""

    def episode_void(self, void: Void) -> None:
        """An outage ended an episode."""

    def call_finished(self, call: Call) -> None:
        """A request came back, failed or was given up."""

    def note(self, line: str) -> None:
        """Something worth a line of its own, now."""

    def run_finished(self, closing: Closing) -> None:
        """Once, after everything else."""


class SilentDisplay:
    """Shows nothing, for output that only programs read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def run_started(self, plan: Plan) -> None:
        return

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        return

    def episode_finished(self, record: Record) -> None:
        return

    def episode_void(self, void: Void) -> None:
        return

    def call_finished(self, call: Call) -> None:
        return

    def note(self, line: str) -> None:
        return

    def run_finished(self, closing: Closing) -> None:
        return
