"""Whose time it was: a policy is charged for silence only where the request was sent, no error came, and the time was
its provider's. Over real connections."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.harness.providers.raw_server import RawServer, Write, asking, chat, client_at, http, request, serving
from tests.harness.run.scripted_client import Book, ScriptedClient
from tests.harness.run.seat_lines import seat_line
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.lag import FEW, Lag
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.opening import open_exchanges
from weigh.policies.contract import Completion, DecisionTimedOut, Fatal, Outage, Request

each_sender = pytest.mark.parametrize("wire", ["openai-chat", "anthropic lean"])
"""Through an SDK, and without one: the wire shapes have no part in it."""


async def ended(client: Any, seconds: float = 0.3, lag: Lag | None = None, book: Book | None = None) -> object:
    """What a decision of that many seconds comes to."""
    line = seat_line(Exchange(client, Slots(8), lambda usage, served_by: 0.0, seconds, 1, lag or Lag()), book or Book())
    try:
        return await line.complete(request())
    except (DecisionTimedOut, Outage, Fatal) as failure:
        return failure


def stalled(status: int) -> Write:
    """The head of an answer, and no body."""

    async def write(writer: asyncio.StreamWriter) -> None:
        head = "Content-Type: application/json\r\nContent-Length: 99\r\n"
        writer.write(f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode())
        await writer.drain()
        await asyncio.sleep(30)

    return write


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


@each_sender
@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (silence, DecisionTimedOut, "no answer within"),
        (stalled(200), DecisionTimedOut, "no answer within"),
        (stalled(503), Outage, "status 503"),
        (stalled(500), Outage, "status 500"),
        (stalled(429), Outage, "status 429"),
        (stalled(401), Fatal, "status 401"),
    ],
    ids=["silence", "200", "503", "500", "429", "401"],
)
def test_silence_is_charged_and_an_error_status_before_it_is_not(
    wire: str, answer: Write, kind: type[Exception], said: str
) -> None:
    async def ask() -> object:
        async with asking(answer, wire=wire) as (client, _):
            return await ended(client)

    found = asyncio.run(ask())
    assert type(found) is kind
    assert said in str(found)


@each_sender
def test_the_body_of_an_error_is_not_waited_for_with_the_whole_decision(
    wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weigh.harness.providers.senders.ERROR_SECONDS", 0.05)

    async def ask() -> tuple[object, int]:
        async with asking(stalled(503), http(chat()), wire=wire) as (client, raw):
            found = await ended(client, 30.0)
            return found, len(raw.received)

    found, requests = asyncio.run(ask())
    assert requests == 1
    assert type(found) is Outage  # its one try: at once, and not after 30 s


@each_sender
def test_no_connection_within_the_decision_is_no_fault(wire: str) -> None:
    """A server that takes the connection and never answers the TLS handshake."""

    async def ask() -> tuple[object, list[str]]:
        async with serving(silence) as raw:
            client, book = client_at(raw.url.replace("http://", "https://"), wire), Book()
            try:
                return await ended(client, 0.3, book=book), [call.billing for call in book.calls]
            finally:
                await client.aclose()

    found, billing = asyncio.run(ask())
    assert type(found) is Outage
    assert "no connection within" in str(found)
    assert billing == ["none"]


# -- our own saturation --------------------------------------------------------------------------------------------


async def blocked(seconds: float, times: int = 1) -> None:
    """Keep the loop from everything else, as a computation does."""
    for _ in range(times):
        await asyncio.sleep(0.02)
        time.sleep(seconds)  # noqa: ASYNC251


@each_sender
def test_an_answer_that_lay_here_unread_is_not_charged_and_the_lag_is_kept_apart(wire: str) -> None:
    async def ask() -> tuple[object, Book]:
        async def late(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.1)
            writer.write(http(chat()) if "chat" in wire else http({"error": {"message": "no"}}, 401))
            await writer.drain()

        lag, book = Lag(), Book()
        lag.start()
        async with asking(late, wire=wire) as (client, _):
            busy = asyncio.create_task(blocked(0.5))
            found = await ended(client, 0.3, lag, book)
            await busy
        lag.stop()
        return found, book

    found, book = asyncio.run(ask())
    assert isinstance(found, Completion | Fatal), found
    (call,) = book.calls
    assert call.lag


def test_a_server_that_is_slow_is_charged_however_late_this_process_is() -> None:
    async def ask() -> tuple[object, Book]:
        async def never(asked: Request) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

        lag, book = Lag(), Book()
        lag.start()
        busy = asyncio.create_task(blocked(0.1, 3))
        found = await ended(ScriptedClient(never), 0.2, lag, book)
        await busy
        lag.stop()
        return found, book

    found, book = asyncio.run(ask())
    assert type(found) is DecisionTimedOut
    assert book.calls[0].lag


def test_no_further_call_leaves_while_this_process_is_late_and_it_is_told_at_the_end() -> None:
    async def crowd() -> tuple[int, Lag]:
        lag = Lag()
        lag.start()
        gate = asyncio.Event()

        async def held(asked: Request) -> Completion:
            await gate.wait()
            return Completion("{}", "end")

        client = ScriptedClient(held)
        shared = Exchange(client, Slots(100, start=100), lambda usage, served_by: 0.0, 30.0, 1, lag)
        first = [asyncio.create_task(seat_line(shared, Book(), seat).complete(request())) for seat in range(FEW)]
        await blocked(0.3, 2)
        more = [asyncio.create_task(seat_line(shared, Book(), seat).complete(request())) for seat in range(50)]
        await asyncio.sleep(0.02)
        out = client.in_flight
        told = str(lag)
        assert "CPU-bound" in told
        gate.set()
        await asyncio.gather(*first, *more)
        lag.stop()
        assert lag.out == 0
        return out, lag

    out, _ = asyncio.run(crowd())
    assert out == FEW


def test_a_process_that_keeps_up_says_nothing() -> None:
    assert str(Lag()) == ""


# -- a model that is loaded by its first call ----------------------------------------------------------------------


@pytest.mark.parametrize(("provider", "kind", "requests"), [("ollama", Completion, 2), ("own", DecisionTimedOut, 1)])
def test_the_time_that_a_local_model_takes_to_load_is_no_decisions(
    provider: str, kind: type[object], requests: int
) -> None:
    async def loading(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.6)
        writer.write(http(chat()))
        await writer.drain()

    async def ask() -> tuple[object, RawServer, Book]:
        book = Book()
        async with serving(loading, http(chat())) as raw:
            model = f"{provider}:m"
            endpoint = endpoint_for(model, {provider: {"base_url": f"{raw.url}/v1"}})
            async with open_exchanges({model: endpoint}, 0.3) as exchanges:
                line = seat_line(exchanges[model], book)
                try:
                    found: object = await line.complete(request())
                except DecisionTimedOut as late:
                    found = late
            return found, raw, book

    found, raw, book = asyncio.run(ask())
    assert isinstance(found, kind)
    assert len(raw.received) == requests
    assert len(book.calls) == 1
    assert raw.received[0].body["max_tokens"] == (1 if requests == 2 else 1024)
