"""The client of one endpoint: one HTTP call for each request, every outcome a completion or a `CallFailed`.

Owns what is learned of a model's capabilities, and the order in which an answer is understood. The translation to and
from the wire is its wire shape's, connections and headers are its sender's; retries, limits and time-outs are the
caller's. Cancelling a call closes its connection.

The SDKs make the call (authentication, headers, transport); the body is written and read here. Their typed methods cost
up to twice the processor time of a call (`benches/providers.py`), change their arguments from one version to the next
(`temperature` went), and hand on answers that do not fit their types unchecked.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Protocol

from weigh.harness.errors import EndpointInvalid
from weigh.harness.providers.endpoints.endpoints import (
    Endpoint,
    at_home,
    header_values,
    key_of,
    missing_header,
    missing_key,
    proxy_for,
    proxy_with_password,
    unusable_proxy,
)
from weigh.harness.providers.errors.failures import PROGRESS, CallFailed, as_completion, decide, verdict, web_page
from weigh.harness.providers.errors.reading import ProviderError, error_inside, error_of, looks_like_html, one_line
from weigh.harness.providers.senders import Answer, Sender, missing_library, open_sender
from weigh.harness.providers.wire.body import NoAnswer
from weigh.harness.providers.wire.capabilities import NO_SEED, NO_TEMPERATURE, Capabilities, Learned, declared, learn
from weigh.harness.providers.wire.finish_reasons import surprise_in
from weigh.harness.providers.wire.openai_chat import OpenAIChat
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.policies.contract import Completion, Request, Usage

MOST_SURPRISES = 8
"""Finish reasons without a known meaning that are noted, of one model."""


class Wire(Protocol):
    """One wire shape: how a request and its answer look."""

    path: str

    def body(self, request: Request, endpoint: Endpoint, takes: Capabilities) -> dict[str, Any]:
        """What is sent."""

    def read(self, body: Mapping[str, Any]) -> Completion:
        """What came back; raises NoAnswer."""

    def usage(self, body: Mapping[str, Any]) -> Usage:
        """What it used, as far as it says, whether it is an answer or not."""


class ProviderClient:
    """A model behind an endpoint. Implements `policies.contract.ModelClient`, but raises CallFailed: see `complete`."""

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        sender: Sender,
        *,
        secret: str = "",
        proxy: str | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._wire = wire
        self._sender = sender
        self._secret = secret
        self._proxy = proxy
        self._takes = declared(endpoint)
        self._refused: set[tuple[str, object]] = set()
        self._adaptations: list[str] = []
        self._surprises = 0

    def __repr__(self) -> str:
        return f"<client of {self.endpoint.name} at {self.endpoint.base_url}>"

    @property
    def capabilities(self) -> Capabilities:
        """What the model takes, as far as is known by now."""
        return self._takes

    @property
    def adaptations(self) -> tuple[str, ...]:
        """What was learned of the model and is done otherwise than ordered, or read with care, one line each; for the
        run's log."""
        return tuple(self._adaptations)

    async def complete(self, request: Request) -> Completion:
        """Make exactly one HTTP call. Raises CallFailed, which has no link to the SDK's exception: that may quote keys.

        A request that was refused for a parameter the model does not take fails with `wait` 0 and goes out without it
        the next time.
        """
        sent = self._takes
        self._note_left_out(request, sent)
        content = json.dumps(self._wire.body(request, self.endpoint, sent), ensure_ascii=False, allow_nan=False).encode(
            "utf-8", "replace"
        )
        answer = await self._post(content)
        if isinstance(answer, ProviderError):
            completion = as_completion(answer)
            if completion is None:
                raise self._learned(answer, sent) or verdict(answer, self.endpoint, secret=self._secret)
            return completion
        try:
            completion = self._wire.read(answer)
        except NoAnswer as missing:
            reason = one_line(str(missing), self._secret)
            told = self._wire.usage(answer)
        else:
            self._note_surprise(completion)
            return completion
        cause = f"status 200 from {self.endpoint.base_url}, but no answer: {reason}"
        if told.input is None and told.output is None:
            raise CallFailed("wait", cause, status=200)
        raise CallFailed("wait", cause, billing="known", status=200, usage=told)

    async def aclose(self) -> None:
        """Close every connection. The client is of no use afterwards."""
        await self._sender.aclose()

    async def _post(self, content: bytes) -> Mapping[str, Any] | ProviderError:
        """The decoded answer, or the error that stands in its place. Raises CallFailed when there is neither."""
        try:
            answer = await self._sender.send(self._wire.path, content)
        except asyncio.CancelledError:
            self._note_status()
            raise
        except Exception as exc:
            failure = decide(exc, self.endpoint, secret=self._secret, proxy=self._proxy)
            if failure is None:
                raise
        else:
            return self._decoded(answer)
        raise failure  # outside the except block, so that it is not chained to the SDK's exception

    def _note_status(self) -> None:
        """Of a call that is cut off: what its status means, where that is an error whose body is still to come."""
        progress = PROGRESS.get()
        if progress is not None and progress.status is not None and not 200 <= progress.status < 300:
            error = error_of(progress.status, progress.headers, b"")
            if as_completion(error) is None:
                progress.failure = verdict(error, self.endpoint, secret=self._secret)

    def _decoded(self, answer: Answer) -> Mapping[str, Any] | ProviderError:
        if not 200 <= answer.status < 300:
            return error_of(answer.status, answer.headers, answer.content)
        body: object = None
        try:
            body = json.loads(answer.content)
        except (ValueError, RecursionError) as exc:
            # ValueError: JSONDecodeError, UnicodeDecodeError, and integers of thousands of digits.
            broken = type(exc).__name__
        else:
            broken = "" if isinstance(body, dict) else f"a {type(body).__name__} instead of an object"
        if isinstance(body, dict):
            return error_inside(body, answer.headers) or body
        text = answer.content[:4_000].decode("utf-8", "replace")
        if looks_like_html(answer.headers, text):
            raise web_page(answer.status, text, self.endpoint, secret=self._secret)
        where = f"status {answer.status} from {self.endpoint.base_url}"
        raise CallFailed("wait", f"{where}, but the answer could not be decoded ({broken})", status=answer.status)

    def _learned(self, error: ProviderError, sent: Capabilities) -> CallFailed | None:
        """The failure of a request that will be written differently the next time, or None when that cannot help."""
        found = learn(error, sent)
        if found is None:
            return None
        self._refused.add((found.field, getattr(sent, found.field)))
        if (found.field, found.value) in self._refused:
            return None  # either way of writing it was refused: it is about something else
        self._adapt(found)
        return CallFailed(
            "wait",
            f"status {error.status} from {self.endpoint.base_url}: {found.note}",
            wait=0.0,
            billing="none",
            status=error.status,
        )

    def _adapt(self, found: Learned) -> None:
        self._takes = found.applied(self._takes)
        self._note(found.note)

    def _note_left_out(self, request: Request, takes: Capabilities) -> None:
        if request.sampling.temperature is not None and not takes.temperature:
            self._note(NO_TEMPERATURE)
        if request.sampling.seed is not None and not takes.seed:
            self._note(NO_SEED)

    def _note_surprise(self, completion: Completion) -> None:
        """Of a server that never says the same thing twice, the first words are enough."""
        line = surprise_in(completion, self._secret)
        if line is not None and line not in self._adaptations and self._surprises < MOST_SURPRISES:
            self._surprises += 1
            self._note(line)

    def _note(self, line: str) -> None:
        """Of many requests in flight all may bring the same news; it is news once."""
        if line not in self._adaptations:
            self._adaptations.append(line)


def client_for(endpoint: Endpoint, environ: Mapping[str, str]) -> ProviderClient:
    """A client for the endpoint, to be closed with `aclose`. Imports the SDK that its wire shape needs, and no other.

    Raises EndpointInvalid for what is `lacking`, and for a local model that was not started.
    """
    if endpoint.wire == "local":
        raise EndpointInvalid(
            f"{endpoint.name} is not running: it is started with weigh.harness.providers.local.server.LocalServer"
        )
    refused = lacking(endpoint, environ)
    if refused is not None:
        raise EndpointInvalid(refused)
    key, proxy = key_of(endpoint, environ), proxy_for(endpoint, environ)
    return ProviderClient(
        endpoint,
        wire_of(endpoint),
        open_sender(endpoint, key, header_values(endpoint, environ), proxy_with_password(endpoint, environ)),
        secret=key,
        proxy=proxy,
    )


def lacking(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """What a call would fail for, known before it is made, in one line with what to do; None when all is well."""
    return (
        missing_key(endpoint, environ)
        or missing_header(endpoint, environ)
        or unusable_proxy(endpoint, environ)
        or missing_library(endpoint, key_of(endpoint, environ))
        or retired(endpoint, datetime.now(UTC).date())
    )


def retired(endpoint: Endpoint, today: date) -> str | None:
    """What to do about a model that is no longer served, by the list in its vendor's SDK; None for all others.

    The day itself counts. Behind another address than the vendor's a name may mean anything, and is left alone.
    """
    if endpoint.wire != "anthropic" or not at_home(endpoint):
        return None
    from anthropic.resources.messages import DEPRECATED_MODELS

    last = DEPRECATED_MODELS.get(endpoint.model)
    if last is None:
        return None
    day = datetime.strptime(re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", last) + " +0000", "%B %d, %Y %z").date()
    if day > today:
        return None
    return f"{endpoint.name} is retired (last day by its SDK: {last}): name a current model"


def wire_of(endpoint: Endpoint) -> Wire:
    """The shape of the endpoint's requests and answers. Imports the SDK that it needs."""
    if endpoint.wire == "anthropic":
        from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages  # imports its SDK

        return AnthropicMessages()
    return OpenAIResponses() if endpoint.wire == "openai-responses" else OpenAIChat()
