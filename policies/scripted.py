"""Scripted policies: a pure rule from what a seat may know to a move, made into a policy.

Owns that step. Knows no game and no rule. A scripted player needs no model, answers inline and remembers nothing: what
it does depends on the observation and on its seat's own stream of randomness alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from games.game import Json, Legal, Move, Observation, Seat
from policies.contract import ModelClient, Reply, Retry, canonical

Rule: TypeAlias = Callable[[Mapping[str, Json], Legal, Random], Move]
"""The facts of an observation, the legal moves, and the seat's own randomness: one of the legal moves."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule under a version number, which is raised whenever the rule would move differently somewhere."""

    rule: Rule
    version: int = 1


@dataclass(frozen=True, slots=True)
class ScriptedPolicy:
    """A baseline under its name, for one game. Implements `policies.contract.Policy`."""

    name: str
    game: str
    baseline: Baseline

    @property
    def digest(self) -> str:
        """SHA-256, hex, over game, name and version: code has no digest of its own that lasts."""
        identity = {"scripted": self.name, "game": self.game, "version": self.baseline.version}
        return hashlib.sha256(canonical(identity).encode()).hexdigest()

    @property
    def model(self) -> None:
        """None: no model is asked."""
        return

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None = None) -> ScriptedPlayer:
        """A player with `rng` as its stream. `client` is not used."""
        return ScriptedPlayer(self, rng)


@dataclass(frozen=True, slots=True)
class ScriptedPlayer:
    """A scripted policy sat down. Implements `policies.contract.Player`."""

    policy: ScriptedPolicy
    rng: Random

    async def decide(self, observation: Observation, retry: Retry | None = None) -> Reply:
        """The rule's move. A rule that breaks the rules of the game is a bug, and raises ValueError."""
        move = self.policy.baseline.rule(observation.facts, observation.legal, self.rng)
        if move not in observation.legal:
            raise ValueError(f"the scripted policy {self.policy.name} of {self.policy.game} made the move {move!r}")
        return Reply(move=move)
