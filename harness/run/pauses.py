"""When a model may not be called, because its provider asked to be left alone for longer than a decision lasts.

Owns until when and why, and tells whoever follows. The slots of the model let nobody in meanwhile
(`harness.run.concurrency`), a run plays what needs other models (`harness.run.sweep`). Knows no provider and no call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from weigh.harness.words import duration, plural

WORTH_TELLING = 60.0
"""Seconds by which a pause must grow before it is told again: calls that were in flight together bring the same news,
each a moment later."""


@dataclass(frozen=True, slots=True)
class Pause:
    """One pause of a model, as it stands."""

    until: datetime
    """With a time zone."""
    seconds: float
    """From the moment when this was learned."""
    cause: str
    """One line: the failure that told of it."""

    def __str__(self) -> str:
        """`paused until 2026-12-01 14:03:20 UTC: status 429 ...`, in the local time zone."""
        return f"paused until {self.until.astimezone():%Y-%m-%d %H:%M:%S %Z}: {self.cause}"


Follower: TypeAlias = Callable[[Pause | None], None]
"""Called when a pause begins or grows, and with None when it is over."""


class Pauses:
    """The pauses of one model, one after the other. For one event loop."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._end = 0.0
        self._began = 0.0
        self._followers: list[Follower] = []
        self._ending: asyncio.Task[None] | None = None
        self.current: Pause | None = None
        self.over = 0
        """How many have ended."""
        self.seconds = 0.0
        """What those took, together."""

    def __str__(self) -> str:
        """All there were, in a few words; empty for none."""
        past = f"paused {plural(self.over, 'time')}, {duration(self.seconds)} in all" if self.over else ""
        return "; ".join(part for part in (past, str(self.current or "")) if part)

    def begin(self, seconds: float, cause: str) -> None:
        """Nobody calls the model for so long from now; a pause that is on is made longer by it, never shorter."""
        now = self._now()
        if self.current is None:
            self._began = now
        elif now + seconds <= self._end + WORTH_TELLING:
            self._end = max(self._end, now + seconds)
            return
        self._end = now + seconds
        self.current = Pause(datetime.now(UTC) + timedelta(seconds=seconds), seconds, cause)
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._last())
        self._tell()

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell `follower` of every pause, until what is given back is called."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower)

    async def _last(self) -> None:
        while (left := self._end - self._now()) > 0:
            await self._sleep(left)
        self.over += 1
        self.seconds += self._now() - self._began
        self.current = self._ending = None
        self._tell()

    def _tell(self) -> None:
        for follower in tuple(self._followers):
            follower(self.current)
