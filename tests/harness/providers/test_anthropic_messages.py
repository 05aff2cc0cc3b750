"""The Messages API: what is sent, and how an answer is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness.providers.raw_server import KEY, Received, asking, http, message, request
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages, usage
from weigh.harness.providers.wire.capabilities import Capabilities
from weigh.policies.contract import Completion, Usage

ENDPOINT = endpoint_for("anthropic:claude-sonnet-4-6")
WIRE = AnthropicMessages()


def sent(answer: bytes | None = None, model: str = "claude-sonnet-4-6", **sampling: Any) -> Received:
    async def ask() -> Received:
        async with asking(answer or http(message()), wire="anthropic", model=model) as (client, raw):
            await client.complete(request("Bid.", **sampling))
            return raw.received[0]

    return asyncio.run(ask())


def test_a_request_over_http_with_its_system_text_cache_mark_and_key() -> None:
    received = sent(max_tokens=50)
    assert received.path == "/v1/messages"
    assert received.body == {
        "model": "claude-sonnet-4-6",
        "system": [{"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Bid."}],
        "max_tokens": 50,
    }
    assert KEY in (received.headers.get("x-api-key", "") + received.headers.get("authorization", ""))
    assert received.headers["anthropic-version"]


def test_P22_a_temperature_reaches_models_that_take_one() -> None:
    assert sent(temperature=0.0).body["temperature"] == 0.0


@pytest.mark.parametrize(
    "model", ["claude-opus-4-7", "claude-opus-4-8-20260601", "claude-sonnet-5", "claude-haiku-5-1"]
)
def test_P22_models_that_refuse_a_temperature_get_none_and_it_is_told(model: str) -> None:
    async def ask() -> None:
        async with asking(http(message()), wire="anthropic", model=model) as (client, raw):
            for _ in range(3):
                await client.complete(request(temperature=0.0))
            assert "temperature" not in raw.received[0].body
            assert client.adaptations == (
                "the temperature asked for is not sent: the model takes none and keeps its default",
            )

    asyncio.run(ask())


def test_P23_a_large_cap_needs_no_streaming_here() -> None:
    assert sent(max_tokens=64_000).body["max_tokens"] == 64_000


def test_thinking_and_effort_come_with_extra_and_meet_the_schema() -> None:
    schema = {"type": "object", "properties": {"bid": {"type": "integer", "enum": [1, 2]}}, "required": ["bid"]}
    extra = {"thinking": {"type": "enabled", "budget_tokens": 2048}, "output_config": {"effort": "low"}}
    body = sent(schema=schema, extra=extra).body
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert body["output_config"]["effort"] == "low"
    form = body["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert form["schema"]["properties"]["bid"]["enum"] == [1, 2]
    assert schema["properties"]["bid"] == {"type": "integer", "enum": [1, 2]}  # the request itself is unchanged


def test_the_cache_mark_can_be_left_out() -> None:
    endpoint = endpoint_for("anthropic:claude-sonnet-4-6", {"anthropic": {"prompt_cache": False}})
    assert "cache_control" not in WIRE.body(request(), endpoint, Capabilities())


def test_an_answer_with_thinking_and_several_text_blocks() -> None:
    content = [
        {"type": "thinking", "thinking": "They hold 9.", "signature": "x"},
        {"type": "redacted_thinking", "data": "y"},
        {"type": "text", "text": '{"bid"'},
        {"type": "text", "text": ": 7}"},
        {"type": "server_tool_use", "text": "no"},
    ]
    completion = WIRE.read(message(content))
    assert completion == Completion(
        '{"bid": 7}',
        "end",
        reasoning="They hold 9.",
        usage=Usage(100, 40, 10, None, 10),
        served_by="served-model",
        stop_detail="end_turn",
    )


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("tool_use", "tool_calls"),
        ("compacted", "unknown"),
        (None, "unknown"),
    ],
)
def test_stop_reasons_P37_a_paused_turn_is_not_an_end(reason: str | None, stop: str) -> None:
    completion = WIRE.read(message(stop=reason))
    assert (completion.stop, completion.stop_detail) == (stop, reason)


def test_P34_a_refusal_with_no_blocks_is_a_refusal_with_its_category() -> None:
    completion = WIRE.read(message([], "refusal", stop_details={"type": "refusal", "category": "cyber"}))
    assert (completion.text, completion.stop, completion.stop_detail) == ("", "refusal", "refusal: cyber")


def test_input_counts_what_went_through_the_cache() -> None:
    counted = {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 25, "output_tokens": 9,
               "output_tokens_details": {"thinking_tokens": 6}}  # fmt: skip
    assert usage(counted) == Usage(100, 70, 9, 6, 25)
    assert usage({"input_tokens": 5, "output_tokens": 9}) == Usage(5, None, 9)
    assert usage({"output_tokens": 9}) == Usage(output=9)
