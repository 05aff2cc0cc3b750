"""The lines of standard input, one by one, without holding up the event loop.

Owns the reading: a line is read when somebody asks for it and not before, and no line is longer than one can be. What a
line means is for others.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import threading
from typing import Final

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
