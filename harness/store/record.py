"""The record: one finished episode, with everything needed to re-derive it.

Owns the shape of a record and its JSON form. Knows no storage and runs no rules: `harness.audit.verify.record`
replays it. The JSON form is a contract: other people's scripts read it. `docs/reference/records.md` describes it field
by field.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from weigh.policies.contract import Fault, canonical

SCHEMA = 1
"""Raised whenever a reader of older records would misread a newer one."""

By = Literal["model", "retry", "fallback", "scripted", "human"]
"""Who made a move: the first attempt, the second, the game's fallback policy, a scripted policy, or a person."""


class Frozen(BaseModel):
    """Immutable, strict about types, and without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FaultNote(Frozen):
    """One attempt that gave no legal move."""

    fault: Fault
    detail: str


class Decision(Frozen):
    """Provenance of one move. The move itself stands in `Record.moves[step][seat]`."""

    step: int = Field(ge=0)
    seat: int = Field(ge=0)
    by: By
    faults: tuple[FaultNote, ...] = Field(default=(), strict=False)
    """In the order of the attempts: none for `model`, one for `retry`, two for `fallback`."""
    notes: str | None = None
    """The player's private notes after this decision, where they changed."""


class Times(Frozen):
    """The one place of a record that holds wall-clock readings; left out of every comparison of records."""

    started: str
    """UTC, ISO 8601."""
    seconds: float
    """Wall time from first observation to outcome, in seconds."""


class Record(Frozen):
    """One finished episode."""

    schema_version: int = SCHEMA
    key: str
    """Names the episode within its run: `game/block/rotation`."""
    block: str
    """The group of episodes built to be compared with this one; scores are clustered by it."""
    game: str
    config: dict[str, JsonValue]
    """Complete: every field of the game's config, defaults written out."""
    deal: dict[str, JsonValue]
    entrants: tuple[str, ...] = Field(strict=False)
    """Who sat where, in seat order. Seats never saw these names."""
    policies: tuple[str, ...] = Field(strict=False)
    """The digest of each seat's policy."""
    models: tuple[str | None, ...] = Field(strict=False)
    """`provider:model` of each seat, None for a scripted one."""
    aliases: tuple[str, ...] = Field(strict=False)
    """The anonymous name each seat played under."""
    fallback: str
    """The scripted policy that moved for a seat after two faults."""
    episode_deadline: float | None = None
    """Seconds an episode may take, None for no limit. Only an episode with one can end by `deadline`."""
    moves: tuple[Annotated[tuple[JsonValue, ...], Field(strict=False)], ...] = Field(strict=False)
    """A step per row, an entry per seat, null for a seat that had no move to make (or made the move null)."""
    decisions: tuple[Decision, ...] = Field(strict=False)
    """One for every move asked for, by step, then by seat."""
    events: tuple[dict[str, JsonValue], ...] = Field(strict=False)
    reason: Literal["complete", "deadline"]
    ending: str
    scores: tuple[float, ...] = Field(strict=False)
    """The floats nearest to the exact scores; one per seat, summing to 0 before rounding."""
    measures: dict[str, JsonValue]
    """The game's own report, e.g. `points` and `collusion_index`, per seat in seat order."""
    fallbacks: tuple[int, ...] = Field(strict=False)
    """Moves per seat that the fallback made."""
    times: Times | None = None

    def comparable(self) -> str:
        """Canonical JSON without `times`: equal for equal play, byte for byte."""
        return canonical(self.model_dump(mode="json", exclude={"times"}))
