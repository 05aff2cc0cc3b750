"""How long one attempt at a decision goes on: the time and the tries it has left, and the waits between its tries.

Owns that arithmetic, who is charged when the time runs out, and which waits are too long for a decision and pause the
model instead. Makes no call, sleeps for nobody and reads no clock: it is told what was spent.
"""

from __future__ import annotations

from random import Random

from harness.providers.failures import CallFailed
from policies.contract import DecisionTimedOut

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

    def ran_out(self, given: float) -> DecisionTimedOut | CallFailed:
        """What it means that a call that was given so many seconds brought no answer in them: a fault of the policy, or
        an outage where failures and waits had taken too much of the decision's time before."""
        if given >= FAIR_SHARE * self._seconds:
            return DecisionTimedOut(f"no answer within {self._seconds:g} s")
        lost = self._seconds - given
        return CallFailed(
            "outage",
            f"failures and waits took {lost:.3g} of {self._seconds:g} s, and the last call got no answer in time",
        )
