"""The usage that a response reports, in the same words for all three APIs.

Owns where each API puts its token counts, and that Anthropic counts cached tokens beside the prompt's, OpenAI within.
Reads the body as it is sent, so that what the statistics add up is what a client was told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weigh.harness.providers.mock_server.exchange import Wire

KINDS = ("input", "cached", "output", "reasoning")


@dataclass(frozen=True, slots=True)
class Told:
    """Usage of one response, in tokens."""

    input: int
    """The whole prompt, `cached` included."""
    cached: int
    output: int
    """All that was generated, `reasoning` included."""
    reasoning: int


def told(wire: Wire, body: Mapping[str, Any]) -> Told | None:
    """The usage in the body of a response; None when it reports none."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None
    if wire == "chat":
        return Told(
            _count(usage, "prompt_tokens"),
            _count(usage, "prompt_tokens_details", "cached_tokens"),
            _count(usage, "completion_tokens"),
            _count(usage, "completion_tokens_details", "reasoning_tokens"),
        )
    if wire == "responses":
        return Told(
            _count(usage, "input_tokens"),
            _count(usage, "input_tokens_details", "cached_tokens"),
            _count(usage, "output_tokens"),
            _count(usage, "output_tokens_details", "reasoning_tokens"),
        )
    cached = _count(usage, "cache_read_input_tokens")
    return Told(
        _count(usage, "input_tokens") + _count(usage, "cache_creation_input_tokens") + cached,
        cached,
        _count(usage, "output_tokens"),
        _count(usage, "output_tokens_details", "thinking_tokens"),
    )


def _count(usage: Any, *path: str) -> int:
    for name in path:
        usage = usage.get(name) if isinstance(usage, Mapping) else None
    return usage if isinstance(usage, int) else 0
