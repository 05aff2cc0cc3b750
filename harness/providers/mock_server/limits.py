"""Rate ceilings as providers keep them: buckets that refill evenly, and the headers that tell of them.

Owns the arithmetic and the header names of both providers. Reads no clock: the moment is passed in.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from weigh.harness.providers.mock_server.actions import Limit
from weigh.harness.providers.mock_server.exchange import Wire


class Bucket:
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


class Ceiling:
    """The state of one `Limit`, for all requests it counts together."""

    def __init__(self, limit: Limit, now: float) -> None:
        self._in_flight = limit.in_flight
        self._buckets: dict[str, Bucket] = {}
        if limit.requests_per_minute is not None:
            capacity = limit.burst or max(1.0, limit.requests_per_minute)
            self._buckets["requests"] = Bucket(capacity, limit.requests_per_minute / 60, now)
        if limit.tokens_per_minute is not None:
            self._buckets["tokens"] = Bucket(limit.tokens_per_minute, limit.tokens_per_minute / 60, now)

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
        """What the provider tells about the ceilings, with every response."""
        told = {}
        for kind, bucket in self._buckets.items():
            remaining = str(math.floor(bucket.held(now)))
            full_in = bucket.wait(bucket.capacity, now)
            if wire == "messages":
                moment = datetime.fromtimestamp(math.ceil(now + full_in), UTC)
                told[f"anthropic-ratelimit-{kind}-limit"] = str(math.floor(bucket.per_second * 60))
                told[f"anthropic-ratelimit-{kind}-remaining"] = remaining
                told[f"anthropic-ratelimit-{kind}-reset"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            else:
                told[f"x-ratelimit-limit-{kind}"] = str(math.floor(bucket.per_second * 60))
                told[f"x-ratelimit-remaining-{kind}"] = remaining
                told[f"x-ratelimit-reset-{kind}"] = f"{math.ceil(full_in * 1000)}ms"
        return told

    @staticmethod
    def refusal_headers(wire: Wire, wait: float) -> dict[str, str]:
        """When to come back: whole seconds, never too early, and for OpenAI's clients the milliseconds as well."""
        told = {"retry-after": str(max(1, math.ceil(wait)))}
        if wire != "messages":
            told["retry-after-ms"] = str(max(1, math.ceil(wait * 1000)))
        return told
