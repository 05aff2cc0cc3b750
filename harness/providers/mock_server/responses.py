"""OpenAI Responses: what `POST /v1/responses` takes and gives.

Owns the translation between that API's JSON and `Asked`/`Answer`. Knows nothing of HTTP, moves or faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weigh.harness.providers.mock_server.chat import effort_tokens
from weigh.harness.providers.mock_server.exchange import Answer, AnswerStop, Asked, RequestRefused, Turn
from weigh.harness.providers.mock_server.shapes import EPOCH, model_of, no_stream, object_at, turns_of, whole_number

_ROLES = ("system", "developer", "user", "assistant")
_LEAST_CAP = 16
"""The API refuses smaller caps."""
_INCOMPLETE: dict[AnswerStop, str] = {"length": "max_output_tokens", "filter": "content_filter"}


def read(body: Mapping[str, Any], digest: str) -> Asked:
    """What a request asks. Raises RequestRefused."""
    model = model_of(body)
    no_stream(body)
    asked_format = object_at(object_at(body, "text"), "format")
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise RequestRefused("'instructions' must be a string", "instructions")
    said = body.get("input")
    turns = (Turn("user", said),) if isinstance(said, str) and said else turns_of(said, "input", _ROLES)
    return Asked(
        wire="responses",
        model=model,
        body=body,
        digest=digest,
        turns=(Turn("system", instructions), *turns) if instructions else turns,
        schema=asked_format.get("schema") if asked_format.get("type") == "json_schema" else None,
        bare_json=asked_format.get("type") == "json_object",
        cap=whole_number(body, "max_output_tokens", _LEAST_CAP),
        thinks=effort_tokens(object_at(body, "reasoning").get("effort")),
    )


def render(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The body of the 200 response."""
    incomplete = _INCOMPLETE.get(answer.stop)
    status = "incomplete" if incomplete else "in_progress" if answer.stop == "pause" else "completed"
    return {
        "id": f"resp_{asked.digest[:48]}",
        "object": "response",
        "created_at": EPOCH,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "instructions": asked.body.get("instructions"),
        "max_output_tokens": asked.cap,
        "metadata": {},
        "model": asked.model,
        "output": _output(asked, answer, status),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": object_at(asked.body, "reasoning").get("effort"), "summary": None},
        "service_tier": "default",
        "store": bool(asked.body.get("store", True)),
        "temperature": asked.body.get("temperature", 1.0),
        "text": asked.body.get("text") or {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": asked.input_tokens,
            "input_tokens_details": {"cached_tokens": asked.cached_tokens, "cache_write_tokens": 0},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
            "total_tokens": asked.input_tokens + answer.output_tokens,
        },
        "user": None,
    }


def _output(asked: Asked, answer: Answer, status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.reasoning_tokens or answer.reasoning or answer.parts:
        summary = [{"type": "summary_text", "text": answer.reasoning}] if answer.reasoning else []
        items.append({"id": f"rs_{asked.digest[:48]}", "type": "reasoning", "summary": summary})
    if answer.stop == "tool_calls":
        items.append(
            {
                "id": f"fc_{asked.digest[:48]}",
                "type": "function_call",
                "call_id": f"call_{asked.digest[:24]}",
                "name": "lookup",
                "arguments": "{}",
                "status": "completed",
            }
        )
    content: list[dict[str, Any]] = []
    if answer.text is not None:
        content.append({"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []})
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    if content:
        items.append(
            {
                "id": f"msg_{asked.digest[:48]}",
                "type": "message",
                "status": status,
                "role": "assistant",
                "content": content,
            }
        )
    return items
