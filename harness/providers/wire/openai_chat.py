"""Chat Completions, as OpenAI and every compatible server speak it: vLLM, Ollama, llama.cpp, LM Studio, OpenRouter.

Owns the translation of a request to a body, and of a body to a completion. Makes no call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.wire.body import (
    NoAnswer,
    Turn,
    cost,
    count,
    first_count,
    items,
    mark_of,
    parts,
    table,
    turns,
    without_tuples,
    words,
)
from weigh.harness.providers.wire.capabilities import Capabilities
from weigh.harness.providers.wire.finish_reasons import meaning_of, stop_of
from weigh.policies.contract import Completion, Request, Usage


class OpenAIChat:
    """The wire shape of `POST /chat/completions`."""

    path = "/chat/completions"

    def body(self, request: Request, endpoint: Endpoint, takes: Capabilities) -> dict[str, Any]:
        """What is sent for `request`."""
        system, dialogue = turns(request.messages, system=takes.system)
        sampling = request.sampling
        mark = mark_of(endpoint, takes)
        first = [Turn("system", [system], stable=1).sent(mark)] if system else []
        body: dict[str, Any] = {
            "model": endpoint.model,
            "messages": [*first, *(turn.sent(mark) for turn in dialogue)],
            takes.cap_field: sampling.max_tokens,
        }
        if sampling.temperature is not None and takes.temperature:
            body["temperature"] = sampling.temperature
        if sampling.seed is not None and takes.seed:
            body["seed"] = sampling.seed
        if takes.marks == "openai":
            body["prompt_cache_options"] = {"mode": "explicit"}
        if request.schema is not None:
            schema = request.schema if takes.tuples else without_tuples(request.schema)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        return body | dict(sampling.extra)

    def read(self, body: Mapping[str, Any]) -> Completion:
        """The completion in an answer. Raises NoAnswer when it holds none."""
        choice = next(items(body.get("choices")), None)
        if choice is None:
            raise NoAnswer("it holds no choices")
        reason = words(choice.get("finish_reason"))
        message = choice.get("message")
        if not isinstance(message, Mapping):
            if meaning_of(reason) in (None, "end"):
                raise NoAnswer("its first choice holds no message")
            message = {}  # Gemini leaves it out where it says what took the answer away
        text, refusal = parts(message.get("content")), words(message.get("refusal"))
        declined = bool(refusal and not text)
        return Completion(
            text,
            "refusal" if declined else stop_of(reason, text),
            reasoning=_reasoning(message),
            usage=self.usage(body),
            served_by=words(body.get("model")) or None,
            stop_detail=f"refusal: {refusal}" if declined else reason or None,
        )

    def usage(self, body: Mapping[str, Any]) -> Usage:
        """What it used, as far as it says."""
        counted = table(body, "usage")
        return replace(usage(counted), cost=cost(counted), tier=words(body.get("service_tier")) or None)


def usage(counted: Mapping[str, Any]) -> Usage:
    """Token counts. Reasoning is a part of the output; what only the total counts was generated, not returned."""
    prompt = count(counted.get("prompt_tokens"))
    output = count(counted.get("completion_tokens"))
    reasoning = first_count(table(counted, "completion_tokens_details").get("reasoning_tokens"))
    cached = first_count(
        table(counted, "prompt_tokens_details").get("cached_tokens"),
        counted.get("prompt_cache_hit_tokens"),  # DeepSeek
        counted.get("cached_tokens"),  # Moonshot
    )
    total = count(counted.get("total_tokens"))
    if prompt is not None and output is not None and total is not None:
        unlisted = total - prompt - output
        if unlisted > 0 and unlisted != cached:  # else the total counts cached tokens in addition to the prompt
            output += unlisted
            reasoning = reasoning or unlisted
    return Usage(
        input=prompt,
        cached=cached,
        output=output,
        reasoning=reasoning,
        cache_written=count(table(counted, "prompt_tokens_details").get("cache_write_tokens")),
    )


def _reasoning(message: Mapping[str, Any]) -> str | None:
    """Reasoning next to the answer: a field of its own, or parts among the content."""
    separate = words(message.get("reasoning_content")) or words(message.get("reasoning"))
    if separate:
        return separate
    thought = [
        words(part.get("thinking")) or parts(part.get("thinking")) or words(part.get("text"))
        for part in items(message.get("content"))
        if part.get("type") in ("thinking", "reasoning")
    ]
    return "\n".join(filter(None, thought)) or None
