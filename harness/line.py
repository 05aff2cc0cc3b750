"""A seat's line to its model: everything that stands between a player's question and one HTTP call.

Owns the order of things for one attempt at one decision: answer from the ledger if it was paid for before; wait for a
slot; send; try again after passing failures; give up when the decision's time is out; write every request down as it
returns. The only layer that retries: the SDKs' own retries are off.

Knows neither prompts nor how a reply is read, and no provider by name.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from harness.brake import Brake
from harness.calls import Call, CallKey, Fate
from harness.limits import Slots
from harness.providers.failures import CallFailed
from policies.contract import Completion, DecisionTimedOut, Fatal, ModelClient, Outage, Request, Usage

FIRST_WAIT = 0.5
"""Seconds before the second try, where the provider asks for no wait of its own; doubled for each further one."""
LONGEST_WAIT = 30.0
"""Seconds; the cap on doubled waits. A wait that the provider asks for is not capped by it."""


class Ledger(Protocol):
    """Where calls are kept: committed when `add_call` returns."""

    def paid(self, key: CallKey, request: Request) -> Call | None:
        """An earlier call for the same attempt and the same request that was answered or timed out."""

    def next_number(self, key: CallKey) -> int:
        """How many calls are kept for this attempt."""

    def add_call(self, call: Call) -> None:
        """Keep one call."""


class MemoryLedger:
    """A ledger that lasts as long as the process, for episodes nobody asked to keep."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def paid(self, key: CallKey, request: Request) -> Call | None:
        return None

    def next_number(self, key: CallKey) -> int:
        return sum(call.key == key for call in self.calls)

    def add_call(self, call: Call) -> None:
        self.calls.append(call)


@dataclass(frozen=True, slots=True)
class Exchange:
    """All that the lines of one model share."""

    client: ModelClient
    """Makes exactly one HTTP call per `complete`, and raises CallFailed."""
    slots: Slots
    price: Callable[[Usage, str | None], float | None]
    """US dollars for the usage reported by the model served; None when unknown."""
    decision_timeout: float
    """Seconds for one attempt at a decision, waits for the provider included, time in the queue for a slot left out."""
    tries: int = 8
    """The most requests one attempt may make, rate limits left out: these are waited for as long as time lasts."""


class SeatLine:
    """The line of one seat of one episode. Not for concurrent use: a seat asks one question at a time."""

    def __init__(
        self,
        episode: str,
        seat: int,
        exchange: Exchange,
        ledger: Ledger,
        brake: Brake,
        *,
        on_call: Callable[[Call], None] = lambda call: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Random | None = None,
    ) -> None:
        self._episode = episode
        self._seat = seat
        self._exchange = exchange
        self._ledger = ledger
        self._brake = brake
        self._on_call = on_call
        self._sleep = sleep
        # Jitter spreads retries in time; nothing that is recorded depends on it.
        self._jitter = jitter or Random()  # noqa: S311
        self._key = CallKey(episode, seat, 0, 1)
        self._left = exchange.decision_timeout

    def open(self, step: int, attempt: int) -> None:
        """See `harness.orchestrate.Line`."""
        self._key = CallKey(self._episode, self._seat, step, attempt)
        self._left = self._exchange.decision_timeout

    async def complete(self, request: Request) -> Completion:
        """Ask the model. Raises Outage, Fatal, DecisionTimedOut or Stopping."""
        paid = self._ledger.paid(self._key, request)
        if paid is not None:
            if paid.completion is None:
                raise DecisionTimedOut(paid.error or "timed out")
            return paid.completion
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda failed: isinstance(failed, CallFailed) and failed.decision == "wait"),
            wait=self._wait,
            stop=self._stop,
            sleep=self._pause,
            reraise=True,
        )
        try:
            return await retrying(self._send, request)
        except CallFailed as failed:
            if failed.decision == "fatal":
                raise Fatal(f"{request.model}: {failed.cause}") from failed
            raise Outage(f"{request.model}: {failed.cause}") from failed

    def _wait(self, state: RetryCallState) -> float:
        failed = _failure(state)
        doubled: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (state.attempt_number - 1))
        if failed.wait is not None:
            return failed.wait + self._jitter.uniform(0.0, min(0.25, doubled / 4))
        return self._jitter.uniform(doubled / 2, doubled)

    def _stop(self, state: RetryCallState) -> bool:
        failed = _failure(state)
        if state.upcoming_sleep >= self._left:
            return True
        return not failed.limited and state.attempt_number >= self._exchange.tries

    async def _pause(self, seconds: float) -> None:
        self._left -= seconds
        await self._sleep(seconds)

    async def _send(self, request: Request) -> Completion:
        """One HTTP call, written down whatever becomes of it."""
        self._brake.check()
        exchange = self._exchange
        async with exchange.slots.slot():
            self._brake.before_call()
            number = self._ledger.next_number(self._key)
            started, began = datetime.now(UTC), time.monotonic()
            completion: Completion | None = None
            fate: Fate = "answered"
            error: str | None = None
            billing = "unknown"
            window = asyncio.timeout(self._left)
            try:
                async with window:
                    completion = await exchange.client.complete(request)
                billing = "known"
                return completion
            except TimeoutError as late:
                if not window.expired():
                    raise
                fate = "timed_out"
                error = f"no answer within {exchange.decision_timeout:g} s"
                raise DecisionTimedOut(error) from late
            except CallFailed as failed:
                fate, error, billing = failed.decision, failed.cause, failed.billing
                raise
            except asyncio.CancelledError:
                fate, error = "wait", "cut off before it returned"
                raise
            except BaseException as bug:
                fate, error = "fatal", f"{type(bug).__name__}: a bug in the client"
                raise
            finally:
                latency = time.monotonic() - began
                self._left -= latency
                call = Call(
                    key=self._key,
                    number=number,
                    request=request,
                    fate=fate,
                    completion=completion,
                    error=error,
                    billing=billing,
                    cost=self._cost(completion, billing),
                    started=started.isoformat(timespec="milliseconds"),
                    latency=round(latency, 6),
                )
                self._ledger.add_call(call)
                self._brake.after_call(call)
                self._on_call(call)

    def _cost(self, completion: Completion | None, billing: str) -> float | None:
        if billing == "none":
            return 0.0
        if completion is None:
            return None
        return self._exchange.price(completion.usage, completion.served_by)


def _failure(state: RetryCallState) -> CallFailed:
    """The failure that tenacity asks about: `retry` lets no other kind through."""
    error = state.outcome.exception() if state.outcome is not None else None
    if not isinstance(error, CallFailed):
        raise TypeError(f"a retry was considered for {error!r}")
    return error
