"""One call of the mock model and its answer, free of any API's shape, and every draw that is made for it.

Owns `Call` (what a request says), `Answer` or `RequestRefused` (what is said back), how tokens are counted, and
`Draws`. `wire` translates between these values and the JSON of each API; nothing here knows HTTP.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from weigh.harness.seeds import derive, stream
from weigh.policies.contract import canonical

Wire: TypeAlias = Literal["chat", "responses", "messages"]
"""Which API a request speaks: OpenAI Chat Completions, OpenAI Responses, Anthropic Messages."""

WIRES: tuple[Wire, ...] = get_args(Wire)

AnswerStop: TypeAlias = Literal["end", "length", "refusal", "filter", "tool_calls", "pause"]
"""Why an answer stops: said all, cut at the cap, declined by the model, stopped by a content filter, wants a tool,
or pauses an unfinished turn."""


class RequestRefused(Exception):
    """A request that is answered with an error in the API's own form. The message is one line, as the API words it."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        """The body field that is wrong, where the API names one."""
        self.code = code
        self.status = status


class Block(NamedTuple):
    """One part of a message, with the role it is said in."""

    text: str
    marked: bool = False
    """Whether a cache entry shall end here."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation; parts of a message are joined by newlines."""

    role: str
    text: str
    blocks: tuple[Block, ...] = ()
    """Its parts, where it came in parts."""

    @property
    def tokens(self) -> int:
        return count_tokens(self.text) + 4


@dataclass(frozen=True, slots=True)
class Call:
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
    reasoning: int = 0
    """About how many tokens of hidden reasoning were asked for; 0 for none."""
    explicit: bool = False
    """Whether only what is marked goes through a cache."""
    cached_tokens: int = 0
    written_tokens: int = 0
    """What of the prompt came from the cache, and went into it: see `caches`."""

    @property
    def request_id(self) -> str:
        """The id a provider's support would ask for; here it names the request's content."""
        return f"req_{self.digest[:24]}"

    @property
    def input_tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The whole prompt in parts, each after its role."""
        return tuple(
            Block(f"{turn.role}\n{block.text}", block.marked)
            for turn in self.turns
            for block in turn.blocks or (Block(turn.text),)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said back."""

    text: str | None
    """The visible answer; None where the API would say null."""
    stop: AnswerStop = "end"
    reasoning: str = ""
    """Reasoning shown with the answer, where the wire has a place for it."""
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

    def capped(self, cap: int | None) -> Answer:
        """The answer as a model would give it that may generate no more than `cap` tokens, reasoning first."""
        if cap is None or self.output_tokens <= cap:
            return self
        reasoning = min(self.reasoning_tokens, cap)
        text = (self.text or "")[: 4 * (cap - reasoning)]
        return replace(self, text=text, stop="length", reasoning_tokens=reasoning, refusal=None)


def count_tokens(text: str) -> int:
    """A token for every four characters begun: near enough to rehearse budgets on."""
    return -(-len(text) // 4)


def call_digest(wire: Wire, body: Mapping[str, Any]) -> str:
    """SHA-256, hex, of a request body and the API it was sent to. The order of JSON keys does not matter."""
    return hashlib.sha256(f"{wire}\n{canonical(body)}".encode()).hexdigest()


def value_at(body: Any, path: str) -> Any:
    """The value that a path such as `reasoning.effort` leads to; None where it leads nowhere."""
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


@dataclass(frozen=True, slots=True)
class Draws:
    """Every draw there is for one call: a function of the server's seed, the call and the draw's purpose alone.

    Two servers with one seed draw alike, whatever they were asked before, in every process and on every machine.
    """

    seed: int
    """The server's."""
    digest: str

    def fraction(self, purpose: str, *key: str | int) -> float:
        """A number in [0, 1), of its own for each purpose and key."""
        # The top 53 bits are what a float in [0, 1) can hold; dividing all 256 could round up to 1.
        return (derive(self.seed, f"mock-server {purpose}", self.digest, *key) >> 203) / 2**53

    def integer(self, purpose: str, below: int) -> int:
        """A whole number in [0, below)."""
        return derive(self.seed, f"mock-server {purpose}", self.digest) * below >> 256

    def rng(self, purpose: str) -> Random:
        """A generator of its own for each purpose."""
        return stream(self.seed, f"mock-server {purpose}", self.digest)
