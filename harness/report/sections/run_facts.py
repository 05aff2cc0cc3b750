"""What was run: the facts of a run's manifest that a reader must know before any number.

Owns these facts as values. Reads an open store; knows nothing of ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from weigh.games.game import Json
from weigh.harness.store.store import Store


@dataclass(frozen=True, slots=True)
class Entered:
    """An entrant as a run knows it."""

    entrant: str
    models: tuple[str, ...]
    """`provider:model`, by game where they differ; empty for a scripted policy."""
    games: tuple[str, ...]
    policies: tuple[str, ...]
    """Policy digests, one for each game it plays otherwise."""
    left: bool
    """Was taken out of the config of the run."""

    @property
    def scripted(self) -> bool:
        return not self.models


@dataclass(frozen=True, slots=True)
class Played:
    """How much of a game is played."""

    game: str
    finished: int
    planned: int
    void: int
    """Episodes without a record that an outage ended at least once."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run."""

    given: str
    """Its folder, as it was named on the command line."""
    name: str
    run_id: str
    created: str
    """UTC, ISO 8601, from the manifest."""
    seed: int
    status: str
    versions: Mapping[str, str]
    games: tuple[Played, ...]
    """By name."""
    entrants: tuple[Entered, ...]
    """By name."""
    schedules: Mapping[str, Mapping[str, Json]]
    """By game: `ScheduleReport.to_json`. Runs of earlier versions have none."""
    amendments: int
    """How often it was extended."""

    @property
    def finished(self) -> int:
        return sum(game.finished for game in self.games)

    @property
    def planned(self) -> int:
        return sum(game.planned for game in self.games)

    def to_json(self) -> dict[str, Json]:
        return {
            "folder": self.given,
            "run_id": self.run_id,
            "created": self.created,
            "seed": self.seed,
            "status": self.status,
            "versions": dict(self.versions),
            "finished": self.finished,
            "planned": self.planned,
            "games": [
                {"game": each.game, "finished": each.finished, "planned": each.planned, "void": each.void}
                for each in self.games
            ],
            "entrants": [
                {
                    "entrant": each.entrant,
                    "scripted": each.scripted,
                    "models": list(each.models),
                    "games": list(each.games),
                    "policies": list(each.policies),
                    "left": each.left,
                }
                for each in self.entrants
            ],
            "schedules": {game: dict(schedule) for game, schedule in self.schedules.items()},
            "amendments": self.amendments,
        }


def run_facts(store: Store, given: str) -> RunFacts:
    """The facts of an open run. `given` is how its folder was named."""
    manifest = store.manifest
    finished = frozenset(store.finished())
    void = {each.episode for each in store.voids()} - finished
    done: Counter[str] = Counter()
    planned: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for row in store.episodes():
        if row.deal_key or row.key in finished:
            planned[row.game] += 1
        done[row.game] += row.key in finished
        lost[row.game] += row.key in void
    return RunFacts(
        given=given,
        name=store.folder.resolve().name or manifest.run_id,
        run_id=manifest.run_id,
        created=manifest.created,
        seed=manifest.seed,
        status=store.status,
        versions=dict(manifest.versions),
        games=tuple(Played(game, done[game], planned[game], lost[game]) for game in sorted(planned)),
        entrants=_entered(store),
        schedules=dict(manifest.schedules),
        amendments=len(manifest.amendments),
    )


def _entered(store: Store) -> tuple[Entered, ...]:
    manifest = store.manifest
    keys = dict.fromkeys(key for order in reversed(manifest.orders) for key in order.policies)
    plays: dict[str, dict[str, Mapping[str, Json]]] = {}
    for key in sorted(keys):
        game, _, entrant = key.partition("/")
        policy = manifest.policy(game, entrant)
        if entrant and policy is not None:
            plays.setdefault(entrant, {})[game] = policy
    return tuple(
        Entered(
            entrant=entrant,
            models=tuple(dict.fromkeys(str(policy["model"]) for policy in games.values() if policy.get("model"))),
            games=tuple(games),
            policies=tuple(dict.fromkeys(str(policy.get("digest", "")) for policy in games.values())),
            left=not any(f"{game}/{entrant}" in manifest.policies for game in games),
        )
        for entrant, games in sorted(plays.items())
    )
