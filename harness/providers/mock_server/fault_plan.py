"""A fault plan at work: which rule takes this request? With the state of rate limits, as providers keep them.

Owns all the counting a plan needs, in bounded memory, and the headers that announce when to come back. Decides without
waiting and performs nothing; reads no clock: the moment and the number of requests in flight are passed in.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate

from weigh.harness.providers.mock_server.counters import RecentTally
from weigh.harness.providers.mock_server.exchange import Call, Draws, Wire
from weigh.harness.providers.mock_server.rules import Limit, Respond, Rule, parse_retry_after

_MOST_LIMITS = 1000
"""Models that one rate limit keeps apart."""
_MOST_OUTPUT = 1024
"""Tokens a rate limit reserves for a request without a cap."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the plan says about one request."""

    rule: Rule | None = None
    """The one that took it. None: the ordinary answer."""
    name: str | None = None
    """What statistics and logs call that rule."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """To be sent with whatever is answered: rate limits, when to come back."""


class FaultPlan:
    """Applies rules to the requests of one server."""

    def __init__(self, rules: Sequence[Rule], seed: int, now: float) -> None:
        self._states = [_RuleState(rule, index, seed, now) for index, rule in enumerate(rules)]
        self._started = now

    def decide(self, call: Call, tag: str, now: float, in_flight: Mapping[str, int]) -> Verdict:
        """The verdict on a request that came at `now` (Unix seconds), with so many in flight by model.

        Every rule that concerns the request counts it; the first that is due takes it.
        """
        taken: _RuleState | None = None
        headers: dict[str, str] = {}
        for state in self._states:
            if not state.rule.concerns(call, tag, now - self._started):
                continue
            if state.count(call, now) and taken is None and state.take(call, now, in_flight, headers):
                taken = state
        return Verdict(taken.rule, taken.name, headers) if taken else Verdict(headers=headers)


class _RuleState:
    """One rule and what it has counted."""

    def __init__(self, rule: Rule, index: int, seed: int, now: float) -> None:
        self.rule = rule
        self.name = rule.name or f"rule {index + 1}"
        self._index = index
        self._seed = seed
        self._counts = RecentTally()
        self._seen = RecentTally()
        self._held_until = now
        self._limits: OrderedDict[str, RateLimit] = OrderedDict()

    def count(self, call: Call, now: float) -> bool:
        """Count the request; whether it is one the rule means."""
        key = {"all": "", "model": call.model, "request": call.digest}[self.rule.per]
        due = self.rule.counted(self._counts.add(key))
        if self.rule.share is not None:
            # Counted even when `nth` already rules it out: how often it was seen is a fact about the request.
            seen = self._seen.add(call.digest)
            draw = Draws(self._seed, call.digest).fraction("share", self._index, seen)
            due = due and draw < self.rule.share
        return due or now < self._held_until

    def take(self, call: Call, now: float, in_flight: Mapping[str, int], headers: dict[str, str]) -> bool:
        """Whether the due rule takes the request. Adds what it has to announce to `headers` either way."""
        if isinstance(self.rule, Limit):
            return self._limited(self.rule, call, now, in_flight, headers)
        if isinstance(self.rule, Respond) and self.rule.retry_after is not None:
            form, seconds = parse_retry_after(self.rule.retry_after)
            until = self._held_until if now < self._held_until else now + seconds
            if form == "date":
                until = float(math.ceil(until))  # dates have no less
            if self.rule.hold:
                self._held_until = until
            headers.update(_retry_after(form, now, until))
        return True

    def _limited(
        self, limit: Limit, call: Call, now: float, in_flight: Mapping[str, int], headers: dict[str, str]
    ) -> bool:
        key = call.model if limit.per == "model" else ""
        state = self._limits.pop(key, None) or RateLimit(limit, now)
        self._limits[key] = state
        if len(self._limits) > _MOST_LIMITS:
            self._limits.popitem(last=False)
        busy = in_flight.get(call.model, 0) if limit.per == "model" else sum(in_flight.values())
        wait = state.admit(call.input_tokens + (_MOST_OUTPUT if call.cap is None else call.cap), busy, now)
        headers.update(state.headers(call.wire, now))
        if wait > 0:  # whole seconds, never too early, and for OpenAI's clients the milliseconds as well
            headers["retry-after"] = str(max(1, math.ceil(wait)))
            if call.wire != "messages":
                headers["retry-after-ms"] = str(max(1, math.ceil(wait * 1000)))
        return wait > 0


def _retry_after(form: str, now: float, until: float) -> dict[str, str]:
    """The header for the time left until `until`, never rounded down."""
    if form == "date":
        return {"Retry-After": formatdate(until, usegmt=True)}
    milliseconds = math.ceil(round((until - now) * 1000, 6))
    return {"retry-after-ms": str(milliseconds)} if form == "ms" else {"Retry-After": f"{milliseconds / 1000:g}"}


class RateLimit:
    """The state of one `Limit`, for all requests it counts together: buckets that refill evenly and start full."""

    def __init__(self, limit: Limit, now: float) -> None:
        self._in_flight = limit.in_flight
        self._buckets: dict[str, _Bucket] = {}
        if limit.requests_per_minute is not None:
            capacity = limit.burst or max(1.0, limit.requests_per_minute)
            self._buckets["requests"] = _Bucket(capacity, limit.requests_per_minute / 60, now)
        if limit.tokens_per_minute is not None:
            self._buckets["tokens"] = _Bucket(limit.tokens_per_minute, limit.tokens_per_minute / 60, now)

    def admit(self, tokens: int, in_flight: int, now: float) -> float:
        """0 when the request may pass, which is then counted; else seconds after which it may be tried again."""
        if self._in_flight is not None and in_flight >= self._in_flight:
            return 1.0  # a provider cannot know when a slot comes free; it says soon
        amounts = {"requests": 1.0, "tokens": float(tokens)}
        wait = max((bucket.wait(amounts[kind], now) for kind, bucket in self._buckets.items()), default=0.0)
        if wait == 0:
            for kind, bucket in self._buckets.items():
                bucket.take(amounts[kind], now)
        return wait

    def headers(self, wire: Wire, now: float) -> dict[str, str]:
        """What the provider tells about the limits, with every response."""
        headers: dict[str, str] = {}
        for kind, bucket in self._buckets.items():
            limit, remaining = math.floor(bucket.per_second * 60), math.floor(bucket.held(now))
            full_in = bucket.wait(bucket.capacity, now)
            if wire == "messages":
                full = datetime.fromtimestamp(math.ceil(now + full_in), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                values = {"limit": limit, "remaining": remaining, "reset": full}
                headers |= {f"anthropic-ratelimit-{kind}-{name}": str(value) for name, value in values.items()}
            else:
                values = {"limit": limit, "remaining": remaining, "reset": f"{math.ceil(full_in * 1000)}ms"}
                headers |= {f"x-ratelimit-{name}-{kind}": str(value) for name, value in values.items()}
        return headers


class _Bucket:
    """Holds up to `capacity`, refills by `per_second`, starts full."""

    def __init__(self, capacity: float, per_second: float, now: float) -> None:
        self.capacity = capacity
        self.per_second = per_second
        self._held = capacity
        self._at = now

    def held(self, now: float) -> float:
        """What is in it at `now`. A clock that was set back refills nothing."""
        if now > self._at:
            self._held = min(self.capacity, self._held + (now - self._at) * self.per_second)
        self._at = now
        return self._held

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be taken; more than the capacity needs a full bucket."""
        return max(0.0, (min(amount, self.capacity) - self.held(now)) / self.per_second)

    def take(self, amount: float, now: float) -> None:
        """Take what `wait` found to be there."""
        self._held = self.held(now) - min(amount, self.capacity)
