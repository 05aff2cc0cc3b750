"""Every kind of rule of a fault plan, as a raw client sees it."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import zlib
from collections.abc import Callable

import aiohttp
import pytest

from tests.harness.providers.mock_server.asking import (
    PATHS,
    WIRES,
    Client,
    Got,
    body,
    once,
    planned,
    until,
    with_server,
)
from tests.jumping_time import now
from weigh.harness.providers.mock_server import MockServer
from weigh.harness.providers.mock_server.rules import (
    Cut,
    Drip,
    ErrorIn200,
    GzipCut,
    Hang,
    Html,
    Limit,
    Malformed,
    NullChoices,
    Reply,
    Respond,
    Rule,
)


def breaks(rule: Rule, error: type[Exception]) -> None:
    """The request under this plan ends with this error on the client's side."""

    async def use(client: Client) -> None:
        with pytest.raises(error):
            await client.ask("chat")

    with_server(planned(rule), use)


@pytest.mark.parametrize(
    ("status", "openai", "anthropic"),
    [
        (400, "invalid_request_error", "invalid_request_error"),
        (401, "invalid_request_error", "authentication_error"),
        (404, "invalid_request_error", "not_found_error"),
        (413, "invalid_request_error", "request_too_large"),
        (429, "requests", "rate_limit_error"),
        (503, "server_error", "api_error"),
        (529, "server_error", "overloaded_error"),
    ],
)
def test_a_status_comes_with_the_error_body_of_its_api(status: int, openai: str, anthropic: str) -> None:
    for wire in ("chat", "responses"):
        got = once(Respond(status=status), wire)
        assert (got.status, got.json["error"]["type"]) == (status, openai)
    got = once(Respond(status=status, message="scripted"), "messages")
    assert got.status == status
    assert got.json["error"] == {"type": anthropic, "message": "scripted"}
    assert got.headers["request-id"] == got.json["request_id"]


def test_a_body_is_sent_as_it_stands_or_as_json() -> None:
    got = once(Respond(status=500, body="upstream connect error", headers={"X-Shard": "7"}))
    assert (got.status, got.raw, got.headers["Content-Type"]) == (
        500,
        b"upstream connect error",
        "text/plain; charset=utf-8",
    )
    assert got.headers["X-Shard"] == "7"
    got = once(Respond(status=200, body={"id": None, "choices": None}))
    assert (got.json, got.headers["Content-Type"]) == ({"id": None, "choices": None}, "application/json")
    got = once(Respond(status=200, body="event: error\n\n", content_type="text/event-stream"))
    assert got.headers["Content-Type"] == "text/event-stream"
    assert once(Respond(status=500, body="")).raw == b""


def test_an_error_can_come_with_status_200() -> None:
    got = once(ErrorIn200(code=504, message="Provider returned error"))
    assert (got.status, got.json) == (200, {"error": {"code": 504, "message": "Provider returned error"}})


def test_null_choices_keep_the_keys_of_the_answer() -> None:
    got = once(NullChoices())
    assert got.status == 200
    assert {"id", "choices", "usage", "object"} <= got.json.keys()
    assert set(got.json.values()) == {None}


def test_a_web_page_is_declared_as_one_and_as_long_as_asked() -> None:
    got = once(Html())
    assert (got.status, got.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert got.raw.startswith(b"<!DOCTYPE html>")
    got = once(Html(status=502, size=30_000))
    assert got.status == 502
    assert 30_000 <= len(got.raw) < 30_050


def test_malformed_json_is_declared_as_json() -> None:
    got = once(Malformed())
    assert got.headers["Content-Type"] == "application/json"
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        _ = got.json
    with pytest.raises(UnicodeDecodeError):
        once(Malformed(what="utf-8")).raw.decode()


def test_a_dripping_answer_is_whole_in_the_end() -> None:
    slow = once(Drip(interval=0.001, size=40))
    assert slow.headers["Transfer-Encoding"] == "chunked"
    assert slow.text("chat") == once(Reply()).text("chat")


def test_newlines_drip_for_their_time_before_the_answer() -> None:
    async def use(client: Client) -> tuple[Got, float]:
        return await client.ask("chat", seconds=999), now()

    got, took = with_server(planned(Drip(interval=20.0, lasting=150.0)), use)
    assert took == pytest.approx(150.0)
    assert len(got.raw) - len(got.raw.lstrip(b"\n")) == 8
    assert got.text("chat") == once(Reply()).text("chat")


def test_a_body_is_cut_below_its_announced_length() -> None:
    breaks(Cut(after=40, how="close"), aiohttp.ClientPayloadError)
    breaks(Cut(after=0, how="close"), aiohttp.ClientPayloadError)
    breaks(Cut(after=None, how="close"), aiohttp.ServerDisconnectedError)


def test_a_reset_is_a_reset() -> None:
    async def use(client: Client) -> bytes:
        address = client.server.addresses
        reader, writer = await asyncio.open_connection(address.host, address.port)
        sent = b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}'
        head = f"POST {PATHS['chat']} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
        writer.write(head + sent)
        with pytest.raises(ConnectionResetError):
            await reader.read()
            await reader.read()
        writer.close()
        return head

    with_server(planned(Cut(after=None)), use)


def test_p13_the_full_length_is_announced_when_the_body_is_cut() -> None:
    async def use(client: Client) -> None:
        async with client.session.post(client.server.openai_url + "/chat/completions", json=body("chat")) as response:
            announced = int(response.headers["Content-Length"])
            assert (
                await response.content.read(40)
                == (b'{"id": "chatcmpl-' + response.headers["x-request-id"][4:].encode())[:40]
            )
            assert announced > 300
            with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientOSError)):
                await response.content.read()

    with_server(planned(Cut(after=40)), use)


def test_p14_a_compressed_body_ends_too_soon_in_a_whole_response() -> None:
    async def use(client: Client) -> None:
        url = client.server.openai_url + "/chat/completions"
        async with aiohttp.ClientSession(auto_decompress=False) as session, session.post(url, json=body("chat")) as got:
            packed = await got.read()
            assert got.headers["Content-Encoding"] == "gzip"
            assert int(got.headers["Content-Length"]) == len(packed)
        with pytest.raises(EOFError):
            gzip.decompress(packed)
        assert zlib.decompressobj(31).decompress(packed).startswith(b'{"id": "chatcmpl-')

    with_server(planned(GzipCut()), use)


@pytest.mark.parametrize(
    "rule", [Hang(), Hang(after_headers=True), Reply(kind="timed_out")], ids=["silent", "after headers", "reply"]
)
def test_p17_p19_a_hanging_request_leaves_nothing_behind_when_its_client_goes(rule: Rule) -> None:
    async def use(client: Client) -> None:
        async def give_up() -> None:
            with pytest.raises(TimeoutError):
                await client.ask("chat", seconds=0.5)

        await asyncio.gather(*(give_up() for _ in range(50)))
        server = client.server
        await until(lambda: server.stats()["in_flight"] == 0 and server.stats()["connections"] == 0)
        assert server.stats()["most_in_flight"] == 50
        assert server.stats()["sent"] == {"gone": 50}

    with_server(planned(rule), use)


def test_a_delay_stands_in_place_of_the_latency_which_errors_have_not() -> None:
    async def use(client: Client) -> list[float]:
        times = []
        for wire in WIRES:
            started = now()
            await client.ask(wire)
            times.append(now() - started)
        return times

    rules = (Reply(delay="100ms", wire="chat"), Respond(status=503, wire="responses"))
    assert with_server(planned(*rules, latency="700ms"), use) == pytest.approx([0.1, 0.0, 0.7])


@pytest.mark.parametrize("wire", WIRES)
def test_a_limit_answers_429_with_headers_and_lets_the_rest_pass(wire: str) -> None:
    async def use(client: Client) -> list[Got]:
        return [await client.ask(wire) for _ in range(3)]

    got = with_server(planned(Limit(requests_per_minute=6, burst=2)), use)
    assert [one.status for one in got] == [200, 200, 429]
    limit = "anthropic-ratelimit-requests-limit" if wire == "messages" else "x-ratelimit-limit-requests"
    assert [one.headers[limit] for one in got] == ["6", "6", "6"]
    assert 9 <= int(got[2].headers["retry-after"]) <= 10
    assert ("retry-after-ms" in got[2].headers) == (wire != "messages")


def test_requests_per_minute_is_a_limit_for_all_models() -> None:
    async def use(client: Client) -> list[int]:
        return [(await client.ask("chat", body("chat", model=f"m{n}"))).status for n in range(3)]

    assert with_server(planned(requests_per_minute=2), use) == [200, 200, 429]


def test_a_limit_of_requests_in_flight_turns_away_the_surplus() -> None:
    async def use(client: Client) -> list[int]:
        return sorted(got.status for got in await asyncio.gather(*(client.ask("chat") for _ in range(10))))

    assert with_server(planned(Limit(in_flight=4), latency="500ms"), use) == [200] * 4 + [429] * 6


CHANGES: list[tuple[Reply, Callable[[Got], object], object]] = [
    (Reply(set={"service_tier": "turbo"}), lambda got: got.json["service_tier"], "turbo"),
    (Reply(set={"choices.0.message.role": "model"}), lambda got: got.json["choices"][0]["message"]["role"], "model"),
    (Reply(nullify=("choices.0.finish_reason",)), lambda got: got.json["choices"][0]["finish_reason"], None),
    (Reply(drop=("usage",)), lambda got: "usage" in got.json, False),
    (Reply(drop=("choices.0",)), lambda got: got.json["choices"], []),
    (Reply(text='{"bid": 9}'), lambda got: got.text("chat"), '{"bid": 9}'),
    (Reply(text='{"bid": 9}', kind="truncated"), lambda got: got.stop("chat"), "length"),
]


@pytest.mark.parametrize(("rule", "look", "expected"), CHANGES)
def test_the_ordinary_answer_can_be_changed(rule: Reply, look: Callable[[Got], object], expected: object) -> None:
    got = once(rule)
    assert got.status == 200
    assert look(got) == expected


@pytest.mark.parametrize("path", ["choices.1.message", "nothing.here", "choices.first"])
def test_a_change_that_leads_nowhere_is_an_error_that_names_the_path(path: str) -> None:
    for rule in (Reply(set={path: 1}), Reply(drop=(path,))):
        got = once(rule)
        assert got.status == 500
        assert repr(path) in got.json["error"]["message"]


STOPS: dict[str, tuple[str, str, str]] = {
    "answer": ("stop", "completed", "end_turn"),
    "empty": ("stop", "completed", "end_turn"),
    "truncated": ("length", "max_output_tokens", "max_tokens"),
    "reasoning-only": ("length", "max_output_tokens", "max_tokens"),
    "refused": ("stop", "completed", "refusal"),
    "filtered": ("content_filter", "content_filter", "refusal"),
    "pause": ("pause_turn", "in_progress", "pause_turn"),
    "tool-calls": ("tool_calls", "completed", "tool_use"),
}


@pytest.mark.parametrize("kind", STOPS)
def test_each_kind_of_reply_stops_in_the_words_of_its_api(kind: str) -> None:
    async def use(client: Client) -> tuple[str, ...]:
        return tuple([(await client.ask(wire)).stop(wire) for wire in WIRES])

    assert with_server(planned(Reply.model_validate({"kind": kind})), use) == STOPS[kind]


@pytest.mark.parametrize(
    ("faults", "sent"),
    [("timed_out=1", {"gone": 1}), ("503=1", {"503": 1}), ("reset=1", {"cut": 1}), ("empty=1", {"200": 1})],
)
def test_faults_by_share_reach_the_wire(faults: str, sent: dict[str, int]) -> None:
    async def use(client: Client) -> dict[str, int]:
        with contextlib.suppress(TimeoutError, aiohttp.ClientError):
            await client.ask("chat", seconds=0.2 if "timed_out" in faults else 5)
        await until(lambda: client.server.stats()["in_flight"] == 0)
        counted: dict[str, int] = client.server.stats()["sent"]
        return counted

    assert with_server(planned(faults=faults), use) == sent


def test_a_stopped_server_refuses_connections() -> None:
    async def run() -> None:
        async with MockServer() as server, aiohttp.ClientSession() as session:
            assert (await Client(session, server).ask("chat")).status == 200
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorError):
                await Client(session, server).ask("chat")

    asyncio.run(run())
