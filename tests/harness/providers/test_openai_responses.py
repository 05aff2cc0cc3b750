"""The Responses API: what is sent, and how an answer is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness.providers.raw_server import asking, http, request, responses
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.wire.capabilities import Capabilities
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.policies.contract import Completion, Usage

ENDPOINT = endpoint_for("openai:gpt-5-mini", {"openai": {"wire": "openai-responses"}})
WIRE = OpenAIResponses()


def test_a_request_is_whole_and_nothing_is_stored() -> None:
    schema = {"type": "object", "properties": {}}
    asked = request("Bid.", schema=schema, max_tokens=50, temperature=0.5, seed=3, extra={"text": {"verbosity": "low"}})
    assert WIRE.body(asked, ENDPOINT, Capabilities()) == {
        "model": "gpt-5-mini",
        "instructions": "Rules.",
        "input": [{"role": "user", "content": "Bid."}],
        "max_output_tokens": 50,
        "store": False,
        "temperature": 0.5,
        "text": {
            "verbosity": "low",
            "format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema},
        },
    }


def test_an_answer_over_http() -> None:
    async def ask() -> tuple[Completion, str]:
        async with asking(http(responses()), wire="openai-responses") as (client, raw):
            return await client.complete(request()), raw.received[0].path

    completion, path = asyncio.run(ask())
    assert path == "/v1/responses"
    assert completion == Completion(
        '{"bid": 7}', "end", usage=Usage(100, 40, 10, 4), served_by="served-model", stop_detail="completed"
    )


def test_reasoning_is_kept_apart_and_commentary_is_no_answer() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "They hold 9."}]},
        {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "Let me see."}]},
        {"type": "message", "phase": "final_answer", "content": [{"type": "output_text", "text": '{"bid": 7}'}]},
        {"type": "something_new"},
    ]
    completion = WIRE.read(responses(output=output))
    assert (completion.text, completion.reasoning, completion.stop) == ('{"bid": 7}', "They hold 9.", "end")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_output_tokens", "length"), ("content_filter", "refusal"), ("steered", "pause"), ("news", "length")],
)
def test_an_incomplete_answer_says_why(reason: str, stop: str) -> None:
    completion = WIRE.read(responses(status="incomplete", incomplete_details={"reason": reason}))
    assert (completion.stop, completion.stop_detail) == (stop, reason)


@pytest.mark.parametrize(
    ("content", "stop", "detail"),
    [
        ([{"type": "refusal", "refusal": "No."}], "refusal", "refusal: No."),
        ([{"type": "output_text", "text": "7"}, {"type": "refusal", "refusal": "No."}], "end", "completed"),
        ([], "end", "completed"),
    ],
)
def test_refusals(content: Any, stop: str, detail: str) -> None:
    completion = WIRE.read(responses(output=[{"type": "message", "content": content}]))
    assert (completion.stop, completion.stop_detail) == (stop, detail)


def test_a_wish_for_a_tool() -> None:
    assert WIRE.read(responses(output=[{"type": "function_call", "name": "bid"}])).stop == "tool_calls"


@pytest.mark.parametrize("code", ["invalid_prompt", "bio_policy", "misalignment_policy_violation"])
def test_P35_a_policy_error_of_a_failed_response_is_a_refusal(code: str) -> None:
    async def ask() -> Completion:
        failed = responses(status="failed", output=[], error={"code": code, "message": "no"})
        async with asking(http(failed), wire="openai-responses") as (client, _):
            return await client.complete(request())

    completion = asyncio.run(ask())
    assert (completion.stop, completion.stop_detail) == ("refusal", code)
