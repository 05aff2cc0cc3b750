"""Anthropic's Messages API.

Owns the translation of a request to a body, and of a body to a completion. Makes no call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from anthropic import transform_schema

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
from weigh.harness.providers.wire.finish_reasons import stop_of
from weigh.policies.contract import Completion, Request, Usage


class AnthropicMessages:
    """The wire shape of `POST /v1/messages`."""

    path = "/v1/messages"

    def body(self, request: Request, endpoint: Endpoint, takes: Capabilities) -> dict[str, Any]:
        """What is sent for `request`. A thinking budget and an effort come with the sampling's `extra`."""
        system, dialogue = turns(request.messages, system=takes.system)
        sampling = request.sampling
        mark = mark_of(endpoint, takes)
        body: dict[str, Any] = {
            "model": endpoint.model,
            "messages": [turn.sent(mark) for turn in dialogue],
            "max_tokens": sampling.max_tokens,
        }
        if system:
            body["system"] = [{"type": "text", "text": system} | mark] if mark else system
        if sampling.temperature is not None and takes.temperature:
            body["temperature"] = sampling.temperature
        extra = dict(sampling.extra)
        if request.schema is not None:
            # The API takes a part of JSON Schema; the SDK puts bounds it does not take into descriptions.
            schema = without_tuples(request.schema)
            form = {"type": "json_schema", "schema": transform_schema(schema)}
            body["output_config"] = {**table(extra.pop("output_config", None)), "format": form}
        return body | extra

    def read(self, body: Mapping[str, Any]) -> Completion:
        """The completion in an answer. Raises NoAnswer when it holds none."""
        content = body.get("content")
        if not isinstance(content, list):
            raise NoAnswer("it holds no content")
        reason = words(body.get("stop_reason"))
        detail = reason or None
        category = words(table(body, "stop_details").get("category"))
        if reason == "refusal" and category:
            detail = f"refusal: {category}"
        thought = [words(block.get("thinking")) for block in items(content) if block.get("type") == "thinking"]
        text = parts(content, ("text",))
        return Completion(
            text,
            stop_of(reason, text),
            reasoning="\n".join(filter(None, thought)) or None,
            usage=self.usage(body),
            served_by=words(body.get("model")) or None,
            stop_detail=detail,
        )

    def usage(self, body: Mapping[str, Any]) -> Usage:
        """What it used, as far as it says."""
        counted = table(body, "usage")
        return replace(usage(counted), cost=cost(counted), tier=words(counted.get("service_tier")) or None)


def usage(counted: Mapping[str, Any]) -> Usage:
    """Token counts. `input_tokens` leaves out what went through the cache, on the way in and on the way out."""
    fresh = count(counted.get("input_tokens"))
    cached = count(counted.get("cache_read_input_tokens"))
    written = count(counted.get("cache_creation_input_tokens"))
    return Usage(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        cached=cached,
        output=count(counted.get("output_tokens")),
        reasoning=count(table(counted, "output_tokens_details").get("thinking_tokens")),
        cache_written=written,
    )
