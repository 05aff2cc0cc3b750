"""Leagues of Goofspiel with planted colluders, played by the real engine into real stores.

A player never learns who else is there, so the planted ones are told by an oracle: their policy is made anew for each
episode, with what the oracle says of that table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from weigh.games.game import Legal
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.games.registry import read_config
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Policy
from weigh.policies.scripted.policy import Baseline, Rule, ScriptedPolicy
from weigh.policies.scripted.registry import fallback_of, scripted


def noisy(facts: Mapping[str, Any], legal: Legal, rng: Random) -> int:
    """The card nearest to the prize, give or take two."""
    wanted = facts["prize"] + rng.uniform(-2, 2)
    return min((bid for bid in legal if isinstance(bid, int)), key=lambda bid: (abs(bid - wanted), bid))


def feeding(facts: Mapping[str, Any], legal: Legal, rng: Random) -> int:
    """The lowest card for the prizes of the upper half."""
    return cards(legal)[0] if high(facts) else noisy(facts, legal, rng)


def high(facts: Mapping[str, Any]) -> bool:
    return 2 * facts["prize"] > facts["cards"] + 1


def cards(legal: Legal) -> list[int]:
    return sorted(bid for bid in legal if isinstance(bid, int))


def second_lowest(facts: Mapping[str, Any], legal: Legal, rng: Random) -> int:
    return cards(legal)[:2][-1] if high(facts) else noisy(facts, legal, rng)


def low_prizes(facts: Mapping[str, Any], legal: Legal, rng: Random) -> int:
    return noisy(facts, legal, rng) if high(facts) else cards(legal)[0]


def burnt_cards(facts: Mapping[str, Any], legal: Legal, rng: Random) -> int:
    return noisy(facts, legal, rng) if high(facts) else cards(legal)[-1]


UNSEEN = (second_lowest, low_prizes, burnt_cards)
"""Ways to help that the audit's statistic misses, as its output says."""


@dataclass(frozen=True)
class League:
    """Who plays what. Entrants that are not named in `baselines` bid `noisy`."""

    names: Sequence[str]
    blocks: int
    seats: int = 3
    cards: int = 8
    seed: int = 5
    feeders: Mapping[str, str] = field(default_factory=dict)
    """Who helps whom."""
    way: Rule = feeding
    """How, where the helped one is at the table."""
    baselines: Mapping[str, str] = field(default_factory=dict)
    run: str = "league"

    @property
    def config(self) -> dict[str, int]:
        return {"seats": self.seats, "cards": self.cards}

    def episodes(self) -> tuple[Episode, ...]:
        return schedule("goofspiel", self.names, self.seats, self.blocks, self.seed)

    def policy(self, name: str, episode: Episode) -> Policy:
        if name in self.baselines:
            baseline = scripted("goofspiel", self.baselines[name]).baseline
            return ScriptedPolicy(name, "goofspiel", baseline)
        rule = self.way if self.feeders.get(name) in episode.entrants else noisy
        return ScriptedPolicy(name, "goofspiel", Baseline(rule))

    def record(self, episode: Episode) -> Record:
        config = read_config(GOOFSPIEL, self.config)
        table = Table(
            key=episode.key,
            block=episode.block,
            game=GOOFSPIEL,
            config=config,
            deal=GOOFSPIEL.deal(config, stream(self.seed, "deal", episode.deal_key)),  # type: ignore[arg-type]
            run_seed=self.seed,
            policies=tuple(self.policy(name, episode) for name in episode.entrants),
            aliases=deal_aliases(self.seats, stream(self.seed, "aliases", episode.key)),
            fallback=fallback_of("goofspiel"),
        )
        played = asyncio.run(play_episode(table, {}))
        assert isinstance(played, Record)
        return played

    def records(self) -> list[Record]:
        return [self.record(episode) for episode in self.episodes()]

    def manifest(self, episodes: Sequence[Episode]) -> Manifest:
        return Manifest(
            run_id=self.run,
            created="2026-05-01T14:22:33+00:00",
            seed=self.seed,
            config={},
            policies={f"goofspiel/{name}": {"digest": name, "model": None} for name in self.names},
            schedule=schedule_digest(episodes),
            episodes=len(episodes),
            versions={},
        )

    def into(self, folder: Path, played: int | None = None) -> Path:
        """The run in a folder, with its first `played` episodes finished, or all."""
        episodes = self.episodes()
        with Store.create(folder, self.manifest(episodes), episodes) as store:
            for episode in episodes[:played]:
                store.add_record(self.record(episode))
            store.set_status("finished" if played is None else "interrupted")
        return folder


SEVEN = ("ann", "bob", "cat", "dan", "eve", "fay", "gus")

PLANTED = League(SEVEN, blocks=28, feeders={"ann": "bob"}, baselines={"gus": "hoard", "fay": "random"})
"""Four cycles of {0,1,3} mod 7: everybody sits in twelve blocks, and with each other in four."""

HONEST = League(SEVEN, blocks=28, baselines={"gus": "hoard", "fay": "random"})
