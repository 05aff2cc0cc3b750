"""One arm of a comparison: who plays which blocks against whom, by which rules, and in which folder its run lies.

Owns what must be equal in arms that are compared, the arm's identity and its manifest, and the digest of what has none:
the rules of a game and the code of its scripted policies. Plays nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from weigh.games.game import AnyGame, Json
from weigh.harness.config.blocks import Block, Role, planned
from weigh.harness.config.config import bearing
from weigh.harness.config.entrants import EntrantSpec, Renamed, policies_for
from weigh.harness.config.schedule import Episode
from weigh.harness.config.sections import safe_name
from weigh.harness.errors import EndpointInvalid, Refused
from weigh.harness.gate.baseline import Conditions, FieldPlayer, PolicyIdentity
from weigh.harness.providers.endpoints.endpoints import Endpoint, EndpointSettings, endpoint_for
from weigh.harness.run.offline import played
from weigh.harness.run.opening import ordered
from weigh.harness.run.runner import Division
from weigh.harness.store.manifest import Manifest
from weigh.policies.contract import Policy, canonical
from weigh.policies.layout import LAYOUT
from weigh.policies.scripted.registry import fallback_of, scripted, yardsticks

TIMEOUT: Final = 60.0
"""Seconds for one attempt at one decision, unless a baseline file or the person says otherwise."""

PROBES: Final = 3
"""Episodes at least that the digest of the rules is taken of; as many more as it takes to seat every policy."""


@dataclass(frozen=True, slots=True)
class Setting:
    """All that is equal in arms that are compared."""

    game: AnyGame
    config: BaseModel
    opponents: tuple[str, ...]
    """The scripted policies that hold the other seats."""
    seed: int
    timeout: float = TIMEOUT
    """Seconds for one attempt at one decision."""
    deadline: float | None = None
    """Seconds for one episode."""

    @property
    def seats(self) -> int:
        return self.game.seat_count(self.config)

    def blocks(self, role: Role, count: int) -> tuple[Block, ...]:
        """The first `count` blocks, with the arm's policy under the name of its role."""
        return planned(self.game.name, self.seats, self.opponents, role, self.seed, count)

    def conditions(self) -> Conditions:
        """The same as a baseline file keeps it."""
        name = self.game.name
        return Conditions(
            game=name,
            config=self.config.model_dump(mode="json"),
            seed=self.seed,
            field=tuple(FieldPlayer(name=who, digest=scripted(name, who).digest) for who in self.opponents),
            rules=rules_digest(self.game, self.config, self.opponents),
            layout=LAYOUT,
            decision_timeout=self.timeout,
            episode_deadline=self.deadline,
        )


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How episodes are driven and models reached; nothing that changes what is recorded."""

    models: Mapping[str, EndpointSettings] = field(default_factory=dict)
    episodes_in_flight: int = 64
    """In each arm."""
    outages_in_a_row: int = 5


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm, before its run is opened."""

    role: Role
    spec: EntrantSpec
    policy: Policy
    """The policy under test; it plays under the name of its role."""
    setting: Setting
    blocks: tuple[Block, ...]
    """All that may be played."""
    endpoints: Mapping[str, Endpoint]
    home: Path
    """The folder of the comparison; the run lies below it."""
    rules: str
    """`rules_digest` of today: what was played under other rules is another arm."""
    settings: RunSettings

    @property
    def folder(self) -> Path:
        """The run's: named for all that decides its records, so that another policy never meets its runs."""
        decisive = {"seed": self.setting.seed, "policy": self.policy.digest, **self._config(0)}
        return self.home / f"{self.role}-{hashlib.sha256(canonical(decisive).encode()).hexdigest()[:8]}"

    @property
    def division(self) -> Division:
        game = self.setting.game
        policies = {self.role: self.policy, **{name: scripted(game.name, name) for name in self.setting.opponents}}
        return Division(game, self.setting.config, policies, fallback_of(game.name))

    @property
    def identity(self) -> PolicyIdentity:
        """Who plays, by all that tells it from another policy."""
        spec = self.spec
        file = spec.prompt_for(self.setting.game.name) if spec.scripted is None else None
        known: dict[str, Any] = {}
        if file is not None and spec.model is not None:
            known = {
                "prompt": file.sha256,
                "style": spec.style_with(file),
                "sampling": spec.sampling.to_json(),
                "endpoint": str(bearing(self.endpoints[spec.model])["base_url"]),
            }
        return PolicyIdentity(
            name=spec.name, digest=self.policy.digest, model=self.policy.model if known else None, **known
        )

    def episodes(self) -> tuple[Episode, ...]:
        return tuple(episode for block in self.blocks for episode in block.episodes)

    def manifest(self) -> Manifest:
        """What its run is ordered with."""
        divisions = {self.setting.game.name: self.division}
        return ordered(self.setting.seed, self._config(len(self.blocks)), divisions, self.episodes())

    def _config(self, blocks: int) -> dict[str, Json]:
        # Not under `entrants`: the schedule is not that of a ladder.
        setting = self.setting
        return {
            "games": {setting.game.name: {"blocks": blocks, "config": setting.config.model_dump(mode="json")}},
            # Unlike a ladder's, with the port: two servers on one machine may be the two things that are compared.
            "models": {
                model: {**bearing(endpoint), "base_url": endpoint.base_url}
                for model, endpoint in self.endpoints.items()
            },
            "limits": {"decision_timeout": setting.timeout, "episode_deadline": setting.deadline},
            "gate": {
                "role": self.role,
                "field": list(setting.opponents),
                "policy": self.spec.to_json(),
                "rules": self.rules,
                "layout": LAYOUT,
            },
        }


def arm_of(
    role: Role, spec: EntrantSpec, setting: Setting, blocks: Sequence[Block], home: Path, settings: RunSettings
) -> Arm:
    """One arm, ready; `home` is the folder of the comparison. Raises Refused for a model that cannot be reached."""
    names = (*setting.opponents, *([spec.scripted] if spec.scripted is not None else []))
    (policy,) = policies_for((spec,), setting.game, setting.config)
    try:
        models = (spec.model,) if spec.model is not None else ()
        endpoints = {model: endpoint_for(model, settings.models) for model in models}
    except EndpointInvalid as error:
        hint = "" if "base_url" not in str(error) else "; --base-url gives it, or [models] of a gate file"
        raise Refused(f"{error}{hint}", kind=error.kind) from error
    return Arm(
        role=role,
        spec=spec,
        policy=Renamed(role, policy),
        setting=setting,
        blocks=tuple(blocks),
        endpoints=endpoints,
        home=home,
        rules=rules_digest(setting.game, setting.config, names),
        settings=settings,
    )


def opponents_of(game: AnyGame, names: Sequence[str] | None) -> tuple[str, ...]:
    """The scripted policies that hold the other seats; the game's own where none are named.

    Raises UnknownPolicy, and Refused for what does not play the same in every run.
    """
    for name in names or ():
        if "@" in name or name.endswith(".md"):
            raise Refused(
                f"opponents: {name} asks a model; opponents must be the same in every run: scripted policies only",
                kind="opponent-is-a-model",
            )
        scripted(game.name, name)
    return tuple(names) if names else yardsticks(game.name)


def require_plays(spec: EntrantSpec, game: str) -> None:
    """Raises Refused for an entrant that has nothing to play this game with."""
    if not spec.plays(game):
        raise Refused(f"{spec.name} does not play {game}; `weigh policies` lists what does", kind="wrong-game")


def require_name(name: str) -> str:
    """The name, if a folder can be called so. Raises Refused."""
    if name != safe_name(name):
        raise Refused(f"--name {name}: no folder can be called so; {safe_name(name)} would do", kind="name")
    return name


def shown_path(path: Path) -> str:
    """A path as it is shown: from the folder one stands in, where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def rules_digest(game: AnyGame, config: BaseModel, names: Sequence[str]) -> str:
    """SHA-256, hex, over the rulebook and over episodes of the scripted policies `names`, of all that measure something
    and of the fallback: code has no digest of its own that lasts, but another dealing, another move or another score
    shows in it."""
    division = Division(game, config, {}, fallback_of(game.name))
    seats = game.seat_count(config)
    players = [scripted(game.name, name) for name in dict.fromkeys([*names, *yardsticks(game.name)])]
    players.append(fallback_of(game.name))
    count = max(PROBES, -(-len(players) // seats))

    async def probe(number: int) -> list[Any]:
        seated = [players[(number * seats + seat) % len(players)] for seat in range(seats)]
        record = await played(division, seated, f"gate/{game.name}/{number}", number, 0)
        return [record.deal, record.aliases, record.moves, record.scores, record.measures]

    async def probes() -> list[Any]:
        return [await probe(number) for number in range(count)]

    return hashlib.sha256(canonical([game.rulebook(config), asyncio.run(probes())]).encode()).hexdigest()
