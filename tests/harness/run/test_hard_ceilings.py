"""Ceilings on tokens and money are hard: nothing that is billed within what its request can take passes them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.harness.run.scripted_client import ANSWER, MODEL, Book, ScriptedClient, after, ask, exchange, limited, price
from tests.harness.run.seat_lines import seat_line
from tests.harness.run.toy_run import Model, ToyRun, answer_to
from tests.jumping_time import jumping
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages
from weigh.harness.providers.wire.capabilities import declared
from weigh.harness.providers.wire.openai_chat import OpenAIChat
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Bill, Brake, Ceilings, Spent, Stopping, most_of, spent_before
from weigh.harness.run.model_calls import Exchange
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, DecisionTimedOut, Message, Request, Sampling, Usage


def dollar(usage: Usage, served_by: str | None) -> float | None:
    """A dollar for a thousand tokens."""
    return None if usage.input is None or usage.output is None else (usage.input + usage.output) / 1_000


class Billing:
    """Answers after a moment; bills what it is told to, by number of the call."""

    def __init__(self, tokens: Any, price: Any = dollar) -> None:
        self.tokens, self.price = tokens, price
        self.billed = Bill()
        self.in_flight = self.most_in_flight = self.calls = 0

    async def complete(self, request: Request) -> Completion:
        number, self.calls = self.calls, self.calls + 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0.1 + number % 7 / 50)
        self.in_flight -= 1
        usage = Usage(input=self.tokens(number, request), output=0)
        self.billed += Bill(usage.input or 0, self.price(usage, None) or 0.0)
        return Completion('{"bid": 3}', "end", usage=usage)


def spend(client: Any, brake: Brake, seats: int = 64, each: int = 5, price: Any = dollar) -> None:
    """Every seat asks until it may not."""

    async def crowd() -> None:
        shared = Exchange(client, Slots(seats, start=seats), price, 60.0)
        lines = [seat_line(shared, Book(), seat, brake) for seat in range(seats)]

        async def sit(line: Any) -> None:
            for step in range(each):
                line.open(step, 1)
                await line.complete(ask())

        ended = await asyncio.gather(*map(sit, lines), return_exceptions=True)
        assert all(error is None or isinstance(error, Stopping) for error in ended), ended

    jumping(crowd())


MOST = most_of(ask(), dollar).bill


@pytest.mark.parametrize("limit", ["usd", "tokens"])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.03])
def test_bills_within_what_a_request_can_take_never_pass_a_ceiling_with_64_in_flight(limit: str, share: float) -> None:
    rng = Random(1)
    client = Billing(lambda number, request: int(MOST.tokens * (share if number else rng.random() * share)))
    room = 20.5
    ceilings = Ceilings(usd=MOST.usd * room) if limit == "usd" else Ceilings(tokens=int(MOST.tokens * room))
    brake = Brake(ceilings)
    spend(client, brake)
    assert getattr(client.billed, limit) <= getattr(MOST, limit) * room
    assert client.most_in_flight > 15
    if share > 0.1:
        assert brake.pulled == "ceiling" and f"limits.max_{limit}" in brake.reason
        # No more room was left than one call can take.
        assert getattr(client.billed, limit) > getattr(MOST, limit) * (room - 1)


@pytest.mark.parametrize("limit", ["usd", "tokens"])
def test_a_server_that_bills_2_for_every_call_comes_to_4_of_5(limit: str) -> None:
    def cheap(usage: Usage, served_by: str | None) -> float | None:
        return None if usage.input is None or usage.output is None else (usage.input + usage.output) / 1e6

    client = Billing(lambda number, request: 2_000_000, cheap)
    brake = Brake(Ceilings(usd=5.0) if limit == "usd" else Ceilings(tokens=5_000_000))
    spend(client, brake, price=cheap)
    assert (client.calls, client.billed) == (2, Bill(4_000_000, 4.0))
    assert brake.pulled == "ceiling"
    assert brake.used_up == (f"max_{limit}", 6.0 if limit == "usd" else 6_000_000)


def test_a_first_bill_above_a_ceiling_stops_everything_and_the_excess_is_told() -> None:
    client = Billing(lambda number, request: 9_000)
    brake = Brake(Ceilings(tokens=5_000))
    spend(client, brake)
    assert client.calls == 1
    assert "4000 tokens above limits.max_tokens" in brake.reason


def test_a_later_bill_above_what_was_set_aside_stops_all_departures() -> None:
    client = Billing(lambda number, request: MOST.tokens * (1 if number < 10 else 3))
    brake = Brake(Ceilings(tokens=10_000_000))
    spend(client, brake)
    assert brake.pulled == "ceiling" and MODEL in brake.reason and str(3 * MOST.tokens) in brake.reason
    assert client.calls <= 64 + 10


def test_bills_of_earlier_sittings_are_learned_from() -> None:
    client = Billing(lambda number, request: 2_000)
    brake = Brake(Ceilings(tokens=9_000), Spent(calls=1, bill=Bill(2_000), dearest={MODEL: Bill(2_000)}))
    spend(client, brake)
    assert (client.calls, client.most_in_flight) == (3, 3)


def test_a_first_call_that_fails_lets_another_be_the_first_and_costs_nothing() -> None:
    client = ScriptedClient(limited(0.1), after(0.5))
    brake = Brake(Ceilings(tokens=10_000_000))
    spend(client, brake, each=1)
    assert (len(client.asked), client.most_in_flight) == (65, 32)  # the rate limit halved the slots
    assert brake.pulled is None


def test_a_call_whose_price_nobody_knows_does_not_leave_under_a_ceiling_in_dollars() -> None:
    client, brake = ScriptedClient(ANSWER), Brake(Ceilings(usd=5.0))
    spend(client, brake, price=lambda usage, served_by: None)
    assert (client.asked, brake.pulled, brake.used_up) == ([], "ceiling", None)


def test_a_call_that_may_have_been_billed_keeps_what_was_set_aside_for_it() -> None:
    cut = CallFailed("outage", "the connection was cut off", billing="unknown")
    client, brake = ScriptedClient(cut), Brake(Ceilings(tokens=2 * MOST.tokens))

    async def twice() -> list[object]:
        lines = [seat_line(exchange(client), Book(), seat, brake) for seat in range(3)]
        return [await asyncio.gather(line.complete(ask()), return_exceptions=True) for line in lines]

    jumping(twice())
    assert len(client.asked) == 2
    assert brake.pulled == "ceiling"


def test_without_a_ceiling_nobody_waits_for_a_first_bill() -> None:
    client = Billing(lambda number, request: 1)
    spend(client, Brake(Ceilings(calls=1_000)), each=1)
    assert client.most_in_flight == 64


# -- the bound -----------------------------------------------------------------------------------------------------

TEXTS = ["bid", "", "Füße 漢字 😀" * 200, '\x00\n\t"\\' * 300, "\ud800 alone", "a" * 20_000]


@pytest.mark.parametrize("wire", [OpenAIChat(), OpenAIResponses(), AnthropicMessages()], ids=lambda wire: wire.path)
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_body_is_longer_than_its_bound(wire: Any, text: str) -> None:
    endpoint = endpoint_for("mock:one", {"mock": {"base_url": "http://127.0.0.1:1/v1"}})
    schema = {"type": "object", "properties": {"bid": {"type": "integer", "description": text}}}
    turns = (Message("system", text or "s"), *(Message(role, text or "t") for role in ("user", "assistant") * 12))
    for asked in (None, schema):
        sampling = Sampling(max_tokens=64, extra={"reasoning": {"effort": text}})
        request = Request("mock:one", turns, sampling, asked)
        body = json.dumps(wire.body(request, endpoint, declared(endpoint)), ensure_ascii=False)
        most = most_of(request, dollar)
        assert len(body.encode("utf-8", "replace")) <= most.input
        assert most.output == 64


def test_the_bound_is_priced_at_the_dearest_rate() -> None:
    def cached(usage: Usage, served_by: str | None) -> float | None:
        return 5.0 if usage.cache_written == usage.input else 1.0

    assert most_of(replace(ask(), sampling=Sampling(max_tokens=9)), cached).usd == 5.0


# -- over several sittings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("telling", ["no usage", "timed out", "cut off"])
def test_a_resumed_run_starts_from_everything_stored(tmp_path: Path, telling: str) -> None:
    run = ToyRun(tmp_path / "run")

    class Untold:
        async def complete(self, request: Request) -> Completion:
            if telling == "timed out":
                raise DecisionTimedOut("no answer within 60 s")
            if telling == "cut off":
                raise CallFailed("outage", "the connection was cut off", billing="unknown")
            return replace(answer_to(request), usage=Usage())

    ceilings = Ceilings(tokens=8 * 2_600)
    calls = []
    for _ in range(3):
        with Store.open(run.folder, readonly=True) as store:
            brake = Brake(ceilings, spent_before([store], ceilings, lambda model: price))
        run.sit(Untold(), brake=brake, outages_in_a_row=1_000)
        assert brake.pulled == "ceiling"
        calls.append(len(run.calls))
    assert calls[0] == calls[1] == calls[2] >= 5
    with Store.open(run.folder, readonly=True) as store:
        # No call passed the ceiling, whatever it took; and dollars count likewise.
        spent = spent_before([store], Ceilings(usd=1.0), lambda model: price)
        assert spent.bill.tokens <= 8 * 2_600
        assert spent.bill.usd == pytest.approx(sum(most_of(call.request, price).usd or 0.0 for call in run.calls))


def test_told_bills_of_a_store_are_summed_and_their_dearest_is_known(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    run.sit(Model())
    with Store.open(run.folder, readonly=True) as store:
        spent = spent_before([store, store], Ceilings(tokens=1), lambda model: price)
    kept = [(call.request.model, call.completion.usage) for call in run.calls if call.completion is not None]
    sums = [(model, (usage.input or 0) + (usage.output or 0)) for model, usage in kept]
    assert spent.calls == 2 * len(kept)
    assert spent.bill.tokens == 2 * sum(tokens for _, tokens in sums)
    assert {model: bill.tokens for model, bill in spent.dearest.items()} == {
        model: max(tokens for name, tokens in sums if name == model) for model, _ in sums
    }
