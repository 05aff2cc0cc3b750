"""Scripted policies: a pure rule from what a seat may know to a move, made into a policy.

Owns that step. Knows no game and no rule. A scripted player needs no model and answers inline. What it does depends on
the observation and on its seat's own stream of randomness alone; all it remembers are the habits it drew when it sat
down.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from weigh.games.game import Json, Legal, Move, Observation, Seat
from weigh.policies.contract import ModelClient, Reply, Retry, canonical

Rule: TypeAlias = Callable[[Mapping[str, Json], Legal, Random], Move]
"""The facts of an observation, the legal moves, and the seat's own randomness: one of the legal moves."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule under a version number, which is raised whenever the rule would move differently somewhere."""

    rule: Rule
    version: int = 1
    habits: Callable[[Random], Rule] | None = None
    """Draws the rule by which an entrant plays one episode, where `rule` alone would repeat the same few games in every
    block. None where chance, or an opponent's secrets, make every episode a different one."""
    stands_aside: bool = False
    """Whether a ladder has it only where it is named. It is nothing to measure others by: what the rules do with a seat
    that does not move, or a control for an experiment."""


@dataclass(frozen=True, slots=True)
class ScriptedPolicy:
    """A baseline under its name, for one game. Implements `policies.contract.Policy`."""

    name: str
    game: str
    baseline: Baseline

    @property
    def digest(self) -> str:
        """SHA-256, hex, over game, name and version, and habits if it has any.

        Code has no digest of its own that lasts.
        """
        identity: dict[str, Json] = {"scripted": self.name, "game": self.game, "version": self.baseline.version}
        if self.baseline.habits is not None:
            identity["habits"] = True
        return hashlib.sha256(canonical(identity).encode()).hexdigest()

    @property
    def model(self) -> None:
        """None: no model is asked."""
        return

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None = None) -> ScriptedPlayer:
        """A player with `rng` as its stream. `client` is not used."""
        habits = self.baseline.habits
        return ScriptedPlayer(self, self.baseline.rule if habits is None else habits(rng), rng)

    def without_habits(self) -> ScriptedPolicy:
        """The same policy by its bare rule: a fallback must not play by habits of its own."""
        return replace(self, baseline=replace(self.baseline, habits=None))


@dataclass(frozen=True, slots=True)
class ScriptedPlayer:
    """A scripted policy sat down. Implements `policies.contract.Player`."""

    policy: ScriptedPolicy
    rule: Rule
    rng: Random

    async def decide(self, observation: Observation, retry: Retry | None = None) -> Reply:
        """The rule's move. A rule that breaks the rules of the game is a bug, and raises ValueError."""
        move = self.rule(observation.facts, observation.legal, self.rng)
        if move not in observation.legal:
            raise ValueError(f"the scripted policy {self.policy.name} of {self.policy.game} made the move {move!r}")
        return Reply(move=move)
