"""OpenAI Chat Completions: what `POST /v1/chat/completions` takes and gives.

Owns the translation between that API's JSON and `Asked`/`Answer`. Knows nothing of HTTP, moves or faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weigh.harness.providers.mock_server.exchange import Answer, AnswerStop, Asked
from weigh.harness.providers.mock_server.shapes import EPOCH, model_of, no_stream, object_at, turns_of, whole_number

_ROLES = ("system", "developer", "user", "assistant", "tool")
_EFFORT_TOKENS = {"none": 0, "minimal": 16, "low": 64, "medium": 128, "high": 256, "xhigh": 512, "max": 512}
_FINISH: dict[AnswerStop, str] = {
    "end": "stop",
    "length": "length",
    "refusal": "stop",  # a declining model ends normally, with the reason in `message.refusal`
    "filter": "content_filter",
    "tool_calls": "tool_calls",
    "pause": "pause_turn",  # not a word of this API; routers pass on what the model's own API said
}


def effort_tokens(effort: object) -> int:
    """About how many tokens of hidden reasoning an effort buys; 0 when none is asked for."""
    return _EFFORT_TOKENS.get(effort, 128) if isinstance(effort, str) else 0


def read(body: Mapping[str, Any], digest: str) -> Asked:
    """What a request asks. Raises RequestRefused."""
    model = model_of(body)
    no_stream(body)
    asked_format = object_at(body, "response_format")
    schema = object_at(asked_format, "json_schema").get("schema") if asked_format.get("type") == "json_schema" else None
    cap = whole_number(body, "max_completion_tokens", 1)
    return Asked(
        wire="chat",
        model=model,
        body=body,
        digest=digest,
        turns=turns_of(body.get("messages"), "messages", _ROLES),
        schema=schema,
        bare_json=asked_format.get("type") == "json_object",
        cap=cap if cap is not None else whole_number(body, "max_tokens", 1),
        thinks=effort_tokens(body.get("reasoning_effort")),
    )


def render(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The body of the 200 response."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": _content(answer),
        "refusal": answer.refusal,
        "annotations": [],
    }
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.stop == "tool_calls":
        message["tool_calls"] = [
            {
                "id": f"call_{asked.digest[:24]}",
                "type": "function",
                "function": {"name": "lookup", "arguments": "{}"},
            }
        ]
    return {
        "id": f"chatcmpl-{asked.digest[:29]}",
        "object": "chat.completion",
        "created": EPOCH,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[answer.stop]}],
        "usage": {
            "prompt_tokens": asked.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": asked.input_tokens + answer.output_tokens,
            "prompt_tokens_details": {"cached_tokens": asked.cached_tokens, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": answer.reasoning_tokens,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": "fp_mock",
    }


def _content(answer: Answer) -> str | list[dict[str, Any]] | None:
    if not answer.parts:
        return answer.text
    parts: list[dict[str, Any]] = [{"type": "thinking", "thinking": [{"type": "text", "text": "Weighing the moves."}]}]
    if answer.text is not None:
        parts.append({"type": "text", "text": answer.text})
    return parts
