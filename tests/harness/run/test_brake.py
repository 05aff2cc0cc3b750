"""What stops a run: the first pull counts, ceilings are kept to the call, nothing in flight is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from weigh.harness.run.limits import Bill, Brake, Ceilings, Most, Spent, Stopping, billed
from weigh.harness.store.calls import Call, CallKey
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage


def call(tokens: int, cost: float | None) -> Call:
    return Call(
        key=CallKey("e", 0, 0, 1),
        number=0,
        request=Request("mock:one", (Message("user", "bid"),), Sampling()),
        fate="answered",
        completion=Completion("{}", "end", usage=Usage(input=tokens, output=tokens)),
        error=None,
        billing="known",
        cost=cost,
        started="2026-01-01T00:00:00.000+00:00",
        latency=0.1,
    )


def test_the_first_pull_is_the_one_that_is_told() -> None:
    brake = Brake()
    brake.check()
    brake.pull("interrupted", "Ctrl-C")
    brake.pull("fatal", "something later")
    assert (brake.pulled, brake.reason) == ("interrupted", "Ctrl-C")
    with pytest.raises(Stopping, match="Ctrl-C"):
        brake.before_call()


def test_a_ceiling_on_calls_lets_exactly_that_many_leave() -> None:
    brake = Brake(Ceilings(calls=5), Spent(calls=2))
    for _ in range(3):
        brake.before_call()
    with pytest.raises(Stopping, match=r"5 calls are used up \(limits.max_calls\)"):
        brake.before_call()
    assert brake.pulled == "ceiling"


def test_a_ceiling_on_time_is_looked_at_before_each_step() -> None:
    clock = iter([0.0, 9.0, 10.0])
    brake = Brake(Ceilings(seconds=10), now=lambda: next(clock))
    brake.check()
    with pytest.raises(Stopping, match="10 seconds"):
        brake.check()


def test_a_wait_is_not_begun_once_the_brake_is_pulled_and_lets_other_errors_through() -> None:
    async def waits() -> None:
        brake = Brake()
        with pytest.raises(TimeoutError, match="of its own"):
            async with brake.waiting():
                raise TimeoutError("of its own")
        brake.check()
        brake.pull("interrupted", "Ctrl-C")
        with pytest.raises(Stopping, match="Ctrl-C"):
            async with brake.waiting():
                raise AssertionError("not begun")

    asyncio.run(waits())


def test_every_wait_ends_with_the_pull() -> None:
    async def many() -> list[BaseException | None]:
        brake = Brake()

        async def wait() -> None:
            async with brake.waiting():
                await asyncio.sleep(60)

        waits = [asyncio.create_task(wait()) for _ in range(20)]
        await asyncio.sleep(0)
        brake.pull("outage", "gone")
        return await asyncio.gather(*waits, return_exceptions=True)

    assert [str(ending) for ending in asyncio.run(many())] == ["gone"] * 20


def test_what_nobody_told_counts_from_above_and_what_was_not_billed_counts_nothing() -> None:
    most = Most(input=300, output=200, usd=0.6)
    untold = replace(call(1, None), completion=Completion("{}", "end"), billing="unknown")
    half_told = replace(untold, completion=Completion("{}", "end", usage=Usage(input=7)))
    assert billed(untold, most) == billed(replace(untold, completion=None), most) == Bill(500, 0.6)
    assert billed(half_told, most) == Bill(207, 0.6)
    assert billed(call(20, 0.25), most) == Bill(40, 0.25)
    assert billed(replace(untold, completion=None, billing="none", cost=0.0), most) == Bill(0, 0.0)


def test_what_is_used_up_is_told_with_what_is_spent_and_only_of_limits_over_all_sittings():
    brake = Brake(Ceilings(calls=2), Spent(calls=1))
    assert brake.used_up is None
    brake.before_call()
    with pytest.raises(Stopping):
        brake.before_call()
    assert brake.used_up == ("max_calls", 2)
    late = Brake(Ceilings(seconds=0.0))
    with pytest.raises(Stopping):
        late.check()
    assert (late.pulled, late.used_up) == ("ceiling", None)
    stopped = Brake(Ceilings(tokens=5), Spent(bill=Bill(tokens=9)))
    stopped.pull("interrupted", "interrupted")
    with pytest.raises(Stopping):
        stopped.before_call()
    assert stopped.used_up is None
