"""What an earlier run measured: tokens for each character, tokens of an answer, second attempts, latencies, decisions.

Owns these means and where each is looked for: the same policy in the same game first, then the same entrant with the
same model, then the model in the game, then the model. Knows no prices. None means that the run does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from weigh.harness.store.calls import BROUGHT
from weigh.harness.store.store import CallFacts, Store
from weigh.harness.store.usage import was_cut

Place: TypeAlias = tuple[str, ...]
"""The kind of a place, then what names it."""

Mean: TypeAlias = Literal["latency", "output", "retry_share", "characters_per_token", "decisions"]


@dataclass(slots=True)
class Measured:
    """Sums over the calls of one place."""

    input_tokens: int = 0
    characters: int = 0
    """Of the prompts that `input_tokens` were counted of."""
    output_tokens: int = 0
    output_calls: int = 0
    seconds: float = 0.0
    answered: int = 0
    first: int = 0
    """First attempts at a decision that a call was made for."""
    second: int = 0
    seats: int = 0
    """Seat-episodes of finished episodes."""
    decided: int = 0
    """First attempts in them."""
    attempts: int = 0
    """First and second attempts in them."""
    last: tuple[str, int] | None = None
    """Episode and seat of the last call: calls come seat by seat."""

    def add(self, call: CallFacts, finished: bool) -> None:
        if finished:
            self.seats += self.last != (call.episode, call.seat)
            self.last = (call.episode, call.seat)
            self.decided += call.number == 0 and call.attempt == 1
            self.attempts += call.number == 0
        if call.number == 0:
            self.first += call.attempt == 1
            self.second += call.attempt > 1
        if call.fate == "answered":
            self.answered += 1
            self.seconds += call.latency
        if call.fate not in BROUGHT:
            return
        if call.output_tokens is not None:
            self.output_tokens += call.output_tokens
            self.output_calls += 1
        if call.input_tokens and call.prompt_characters and not was_cut(call.prompt_characters, call.input_tokens):
            self.input_tokens += call.input_tokens
            self.characters += call.prompt_characters

    def mean(self, what: Mean) -> float | None:
        """`latency`: seconds of an answered call; `output`: tokens of an answer, reasoning included; `retry_share`:
        second attempts for each first one; `decisions`: of a seat-episode."""
        above, below = {
            "latency": (self.seconds, self.answered),
            "output": (self.output_tokens, self.output_calls),
            "retry_share": (self.second, self.first),
            "characters_per_token": (self.characters, self.input_tokens),
            "decisions": (self.decided, self.seats),
        }[what]
        return above / below if below else None


@dataclass(frozen=True, slots=True)
class Past:
    """What a run measured, by place."""

    source: str
    """The run's folder, for people."""
    places: dict[Place, Measured] = field(default_factory=dict)

    def find(self, what: Mean, game: str, entrant: str, digest: str, model: str) -> tuple[float | None, str | None]:
        """A mean from the nearest place that has it, and the kind of that place: `policy`, `entrant`, `game`, `model`.
        (None, None) where no place has it."""
        for place in _places(game, entrant, digest, model):
            if what == "decisions" and place[0] == "model":
                break  # other games are of other lengths
            value = self.places[place].mean(what) if place in self.places else None
            if value is not None:
                return value, place[0]
        return None, None

    def played(self, game: str, entrant: str, model: str) -> Measured | None:
        """What an entrant took with this model in one game; None where it finished no episode."""
        found = self.places.get(("entrant", game, entrant, model))
        return found if found is not None and found.seats else None


def past_of(store: Store, source: str) -> Past:
    """What a run measured so far. One pass over its calls, without their texts."""
    past = Past(source)
    finished = frozenset(store.finished())
    for call in store.call_facts():
        game, entrant = call.game or "", call.entrant or ""
        policy = store.manifest.policy(game, entrant) or {}
        for place in _places(game, entrant, str(policy.get("digest")), call.model):
            past.places.setdefault(place, Measured()).add(call, call.episode in finished)
    return past


def _places(game: str, entrant: str, digest: str, model: str) -> Iterator[Place]:
    yield "policy", game, digest, model
    yield "entrant", game, entrant, model
    yield "game", game, model
    yield "model", model
