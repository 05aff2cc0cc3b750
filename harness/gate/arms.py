"""One arm of a gate: a focal policy that plays blocks against a frozen field, kept in a run of its own.

Owns the run's folder and order, which episodes are settled, and the playing. `weigh compare` plays its arms through the
same door. Knows neither margins nor verdicts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weigh.harness.audit.verify.planned import check_missing, require_as_planned
from weigh.harness.config.config import bearing
from weigh.harness.errors import Refused
from weigh.harness.gate.spent import Spent
from weigh.harness.run.folder import holds_run, opened
from weigh.harness.run.opening import Learning, ordered
from weigh.harness.run.runner import Pace, Run
from weigh.harness.store.manifest import Amendment, Manifest, differences, schedule_digest
from weigh.harness.store.store import Store
from weigh.harness.store.usage import Usage
from weigh.policies.contract import canonical
from weigh.policies.layout import LAYOUT

if TYPE_CHECKING:
    from weigh.games.game import Json
    from weigh.harness.config.blocks import Block, Role
    from weigh.harness.config.entrants import EntrantSpec
    from weigh.harness.config.schedule import Episode
    from weigh.harness.providers.endpoints.endpoints import Endpoint
    from weigh.harness.run.limits import Brake
    from weigh.harness.run.model_calls import Exchange
    from weigh.harness.run.runner import Division
    from weigh.harness.store.calls import Call, Void
    from weigh.harness.store.record import Record

TRIES: Final = 2
"""How often an episode may be begun: after one outage it is played once more, with the same seed."""


@dataclass(frozen=True, slots=True)
class Conduction:
    """How episodes are driven; nothing that changes what is recorded."""

    episodes_in_flight: int = 64
    outages_in_a_row: int = 5


@dataclass(frozen=True, slots=True)
class ArmOrder:
    """One arm, before its run is opened."""

    role: Role
    spec: EntrantSpec
    """The focal policy."""
    division: Division
    """It plays under the name of its role."""
    field: tuple[str, ...]
    blocks: tuple[Block, ...]
    """All that may be played."""
    seed: int
    timeout: float
    deadline: float | None
    endpoints: Mapping[str, Endpoint]
    home: Path
    """The gate's folder."""
    rules: str
    """`harness.gate.rules.rules_digest` of today: what was played under other rules is another arm."""
    conduction: Conduction = Conduction()

    @property
    def folder(self) -> Path:
        """The run's: named for all that decides its records, so that another policy never meets its runs."""
        decisive = {"seed": self.seed, "policy": self.division.policies[self.role].digest, **self._config(0)}
        return self.home / f"{self.role}-{hashlib.sha256(canonical(decisive).encode()).hexdigest()[:8]}"

    @property
    def shown(self) -> str:
        here = Path.cwd()
        return str(self.folder.relative_to(here)) if self.folder.is_relative_to(here) else str(self.folder)

    def episodes(self, count: int | None = None) -> tuple[Episode, ...]:
        """Those of the first `count` blocks, or of all."""
        return tuple(episode for block in self.blocks[:count] for episode in block.episodes)

    def manifest(self) -> Manifest:
        """What its run is ordered with."""
        game = self.division.game.name
        return ordered(self.seed, self._config(len(self.blocks)), {game: self.division}, self.episodes())

    def _config(self, blocks: int) -> dict[str, Json]:
        # Not under `entrants`: the schedule is not that of a ladder.
        return {
            "games": {
                self.division.game.name: {"blocks": blocks, "config": self.division.config.model_dump(mode="json")}
            },
            # Unlike a ladder's, with the port: two servers on one machine may be the two things that are compared.
            "models": {
                model: {**bearing(endpoint), "base_url": endpoint.base_url}
                for model, endpoint in self.endpoints.items()
            },
            "limits": {"decision_timeout": self.timeout, "episode_deadline": self.deadline},
            "gate": {
                "role": self.role,
                "field": list(self.field),
                "policy": self.spec.to_json(),
                "rules": self.rules,
                "layout": LAYOUT,
            },
        }


@contextmanager
def arm_run(order: ArmOrder) -> Iterator[Arm]:
    """The arm on its run: a new one, the one that is there, or that one with more blocks planned.

    Raises Refused for a folder that holds something else or is being written to.
    """
    manifest = order.manifest()
    if holds_run(order.folder):
        with opened(lambda: Store.open(order.folder)) as store:
            require_as_planned([store], whole=False)
            planned = tuple(row.key for row in store.episodes() if row.deal_key)
            asked = tuple(episode.key for episode in order.episodes())
            if planned == asked[: len(planned)] and len(planned) < len(asked):
                _extend(store, order, manifest, len(planned))
            if planned[: len(asked)] == asked:
                manifest = _as_planned(store, manifest)
            reasons = differences(store.manifest, manifest)
            if reasons:
                raise Refused(
                    f"{order.folder} holds a run ordered otherwise; give this gate another --name, or remove it:",
                    *(f"  {line}" for line in reasons),
                )
            yield Arm(order, store)
        return
    with opened(lambda: Store.create(order.folder, manifest, order.episodes())) as store:
        yield Arm(order, store)


def _as_planned(store: Store, manifest: Manifest) -> Manifest:
    """The manifest of a shorter gate, as the longer run's that is there: it plays the first of its blocks."""
    kept = store.manifest
    config = {**manifest.config, "games": kept.config.get("games")}
    games_alike = canonical(_without_blocks(kept.config)) == canonical(_without_blocks(manifest.config))
    update = {"schedule": kept.schedule, "episodes": kept.episodes}
    return manifest.model_copy(update={**update, "config": config} if games_alike else update)


def _without_blocks(config: Mapping[str, Json]) -> object:
    games = config.get("games")
    if not isinstance(games, Mapping):
        return games
    return {name: {**table, "blocks": 0} for name, table in games.items() if isinstance(table, Mapping)}


def _extend(store: Store, order: ArmOrder, manifest: Manifest, planned: int) -> None:
    """Plan the blocks that the run does not have yet."""
    old, episodes = store.manifest, order.episodes()
    alike = canonical(_without_blocks(old.config)) == canonical(_without_blocks(manifest.config))
    if not alike or old.policies != manifest.policies:
        return
    seats = len(order.blocks[0].episodes)
    amendment = Amendment(
        amended=datetime.now(UTC).isoformat(timespec="seconds"),
        added=(),
        withdrawn=(),
        blocks={order.division.game.name: (len(episodes) - planned) // seats},
        episodes=old.episodes,
        schedule=old.schedule,
        config=old.config,
        policies=old.policies,
        versions=manifest.versions,
    )
    update = {
        "config": manifest.config,
        "schedule": schedule_digest(episodes),
        "episodes": len(episodes),
        "amendments": (*old.amendments, amendment),
    }
    store.amend(old.model_copy(update=update), episodes[planned:])


class Arm:
    """One arm on its open run."""

    def __init__(self, order: ArmOrder, store: Store) -> None:
        self.order = order
        self.store = store
        self._finished = set(store.finished())
        self._voids = Counter(void.episode for void in store.voids())
        # A sitting that a provider or a ceiling stopped settled nothing: what is void may be begun anew.
        grace = self._voids if store.status.startswith("stopped") else Counter[str]()
        self._allowed = {key: TRIES + count for key, count in grace.items()}
        self._run: Run | None = None
        self._brake: Brake | None = None
        self._note: Callable[[str], None] = lambda line: None

    def settled(self, key: str) -> bool:
        """Whether an episode is finished, or void for good."""
        return key in self._finished or self._voids[key] >= self._allowed.get(key, TRIES)

    def end(self, status: str) -> None:
        """Say in the run how it ended. What is finished ends with a whole block: one that was stopped in the midst of
        blocks which were not asked for again is not."""
        if status == "finished" and any(check_missing(self.store, finished=True)):
            status = "interrupted"
        if self.store.status != status:
            self.store.set_status(status)

    def scores(self, block: Block) -> tuple[float | None, ...] | None:
        """The focal policy's score in each seat, None for a void episode; None for a block that is not settled."""
        if not all(self.settled(episode.key) for episode in block.episodes):
            return None
        rows = [self.store.episode(episode.key) for episode in block.episodes]
        return tuple(
            row.scores[seat] if row is not None and row.scores and episode.key in self._finished else None
            for seat, (row, episode) in enumerate(zip(rows, block.episodes, strict=True))
        )

    def spent(self, blocks: Sequence[Block] | None = None) -> Spent:
        """What these blocks took, or the whole run, over all sittings."""
        if blocks is None:
            total, finished, voids = self.store.totals(), len(self._finished), self._voids
        else:
            keys = [episode.key for block in blocks for episode in block.episodes]
            each = (used for key in keys for used in self.store.usage(key).values())
            total, finished = sum(each, Usage()), sum(key in self._finished for key in keys)
            voids = Counter({key: self._voids[key] for key in keys if self._voids[key]})
        return Spent(
            episodes=finished,
            calls=total.calls,
            tokens=total.tokens,
            cost_known_usd=total.cost_known_usd,
            unknown_cost_calls=total.unknown_cost_calls,
            void_starts=voids.total(),
            replayed=sum(count - (key not in self._finished) for key, count in voids.items()),
        )

    def sit_down(self, exchanges: Mapping[str, Exchange], brake: Brake, note: Callable[[str], None]) -> None:
        """Begin a sitting: `play` may be called from here on."""
        order = self.order
        pace = Pace(
            episodes_in_flight=order.conduction.episodes_in_flight,
            decision_timeout=order.timeout,
            episode_deadline=order.deadline,
            replays=0,
            outages_in_a_row=order.conduction.outages_in_a_row,
        )
        divisions = {order.division.game.name: order.division}
        keeper = Learning(self.store, self.store, exchanges)
        self._run = Run(order.seed, divisions, keeper, exchanges, brake, self, pace)
        self._brake, self._note = brake, note
        self.store.set_status("running")

    async def play(self, blocks: Sequence[Block]) -> None:
        """Play these blocks until every episode is settled or the brake is pulled; all their calls may be in flight
        together. An episode that an outage ends is played once more, with the same seed, after the others."""
        if self._run is None or self._brake is None:
            raise ValueError("an arm plays after it sat down")
        while not self._brake.pulled:
            due = [each for block in blocks for each in block.episodes if not self.settled(each.key)]
            if not due:
                return
            again = sum(self._voids[episode.key] > 0 for episode in due)
            if again:
                self._note(f"{self.order.role}: playing {again} void episode(s) again, with the same seeds")
            await self._run.play(due, frozenset())

    # What `harness.run.runner.Onlooker` asks for.

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        return

    def episode_finished(self, record: Record) -> None:
        self._finished.add(record.key)

    def episode_void(self, void: Void) -> None:
        self._voids[void.episode] += 1

    def call_finished(self, call: Call) -> None:
        return

    def note(self, line: str) -> None:
        self._note(line)


async def play_arm(
    arm: Arm,
    blocks: Sequence[Block],
    exchanges: Mapping[str, Exchange],
    brake: Brake,
    note: Callable[[str], None] = lambda line: None,
) -> dict[str, tuple[float | None, ...]]:
    """Play `blocks` in one arm: its scores by block key and seat, None for a void episode.

    Blocks that are not settled when the brake is pulled are left out; the same call goes on with them later. Blocks
    that were played before take no calls.
    """
    arm.sit_down(exchanges, brake, note)
    await arm.play(blocks)
    found = {block.key: arm.scores(block) for block in blocks}
    return {key: scores for key, scores in found.items() if scores is not None}
