"""The arms of an experiment on claims, as policies around policies.

Owns what each arm does between a policy and its seat. An altered policy is a policy like any other: the rules, the
round and the record know nothing of it, but for its own name and digest.

What a claimer and a listener notice
- `mute`: the listener is shown that every weight of its opponent was placed and where, and never what was announced.
- `scramble`: in place of each claim the listener is shown a value drawn from the seed, all values with the same chance,
  one for each weight and the same one for the whole episode.
- `force-truth`: whatever the claimer wants to announce, what it places is announced as what it is. It sees this itself
  in what it is shown afterwards.

In no arm do the rules change. A challenge is judged by what was really announced, and its result is shown as always:
the true value, and whether the weight stays or is removed. So a muted listener learns by a challenge whether the hidden
claim was true, and one that hears scrambled claims may be told of a removal that does not fit the value it was shown;
at most once in a game, and after its only challenge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from games.ballast.view import observe_with_claims, truthful
from games.game import Move, Observation, Seat
from policies.contract import ModelClient, Player, Policy, Reply, Retry, canonical

Alteration: TypeAlias = Literal["mute", "scramble", "force-truth"]
"""What one of the two players meets with."""

ALTERATIONS: Final[tuple[Alteration, ...]] = ("mute", "scramble", "force-truth")

OF_THE_LISTENER: Final[frozenset[Alteration]] = frozenset(("mute", "scramble"))
"""Those that change what is heard; the other one changes what is said."""

MEANINGS: Final[Mapping[Alteration, str]] = MappingProxyType(
    {
        "mute": "the listener is not shown what is announced",
        "scramble": "the listener is shown random values in place of what is announced",
        "force-truth": "the claimer's weights are announced as what they are",
    }
)

VERSION: Final = 1
"""Raised whenever an altered policy would play differently somewhere."""

_MOST_PLACED: Final = 14
"""Weights placed in a game of the largest config."""


@dataclass(frozen=True, slots=True)
class Altered:
    """A policy of Ballast with an alteration around it. Implements `policies.contract.Policy`."""

    policy: Policy
    alteration: Alteration

    @property
    def name(self) -> str:
        """The policy's own and the alteration; no entrant of a config can be called so."""
        return f"{self.policy.name}~{self.alteration}"

    @property
    def digest(self) -> str:
        """SHA-256, hex, over the alteration and the policy's own digest."""
        identity = {"alteration": self.alteration, "version": VERSION, "of": self.policy.digest}
        return hashlib.sha256(canonical(identity).encode()).hexdigest()

    @property
    def model(self) -> str | None:
        return self.policy.model

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> AlteredPlayer:
        """The policy's player with `rng` as its stream. What the alteration draws, it draws beside that stream, so that
        the player's own randomness is the same in every arm."""
        scrambled = scrambled_claims(rng) if self.alteration == "scramble" else ()
        return AlteredPlayer(self.policy.sit(seat, rng, client), self.alteration, scrambled)


@dataclass(frozen=True, slots=True)
class AlteredPlayer:
    """A player behind an alteration. Implements `policies.contract.Player`."""

    player: Player
    alteration: Alteration
    scrambled: tuple[float, ...] = ()
    """For each number of a weight, where in the row of values its claim falls, in [0, 1)."""

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        reply = await self.player.decide(self.heard(observation), retry)
        return replace(reply, move=played(reply.move, self.alteration)) if reply.fault is None else reply

    def heard(self, observation: Observation) -> Observation:
        """What the player is shown in place of `observation`."""
        if self.alteration == "mute":
            return observe_with_claims(observation, dict.fromkeys(range(_MOST_PLACED)))
        if self.alteration == "scramble":
            weights = observation.facts["weights"]
            if not isinstance(weights, int):
                raise ValueError("facts without the number of weights")
            return observe_with_claims(observation, {n: 1 + int(at * weights) for n, at in enumerate(self.scrambled)})
        return observation


def played(move: Move, alteration: Alteration | None) -> Move:
    """The move that is made when the player behind `alteration` wants this one."""
    return truthful(move) if alteration == "force-truth" else move


def scrambled_claims(rng: Random) -> tuple[float, ...]:
    """Draws for a whole episode, keyed by the seat's stream as it is and without taking anything from it."""
    beside = Random(hashlib.sha256(b"scramble:" + repr(rng.getstate()).encode()).digest())  # noqa: S311 - no secret
    return tuple(beside.random() for _ in range(_MOST_PLACED))
