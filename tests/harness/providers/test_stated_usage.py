"""What providers say of usage beside the plain counts: costs, tiers, cached tokens at odd places, and usage without an
answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness.providers.raw_server import asking, body_for, chat, http, request
from tests.harness.run.scripted_client import Book
from tests.harness.run.seat_lines import seat_line
from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages
from weigh.harness.providers.wire.openai_chat import OpenAIChat
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.model_calls import Exchange
from weigh.policies.contract import Outage, Usage

COUNTS = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def used(**more: Any) -> Usage:
    return OpenAIChat().read(chat(usage={**COUNTS, **more})).usage


def test_a_stated_cost_is_taken() -> None:
    assert used(cost=0.0123).cost == 0.0123
    assert used(cost=0).cost == 0.0


def test_a_cost_beside_a_key_of_ones_own_at_the_provider_behind_is_the_sum() -> None:
    assert used(cost=0.25, is_byok=True, cost_details={"upstream_inference_cost": 0.5}).cost == 0.75
    assert used(cost=0.25, is_byok=True).cost is None
    assert used(cost=0.25, is_byok=False, cost_details={"upstream_inference_cost": 0.5}).cost == 0.25


@pytest.mark.parametrize("said", [None, "0.1", True, -1.0, float("nan"), float("inf"), {"total_cost": 1}, [1]])
def test_what_is_no_amount_is_no_cost(said: Any) -> None:
    assert used(cost=said).cost is None


def test_cached_tokens_at_the_top_level_count() -> None:
    assert used(cached_tokens=40).cached == 40
    assert used(cached_tokens=40, prompt_tokens_details={"cached_tokens": 7}).cached == 7


def test_the_service_tier_is_read_where_each_api_puts_it() -> None:
    assert OpenAIChat().read({**chat(), "service_tier": "flex"}).usage.tier == "flex"
    assert OpenAIResponses().read({**body_for("openai-responses"), "service_tier": "priority"}).usage.tier == "priority"
    body = body_for("anthropic")
    assert AnthropicMessages().read({**body, "usage": {**body["usage"], "service_tier": "batch"}}).usage.tier == "batch"
    assert OpenAIChat().read(chat()).usage.tier is None


def test_usage_without_choices_counts_though_there_is_no_answer() -> None:
    async def ask() -> Book:
        book = Book()
        empty = {"choices": [], "usage": {**COUNTS, "cost": 0.5}}
        async with asking(http(empty)) as (client, _):
            line = seat_line(Exchange(client, Slots(1), lambda usage, served_by: usage.cost, 5.0, 1), book)
            with pytest.raises(Outage):
                await line.complete(request())
        return book

    (call,) = asyncio.run(ask()).calls
    assert (call.fate, call.billing, call.cost) == ("outage", "known", 0.5)
    assert call.usage is not None
    assert (call.usage.input, call.usage.output) == (100, 10)
