"""Connections refused, reset, silent, dripping, behind proxies, over real HTTP with every sender; none is left open."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from tests.harness.providers.raw_server import (
    WIRES,
    answer_for,
    asking,
    chat,
    client_at,
    failure,
    http,
    request,
    serving,
)
from weigh.harness.providers.errors.failures import CallFailed

each_wire = pytest.mark.parametrize("wire", WIRES)


@each_wire
def test_P13_a_reset_in_the_middle_of_the_body_is_a_passing_failure_of_unknown_cost(wire: str) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n" + b"{" + b" " * 39
        )
        await writer.drain()
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    failed = failure(reset, wire=wire)
    assert (failed.decision, failed.billing, failed.limited) == ("wait", "unknown", False)
    assert "cut off before the answer was complete" in failed.cause


@each_wire
def test_P13_a_body_that_ends_early_is_a_passing_failure_of_unknown_cost(wire: str) -> None:
    async def close(writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n" + b"{" + b" " * 39
        )
        await writer.drain()
        writer.close()

    failed = failure(close, wire=wire)
    assert (failed.decision, failed.billing) == ("wait", "unknown")


@each_wire
def test_P13_a_server_that_hangs_up_without_an_answer(wire: str) -> None:
    async def hang_up(writer: asyncio.StreamWriter) -> None:
        writer.close()

    failed = failure(hang_up, wire=wire)
    assert (failed.decision, failed.billing) == ("wait", "unknown")
    assert "hung up" in failed.cause


@each_wire
def test_P16_a_dripping_body_is_ended_by_the_callers_clock_and_its_connection_closed(wire: str) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def ask() -> int:
        async with asking(drip, wire=wire) as (client, raw):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await client.complete(request())
            return await raw.emptied()

    assert asyncio.run(ask()) == 0


@each_wire
def test_P17_P19_silent_servers_are_left_at_once_and_no_socket_stays_open(wire: str) -> None:
    async def silence(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async def ask() -> tuple[int, int]:
        async with asking(silence, wire=wire, concurrency=50) as (client, raw):
            calls = [asyncio.create_task(client.complete(request())) for _ in range(50)]
            await raw.reached(50)
            opened = raw.open_sockets
            for call in calls:
                call.cancel()  # as a time-out does
            await asyncio.gather(*calls, return_exceptions=True)
            return opened, await raw.emptied()

    assert asyncio.run(ask()) == (50, 0)


def test_P17_after_a_timeout_the_next_call_uses_a_fresh_connection() -> None:
    async def silence(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async def ask() -> str:
        async with asking(silence, http(chat()), concurrency=1) as (client, _):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await client.complete(request())
            return (await client.complete(request())).text

    assert asyncio.run(ask()) == '{"bid": 7}'


@each_wire
def test_P44_a_dead_endpoint_is_named_with_its_address_and_was_not_charged(wire: str) -> None:
    async def ask() -> CallFailed:
        async with serving() as raw:
            url = raw.url
        client = client_at(url, wire)
        try:
            with pytest.raises(CallFailed) as caught:
                await client.complete(request())
            return caught.value
        finally:
            await client.aclose()

    failed = asyncio.run(ask())
    assert (failed.decision, failed.billing, failed.status) == ("wait", "none", None)
    assert "nothing listens there; is the server running? (ConnectionRefusedError" in failed.cause
    assert "at http://127.0.0.1:" in failed.cause


@each_wire
def test_P46_a_proxy_is_never_asked_about_servers_on_this_machine(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> str:
        async with serving() as dead, asking(answer_for(wire), wire=wire) as (client, _):
            assert dead.open_sockets == 0
            return (await client.complete(request())).text

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert asyncio.run(ask()) == '{"bid": 7}'


def test_P46_a_failed_connection_through_a_proxy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from weigh.harness.providers.client import client_for
    from weigh.harness.providers.endpoints.endpoints import endpoint_for

    proxy = "http://127.0.0.1:9"
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    async def ask() -> CallFailed:
        endpoint = endpoint_for("vllm:m", {"vllm": {"base_url": "http://models.invalid:8000/v1"}})
        client = client_for(endpoint, {"HTTP_PROXY": proxy})
        try:
            with pytest.raises(CallFailed) as caught:
                await client.complete(request())
            return caught.value
        finally:
            await client.aclose()

    failed = asyncio.run(ask())
    assert failed.decision == "wait"
    assert "through the proxy http://127.0.0.1:9; if it is in the way, name the host in NO_PROXY" in failed.cause


def test_speaking_https_to_a_plain_server_names_the_fix() -> None:
    def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def ask() -> CallFailed:
        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
            client = client_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            try:
                with pytest.raises(CallFailed) as caught:
                    await client.complete(request())
                return caught.value
            finally:
                await client.aclose()

    failed = asyncio.run(ask())
    assert failed.decision == "fatal"
    assert "write http://" in failed.cause


@each_wire
def test_a_server_that_speaks_no_http(wire: str) -> None:
    async def nonsense(writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 smtp ready\r\n\r\n")
        await writer.drain()
        writer.close()

    failed = failure(nonsense, wire=wire)
    assert failed.decision == "wait"
