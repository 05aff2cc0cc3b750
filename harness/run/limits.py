"""What may stop a run before its last episode: a person, a ceiling, or a failure no further call can mend.

Owns the one place that says "no new call". Calls in flight are left to return, so that nothing paid for is lost; waits
between calls end at once, for nothing would come after them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.harness.store.calls import Call
from weigh.policies.contract import Usage

Pull: TypeAlias = Literal["interrupted", "ceiling", "fatal", "outage"]
"""A person's Ctrl-C; a limit on spending; a call that can never succeed; a provider that stays away."""


Spending: TypeAlias = Literal["max_calls", "max_tokens", "max_usd"]
"""The limits that count over all sittings."""


class Stopping(Exception):
    """Raised in place of a new call or step once the brake is pulled. Nobody's fault: the episode is unfinished."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Upper limits of one run, over all its sittings. None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    """Wall time of this sitting."""


class Brake:
    """Pulled once, by whoever is first; the reason of that first pull is kept."""

    def __init__(
        self,
        ceilings: Ceilings = Ceilings(),
        *,
        calls: int = 0,
        tokens: int = 0,
        usd: float = 0.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`calls`, `tokens` and `usd` are what earlier sittings of the run already spent."""
        self._ceilings = ceilings
        self._calls = calls
        self._tokens = tokens
        self._usd = usd
        self._now = now
        self._started = now()
        self._waits: set[asyncio.Timeout] = set()
        self.pulled: Pull | None = None
        self.reason: str = ""
        self._used_up: Spending | None = None

    def pull(self, why: Pull, reason: str) -> None:
        """Stop the run: no call and no step begins after this, and every wait in `waiting` ends. For the thread of the
        event loop."""
        if self.pulled is None:
            self.pulled = why
            self.reason = reason
            for wait in self._waits:
                if not wait.expired():
                    wait.reschedule(asyncio.get_running_loop().time())

    @property
    def used_up(self) -> tuple[Spending, int | float] | None:
        """The limit over all sittings that ended this one, and what is spent of it by now: one that is no higher would
        end the next sitting at once. None for any other end, and for the time of a sitting."""
        if self._used_up is None:
            return None
        spent: dict[Spending, int | float] = {
            "max_calls": self._calls,
            "max_tokens": self._tokens,
            "max_usd": self._usd,
        }
        return self._used_up, spent[self._used_up]

    def check(self) -> None:
        """Raise Stopping when the brake is pulled or the time ceiling is passed."""
        left = self._seconds_left()
        if left is not None and left <= 0:
            self._pull_for_time()
        if self.pulled is not None:
            raise Stopping(self.reason)

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """For waits between calls: raises Stopping inside the block as soon as no further call may leave. Not for calls
        themselves, which are let to return."""
        self.check()
        wait = asyncio.timeout(self._seconds_left())
        self._waits.add(wait)
        try:
            async with wait:
                yield
        except TimeoutError:
            if not wait.expired():
                raise
            if self.pulled is None:
                self._pull_for_time()
            raise Stopping(self.reason) from None
        finally:
            self._waits.discard(wait)

    def before_call(self) -> None:
        """Count a call that is about to leave, or raise Stopping when it must not."""
        self.check()
        limit = self._ceilings.calls
        if limit is not None and self._calls >= limit:
            self._pull_at("max_calls", f"{limit} calls")
        self._pull_for_spending()
        if self.pulled is not None:
            raise Stopping(self.reason)
        self._calls += 1

    def after_call(self, call: Call, at_most: Usage | None = None, at_most_usd: float | None = None) -> None:
        """Count what a call used, and pull the brake when a ceiling is reached.

        `at_most` and `at_most_usd` estimate the call from above: they count where nobody told what it used, unless it
        was not billed. A ceiling that took the unknown for nothing would be none.
        """
        if call.billing != "none":
            usage = Usage() if call.completion is None else call.completion.usage
            most = at_most or Usage()
            for told, bound in ((usage.input, most.input), (usage.output, most.output)):
                self._tokens += (bound or 0) if told is None else told
        self._usd += (at_most_usd or 0.0) if call.cost is None else call.cost
        self._pull_for_spending()

    def _pull_for_spending(self) -> None:
        tokens, usd = self._ceilings.tokens, self._ceilings.usd
        if tokens is not None and self._tokens >= tokens:
            self._pull_at("max_tokens", f"{tokens} tokens")
        if usd is not None and self._usd >= usd:
            self._pull_at("max_usd", f"{usd:g} USD")

    def _pull_at(self, limit: Spending, amount: str) -> None:
        if self.pulled is None:
            self._used_up = limit
        self.pull("ceiling", f"the run's {amount} are used up (limits.{limit})")

    def _pull_for_time(self) -> None:
        self.pull("ceiling", f"the run's {self._ceilings.seconds:g} seconds are used up (limits.max_seconds)")

    def _seconds_left(self) -> float | None:
        limit = self._ceilings.seconds
        return None if limit is None else limit - (self._now() - self._started)
