"""The contract of who plays: policies, players, and the model client a prompted player speaks through.

Owns: the words for a reply, its faults and its retry; requests to a model and what comes back; who is charged for what.
Knows games by their contract only. Knows no provider, no storage and no clock.

A fault is the policy's (its reply gave no legal move): it is data. An outage is not: the episode is void.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Literal, Protocol, TypeAlias

from weigh.games.game import Json, Move, Observation, Seat

Fault: TypeAlias = Literal["illegal", "unreadable", "ambiguous", "empty", "truncated", "refused", "timed_out"]
"""Why an attempt gave no legal move. Charged to the policy."""

FAULTS: tuple[Fault, ...] = ("illegal", "unreadable", "ambiguous", "empty", "truncated", "refused", "timed_out")

Stop: TypeAlias = Literal["end", "length", "refusal", "tool_calls", "malformed", "pause", "unknown"]
"""Why the model stopped: said all, cut at the token cap, declined, wanted a tool, generated what its provider could not
read, paused an unfinished turn, or for a reason that is not known."""

STOPS: tuple[Stop, ...] = ("end", "length", "refusal", "tool_calls", "malformed", "pause", "unknown")

Style: TypeAlias = Literal["reason-then-json", "json-only", "schema"]
"""How an answer is asked for; `schema` uses the provider's structured output."""

STYLES: tuple[Style, ...] = ("reason-then-json", "json-only", "schema")


class ProviderFailure(Exception):
    """A model call failed for a reason that is not the policy's. The message is one line, free of keys and headers.

    ProviderFailure
    ├── Outage    the provider could not serve: the episode is void, kept, replayed later, never rated
    └── Fatal     no further call can succeed (key, credits, model name, request shape): the run stops, resumable
    """


class Outage(ProviderFailure):
    """The provider failed beyond the retry budget."""


class Fatal(ProviderFailure):
    """The provider will refuse every further call; the message says what to fix."""


class DecisionTimedOut(Exception):
    """The decision's time ran out during a model call. Becomes the fault `timed_out`."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn. The same on a decision's retry."""

    max_tokens: int = 1024
    """Cap on generated tokens, hidden reasoning included."""
    temperature: float | None = None
    """None leaves the provider's default; 0 is sent as 0."""
    seed: int | None = None
    """Sent where the endpoint takes one."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Further body fields of the endpoint, e.g. a reasoning effort; sent as they are."""

    def to_json(self) -> dict[str, Json]:
        return {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            "extra": dict(self.extra),
        }


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. Texts are never empty."""

    role: Literal["system", "user", "assistant"]
    text: str
    cuts: tuple[int, ...] = field(default=(), compare=False)
    """Where parts end that later requests of the same player will repeat byte for byte, ascending: how the text may be
    marked for a provider's cache. No part of what is said, so neither compared, nor stored, nor in a digest."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The text in pieces: one a cut, and what follows the last."""
        ends = (0, *self.cuts, len(self.text))
        return tuple(self.text[start:end] for start, end in pairwise(ends) if start < end)


@dataclass(frozen=True)
class Request:
    """One question to one model. Two equal requests have equal digests, on every machine."""

    model: str
    """`provider:model`, as written in a config."""
    messages: tuple[Message, ...]
    """System first, then user and assistant in strict alternation, user last."""
    sampling: Sampling
    schema: Mapping[str, Json] | None = None
    """JSON Schema the reply must satisfy, where the policy's style is `schema`."""

    @cached_property
    def digest(self) -> str:
        """SHA-256, hex, over the canonical JSON of everything that is sent. Computed once: a ledger asks twice."""
        body = {
            "model": self.model,
            "messages": [[m.role, m.text] for m in self.messages],
            "sampling": self.sampling.to_json(),
            "schema": self.schema,
        }
        return hashlib.sha256(canonical(body).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider counted them; None where it did not say."""

    input: int | None = None
    """All prompt tokens, cached ones included."""
    cached: int | None = None
    """The part of `input` that was read from a cache."""
    output: int | None = None
    """All generated tokens, reasoning included."""
    reasoning: int | None = None
    """The part of `output` that was hidden reasoning. Never added to it."""
    cache_written: int | None = None
    """The part of `input` that was written to a cache, which some providers charge above plain input."""
    cost: float | None = None
    """US dollars, as the provider itself states them."""
    tier: str | None = None
    """The service tier that it was served under, in the provider's word."""


Billing: TypeAlias = Literal["known", "none", "unknown"]
"""Whether it was paid for: usage was reported; nothing was charged (the provider refused it unbilled, or no request
left); nobody can tell (cut, timed out, lost)."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back from one model call that the provider answered."""

    text: str
    """The visible answer; empty when there was none."""
    stop: Stop
    reasoning: str | None = None
    """Reasoning the endpoint returned beside the answer. Kept for the record, never read for a move."""
    usage: Usage = Usage()
    served_by: str | None = None
    """The model name the provider says it used."""
    stop_detail: str | None = None
    """The provider's own word for why it stopped."""


CONTEXT_FULL = "context_length_exceeded"
"""`Completion.stop_detail` of a prompt turned down for its length (stop `length`): nothing was read or generated."""


class ModelClient(Protocol):
    """The one door to a model. Retries, limits and the ledger wrap it and have the same shape."""

    async def complete(self, request: Request) -> Completion:
        """Ask once. Raises Outage, Fatal or DecisionTimedOut; never returns a failure as an answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one attempt at a decision gave: a legal move, or the fault that stands in its place."""

    move: Move = None
    """Canonical and legal when `fault` is None; otherwise meaningless. (None itself is a move in some games.)"""
    fault: Fault | None = None
    detail: str = ""
    """One line for people: what was wrong, quoting the reply. Empty for a legal move."""
    candidates: int = 0
    """How many distinct answers the reply held. 0 for a scripted move."""
    notes: str | None = None
    """The player's private notes as they stand after this attempt, or None when it keeps none."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Why a second attempt is asked for."""

    fault: Fault
    detail: str
    hint: str
    """What the player reads: the fault in its own words, and the legal set."""


class Player(Protocol):
    """A policy sat down at one seat for one episode. May remember; thrown away after."""

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        """One attempt. With `retry`, the second and last attempt at the same observation."""


class Policy(Protocol):
    """An immutable recipe for playing."""

    @property
    def name(self) -> str:
        """Shown to people. Never shown to a seat."""

    @property
    def digest(self) -> str:
        """SHA-256, hex, over everything that decides how it plays."""

    @property
    def model(self) -> str | None:
        """`provider:model` whose client `sit` needs; None for a scripted policy, which answers inline."""

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> Player:
        """A fresh player with its own stream of randomness and, for a prompted policy, its own channel to the model."""


def canonical(value: object) -> str:
    """JSON text with sorted keys, no spaces and ASCII only: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
