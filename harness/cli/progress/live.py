"""Progress as a picture that is redrawn in place, on a terminal.

Owns the redrawing: a thread of its own reads the counts a few times a second, so that no slow or stopped terminal ever
holds up a run, and a clock goes on while models think. What the picture holds is `harness.cli.progress.live`'s.

What the live picture of a run holds: the bar, where it stands, what it took, a line per entrant.

Owns the layout and what gives way first on a narrow terminal. Reads counts and a width; writes nowhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from weigh.harness.run.events import Closing, Plan
from weigh.harness.run.tally import Row, Tally, Watch, farewell, took
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Record
from weigh.harness.words import count, duration, fault_counts, money, plural, score, shown, tokens

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


NAME = 24
"""Columns the longest entrant name may take; 14 on a terminal narrower than 60."""
SCORE = 12
"""Columns of one game: `+0.123 (999)`."""
FAULTS = 12
"""The least that is worth giving to faults; they take what is left over."""
NUMBER = 9
"""Columns of a cost, and of tokens in/out."""
LOUD = 0.2
"""The share of faulty attempts above which an entrant's faults are coloured."""


def picture(tally: Tally, width: int, encoding: str) -> RenderableType:
    """The whole picture for a terminal of `width` columns that writes `encoding`.

    All texts are made here and now: what comes back refers to no count that may change while it is drawn.
    """
    plain = not encoding.lower().startswith("utf")
    pieces: list[RenderableType] = [
        Text(
            shown(f"{tally.plan.name}, seed {tally.plan.seed}", encoding), style="bold", no_wrap=True, overflow="crop"
        ),
        _bar(tally, width),
        *_packed(_standing(tally), width, plain),
        *_packed(_spending(tally), width, plain),
    ]
    if tally.rows:
        pieces += _table(tally, width, encoding)
    return Group(*pieces)


def _bar(tally: Tally, width: int) -> RenderableType:
    words = f"{tally.done + tally.void}/{tally.total}"
    grid = Table.grid(padding=(0, 1, 0, 0))
    room = max(4, min(60, width - len(words) - 2))
    grid.add_row(ProgressBar(total=max(1, tally.total), completed=tally.done + tally.void, width=room), words)
    return grid


def _standing(tally: Tally) -> list[str]:
    left = tally.seconds_left()
    over = tally.done + tally.void >= tally.total and not tally.in_flight
    parts = [f"{tally.done} finished", f"{tally.in_flight} in flight"]
    if tally.void:
        parts.append(f"{tally.void} void")
    parts.append(f"{duration(tally.elapsed)} so far")
    if not over:
        parts.append("time left unknown" if left is None else f"about {duration(left)} left")
    return parts


def _spending(tally: Tally) -> list[str]:
    whole = tally.totals()
    if not whole.usage.calls:
        return []
    parts = took(whole.usage)
    if whole.faults:
        parts.append(fault_counts(whole.faults))
    if tally.waiting:
        parts.append(plural(tally.waiting, "retry", "retries") + " waiting")
    if tally.outages:
        parts.append(plural(tally.outages, "outage"))
    return parts


def _packed(parts: list[str], width: int, plain: bool) -> list[Text]:
    """Parts side by side, a new line where the next one would not fit whole."""
    between = ", " if plain else " · "
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(between) + len(part) <= width:
            lines[-1] += between + part
        else:
            lines.append(part)
    return [Text(line, no_wrap=True, overflow="crop") for line in lines]


def _table(tally: Tally, width: int, encoding: str) -> list[RenderableType]:
    rows = {name: row for name, row in tally.rows.items() if name or row.usage.calls}
    name_width = min(max(map(len, rows)), NAME if width >= 60 else 14)
    room = width - name_width
    games = list(tally.plan.episodes)
    fitting = games[: max(1, room // (SCORE + 1))]
    room -= len(fitting) * (SCORE + 1)
    called = any(row.usage.calls for row in rows.values())
    faults = called and room > FAULTS
    room -= FAULTS + 1 if faults else 0
    numbers: list[str] = []
    for title in ("cost", "in/out", "calls") if called else ():
        if room > NUMBER:
            numbers.append(title)
            room -= NUMBER + 1

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", width=name_width, no_wrap=True, overflow="crop")
    for game in fitting:
        table.add_column(game[:SCORE], width=SCORE, no_wrap=True, overflow="crop", justify="right")
    for title in numbers:
        table.add_column(title, width=NUMBER, no_wrap=True, overflow="crop", justify="right")
    if faults:
        table.add_column("faults", width=FAULTS + max(0, room), no_wrap=True, overflow="crop")
    for name, row in rows.items():
        cells = [Text(shown(name, encoding, 60) or "(others)"), *(Text(_mean(row, game)) for game in fitting)]
        cells += [Text(_number(row, title)) for title in numbers]
        if faults:
            cells.append(_faults(row))
        table.add_row(*cells)
    hidden = games[len(fitting) :]
    if not hidden:
        return [table]
    return [table, Text(f"(too narrow for {', '.join(hidden)})", style="dim", no_wrap=True, overflow="crop")]


def _mean(row: Row, game: str) -> str:
    mean = row.scores.get(game)
    return f"{score(mean.value)} ({mean.n})" if mean is not None and mean.n else "-"


def _number(row: Row, title: str) -> str:
    used = row.usage
    if not used.calls:
        return "-"
    if title == "cost":
        return money(used.cost_known_usd, used.unknown_cost_calls)
    return count(used.calls) if title == "calls" else f"{tokens(used.input_tokens)}/{tokens(used.output_tokens)}"


def _faults(row: Row) -> Text:
    if not row.faults:
        return Text("")
    share = sum(row.faults.values()) / row.attempts
    return Text(f"{share:.0%} {fault_counts(row.faults)}", style="yellow" if share > LOUD else "")
