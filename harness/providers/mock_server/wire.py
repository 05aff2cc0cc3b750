"""The three APIs behind one interface: read a request, render an answer, word an error, find the usage in a body.

Owns every JSON shape of OpenAI Chat Completions, OpenAI Responses and Anthropic Messages, with what each API refuses,
and the ids and headers that go with a response. Knows nothing of HTTP, moves or faults.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weigh.harness.providers.mock_server.exchange import (
    Answer,
    AnswerStop,
    Block,
    Call,
    RequestRefused,
    Turn,
    Wire,
    call_digest,
    value_at,
)

MOST_MARKS = 4
"""Marks for the cache that Anthropic takes in one request."""

EPOCH = 1_750_000_000
"""Answers are reproducible, so they are all stamped with one moment (Unix seconds)."""

_USAGE = {
    "input": ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    "cached": ("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cache_read_input_tokens"),
    "output": ("completion_tokens", "output_tokens"),
    "reasoning": (
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "output_tokens_details.thinking_tokens",
    ),
}
"""Where the three APIs put tokens in `usage`. Anthropic counts cached tokens apart from the prompt's, OpenAI within."""

USAGE_KINDS = tuple(_USAGE)
"""Tokens of one response: the whole prompt, what of it came from a cache, all that was generated, the hidden reasoning
in it."""


@dataclass(frozen=True, slots=True)
class Api:
    """How one wire is spoken."""

    wire: Wire
    path: str
    request_id_header: str
    read_body: Callable[[Mapping[str, Any]], dict[str, Any]]
    """The fields of `Call` that this API writes in its own way. Raises RequestRefused."""
    render: Callable[[Call, Answer], dict[str, Any]]
    """The body of the 200 response."""

    def read(self, raw: bytes) -> Call:
        """What a request asks. Raises RequestRefused, also for bytes that are no JSON object."""
        try:
            body = json.loads(raw, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise RequestRefused(f"could not parse the JSON body of your request: {error}") from error
        if not isinstance(body, dict):
            raise RequestRefused("the JSON body of your request must be an object")
        model = body.get("model")
        if not isinstance(model, str) or not model:
            raise RequestRefused("you must provide a model parameter", "model")
        if body.get("stream"):  # refused rather than answered in a shape that the client does not expect
            raise RequestRefused("this mock server answers whole: send stream false, or leave it out", "stream")
        fields = self.read_body(body)
        return Call(wire=self.wire, model=model, body=body, digest=call_digest(self.wire, body), **fields)

    def error(self, refused: RequestRefused, request_id: str) -> dict[str, Any]:
        """An error body as this API words it."""
        if self.wire == "messages":
            return anthropic_error(refused.status, str(refused), request_id)
        return openai_error(refused.status, str(refused), refused.param, refused.code)


def usage_in(body: Mapping[str, Any]) -> dict[str, int] | None:
    """The tokens that the body of a response reports, by kind; None when it reports none.

    Read from the body as it is sent, so that what the statistics add up is what a client was told.
    """
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    found = {kind: [value_at(usage, path) for path in paths] for kind, paths in _USAGE.items()}
    return {kind: sum(value for value in values if isinstance(value, int)) for kind, values in found.items()}


def openai_error(status: int, message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error body of either OpenAI endpoint, with the type and code the API gives for this status."""
    kind, usual_code = _OPENAI_ERRORS.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
    return {"error": {"message": message, "type": kind, "param": param, "code": code or usual_code}}


def anthropic_error(status: int, message: str, request_id: str = "req_") -> dict[str, Any]:
    """An error body of Anthropic's API, with the type it gives for this status."""
    error = {"type": _ANTHROPIC_ERRORS.get(status, "api_error"), "message": message}
    return {"type": "error", "error": error, "request_id": request_id}


_OPENAI_ERRORS: dict[int, tuple[str, str | None]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
_ANTHROPIC_ERRORS = {
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


# What the three APIs have in common in a request.


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _turns(items: object, field: str, roles: Sequence[str]) -> tuple[Turn, ...]:
    """The turns of a `messages` or `input` list. Items of other kinds than messages are left out."""
    if not isinstance(items, list) or not items:
        raise RequestRefused(f"'{field}' must be a list of at least one message", field)
    turns = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise RequestRefused(f"'{field}[{index}]' must be an object", field)
        if item.get("type", "message") != "message":
            continue
        role = item.get("role")
        if not isinstance(role, str) or role not in roles:
            raise RequestRefused(f"'{field}[{index}].role' must be one of {', '.join(roles)}, not {role!r}", field)
        content = item.get("content")
        turns.append(Turn(role, _text(content, f"{field}[{index}].content"), _blocks(content)))
    return tuple(turns)


def _text(content: object, field: str) -> str:
    """The text of a message's content: a text itself, null, or a list of parts of which those with text count."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise RequestRefused(f"'{field}' must be a string or a list of parts", field)
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _blocks(content: object) -> tuple[Block, ...]:
    """The parts of a message's content; none where it is one text."""
    listed = content if isinstance(content, list) else []
    return tuple(
        Block(part["text"], any(part.get(mark) for mark in ("cache_control", "prompt_cache_breakpoint")))
        for part in listed
        if isinstance(part.get("text"), str)
    )


def _explicit(body: Mapping[str, Any]) -> bool:
    """Whether OpenAI is to cache what is marked and nothing else."""
    return bool(value_at(body, "prompt_cache_options.mode") == "explicit")


def _whole_number(body: Mapping[str, Any], field: str, least: int) -> int | None:
    """The body's `field`, None where it is absent or null."""
    value = body.get(field)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise RequestRefused(f"Invalid type for '{field}': expected an integer", field, "invalid_type")
    if value < least:
        says = f"Invalid '{field}': integer below minimum value. Expected a value >= {least}, but got {value} instead."
        raise RequestRefused(says, field, "integer_below_min_value")
    return value


def _object(body: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """The object at `field`, empty where it is absent or null."""
    value = body.get(field)
    if value is not None and not isinstance(value, dict):
        raise RequestRefused(f"'{field}' must be an object", field)
    return value or {}


def _format(form: Mapping[str, Any], schema: str) -> dict[str, Any]:
    """What is asked of the answer's form; a JSON Schema stands at the path `schema`."""
    kind = form.get("type")
    return {"schema": value_at(form, schema) if kind == "json_schema" else None, "bare_json": kind == "json_object"}


def _reasoning(effort: object) -> int:
    """About how many tokens of hidden reasoning an effort buys; 0 when none is asked for."""
    tokens = {"none": 0, "minimal": 16, "low": 64, "medium": 128, "high": 256, "xhigh": 512, "max": 512}
    return tokens.get(effort, 128) if isinstance(effort, str) else 0


# OpenAI Chat Completions.


def _read_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "turns": _turns(body.get("messages"), "messages", ("system", "developer", "user", "assistant", "tool")),
        **_format(_object(body, "response_format"), "json_schema.schema"),
        "cap": _whole_number(body, "max_completion_tokens", 1) or _whole_number(body, "max_tokens", 1),
        "reasoning": _reasoning(body.get("reasoning_effort")),
        "explicit": _explicit(body),
    }


_CHAT_STOPS: dict[AnswerStop, str] = {
    "end": "stop",
    "length": "length",
    "refusal": "stop",  # a declining model ends normally, with the reason in `message.refusal`
    "filter": "content_filter",
    "tool_calls": "tool_calls",
    "pause": "pause_turn",  # not a word of this API; routers pass on what the model's own API said
}


def _render_chat(call: Call, answer: Answer) -> dict[str, Any]:
    content: Any = answer.text
    if answer.parts:
        content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Weighing the moves."}]}]
        content += [{"type": "text", "text": answer.text}] if answer.text is not None else []
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": answer.refusal, "annotations": []}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.stop == "tool_calls":
        function = {"name": "lookup", "arguments": "{}"}
        message["tool_calls"] = [{"id": f"call_{call.digest[:24]}", "type": "function", "function": function}]
    finish = _CHAT_STOPS[answer.stop]
    return {
        "id": f"chatcmpl-{call.digest[:29]}",
        "object": "chat.completion",
        "created": EPOCH,
        "model": call.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": call.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": call.input_tokens + answer.output_tokens,
            "prompt_tokens_details": {"cached_tokens": call.cached_tokens, "cache_write_tokens": call.written_tokens},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_mock",
    }


# OpenAI Responses.


def _read_responses(body: Mapping[str, Any]) -> dict[str, Any]:
    instructions, said = body.get("instructions"), body.get("input")
    if instructions is not None and not isinstance(instructions, str):
        raise RequestRefused("'instructions' must be a string", "instructions")
    roles = ("system", "developer", "user", "assistant")
    turns = (Turn("user", said),) if isinstance(said, str) and said else _turns(said, "input", roles)
    return {
        "turns": (Turn("system", instructions), *turns) if instructions else turns,
        **_format(_object(_object(body, "text"), "format"), "schema"),
        "cap": _whole_number(body, "max_output_tokens", 16),
        "reasoning": _reasoning(_object(body, "reasoning").get("effort")),
        "explicit": _explicit(body),
    }


_SAME = json.loads(
    '{"background": false, "error": null, "metadata": {}, "parallel_tool_calls": true, "previous_response_id": null,'
    '"service_tier": "default", "tool_choice": "auto", "tools": [], "top_p": 1.0, "truncation": "disabled"}'
)
"""What no request changes."""

_INCOMPLETE: dict[AnswerStop, str] = {"length": "max_output_tokens", "filter": "content_filter"}


def _render_responses(call: Call, answer: Answer) -> dict[str, Any]:
    incomplete = _INCOMPLETE.get(answer.stop)
    status = "incomplete" if incomplete else "in_progress" if answer.stop == "pause" else "completed"
    return {
        "id": f"resp_{call.digest[:48]}",
        "object": "response",
        "created_at": EPOCH,
        "status": status,
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "instructions": call.body.get("instructions"),
        "max_output_tokens": call.cap,
        "model": call.model,
        "output": _output(call, answer, status),
        "reasoning": {"effort": value_at(call.body, "reasoning.effort"), "summary": None},
        "store": bool(call.body.get("store", True)),
        "temperature": call.body.get("temperature", 1.0),
        "text": call.body.get("text") or {"format": {"type": "text"}},
        "usage": {
            "input_tokens": call.input_tokens,
            "input_tokens_details": {"cached_tokens": call.cached_tokens, "cache_write_tokens": call.written_tokens},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
            "total_tokens": call.input_tokens + answer.output_tokens,
        },
        **_SAME,
    }


def _output(call: Call, answer: Answer, status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    content: list[dict[str, Any]] = []
    tail = call.digest[:48]
    if answer.reasoning_tokens or answer.reasoning or answer.parts:
        summary = [{"type": "summary_text", "text": answer.reasoning}] if answer.reasoning else []
        items.append({"id": f"rs_{tail}", "type": "reasoning", "summary": summary})
    if answer.stop == "tool_calls":
        names = {"call_id": f"call_{call.digest[:24]}", "name": "lookup", "arguments": "{}"}
        items.append({"id": f"fc_{tail}", "type": "function_call", **names, "status": "completed"})
    if answer.text is not None:
        content.append({"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []})
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    if content:
        said = {"status": status, "role": "assistant", "content": content}
        items.append({"id": f"msg_{tail}", "type": "message", **said})
    return items


# Anthropic Messages.


def _read_messages(body: Mapping[str, Any]) -> dict[str, Any]:
    cap = _whole_number(body, "max_tokens", 1)
    if cap is None:
        raise RequestRefused("max_tokens: Field required")
    system = _text(body.get("system"), "system")
    turns = _turns(body.get("messages"), "messages", ("user", "assistant"))
    for index, turn in enumerate(turns):
        # Empty content is taken only from an assistant's last turn.
        if not turn.text and (turn.role == "user" or index < len(turns) - 1):
            raise RequestRefused(f"messages.{index}: all messages must have non-empty content")
    said = (Turn("system", system, _blocks(body.get("system"))), *turns) if system else turns
    if body.get("cache_control"):  # on the whole request: the last block that can be cached
        last = said[-1]
        blocks = last.blocks or (Block(last.text),)
        said = (*said[:-1], replace(last, blocks=(*blocks[:-1], Block(blocks[-1].text, marked=True))))
    marks = sum(block.marked for turn in said for block in turn.blocks)
    if marks > MOST_MARKS:
        raise RequestRefused(f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}.")
    return {
        "turns": said,
        **_format(_object(_object(body, "output_config"), "format"), "schema"),
        "cap": cap,
        "reasoning": _thinking(_object(body, "thinking"), cap),
        "explicit": True,
    }


def _thinking(thinking: Mapping[str, Any], cap: int) -> int:
    """About how many tokens of hidden reasoning are asked for."""
    if thinking.get("type") != "enabled":
        return 128 if thinking.get("type") == "adaptive" else 0
    budget = _whole_number(thinking, "budget_tokens", 1024)
    if budget is None:
        raise RequestRefused("thinking.enabled.budget_tokens: Field required")
    if budget >= cap:
        raise RequestRefused("`max_tokens` must be greater than `thinking.budget_tokens`")
    return budget // 8


_STOP_REASONS: dict[AnswerStop, str] = {
    "end": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "tool_calls": "tool_use",
    "pause": "pause_turn",
}


def _render_messages(call: Call, answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if answer.reasoning_tokens or answer.reasoning or answer.parts:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": call.digest})
    if answer.text:  # this API gives no empty text blocks: nothing said is no block
        content.append({"type": "text", "text": answer.text})
    if answer.stop == "tool_calls":
        content.append({"type": "tool_use", "id": f"toolu_{call.digest[:24]}", "name": "lookup", "input": {}})
    reason = _STOP_REASONS[answer.stop]
    details = {"type": "refusal", "category": None, "explanation": answer.refusal}
    return {
        "id": f"msg_{call.digest[:24]}",
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": details if reason == "refusal" else None,
        "usage": {
            # What went through the cache is counted apart here.
            "input_tokens": call.input_tokens - call.cached_tokens - call.written_tokens,
            "cache_creation_input_tokens": call.written_tokens,
            "cache_read_input_tokens": call.cached_tokens,
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"thinking_tokens": answer.reasoning_tokens},
            "service_tier": "standard",
        },
    }


APIS: tuple[Api, ...] = (
    Api("chat", "/v1/chat/completions", "x-request-id", _read_chat, _render_chat),
    Api("responses", "/v1/responses", "x-request-id", _read_responses, _render_responses),
    Api("messages", "/v1/messages", "request-id", _read_messages, _render_messages),
)
