"""People at the seats of `weigh play`: who is asked where, what was answered before, and the table in a terminal.

Owns the conversation with a person on standard error and standard input, and the file that keeps a person's moves in a
run's folder, so that an episode can be gone on with. What a line means is `policies.human`'s. Shows a person what their
own seat may know, and nothing else before the episode is over.

The lines of standard input, one by one, without holding up the event loop.

Owns the reading: a line is read when somebody asks for it and not before, and no line is longer than one can be. What a
line means is for others.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final, Protocol

from weigh.games.values import quote
from weigh.harness.cli.output import moves_cursor, print_note, rendered
from weigh.harness.errors import Refused
from weigh.harness.results.export import write_atomically
from weigh.harness.run.limits import Stopping
from weigh.policies.human import HumanPolicy, example, line_for, menu
from weigh.policies.show import escaped, one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from weigh.games.game import Legal, Move, Observation, Seat
    from weigh.harness.run.limits import Brake


ANSWERS: Final = "human.jsonl"
"""A person's moves in a run's folder: `{"seat": 0, "move": 7}` a line, each seat's in the order of play."""

MOVELESS: Final = 100
"""Lines in a row of a pipe that hold no move, after which it is taken for one that holds none."""

_BRACKETS = 100
"""More of them than a kept move has; far fewer than the depth at which JSON can be neither read nor written."""

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


class Left(Exception):
    """A person has stopped playing."""


class Desk(Protocol):
    """Where people are asked."""

    async def ask(self, observation: Observation, refused: str | None) -> str:
        """See `policies.human.Ask`. Raises Left when the person stops."""

    def moved(self, seat: Seat) -> None:
        """A person's line was a legal move."""


class People:
    """Everybody who plays in an episode. Made before the desk at which they will be asked."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self.seats = tuple(seats)
        self.desk: Desk | None = None
        self.brake: Brake | None = None
        self._kept: Path | None = None
        self._before: dict[Seat, list[Move]] = {}
        self._made: Counter[Seat] = Counter()

    def policy(self, game: str) -> HumanPolicy:
        """How they play: they are asked here."""
        return HumanPolicy(game, self.ask, self.moved)

    def keep_in(self, folder: Path) -> None:
        """Keep every move in a run's folder, and play again the moves that are kept there."""
        self._kept = folder / ANSWERS
        if not self._kept.exists():
            return
        for number, line in enumerate(self._kept.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            where = f"{self._kept}, line {number}"
            if line.count("[") + line.count("{") > _BRACKETS:
                raise Refused(
                    f"{where}: nested too deeply for a move; delete the line, and it is asked again", kind="too-deep"
                )
            try:
                kept = json.loads(line)
                seat, move = kept["seat"], kept["move"]
            except (ValueError, TypeError, KeyError):
                break  # a line that a crash cut off: what follows is asked again
            if type(seat) is not int or seat not in self.seats:
                people = ", ".join(map(str, self.seats))
                raise Refused(
                    f"{where}: seat {quote(seat)} is no person's here (seats: {people}); delete the line",
                    kind="not-a-persons-seat",
                )
            self._before.setdefault(seat, []).append(move)
        self._rewrite()

    def _rewrite(self) -> None:
        """Let the file hold the moves that may be played again, and nothing after them."""
        if self._kept is not None:
            kept = [{"seat": seat, "move": move} for seat, moves in self._before.items() for move in moves]
            write_atomically(self._kept, "".join(json.dumps(one) + "\n" for one in kept))

    async def ask(self, observation: Observation, refused: str | None) -> str:
        """The line that answers, from the folder or from the desk. Raises Stopping when the run stops, or they do."""
        seat = observation.seat
        before = self._before.get(seat, [])
        if self._made[seat] < len(before):
            move = before[self._made[seat]]
            if move is not None and move in observation.legal:
                return line_for(move, observation.legal)
            del before[self._made[seat] :]
            self._rewrite()
        if self.desk is None or self.brake is None:
            raise ValueError("people are asked before there is a desk")
        try:
            async with self.brake.waiting():
                return await self.desk.ask(observation, refused)
        except Left:
            self.brake.pull("interrupted", "stopped by the player")
            raise Stopping(self.brake.reason) from None

    def moved(self, seat: Seat, move: Move) -> None:
        """A move was made: it is kept, unless it was read from there."""
        again = self._made[seat] < len(self._before.get(seat, []))
        self._made[seat] += 1
        if again:
            return
        self._before.setdefault(seat, []).append(move)
        if self._kept is not None:
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"seat": seat, "move": move}) + "\n")
        if self.desk is not None:
            self.desk.moved(seat)


class TerminalDesk:
    """People who share one terminal. One is asked at a time."""

    def __init__(self, aliases: Sequence[str], people: Sequence[Seat], rules: str, lines: Lines) -> None:
        self._aliases = aliases
        self._people = tuple(people)
        self._rules = rules
        self._lines = lines
        self._turn = asyncio.Lock()
        self._here: Seat | None = None
        """Who sits in front of the screen."""
        self._read: Counter[Seat] = Counter()
        """Lines of history that each was shown."""

    @property
    def _shared(self) -> bool:
        return len(self._people) > 1 and self._lines.terminal

    async def ask(self, observation: Observation, refused: str | None) -> str:
        seat = observation.seat
        async with self._turn:
            if self._shared and self._here != seat:
                await self._hand_over(seat)
            if refused is None:
                self._show(observation)
            elif self._lines.terminal:
                print_note(f"that is no legal move: {one_line(refused, 400)}")
            else:  # nobody is there to write a better one
                raise Refused(
                    f"human: a line of standard input is no legal move: {one_line(refused, 400)}", kind="illegal-move"
                )
            print_note(f"{self._aliases[seat]}, your move? (? shows the rules, q stops)")
            for _ in range(MOVELESS) if not self._lines.terminal else count():
                line = await self._next()
                word = line.strip().lower()
                if word == "?":
                    _say(escaped(self._rules.strip()))
                elif word in ("q", "quit"):
                    raise Left
                elif word:
                    return line
                if self._lines.terminal:
                    print_note(f"{self._aliases[seat]}, your move? (? shows the rules, q stops)")
            raise Refused(
                f"human: {MOVELESS} lines of standard input in a row hold no move; pipe a line for each move",
                kind="no-move",
            )

    def moved(self, seat: Seat) -> None:
        if self._shared:
            # What this seat knows is not for whoever sits down next.
            self._here = None
            self._lines.forget_typed()
            print_note(f"{_CLEAR}{self._aliases[seat]} has moved.")

    async def _hand_over(self, seat: Seat) -> None:
        # A line typed ahead was not meant for whoever sits down now, and would show them their seat unasked.
        self._lines.forget_typed()
        alias = self._aliases[seat]
        print_note(f"{_CLEAR}{alias} is next. Press Enter, {alias}, when nobody else looks. (q stops)")
        if (await self._next()).strip().lower() in ("q", "quit"):
            raise Left
        self._here = seat

    async def _next(self) -> str:
        line = await self._lines.next()
        if line is not None:
            return line
        if self._lines.terminal:
            raise Left
        raise Refused(
            "human: standard input ended before the episode did; pipe a line for each move", kind="input-ended"
        )

    def _show(self, observation: Observation) -> None:
        from rich.padding import Padding
        from rich.panel import Panel
        from rich.text import Text

        seat = observation.seat
        fresh = observation.history[self._read[seat] :]
        self._read[seat] = len(observation.history)
        parts: list[RenderableType] = [Text("")]
        if fresh:
            parts.append(Padding(Text(escaped("\n".join(fresh)), style="dim"), (0, 0, 1, 0)))
        title = Text(f"{self._aliases[seat]} (seat {seat})", style="bold")
        parts.append(Panel(Text(escaped(observation.situation.strip())), title=title, title_align="left"))
        parts += _offer(observation.legal)
        _say(*parts)


def _offer(legal: Legal) -> list[RenderableType]:
    """The legal moves: by number, or the line that describes them with an example of what may be written."""
    from rich.columns import Columns
    from rich.text import Text

    numbered = menu(legal)
    if numbered:
        wide = len(str(len(numbered)))
        listed = [Text(f"{place:>{wide}}  {choice.words}") for place, choice in enumerate(numbered, start=1)]
        return [Columns(listed, padding=(0, 4), column_first=True), Text("a number, or the move in words", style="dim")]
    return [Text(f"for example: {example(legal)}", style="dim")]


def _say(*parts: RenderableType) -> None:
    """Rich renderables on standard error, where the conversation is; results are standard output's."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    coloured = terminal and not os.environ.get("NO_COLOR") and moves_cursor(sys.stderr, os.environ)
    print_note(rendered(parts, min(100, max(40, get_terminal_size().columns)) if terminal else 100, coloured))


class BrowserDesk:
    """People who each have a page of their own."""

    def __init__(self, rooms: Mapping[Seat, BrowserRoom]) -> None:
        self._rooms = rooms

    async def ask(self, observation: Observation, refused: str | None) -> str:
        return await self._rooms[observation.seat].ask(observation, refused)

    def moved(self, seat: Seat) -> None:
        return


class BrowserRoom(Protocol):
    """See `harness.web.live.seat.SeatRoom`."""

    async def ask(self, observation: Observation, refused: str | None) -> str: ...


LONGEST: Final = 4_096
"""Bytes of a line that are read, as many as a terminal hands over at once; the rest of it is passed over."""


class Lines:
    """Lines for those who ask."""

    def __init__(self) -> None:
        self.terminal = sys.stdin is not None and sys.stdin.isatty()
        self._wanted = threading.Semaphore(0)
        self._ready: asyncio.Queue[str | None] | None = None
        self._rest = b""
        try:
            self._number: int | None = sys.stdin.fileno() if sys.stdin is not None else None
        except (OSError, ValueError, io.UnsupportedOperation):
            self._number = None
        self._first: str | None = None

    def wait_for_some(self) -> bool:
        """Wait for the first line where no terminal gives it. False when there is none."""
        if not self.terminal:
            self._first = self._read()
            return self._first is not None
        return True

    async def next(self) -> str | None:
        """The next line; None at the end of the input."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if not self.terminal and self._number is None:
            return self._read()
        if self._ready is None:
            self._ready = asyncio.Queue()
            # A daemon, and without Python's own buffer, so that a line nobody will write keeps no process alive.
            reading = threading.Thread(
                target=self._read_on, args=(asyncio.get_running_loop(), self._ready), name="weigh-lines", daemon=True
            )
            reading.start()
        self._wanted.release()
        return await self._ready.get()

    def forget_typed(self) -> None:
        """Drop what was typed into a terminal before anybody asked for it."""
        if not self.terminal or self._number is None:
            return
        import termios

        self._rest = b""
        try:
            termios.tcflush(self._number, termios.TCIFLUSH)
        except termios.error:  # the terminal is gone: the next line is the end of the input
            return

    def _read_on(self, loop: asyncio.AbstractEventLoop, ready: asyncio.Queue[str | None]) -> None:
        line: str | None = ""
        while line is not None:
            self._wanted.acquire()
            line = self._read()
            try:
                loop.call_soon_threadsafe(ready.put_nowait, line)
            except RuntimeError:  # the loop has ended
                return

    def _read(self) -> str | None:
        if self._number is None:
            line = sys.stdin.readline(LONGEST) if sys.stdin is not None else ""
            return line.rstrip("\r\n") if line else None
        while b"\n" not in self._rest and len(self._rest) < LONGEST:
            piece = self._piece()
            if not piece:
                rest, self._rest = self._rest, b""
                return rest.decode("utf-8", "replace") if rest else None
            self._rest += piece
        line_read, ended, self._rest = self._rest.partition(b"\n")
        while not ended:
            # Too long for a line. A pipe may never end it, and who pipes is told at the first line that is no move.
            if not self.terminal:
                break
            piece = self._piece()
            if not piece:
                break
            _, ended, self._rest = piece.partition(b"\n")
        return line_read[:LONGEST].decode("utf-8", "replace").rstrip("\r")

    def _piece(self) -> bytes:
        try:
            return os.read(self._number, LONGEST) if self._number is not None else b""
        except OSError:  # the terminal is gone
            return b""
