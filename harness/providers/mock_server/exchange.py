"""One question to the mock server and its answer, free of any endpoint's shape.

Owns `Asked` (what a request says), `Answer` (what is said back) and how both are counted in tokens. The wire modules
translate between these values and the JSON of each API; nothing here knows HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Wire: TypeAlias = Literal["chat", "responses", "messages"]
"""Which API a request speaks: OpenAI Chat Completions, OpenAI Responses, Anthropic Messages."""

WIRES: tuple[Wire, ...] = ("chat", "responses", "messages")

AnswerStop: TypeAlias = Literal["end", "length", "refusal", "filter", "tool_calls", "pause"]
"""Why an answer stops: said all, cut at the cap, declined by the model, stopped by a content filter, wants a tool,
or pauses an unfinished turn."""

CACHE_BLOCK = 128
"""Cached prompt tokens are counted in whole blocks, as prompt caches do."""
CACHE_FROM = 1024
"""Shorter prompts are not cached."""


class RequestRefused(ValueError):
    """A request the API would answer with 400. The message is one line, as the API words it."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        """The body field that is wrong, where the API names one."""
        self.code = code


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation; parts of a message are joined by newlines."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request says."""

    wire: Wire
    model: str
    body: Mapping[str, Any]
    """The request's JSON, as sent."""
    digest: str
    turns: tuple[Turn, ...]
    """System first."""
    schema: Mapping[str, Any] | None = None
    """The JSON Schema the answer must satisfy."""
    bare_json: bool = False
    """Whether JSON and nothing else was asked for without a schema."""
    cap: int | None = None
    """The most tokens to generate, hidden reasoning included."""
    thinks: int = 0
    """About how many tokens of hidden reasoning were asked for; 0 for none."""
    caches: bool = True
    """Whether the prompt's front may be counted as read from a cache."""

    @property
    def text(self) -> str:
        """Everything said so far, in one text."""
        return "\n".join(turn.text for turn in self.turns)

    @property
    def input_tokens(self) -> int:
        return sum(count_tokens(turn.text) + 4 for turn in self.turns)

    @property
    def cached_tokens(self) -> int:
        """What stands before the last message, in whole blocks: a conversation's growing front.

        Real caches depend on what came before; here it is a property of the request alone, to be reproducible.
        """
        if not self.caches or self.input_tokens < CACHE_FROM:
            return 0
        front = sum(count_tokens(turn.text) + 4 for turn in self.turns[:-1])
        return front // CACHE_BLOCK * CACHE_BLOCK


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said back."""

    text: str | None
    """The visible answer; None where the API would say null."""
    stop: AnswerStop = "end"
    reasoning: str = ""
    """Reasoning shown beside the answer, where the wire has a place for it."""
    reasoning_tokens: int = 0
    """Hidden reasoning; part of the generated tokens."""
    refusal: str | None = None
    """What a model says when it declines in a field of its own."""
    parts: bool = False
    """Whether the content comes as a list of typed parts even where the API uses plain text."""

    @property
    def output_tokens(self) -> int:
        """All generated tokens, reasoning included."""
        return count_tokens(self.text or "") + count_tokens(self.refusal or "") + self.reasoning_tokens


def count_tokens(text: str) -> int:
    """A token for every four characters begun: near enough to rehearse budgets on."""
    return -(-len(text) // 4)


def cap_answer(answer: Answer, cap: int | None) -> Answer:
    """The answer as a model would give it that may generate no more than `cap` tokens, reasoning first."""
    if cap is None or answer.output_tokens <= cap:
        return answer
    reasoning = min(answer.reasoning_tokens, cap)
    return Answer(
        text=(answer.text or "")[: 4 * (cap - reasoning)],
        stop="length",
        reasoning=answer.reasoning,
        reasoning_tokens=reasoning,
        parts=answer.parts,
    )
