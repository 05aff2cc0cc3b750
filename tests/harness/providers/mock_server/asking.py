"""Asking the mock server: request bodies for the three APIs, and what came back, kept simple."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp

from tests.jumping_time import jumping, now
from weigh.harness.providers.mock_server import MockServer, Options, Plan
from weigh.harness.providers.mock_server.exchange import Call
from weigh.harness.providers.mock_server.rules import Rule
from weigh.harness.providers.mock_server.wire import APIS

BIDS = 'Your legal bids: 1, 2, 5, 9.\nEnd with an answer such as {"bid": 2}'
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
WIRES = tuple(PATHS)

STARTED = 1_767_225_600.25
"""The beginning of a test by the server's clock: seconds since 1970, not a whole number."""

T = TypeVar("T")


def body(wire: str, text: str = BIDS, model: str = "mock-small", **more: Any) -> dict[str, Any]:
    """A request with one user turn."""
    turn = [{"role": "user", "content": text}]
    if wire == "responses":
        return {"model": model, "input": turn, **more}
    return {"model": model, "messages": turn, **({"max_tokens": 1024} if wire == "messages" else {}), **more}


def call(wire: str = "chat", sent: Mapping[str, Any] | None = None, **more: Any) -> Call:
    """A request with one user turn, or what was sent, as the server reads it."""
    api = next(api for api in APIS if api.wire == wire)
    return api.read(json.dumps(sent or body(wire, **more)).encode())


def conversation(wire: str, *turns: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A request with these (role, text) turns."""
    said = [{"role": role, "content": text} for role, text in turns]
    asked = body(wire, **more)
    return {**asked, ("input" if wire == "responses" else "messages"): said}


@dataclass(frozen=True)
class Got:
    """One response, read whole."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    def text(self, wire: str) -> str | None:
        """The visible answer, or None where there is none."""
        found = self.json
        if wire == "chat":
            content: str | None = found["choices"][0]["message"]["content"]
            return content
        blocks = found["content"] if wire == "messages" else _message(found)
        texts = [block["text"] for block in blocks if block["type"] in ("text", "output_text")]
        return "".join(texts) if texts else None

    def stop(self, wire: str) -> str:
        """The API's own word for why it stopped."""
        found = self.json
        if wire == "chat":
            return str(found["choices"][0]["finish_reason"])
        if wire == "messages":
            return str(found["stop_reason"])
        details = found["incomplete_details"]
        return str(details["reason"] if details else found["status"])


def _message(found: Mapping[str, Any]) -> list[Any]:
    return [part for item in found["output"] if item["type"] == "message" for part in item["content"]]


class Client:
    """A raw client of one server."""

    def __init__(self, session: aiohttp.ClientSession, server: MockServer) -> None:
        self.session = session
        self.server = server

    async def ask(self, wire: str, asked: Mapping[str, Any] | None = None, *, tag: str = "", seconds: float = 5) -> Got:
        """POST one request and read the response whole, within `seconds`."""
        url = self.server.addresses.anthropic_url(tag) + PATHS[wire]
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self.session.post(url, json=body(wire) if asked is None else asked, timeout=timeout) as response:
            return Got(response.status, response.headers, await response.read())

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Got:
        async with self.session.get(self.server.addresses.url + path, headers=headers) as response:
            return Got(response.status, response.headers, await response.read())

    async def post(self, path: str, sent: object = None) -> Got:
        async with self.session.post(self.server.addresses.url + path, json=sent) as response:
            return Got(response.status, response.headers, await response.read())


def with_server(options: Options | None, use: Callable[[Client], Awaitable[T]]) -> T:
    """Run `use` with a client of a fresh server, from a plain test. The clock jumps: see `tests.jumping_time`."""

    async def run() -> T:
        async with (
            MockServer(options, clock) as server,
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        ):
            return await use(Client(session, server))

    return jumping(run())


def clock() -> float:
    """The moment of a test: seconds since 1970."""
    return STARTED + now()


def planned(*rules: Rule, **more: Any) -> Options:
    """Options with a fault plan."""
    return Options(plan=Plan(rules=rules), **more)


def once(rule: Rule, wire: str = "chat") -> Got:
    """The response to one request under a plan with this rule."""
    return with_server(planned(rule), lambda client: client.ask(wire))


async def until(true: Callable[[], bool], seconds: float = 2.0) -> None:
    """Wait until something that happens on another task is so."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.005)
