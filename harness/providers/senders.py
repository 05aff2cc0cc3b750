"""Sending one request: through a provider's SDK, or lean, with the SDK's own headers on aiohttp alone.

Owns connections and headers. Every answer with any status is returned; what prevents an answer is raised as it is, and
understood in `harness.providers.errors.failures`. One request is one HTTP call: nothing is retried and no redirect
followed.

The lean sender costs a quarter of the processor time and keeps hundreds of calls in flight where the SDKs' requests
wait for each other; `benches/providers.py` measures both.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import aiohttp
import httpx2

from weigh.harness.providers.endpoints.endpoints import Endpoint

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

CONNECT_TIMEOUT = 10.0
"""Seconds to open a connection. Reading has no limit of its own: the caller bounds the whole call, which a limit on
each read does not (a body may drip for ever)."""

KEEP_IDLE = 30.0
"""Seconds an idle connection is kept, for the next round."""
KEEP_IDLE_HERE = 4.0
"""The same for servers on this machine: uvicorn and llama.cpp hang up after 5 s, and a call sent into that is lost."""

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


class SdkSender:
    """Sends through the SDK's client, whose transport is aiohttp."""

    def __init__(self, sdk: AsyncOpenAI | AsyncAnthropic) -> None:
        self._sdk = sdk

    async def send(self, path: str, content: bytes) -> Answer:
        try:
            response = await self._sdk.post(path, cast_to=httpx2.Response, content=content, options={"headers": _JSON})
        except Exception as exc:
            # Both SDKs raise for an error status and hang the answer on the exception; their classes differ.
            raised = getattr(exc, "response", None)
            if not isinstance(raised, httpx2.Response):
                raise
            response = raised
        return Answer(response.status_code, _lowered(response.headers), response.content)

    async def aclose(self) -> None:
        await self._sdk.close()


class LeanSender:
    """Sends with aiohttp, under the headers that the SDK's client would send."""

    def __init__(self, sdk: AsyncOpenAI | AsyncAnthropic, endpoint: Endpoint) -> None:
        self._sdk = sdk
        self._endpoint = endpoint
        given: dict[str, object] = {**sdk.default_headers, **sdk.auth_headers, **_JSON}
        # By lower-case name, so that none is sent twice; what is no text is the SDK's mark for a header left out.
        self._headers = {name.lower(): value for name, value in given.items() if isinstance(value, str)}
        self._session: aiohttp.ClientSession | None = None

    async def send(self, path: str, content: bytes) -> Answer:
        if self._session is None:  # here, since it belongs to the running loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._endpoint.concurrency, keepalive_timeout=_keep_idle(self._endpoint)
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
                trust_env=not self._endpoint.loopback,
            )
        url = self._endpoint.base_url + path
        async with self._session.post(url, data=content, allow_redirects=False) as response:
            return Answer(response.status, _lowered(response.headers), await response.read())

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
        await self._sdk.close()


def open_sender(endpoint: Endpoint, key: str) -> Sender:
    """The sender that the endpoint's settings ask for. Imports the SDK that its wire shape needs, and no other."""
    for logger in ("anthropic._base_client", "openai._base_client"):
        # Their debug lines hold response headers and whole requests; some proxies send back what they were sent.
        logging.getLogger(logger).setLevel(logging.INFO)
    sdk = _sdk_of(endpoint, key)
    return LeanSender(sdk, endpoint) if endpoint.transport == "lean" else SdkSender(sdk)


def _sdk_of(endpoint: Endpoint, key: str) -> AsyncOpenAI | AsyncAnthropic:
    timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT)
    settings: dict[str, Any] = {
        # As many connections as calls may be in flight, so that none waits for one.
        "limits": httpx2.Limits(
            max_connections=endpoint.concurrency,
            max_keepalive_connections=endpoint.concurrency,
            keepalive_expiry=_keep_idle(endpoint),
        ),
        "timeout": timeout,
        # A call sent on elsewhere would be a second one, and would take the key along.
        "follow_redirects": False,
        # Without TLS there is no certificate to check, and the trusted ones need not be loaded.
        "verify": endpoint.base_url.startswith("https:"),
        # A proxy cannot reach this machine's own servers.
        "trust_env": not endpoint.loopback,
    }
    credential = key or "none"  # servers without keys get a placeholder: without any, the SDKs look for one themselves
    if endpoint.wire == "anthropic":
        import anthropic

        return anthropic.AsyncAnthropic(
            api_key=credential,
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=anthropic.DefaultAioHttpClient(**settings),
        )
    import openai

    return openai.AsyncOpenAI(
        api_key=credential,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultAioHttpClient(**settings),
    )


def _keep_idle(endpoint: Endpoint) -> float:
    return KEEP_IDLE_HERE if endpoint.loopback else KEEP_IDLE


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
