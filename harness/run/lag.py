"""How far this process is behind: the time by which its event loop comes to things too late.

Owns the measure, and what follows from it. A decision's time is its model's: what the loop came too late is credited
back, so that an answer which lay here unread is never charged to a policy. Above `MOST` no further calls leave, for
they would only wait for each other. Knows no call and no provider.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any, Self

BEAT = 0.05
"""Seconds between two looks at the clock."""
RECENT = 1.0
"""Seconds over which the share is averaged."""
MOST = 0.10
"""Share of the time by which the loop may be late before no further call leaves."""
FEW = 16
"""Calls that may be out however late the loop is: so few do not make it late, and something must go on."""
GRAIN = 0.005
"""Seconds; less is not worth a longer window."""


class Lag:
    """Of one event loop. Without `start` nothing is measured but what windows see themselves."""

    def __init__(self) -> None:
        self.out = 0
        """Calls that are out."""
        self.share = 0.0
        """Of the last second or so: how much of it the loop was late."""
        self._seconds = 0.0
        self._busy = 0.0
        self._late_while_busy = 0.0
        self._due = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()

    def __str__(self) -> str:
        """What to tell at the end; empty unless this machine could not keep up."""
        if self._busy == 0.0 or self._late_while_busy <= MOST * self._busy:
            return ""
        return (
            f"CPU-bound: this process was late for {self._late_while_busy / self._busy:.0%} of the time that calls "
            "were out, so calls were held back, and none was charged for it; lower limits.episodes_in_flight, set "
            'transport = "lean", or use a faster machine'
        )

    def start(self) -> None:
        """Look at the clock from now on."""
        self._due = asyncio.get_running_loop().time() + BEAT
        self._timer = asyncio.get_running_loop().call_at(self._due, self._beat)

    def stop(self) -> None:
        """Stop looking."""
        if self._timer is not None:
            self._timer.cancel()
        self._due = math.inf

    @property
    def seconds(self) -> float:
        """All lag so far."""
        return self._seconds + max(0.0, asyncio.get_running_loop().time() - self._due)

    def _beat(self) -> None:
        now = asyncio.get_running_loop().time()
        late = max(0.0, now - self._due)
        self._seconds += late
        if self.out:
            self._busy += BEAT + late
            self._late_while_busy += late
        passed = math.exp(-(BEAT + late) / RECENT)
        self.share = self.share * passed + late / (BEAT + late) * (1.0 - passed)
        self._change()
        self._due = now + BEAT
        self._timer = asyncio.get_running_loop().call_at(self._due, self._beat)

    def returned(self) -> None:
        """A call is back."""
        self.out -= 1
        self._change()

    def _change(self) -> None:
        if self.share <= MOST or self.out < FEW:
            self._changed.set()
            self._changed = asyncio.Event()

    async def calm(self) -> None:
        """Wait until a further call may leave."""
        while self.share > MOST and self.out >= FEW:
            await self._changed.wait()


class Window:
    """The time of one call: so many seconds of which lag is no part. Raises TimeoutError at its end, as
    `asyncio.timeout` does."""

    def __init__(self, lag: Lag, seconds: float) -> None:
        self._lag = lag
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._before = lag.seconds
        self._credited = 0.0
        self._own = 0.0
        """What the window's own timer came too late, altogether."""
        self._when = self._began + seconds
        self._timer = self._loop.call_at(self._when, self._end)
        self._timeout = asyncio.timeout(None)
        self._closed: float | None = None

    async def __aenter__(self) -> Self:
        self._lag.out += 1
        await self._timeout.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._closed = self.lag
        self._timer.cancel()
        self._lag.returned()
        await self._timeout.__aexit__(*error)

    @property
    def expired(self) -> bool:
        return self._timeout.expired()

    @property
    def lag(self) -> float:
        """Seconds of it that were this process's own, so far or at its end."""
        return max(self._lag.seconds - self._before, self._own) if self._closed is None else self._closed

    @property
    def seconds(self) -> float:
        """Since it was opened, lag left out."""
        return max(0.0, self._loop.time() - self._began - self.lag)

    def _end(self) -> None:
        now = self._loop.time()
        self._own += max(0.0, now - self._when)
        owed = self.lag - self._credited
        if owed <= GRAIN:
            self._timeout.reschedule(now)
            return
        self._credited += owed
        self._when = now + owed
        self._timer = self._loop.call_at(self._when, self._end)
