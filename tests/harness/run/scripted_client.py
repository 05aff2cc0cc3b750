"""A model client that does what a test tells it to, and a ledger that finds again what it was given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.model_calls import Exchange, MemoryLedger
from weigh.harness.store.calls import Call, CallKey
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage

MODEL = "mock:one"
ANSWER = Completion('{"bid": 3}', "end", usage=Usage(input=100, output=20), served_by="one")

Outcome: TypeAlias = Completion | BaseException | Callable[[Request], Awaitable[Completion]]


def ask(text: str = "bid", model: str = MODEL) -> Request:
    return Request(model, (Message("user", text),), Sampling(max_tokens=64))


def busy(wait: float | None = None) -> CallFailed:
    """A 503."""
    return CallFailed("wait", "status 503: overloaded", wait=wait, billing="none", status=503)


def limited(wait: float | None = None) -> CallFailed:
    """A 429."""
    return CallFailed("wait", "status 429: too many requests", wait=wait, billing="none", status=429)


def refused_key() -> CallFailed:
    """A 401."""
    return CallFailed("fatal", "status 401: the key is refused; check MOCK_API_KEY", billing="none", status=401)


async def hang(request: Request) -> Completion:
    await asyncio.Event().wait()
    raise AssertionError("nothing ever comes")


def after(seconds: float, completion: Completion = ANSWER) -> Outcome:
    """An answer that takes its time."""

    async def slow(request: Request) -> Completion:
        await asyncio.sleep(seconds)
        return completion

    return slow


async def until(holds: Callable[[], bool]) -> None:
    """Let everybody else go on until something is the case."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0.0005)
    raise AssertionError("it never was the case")


class ScriptedClient:
    """Meets the nth call with the nth outcome, and all further ones with the last."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = outcomes
        self.asked: list[Request] = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def complete(self, request: Request) -> Completion:
        outcome = self._outcomes[min(len(self.asked), len(self._outcomes) - 1)]
        self.asked.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if isinstance(outcome, Completion):
                return outcome
            if isinstance(outcome, BaseException):
                raise outcome
            return await outcome(request)
        finally:
            self.in_flight -= 1


class Book(MemoryLedger):
    """Finds what was paid for, as a run's store does."""

    def paid(self, key: CallKey, request: Request) -> Call | None:
        settled = [
            call
            for call in self.calls
            if call.key == key and call.request == request and call.fate in ("answered", "timed_out")
        ]
        return settled[-1] if settled else None

    @property
    def fates(self) -> list[str]:
        return [call.fate for call in self.calls]


@dataclass
class Naps:
    """A sleep that takes no time and remembers how long it should have."""

    lengths: list[float] = field(default_factory=list)
    during: Callable[[], None] = lambda: None

    async def __call__(self, seconds: float) -> None:
        self.lengths.append(seconds)
        self.during()
        await asyncio.sleep(0)


def exchange(client: ScriptedClient, *, slots: Slots | None = None, timeout: float = 60.0, **more: Any) -> Exchange:
    """What the lines of one model share, at a dollar for a million tokens."""
    return Exchange(client, slots or Slots(100), price, timeout, **more)


def price(usage: Usage, served_by: str | None) -> float | None:
    if usage.input is None or usage.output is None:
        return None
    return (usage.input + usage.output) / 1e6
