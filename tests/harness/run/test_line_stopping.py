"""A seat's line when the run stops, or when something goes wrong on our own side."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness.run.scripted_client import ANSWER, Book, ScriptedClient, after, ask, exchange, hang, limited, until
from tests.harness.run.seat_lines import seat_line
from tests.jumping_time import jumping, now
from weigh.harness.errors import StoreFailed
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Bill, Brake, Ceilings, Spent, Stopping
from weigh.harness.store.calls import LOST, Call
from weigh.policies.contract import Completion, Request

KEY = "sk-test-0123456789abcdef"

# -- stopping ----------------------------------------------------------------------------------------------------------


def test_a_call_that_is_cut_off_is_written_down_and_may_be_asked_again() -> None:
    client, book = ScriptedClient(hang, ANSWER), Book()

    async def cut_then_again() -> Completion:
        asking = asyncio.create_task(seat_line(exchange(client), book).complete(ask()))
        await until(lambda: bool(client.asked))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return await seat_line(exchange(client), book).complete(ask())

    assert jumping(cut_then_again()) == ANSWER
    assert book.fates == ["lost", "answered"]
    assert [call.number for call in book.calls] == [0, 1]
    assert (book.calls[0].error, book.calls[0].billing, book.calls[0].cost) == (LOST, "unknown", None)


def test_a_pulled_brake_ends_the_wait_for_a_slot_and_lets_the_call_in_flight_return() -> None:
    gate = asyncio.Event()

    async def gated(request: Any) -> Completion:
        await gate.wait()
        return ANSWER

    client, book, brake = ScriptedClient(gated), Book(), Brake()
    shared = exchange(client, slots=Slots(1))

    async def queue() -> Completion:
        first = asyncio.create_task(seat_line(shared, book, 0, brake).complete(ask()))
        second = asyncio.create_task(seat_line(shared, book, 1, brake).complete(ask()))
        await until(lambda: shared.slots.view.waiting == 1)
        brake.pull("interrupted", "Ctrl-C")
        with pytest.raises(Stopping, match="Ctrl-C"):
            await second
        assert not first.done()
        gate.set()
        return await first

    assert jumping(queue()) == ANSWER
    assert len(client.asked) == len(book.calls) == 1
    assert shared.slots.view == Slots(1).view


def test_a_pulled_brake_ends_the_wait_for_the_minutes_budget() -> None:
    client, book, brake = ScriptedClient(ANSWER), Book(), Brake()
    shared = exchange(client, slots=Slots(8, requests_per_minute=1))

    async def paced() -> None:
        await seat_line(shared, book, 0, brake).complete(ask())
        second = asyncio.create_task(seat_line(shared, book, 1, brake).complete(ask()))
        await until(lambda: shared.slots.view.waiting == 1)
        brake.pull("ceiling", "no money left")
        with pytest.raises(Stopping, match="no money left"):
            await second

    jumping(paced())
    assert len(client.asked) == 1


def test_a_pulled_brake_ends_the_wait_for_the_provider() -> None:
    book, brake = Book(), Brake()
    shared = exchange(ScriptedClient(limited(50.0)))

    async def asleep() -> float:
        asking = asyncio.create_task(seat_line(shared, book, brake=brake).complete(ask()))
        await until(lambda: bool(book.calls) and shared.slots.view.in_flight == 0)
        brake.pull("interrupted", "Ctrl-C")
        pulled = now()
        with pytest.raises(Stopping):
            await asking
        return now() - pulled

    assert jumping(asleep()) == 0.0
    assert book.fates == ["wait"]


def test_the_ceiling_on_time_ends_a_wait_too() -> None:
    async def played() -> tuple[str | None, float]:
        brake = Brake(Ceilings(seconds=5), now=now)
        line = seat_line(exchange(ScriptedClient(limited(50.0))), Book(), brake=brake)
        with pytest.raises(Stopping, match=r"5 seconds are used up"):
            await line.complete(ask())
        return brake.pulled, now()

    assert jumping(played()) == ("ceiling", 5.0)


def test_a_ceiling_on_calls_is_exact_when_many_ask_at_once() -> None:
    client, book, brake = ScriptedClient(after(0.005)), Book(), Brake(Ceilings(calls=7))
    shared = exchange(client, slots=Slots(5))

    async def crowd() -> list[Completion | BaseException]:
        lines = [seat_line(shared, book, seat, brake) for seat in range(50)]
        return await asyncio.gather(*(line.complete(ask()) for line in lines), return_exceptions=True)

    results = jumping(crowd())
    assert len(client.asked) == len(book.calls) == 7
    assert sum(result == ANSWER for result in results) == 7
    assert sum(isinstance(result, Stopping) for result in results) == 43


@pytest.mark.parametrize("spent", [Bill(tokens=100), Bill(usd=1.0)])
def test_a_ceiling_that_earlier_sittings_reached_lets_no_call_leave(spent: Bill) -> None:
    client, brake = ScriptedClient(ANSWER), Brake(Ceilings(tokens=100, usd=1.0), Spent(bill=spent))
    with pytest.raises(Stopping, match="used up"):
        jumping(seat_line(exchange(client), Book(), brake=brake).complete(ask()))
    assert client.asked == []


# -- what goes wrong on our side ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["begin_call", "end_call"])
def test_when_a_call_cannot_be_kept_nobody_makes_another(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def fail(*arguments: Any) -> None:
        raise StoreFailed("run.sqlite: the disk is full; free some space")

    client, book, brake, told = ScriptedClient(ANSWER), Book(), Brake(), list[Call]()
    monkeypatch.setattr(book, method, fail)
    with pytest.raises(StoreFailed, match="the disk is full"):
        jumping(seat_line(exchange(client), book, brake=brake, on_call=told.append).complete(ask()))
    assert brake.pulled == "fatal"
    assert "the disk is full" in brake.reason
    assert told == []
    # What cannot be written down before it leaves does not leave.
    assert len(client.asked) == (method == "end_call")


def test_a_call_is_in_the_ledger_before_it_leaves() -> None:
    book = Book()

    async def look(request: Request) -> Completion:
        (call,) = book.calls
        assert (call.fate, call.request, call.completion) == ("lost", request, None)
        return ANSWER

    jumping(seat_line(exchange(ScriptedClient(look)), book).complete(ask()))
    assert book.fates == ["answered"]


def test_a_bug_in_a_client_is_raised_and_its_words_are_kept_nowhere() -> None:
    book, brake = Book(), Brake()
    with pytest.raises(RuntimeError):
        jumping(
            seat_line(exchange(ScriptedClient(RuntimeError(f"bad header {KEY}"))), book, brake=brake).complete(ask())
        )
    assert book.fates == ["fatal"]
    assert book.calls[0].error == "RuntimeError: a bug in the client"
    assert KEY not in repr(book.calls) + brake.reason
