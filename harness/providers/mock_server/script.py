"""A fault plan at work: which rule takes this request?

Owns all the counting a plan needs, in bounded memory. Decides without waiting and performs nothing. The moment and the
number of requests in flight are passed in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from weigh.harness.providers.mock_server.actions import Action, Limit, Respond
from weigh.harness.providers.mock_server.announce import parse_retry_after
from weigh.harness.providers.mock_server.dice import Dice
from weigh.harness.providers.mock_server.exchange import Asked
from weigh.harness.providers.mock_server.limits import Ceiling
from weigh.harness.providers.mock_server.plan import Plan, Rule
from weigh.harness.providers.mock_server.tally import RecentTally

_MOST_CEILINGS = 1000
_MOST_OUTPUT = 1024
"""Tokens a rate limit reserves for a request without a cap."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the plan says about one request."""

    action: Action | None = None
    """None: the ordinary answer."""
    rule: str | None = None
    """The name of the rule that took it."""
    index: int = -1
    """The place of that rule in the plan, to tell its draws from those of others."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """To be sent with whatever is answered: rate limits, when to come back."""


class Script:
    """Applies one plan to the requests of one server."""

    def __init__(self, plan: Plan, seed: int, now: float) -> None:
        self._plan = plan
        self._states = [_RuleState(rule, index, seed, now) for index, rule in enumerate(plan.rules)]
        self._started = now

    def decide(self, asked: Asked, tag: str, now: float, in_flight: Mapping[str, int]) -> Verdict:
        """The verdict on a request that came at `now` (Unix seconds), with so many in flight by model.

        Every rule that concerns the request counts it; the first that is due takes it.
        """
        elapsed = now - self._started
        taken: Verdict | None = None
        headers: dict[str, str] = {}
        for index, state in enumerate(self._states):
            if not state.rule.concerns(asked, tag, elapsed):
                continue
            due = state.count(asked, now)
            if taken is not None or not due:
                continue
            told = state.take(asked, now, in_flight)
            headers.update(told.headers)
            if told.takes:
                taken = Verdict(state.rule.action, self._plan.name(index), index, headers)
        return taken or Verdict(headers=headers)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a due rule does: whether it takes the request, and headers either way."""

    takes: bool
    headers: dict[str, str]


class _RuleState:
    """One rule and what it has counted."""

    def __init__(self, rule: Rule, index: int, seed: int, now: float) -> None:
        self.rule = rule
        self._index = index
        self._seed = seed
        self._counts = RecentTally()
        self._seen = RecentTally()
        self._held_until = now
        self._ceilings: OrderedDict[str, Ceiling] = OrderedDict()

    def count(self, asked: Asked, now: float) -> bool:
        """Count the request; whether it is one the rule means."""
        key = {"all": "", "model": asked.model, "request": asked.digest}[self.rule.per]
        due = self.rule.counted(self._counts.add(key))
        if self.rule.share is not None:
            # Counted even when `nth` already rules it out: how often it was seen is a fact about the request.
            seen = self._seen.add(asked.digest)
            draw = Dice(self._seed, asked.digest).fraction("share", self._index, seen)
            due = due and draw < self.rule.share
        return due or now < self._held_until

    def take(self, asked: Asked, now: float, in_flight: Mapping[str, int]) -> _Told:
        """Apply a due rule."""
        action = self.rule.action
        if isinstance(action, Limit):
            return self._limit(action, asked, now, in_flight)
        if isinstance(action, Respond) and action.retry_after is not None:
            promise = parse_retry_after(action.retry_after)
            until = self._held_until if now < self._held_until else promise.until(now)
            if action.hold:
                self._held_until = until
            return _Told(True, promise.headers(now, until))
        return _Told(True, {})

    def _limit(self, limit: Limit, asked: Asked, now: float, in_flight: Mapping[str, int]) -> _Told:
        key = asked.model if self.rule.per == "model" else ""
        ceiling = self._ceilings.pop(key, None) or Ceiling(limit, now)
        self._ceilings[key] = ceiling
        if len(self._ceilings) > _MOST_CEILINGS:
            self._ceilings.popitem(last=False)
        busy = in_flight.get(asked.model, 0) if self.rule.per == "model" else sum(in_flight.values())
        tokens = asked.input_tokens + (_MOST_OUTPUT if asked.cap is None else asked.cap)
        wait = ceiling.admit(tokens, busy, now)
        headers = ceiling.headers(asked.wire, now)
        if wait == 0:
            return _Told(False, headers)
        return _Told(True, headers | ceiling.refusal_headers(asked.wire, wait))
