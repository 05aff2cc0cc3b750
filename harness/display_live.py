"""Progress as a picture that is redrawn in place, on a terminal.

Owns the redrawing: a thread of its own reads the counts a few times a second, so that no slow or stopped terminal ever
holds up a run, and a clock goes on while models think. What the picture holds is `harness.display_picture`'s.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from harness.calls import Call, Void
from harness.display import Closing, Plan
from harness.display_lines import farewell
from harness.display_picture import picture
from harness.display_tally import Tally
from harness.display_warnings import Watch
from harness.display_words import shown
from harness.record import Record

REFRESHES = 4
"""A second, at most."""

PATIENCE = 2.0
"""Seconds that leaving the display waits for a terminal that takes no more text (Ctrl-S), before it lets go."""


class Screen(Console):
    """A console whose broken pipe is an ordinary error: rich's own answer closes stdout too, and exits."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class LiveDisplay:
    """A live picture on `stream`, or on a screen handed in. Warnings and notes scroll above it and stay."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        console: Screen | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        no_color = bool((environ or {}).get("NO_COLOR"))
        self.console = console or Screen(
            file=stream, force_terminal=True, no_color=no_color, highlight=False, markup=False, emoji=False
        )
        self._clock = clock
        self._lock = threading.Lock()
        """Held around the counts and the lines to say, for microseconds; never while drawing."""
        self._tally = Tally(Plan("", 0, (), {}), clock)
        self._watch = Watch(self._tally)
        self._lines: list[Text] = []
        self._farewell: list[Text] = []
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._gone = False
        self._broken: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)
        broken, self._broken = self._broken, None
        if broken is not None and error is None:
            raise broken  # a bug in the picture: it cost the run nothing, and is not to be hidden

    def run_started(self, plan: Plan) -> None:
        self._tally = Tally(plan, self._clock)
        self._watch = Watch(self._tally)
        self._thread = threading.Thread(target=self._draw, name="display", daemon=True)
        self._thread.start()

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        with self._lock:
            self._tally.episode_started(key, tuple(entrants))

    def episode_finished(self, record: Record) -> None:
        with self._lock:
            self._tally.episode_finished(record)
            self._warn(self._watch.after_episode(record.entrants))

    def episode_void(self, void: Void) -> None:
        seats = ", ".join(f"{void.entrants[seat]} (seat {seat})" for seat in void.seats)
        with self._lock:
            self._tally.episode_void(void)
            line = f"void: {void.episode} at step {void.step}, {seats}: {void.cause}"
            self._lines.append(self._text(line, "yellow"))

    def call_finished(self, call: Call) -> None:
        with self._lock:
            warnings = self._watch.after_call(self._tally.call_finished(call))
            if warnings:
                self._warn(warnings)

    def note(self, line: str) -> None:
        with self._lock:
            self._lines.append(self._text(line))
        if self._thread is None or not self._thread.is_alive():
            self._print_lines()

    def run_finished(self, closing: Closing) -> None:
        style = {"complete": "bold green", "stopped": "bold red", "interrupted": "bold yellow"}[closing.ended]
        with self._lock:
            first, *rest = farewell(self._tally, closing)
            self._farewell = [self._text(first, style), *(self._text(line) for line in rest)]
        self._over.set()

    def _warn(self, lines: list[str]) -> None:
        for line in lines:
            self._lines.append(self._text(f"WARNING: {line}", "bold red"))

    def _text(self, line: str, style: str = "") -> Text:
        return Text(shown(line, self.console.encoding, 2000), style=style, overflow="fold")

    def _picture(self) -> RenderableType:
        width = self.console.size.width
        with self._lock:
            return picture(self._tally, width, self.console.encoding)

    def _draw(self) -> None:
        """The drawing thread, from the first picture to the last."""
        try:
            live = Live(
                console=self.console,
                auto_refresh=False,
                redirect_stdout=False,  # results may be piped on from there
                get_renderable=self._picture,
            )
            live.start(refresh=True)
            try:
                while not self._over.wait(1 / REFRESHES):
                    self._print_lines()
                    live.refresh()
                self._print_lines()
            finally:
                live.stop()
            with self._lock:
                self._lines += self._farewell
            self._print_lines()
        except OSError:
            self._gone = True  # the run goes on without a terminal
        except Exception as error:
            self._broken = error

    def _print_lines(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
        if self._gone:
            return
        try:
            for line in lines:
                self.console.print(line)
        except OSError:
            self._gone = True
