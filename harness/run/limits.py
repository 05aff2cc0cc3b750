"""What may stop a run before its last episode: a person, a ceiling, or a failure no further call can mend.

Owns the one place that says "no new call", and what is spent. Calls in flight are left to return, so that nothing paid
for is lost; waits between calls end at once, for nothing would come after them.

Ceilings on tokens and money are hard. What a call can be billed at most is set aside before it leaves and given back,
less its bill, when it returns: what is spent and what is set aside never exceed a ceiling together. Where the next
call does not fit beside those that are out, it waits for them; where it does not fit beside what is spent, the run
stops. A server that bills more than a call can take is found out early: until the first bill of a model is in, one
call of it is out, and from then on no less is set aside for its calls than the dearest of them was billed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from weigh.harness.store.calls import Call
from weigh.harness.store.store import Store
from weigh.policies.contract import Request, Usage, canonical

Pull: TypeAlias = Literal["interrupted", "ceiling", "fatal", "outage"]
"""A person's Ctrl-C; a limit on spending; a call that can never succeed; a provider that stays away."""

Spending: TypeAlias = Literal["max_calls", "max_tokens", "max_usd"]
"""The limits that count over all sittings."""

Price: TypeAlias = Callable[[Usage, str | None], float | None]
"""US dollars for the usage reported by the model served; None when unknown."""


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


@dataclass(frozen=True, slots=True)
class Bill:
    """What one call takes, or may take."""

    tokens: int = 0
    """Prompt and generated ones."""
    usd: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        return Bill(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Bill) -> Bill:
        return Bill(self.tokens - other.tokens, self.usd - other.usd)

    def __or__(self, other: Bill) -> Bill:
        """The larger one of each."""
        return Bill(max(self.tokens, other.tokens), max(self.usd, other.usd))


@dataclass(frozen=True, slots=True)
class Most:
    """What one call can be billed at most, by its request."""

    input: int
    output: int
    usd: float | None
    """None where nobody knows the price."""

    @property
    def bill(self) -> Bill:
        return Bill(self.input + self.output, self.usd or 0.0)


ROUNDING = 1e-9
"""US dollars by which sums of floats may be off."""
MESSAGE_BYTES = 64
"""What a message takes beside its text: its role and braces in the body, its marks in a chat template."""
BODY_BYTES = 512
"""What a body takes beside its messages, settings and schema: names of fields, what a provider writes into prompts."""


def most_of(request: Request, price: Price) -> Most:
    """No tokenizer makes more than one token of a byte of UTF-8, so the bytes of the body bound what is read, and the
    output cap what is written; both at the dearest rate of the service tier that is asked for: all of it written to the
    cache, read from it, or neither.

    The text is counted as ASCII JSON, which no body is longer than.
    """
    texts = [message.text for message in request.messages]
    extra = dict(request.sampling.extra)
    read = len(canonical([texts, request.schema, extra])) + MESSAGE_BYTES * len(texts) + BODY_BYTES
    written = request.sampling.max_tokens
    tier = extra.get("service_tier")
    plain = Usage(input=read, output=written, tier=tier if isinstance(tier, str) else None)
    ways = (plain, replace(plain, cache_written=read), replace(plain, cached=read))
    costs = [cost for cost in (price(usage, None) for usage in ways) if cost is not None]
    return Most(read, written, max(costs, default=None))


def billed(call: Call, most: Most) -> Bill:
    """What a call took, as far as it was told, and from above where it was not, unless it was not billed: a ceiling
    that took the unknown for nothing would be none."""
    tokens = 0
    if call.billing != "none":
        usage = call.usage or Usage()
        tokens = (most.input if usage.input is None else usage.input) + (
            most.output if usage.output is None else usage.output
        )
    return Bill(tokens, (most.usd or 0.0) if call.cost is None else call.cost)


@dataclass(frozen=True, slots=True)
class Spent:
    """What the earlier sittings of a run took."""

    calls: int = 0
    bill: Bill = Bill()
    dearest: Mapping[str, Bill] = field(default_factory=dict)
    """The dearest calls of each model that told what it took."""


def spent_before(stores: Iterable[Store], ceilings: Ceilings, price_of: Callable[[str], Price]) -> Spent:
    """Everything that runs hold, as far as the ceilings ask for it: calls whose usage or cost nobody told, lost ones
    among them, count from above, as they did in their own sittings. `price_of` gives a model's price."""
    calls, bill, dearest = 0, Bill(), dict[str, Bill]()
    for store in stores:
        calls += store.totals().calls
        if ceilings.tokens is None and ceilings.usd is None:
            continue
        for told in store.told():
            bill += Bill(told.tokens, told.usd)
            dearest[told.model] = dearest.get(told.model, Bill()) | Bill(told.most_tokens, told.most_usd)
        for call in store.untold():
            bill += billed(call, most_of(call.request, price_of(call.request.model)))
    return Spent(calls, bill, dearest)


class Reservation:
    """What is set aside for one call."""

    def __init__(self, model: str, most: Most, bill: Bill, first: bool) -> None:
        self.model = model
        self.most = most
        self.bill = bill
        self.first = first
        """Whether no bill of the model is in yet."""
        self.left = False
        """Whether the call has left."""
        self.settled = False


class Brake:
    """Pulled once, by whoever is first; the reason of that first pull is kept."""

    def __init__(
        self, ceilings: Ceilings = Ceilings(), spent: Spent = Spent(), *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`spent` is what earlier sittings of the run took."""
        self._ceilings = ceilings
        self._calls = spent.calls
        self._spent = spent.bill
        self._aside = Bill()
        self._dearest = dict(spent.dearest)
        self._first: set[str] = set()
        """Models of which the call is out whose bill will be the first."""
        self._settled = asyncio.Event()
        self._now = now
        self._started = now()
        self._waits: set[asyncio.Timeout] = set()
        self.pulled: Pull | None = None
        self._why: str = ""
        self._used_up: Spending | None = None
        self._wanted = Bill()
        """What the call that did not fit would have taken."""

    @property
    def reason(self) -> str:
        """Why it was pulled, in one line, with what is spent by now above a ceiling."""
        excess = self._spent - Bill(self._ceilings.tokens or 0, self._ceilings.usd or 0.0)
        over = list[str]()
        if self.pulled is None:
            return ""
        if self._ceilings.tokens is not None and excess.tokens > 0:
            over.append(f"{excess.tokens} tokens above limits.max_tokens")
        if self._ceilings.usd is not None and excess.usd > ROUNDING:
            over.append(f"{excess.usd:.4g} USD above limits.max_usd")
        return "; ".join([self._why, *over])

    def pull(self, why: Pull, reason: str) -> None:
        """Stop the run: no call and no step begins after this, and every wait in `waiting` ends. For the thread of the
        event loop."""
        if self.pulled is None:
            self.pulled = why
            self._why = reason
            for wait in self._waits:
                if not wait.expired():
                    wait.reschedule(asyncio.get_running_loop().time())

    @property
    def used_up(self) -> tuple[Spending, int | float] | None:
        """The limit over all sittings that ended this one, and what it must be above to let the next call leave. None
        for any other end, and for the time of a sitting."""
        if self._used_up is None:
            return None
        needed = self._spent + self._wanted
        amounts: dict[Spending, int | float] = {
            "max_calls": self._calls,
            "max_tokens": needed.tokens,
            "max_usd": needed.usd,
        }
        return self._used_up, amounts[self._used_up]

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

    @asynccontextmanager
    async def reserved(self, request: Request, price: Price) -> AsyncIterator[Reservation | None]:
        """Set aside what a call can take, as long as the block runs or until it is settled; waits for calls that are
        out where it does not fit beside them. Raises Stopping where it never will. None without a ceiling to keep.

        To be entered within `waiting`, and before anything scarce is held.
        """
        if self._ceilings.tokens is None and self._ceilings.usd is None:
            yield None
            return
        most = most_of(request, price)
        reservation = await self._set_aside(request.model, most)
        try:
            yield reservation
        finally:
            # It did not leave, or was cut off from outside: then it may be billed.
            self._give_back(reservation, reservation.bill if reservation.left else Bill())

    async def _set_aside(self, model: str, most: Most) -> Reservation:
        while True:
            first = model not in self._dearest
            bill = most.bill | self._dearest.get(model, Bill())
            self._require(model, most, bill)
            if not (first and model in self._first) and self._over(self._spent + self._aside + bill) is None:
                break
            settled = self._settled
            await settled.wait()
        if first:
            self._first.add(model)
        self._aside += bill
        return Reservation(model, most, bill, first)

    def _require(self, model: str, most: Most, bill: Bill) -> None:
        """Pull the brake, and raise Stopping, where a call cannot leave even when all that are out have returned and
        took nothing."""
        self.check()
        limit = self._over(self._spent + bill)
        if limit is not None:
            self._wanted = bill
            self._pull_at(limit)
        elif self._ceilings.usd is not None and most.usd is None:
            self.pull("ceiling", f"the price of {model} is not known, so limits.max_usd cannot be kept")
        self.check()

    def _over(self, bill: Bill, limits: Ceilings | None = None) -> Spending | None:
        """The ceiling that so much would pass, or what `limits` says in the place of those that are set."""
        of = limits or self._ceilings
        if self._ceilings.tokens is not None and bill.tokens > (of.tokens or 0):
            return "max_tokens"
        return "max_usd" if self._ceilings.usd is not None and bill.usd > (of.usd or 0.0) + ROUNDING else None

    def before_call(self, reservation: Reservation | None = None) -> None:
        """Count a call that is about to leave, or raise Stopping when it must not."""
        self.check()
        limit = self._ceilings.calls
        if limit is not None and self._calls >= limit:
            self._pull_at("max_calls")
        self.check()
        self._calls += 1
        if reservation is not None:
            reservation.left = True

    def after_call(self, call: Call, reservation: Reservation | None) -> None:
        """Count what a call took instead of what was set aside for it. A bill that is higher stops the run, unless it
        is the first of its model and within the ceilings: then it is learned from."""
        if reservation is None:
            return
        bill = billed(call, reservation.most)
        if call.completion is not None:
            model = reservation.model
            self._dearest[model] = self._dearest.get(model, Bill()) | bill
        self._give_back(reservation, bill)
        dearer = self._over(bill, Ceilings(tokens=reservation.bill.tokens, usd=reservation.bill.usd))
        if dearer is not None and (not reservation.first or self._over(self._spent) is not None):
            self.pull(
                "ceiling",
                f"{reservation.model} billed {bill.tokens} tokens and {bill.usd:.4g} USD for a call that can take "
                f"{reservation.bill.tokens} and {reservation.bill.usd:.4g}, so no limit can be kept",
            )

    def _give_back(self, reservation: Reservation, bill: Bill) -> None:
        """Count `bill` in the place of what is set aside; only the first time."""
        if reservation.settled:
            return
        reservation.settled = True
        self._aside -= reservation.bill
        self._spent += bill
        if reservation.first:
            self._first.discard(reservation.model)
        self._settled.set()
        self._settled = asyncio.Event()

    def _pull_at(self, limit: Spending) -> None:
        if self.pulled is None:
            self._used_up = limit
        amounts = {
            "max_calls": f"{self._ceilings.calls} calls are used up (limits.max_calls)",
            "max_tokens": f"{self._ceilings.tokens} tokens are used up (limits.max_tokens): {self._spent.tokens} are "
            f"spent, and the next call may take {self._wanted.tokens}",
            "max_usd": f"{self._ceilings.usd or 0:g} USD are used up (limits.max_usd): {self._spent.usd:.4g} are "
            f"spent, and the next call may take {self._wanted.usd:.4g}",
        }
        self.pull("ceiling", f"the run's {amounts[limit]}")

    def _pull_for_time(self) -> None:
        self.pull("ceiling", f"the run's {self._ceilings.seconds:g} seconds are used up (limits.max_seconds)")

    def _seconds_left(self) -> float | None:
        limit = self._ceilings.seconds
        return None if limit is None else limit - (self._now() - self._started)
