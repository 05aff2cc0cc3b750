"""Pilot episodes: a few of a ladder's tables, played offline to see what its models would be asked.

A scripted policy moves for every model. At each such seat every prompted entrant of the game is asked the question that
it would have been asked there, and the scripted move is written down as its answer: equal prompts get equal figures,
and how long episodes are is pooled over all seats. Owns which tables are taken and what is measured at them. Deals come
from streams of their own: no pilot shows anything of a deal that the run will be played on. Knows no provider and no
price.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from math import sqrt
from random import Random
from typing import Any

from weigh.games.game import Legal, Move, Observation, Seat
from weigh.harness.config.schedule import Episode
from weigh.harness.run.offline import PURPOSE, played
from weigh.harness.run.runner import Division
from weigh.harness.store.usage import characters_of
from weigh.policies.contract import FAULTS, Completion, ModelClient, Player, Policy, Reply, Request, Retry
from weigh.policies.layout import QUOTED_TAIL, hint
from weigh.policies.reply import read_reply
from weigh.policies.scripted.registry import scripted, yardsticks

PILOTS = 18
"""Pilot episodes of a game: three policies move for the models, seated in six ways."""

SPELLINGS = 2_000
"""The most answers that are tried for one move."""

LONG_DETAIL = "x" * 100_000
"""A fault's detail that a hint has to cut."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The size of one question that an entrant would have put to its model."""

    entrant: str
    characters: int
    """Of the prompt: all its texts."""
    retry_characters: int
    """Of the longest prompt that a second attempt can have: the first one, the longest tail of a failed reply that is
    repeated, and the longest hint."""
    answer_characters: int
    """Of the shortest answer with the move that was made."""


@dataclass(slots=True)
class ScriptedClient:
    """A model client that asks nobody: it gives the answer that it was told to give, and keeps the requests."""

    answer: str = ""
    requests: list[Request] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion(self.answer, "end")


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A seat where a scripted policy moves and prompted policies are asked what they would be asked. Itself scripted.

    `asked` and `requests` grow as it plays; `requests` are those of the first prompted policy.
    """

    prompted: Sequence[Policy]
    mover: Policy
    asked: list[Asked] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.mover.name

    @property
    def digest(self) -> str:
        return self.mover.digest

    @property
    def model(self) -> None:
        return None

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None = None) -> Player:
        models = [ScriptedClient() for _ in self.prompted]
        players = [policy.sit(seat, rng, model) for policy, model in zip(self.prompted, models, strict=True)]
        return _Rehearsing(self, self.mover.sit(seat, rng, None), players, models)


@dataclass(frozen=True, slots=True)
class _Rehearsing:
    seat: Rehearsal
    mover: Player
    players: Sequence[Player]
    models: Sequence[ScriptedClient]

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        reply = await self.mover.decide(observation, None)
        answer = written(reply.move, observation.legal)
        more = QUOTED_TAIL + longest_hint(observation.legal)
        for policy, player, model in zip(self.seat.prompted, self.players, self.models, strict=True):
            model.answer = answer
            await player.decide(observation, None)
            size = characters_of(model.requests[-1])
            self.seat.asked.append(Asked(policy.name, size, size + more, len(answer)))
        if self.models:
            self.seat.requests.append(self.models[0].requests[-1])
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


@dataclass(frozen=True, slots=True)
class Pilot:
    """One pilot episode."""

    acting: tuple[tuple[int, ...], ...]
    """The seats that moved, step by step."""
    decisions: tuple[int, ...]
    """Of each seat of a model, in it."""
    asked: tuple[Asked, ...]


async def play_pilots(division: Division, episodes: Sequence[Episode], seed: int) -> tuple[Pilot, ...]:
    """Play the first PILOTS of `episodes` with a model at the table, the same ones again where they are fewer."""
    # Of an extended run, an entrant that left still stands in episodes that were played.
    known = [episode for episode in episodes if division.policies.keys() >= set(episode.entrants)]
    models = {name for name, policy in division.policies.items() if policy.model is not None}
    tables = [episode for episode in known if not models.isdisjoint(episode.entrants)]
    return tuple([await _play(division, table, n, seed) for n, table in enumerate(islice(cycle(tables), PILOTS))])


async def _play(division: Division, episode: Episode, number: int, seed: int) -> Pilot:
    """The scripted policies that show what a score is worth move for the models: all seats alike, then by turns, for
    how long a game is depends on who meets whom."""
    movers = yardsticks(division.game.name)
    turn = number // len(movers)
    prompted = [policy for policy in division.policies.values() if policy.model is not None]
    policies: list[Policy] = []
    for seat, name in enumerate(episode.entrants):
        mover = scripted(division.game.name, movers[(number + seat * turn) % len(movers)])
        policy = division.policies[name]
        policies.append(policy if policy.model is None else Rehearsal(prompted, mover))
    record = await played(division, policies, f"{PURPOSE}/{episode.game}/{number}", number, seed)
    steps: dict[int, list[int]] = {}
    for decision in record.decisions:
        steps.setdefault(decision.step, []).append(decision.seat)
    decided = Counter(decision.seat for decision in record.decisions)
    rehearsed = {seat: policy for seat, policy in enumerate(policies) if isinstance(policy, Rehearsal)}
    return Pilot(
        acting=tuple(map(tuple, steps.values())),
        decisions=tuple(decided[seat] for seat in rehearsed),
        asked=tuple(asked for policy in rehearsed.values() for asked in policy.asked),
    )


@dataclass(frozen=True, slots=True)
class Length:
    """How many decisions one seat of a model makes in an episode of one game."""

    fewest: int
    """By the rules, like `most`: no episode that ends by itself has fewer or more."""
    most: int
    expected: float
    """The mean over the seats of all pilots."""
    error: float | None
    """Its standard error, with a pilot for a cluster; None for fewer than two pilots."""
    seats: int
    """Seat-episodes that it was measured on."""


def length_of(pilots: Sequence[Pilot], bounds: tuple[int, int]) -> Length | None:
    """Pooled over all pilots of a game; None without any. `bounds` are the rules'."""
    seats = sum(len(pilot.decisions) for pilot in pilots)
    if not seats:
        return None
    mean = sum(sum(pilot.decisions) for pilot in pilots) / seats
    error = None
    if len(pilots) > 1:
        apart = sum((sum(pilot.decisions) - mean * len(pilot.decisions)) ** 2 for pilot in pilots)
        error = sqrt(apart * len(pilots) / (len(pilots) - 1)) / seats
    return Length(*bounds, mean, error, seats)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one entrant would be asked in one game: mean characters of a question."""

    characters: float
    """Of a first attempt's prompt."""
    retry_characters: float
    """Of the longest prompt of a second attempt."""
    answer_characters: float


def sizes_of(entrant: str, pilots: Sequence[Pilot]) -> Sizes | None:
    """What `entrant` was asked in the pilots of one game; None for one that was asked nothing."""
    asked = [one for pilot in pilots for one in pilot.asked if one.entrant == entrant]
    if not asked:
        return None
    sums = (
        sum(getattr(one, name) for one in asked) for name in ("characters", "retry_characters", "answer_characters")
    )
    return Sizes(*(total / len(asked) for total in sums))
