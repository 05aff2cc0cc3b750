"""The three APIs behind one interface: read a request, render an answer, word an error.

Owns the table of wires and the ids and headers that go with a response. The JSON itself is in the wire modules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from weigh.harness.providers.mock_server import chat, messages, responses
from weigh.harness.providers.mock_server.dice import request_digest
from weigh.harness.providers.mock_server.exchange import Answer, Asked, RequestRefused, Wire
from weigh.harness.providers.mock_server.shapes import openai_error


@dataclass(frozen=True, slots=True)
class Api:
    """How one wire is spoken."""

    wire: Wire
    path: str
    read_body: Callable[[Mapping[str, Any], str], Asked]
    """From a body and its digest. Raises RequestRefused."""
    render: Callable[[Asked, Answer], dict[str, Any]]
    request_id_header: str

    def read(self, raw: bytes) -> Asked:
        """What a request asks. Raises RequestRefused, also for bytes that are no JSON object."""
        try:
            body = json.loads(raw, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise RequestRefused(f"could not parse the JSON body of your request: {error}") from error
        if not isinstance(body, dict):
            raise RequestRefused("the JSON body of your request must be an object")
        return self.read_body(body, request_digest(self.wire, body))

    def error(
        self, status: int, message: str, request_id: str, param: str | None = None, code: str | None = None
    ) -> dict[str, Any]:
        """An error body as this API words it."""
        if self.wire == "messages":
            return messages.error(status, message, request_id)
        return openai_error(status, message, param, code)

    def no_such_model(self, asked: Asked) -> dict[str, Any]:
        """The body of the 404 for a model that is not offered."""
        message = (
            f"model: {asked.model}"
            if self.wire == "messages"
            else f"The model `{asked.model}` does not exist or you do not have access to it."
        )
        return self.error(404, message, request_id(asked.digest))


APIS: tuple[Api, ...] = (
    Api("chat", "/v1/chat/completions", chat.read, chat.render, "x-request-id"),
    Api("responses", "/v1/responses", responses.read, responses.render, "x-request-id"),
    Api("messages", "/v1/messages", messages.read, messages.render, "request-id"),
)


def request_id(digest: str) -> str:
    """The id a provider's support would ask for; here it names the request's content."""
    return f"req_{digest[:24]}"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
