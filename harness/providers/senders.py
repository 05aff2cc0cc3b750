"""Sending one request: through a provider's SDK, or lean, with the SDK's own headers on aiohttp alone.

Owns connections and headers. Every answer with any status is returned; what prevents an answer is raised as it is, and
understood in `harness.providers.errors.failures`. One request is one HTTP call: nothing is retried and no redirect
followed.

The lean sender costs a quarter of the processor time and keeps hundreds of calls in flight where the SDKs' requests
wait for each other; `benches/providers.py` measures both.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import urlencode

import aiohttp
import httpx2

from weigh.harness.providers.endpoints.endpoints import Endpoint, at_home, vertex_place
from weigh.harness.providers.errors.failures import PROGRESS, Progress

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex
    from openai import AsyncOpenAI

    Sdk: TypeAlias = AsyncOpenAI | AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex

CONNECT_TIMEOUT = 10.0
"""Seconds to open a connection. Reading has no limit of its own: the caller bounds the whole call, which a limit on
each read does not (a body may drip for ever)."""

KEEP_IDLE = 30.0
"""Seconds an idle connection is kept, for the next round."""
KEEP_IDLE_HERE = 4.0
"""The same for servers on this machine: uvicorn and llama.cpp hang up after 5 s, and a call sent into that is lost."""

Headers: TypeAlias = Mapping[str, Any]
"""Values by name; what is no text is the SDK's mark for a header that is left out."""

_SIGNED_WITH = {"bedrock": "botocore", "vertex": "google.auth"}
MOST_BYTES = 32 << 20
"""Of an answer, decompressed: ten times what the longest one holds. A page or a bomb of gigabytes stays on the wire."""
MOST_ERROR_BYTES = 1 << 20
"""Of the body of an error, the rest of which says nothing more."""
ERROR_SECONDS = 5.0
"""For the body of an error, whose status has said already what there is to say."""
MOST_FIELD_BYTES = 64 << 10
"""Of one header field: providers and proxies send some of tens of kilobytes."""

_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: Mapping[str, str]
    """Lower-case names."""
    content: bytes


class Sender(Protocol):
    """The way to one endpoint."""

    async def send(self, path: str, content: bytes) -> Answer:
        """POST a JSON body. Cancelling it closes the connection."""

    async def aclose(self) -> None:
        """Close every connection."""


class AnswerTooLong(Exception):
    """An answer of more than MOST_BYTES, which no model gives."""


class Line:
    """The connections to one endpoint, for both senders. For one event loop."""

    def __init__(self, endpoint: Endpoint, proxy: str | None) -> None:
        self._endpoint = endpoint
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, headers: Mapping[str, str], content: bytes) -> Answer:
        """Send it, and read what comes. How far that came is noted in `PROGRESS` as it happens.

        A status that is no success says what it says: its body is cut where it is too long or takes too long. Raises
        AnswerTooLong for any other, and what aiohttp raises.
        """
        if self._session is None:  # here, since it belongs to the running loop
            self._session = self._opened()
        progress = PROGRESS.get() or Progress()
        progress.sent = False
        async with self._session.post(
            url, data=content, headers=headers, allow_redirects=False, proxy=self._proxy, trace_request_ctx=progress
        ) as response:
            progress.status, progress.headers = response.status, _lowered(response.headers)
            body = bytearray()
            if 200 <= response.status < 300:
                await _read(response, body, MOST_BYTES)
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(ERROR_SECONDS):
                        await _read(response, body, MOST_ERROR_BYTES)
            if len(body) > MOST_BYTES:
                raise AnswerTooLong(f"more than {MOST_BYTES >> 20} MB")
            return Answer(response.status, progress.headers, bytes(body))

    def _opened(self) -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(_sent)
        return aiohttp.ClientSession(
            # As many connections as calls may be in flight, so that none waits for one.
            connector=aiohttp.TCPConnector(
                limit=self._endpoint.concurrency,
                keepalive_timeout=_keep_idle(self._endpoint),
                # Without TLS there is no certificate to check, and the trusted ones need not be loaded.
                ssl=httpx2.create_ssl_context() if self._endpoint.base_url.startswith("https:") else False,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
            max_line_size=MOST_FIELD_BYTES,
            max_field_size=MOST_FIELD_BYTES,
            trace_configs=[trace],
        )

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


async def _sent(session: aiohttp.ClientSession, context: SimpleNamespace, params: object) -> None:
    context.trace_request_ctx.sent = True


async def _read(response: aiohttp.ClientResponse, body: bytearray, most: int) -> None:
    """Into `body`, until it holds more than `most`; what was compressed counts as what it becomes."""
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > most:
            return


class SdkSender:
    """Sends through the SDK's client."""

    def __init__(self, sdk: Sdk, headers: Headers, *, rewrites: bool = False) -> None:
        """`rewrites`: the client moves parts of the body into the address, so it must be given an object."""
        self._sdk = sdk
        self._headers = {**headers, **_JSON}
        self._rewrites = rewrites

    async def send(self, path: str, content: bytes) -> Answer:
        sent: dict[str, Any] = {"body": json.loads(content)} if self._rewrites else {"content": content}
        try:
            response = await self._sdk.post(path, cast_to=httpx2.Response, options={"headers": self._headers}, **sent)
        except Exception as exc:
            # Both SDKs raise for an error status and hang the answer on the exception; their classes differ.
            raised = getattr(exc, "response", None)
            if not isinstance(raised, httpx2.Response):
                raise
            response = raised
        return Answer(response.status_code, _lowered(response.headers), response.content)

    async def aclose(self) -> None:
        await self._sdk.close()


class Transport(httpx2.AsyncBaseTransport):
    """A line as the SDKs use one."""

    def __init__(self, line: Line, *, signed: bool = False) -> None:
        """`signed`: the header fields are part of a signature, and go out as they are."""
        self._line = line
        self._left_out = {"host"} if signed else {"host", "accept-encoding"}  # the line says itself what it unpacks

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name not in self._left_out}
        answer = await self._line.post(str(request.url), headers, request.content)
        kept = {name: value for name, value in answer.headers.items() if name not in _OF_THE_BODY}
        return httpx2.Response(answer.status, headers=kept, content=answer.content, request=request)

    async def aclose(self) -> None:
        await self._line.aclose()


_OF_THE_BODY = frozenset(("content-encoding", "content-length", "transfer-encoding"))
"""Header fields that say how the body came, and not what it is."""


class LeanSender:
    """Sends on the line alone, under the headers that the SDK's client would send."""

    def __init__(self, sdk: Sdk, headers: Headers, endpoint: Endpoint, line: Line) -> None:
        self._sdk = sdk
        self._line = line
        self._base_url = endpoint.base_url
        self._query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
        given: dict[str, object] = {**sdk.default_headers, **sdk.auth_headers, **headers, **_JSON}
        # By lower-case name, so that none is sent twice and a mark takes away what stood there in another case.
        by_name = {name.lower(): value for name, value in given.items()}
        self._headers = {name: value for name, value in by_name.items() if isinstance(value, str)}

    async def send(self, path: str, content: bytes) -> Answer:
        return await self._line.post(f"{self._base_url}{path}{self._query}", self._headers, content)

    async def aclose(self) -> None:
        await self._sdk.close()  # and with it the line


def open_sender(endpoint: Endpoint, key: str, headers: Mapping[str, str], proxy: str | None = None) -> Sender:
    """The sender that the endpoint's settings ask for. Imports the SDK that its wire shape needs, and no other.

    `headers` are sent with every request.
    """
    for logger in ("anthropic._base_client", "openai._base_client"):
        # Their debug lines hold response headers and whole requests; some proxies send back what they were sent.
        logging.getLogger(logger).setLevel(logging.INFO)
    line = Line(endpoint, proxy)
    sdk = _sdk_of(endpoint, key, line)
    sent = {**_withheld(endpoint), **_azure(endpoint, key), **headers}
    signs = endpoint.access in _SIGNED_WITH
    if endpoint.transport == "lean" and not signs:
        return LeanSender(sdk, sent, endpoint, line)
    return SdkSender(sdk, sent, rewrites=signs)


def _sdk_of(endpoint: Endpoint, key: str, line: Line) -> Sdk:
    # A call sent on elsewhere would be a second one, and would take the key along.
    transport = Transport(line, signed=endpoint.access in _SIGNED_WITH)
    http = httpx2.AsyncClient(transport=transport, timeout=None, follow_redirects=False, trust_env=False)
    credential = key or "none"  # servers without keys get a placeholder: without any, the SDKs look for one themselves
    common: dict[str, Any] = {"base_url": endpoint.base_url, "max_retries": 0, "timeout": None}
    common |= {"http_client": http, "default_query": dict(endpoint.query) or None}
    if endpoint.wire == "anthropic":
        import anthropic

        if endpoint.access == "bedrock":
            region = re.search(r"bedrock-runtime[.]([a-z0-9-]+)[.]", endpoint.base_url)
            place = "us-east-1" if region is None else region[1]  # of a gateway in front of it, whose address has none
            return anthropic.AsyncAnthropicBedrock(api_key=key or None, aws_region=place, **common)
        if endpoint.access == "vertex":
            common["base_url"], project, location = vertex_place(endpoint.base_url, endpoint.name)
            return anthropic.AsyncAnthropicVertex(
                region=location, project_id=project, access_token=key or None, **common
            )
        return anthropic.AsyncAnthropic(api_key=credential, **common)
    import openai

    return openai.AsyncOpenAI(api_key=credential, **common)


def _withheld(endpoint: Endpoint) -> Headers:
    """Marks that keep the headers, which an SDK takes from the environment for its vendor, from everybody else."""
    vendor = "anthropic" if endpoint.wire == "anthropic" else "openai"
    if at_home(endpoint, vendor):
        return {}
    given = os.environ.get(f"{vendor.upper()}_CUSTOM_HEADERS", "").splitlines()
    names = [line.partition(":")[0].strip() for line in given if ":" in line]
    if vendor == "openai":
        names += ["OpenAI-Organization", "OpenAI-Project"]
    return dict.fromkeys(names, _omit(vendor))


def _azure(endpoint: Endpoint, key: str) -> Headers:
    """Azure takes a key in a header of its own; a bearer would be read as an Entra token."""
    return {"api-key": key, "Authorization": _omit("openai")} if endpoint.access == "azure" else {}


def _omit(vendor: str) -> object:
    """The vendor's SDK's mark for a header that is not sent."""
    mark: object = importlib.import_module(vendor).Omit()
    return mark


def missing_library(endpoint: Endpoint, key: str) -> str | None:
    """What to install for a client that signs and has no key instead; None when all is well."""
    if key or endpoint.access not in _SIGNED_WITH:
        return None
    try:
        found = importlib.util.find_spec(_SIGNED_WITH[endpoint.access]) is not None
    except ModuleNotFoundError:  # of the package above it
        found = False
    if found:
        return None
    return (
        f"{endpoint.name} is signed with a library that is not installed: pip install 'anthropic[{endpoint.access}]', "
        "or name a variable with a token in api_key_env"
    )


def _keep_idle(endpoint: Endpoint) -> float:
    return KEEP_IDLE_HERE if endpoint.loopback else KEEP_IDLE


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
