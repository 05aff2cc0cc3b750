"""The server as a whole: what it counts, logs and forgets, and where it listens."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from typing import Any

import aiohttp
import pytest

from tests.harness.providers.mock_server.asking import BIDS, WIRES, Client, body, planned, until, with_server
from tests.jumping_time import jumping, now
from weigh.harness.providers.mock_server import CannotListen, MockServer, Options, Plan
from weigh.harness.providers.mock_server.counters import OTHER, RecentTally, Tally
from weigh.harness.providers.mock_server.rules import Cut, Hang, Limit, Reply, Respond


def test_requests_are_counted_by_wire_model_tag_rule_and_outcome() -> None:
    async def use(client: Client) -> dict[str, Any]:
        for wire in WIRES:
            await client.ask(wire, body(wire, model=f"model-{wire}"))
        await client.ask("chat", tag="seat-1")
        await client.ask("messages", tag="seat-1")
        await client.post("/v1/chat/completions", ["no object"])
        found: dict[str, Any] = (await client.get("/stats")).json
        assert found == {**client.server.stats(), "connections": 0}
        return found

    stats = with_server(planned(Respond(status=503, name="down", wire="responses")), use)
    assert stats["requests"] == 6
    assert stats["by_wire"] == {"chat": 3, "responses": 1, "messages": 2}
    assert stats["by_model"] == {
        "model-chat": 1,
        "model-responses": 1,
        "model-messages": 1,
        "mock-small": 2,
        "(unreadable)": 1,
    }
    assert stats["by_tag"] == {"seat-1": 2}
    assert stats["by_rule"] == {"down": 1}
    assert stats["sent"] == {"200": 4, "503": 1, "400": 1}
    assert (stats["in_flight"], stats["most_in_flight"]) == (0, 1)


def test_requests_in_flight_are_counted_while_they_are() -> None:
    async def use(client: Client) -> None:
        server = client.server
        asked = [asyncio.create_task(client.ask("chat", body("chat", text=f"{n}"))) for n in range(20)]
        await until(lambda: server.stats()["in_flight"] == 20)
        assert server.stats()["connections"] == 20
        await asyncio.gather(*asked)
        assert server.stats()["in_flight"] == 0
        assert server.stats()["most_in_flight"] == 20
        assert server.stats()["sent"] == {"200": 20}

    with_server(Options(latency="500ms"), use)


def test_no_request_waits_for_another_with_400_in_flight() -> None:
    async def use(client: Client) -> tuple[float, int]:
        numbers = iter(range(800))

        async def slot() -> None:
            for n in numbers:
                assert (await client.ask("chat", body("chat", text=f"{n} {BIDS}"), seconds=999)).status == 200

        await asyncio.gather(*(slot() for _ in range(400)))
        return now(), client.server.stats()["most_in_flight"]

    assert with_server(Options(latency="200s"), use) == (pytest.approx(2 * 200), 400)


@pytest.mark.parametrize("wire", WIRES)
def test_token_totals_are_what_the_responses_said(wire: str) -> None:
    effort: dict[str, Any] = {
        "chat": {"reasoning_effort": "low"},
        "responses": {"reasoning": {"effort": "low"}},
        "messages": {"thinking": {"type": "adaptive"}},
    }[wire]

    async def use(client: Client) -> tuple[dict[str, int], list[Any]]:
        got = [await client.ask(wire, body(wire, text=f"turn {n}", **effort)) for n in range(4)]
        return client.server.stats()["tokens"], [one.json["usage"] for one in got]

    tokens, usages = with_server(None, use)
    spent = [usage.get("completion_tokens", usage.get("output_tokens")) for usage in usages]
    asked = [usage.get("prompt_tokens", usage.get("input_tokens")) for usage in usages]
    assert (tokens["output"], tokens["input"]) == (sum(spent), sum(asked))
    assert 0 < tokens["reasoning"] < tokens["output"]


def test_usage_that_was_changed_or_left_out_is_counted_as_it_was_told() -> None:
    rules = (
        Reply(set={"usage.prompt_tokens": 4096}, nth=1),
        Reply(drop=("usage",), nth=2),
    )

    async def use(client: Client) -> int:
        await client.ask("chat")
        await client.ask("chat")
        tokens: int = client.server.stats()["tokens"]["input"]
        return tokens

    assert with_server(planned(*rules), use) == 4096


def test_a_request_answered_twice_is_noticed_and_a_retry_after_a_failure_is_not() -> None:
    async def use(client: Client) -> list[int]:
        found = []
        for text in ("a", "a", "b", "a"):  # the first fails
            await client.ask("chat", body("chat", text=text))
            found.append(client.server.stats()["answered_again"])
        return found

    assert with_server(planned(Respond(status=500, nth=1)), use) == [0, 0, 0, 1]


def test_the_log_keeps_the_last_requests_without_headers() -> None:
    async def use(client: Client) -> list[Any]:
        for n in range(5):
            await client.ask("chat", body("chat", text=f"turn {n}"), tag="t")
        log: list[Any] = (await client.get("/log")).json
        assert log == list(client.server.log())
        return log

    log = with_server(planned(Respond(status=500, nth=5, name="last"), log_size=2), use)
    assert log == [
        {
            "wire": "chat",
            "model": "mock-small",
            "tag": "t",
            "rule": None,
            "sent": "200",
            "body": body("chat", text="turn 3"),
        },
        {
            "wire": "chat",
            "model": "mock-small",
            "tag": "t",
            "rule": "last",
            "sent": "500",
            "body": body("chat", text="turn 4"),
        },
    ]
    assert with_server(None, lambda client: client.get("/log")).json == []


def test_names_without_end_do_not_grow_the_server() -> None:
    async def use(client: Client) -> dict[str, int]:
        for start in range(0, 1100, 50):
            names = range(start, start + 50)
            await asyncio.gather(*(client.ask("chat", body("chat", model=f"model-{n}")) for n in names))
        counts: dict[str, int] = client.server.stats()["by_model"]
        return counts

    counts = with_server(None, use)
    assert (len(counts), counts["(other)"], sum(counts.values())) == (1001, 100, 1100)


def test_a_reset_starts_statistics_and_plan_over() -> None:
    async def use(client: Client) -> list[int]:
        statuses = [(await client.ask("chat")).status for _ in range(2)]
        assert (await client.post("/reset")).status == 200
        assert client.server.stats()["requests"] == 0
        statuses += [(await client.ask("chat")).status for _ in range(2)]
        return statuses

    assert with_server(planned(Respond(status=503, nth=1)), use) == [503, 200, 503, 200]


def test_another_plan_can_be_followed_while_running() -> None:
    async def use(client: Client) -> list[int]:
        statuses = [(await client.ask("chat")).status]
        assert (await client.post("/plan", {"rules": [{"do": "respond", "status": 529}]})).status == 200
        statuses.append((await client.ask("chat")).status)
        client.server.follow(Plan())
        statuses.append((await client.ask("chat")).status)
        wrong = await client.post("/plan", {"rules": [{"do": "respond", "stauts": 529}]})
        assert (wrong.status, "did you mean 'status'" in wrong.json["error"]["message"]) == (400, True)
        return statuses

    assert with_server(None, use) == [200, 529, 200]


def test_an_outage_of_one_provider_leaves_the_other_alone() -> None:
    async def use(client: Client) -> list[int]:
        return [(await client.ask(wire)).status for wire in WIRES]

    assert with_server(planned(Respond(status=529, wire="messages")), use) == [200, 200, 529]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"model": NaN}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_a_bad_request_on_every_wire(raw: bytes) -> None:
    async def use(client: Client) -> list[tuple[int, str]]:
        found = []
        for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
            async with client.session.post(client.server.addresses.url + path, data=raw) as response:
                found.append((response.status, json.loads(await response.read())["error"]["type"]))
        return found

    assert with_server(None, use) == [(400, "invalid_request_error")] * 3


def test_a_request_without_a_model_or_with_strange_messages_is_a_bad_request() -> None:
    async def use(client: Client) -> list[str]:
        wrong: list[dict[str, Any]] = [
            {"messages": [{"role": "user", "content": "x"}]},
            {"model": "m"},
            {"model": "m", "messages": [3]},
            {"model": "m", "messages": [{"role": "wizard", "content": "x"}]},
            {"model": "m", "messages": [{"role": "user", "content": 3}]},
            {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": "many"},
            {"model": "m", "messages": [{"role": "user", "content": "x"}], "response_format": "json"},
        ]
        got = [await client.ask("chat", sent) for sent in wrong]
        assert {one.status for one in got} == {400}
        return [one.json["error"]["param"] for one in got]

    assert with_server(None, use) == [
        "model",
        "messages",
        "messages",
        "messages",
        "messages[0].content",
        "max_tokens",
        "response_format",
    ]


def test_a_body_that_is_too_large_is_refused_in_the_words_of_the_api() -> None:
    async def use(client: Client) -> tuple[int, Any]:
        data = io.BytesIO(b'{"model": "' + b"x" * (33 * 1024**2))
        async with client.session.post(client.server.anthropic_url + "/v1/messages", data=data) as response:
            return response.status, json.loads(await response.read())["error"]["type"]

    assert with_server(None, use) == (413, "request_too_large")


def test_unknown_addresses_are_not_found_in_json() -> None:
    async def use(client: Client) -> None:
        for path in ("/v1/completions", "/", "/v1/messages"):
            got = await client.get(path)
            assert (got.status, got.json["error"]["type"]) == (404, "invalid_request_error")
            assert f"GET {path}" in got.json["error"]["message"]
        got = await client.get("/nowhere", headers={"anthropic-version": "2023-06-01"})
        assert (got.status, got.json["error"]["type"]) == (404, "not_found_error")
        assert (await client.get("/health")).json == {"status": "ok"}

    with_server(None, use)


def test_it_listens_on_this_machine_only_unless_asked() -> None:
    async def use(client: Client) -> str:
        return client.server.addresses.host

    assert with_server(None, use) == "127.0.0.1"
    assert Options().host == "127.0.0.1"


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def run() -> None:
            async with MockServer(Options(port=port)):
                pass

        with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1 port {port}: ") as caught:
            asyncio.run(run())
        assert "\n" not in str(caught.value)


def test_the_addresses_fit_the_sdks() -> None:
    async def use(client: Client) -> None:
        server = client.server
        root = f"http://127.0.0.1:{server.addresses.port}"
        assert (server.openai_url, server.anthropic_url) == (f"{root}/v1", root)
        assert server.addresses.openai_url("a") == f"{root}/tag/a/v1"
        assert server.addresses.anthropic_url("a") == f"{root}/tag/a"

    with_server(None, use)
    with pytest.raises(RuntimeError, match="has not been started"):
        _ = MockServer().addresses


def test_stopping_does_not_wait_for_what_hangs() -> None:
    async def run() -> float:
        async with aiohttp.ClientSession() as session:
            async with MockServer(planned(Hang())) as server:
                asked = asyncio.create_task(Client(session, server).ask("chat"))
                await until(lambda: server.stats()["in_flight"] == 1)
                started = now()
            took = now() - started
            with pytest.raises(aiohttp.ClientError):
                await asked
            return took

    assert jumping(run()) < 1


def test_whatever_happens_every_request_has_one_outcome() -> None:
    rules = (
        Cut(share=0.2),
        Respond(status=429, retry_after="1s", share=0.2),
        Hang(share=0.2, name="hang"),
        Limit(in_flight=5),
    )

    async def use(client: Client) -> dict[str, Any]:
        server = client.server
        asked = [asyncio.create_task(client.ask("chat", body("chat", text=str(n)), seconds=60)) for n in range(100)]
        # Until only those are left that hang.
        await until(lambda: server.stats()["requests"] == 100, 30)
        await until(lambda: server.stats()["in_flight"] == server.stats()["by_rule"]["hang"], 30)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        await until(lambda: server.stats()["in_flight"] == 0)
        return server.stats()

    stats = with_server(planned(*rules, faults="refused=0.2", latency="20ms"), use)
    assert stats["requests"] == sum(stats["sent"].values()) == 100
    assert set(stats["sent"]) == {"200", "429", "cut", "gone"}


def test_a_recent_tally_forgets_what_was_counted_longest_ago() -> None:
    tally = RecentTally(most=2)
    assert [tally.add(key) for key in "aabacb"] == [1, 2, 1, 3, 1, 1]  # c drives out b, then b drives out a
    assert tally.add("c") == 2
    assert tally.add("a") == 1


def test_a_named_tally_counts_names_beyond_its_bound_together() -> None:
    tally = Tally()
    for name in ("a", "b", "c", "d", "a"):
        tally.add(name, most=2)
    tally.add("c", 5, most=2)
    assert tally == {"a": 2, "b": 1, OTHER: 7}
