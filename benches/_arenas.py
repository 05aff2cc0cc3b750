"""Real games for the gate's bench: blocks that a focal policy plays against a field, as a gate has them played.

Owns the play of a block. Both arms play the same deals against the same field with the same streams, in every rotation
of the seats; only the focal seat's own stream differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from weigh.games.game import Legal, Move
from weigh.games.registry import game_named
from weigh.harness.seeds import stream
from weigh.policies.scripted.policy import Rule
from weigh.policies.scripted.registry import scripted


def noisy(rule: Rule, share: float) -> Rule:
    """The rule with this share of its moves made at random."""

    def noisy_rule(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
        return legal.sample(rng) if rng.random() < share else rule(facts, legal, rng)

    return noisy_rule


@dataclass(frozen=True)
class Arena:
    """A game with the field that both arms meet, and the margin of its gates."""

    name: str
    settings: Mapping[str, Any]
    field: tuple[str, ...]
    margin: float

    @property
    def lowest(self) -> float:
        """The lowest score the rules allow."""
        game = game_named(self.name)
        return float(game.lowest(game.config_type(**self.settings)))

    def block(self, number: int, focal: Rule, arm: str) -> list[float]:
        """The focal policy's score at each seat of one deal."""
        game = game_named(self.name)
        config = game.config_type(**self.settings)
        seats = game.seat_count(config)
        deal = game.deal(config, stream(1, "deal", number))
        names = [f"s{seat}" for seat in range(seats)]
        field = [rule(self.name, other) for other in self.field]
        scores = []
        for mine in range(seats):
            rules = [*field[:mine], focal, *field[mine:]]
            streams = [stream(1, "seat", number, mine, seat) for seat in range(seats)]
            streams[mine] = stream(1, "focal", number, mine, arm)
            state = game.start(config, deal)
            while state.to_act:
                seen = {seat: state.observe(seat, names) for seat in sorted(state.to_act)}
                state = state.play({s: rules[s](o.facts, o.legal, streams[s]) for s, o in seen.items()})
            assert state.outcome is not None
            scores.append(float(state.outcome.scores[mine]))
        return scores

    def play(self, focal: Rule, arm: str, blocks: int) -> list[list[float]]:
        return [self.block(number, focal, arm) for number in range(blocks)]


def rule(game: str, name: str) -> Rule:
    return scripted(game, name).baseline.rule
