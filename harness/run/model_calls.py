"""A seat's line to its model: everything that stands between a player's question and one HTTP call.

Owns the order of things for one attempt at one decision: answer from the ledger if it was paid for before; wait for a
slot; send; try again after passing failures; pause the model where its provider asks for a longer wait than the
decision has time for; give up when the decision's time is out; write every request down before it leaves and as it
returns. The only layer that retries: the SDKs' own retries are off.

Knows neither prompts nor how a reply is read, and no provider by name.

How long one attempt at a decision goes on: the time and the tries it has left, and the waits between its tries.

Owns that arithmetic, who is charged when the time runs out, and which waits are too long for a decision and pause the
model instead. Makes no call, sleeps for nobody and reads no clock: it is told what was spent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Protocol

from tenacity import AsyncRetrying, retry_if_exception_type

from weigh.harness.providers.errors.failures import PROGRESS, CallFailed, Progress
from weigh.harness.run.concurrency import Slots, expected_tokens
from weigh.harness.run.lag import Lag, Window
from weigh.harness.run.limits import Brake, Price, Reservation
from weigh.harness.store.calls import Call, CallKey, Fate, departed
from weigh.policies.contract import Billing, Completion, DecisionTimedOut, Fatal, ModelClient, Outage, Request, Usage

FIRST_WAIT = 0.5
"""Seconds before the second try, where the provider asks for no wait of its own; doubled for each further one."""
LONGEST_WAIT = 30.0
"""Seconds; the cap on doubled waits. A wait that the provider asks for is not capped by it."""
SPREAD = 0.25
"""Of the doubled wait: how much at most is added to a wait that the provider asked for. Never less than it asked for,
and not the same for every seat it told to wait, or all of them would be back at one moment."""
ODD_TRIES = 5
"""Odd answers in a row to one attempt, with no good answer of the model to anybody in between, that are no moment's
fault any more. With the waits between them they take 3.75 to 7.5 s."""
FAIR_SHARE = 0.9
"""Of the decision's time: a call that got less, because the provider's failures took the rest, is not charged to the
policy when the time runs out. What is lost to one dropped connection is within the remaining tenth."""


class Patience:
    """What one attempt has left. Starts anew with every attempt."""

    def __init__(self, seconds: float, tries: int, jitter: Random) -> None:
        """`seconds` are the decision's time, calls and waits together; `tries` the most requests, those that met a rate
        limit left out: a rate limit is waited for as long as time lasts."""
        self._seconds = seconds
        self._tries = tries
        self._jitter = jitter
        self._odd = 0
        self._answered = 0
        self.wait: float | None = None
        """Seconds to wait before the next try, after a failure; None when there is none to be made."""
        self.pause: float | None = None
        """Seconds for which the model is to be paused, after a failure that asks for more than the decision has left;
        None after any other. The attempt begins again when the pause is over."""
        self.restart()

    def restart(self) -> None:
        """Give the attempt its whole time and all its tries, after a pause of the model: it was not the policy's, and
        a call that then times out was given the time that a fair charge asks for."""
        self._failures = 0
        self._tried = 0
        self.left = self._seconds
        """Seconds for further calls and waits."""

    def spend(self, seconds: float) -> None:
        """Count time that a call or a wait took."""
        self.left -= seconds

    def failed(self, failure: CallFailed) -> None:
        """Settle what follows a call that failed, after the time it took was counted: see `wait`."""
        self._failures += 1
        self._tried += not failure.limited
        self.wait = self.pause = None
        if failure.decision != "wait":
            return
        wait = self._draw(failure.wait)
        if wait < self.left:
            self.wait = wait if self._tried < self._tries else None
        elif failure.busy and failure.wait:
            self.pause = failure.wait
            self.restart()
            self.wait = 0.0
        # Any other wait that cannot be kept in full is not begun: coming back early would be refused again.

    def odd(self, failure: CallFailed, answered: int) -> CallFailed:
        """What an odd failure means where the model has given so many good answers before, to whatever attempt: a
        passing one, until it has repeated."""
        self._odd = self._odd + 1 if answered == self._answered else 1
        self._answered = answered
        if answered == 0:
            return failure
        if self._odd < ODD_TRIES:
            return CallFailed("wait", failure.cause, billing=failure.billing, status=failure.status)
        cause = f"{self._odd} times in a row, after {answered} good answers: {failure.cause}"
        return CallFailed("fatal", cause, billing=failure.billing, status=failure.status)

    def _draw(self, asked: float | None) -> float:
        # The exponent is bounded as well: a long decision may be told to wait thousands of times.
        doubled = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self._failures - 1, 16))
        if asked is None:
            return self._jitter.uniform(doubled / 2, doubled)
        return asked + self._jitter.uniform(0.0, SPREAD * doubled)

    def ran_out(self, given: float, progress: Progress) -> DecisionTimedOut | CallFailed:
        """What it means that a call that was given so many seconds brought no answer in them: a fault of the policy
        where the request was sent and silence followed. It is the provider's failure where an error status came, where
        no connection stood, and where failures and waits had taken too much of the decision's time before."""
        if progress.failure is not None:
            return progress.failure
        if progress.sent is False:
            return CallFailed("outage", f"no connection within {given:.3g} s", billing="none")
        if given >= FAIR_SHARE * self._seconds:
            return DecisionTimedOut(f"no answer within {self._seconds:g} s")
        lost = self._seconds - given
        return CallFailed(
            "outage",
            f"failures and waits took {lost:.3g} of {self._seconds:g} s, and the last call got no answer in time",
        )


class Ledger(Protocol):
    """Where calls are kept. What a method kept is committed when it returns."""

    def paid(self, key: CallKey, request: Request) -> Call | None:
        """An earlier call for the same attempt and the same request that settled it: see
        `harness.store.calls.SETTLED`."""

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None) -> int:
        """Keep that a call is about to leave; gives its number. Until `end_call` it counts as lost, at this cost."""

    def end_call(self, call: Call) -> None:
        """Keep what became of a call that was begun."""


class MemoryLedger:
    """A ledger that lasts as long as the process, for episodes nobody asked to keep."""

    def __init__(self) -> None:
        self._calls: dict[tuple[CallKey, int], Call] = {}

    @property
    def calls(self) -> list[Call]:
        """In the order in which they left."""
        return list(self._calls.values())

    def paid(self, key: CallKey, request: Request) -> Call | None:
        return None

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None) -> int:
        number = sum(place[0] == key for place in self._calls)
        self._calls[key, number] = departed(key, number, request, started, cost)
        return number

    def end_call(self, call: Call) -> None:
        self._calls[call.key, call.number] = call


@dataclass(frozen=True, slots=True)
class Exchange:
    """All that the lines of one model share."""

    client: ModelClient
    """Makes exactly one HTTP call per `complete`, and raises CallFailed."""
    slots: Slots
    price: Price
    decision_timeout: float
    """Seconds for one attempt at a decision, waits for the provider included, time in the queue for a slot and during
    pauses of the model left out."""
    tries: int = 8
    """The most requests one attempt may make, rate limits left out: these are waited for as long as time lasts."""
    lag: Lag = field(default_factory=Lag)
    """Of the loop that the calls are made in."""


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
        self.open(0, 1)

    def open(self, step: int, attempt: int) -> None:
        """See `harness.run.episode.Line`."""
        self._key = CallKey(self._episode, self._seat, step, attempt)
        self._patience = Patience(self._exchange.decision_timeout, self._exchange.tries, self._jitter)

    async def complete(self, request: Request) -> Completion:
        """Ask the model. Raises Outage, Fatal, DecisionTimedOut or Stopping."""
        paid = self._ledger.paid(self._key, request)
        if paid is not None:
            return _again(paid)
        try:
            return await self._patiently(request)
        except CallFailed as failed:
            problem = f"{request.model}: {failed.cause}"
            if failed.decision == "fatal":
                # At once, not when the round is over: no other seat should send what will be refused as well.
                self._brake.pull("fatal", problem)
                raise Fatal(problem) from failed
            raise Outage(problem) from failed

    async def _patiently(self, request: Request) -> Completion:
        """Send, and send again after passing failures. Raises the failure that is not passing, or not any more."""
        patience = self._patience
        try:
            return await self._send(request)
        except CallFailed:
            if patience.wait is None:
                raise
        # Not before a failure: its bookkeeping takes a sixth of the processor time that a decision costs the harness.
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(CallFailed),
            stop=lambda state: patience.wait is None,
            wait=lambda state: patience.wait or 0.0,
            sleep=self._pause,
            reraise=True,
        )
        await self._pause(patience.wait)
        return await retrying(self._send, request)

    async def _pause(self, seconds: float) -> None:
        self._patience.spend(seconds)
        async with self._brake.waiting():
            await self._sleep(seconds)

    async def _send(self, request: Request) -> Completion:
        """Wait until the limits let it leave and for a slot, then make one call. Raises CallFailed, DecisionTimedOut or
        Stopping."""
        slots = self._exchange.slots
        pauses = slots.pauses.over
        async with AsyncExitStack() as held:
            async with self._brake.waiting():
                await self._exchange.lag.calm()
                reservation = await held.enter_async_context(self._brake.reserved(request, self._exchange.price))
                await held.enter_async_context(slots.slot(expected_tokens(request)))
            if slots.pauses.over > pauses:
                self._patience.restart()
            self._brake.before_call(reservation)
            return await self._call(request, reservation)

    async def _call(self, request: Request, reservation: Reservation | None) -> Completion:
        """One HTTP call, written down before it leaves and again as it returns."""
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._keeping():
            number = self._ledger.begin_call(self._key, request, started, self._exchange.price(Usage(), None))
        sent = departed(self._key, number, request, started, None)
        completion, failure = None, None
        window = Window(self._exchange.lag, self._patience.left)
        try:
            completion = await self._answer(request, window)
        except Exception as error:
            failure = error
        # A call that is cut off from outside stays in the ledger as what it is: sent, and never heard of again.
        self._brake.after_call(self._write_down(sent, window, completion, failure), reservation)
        if completion is None:
            raise failure or AssertionError("a call without an answer failed")
        return completion

    async def _answer(self, request: Request, window: Window) -> Completion:
        """What the client brings within the time that is left."""
        given, progress = self._patience.left, Progress()
        PROGRESS.set(progress)
        failure: DecisionTimedOut | CallFailed
        try:
            async with window:
                return await self._exchange.client.complete(request)
        except TimeoutError:
            if not window.expired:
                raise
            failure = self._patience.ran_out(given, progress)
        except CallFailed as failed:
            failure = failed
        if isinstance(failure, CallFailed) and failure.odd:
            failure = self._patience.odd(failure, self._exchange.slots.answered)
        raise failure

    def _write_down(self, sent: Call, window: Window, completion: Completion | None, failure: Exception | None) -> Call:
        seconds, lag = window.seconds, window.lag
        self._patience.spend(seconds)
        fate, cause, billing = self._fate(failure)
        told = failure.usage if isinstance(failure, CallFailed) else None
        call = replace(
            sent,
            fate=fate,
            completion=completion,
            error=cause,
            billing=billing,
            cost=self._cost(completion, told, billing),
            told=told,
            latency=round(seconds, 6),
            lag=round(lag, 6),
        )
        with self._keeping():
            self._ledger.end_call(call)
        self._on_call(call)
        return call

    def _fate(self, failure: Exception | None) -> tuple[Fate, str | None, Billing]:
        """What became of a call, in the ledger's words, and what follows from it for the attempt."""
        match failure:
            case None:
                return "answered", None, "known"
            case DecisionTimedOut():
                return "timed_out", str(failure), "unknown"
            case CallFailed():
                self._patience.failed(failure)
                if self._patience.pause is not None:
                    # Before the slot is free: no other call should leave and be refused as well.
                    self._exchange.slots.pauses.begin(self._patience.pause, failure.cause)
                given_up = failure.decision == "wait" and self._patience.wait is None
                return "outage" if given_up else failure.decision, failure.cause, failure.billing
            case _:
                # Its words are left out: nothing is known of what they may quote.
                return "fatal", f"{type(failure).__name__}: a bug in the client", "unknown"

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """What cannot be kept must not be bought: everybody stops, not this seat alone."""
        try:
            yield
        except Exception as error:
            self._brake.pull("fatal", str(error))
            raise

    def _cost(self, completion: Completion | None, told: Usage | None, billing: Billing) -> float | None:
        if billing == "none":
            return 0.0
        if completion is None:
            # Where nobody told the usage, the cost is unknown, except where nothing costs anything.
            return self._exchange.price(told or Usage(), None)
        return self._exchange.price(completion.usage, completion.served_by)


def _again(paid: Call) -> Completion:
    """What an earlier call for the same question came to."""
    if paid.completion is None:
        raise DecisionTimedOut(paid.error or "timed out")
    return paid.completion
