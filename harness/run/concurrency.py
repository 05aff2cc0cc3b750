"""How many calls may be in flight at one model, and how many may start in a minute.

Owns the adaptive limit, its fair queue, the ceilings per minute, and the pauses: until when a model may not be called,
because its provider asked to be left alone for longer than a decision lasts, and why. A run plays what needs other
models meanwhile. Knows of providers only what a failed call says of itself, and nothing of retries: who waits for a
provider's retry-after does so without a slot. While the model is paused, nobody gets one.

The limit behaves like a congestion window. It starts small enough not to provoke a provider and large enough for the
seats of one table to ask at once, doubles for every window of clean calls until the first rate limit, is halved by one,
and from then on grows by one for every window of clean calls. Only a rate limit cuts it: time-outs and server errors
say nothing about how much is welcome. After a pause it begins again at one, and doubles: the first call finds out
whether the pause was long enough, on behalf of all that wait.

Every connection takes an open file, of which a shell may allow few. Beyond that limit a connection fails as if the
provider were down, so calls at once are held below it from the start.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from aiolimiter import AsyncLimiter

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.words import duration, plural
from weigh.policies.contract import Request, Usage

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


RESERVED: Final = 48
"""Files for everything else: the run's database and its logs, the terminal, the event loop, certificates."""


def fitted(endpoints: Mapping[str, Endpoint], calls: int | None = None) -> dict[str, Endpoint]:
    """`endpoints` with no more calls at once, all together, than files may be open; each model gets an even share.

    `calls` is the most that the run makes at once, where it is known.
    """
    wanted = sum(endpoint.concurrency for endpoint in endpoints.values())
    needed = RESERVED + (wanted if calls is None else min(wanted, calls))
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY or allowed >= needed:
        return dict(endpoints)
    share = max(1, (allowed - RESERVED) // max(1, len(endpoints)))
    return {
        model: replace(endpoint, concurrency=min(endpoint.concurrency, share)) for model, endpoint in endpoints.items()
    }


def shortage(endpoints: Mapping[str, Endpoint], calls: int | None = None) -> str | None:
    """One line when `fitted` takes something away: what, and how to get it back. None when all fits."""
    held = fitted(endpoints, calls)
    fewer = [model for model, endpoint in endpoints.items() if held[model].concurrency < endpoint.concurrency]
    if not fewer:
        return None
    most = max(held[model].concurrency for model in fewer)
    return (
        f"this process may open few files (ulimit -n), so at most {most} calls at once go to each of "
        f"{', '.join(fewer)}: raise the limit, as with `ulimit -n 4096`"
    )


START = 32
"""Calls in flight at the beginning, where the ceiling allows: more than the 26 seats of the widest table, whose
requests leave as one batch."""

MINUTE = 60.0

_CHARACTERS_PER_TOKEN = 4
"""Of English text, roughly; providers that count tokens per minute estimate as coarsely."""


@dataclass(frozen=True, slots=True)
class SlotView:
    """The state of one model's slots at one moment, for display."""

    in_flight: int
    limit: int
    waiting: int
    """Calls that are ready to leave and wait for a slot or for the minute's budget."""
    cuts: int
    """How often a rate limit has halved the limit."""


class Slots:
    """The slots of one model, shared by every seat that plays it. For one event loop."""

    def __init__(
        self,
        ceiling: int,
        *,
        start: int = START,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        """`pauses` are new ones unless given."""
        if ceiling < 1 or start < 1:
            raise ValueError(f"slots need a ceiling and a start of at least 1, not {ceiling} and {start}")
        self._ceiling = ceiling
        self._limit = float(min(start, ceiling))
        self._doubling = True
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pacing = 0
        self._cuts = 0
        self._requests = None if requests_per_minute is None else _ceiling(requests_per_minute)
        self._tokens = None if tokens_per_minute is None else _ceiling(tokens_per_minute)
        self._tokens_per_minute = tokens_per_minute or 0.0
        self.answered = 0
        """Calls that ended well."""
        self.pauses = Pauses() if pauses is None else pauses
        self.pauses.follow(self._paused)

    @classmethod
    def for_endpoint(cls, endpoint: Endpoint) -> Slots:
        """Slots under the endpoint's limits. A server on this machine has no rate limit to feel one's way to: its slots
        are open from the start."""
        return cls(
            endpoint.concurrency,
            start=endpoint.concurrency if endpoint.loopback else START,
            requests_per_minute=endpoint.requests_per_minute,
            tokens_per_minute=endpoint.tokens_per_minute,
        )

    @property
    def view(self) -> SlotView:
        """What is going on now."""
        return SlotView(self._in_flight, int(self._limit), len(self._waiting) + self._pacing, self._cuts)

    @asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[None]:
        """Wait for one's turn, first come first served, and be in flight while the block runs.

        A `CallFailed` that leaves the block and is `limited` cuts the limit; a block that ends well lets it grow.
        `tokens` counts against the ceiling of tokens per minute; see `expected_tokens`. The minute's budgets are waited
        for before a slot is taken, so that no slot is held by a call that may not leave yet.
        """
        if self._requests is not None or self._tokens is not None:
            await self._pace(tokens)
        await self._enter()
        cuts = self._cuts
        try:
            yield
        except CallFailed as failed:
            if failed.limited:
                self._cut(cuts)
            raise
        else:
            self.answered += 1
            if cuts == self._cuts:
                self._grow()
        finally:
            self._leave()

    async def _pace(self, tokens: int) -> None:
        self._pacing += 1
        try:
            if self._requests is not None:
                await self._requests.acquire()
            if self._tokens is not None:
                # A request larger than the whole minute's budget takes all of it, else it could never leave.
                left = min(float(tokens), self._tokens_per_minute)
                while left > 0.0:
                    part = min(left, self._tokens.max_rate)
                    await self._tokens.acquire(part)
                    left -= part
        finally:
            self._pacing -= 1

    async def _enter(self) -> None:
        if not self._waiting and self._open():
            self._in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._leave()  # the turn had come: pass it on
            elif turn in self._waiting:  # else `_admit` has passed over it, when many give up at one moment
                self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Let in as many as the limit allows, in the order in which they came."""
        while self._waiting and self._open():
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def _open(self) -> bool:
        return self.pauses.current is None and self._in_flight < int(self._limit)

    def _paused(self, pause: Pause | None) -> None:
        if pause is None:
            self._limit = 1.0
            self._doubling = True
            self._admit()

    def _grow(self) -> None:
        """One clean call. It proves room only where the limit was in use; an idle limit does not grow."""
        if self._in_flight >= int(self._limit):
            step = 1.0 if self._doubling else 1.0 / self._limit
            self._limit = min(float(self._ceiling), self._limit + step)

    def _cut(self, cuts_at_start: int) -> None:
        """Halve, once for all calls that were in flight together: they tell of one and the same overload."""
        if cuts_at_start == self._cuts:
            self._cuts += 1
            self._doubling = False
            self._limit = max(1.0, int(self._limit) / 2)


def _ceiling(rate: float) -> AsyncLimiter:
    """A leaky bucket from which no minute takes more than `rate`.

    A full bucket lets its size through at once, and what leaks meanwhile: a bucket of the whole rate would let nearly
    twice as much through in the first minute. So it holds a quarter of the rate, and the rest leaks evenly.
    """
    burst = rate / 4
    if burst < 1.0:
        return AsyncLimiter(1.0, MINUTE / rate)
    return AsyncLimiter(burst, MINUTE * burst / (rate - burst))


def expected_tokens(request: Request) -> int:
    """An upper estimate of a request's tokens, prompt and reply: what providers count against tokens per minute."""
    most = most_tokens(request)
    return (most.input or 0) + (most.output or 0)


def most_tokens(request: Request) -> Usage:
    """The same by kind, for calls of which nobody told what they used."""
    characters = sum(len(message.text) for message in request.messages)
    return Usage(input=characters // _CHARACTERS_PER_TOKEN, output=request.sampling.max_tokens)
