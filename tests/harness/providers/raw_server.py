"""A server that answers with exactly the bytes a test gives it, and counts what reaches it. Speaks HTTP only as far as
reading a request; everything it sends is the test's own.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from weigh.harness.providers.client import ProviderClient, client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.failures import CallFailed
from weigh.policies.contract import Message, Request, Sampling

KEY = "sk-test-3f9c1d7be2a04c55"
ENVIRON = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
WIRES = ("openai-chat", "openai-responses", "anthropic", "openai-chat lean", "anthropic lean")
"""Every wire shape over the SDK, and lean for each SDK."""

Write = Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]
    header_names: list[str]
    """Lower-case, in the order in which they came, doubles included."""
    body: Any


@dataclass
class RawServer:
    """Answers the nth request with the nth answer, and all further ones with the last."""

    answers: tuple[bytes | Write, ...]
    received: list[Received] = field(default_factory=list)
    open_sockets: int = 0
    url: str = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_sockets += 1
        read_ahead = b""
        try:
            while True:
                head = read_ahead + await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode().split("\r\n")
                pairs = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines if line)]
                headers = dict(pairs)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.received.append(
                    Received(first.split()[1], headers, [name for name, _ in pairs], json.loads(body) if body else None)
                )
                answer = self.answers[min(len(self.received), len(self.answers)) - 1]
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                    read_ahead = b""
                else:
                    read_ahead = await _until_hung_up(answer(writer), reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open_sockets -= 1
            writer.close()

    async def reached(self, requests: int, seconds: float = 10.0) -> None:
        """Wait until so many requests have come in."""
        for _ in range(int(seconds / 0.01)):
            if len(self.received) >= requests:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{len(self.received)} requests of {requests} within {seconds:g} s")

    async def emptied(self, seconds: float = 2.0) -> int:
        """How many sockets are still open once the clients had a moment to close theirs."""
        for _ in range(int(seconds / 0.01)):
            if not self.open_sockets:
                break
            await asyncio.sleep(0.01)
        return self.open_sockets


async def _until_hung_up(answering: Coroutine[Any, Any, None], reader: asyncio.StreamReader) -> bytes:
    """Run an answer to its end, or until the client hangs up. Returns what the client sent meanwhile."""
    answer, sent = asyncio.create_task(answering), asyncio.create_task(reader.read(1))
    try:
        await asyncio.wait((answer, sent), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            answer.result()
            sent.cancel()
            await asyncio.wait((sent,))
        if not sent.cancelled() and not sent.result():
            raise ConnectionResetError("the client hung up")
        await answer
        return b"" if sent.cancelled() else sent.result()
    finally:
        answer.cancel()
        sent.cancel()


@asynccontextmanager
async def serving(*answers: bytes | Write) -> AsyncIterator[RawServer]:
    """A running server on a free port of this machine."""
    raw = RawServer(answers)
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(raw.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    raw.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield raw
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def client_at(url: str, wire: str = "openai-chat", model: str | None = None, **settings: Any) -> ProviderClient:
    """A client of the real SDK for `wire`, pointed at `url`."""
    shape, _, lean = wire.partition(" ")
    provider = "anthropic" if shape == "anthropic" else "openai"
    base_url = url if shape == "anthropic" else f"{url}/v1"
    table = {provider: {"wire": shape, "transport": lean or "sdk", "base_url": base_url, **settings}}
    return client_for(endpoint_for(f"{provider}:{model or 'some-model'}", table), ENVIRON)


@asynccontextmanager
async def asking(
    *answers: bytes | Write, wire: str = "openai-chat", model: str | None = None, **settings: Any
) -> AsyncIterator[tuple[ProviderClient, RawServer]]:
    """A client and the server it talks to; both closed at the end."""
    async with serving(*answers) as raw:
        client = client_at(raw.url, wire, model, **settings)
        try:
            yield client, raw
        finally:
            await client.aclose()


def request(text: str = "Bid.", *, schema: Mapping[str, Any] | None = None, **sampling: Any) -> Request:
    return Request(
        "openai:some-model", (Message("system", "Rules."), Message("user", text)), Sampling(**sampling), schema
    )


def http(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None, kind: str = "application/json"
) -> bytes:
    """An HTTP answer with a JSON body, or with text or bytes as they are."""
    content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    head = {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"HTTP/1.1 {status} Status\r\n{lines}\r\n".encode() + content


def zipped(body: object, missing: int = 0) -> bytes:
    """The same, gzipped, with the last `missing` bytes of the gzip stream left out."""
    content = gzip.compress(json.dumps(body).encode())
    return http(content[: len(content) - missing], headers={"Content-Encoding": "gzip"})


def chat(
    content: object = '{"bid": 7}', finish: str | None = "stop", usage: object = None, **more: Any
) -> dict[str, Any]:
    """A Chat Completions answer; `more` goes into the message."""
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110} if usage is None else usage
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **more}, "finish_reason": finish}
        ],
        "usage": counted,
    }


def responses(text: str = '{"bid": 7}', **more: Any) -> dict[str, Any]:
    """A Responses API answer."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    counted = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 110,
    }
    return {"id": "r", "status": "completed", "model": "served-model", "output": [said], "usage": counted, **more}


def message(content: object = None, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    """A Messages API answer."""
    blocks = [{"type": "text", "text": '{"bid": 7}'}] if content is None else content
    counted = {
        "input_tokens": 50,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 10,
        "output_tokens": 10,
    }
    return {"type": "message", "role": "assistant", "model": "served-model", "content": blocks, "stop_reason": stop,
            "usage": counted, **more}  # fmt: skip


def body_for(wire: str) -> dict[str, Any]:
    """The body of a plain good answer in each wire shape."""
    return {"openai-chat": chat, "openai-responses": responses, "anthropic": message}[wire.partition(" ")[0]]()


def answer_for(wire: str) -> bytes:
    """A plain good answer in each wire shape."""
    return http(body_for(wire))


def failure(*answers: bytes | Write, wire: str = "openai-chat", **settings: Any) -> CallFailed:
    """How one call ends that must fail, with exactly one request at the server."""

    async def ask() -> CallFailed:
        async with asking(*answers, wire=wire, **settings) as (client, raw):
            with pytest.raises(CallFailed) as caught:
                await client.complete(request())
            assert len(raw.received) == 1
            return caught.value

    failed = asyncio.run(ask())
    assert failed.__cause__ is None
    assert failed.__context__ is None
    assert "\n" not in failed.cause
    return failed
