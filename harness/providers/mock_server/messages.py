"""Anthropic Messages: what `POST /v1/messages` takes and gives.

Owns the translation between that API's JSON and `Asked`/`Answer`, and that API's error bodies. Knows nothing of HTTP,
moves or faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weigh.harness.providers.mock_server.exchange import Answer, AnswerStop, Asked, RequestRefused, Turn
from weigh.harness.providers.mock_server.shapes import model_of, no_stream, object_at, text_of, turns_of, whole_number

_LEAST_THINKING = 1024
_ADAPTIVE_TOKENS = 128
_STOP: dict[AnswerStop, str] = {
    "end": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "tool_calls": "tool_use",
    "pause": "pause_turn",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: Mapping[str, Any], digest: str) -> Asked:
    """What a request asks. Raises RequestRefused."""
    model = model_of(body)
    no_stream(body)
    cap = whole_number(body, "max_tokens", 1)
    if cap is None:
        raise RequestRefused("max_tokens: Field required")
    system = text_of(body.get("system"), "system")
    turns = turns_of(body.get("messages"), "messages", ("user", "assistant"))
    for index, turn in enumerate(turns):
        # Empty content is taken only from an assistant's last turn.
        if not turn.text and (turn.role == "user" or index < len(turns) - 1):
            raise RequestRefused(f"messages.{index}: all messages must have non-empty content")
    asked_format = object_at(object_at(body, "output_config"), "format")
    return Asked(
        wire="messages",
        model=model,
        body=body,
        digest=digest,
        turns=(Turn("system", system), *turns) if system else turns,
        schema=asked_format.get("schema") if asked_format.get("type") == "json_schema" else None,
        cap=cap,
        thinks=_thinking(object_at(body, "thinking"), cap),
        caches=_asks_for_cache(body),
    )


def render(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The body of the 200 response. The API counts cached tokens beside `input_tokens`, not within them."""
    return {
        "id": f"msg_{asked.digest[:24]}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": _content(asked, answer),
        "stop_reason": _STOP[answer.stop],
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": answer.refusal}
        if _STOP[answer.stop] == "refusal"
        else None,
        "usage": {
            "input_tokens": asked.input_tokens - asked.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": asked.cached_tokens,
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"thinking_tokens": answer.reasoning_tokens},
            "service_tier": "standard",
        },
    }


def error(status: int, message: str, request_id: str) -> dict[str, Any]:
    """An error body, with the type the API gives for this status."""
    return {
        "type": "error",
        "error": {"type": _ERRORS.get(status, "api_error"), "message": message},
        "request_id": request_id,
    }


def _thinking(thinking: Mapping[str, Any], cap: int) -> int:
    kind = thinking.get("type")
    if kind == "enabled":
        budget = whole_number(thinking, "budget_tokens", _LEAST_THINKING)
        if budget is None:
            raise RequestRefused("thinking.enabled.budget_tokens: Field required")
        if budget >= cap:
            raise RequestRefused("`max_tokens` must be greater than `thinking.budget_tokens`")
        return budget // 8
    return _ADAPTIVE_TOKENS if kind == "adaptive" else 0


def _asks_for_cache(body: Mapping[str, Any]) -> bool:
    """Whether a cache breakpoint is set, on the whole request or on a part of it. Only then are prompts cached."""
    if body.get("cache_control"):
        return True
    contents = [body.get("system"), *(turn.get("content") for turn in body["messages"])]
    return any(part.get("cache_control") for content in contents if isinstance(content, list) for part in content)


def _content(asked: Asked, answer: Answer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.reasoning_tokens or answer.reasoning or answer.parts:
        blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": asked.digest})
    if answer.text:  # this API gives no empty text blocks: nothing said is no block
        blocks.append({"type": "text", "text": answer.text})
    if answer.stop == "tool_calls":
        blocks.append({"type": "tool_use", "id": f"toolu_{asked.digest[:24]}", "name": "lookup", "input": {}})
    return blocks
