"""Provider behaviour that was reported in public, each scripted as a plan file would have it.

A case here says only that the server can show the behaviour; what a client must make of it is the clients' test.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
from typing import Any

import aiohttp
import pytest

from tests.harness.providers.mock_server.asking import (
    BIDS,
    STARTED,
    Client,
    Got,
    body,
    clock,
    conversation,
    with_server,
)
from tests.jumping_time import now
from weigh.harness.providers.mock_server import Options, read_plan


def scripted(*rules: dict[str, Any], **more: Any) -> Options:
    return Options(plan=read_plan({"rules": list(rules)}), **more)


def asked(options: Options, *questions: tuple[str, dict[str, Any]]) -> list[Got]:
    async def use(client: Client) -> list[Got]:
        return [await client.ask(wire, sent) for wire, sent in questions]

    return with_server(options, use)


CHAT = ("chat", body("chat"))
MESSAGES = ("messages", body("messages"))


def test_p01_retry_after_as_an_http_date() -> None:
    options = scripted({"nth": 1, "do": "respond", "status": 429, "retry_after": "date+3s"})
    limited, served = asked(options, CHAT, CHAT)
    date = email.utils.parsedate_to_datetime(limited.headers["Retry-After"]).timestamp()
    assert limited.status == 429
    assert date == math.ceil(STARTED + 3)
    assert served.status == 200


def test_p02_calls_before_the_announced_date_are_refused_again() -> None:
    options = scripted({"nth": 1, "do": "respond", "status": 429, "retry_after": "date+500ms", "hold": True})

    async def use(client: Client) -> list[int]:
        first = await client.ask("chat")
        early = await client.ask("chat")
        date = email.utils.parsedate_to_datetime(first.headers["Retry-After"]).timestamp()
        await asyncio.sleep(date - clock() - 0.1)
        late = await client.ask("chat")
        await asyncio.sleep(0.2)
        return [first.status, early.status, late.status, (await client.ask("chat")).status]

    assert with_server(options, use) == [429, 429, 429, 200]


def test_p04_a_server_that_is_always_down() -> None:
    assert [got.status for got in asked(scripted({"do": "respond", "status": 503}), *[CHAT] * 9)] == [503] * 9


def test_p05_overloaded_three_times_and_then_fine() -> None:
    options = scripted({"wire": "messages", "nth": "1-3", "do": "respond", "status": 529})
    got = asked(options, *[MESSAGES] * 4)
    assert [one.status for one in got] == [529, 529, 529, 200]
    assert got[0].json["error"]["type"] == "overloaded_error"


def test_p07_an_error_inside_status_200() -> None:
    (got,) = asked(scripted({"do": "error-in-200", "code": 504, "message": "Provider returned error"}), CHAT)
    assert (got.status, got.json["error"]["code"]) == (200, 504)


def test_p08_choices_null_and_no_error() -> None:
    (got,) = asked(scripted({"do": "null-choices"}), CHAT)
    assert (got.status, got.json["choices"], got.json["usage"]) == (200, None, None)


@pytest.mark.parametrize(("case", "status", "size"), [("P10", 200, 0), ("P11", 502, 30_000)])
def test_p10_p11_web_pages(case: str, status: int, size: int) -> None:
    (got,) = asked(scripted({"name": case, "do": "html", "status": status, "size": size}), CHAT)
    assert (got.status, got.headers["Content-Type"].split(";")[0]) == (status, "text/html")
    assert len(got.raw) >= size


def test_p16_a_body_that_drips_for_longer_than_anyone_waits() -> None:
    async def use(client: Client) -> float:
        with pytest.raises(TimeoutError):
            await client.ask("chat", seconds=3)
        return now()

    assert with_server(scripted({"do": "drip", "interval": "200ms", "lasting": "10m"}), use) == pytest.approx(3)


@pytest.mark.parametrize("parameter", ["max_tokens", "temperature"])
def test_p20_an_unsupported_parameter(parameter: str) -> None:
    error = {
        "error": {"code": "unsupported_parameter", "param": parameter, "message": "x", "type": "invalid_request_error"}
    }
    options = scripted({"has": parameter, "do": "respond", "status": 400, "body": error})
    got = asked(options, ("chat", body("chat", **{parameter: 1})), ("chat", body("chat", max_completion_tokens=99)))
    assert [one.status for one in got] == [400, 200]
    assert got[0].json == error


def test_p25_two_user_turns_in_a_row() -> None:
    options = scripted(
        {"turns": "repeated", "do": "respond", "status": 400, "message": "Conversation roles must alternate"}
    )
    twice = conversation("chat", ("system", "s"), ("user", "a"), ("user", "b"))
    alternating = conversation("chat", ("system", "s"), ("user", "a"), ("assistant", "x"), ("user", "b"))
    assert [got.status for got in asked(options, ("chat", twice), ("chat", alternating))] == [400, 200]


def test_p26_an_empty_assistant_turn() -> None:
    turns = (("user", "a"), ("assistant", ""), ("user", "b"))
    options = scripted({"turns": "empty", "do": "respond", "status": 400})
    got = asked(options, ("chat", conversation("chat", *turns)), ("messages", conversation("messages", *turns)))
    assert [one.status for one in got] == [400, 400]


def test_p28_p29_keys_and_models_that_are_refused() -> None:
    options = scripted(
        {"model": "closed", "nth": "2-", "do": "respond", "status": 404, "message": "model: closed"},
        {"wire": "messages", "do": "respond", "status": 401, "message": "invalid x-api-key"},
    )
    got = asked(options, ("chat", body("chat", model="closed")), ("chat", body("chat", model="closed")), MESSAGES)
    assert [one.status for one in got] == [200, 404, 401]


def test_p31_a_prompt_that_is_too_long() -> None:
    options = scripted(
        {"longer_than": 2000, "wire": "messages", "do": "respond", "status": 413},
        {"longer_than": 2000, "do": "respond", "status": 400, "body": {"error": {"code": "context_length_exceeded"}}},
    )
    long = "x" * 9000
    got = asked(options, ("messages", body("messages", text=long)), ("chat", body("chat", text=long)), CHAT)
    assert [one.status for one in got] == [413, 400, 200]
    assert got[0].json["error"]["type"] == "request_too_large"


def test_p32_a_prompt_that_is_cut_in_silence_shows_in_the_count_only() -> None:
    options = scripted({"do": "reply", "set": {"usage.prompt_tokens": 4096}})
    (got,) = asked(options, ("chat", body("chat", text="x" * 36_000)))
    assert (got.status, got.json["usage"]["prompt_tokens"]) == (200, 4096)


def test_p34_a_refusal_that_a_rivals_words_bring_about() -> None:
    options = scripted({"contains": "FORBIDDEN", "do": "reply", "kind": "refused"})
    said = ("messages", body("messages", text=f"Rival says FORBIDDEN. {BIDS}"))
    refused, again, fine = asked(options, said, said, MESSAGES)
    assert (refused.json["content"], refused.stop("messages")) == ([], "refusal")
    assert (again.stop("messages"), fine.stop("messages")) == ("refusal", "end_turn")


def test_p35_a_content_filter_in_the_middle_of_a_stream() -> None:
    stream = 'data: {"choices":[{"delta":{"content":"I bid"}}]}\n\nevent: error\ndata: {"code":"content_filter"}\n\n'
    options = scripted({"do": "respond", "status": 200, "body": stream, "content_type": "text/event-stream"})
    (got,) = asked(options, CHAT)
    assert (got.raw.decode(), got.headers["Content-Type"]) == (stream, "text/event-stream")


def test_p37_a_paused_turn() -> None:
    (got,) = asked(scripted({"do": "reply", "kind": "pause", "text": "checking..."}), MESSAGES)
    assert (got.text("messages"), got.stop("messages")) == ("checking...", "pause_turn")


def test_p38_reasoning_that_used_the_whole_cap() -> None:
    (got,) = asked(scripted({"do": "reply", "kind": "reasoning-only"}), ("chat", body("chat", max_tokens=200)))
    assert (got.text("chat"), got.stop("chat")) == ("", "length")
    assert got.json["usage"]["completion_tokens"] == 200
    assert got.json["usage"]["completion_tokens_details"]["reasoning_tokens"] == 200


def test_p40_content_as_parts() -> None:
    (got,) = asked(scripted({"do": "reply", "kind": "parts", "text": '{"bid":7}'}), CHAT)
    thinking, text = got.json["choices"][0]["message"]["content"]
    assert (thinking["type"], text) == ("thinking", {"type": "text", "text": '{"bid":7}'})


def test_p41_unknown_fields_around_a_good_answer() -> None:
    changes = {"service_tier": "turbo", "choices.0.native_finish_reason": None, "choices.0.message.role": "model"}
    (got,) = asked(scripted({"do": "reply", "set": changes, "text": '{"bid":7}'}), CHAT)
    choice = got.json["choices"][0]
    assert (got.json["service_tier"], choice["native_finish_reason"], choice["message"]["role"]) == (
        "turbo",
        None,
        "model",
    )
    assert got.text("chat") == '{"bid":7}'


def test_p43_a_local_server_that_still_loads_its_model() -> None:
    error = {"error": {"message": "Loading model", "type": "unavailable_error"}}
    options = scripted({"elapsed": "0-500ms", "do": "respond", "status": 503, "body": error})

    async def use(client: Client) -> list[int]:
        first = await client.ask("chat")
        assert first.json == error
        await asyncio.sleep(0.5)
        return [first.status, (await client.ask("chat")).status]

    assert with_server(options, use) == [503, 200]


def test_o01_one_of_four_seats_never_answers_and_the_others_do() -> None:
    async def use(client: Client) -> list[bool]:
        async def seat(n: int) -> bool:
            try:
                return (
                    await client.ask("chat", body("chat", model=f"seat-{n}"), seconds=0.3 if n == 3 else 5)
                ).status == 200
            except TimeoutError:
                return False

        return await asyncio.gather(*(seat(n) for n in range(4)))

    assert with_server(scripted({"model": "seat-3", "do": "hang"}), use) == [True, True, True, False]


def test_o32_latencies_turned_round_between_two_runs_change_no_answer() -> None:
    def run(*delays: str) -> list[Got]:
        options = scripted(*({"model": f"seat-{n}", "do": "reply", "delay": delay} for n, delay in enumerate(delays)))

        async def use(client: Client) -> list[Got]:
            return await asyncio.gather(*(client.ask("chat", body("chat", model=f"seat-{n}")) for n in range(3)))

        return with_server(options, use)

    assert [got.raw for got in run("0", "50ms", "100ms")] == [got.raw for got in run("100ms", "50ms", "0")]


def test_o35_the_first_try_of_every_request_is_reset_and_the_second_works() -> None:
    async def use(client: Client) -> list[int]:
        statuses = []
        for n in range(3):
            with pytest.raises(aiohttp.ClientError):
                await client.ask("chat", body("chat", text=str(n)))
            statuses.append((await client.ask("chat", body("chat", text=str(n)))).status)
        return statuses

    assert with_server(scripted({"per": "request", "nth": 1, "do": "cut", "after": None}), use) == [200, 200, 200]


def test_a_third_of_429_503_and_resets_by_share() -> None:
    """The storm of a bad afternoon: 30 % of tries fail, and whoever tries again gets through."""

    async def use(client: Client) -> tuple[int, dict[str, int]]:
        async def persist(n: int) -> int:
            for tries in range(1, 20):
                try:
                    if (await client.ask("chat", body("chat", text=str(n)))).status == 200:
                        return tries
                except aiohttp.ClientError:
                    pass
            raise AssertionError("never answered")

        tries = sum(await asyncio.gather(*(persist(n) for n in range(300))))
        counted: dict[str, int] = client.server.stats()["sent"]
        return tries, counted

    tries, sent = with_server(scripted(faults="429=0.1,503=0.1,reset=0.1"), use)
    assert sent["200"] == 300
    assert tries == sum(sent.values())
    assert 1.3 < tries / 300 < 1.6  # 1 / (1 - 0.3) = 1.43
    assert all(20 < sent[fault] < 70 for fault in ("429", "503", "cut"))
