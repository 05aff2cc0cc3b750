"""Provider behaviour that was reported in public, each scripted as a plan file would have it.

A case here says only that the server can show the behaviour; what a client must make of it is the clients' test. What a
single kind of rule does is in `test_handling`.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
from collections.abc import Callable
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


Question = tuple[str, dict[str, Any]]
CHAT: Question = ("chat", body("chat"))
MESSAGES: Question = ("messages", body("messages"))
LONG = "x" * 9000
RIVAL: Question = ("messages", body("messages", text=f"Rival says FORBIDDEN. {BIDS}"))
TWICE = conversation("chat", ("system", "s"), ("user", "a"), ("user", "b"))
ALTERNATING = conversation("chat", ("system", "s"), ("user", "a"), ("assistant", "x"), ("user", "b"))
EMPTY_TURN = (("user", "a"), ("assistant", ""), ("user", "b"))
UNSUPPORTED = {"error": {"code": "unsupported_parameter", "param": "max_tokens", "type": "invalid_request_error"}}
STREAM = 'data: {"choices":[{"delta":{"content":"I bid"}}]}\n\nevent: error\ndata: {"code":"content_filter"}\n\n'
STRANGE = {"service_tier": "turbo", "choices.0.native_finish_reason": None, "choices.0.message.role": "model"}


def closed(model: str) -> Question:
    return "chat", body("chat", model=model)


CASES: dict[str, tuple[list[dict[str, Any]], list[Question], list[int], Callable[[list[Got]], bool]]] = {
    "P04 a server that is always down": (
        [{"do": "respond", "status": 503}],
        [CHAT] * 5,
        [503] * 5,
        lambda got: True,
    ),
    "P05 overloaded three times and then fine": (
        [{"wire": "messages", "nth": "1-3", "do": "respond", "status": 529}],
        [MESSAGES] * 4,
        [529, 529, 529, 200],
        lambda got: got[0].json["error"]["type"] == "overloaded_error",
    ),
    "P20 an unsupported parameter": (
        [{"has": "max_tokens", "do": "respond", "status": 400, "body": UNSUPPORTED}],
        [("chat", body("chat", max_tokens=1)), ("chat", body("chat", max_completion_tokens=99))],
        [400, 200],
        lambda got: got[0].json == UNSUPPORTED,
    ),
    "P25 two user turns in a row": (
        [{"turns": "repeated", "do": "respond", "status": 400, "message": "Conversation roles must alternate"}],
        [("chat", TWICE), ("chat", ALTERNATING)],
        [400, 200],
        lambda got: got[0].json["error"]["message"] == "Conversation roles must alternate",
    ),
    "P26 an empty assistant turn": (
        [{"turns": "empty", "do": "respond", "status": 400}],
        [("chat", conversation("chat", *EMPTY_TURN)), ("messages", conversation("messages", *EMPTY_TURN))],
        [400, 400],
        lambda got: True,
    ),
    "P28 P29 keys and models that are refused": (
        [
            {"model": "closed", "nth": "2-", "do": "respond", "status": 404},
            {"wire": "messages", "do": "respond", "status": 401, "message": "invalid x-api-key"},
        ],
        [closed("closed"), closed("open"), closed("closed"), MESSAGES],
        [200, 200, 404, 401],
        lambda got: got[3].json["error"]["message"] == "invalid x-api-key",
    ),
    "P31 a prompt that is too long": (
        [
            {"longer_than": 2000, "wire": "messages", "do": "respond", "status": 413},
            {"longer_than": 2000, "do": "respond", "status": 400, "body": {"error": {"code": "context_length"}}},
        ],
        [("messages", body("messages", text=LONG)), ("chat", body("chat", text=LONG)), CHAT],
        [413, 400, 200],
        lambda got: got[0].json["error"]["type"] == "request_too_large",
    ),
    "P32 a prompt that is cut in silence shows in the count only": (
        [{"do": "reply", "set": {"usage.prompt_tokens": 4096}}],
        [("chat", body("chat", text=LONG * 4))],
        [200],
        lambda got: got[0].json["usage"]["prompt_tokens"] == 4096,
    ),
    "P34 a refusal that a rival's words bring about": (
        [{"contains": "FORBIDDEN", "do": "reply", "kind": "refused"}],
        [RIVAL, RIVAL, MESSAGES],
        [200] * 3,
        lambda got: [one.stop("messages") for one in got] == ["refusal", "refusal", "end_turn"],
    ),
    "P35 a content filter in the middle of a stream": (
        [{"do": "respond", "status": 200, "body": STREAM, "content_type": "text/event-stream"}],
        [CHAT],
        [200],
        lambda got: (got[0].raw.decode(), got[0].headers["Content-Type"]) == (STREAM, "text/event-stream"),
    ),
    "P37 a paused turn": (
        [{"do": "reply", "kind": "pause", "text": "checking..."}],
        [MESSAGES],
        [200],
        lambda got: (got[0].text("messages"), got[0].stop("messages")) == ("checking...", "pause_turn"),
    ),
    "P38 reasoning that used the whole cap": (
        [{"do": "reply", "kind": "reasoning-only"}],
        [("chat", body("chat", max_tokens=200))],
        [200],
        lambda got: (
            (got[0].text("chat"), got[0].stop("chat")) == ("", "length")
            and got[0].json["usage"]["completion_tokens"] == 200
            and got[0].json["usage"]["completion_tokens_details"]["reasoning_tokens"] == 200
        ),
    ),
    "P40 content as parts": (
        [{"do": "reply", "kind": "parts", "text": '{"bid":7}'}],
        [CHAT],
        [200],
        lambda got: (
            [part["type"] for part in got[0].json["choices"][0]["message"]["content"]] == ["thinking", "text"]
            and got[0].json["choices"][0]["message"]["content"][1]["text"] == '{"bid":7}'
        ),
    ),
    "P41 unknown fields around a good answer": (
        [{"do": "reply", "set": STRANGE, "text": '{"bid":7}'}],
        [CHAT],
        [200],
        lambda got: (
            got[0].json["service_tier"] == "turbo"
            and got[0].json["choices"][0]["native_finish_reason"] is None
            and got[0].json["choices"][0]["message"]["role"] == "model"
            and got[0].text("chat") == '{"bid":7}'
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_reported_behaviour_can_be_shown(case: str) -> None:
    rules, questions, statuses, holds = CASES[case]

    async def use(client: Client) -> list[Got]:
        return [await client.ask(wire, sent) for wire, sent in questions]

    got = with_server(scripted(*rules), use)
    assert [one.status for one in got] == statuses
    assert holds(got)


def test_p01_p02_calls_before_the_announced_date_are_refused_again() -> None:
    options = scripted({"nth": 1, "do": "respond", "status": 429, "retry_after": "date+500ms", "hold": True})

    async def use(client: Client) -> list[int]:
        first = await client.ask("chat")
        early = await client.ask("chat")
        date = email.utils.parsedate_to_datetime(first.headers["Retry-After"]).timestamp()
        assert date == math.ceil(STARTED + 0.5)
        await asyncio.sleep(date - clock() - 0.1)
        late = await client.ask("chat")
        await asyncio.sleep(0.2)
        return [first.status, early.status, late.status, (await client.ask("chat")).status]

    assert with_server(options, use) == [429, 429, 429, 200]


def test_p16_a_body_that_drips_for_longer_than_a_client_waits() -> None:
    async def use(client: Client) -> float:
        with pytest.raises(TimeoutError):
            await client.ask("chat", seconds=3)
        return now()

    assert with_server(scripted({"do": "drip", "interval": "200ms", "lasting": "10m"}), use) == pytest.approx(3)


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
                sent = body("chat", model=f"seat-{n}")
                return (await client.ask("chat", sent, seconds=0.3 if n == 3 else 5)).status == 200
            except TimeoutError:
                return False

        return await asyncio.gather(*map(seat, range(4)))

    assert with_server(scripted({"model": "seat-3", "do": "hang"}), use) == [True, True, True, False]


def test_o32_latencies_turned_round_between_two_runs_change_no_answer() -> None:
    def run(*delays: str) -> list[bytes]:
        async def use(client: Client) -> list[Got]:
            return await asyncio.gather(*(client.ask(*closed(f"seat-{n}")) for n in range(3)))

        rules = [{"model": f"seat-{n}", "do": "reply", "delay": delay} for n, delay in enumerate(delays)]
        return [got.raw for got in with_server(scripted(*rules), use)]

    assert run("0", "50ms", "100ms") == run("100ms", "50ms", "0")


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
    """The storm of a bad afternoon: 30 % of tries fail, and a client that tries again gets through."""

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
