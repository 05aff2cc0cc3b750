"""OpenAI's Responses API.

Owns the translation of a request to a body, and of a body to a completion. Makes no call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.wire.body import (
    NoAnswer,
    cost,
    count,
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
from weigh.policies.contract import Completion, Request, Stop, Usage


class OpenAIResponses:
    """The wire shape of `POST /responses`. Nothing is stored at the provider: each request is whole."""

    path = "/responses"

    def body(self, request: Request, endpoint: Endpoint, takes: Capabilities) -> dict[str, Any]:
        """What is sent for `request`."""
        system, dialogue = turns(request.messages, system=takes.system)
        sampling = request.sampling
        body: dict[str, Any] = {
            "model": endpoint.model,
            "input": [turn.sent(mark_of(endpoint, takes), "input_text") for turn in dialogue],
            "max_output_tokens": sampling.max_tokens,
            "store": False,
        }
        if system:
            body["instructions"] = system
        if sampling.temperature is not None and takes.temperature:
            body["temperature"] = sampling.temperature
        if takes.marks == "openai":
            body["prompt_cache_options"] = {"mode": "explicit"}
        extra = dict(sampling.extra)
        if request.schema is not None:
            schema = request.schema if takes.tuples else without_tuples(request.schema)
            form = {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}
            body["text"] = {**table(extra.pop("text", None)), "format": form}  # `text` also holds a verbosity
        return body | extra

    def read(self, body: Mapping[str, Any]) -> Completion:
        """The completion in an answer. Raises NoAnswer when it holds none."""
        status = words(body.get("status"))
        if not isinstance(body.get("output"), list):
            raise NoAnswer("it holds no output")
        output = list(items(body["output"]))
        messages = [item for item in output if item.get("type") == "message"]
        text = "".join(parts(item.get("content")) for item in messages if item.get("phase") != "commentary")
        refusal = "".join(
            words(part.get("refusal"))
            for item in messages
            for part in items(item.get("content"))
            if part.get("type") == "refusal"
        )
        stop, detail = _stop(body, status, text)
        if stop == "end" and refusal and not text:
            stop, detail = "refusal", f"refusal: {refusal}"
        elif stop == "end" and not text and any(words(item.get("type")).endswith("_call") for item in output):
            stop = "tool_calls"
        return Completion(
            text,
            stop,
            reasoning=_reasoning(output),
            usage=self.usage(body),
            served_by=words(body.get("model")) or None,
            stop_detail=detail,
        )

    def usage(self, body: Mapping[str, Any]) -> Usage:
        """What it used, as far as it says."""
        counted = table(body, "usage")
        return replace(usage(counted), cost=cost(counted), tier=words(body.get("service_tier")) or None)


def _stop(body: Mapping[str, Any], status: str, text: str) -> tuple[Stop, str | None]:
    """Why it stopped, and the API's own word for it: the status, or what made the response incomplete."""
    if meaning_of(status) != "length":
        return stop_of(status, text), status or None
    reason = words(table(body, "incomplete_details").get("reason")) or status
    if meaning_of(reason) in (None, "end"):
        return "length", reason  # whatever cut it short: it is no whole answer
    return stop_of(reason, text), reason


def usage(counted: Mapping[str, Any]) -> Usage:
    """Token counts; reasoning is a part of the output."""
    return Usage(
        input=count(counted.get("input_tokens")),
        cached=count(table(counted, "input_tokens_details").get("cached_tokens")),
        output=count(counted.get("output_tokens")),
        reasoning=count(table(counted, "output_tokens_details").get("reasoning_tokens")),
        cache_written=count(table(counted, "input_tokens_details").get("cache_write_tokens")),
    )


def _reasoning(output: list[Mapping[str, Any]]) -> str | None:
    """The model's reasoning where it is returned, else the provider's summary of it."""
    thought = [
        parts(item.get("content"), ("reasoning_text",))
        or "\n".join(words(part.get("text")) for part in items(item.get("summary")))
        for item in output
        if item.get("type") == "reasoning"
    ]
    return "\n".join(filter(None, thought)) or None
