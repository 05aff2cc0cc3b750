"""Slots: fair, adaptive, cut by rate limits alone, never lost."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Awaitable, Callable

import pytest

from tests.jumping_time import jumping, now
from weigh.games.registry import GAMES
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.run.concurrency import MINUTE, Slots, SlotView, expected_tokens, fitted, shortage
from weigh.policies.contract import Message, Request, Sampling

LIMITED = CallFailed("wait", "status 429", status=429)
BUSY = CallFailed("wait", "status 503", status=503)


async def call(
    slots: Slots, work: Callable[[], Awaitable[None]] | None = None, fails: CallFailed | None = None
) -> None:
    async with slots.slot():
        if work is not None:
            await work()
        if fails is not None:
            raise fails


async def together(slots: Slots, n: int, fails: CallFailed | None = None) -> None:
    """`n` calls that are all in flight at once as far as the limit allows, each ending alike."""
    await asyncio.gather(*(call(slots, lambda: asyncio.sleep(0), fails) for _ in range(n)), return_exceptions=True)


def test_at_most_the_limit_is_in_flight_and_turns_come_in_order() -> None:
    async def play() -> tuple[int, list[int]]:
        slots, order, most = Slots(3, start=3), list[int](), 0

        async def one(number: int) -> None:
            nonlocal most
            async with slots.slot():
                order.append(number)
                most = max(most, slots.view.in_flight)
                await asyncio.sleep(0)

        await asyncio.gather(*(one(number) for number in range(20)))
        assert slots.view == SlotView(in_flight=0, limit=3, waiting=0, cuts=0)
        return most, order

    assert asyncio.run(play()) == (3, list(range(20)))


def test_a_newcomer_does_not_overtake_those_who_wait() -> None:
    async def play() -> list[str]:
        slots, order = Slots(1), list[str]()

        async def one(name: str) -> None:
            async with slots.slot():
                order.append(name)

        async with slots.slot():
            first = asyncio.create_task(one("first"))
            await asyncio.sleep(0)
        # The slot is free again and promised to `first`, which has not run yet.
        await asyncio.gather(one("newcomer"), first)
        return order

    assert asyncio.run(play()) == ["first", "newcomer"]


def test_thirteen_seats_leave_at_once_from_the_first_round_on() -> None:
    async def play() -> int:
        slots, most = Slots(64), 0

        async def work() -> None:
            nonlocal most
            most = max(most, slots.view.in_flight)
            await asyncio.sleep(0)

        await asyncio.gather(*(call(slots, work) for _ in range(13)))
        return most

    assert asyncio.run(play()) == 13


def test_the_limit_doubles_while_clean_and_in_use_up_to_the_ceiling() -> None:
    async def play() -> list[int]:
        slots, seen = Slots(50, start=8), []
        for _ in range(4):
            await together(slots, slots.view.limit)
            seen.append(slots.view.limit)
        return seen

    limits = asyncio.run(play())
    assert limits == sorted(limits)
    assert limits[0] > 8
    assert limits[-1] <= 50


def test_many_clean_calls_reach_the_ceiling() -> None:
    async def play() -> int:
        slots = Slots(50, start=8)
        await together(slots, 1000)
        return slots.view.limit

    assert asyncio.run(play()) == 50


def test_an_idle_limit_does_not_grow() -> None:
    async def play() -> int:
        slots = Slots(50, start=8)
        for _ in range(200):
            await call(slots)
        return slots.view.limit

    assert asyncio.run(play()) == 8


def test_one_burst_of_rate_limits_halves_once() -> None:
    async def play() -> tuple[SlotView, SlotView]:
        slots = Slots(64, start=16)
        await together(slots, 16, LIMITED)
        first = slots.view
        await together(slots, 8, LIMITED)
        return first, slots.view

    first, second = asyncio.run(play())
    assert (first.limit, first.cuts, first.in_flight) == (8, 1, 0)
    assert (second.limit, second.cuts) == (4, 2)


def test_the_limit_never_falls_below_one() -> None:
    async def play() -> int:
        slots = Slots(4)
        for _ in range(10):
            await together(slots, 1, LIMITED)
        return slots.view.limit

    assert asyncio.run(play()) == 1


def test_after_a_cut_a_window_of_clean_calls_adds_one() -> None:
    async def play() -> list[int]:
        slots, seen = Slots(64, start=16), []
        await together(slots, 16, LIMITED)
        for _ in range(3):
            await together(slots, 400)
            seen.append(slots.view.limit)
        return seen

    seen = asyncio.run(play())
    assert all(8 < limit <= 64 for limit in seen)
    assert seen == sorted(seen)


@pytest.mark.parametrize("failed", [BUSY, CallFailed("fatal", "status 401", status=401), CallFailed("outage", "gone")])
def test_other_failures_neither_cut_nor_raise_the_limit(failed: CallFailed) -> None:
    async def play() -> SlotView:
        slots = Slots(64, start=16)
        await together(slots, 100, failed)
        return slots.view

    assert asyncio.run(play()) == SlotView(in_flight=0, limit=16, waiting=0, cuts=0)


def test_calls_cut_off_in_line_or_in_flight_lose_no_slot() -> None:
    async def play() -> SlotView:
        slots = Slots(2)

        async def for_ever() -> None:
            await asyncio.sleep(60)

        tasks = [asyncio.create_task(call(slots, for_ever)) for _ in range(6)]
        await asyncio.sleep(0)
        assert slots.view == SlotView(in_flight=2, limit=2, waiting=4, cuts=0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return slots.view

    assert asyncio.run(play()) == SlotView(in_flight=0, limit=2, waiting=0, cuts=0)


def test_a_turn_that_comes_as_its_caller_is_cut_off_is_passed_on() -> None:
    async def play() -> list[str]:
        slots, done = Slots(1), list[str]()

        async def one(name: str) -> None:
            async with slots.slot():
                done.append(name)

        async with slots.slot():
            first, second = asyncio.create_task(one("first")), asyncio.create_task(one("second"))
            await asyncio.sleep(0)
        first.cancel()  # its turn came this very moment
        await asyncio.gather(first, second, return_exceptions=True)
        assert slots.view.in_flight == 0
        return done

    assert asyncio.run(play()) == ["second"]


def test_requests_per_minute_are_kept_and_no_slot_is_held_meanwhile() -> None:
    async def play() -> tuple[float, int]:
        slots = Slots(10, requests_per_minute=5)
        most = 0

        async def work() -> None:
            nonlocal most
            most = max(most, slots.view.in_flight)

        await asyncio.gather(*(call(slots, work) for _ in range(10)))
        return now(), most

    seconds, most = jumping(play())
    # A quarter of the rate at once, the rest as three quarters of it leak evenly.
    assert seconds == pytest.approx((10 - 1.25) / (5 - 1.25) * MINUTE)
    assert most == 1


def test_tokens_per_minute_are_kept_and_a_request_above_the_budget_still_leaves() -> None:
    async def play() -> float:
        slots = Slots(10, tokens_per_minute=1000)

        async def ask(tokens: int) -> None:
            async with slots.slot(tokens):
                pass

        await asyncio.gather(ask(1000), ask(5000))
        return now()

    # The larger one counts as the whole minute's budget: 2,000 in all, of which the bucket lets 250 through at once.
    assert jumping(play()) == pytest.approx((2000 - 250) / (1000 - 250) * MINUTE)


def test_waiting_for_the_minutes_budget_shows_as_waiting() -> None:
    async def play() -> SlotView:
        slots = Slots(10, requests_per_minute=1)
        await call(slots)
        task = asyncio.create_task(call(slots))
        await asyncio.sleep(0.01)
        view = slots.view
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert slots.view.waiting == 0
        return view

    assert asyncio.run(play()) == SlotView(in_flight=0, limit=10, waiting=1, cuts=0)


def test_a_server_on_this_machine_has_its_slots_open_from_the_start() -> None:
    here = endpoint_for("mock:m", {"mock": {"base_url": "http://127.0.0.1:8000/v1", "concurrency": 100}})
    assert Slots.for_endpoint(here).view.limit == 100


@pytest.mark.parametrize(
    ("files", "each"), [(1024, 200), (resource.RLIM_INFINITY, 200), (447, 199), (128, 40), (10, 1)]
)
def test_O16_calls_at_once_are_held_below_the_open_files_a_process_may_have(
    monkeypatch: pytest.MonkeyPatch, files: int, each: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (files, resource.RLIM_INFINITY))
    settings = {"base_url": "http://127.0.0.1:8000/v1", "concurrency": 200}
    endpoints = {name: endpoint_for(name, {"mock": settings}) for name in ("mock:a", "mock:b")}
    assert [endpoint.concurrency for endpoint in fitted(endpoints).values()] == [each, each]
    assert (shortage(endpoints) is None) == (each == 200)
    assert fitted(endpoints, calls=80) == endpoints or files < 128


def test_slots_without_room_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Slots(0)


def test_expected_tokens_count_the_prompt_and_the_cap() -> None:
    asked = Request("openai:a", (Message("system", "x" * 400), Message("user", "y" * 400)), Sampling(max_tokens=50))
    assert expected_tokens(asked) == 250


@pytest.mark.parametrize("model", ["openai:any", "anthropic:any", "openrouter:any/any"])
def test_the_widest_table_of_any_game_leaves_as_one_batch_from_the_start(model: str) -> None:
    widest = max(game.seats.stop - 1 for game in GAMES.values())
    assert Slots.for_endpoint(endpoint_for(model)).view.limit >= widest == 26


@pytest.mark.parametrize("rate", [1.0, 3.0, 10.0, 40.0])
def test_no_minute_takes_more_requests_than_the_ceiling_not_even_the_first(rate: float) -> None:
    left: list[float] = []

    async def run() -> None:
        slots = Slots(100, requests_per_minute=rate)

        async def one() -> None:
            async with slots.slot():
                left.append(now())

        await asyncio.gather(*(one() for _ in range(int(2 * rate) + 1)))

    jumping(run())
    assert len(left) == int(2 * rate) + 1
    for start in left:
        assert sum(start <= moment < start + MINUTE - 1e-6 for moment in left) <= rate


def test_half_a_request_a_minute_is_one_in_two_minutes() -> None:
    async def run() -> float:
        slots = Slots(100, requests_per_minute=0.5)
        for _ in range(3):
            async with slots.slot():
                pass
        return now()

    assert jumping(run()) == pytest.approx(4 * MINUTE)


def test_requests_larger_than_the_bucket_pay_for_all_their_tokens() -> None:
    async def run() -> float:
        slots = Slots(100, tokens_per_minute=1000)
        for _ in range(4):
            async with slots.slot(tokens=500):
                pass
        return now()

    # 2,000 tokens, of which a quarter of a minute's 1,000 is there at once and 750 a minute come in: 2.3 minutes.
    assert jumping(run()) == pytest.approx(1750 / 750 * MINUTE)
