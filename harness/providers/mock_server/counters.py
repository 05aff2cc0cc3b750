"""What the server has seen and sent: the figures of `GET /stats`, and the log of the last requests.

Owns the counting. All memory is bounded: names beyond the first thousand are counted together, the log keeps the last
N requests, and requests are recognised as the same while they are among the last 65,536 different ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from weigh.harness.providers.mock_server.exchange import WIRES, Asked
from weigh.harness.providers.mock_server.tally import NamedTally, RecentTally
from weigh.harness.providers.mock_server.usage import KINDS, Told

UNREADABLE = "(unreadable)"
"""Stands for the model of a request that names none."""
CUT = "cut"
"""The fault plan ended the connection before the response was whole."""
GONE = "gone"
"""The client left before the response was whole."""


class Counters:
    """The figures since the start or the last reset."""

    def __init__(self, log_size: int) -> None:
        self.log: deque[dict[str, Any]] = deque(maxlen=log_size)
        """The last requests, oldest first, without their headers."""
        self.busy: dict[str, int] = {}
        """Requests in flight by model, without those that a rate limit turned away."""
        self._in_flight = 0
        self._zero()

    def _zero(self) -> None:
        self._requests = 0
        self._most_in_flight = self._in_flight
        self._wires = NamedTally()
        self._models = NamedTally()
        self._tags = NamedTally()
        self._rules = NamedTally()
        self._sent = NamedTally()
        self._tokens = NamedTally()
        self._answered = RecentTally()
        self._answered_again = 0
        self.log.clear()

    def reset(self) -> None:
        """Back to zero, but for what is in flight now."""
        self._zero()

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

    def answered(self, digest: str, usage: Told | None) -> None:
        """A response with status 200 went out whole."""
        if self._answered.add(digest) > 1:
            self._answered_again += 1
        if usage is not None:
            for kind in KINDS:
                self._tokens.add(kind, getattr(usage, kind))

    def snapshot(self, connections: int) -> dict[str, Any]:
        """The figures as `GET /stats` gives them."""
        return {
            "requests": self._requests,
            "by_wire": {wire: self._wires.counts.get(wire, 0) for wire in WIRES},
            "by_model": dict(self._models.counts),
            "by_tag": dict(self._tags.counts),
            "by_rule": dict(self._rules.counts),
            "sent": dict(self._sent.counts),
            "in_flight": self._in_flight,
            "most_in_flight": self._most_in_flight,
            "connections": connections,
            "answered_again": self._answered_again,
            "tokens": {kind: self._tokens.counts.get(kind, 0) for kind in KINDS},
        }


def log_entry(asked: Asked, tag: str, rule: str | None, sent: str) -> dict[str, Any]:
    """One line of the log: what was asked, and what became of it."""
    body: Mapping[str, Any] = asked.body
    return {"wire": asked.wire, "model": asked.model, "tag": tag, "rule": rule, "sent": sent, "body": body}
