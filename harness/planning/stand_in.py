"""A model's stand-in: a prompted policy sat down for real, with a scripted policy's moves for answers.

Owns the client that answers without a network, the measure it takes of every request, and how a move is written as an
answer that the reader takes. Knows no provider and no price.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from random import Random
from typing import Any

from weigh.games.game import Legal, Move, Observation, Seat
from weigh.harness.store.usage import characters_of
from weigh.policies.contract import FAULTS, Completion, ModelClient, Player, Policy, Reply, Request, Retry
from weigh.policies.layout import QUOTED_TAIL, hint
from weigh.policies.reply import read_reply

SPELLINGS = 2_000
"""The most answers that are tried for one move."""

LONG_DETAIL = "x" * 100_000
"""A fault's detail that a hint has to cut."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The size of one question that a seat would have put to its model."""

    step: int
    seat: Seat
    characters: int
    """Of the prompt: all its texts."""
    retry_characters: int
    """Of the longest prompt that a second attempt can have: the first one, the longest tail of a failed reply that is
    repeated, and the longest hint."""
    answer_characters: int
    """Of the shortest answer with the move that was made."""


@dataclass(slots=True)
class StandIn:
    """A seat's line to nobody. Implements `harness.run.episode.Line`: it gives the answer it was told to give."""

    answer: str = ""
    step: int = 0
    request: Request | None = None
    """The last one."""
    asked: list[Asked] = field(default_factory=list)

    def open(self, step: int, attempt: int) -> None:
        self.step = step

    async def complete(self, request: Request) -> Completion:
        self.request = request
        return Completion(self.answer, "end")


@dataclass(frozen=True, slots=True)
class StoodIn:
    """A prompted policy whose model has a stand-in: its prompts are its own, its moves are a scripted policy's."""

    policy: Policy
    mover: Policy
    """Scripted."""

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def digest(self) -> str:
        return self.policy.digest

    @property
    def model(self) -> str | None:
        return self.policy.model

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> Player:
        """Raises TypeError for a line that is no StandIn."""
        if not isinstance(client, StandIn):
            raise TypeError(f"{self.name} has a stand-in for its model and was given {client!r}")
        return _Player(self.policy.sit(seat, rng, client), self.mover.sit(seat, rng, None), client)


@dataclass(frozen=True, slots=True)
class _Player:
    prompted: Player
    mover: Player
    line: StandIn

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        move = (await self.mover.decide(observation, None)).move
        self.line.answer = written(move, observation.legal)
        reply = await self.prompted.decide(observation, retry)
        request = self.line.request
        if request is None:
            raise TypeError("a prompted player answered without asking its model")
        size = characters_of(request)
        self.line.asked.append(
            Asked(
                step=self.line.step,
                seat=observation.seat,
                characters=size,
                retry_characters=size + QUOTED_TAIL + longest_hint(observation.legal),
                answer_characters=len(self.line.answer),
            )
        )
        return reply


def longest_hint(legal: Legal) -> int:
    """Characters of the longest hint that a second attempt at this position can be given."""
    return max(len(hint(fault, LONG_DETAIL, legal)) for fault in FAULTS)


def written(move: Move, legal: Legal) -> str:
    """`move` as the text of an answer, without a space in it.

    Where none is found that reads to this very move, the game's example: another legal move.
    """
    for answer in islice(_answers(move, legal), SPELLINGS):
        text = json.dumps(answer, separators=(",", ":"), ensure_ascii=False)
        reading = read_reply(text, "end", legal)
        if reading.fault is None and reading.move == move:
            return text
    return legal.answer.example


def _answers(move: Move, legal: Legal) -> Iterator[Mapping[str, Any]]:
    """What may stand for a move, by the form of answers alone: the move itself, the value of one key, and every
    combination of what the schema lists for its keys."""
    form = legal.answer
    if isinstance(move, Mapping):
        yield move
    for key in form.keys:
        yield {key: move}
    listed = {key: _enumerated(form.schema.get(key)) for key in form.required}
    for values in product(*listed.values()):
        yield dict(zip(listed, values, strict=True))


def _enumerated(schema: object) -> list[Any]:
    values = schema.get("enum") if isinstance(schema, Mapping) else None
    return list(values) if isinstance(values, list | tuple) else []
