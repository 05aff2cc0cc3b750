"""Prompt caches as the vendors document them (2026-11), so that what a run would pay can be rehearsed.

Owns what was written so far, and how much of a prompt is read from it and written to it. Anthropic, and OpenAI in
explicit mode: an entry ends at each marked block; a mark reads the longest entry that ends at it or at one of the
blocks before it (20 at Anthropic), and what follows up to the last mark is written, at a surcharge. OpenAI by itself:
entries end every 128 tokens, and writing costs nothing. What is shorter than a model's least entry goes through no
cache. Entries do not age here; which of two simultaneous requests writes first is as open as it is in the world.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from weigh.harness.providers.mock_server.exchange import Block, Call

LEAST = 1_024
"""Tokens of the shortest entry, of models that are not in the table below."""
_LEAST = (
    (r"claude-(opus|fable|mythos)-5", 512),
    (r"claude-opus-4-7", 2_048),
    (r"claude-(opus-4-[56]|haiku-4-5)", 4_096),
)
LOOKBACK = 20
"""Blocks that Anthropic looks at before a mark, itself included."""
_STRIDE = 128
_CHARACTERS = 4  # a token, as `exchange.count_tokens` counts


class CacheUse(NamedTuple):
    """Tokens of one prompt that came from a cache, and that went into it."""

    read: int = 0
    written: int = 0


class Caches:
    """What one server has cached, by model."""

    def __init__(self) -> None:
        self._entries: dict[str, set[bytes]] = {}

    def use(self, call: Call) -> CacheUse:
        """How much of the prompt is read and written; and its entries are kept."""
        entries = self._entries.setdefault(f"{call.wire} {call.model}", set())
        if call.explicit:
            least = next((tokens for model, tokens in _LEAST if re.match(model, call.model)), LEAST)
            return _by_marks(call.blocks, entries, least, LOOKBACK if call.wire == "messages" else 80)
        return _by_stride("\0".join(block.text for block in call.blocks), entries)


def _by_marks(blocks: tuple[Block, ...], entries: set[bytes], least: int, lookback: int) -> CacheUse:
    prefixes = list(_prefixes(blocks))
    marks = [index for index, block in enumerate(blocks) if block.marked]
    seen = {index for mark in marks for index in range(max(0, mark - lookback + 1), mark + 1)}
    read = max((prefixes[index].tokens for index in seen if prefixes[index].digest in entries), default=0)
    kept = [prefixes[mark] for mark in marks if prefixes[mark].tokens >= least]
    entries.update(prefix.digest for prefix in kept)
    return CacheUse(read, max((prefix.tokens for prefix in kept), default=read) - read)


class _Prefix(NamedTuple):
    digest: bytes
    tokens: int


def _prefixes(blocks: tuple[Block, ...]) -> Iterator[_Prefix]:
    """The prompt up to the end of each block."""
    running, characters = hashlib.sha256(), 0
    for block in blocks:
        running.update(f"{block.text}\0".encode())
        characters += len(block.text)
        yield _Prefix(running.digest(), -(-characters // _CHARACTERS))


def _by_stride(text: str, entries: set[bytes]) -> CacheUse:
    running, read = hashlib.sha256(), 0
    step = _STRIDE * _CHARACTERS
    for end in range(step, len(text) + 1, step):
        running.update(text[end - step : end].encode())
        if end >= LEAST * _CHARACTERS:
            if running.digest() in entries:
                read = end // _CHARACTERS
            entries.add(running.digest())
    return CacheUse(read)
