"""The official SDKs as clients: what the server says is what they understand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anthropic
import openai
import pytest
from pydantic import BaseModel

from tests.harness.providers.mock_server.asking import BIDS, planned
from weigh.harness.providers.mock_server import MockServer, Options
from weigh.harness.providers.mock_server.rules import Hang, Html, NullChoices, Reply, Respond

T = TypeVar("T")
LONG = "The rules. " * 800
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"bid": {"type": "integer", "enum": [3, 4]}},
    "required": ["bid"],
    "additionalProperties": False,
}


def through_openai(options: Options | None, use: Callable[[openai.AsyncOpenAI], Awaitable[T]], seconds: float = 5) -> T:
    async def run() -> T:
        async with (
            MockServer(options) as server,
            openai.AsyncOpenAI(base_url=server.openai_url, api_key="k", max_retries=0, timeout=seconds) as client,
        ):
            return await use(client)

    return asyncio.run(run())


def through_anthropic(
    options: Options | None, use: Callable[[anthropic.AsyncAnthropic], Awaitable[T]], seconds: float = 5
) -> T:
    async def run() -> T:
        async with (
            MockServer(options) as server,
            anthropic.AsyncAnthropic(
                base_url=server.anthropic_url, api_key="k", max_retries=0, timeout=seconds
            ) as client,
        ):
            return await use(client)

    return asyncio.run(run())


async def chat(client: openai.AsyncOpenAI, **more: Any) -> Any:
    return await client.chat.completions.create(
        model="mock-small", messages=[{"role": "user", "content": BIDS}], **more
    )


async def respond(client: openai.AsyncOpenAI, **more: Any) -> Any:
    return await client.responses.create(model="mock-small", input=BIDS, **more)


async def message(client: anthropic.AsyncAnthropic, **more: Any) -> Any:
    settings = {"model": "mock-small", "max_tokens": 2000, "messages": [{"role": "user", "content": BIDS}], **more}
    return await client.messages.create(**settings)


def last_line(text: str) -> Any:
    return json.loads(text.splitlines()[-1])


def test_chat_completions_are_parsed() -> None:
    found = through_openai(None, chat)
    assert last_line(found.choices[0].message.content)["bid"] in (1, 2, 5, 9)
    assert (found.model, found.object, found.choices[0].finish_reason) == ("mock-small", "chat.completion", "stop")
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens
    assert found.usage.prompt_tokens_details.cached_tokens == 0
    assert found._request_id.startswith("req_")


def test_responses_are_parsed() -> None:
    found = through_openai(None, respond)
    assert last_line(found.output_text)["bid"] in (1, 2, 5, 9)
    assert (found.status, found.error, found.incomplete_details) == ("completed", None, None)
    assert found.usage.total_tokens == found.usage.input_tokens + found.usage.output_tokens


def test_messages_are_parsed() -> None:
    found = through_anthropic(None, message)
    assert [block.type for block in found.content] == ["text"]
    assert last_line(found.content[0].text)["bid"] in (1, 2, 5, 9)
    assert (found.stop_reason, found.role, found.usage.cache_read_input_tokens) == ("end_turn", "assistant", 0)


class Bid(BaseModel):
    bid: int
    notes: str


def test_structured_output_satisfies_its_schema_on_every_wire() -> None:
    async def by_openai(client: openai.AsyncOpenAI) -> list[Any]:
        wanted: Any = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
        asked: Any = {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA}}
        parsed = await client.chat.completions.parse(
            model="m", messages=[{"role": "user", "content": "x"}], response_format=Bid
        )
        again = await client.responses.parse(model="m", input="x", text_format=Bid)
        assert isinstance(parsed.choices[0].message.parsed, Bid)
        assert isinstance(again.output_parsed, Bid)
        return [
            (await chat(client, response_format=wanted)).choices[0].message.content,
            (await respond(client, text=asked)).output_text,
        ]

    async def by_anthropic(client: anthropic.AsyncAnthropic) -> Any:
        found = await message(client, output_config={"format": {"type": "json_schema", "schema": SCHEMA}})
        return found.content[0].text

    texts = [*through_openai(None, by_openai), through_anthropic(None, by_anthropic)]
    assert all(json.loads(text) in ({"bid": 3}, {"bid": 4}) for text in texts)


def test_a_schema_beyond_the_server_is_refused_as_a_bad_request() -> None:
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "string", "pattern": "a"}}}
    with pytest.raises(openai.BadRequestError, match="keyword 'pattern'"):
        through_openai(None, lambda client: chat(client, response_format=wanted))


def test_reasoning_is_counted_within_the_output_and_shown_where_the_api_shows_it() -> None:
    found = through_openai(None, lambda client: chat(client, reasoning_effort="high"))
    hidden = found.usage.completion_tokens_details.reasoning_tokens
    assert 128 <= hidden <= 256
    assert found.usage.completion_tokens > hidden
    found = through_openai(None, lambda client: respond(client, reasoning={"effort": "low"}))
    assert [item.type for item in found.output] == ["reasoning", "message"]
    assert 32 <= found.usage.output_tokens_details.reasoning_tokens <= 64
    found = through_anthropic(None, lambda client: message(client, thinking={"type": "adaptive"}))
    assert [block.type for block in found.content] == ["thinking", "text"]
    assert 0 < found.usage.output_tokens_details.thinking_tokens < found.usage.output_tokens


def test_a_front_that_was_sent_before_is_counted_as_cached_the_way_each_api_counts() -> None:
    turns: Any = [
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": '{"bid": 1}'},
        {"role": "user", "content": BIDS},
    ]

    async def by_openai(client: openai.AsyncOpenAI) -> Any:
        await client.chat.completions.create(model="m", messages=turns)
        return await client.chat.completions.create(model="m", messages=turns)

    usage = through_openai(None, by_openai).usage
    assert usage.prompt_tokens_details.cached_tokens == 2176  # of 2,232 tokens, in blocks of 128
    assert usage.prompt_tokens_details.cache_write_tokens == 0

    def by_anthropic(**marks: Any) -> list[Any]:
        async def twice(client: anthropic.AsyncAnthropic) -> Any:
            return [await message(client, messages=turns, **marks) for _ in range(2)]

        return [found.usage for found in through_anthropic(None, twice)]

    first, again = by_anthropic(cache_control={"type": "ephemeral"})
    assert (first.cache_read_input_tokens, again.cache_creation_input_tokens) == (0, 0)
    assert first.cache_creation_input_tokens == again.cache_read_input_tokens > 2_000
    assert again.input_tokens + again.cache_read_input_tokens == usage.prompt_tokens
    assert [found.cache_read_input_tokens for found in by_anthropic()] == [0, 0]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
def test_a_status_is_the_sdks_own_exception(status: int, error: type[openai.APIStatusError]) -> None:
    with pytest.raises(error, match="scripted") as caught:
        through_openai(planned(Respond(status=status)), chat)
    assert caught.value.request_id is not None
    with pytest.raises(getattr(anthropic, error.__name__), match="scripted"):
        through_anthropic(planned(Respond(status=status)), message)


def test_what_the_sdks_let_through_comes_through() -> None:
    assert through_openai(planned(NullChoices()), chat).choices is None
    assert str(through_openai(planned(Html()), chat)).startswith("<!DOCTYPE html>")
    parts = through_openai(planned(Reply(kind="parts")), chat).choices[0].message.content
    assert [part["type"] for part in parts] == ["thinking", "text"]
    refused = through_openai(planned(Reply(kind="refused")), chat).choices[0].message
    assert (refused.content, refused.refusal) == (None, "I can't help with that.")
    declined = through_anthropic(planned(Reply(kind="refused")), message)
    assert (declined.content, declined.stop_reason, declined.stop_details.type) == ([], "refusal", "refusal")
    called = through_openai(planned(Reply(kind="tool-calls")), respond)
    assert [item.type for item in called.output] == ["function_call"]


def test_a_hang_is_the_sdks_timeout() -> None:
    options = planned(Hang())
    with pytest.raises(openai.APITimeoutError):
        through_openai(options, chat, seconds=0.2)
    with pytest.raises(anthropic.APITimeoutError):
        through_anthropic(options, message, seconds=0.2)


def test_models_are_listed_in_the_form_of_the_client_that_asks() -> None:
    async def by_openai(client: openai.AsyncOpenAI) -> tuple[list[str], str]:
        return [model.id async for model in client.models.list()], (await client.models.retrieve("a")).id

    async def by_anthropic(client: anthropic.AsyncAnthropic) -> tuple[list[str], str]:
        return [model.id async for model in client.models.list()], (await client.models.retrieve("a")).id

    options = Options(models=("a", "b"), only_listed=True)
    assert through_openai(options, by_openai) == (["a", "b"], "a")
    assert through_anthropic(options, by_anthropic) == (["a", "b"], "a")


def test_a_model_that_is_not_offered_is_not_found_when_only_listed_ones_are_served() -> None:
    options = Options(models=("a",), only_listed=True)
    with pytest.raises(openai.NotFoundError, match="`mock-small` does not exist") as caught:
        through_openai(options, chat)
    assert caught.value.code == "model_not_found"
    with pytest.raises(anthropic.NotFoundError, match="model: mock-small"):
        through_anthropic(options, message)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"max_tokens": 0}, "below minimum value"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty content"),
        ({"messages": [{"role": "system", "content": "x"}]}, "must be one of user, assistant"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "must be greater than"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "below minimum value"),
        ({"messages": []}, "at least one message"),
    ],
)
def test_anthropics_own_refusals(more: dict[str, Any], says: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=says):
        through_anthropic(None, lambda client: message(client, **more))


@pytest.mark.parametrize(
    ("more", "says"), [({"max_output_tokens": 1}, "Expected a value >= 16"), ({"stream": True}, "answers whole")]
)
def test_responses_own_refusals(more: dict[str, Any], says: str) -> None:
    with pytest.raises(openai.BadRequestError, match=says):
        through_openai(None, lambda client: respond(client, **more))


def test_a_one_token_call_is_answered_and_cut() -> None:
    found = through_openai(None, lambda client: chat(client, max_completion_tokens=1))
    assert (found.choices[0].finish_reason, found.usage.completion_tokens) == ("length", 1)
    found = through_anthropic(None, lambda client: message(client, max_tokens=1))
    assert (found.stop_reason, found.usage.output_tokens) == ("max_tokens", 1)
