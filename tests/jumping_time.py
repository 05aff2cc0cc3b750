"""An event loop whose clock stands still while there is work and jumps to the next timer when there is none.

What a test times on it is what was scheduled, to the last bit, however slow the machine is; an hour's wait costs
nothing. Sockets work, between tasks of one loop: only after `IDLE` real seconds without a byte does the clock jump.
Threads and other processes do not know this clock.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

IDLE = 0.01
"""Seconds for which a loop with open sockets listens to them before its clock jumps."""

LIMIT = 3600.0
"""Seconds on the loop's clock after which a test that would wait for ever is ended."""


class _Jumps(selectors.DefaultSelector):
    """Ends a wait at once, having moved the clock to where the wait would have ended."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select()
        # The loop's own pair of sockets is always there.
        ready = super().select(min(timeout, IDLE) if len(self.get_map()) > 1 else 0)
        if not ready:
            self.now += max(timeout, 0.0)
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """`time()` begins at 0 and is moved by waits alone."""

    def __init__(self) -> None:
        self._jumps = _Jumps()
        super().__init__(self._jumps)

    def time(self) -> float:
        return self._jumps.now


def jumping(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` on such a loop."""

    async def bounded() -> T:
        async with asyncio.timeout(LIMIT):
            return await work

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(bounded())


def now() -> float:
    """Seconds on the clock of the loop that runs this."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, JumpingLoop), "a clock of the machine proves nothing"
    return loop.time()
