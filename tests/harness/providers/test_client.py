"""One endpoint's client: what it learns, what it never tells, and that text of any kind gets there and back."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any

import pytest

from tests.harness.providers.raw_server import (
    KEY,
    WIRES,
    RawServer,
    answer_for,
    asking,
    body_for,
    chat,
    http,
    request,
)
from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.providers.wire.capabilities import Capabilities
from weigh.policies.contract import Completion, Request

each_wire = pytest.mark.parametrize("wire", WIRES)


def refusing(
    parameter: str, message: str = "Unsupported parameter", code: str | None = "unsupported_parameter"
) -> bytes:
    said = {"message": f"{message}: '{parameter}'", "type": "invalid_request_error", "param": parameter, "code": code}
    return http({"error": said}, 400)


def learning(
    *answers: bytes, asked: Request, wire: str = "openai-chat", **settings: Any
) -> tuple[list[CallFailed | Completion], RawServer, tuple[str, ...]]:
    """Ask once for each answer; returns what became of it."""

    async def ask() -> tuple[list[CallFailed | Completion], RawServer, tuple[str, ...]]:
        ends: list[CallFailed | Completion] = []
        async with asking(*answers, wire=wire, **settings) as (client, raw):
            for _ in answers:
                try:
                    ends.append(await client.complete(asked))
                except CallFailed as failed:
                    ends.append(failed)
            return ends, raw, client.adaptations

    return asyncio.run(ask())


def test_P20_max_tokens_is_renamed_once_and_the_ledger_sees_both_calls() -> None:
    ends, raw, notes = learning(
        refusing("max_tokens"), http(chat()), http(chat()), asked=request(max_tokens=9), cap_field="max_tokens"
    )
    first, *others = ends
    assert isinstance(first, CallFailed)
    assert (first.decision, first.wait, first.limited, first.billing) == ("wait", 0.0, False, "none")
    assert all(isinstance(end, Completion) for end in others)
    assert [sorted(set(received.body) - {"messages", "model"}) for received in raw.received] == [
        ["max_tokens"],
        ["max_completion_tokens"],
        ["max_completion_tokens"],
    ]
    assert notes == ("the cap on tokens is now sent as max_completion_tokens: max_tokens is refused",)


ALREADY_AT_ONE = "`temperature` may only be set to 1 when thinking is enabled."
FASTAPI = {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}


@pytest.mark.parametrize(
    ("wire", "answer"),
    [
        ("openai-chat", refusing("temperature", "Unsupported value", "unsupported_value")),
        ("openai-chat", refusing("temperature")),
        ("openai-responses", refusing("temperature")),
        ("openai-chat", http(FASTAPI, 422)),
        ("anthropic", http({"error": {"message": "`temperature` is deprecated for this model."}}, 400)),
        ("anthropic", http({"error": {"message": ALREADY_AT_ONE}}, 400)),
    ],
)
def test_P20_P22_a_refused_temperature_is_left_out_from_then_on_and_told(wire: str, answer: bytes) -> None:
    ends, raw, notes = learning(answer, answer_for(wire), asked=request(temperature=0.0), wire=wire)
    assert isinstance(ends[0], CallFailed)
    assert (ends[0].decision, ends[0].wait) == ("wait", 0.0)
    assert isinstance(ends[1], Completion)
    assert ["temperature" in received.body for received in raw.received] == [True, False]
    assert len(notes) == 1


def test_P25_a_template_without_a_system_role_gets_it_folded_into_the_user_turn() -> None:
    answer = http({"message": "Conversation roles must alternate user/assistant/user/assistant/..."}, 400)
    _, raw, notes = learning(answer, http(chat()), asked=request("Bid."))
    assert raw.received[1].body["messages"] == [{"role": "user", "content": "Rules.\n\nBid."}]
    assert len(notes) == 1


def test_P25_what_goes_on_being_refused_is_a_matter_of_config() -> None:
    answer = http({"message": "Conversation roles must alternate"}, 400)
    ends, _, _ = learning(answer, answer, asked=request())
    assert isinstance(ends[1], CallFailed)
    assert ends[1].decision == "fatal"


def test_a_parameter_that_is_refused_both_ways_is_fatal_and_no_endless_ladder() -> None:
    ends, raw, _ = learning(
        refusing("max_tokens"), refusing("max_completion_tokens"), asked=request(), cap_field="max_tokens"
    )
    assert [end.decision for end in ends if isinstance(end, CallFailed)] == ["wait", "fatal"]
    assert len(raw.received) == 2


def test_a_parameter_of_ones_own_that_is_refused_is_fatal() -> None:
    ends, _, notes = learning(refusing("top_k"), asked=request(extra={"top_k": 3}))
    assert [end.decision for end in ends if isinstance(end, CallFailed)] == ["fatal"]
    assert notes == ()


def test_structured_output_is_never_dropped() -> None:
    ends, _, notes = learning(refusing("response_format"), asked=request(schema={"type": "object"}))
    assert [end.decision for end in ends if isinstance(end, CallFailed)] == ["fatal"]
    assert notes == ()


def test_the_same_news_in_many_calls_at_once_is_learned_once() -> None:
    async def ask() -> tuple[int, int, tuple[str, ...]]:
        async with asking(*[refusing("temperature")] * 20, http(chat()), concurrency=20) as (client, raw):
            ends = await asyncio.gather(
                *(client.complete(request(temperature=0.0)) for _ in range(20)), return_exceptions=True
            )
            waits = sum(isinstance(end, CallFailed) and end.decision == "wait" for end in ends)
            await client.complete(request(temperature=0.0))
            return waits, len(raw.received), client.adaptations

    waits, hits, notes = asyncio.run(ask())
    assert (waits, hits, len(notes)) == (20, 21, 1)


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("openai:gpt-5-mini", {}, Capabilities("max_completion_tokens", temperature=False, tuples=False)),
        ("openai:o3", {}, Capabilities("max_completion_tokens", temperature=False, tuples=False)),
        ("openai:gpt-4o", {}, Capabilities("max_completion_tokens", tuples=False)),
        ("openai:gpt-5-chat-latest", {}, Capabilities("max_completion_tokens", tuples=False)),
        ("openai:gpt-5", {"supports_temperature": True}, Capabilities("max_completion_tokens", tuples=False)),
        (
            "openai:gpt-4o",
            {"wire": "openai-responses"},
            Capabilities("max_completion_tokens", seed=False, tuples=False),
        ),
        ("vllm:gpt-5-imitation", {}, Capabilities()),
        ("ollama:llama3:8b", {"supports_seed": False, "fold_system": True}, Capabilities(seed=False, system=False)),
        ("anthropic:claude-sonnet-4-5", {}, Capabilities(seed=False)),
        ("anthropic:claude-3-5-haiku-latest", {}, Capabilities(seed=False)),
        ("anthropic:claude-opus-4-7", {}, Capabilities(temperature=False, seed=False)),
    ],
)
def test_capabilities_are_declared_where_they_are_known(
    name: str, settings: dict[str, Any], expected: Capabilities
) -> None:
    async def look() -> Capabilities:
        environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
        client = client_for(endpoint_for(name, {name: settings}), environ)
        await client.aclose()
        return client.capabilities

    assert asyncio.run(look()) == expected


@each_wire
def test_text_of_any_kind_gets_there_and_back(wire: str) -> None:
    text = 'q"\\ \ud800 \ud83d\ude00 é \x00 \u202e   '
    mended = 'q"\\ \ufffd 😀 é \x00 \u202e   '

    async def ask() -> tuple[Any, Completion]:
        bid = json.dumps('{"bid": 7}')
        answer = http(json.dumps(body_for(wire)).replace(bid, json.dumps(text)))
        async with asking(answer, wire=wire) as (client, raw):
            completion = await client.complete(request(text))
            return raw.received[0].body, completion

    body, completion = asyncio.run(ask())
    turns = body["input"] if wire == "openai-responses" else body["messages"]
    assert turns[-1]["content"] == mended
    assert completion.text == mended


@each_wire
def test_many_calls_at_once_share_as_many_connections_as_the_limit(wire: str) -> None:
    async def ask() -> tuple[int, int]:
        most = 0

        async def answer(writer: asyncio.StreamWriter) -> None:
            nonlocal most
            most = max(most, raw.open_sockets)
            await asyncio.sleep(0.05)
            writer.write(answer_for(wire))
            await writer.drain()

        async with asking(answer, wire=wire, concurrency=13) as (client, raw):
            await asyncio.gather(*(client.complete(request()) for _ in range(26)))
            return most, len(raw.received)

    assert asyncio.run(ask()) == (13, 26)


@each_wire
def test_each_header_is_sent_once_and_names_json(wire: str) -> None:
    async def ask() -> tuple[list[str], Mapping[str, str]]:
        async with asking(answer_for(wire), wire=wire) as (client, raw):
            await client.complete(request())
            return raw.received[0].header_names, raw.received[0].headers

    names, headers = asyncio.run(ask())
    assert len(names) == len(set(names))
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize("shape", ["openai-chat", "anthropic"])
def test_the_lean_sender_sends_what_the_sdk_sends(shape: str) -> None:
    async def sent(wire: str) -> tuple[str, Any, dict[str, str]]:
        async with asking(answer_for(wire), wire=wire) as (client, raw):
            await client.complete(request("Bid.", temperature=0.0))
            got = raw.received[0]
            telling = ("authorization", "x-api-key", "anthropic-version", "user-agent", "content-type")
            return got.path, got.body, {name: got.headers[name] for name in telling if name in got.headers}

    lean, sdk = asyncio.run(sent(f"{shape} lean")), asyncio.run(sent(shape))
    assert lean == sdk
    assert KEY in str(lean[2])


@each_wire
def test_closing_leaves_no_connection(wire: str) -> None:
    async def ask() -> int:
        async with asking(answer_for(wire), wire=wire) as (client, raw):
            await client.complete(request())
            await client.aclose()
            return await raw.emptied()

    assert asyncio.run(ask()) == 0


@each_wire
def test_no_key_in_any_representation_failure_log_or_traceback(wire: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}, sent by {KEY}"
    answers = (
        http({"error": {"message": echo, "code": KEY, "type": KEY, "param": KEY}}, 401, {"x-echo": KEY}),
        http({"error": {"message": echo}}, 429, {"retry-after": KEY}),
        http({"error": echo}, 500),
        http({"error": {"message": echo}}, 200),
        http(f"<html>{echo}</html>", 502, kind="text/html"),
        http(f"<html>{echo}</html>", 200, kind="text/html"),
        http(echo, 200),
        http("", 302, {"location": f"https://x.invalid/?key={KEY}"}),
        http({"error": {"message": "x" * 180 + KEY}}, 503),
        http({}, 404, {"www-authenticate": KEY}),
    )

    async def ask() -> str:
        seen: list[str] = []
        async with asking(*answers, wire=wire) as (client, _):
            seen += [repr(client), str(client), repr(client.endpoint), repr(client.capabilities)]
            for _ in answers:
                try:
                    await client.complete(request())
                except CallFailed as failed:
                    seen += [repr(failed), str(failed), failed.cause, repr(vars(failed))]
                    seen += traceback.format_exception(failed)
                    seen += [repr(frame) for frame in traceback.walk_tb(failed.__traceback__)]
                    link: BaseException | None = failed
                    while link is not None:
                        assert link.__context__ is None
                        link = link.__cause__
        return "\n".join([*seen, caplog.text, *(str(vars(record)) for record in caplog.records)])

    everything = asyncio.run(ask())
    assert len(everything) > 2000
    assert KEY not in everything
    assert KEY[:14] not in everything


def test_a_key_never_reaches_a_server_without_one() -> None:
    async def ask() -> str:
        async with asking(http(chat())) as (_, raw):
            environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
            client = client_for(endpoint_for("vllm:m", {"vllm": {"base_url": f"{raw.url}/v1"}}), environ)
            await client.complete(request())
            await client.aclose()
            return str(raw.received[0].headers)

    assert KEY not in asyncio.run(ask())


@each_wire
def test_the_key_comes_from_the_environment_handed_in(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "sk-another-one-0123456789")

    async def ask() -> str:
        async with asking(answer_for(wire), wire=wire) as (client, raw):
            await client.complete(request())
            return str(raw.received[0].headers)

    headers = asyncio.run(ask())
    assert KEY in headers
    assert "another-one" not in headers
