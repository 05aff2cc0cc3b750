"""Sending one request: through a provider's SDK, or lean, with the SDK's own headers on aiohttp alone.

Owns connections and headers. Every answer with any status is returned; what prevents an answer is raised as it is, and
understood in `harness.providers.errors.failures`. One request is one HTTP call: nothing is retried and no redirect
followed.

The lean sender costs a quarter of the processor time and keeps hundreds of calls in flight where the SDKs' requests
wait for each other; `benches/providers.py` measures both.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import urlsplit

import aiohttp
import httpx2

from weigh.harness.providers.endpoints.endpoints import Endpoint, vertex_place
from weigh.harness.providers.endpoints.known import KNOWN

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


class LeanSender:
    """Sends with aiohttp, under the headers that the SDK's client would send."""

    def __init__(self, sdk: Sdk, headers: Headers, endpoint: Endpoint, proxy: str | None) -> None:
        self._sdk = sdk
        self._endpoint = endpoint
        self._proxy = proxy
        given: dict[str, object] = {**sdk.default_headers, **sdk.auth_headers, **headers, **_JSON}
        # By lower-case name, so that none is sent twice and a mark takes away what stood there in another case.
        by_name = {name.lower(): value for name, value in given.items()}
        self._headers = {name: value for name, value in by_name.items() if isinstance(value, str)}
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
                # Reading the environment would add a password from .netrc to the key that is sent.
                trust_env=False,
            )
        url = self._endpoint.base_url + path
        query = dict(self._endpoint.query)
        async with self._session.post(
            url, params=query, data=content, proxy=self._proxy, allow_redirects=False
        ) as response:
            return Answer(response.status, _lowered(response.headers), await response.read())

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
        await self._sdk.close()


def open_sender(endpoint: Endpoint, key: str, headers: Mapping[str, str], proxy: str | None = None) -> Sender:
    """The sender that the endpoint's settings ask for. Imports the SDK that its wire shape needs, and no other.

    `headers` are sent with every request. `proxy` is for the lean sender; the SDKs find theirs by themselves.
    """
    for logger in ("anthropic._base_client", "openai._base_client"):
        # Their debug lines hold response headers and whole requests; some proxies send back what they were sent.
        logging.getLogger(logger).setLevel(logging.INFO)
    sdk = _sdk_of(endpoint, key)
    sent = {**_withheld(endpoint), **_azure(endpoint, key), **headers}
    signs = endpoint.access in _SIGNED_WITH
    if endpoint.transport == "lean" and not signs:
        return LeanSender(sdk, sent, endpoint, proxy)
    return SdkSender(sdk, sent, rewrites=signs)


def _sdk_of(endpoint: Endpoint, key: str) -> Sdk:
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
    common: dict[str, Any] = {"base_url": endpoint.base_url, "max_retries": 0, "timeout": timeout}
    common["default_query"] = dict(endpoint.query) or None
    if endpoint.wire == "anthropic":
        import anthropic

        common["http_client"] = anthropic.DefaultAioHttpClient(**settings)
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

    common["http_client"] = openai.DefaultAioHttpClient(**settings)
    return openai.AsyncOpenAI(api_key=credential, **common)


def _withheld(endpoint: Endpoint) -> Headers:
    """Marks that keep the headers, which an SDK takes from the environment for its vendor, from everybody else."""
    vendor = "anthropic" if endpoint.wire == "anthropic" else "openai"
    host = urlsplit(endpoint.base_url).hostname or ""
    if f".{host}".endswith(f".{KNOWN[vendor].home}"):
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
