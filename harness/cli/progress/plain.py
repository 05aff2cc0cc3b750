"""Progress as plain lines: for files, pipes, CI logs and terminals that cannot move their cursor.

Owns the lines: one an event, each with its place in the run, without escape codes or carriage returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TextIO

from weigh.harness.cli.output import moves_cursor
from weigh.harness.run.events import Closing, Plan, Progress, SilentDisplay
from weigh.harness.run.tally import Tally, Watch, farewell, in_short
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Record
from weigh.harness.words import plural, score, shown

PULSE = 60.0
"""Seconds of silence after which a finished call gives a line, so that a long episode does not look like a hang."""

LINE = 2000
"""Characters a line may have; a table of thirteen entrants with long names fits."""


class PlainDisplay:
    """One line an event on `stream`; stops writing, and lets the run go on, once nobody can read them."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last = clock()
        self._open = True
        self._tally = Tally(Plan("", 0, (), {}), clock)
        self._watch = Watch(self._tally)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def run_started(self, plan: Plan) -> None:
        self._tally = Tally(plan, self._clock)
        self._watch = Watch(self._tally)
        games = ", ".join(f"{game} {number}" for game, number in plan.episodes.items())
        done = f", {self._tally.done} already finished" if self._tally.done else ""
        self._write(f"{plan.name}: seed {plan.seed}, {plural(self._tally.total, 'episode')} ({games}){done}")
        self._write("entrants: " + ", ".join(plan.entrants))

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        self._tally.episode_started(key, tuple(entrants))

    def episode_finished(self, record: Record) -> None:
        self._tally.episode_finished(record)
        scores = ", ".join(
            f"{entrant} {score(value)}" for entrant, value in zip(record.entrants, record.scores, strict=True)
        )
        fallen = sum(record.fallbacks)
        also = f", {plural(fallen, 'fallback')}" if fallen else ""
        self._write(f"[{self._place}] {record.key}: {scores} ({record.ending}{also})")
        self._warn(self._watch.after_episode(record.entrants))

    def episode_void(self, void: Void) -> None:
        self._tally.episode_void(void)
        seats = ", ".join(f"{void.entrants[seat]} (seat {seat})" for seat in void.seats)
        self._write(f"[{self._place}] {void.episode}: void at step {void.step}, {seats}: {void.cause}")

    def call_finished(self, call: Call) -> None:
        warnings = self._watch.after_call(self._tally.call_finished(call))
        if warnings:
            self._warn(warnings)
        elif self._clock() - self._last >= PULSE:
            self._write(f"[{self._place}] {in_short(self._tally)}")

    def note(self, line: str) -> None:
        self._write(line)

    def run_finished(self, closing: Closing) -> None:
        for line in farewell(self._tally, closing):
            self._write(line)

    @property
    def _place(self) -> str:
        return f"{self._tally.done}/{self._tally.total}"

    def _warn(self, lines: list[str]) -> None:
        for line in lines:
            self._write(f"WARNING: {line}")

    def _write(self, line: str) -> None:
        self._last = self._clock()
        if not self._open:
            return
        try:
            self._stream.write(shown(line, self._stream.encoding or "utf-8", LINE) + "\n")
            self._stream.flush()
        except OSError:
            # The reader has gone (`weigh ... 2>&1 | head`). A run that costs money does not end for that.
            self._open = False


def choose_display(stream: TextIO, environ: Mapping[str, str], json: bool) -> Progress:
    """The display that fits: silent beside `--json`, live on a terminal that can move its cursor, else plain lines.

    `stream` is where progress goes (stderr), `environ` the environment. Plain when `stream` is no terminal, when CI is
    set to anything but 0 or false, and when TERM is `dumb` or `unknown`. NO_COLOR, when not empty, takes the colours
    out of a live display and leaves it live.
    """
    if json:
        return SilentDisplay()
    if moves_cursor(stream, environ):
        from weigh.harness.cli.progress.live import LiveDisplay  # rich is loaded only where it draws

        return LiveDisplay(stream, environ=environ)
    return PlainDisplay(stream)
