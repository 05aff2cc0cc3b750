"""Reading the parts of a request body that the three APIs have in common.

Owns the checks every endpoint makes (a model, messages with roles, content as text or as parts) and their wording.
Knows no endpoint's own fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weigh.harness.providers.mock_server.exchange import RequestRefused, Turn

EPOCH = 1_750_000_000
"""Answers are reproducible, so they are all stamped with one moment (Unix seconds)."""


def model_of(body: Mapping[str, Any]) -> str:
    """The model named in the body."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise RequestRefused("you must provide a model parameter", "model")
    return model


def no_stream(body: Mapping[str, Any]) -> None:
    """Refuse what this server does not do, rather than answer in a shape the client does not expect."""
    if body.get("stream"):
        raise RequestRefused("this mock server answers whole: send stream false, or leave it out", "stream")


def turns_of(items: object, field: str, roles: Sequence[str]) -> tuple[Turn, ...]:
    """The turns of a `messages` or `input` list. Items of other kinds than messages are left out."""
    if not isinstance(items, list) or not items:
        raise RequestRefused(f"'{field}' must be a list of at least one message", field)
    turns = []
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise RequestRefused(f"'{field}[{index}]' must be an object", field)
        if item.get("type", "message") != "message":
            continue
        role = item.get("role")
        if not isinstance(role, str) or role not in roles:
            raise RequestRefused(f"'{field}[{index}].role' must be one of {', '.join(roles)}, not {role!r}", field)
        turns.append(Turn(role, text_of(item.get("content"), f"{field}[{index}].content")))
    return tuple(turns)


def text_of(content: object, field: str) -> str:
    """The text of a message's content: a text itself, null, or a list of parts of which those with text count."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise RequestRefused(f"'{field}' must be a string or a list of parts", field)
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def whole_number(body: Mapping[str, Any], field: str, least: int) -> int | None:
    """The body's `field`, None where it is absent or null."""
    value = body.get(field)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise RequestRefused(f"Invalid type for '{field}': expected an integer", field, "invalid_type")
    if value < least:
        raise RequestRefused(
            f"Invalid '{field}': integer below minimum value. Expected a value >= {least}, but got {value} instead.",
            field,
            "integer_below_min_value",
        )
    return value


def object_at(body: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """The object at `field`, empty where it is absent or null."""
    value = body.get(field)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RequestRefused(f"'{field}' must be an object", field)
    return value


def openai_error(status: int, message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error body of either OpenAI endpoint, with the type and code the API gives for this status."""
    kind, usual_code = _OPENAI_ERRORS.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
    return {"error": {"message": message, "type": kind, "param": param, "code": code or usual_code}}


_OPENAI_ERRORS: dict[int, tuple[str, str | None]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
