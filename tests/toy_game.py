"""A game for the harness's own tests: any number of seats from 2 to 26 name a number at once, for a few rounds.

The highest number scores one; everything is public after the round. It is no part of the product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from weigh.games.game import Deal, Event, Json, Move, Observation, Outcome, Seat
from weigh.games.legal import Bids

VALUES = tuple(range(10))


class ToyConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    seats: int = Field(4, ge=2, le=26)
    rounds: int = Field(3, ge=1, le=1000)


@dataclass(frozen=True, slots=True)
class ToyState:
    config: ToyConfig
    rounds: tuple[tuple[int, ...], ...] = ()
    stopped: bool = False

    @property
    def to_act(self) -> frozenset[Seat]:
        over = self.stopped or len(self.rounds) == self.config.rounds
        return frozenset() if over else frozenset(range(self.config.seats))

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(Event("named", {"round": index, "bids": list(row)}) for index, row in enumerate(self.rounds))

    @property
    def outcome(self) -> Outcome | None:
        if self.to_act:
            return None
        n = self.config.seats
        wins = [sum(row[seat] == max(row) and row.count(max(row)) == 1 for row in self.rounds) for seat in range(n)]
        mean = Fraction(sum(wins), n)
        scores = tuple((Fraction(win) - mean) / max(1, self.config.rounds) for win in wins)
        reason: Literal["complete", "deadline"] = "deadline" if self.stopped else "complete"
        return Outcome(scores, reason, "wall-clock" if self.stopped else "rounds-played", {"wins": wins})

    def legal(self, seat: Seat) -> Bids:
        return Bids(VALUES)

    def play(self, moves: Mapping[Seat, Move]) -> ToyState:
        row = tuple(self.legal(seat).read(moves[seat]) for seat in range(self.config.seats))
        return ToyState(self.config, (*self.rounds, row))

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        history = tuple(f"round {index}: {row}" for index, row in enumerate(self.rounds))
        facts: dict[str, Json] = {"round": len(self.rounds), "history": [list(row) for row in self.rounds]}
        bids = self.legal(seat).describe()
        situation = f"Round {len(self.rounds)}, with {', '.join(names)}.\nYour legal bids: {bids}."
        return Observation(seat, facts, history, situation, self.legal(seat))

    def stop(self) -> ToyState:
        return ToyState(self.config, self.rounds, stopped=True)


@dataclass(frozen=True, slots=True)
class Toy:
    name: str = "toy"
    title: str = "Toy: name a number"
    seats: range = range(2, 27)
    config_type: type[ToyConfig] = ToyConfig
    fallback: str = "zero"

    def seat_count(self, config: ToyConfig) -> int:
        return config.seats

    def rulebook(self, config: ToyConfig) -> str:
        return "Name a number from 0 to 9. The highest one alone scores."

    def deal(self, config: ToyConfig, rng: Random) -> Deal:
        return {}

    def start(self, config: ToyConfig, deal: Deal) -> ToyState:
        return ToyState(config)

    def longest(self, config: ToyConfig) -> int:
        return config.rounds

    def decisions(self, config: ToyConfig) -> tuple[int, int]:
        return config.rounds, config.rounds

    def lowest(self, config: ToyConfig) -> Fraction:
        return Fraction(-1, config.seats)
