"""What the server has seen and sent: the figures of `GET /stats`, and the log of the last requests.

Owns the counting. All memory is bounded: names beyond the first thousand are counted together, the log keeps the last
N requests, and requests are recognised as the same while they are among the last 65,536 different ones.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

from weigh.harness.providers.mock_server.exchange import WIRES, Call
from weigh.harness.providers.mock_server.wire import USAGE_KINDS

UNREADABLE = "(unreadable)"
"""Stands for the model of a request that names none."""
OTHER = "(other)"
"""Stands for the names beyond the first thousand."""
CUT = "cut"
"""The fault plan ended the connection before the response was whole."""
GONE = "gone"
"""The client left before the response was whole."""


class RecentTally:
    """Counts by key; forgets the key that was counted longest ago when there are too many."""

    def __init__(self, most: int = 65_536) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._most = most

    def add(self, key: str) -> int:
        """Count `key` once more; how often that makes."""
        count = self._counts.pop(key, 0) + 1
        self._counts[key] = count
        if len(self._counts) > self._most:
            self._counts.popitem(last=False)
        return count


class Tally(dict[str, int]):
    """Counts by name; names beyond the first thousand are counted together, so that no total is ever wrong."""

    def add(self, name: str, amount: int = 1, most: int = 1000) -> None:
        """Count `amount` under `name`, or under `OTHER` when there are too many names."""
        if name not in self and len(self) >= most:
            name = OTHER
        self[name] = self.get(name, 0) + amount


class Counters:
    """The figures since the start or the last reset."""

    def __init__(self, log_size: int) -> None:
        self.log: deque[dict[str, Any]] = deque(maxlen=log_size)
        """The last requests, oldest first, without their headers."""
        self.busy: dict[str, int] = {}
        """Requests in flight by model, without those that a rate limit turned away."""
        self._in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Back to zero, but for what is in flight now."""
        self._requests = 0
        self._most_in_flight = self._in_flight
        self._wires = Tally(dict.fromkeys(WIRES, 0))
        self._models = Tally()
        self._tags = Tally()
        self._rules = Tally()
        self._sent = Tally()
        self._tokens = Tally(dict.fromkeys(USAGE_KINDS, 0))
        self._answered = RecentTally()
        self._answered_again = 0
        self.log.clear()

    def came(self, wire: str, tag: str) -> None:
        """A request's head is here."""
        self._requests += 1
        self._in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        self._wires.add(wire)
        if tag:
            self._tags.add(tag)

    def understood(self, model: str, rule: str | None) -> None:
        """A request was read, and a rule of the plan took it (or none did)."""
        self._models.add(model)
        if rule is not None:
            self._rules.add(rule)

    def begin(self, model: str) -> None:
        """A request is being answered."""
        self.busy[model] = self.busy.get(model, 0) + 1

    def end(self, model: str) -> None:
        """It no longer is."""
        self.busy[model] -= 1
        if not self.busy[model]:
            del self.busy[model]

    def left(self, sent: str) -> None:
        """A request is over: `sent` is the status of the whole response, or CUT or GONE."""
        self._in_flight -= 1
        self._sent.add(sent)

    def answered(self, digest: str, usage: dict[str, int] | None) -> None:
        """A response with status 200 went out whole."""
        if self._answered.add(digest) > 1:
            self._answered_again += 1
        for kind, tokens in (usage or {}).items():
            self._tokens.add(kind, tokens)

    def keep(self, call: Call, tag: str, rule: str | None, sent: str) -> None:
        """Write a line of the log: what was asked, and what became of it."""
        line = {"wire": call.wire, "model": call.model, "tag": tag, "rule": rule, "sent": sent, "body": call.body}
        self.log.append(line)

    def snapshot(self, connections: int) -> dict[str, Any]:
        """The figures as `GET /stats` gives them."""
        return {
            "requests": self._requests,
            "by_wire": dict(self._wires),
            "by_model": dict(self._models),
            "by_tag": dict(self._tags),
            "by_rule": dict(self._rules),
            "sent": dict(self._sent),
            "in_flight": self._in_flight,
            "most_in_flight": self._most_in_flight,
            "connections": connections,
            "answered_again": self._answered_again,
            "tokens": dict(self._tokens),
        }
