"""Chat Completions: what is sent, and how the many dialects of an answer are read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness.providers.raw_server import asking, chat, http, request
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.wire.capabilities import Capabilities
from weigh.harness.providers.wire.openai_chat import OpenAIChat, usage
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage

ENDPOINT = endpoint_for("vllm:some/model")
WIRE = OpenAIChat()


def body(asked: Request, takes: Capabilities | None = None) -> dict[str, Any]:
    return WIRE.body(asked, ENDPOINT, takes or Capabilities())


def read(**answer: Any) -> Completion:
    return WIRE.read(chat(**answer))


def test_a_plain_request() -> None:
    assert body(request("Bid.", max_tokens=50)) == {
        "model": "some/model",
        "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Bid."}],
        "max_tokens": 50,
    }


def test_sampling_zero_is_sent_and_none_is_not() -> None:
    sent = body(request(temperature=0.0, seed=0, extra={"top_p": 0.9, "reasoning_effort": "low"}))
    assert (sent["temperature"], sent["seed"], sent["top_p"], sent["reasoning_effort"]) == (0.0, 0, 0.9, "low")
    assert "temperature" not in body(request())
    assert "seed" not in body(request())


def test_what_a_model_does_not_take_is_left_out() -> None:
    takes = Capabilities("max_completion_tokens", temperature=False, seed=False, system=False)
    assert body(request(temperature=0.0, seed=1, max_tokens=9), takes) == {
        "model": "some/model",
        "messages": [{"role": "user", "content": "Rules.\n\nBid."}],
        "max_completion_tokens": 9,
    }


def test_a_schema_is_sent_as_strict_structured_output() -> None:
    schema = {"type": "object", "properties": {"bid": {"enum": [1, 2]}}}
    sent = body(request(schema=schema))["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def test_P25_P26_turns_alternate_and_none_is_empty() -> None:
    asked = Request(
        "vllm:m",
        (
            Message("system", "Rules."),
            Message("user", "Bid."),
            Message("assistant", " \n"),
            Message("user", "That was empty."),
        ),
        Sampling(),
    )
    assert body(asked)["messages"] == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Bid.\n\nThat was empty."},
    ]


def test_a_plain_answer() -> None:
    assert read() == Completion(
        '{"bid": 7}', "end", usage=Usage(100, None, 10, None), served_by="served-model", stop_detail="stop"
    )


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("eos_token", "end"),
        ("pause_turn", "pause"),
        ("news", "unknown"),
        (None, "unknown"),
        (7, "unknown"),
    ],
)
def test_finish_reasons(finish: Any, stop: str) -> None:
    completion = read(finish=finish)
    assert (completion.stop, completion.stop_detail) == (stop, finish if isinstance(finish, str) else None)


def test_P40_content_in_parts_text_joined_thinking_apart() -> None:
    parts = [
        {"type": "thinking", "thinking": "They hold 9."},
        {"type": "text", "text": '{"bid"'},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": ": 7}"},
        None,
    ]
    completion = read(content=parts)
    assert (completion.text, completion.reasoning) == ('{"bid": 7}', "They hold 9.")


def test_P40_thinking_may_itself_be_in_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "7"}]
    assert (read(content=parts).text, read(content=parts).reasoning) == ("7", "Hm.")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_answer_is_kept_apart(field: str) -> None:
    completion = read(content="7", **{field: "I think."})
    assert (completion.text, completion.reasoning) == ("7", "I think.")
    assert read(content=None, **{field: "I think."}).text == ""


def test_P41_unknown_fields_and_values_do_not_spoil_an_answer() -> None:
    answer = chat()
    answer |= {"service_tier": "turbo", "object": None, "created": "now", "id": 5, "error": None}
    answer["choices"][0] |= {"native_finish_reason": None, "index": "0", "logprobs": "no"}
    answer["choices"][0]["message"]["role"] = "model"

    async def ask() -> Completion:
        async with asking(http(answer)) as (client, _):
            return await client.complete(request())

    completion = asyncio.run(ask())
    assert (completion.text, completion.stop) == ('{"bid": 7}', "end")


def test_P38_reasoning_that_used_the_whole_cap_is_cut_empty_and_counted() -> None:
    counted = {
        "prompt_tokens": 50,
        "completion_tokens": 200,
        "total_tokens": 250,
        "completion_tokens_details": {"reasoning_tokens": 199},
    }
    completion = read(content="", finish="length", usage=counted)
    assert (completion.text, completion.stop) == ("", "length")
    assert completion.usage == Usage(50, None, 200, 199)


def test_a_refusal_field_is_a_refusal_with_its_words() -> None:
    completion = read(content=None, refusal="I cannot help with gambling.")
    assert (completion.text, completion.stop) == ("", "refusal")
    assert completion.stop_detail == "refusal: I cannot help with gambling."
    assert read(refusal=None).stop == "end"
    assert read(refusal="").stop == "end"


def test_null_content_is_an_empty_answer() -> None:
    assert (read(content=None).text, read(content=None).stop) == ("", "end")


@pytest.mark.parametrize("counted", [{}, [], "none", {"prompt_tokens": None}, {"prompt_tokens": "many"}])
def test_missing_usage_is_unknown_and_not_zero(counted: Any) -> None:
    assert read(usage=counted).usage == Usage()


def test_no_usage_field_at_all() -> None:
    answer = chat()
    del answer["usage"], answer["model"]
    completion = WIRE.read(answer)
    assert (completion.usage, completion.served_by) == (Usage(), None)


def test_usage_in_its_dialects() -> None:
    openai = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 15},
    }
    assert usage(openai) == Usage(100, 64, 20, 15, 30)
    assert usage({"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 64}) == Usage(100, 64, 20)
    assert usage({"prompt_tokens": 10.0, "completion_tokens": -1, "total_tokens": True}) == Usage(input=10)


def test_reasoning_counted_beside_the_output_is_added_once() -> None:
    counted = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 135,
        "completion_tokens_details": {"reasoning_tokens": 15},
    }
    assert usage(counted) == Usage(100, None, 35, 15)


def test_text_that_no_file_could_hold_is_mended() -> None:
    assert read(content="a\ud800b").text == "a�b"
    assert read(content="a\ud83d\ude00b").text == "a😀b"
