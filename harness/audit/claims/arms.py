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

What a run's manifest says of the experiment it was ordered as.

Owns the key `alteration` of a manifest's policies, and under which keys calls may lie that no plan has. Reads nothing
but the manifest.

The episodes of an experiment on claims: which arm is played by whom, in pairs that share their randomness.

Owns arms, keys and who sits where. A pair number stands for both seatings of the two entrants, once in every arm. In
all arms, equal seatings of one pair have the same streams of randomness and the same aliases: whatever differs, the
alteration brought about.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from weigh.games.ballast.rules import BALLAST
from weigh.games.ballast.view import observe_with_claims, truthful
from weigh.games.game import Move, Observation, Seat
from weigh.harness.config.schedule import Episode
from weigh.harness.store.kinds import kind_of
from weigh.harness.store.manifest import Manifest
from weigh.policies.contract import ModelClient, Player, Policy, Reply, Retry, canonical

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


PROBES: Final = "listening"
"""The second part of the keys under which the calls of questions asked again are kept."""


def is_experiment(manifest: Manifest) -> bool:
    """Whether the arms of an experiment were played, whose randomness is drawn for the deal key."""
    return kind_of(manifest) == "experiment"


def may_keep_calls(manifest: Manifest, key: str) -> bool:
    """Whether the calls of a question asked again may be kept under this key, which no plan has."""
    return is_experiment(manifest) and key.split("/")[1:2] == [PROBES]


def with_alterations(manifest: Manifest, game: str, policies: Mapping[str, Policy]) -> Manifest:
    """The manifest with what was put around which policy."""
    told = dict(manifest.policies)
    for name, policy in policies.items():
        if isinstance(policy, Altered):
            of = {"alteration": policy.alteration, "of": policy.policy.digest}
            told[f"{game}/{name}"] = {**told[f"{game}/{name}"], **of}
    return manifest.model_copy(update={"policies": told})


NORMAL: Final = "normal"
SEATINGS: Final = (0, 1)


@dataclass(frozen=True, slots=True)
class Direction:
    """Who claims and who listens."""

    claimer: str
    listener: str

    def fielded(self, alteration: Alteration | None) -> tuple[str, str]:
        """Under which names claimer and listener play an arm."""
        if alteration is None:
            return self.claimer, self.listener
        if alteration in OF_THE_LISTENER:
            return self.claimer, f"{self.listener}~{alteration}"
        return f"{self.claimer}~{alteration}", self.listener


@dataclass(frozen=True, slots=True)
class Place:
    """One episode of the plan."""

    pair: int
    seating: int
    """0 when the claimer of the first direction has the first seat, else 1."""
    alteration: Alteration | None
    direction: Direction
    """Of a normal episode the first one: it serves both."""

    @property
    def arm(self) -> str:
        """`normal`, or `mute/CLAIMER-to-LISTENER`."""
        if self.alteration is None:
            return NORMAL
        return f"{self.alteration}/{self.direction.claimer}-to-{self.direction.listener}"

    @property
    def key(self) -> str:
        return f"{BALLAST.name}/{self.arm}/p{self.pair:04}/s{self.seating}"


@dataclass(frozen=True, slots=True)
class ClaimsPlan:
    """Every episode of an experiment."""

    directions: tuple[Direction, ...]
    """One, or one and its reverse."""
    pairs: int

    @property
    def names(self) -> tuple[str, str]:
        """The two entrants, the one that sits first in seating 0 before the other."""
        return self.directions[0].claimer, self.directions[0].listener

    @property
    def blocks(self) -> int:
        """How many groups of two seatings there are."""
        return self.pairs * (1 + len(ALTERATIONS) * len(self.directions))

    def places(self) -> Iterator[Place]:
        """Pair by pair, so that a run that stops early has as many of each arm."""
        first = self.directions[0]
        for pair in range(self.pairs):
            for alteration, direction in self._arms():
                for seating in SEATINGS:
                    yield Place(pair, seating, alteration, direction or first)

    def _arms(self) -> Iterator[tuple[Alteration | None, Direction | None]]:
        yield None, None
        for direction in self.directions:
            for alteration in ALTERATIONS:
                yield alteration, direction

    def episodes(self) -> tuple[Episode, ...]:
        return tuple(self._episode(place) for place in self.places())

    def _episode(self, place: Place) -> Episode:
        claimer, listener = place.direction.fielded(place.alteration)
        first = self.claimer_seat(place.direction, place.seating) == 0
        return Episode(
            key=place.key,
            game=BALLAST.name,
            block=place.key.rpartition("/")[0],
            entrants=(claimer, listener) if first else (listener, claimer),
            deal_key=f"{BALLAST.name}/p{place.pair:04}/s{place.seating}",
            paired=True,
        )

    def claimer_seat(self, direction: Direction, seating: int) -> int:
        return seating if direction == self.directions[0] else 1 - seating

    def policies(self, plain: Mapping[str, Policy]) -> dict[str, Policy]:
        """The policies that play, by the names they are fielded under; `plain` holds the two entrants'."""
        fielded: dict[str, Policy] = {name: plain[name] for name in self.names}
        for direction in self.directions:
            for alteration in ALTERATIONS:
                who = direction.listener if alteration in OF_THE_LISTENER else direction.claimer
                altered = Altered(plain[who], alteration)
                fielded[altered.name] = altered
        return fielded
