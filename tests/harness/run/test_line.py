"""A seat's line: paid answers, slots, retries, time, and every request in the ledger exactly once."""

from __future__ import annotations

import asyncio

import pytest

from tests.harness.run.scripted_client import (
    ANSWER,
    Book,
    Naps,
    ScriptedClient,
    after,
    ask,
    busy,
    exchange,
    hang,
    limited,
    refused_key,
)
from tests.harness.run.seat_lines import seat_line
from tests.jumping_time import jumping, now
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Brake
from weigh.harness.store.calls import Call, CallKey
from weigh.policies.contract import Completion, DecisionTimedOut, Fatal, Outage, Request

# -- what is paid for --------------------------------------------------------------------------------------------------


def test_an_answer_paid_for_comes_from_the_ledger_without_a_call() -> None:
    client, book = ScriptedClient(ANSWER), Book()

    async def twice() -> tuple[Completion, Completion]:
        first = await seat_line(exchange(client), book).complete(ask())
        return first, await seat_line(exchange(client), book).complete(ask())

    assert jumping(twice()) == (ANSWER, ANSWER)
    assert len(client.asked) == len(book.calls) == 1


def test_a_kept_timeout_times_out_again_with_the_same_words_and_without_a_call() -> None:
    client, book = ScriptedClient(hang), Book()
    said = []

    async def again() -> None:
        for _ in range(2):
            with pytest.raises(DecisionTimedOut) as late:
                await seat_line(exchange(client, timeout=0.05), book).complete(ask())
            said.append(str(late.value))

    jumping(again())
    assert said == ["no answer within 0.05 s"] * 2
    assert len(client.asked) == 1
    assert book.fates == ["timed_out"]


@pytest.mark.parametrize(("step", "attempt", "text"), [(1, 1, "bid"), (0, 2, "bid"), (0, 1, "bid!")])
def test_another_step_attempt_or_question_is_another_call(step: int, attempt: int, text: str) -> None:
    client, book = ScriptedClient(ANSWER), Book()

    async def both() -> None:
        line = seat_line(exchange(client), book)
        await line.complete(ask())
        line.open(step, attempt)
        await line.complete(ask(text))

    jumping(both())
    assert len(client.asked) == 2


def test_a_later_sitting_numbers_its_calls_on_and_never_repeats_a_number() -> None:
    book = Book()
    for _ in range(2):
        line = seat_line(exchange(ScriptedClient(busy()), tries=2), book, sleep=Naps())
        with pytest.raises(Outage):
            jumping(line.complete(ask()))
    assert [call.number for call in book.calls] == [0, 1, 2, 3]
    assert {call.key for call in book.calls} == {CallKey("toy/b0/r0", 0, 0, 1)}


# -- passing failures --------------------------------------------------------------------------------------------------


def test_passing_failures_are_tried_again_and_each_request_is_kept_once() -> None:
    client = ScriptedClient(busy(), limited(2.0), CallFailed("wait", "cut off", billing="unknown"), ANSWER)
    book, naps, told = Book(), Naps(), list[Call]()
    line = seat_line(exchange(client), book, sleep=naps, on_call=told.append)
    assert jumping(line.complete(ask())) == ANSWER
    assert book.fates == ["wait", "wait", "wait", "answered"]
    assert [call.number for call in book.calls] == [0, 1, 2, 3]
    assert [call.billing for call in book.calls] == ["none", "none", "unknown", "known"]
    # Nothing, nothing, nobody knows, and 120 tokens at a dollar a million.
    assert [call.cost for call in book.calls] == [0.0, 0.0, None, pytest.approx(120e-6)]
    assert [call.completion for call in book.calls] == [None, None, None, ANSWER]
    assert [call.error for call in book.calls][:2] == ["status 503: overloaded", "status 429: too many requests"]
    assert told == book.calls
    assert 0.25 <= naps.lengths[0] <= 0.5
    assert 2.0 <= naps.lengths[1] <= 2.25
    assert 1.0 <= naps.lengths[2] <= 2.0


@pytest.mark.parametrize("tries", [1, 3, 8])
def test_P04_hits_equal_the_configured_number_of_tries(tries: int) -> None:
    client, book = ScriptedClient(busy()), Book()
    with pytest.raises(Outage, match="mock:one: status 503: overloaded"):
        jumping(seat_line(exchange(client, tries=tries, timeout=1e6), book, sleep=Naps()).complete(ask()))
    assert len(client.asked) == len(book.calls) == tries
    assert book.fates == ["wait"] * (tries - 1) + ["outage"]


def test_rate_limits_are_waited_for_as_long_as_time_lasts_and_not_by_count() -> None:
    naps, book = Naps(), Book()
    with pytest.raises(Outage):
        jumping(
            seat_line(exchange(ScriptedClient(limited()), tries=2, timeout=600.0), book, sleep=naps).complete(ask())
        )
    # Waits of 30 s at most, within 600 s in all.
    assert len(naps.lengths) > 10
    assert sum(naps.lengths) < 600.0
    assert len(book.calls) == len(naps.lengths) + 1
    assert book.fates[-1] == "outage"


def test_a_wait_longer_than_the_time_that_is_left_is_an_outage_at_once_where_it_is_of_one_call() -> None:
    client, naps = ScriptedClient(CallFailed("wait", "status 500", wait=61.0, status=500)), Naps()
    with pytest.raises(Outage, match="500"):
        jumping(seat_line(exchange(client), Book(), sleep=naps).complete(ask()))
    assert naps.lengths == []
    assert len(client.asked) == 1


def test_a_failure_with_wait_zero_is_tried_again_at_once() -> None:
    naps = Naps()
    client = ScriptedClient(busy(0.0), ANSWER)
    assert jumping(seat_line(exchange(client), Book(), sleep=naps).complete(ask())) == ANSWER
    assert naps.lengths[0] <= 0.125


def test_a_fatal_failure_is_raised_at_once_and_pulls_the_brake() -> None:
    client, naps, brake, book = ScriptedClient(refused_key()), Naps(), Brake(), Book()
    with pytest.raises(Fatal, match="mock:one: status 401"):
        jumping(seat_line(exchange(client), book, brake=brake, sleep=naps).complete(ask()))
    assert (len(client.asked), naps.lengths, book.fates) == (1, [], ["fatal"])
    assert brake.pulled == "fatal"
    assert "MOCK_API_KEY" in brake.reason


def test_an_outage_without_a_way_back_is_not_tried_again() -> None:
    client, brake = ScriptedClient(CallFailed("outage", "the model was withdrawn")), Brake()
    with pytest.raises(Outage, match="withdrawn"):
        jumping(seat_line(exchange(client), Book(), brake=brake, sleep=Naps()).complete(ask()))
    assert len(client.asked) == 1
    assert brake.pulled is None


# -- slots -------------------------------------------------------------------------------------------------------------


def test_no_slot_is_held_while_waiting_for_the_provider() -> None:
    slots = Slots(1)
    held: list[int] = []
    naps = Naps(during=lambda: held.append(slots.view.in_flight))
    jumping(
        seat_line(exchange(ScriptedClient(busy(), limited(1.0), ANSWER), slots=slots), Book(), sleep=naps).complete(
            ask()
        )
    )
    assert held == [0, 0]
    assert slots.view.in_flight == 0


def test_only_a_rate_limit_cuts_the_slots() -> None:
    slots = Slots(8)
    client = ScriptedClient(busy(), limited(1.0), busy(), ANSWER)
    jumping(seat_line(exchange(client, slots=slots), Book(), sleep=Naps()).complete(ask()))
    assert slots.view.cuts == 1


def test_O19_time_in_the_queue_for_a_slot_is_not_the_decisions() -> None:
    client, book = ScriptedClient(after(1.0)), Book()
    shared = exchange(client, slots=Slots(1), timeout=1.5)

    async def crowd() -> float:
        await asyncio.gather(*(seat_line(shared, book, seat).complete(ask()) for seat in range(80)))
        return now()

    assert jumping(crowd()) == pytest.approx(80.0)
    assert client.most_in_flight == 1
    assert book.fates == ["answered"] * 80
    assert [call.latency for call in book.calls] == pytest.approx([1.0] * 80)


# -- the decision's time -----------------------------------------------------------------------------------------------


def test_O20_one_timeout_covers_all_calls_and_waits_of_an_attempt_and_the_next_attempt_has_its_own() -> None:
    client, book = ScriptedClient(busy(20.0), hang, hang), Book()
    line = seat_line(exchange(client, timeout=40.0), book)
    spans: list[float] = []

    async def both() -> None:
        for attempt, ending in ((1, Outage), (2, DecisionTimedOut)):
            line.open(0, attempt)
            began = now()
            with pytest.raises(ending):
                await line.complete(ask())
            spans.append(now() - began)

    jumping(both())
    assert spans == pytest.approx([40.0, 40.0])
    # After a wait of 20 s and at most an eighth of a second more, the second call had what was left.
    assert book.calls[1].latency == pytest.approx(19.9375, abs=0.0625)
    assert book.calls[2].latency == pytest.approx(40.0)
    assert book.fates == ["wait", "outage", "timed_out"]
    assert [call.key.attempt for call in book.calls] == [1, 1, 2]


def test_the_time_of_failed_calls_counts_too() -> None:
    async def slowly_busy(request: Request) -> Completion:
        await asyncio.sleep(20.0)
        raise CallFailed("wait", "status 500", wait=5.0, status=500)

    client = ScriptedClient(slowly_busy)
    with pytest.raises(Outage):
        jumping(seat_line(exchange(client, timeout=50.0), Book()).complete(ask()))
    # Twice 20 s and a wait of 5 s or more leave less than another such wait.
    assert len(client.asked) == 2


def test_time_that_the_provider_took_is_not_charged_to_the_policy() -> None:
    book = Book()
    line = seat_line(exchange(ScriptedClient(busy(30.0), hang), timeout=40.0), book)
    with pytest.raises(Outage, match=r"failures and waits took 30 of 40 s"):
        jumping(line.complete(ask()))
    # Not settled: the replay of the episode asks again.
    assert book.paid(book.calls[-1].key, ask()) is None


def test_a_client_that_raises_a_timeout_of_its_own_is_a_bug_and_no_timeout() -> None:
    book = Book()
    with pytest.raises(TimeoutError):
        jumping(seat_line(exchange(ScriptedClient(TimeoutError("its own"))), book).complete(ask()))
    assert book.fates == ["fatal"]
