"""The engine of every paired comparison: arms on their open runs, played block by block until nothing is due.

Owns a run's opening and extension, which episodes are settled, what blocks took, and the playing of arms side by side
within one set of limits. What is due next is a comparison's to say: a fixed number of blocks, or what a sequential test
asks for. Knows neither margins nor verdicts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeAlias

from weigh.games.game import Json
from weigh.harness.audit.verify.planned import check_missing, require_as_planned
from weigh.harness.config.blocks import Block
from weigh.harness.errors import LocalModelFailed, Refused
from weigh.harness.gate.arm import Arm
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.endpoints.prices import price_known
from weigh.harness.run.folder import holds_run, opened
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.opening import Learning, closing_notes, open_exchanges, require_ready
from weigh.harness.run.runner import Pace, Run
from weigh.harness.run.signals import stopping_on_signals
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.manifest import Amendment, Manifest, differences, schedule_digest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.store.usage import Usage
from weigh.policies.contract import ProviderFailure, canonical

TRIES: Final = 2
"""How often an episode may be begun: after one outage it is played once more, with the same seed."""

TOGETHER: Final = 32
"""Episodes of an arm that are begun before the first of them is waited for, where a number of blocks is fixed: when a
run is stopped, the blocks before them are whole in every arm."""

Note: TypeAlias = Callable[[str], None]
Scores: TypeAlias = tuple[float | None, ...]
"""Of the policy under test in each seat of one block; None for a void episode."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What blocks took, in one arm or in several."""

    usage: Usage = field(default_factory=Usage)
    episodes: int = 0
    """Finished ones."""
    void_starts: int = 0
    """How often an outage ended an episode."""
    replayed: int = 0
    """Episodes that were begun again after one, with the same seed."""

    def __add__(self, other: Taken) -> Taken:
        return Taken(
            self.usage + other.usage,
            self.episodes + other.episodes,
            self.void_starts + other.void_starts,
            self.replayed + other.replayed,
        )

    def to_json(self) -> dict[str, Json]:
        names = ("calls", "tokens", "cost_usd", "cost_known_usd", "unknown_cost_calls")
        return {
            "episodes": self.episodes,
            **{name: getattr(self.usage, name) for name in names},
            "void_starts": self.void_starts,
            "replayed": self.replayed,
        }


@contextmanager
def arm_run(arm: Arm) -> Iterator[ArmRun]:
    """The arm on its run: a new one, the one that is there, or that one with more blocks planned.

    Raises Refused for a folder that holds something else or is being written to.
    """
    manifest = arm.manifest()
    if not holds_run(arm.folder):
        with opened(lambda: Store.create(arm.folder, manifest, arm.episodes())) as store:
            yield ArmRun(arm, store)
        return
    with opened(lambda: Store.open(arm.folder)) as store:
        require_as_planned([store], whole=False)
        planned = tuple(row.key for row in store.episodes() if row.deal_key)
        wanted = tuple(episode.key for episode in arm.episodes())
        if planned == wanted[: len(planned)] and len(planned) < len(wanted):
            _extend(store, arm, manifest, len(planned))
        if planned[: len(wanted)] == wanted:
            manifest = _as_planned(store, manifest)
        reasons = differences(store.manifest, manifest)
        if reasons:
            raise Refused(
                f"{arm.folder} holds a run ordered otherwise; give this gate another --name, or remove it:",
                *(f"  {line}" for line in reasons),
                kind="ordered-otherwise",
            )
        yield ArmRun(arm, store)


def _as_planned(store: Store, manifest: Manifest) -> Manifest:
    """The manifest of fewer blocks, as the longer run's that is there: they are the first of its blocks."""
    kept = store.manifest
    update: dict[str, Any] = {"schedule": kept.schedule, "episodes": kept.episodes}
    if _alike(kept, manifest):
        update["config"] = {**manifest.config, "games": kept.config.get("games")}
    return manifest.model_copy(update=update)


def _alike(one: Manifest, other: Manifest) -> bool:
    """Whether two runs are ordered alike but for the number of blocks."""

    def games(manifest: Manifest) -> object:
        found = manifest.config.get("games")
        if not isinstance(found, Mapping):
            return found
        return {name: {**table, "blocks": 0} for name, table in found.items() if isinstance(table, Mapping)}

    return canonical(games(one)) == canonical(games(other))


def _extend(store: Store, arm: Arm, manifest: Manifest, planned: int) -> None:
    """Plan the blocks that the run does not have yet."""
    old, episodes = store.manifest, arm.episodes()
    if not _alike(old, manifest) or old.policies != manifest.policies:
        return
    amendment = Amendment(
        amended=datetime.now(UTC).isoformat(timespec="seconds"),
        added=(),
        withdrawn=(),
        blocks={arm.setting.game.name: (len(episodes) - planned) // arm.setting.seats},
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


class ArmRun:
    """One arm on its open run."""

    def __init__(self, arm: Arm, store: Store) -> None:
        self.arm = arm
        self.store = store
        self._finished = set(store.finished())
        self._voids = Counter(void.episode for void in store.voids())
        # An invocation that a provider or a limit stopped settled nothing: what is void may be begun again.
        grace = self._voids if store.status.startswith("stopped") else Counter[str]()
        self._allowed = {key: TRIES + count for key, count in grace.items()}
        self._scores: dict[int, Scores] = {}
        self._run: Run | None = None
        self._brake = Brake()
        self._note: Note = lambda line: None

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

    def scores(self, number: int) -> Scores | None:
        """The scores in the block of this number; None for one that is not settled. A settled block stays as it is."""
        episodes = self.arm.blocks[number].episodes
        if number not in self._scores and all(self.settled(episode.key) for episode in episodes):
            rows = [self.store.episode(episode.key) for episode in episodes]
            self._scores[number] = tuple(
                row.scores[seat] if row is not None and row.scores and episode.key in self._finished else None
                for seat, (row, episode) in enumerate(zip(rows, episodes, strict=True))
            )
        return self._scores.get(number)

    def taken(self, blocks: Sequence[Block] | None = None) -> Taken:
        """What these blocks took, or the whole run, over all invocations."""
        if blocks is None:
            total, finished, voids = self.store.totals(), len(self._finished), self._voids
        else:
            keys = [episode.key for block in blocks for episode in block.episodes]
            each = (used for key in keys for used in self.store.usage(key).values())
            total, finished = sum(each, Usage()), sum(key in self._finished for key in keys)
            voids = Counter({key: self._voids[key] for key in keys if self._voids[key]})
        replayed = sum(count - (key not in self._finished) for key, count in voids.items())
        return Taken(total, finished, voids.total(), replayed)

    def begin(self, exchanges: Mapping[str, Exchange], brake: Brake, note: Note) -> None:
        """Begin an invocation: `play` may be called from here on."""
        setting, settings = self.arm.setting, self.arm.settings
        pace = Pace(
            episodes_in_flight=settings.episodes_in_flight,
            decision_timeout=setting.timeout,
            episode_deadline=setting.deadline,
            replays=0,
            outages_in_a_row=settings.outages_in_a_row,
        )
        keeper = Learning(self.store, self.store, exchanges)
        divisions = {setting.game.name: self.arm.division}
        self._run = Run(setting.seed, divisions, keeper, exchanges, brake, self, pace)
        self._brake, self._note = brake, note
        self.store.set_status("running")

    async def play(self, blocks: Sequence[Block]) -> None:
        """Play these blocks until every episode is settled or the brake is pulled; all their calls may be in flight
        together. An episode that an outage ends is played once more, with the same seed, after the others."""
        if self._run is None:
            raise ValueError("an arm plays after it has begun")
        while not self._brake.pulled:
            due = [each for block in blocks for each in block.episodes if not self.settled(each.key)]
            if not due:
                return
            again = sum(self._voids[episode.key] > 0 for episode in due)
            if again:
                self._note(f"{self.arm.role}: playing {again} void episode(s) again, with the same seeds")
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


class Contest(Protocol):
    """Arms that are played side by side."""

    @property
    def arms(self) -> Sequence[ArmRun]: ...

    def due(self) -> slice | None:
        """The numbers of the blocks to be played next; None when it is over."""

    def begun(self) -> Sequence[str]:
        """What to know before the first block, a line each."""

    def progress(self) -> str:
        """How far it is, in one line."""


@dataclass(frozen=True, slots=True)
class FixedBlocks:
    """Arms that play all their blocks, a few at a time. Implements `Contest`."""

    arms: Sequence[ArmRun]

    @property
    def settled(self) -> list[int]:
        """The numbers of the blocks that every arm has scores of, or an outage took."""
        numbers = range(len(self.arms[0].arm.blocks))
        return [number for number in numbers if all(run.scores(number) is not None for run in self.arms)]

    def due(self) -> slice | None:
        settled, count = set(self.settled), len(self.arms[0].arm.blocks)
        if len(settled) == count:
            return None
        if len(self.arms) == 1:  # no other arm to be whole with
            return slice(0, count)
        step = max(1, TOGETHER // self.arms[0].arm.setting.seats)
        first = next(n for n in range(count) if n not in settled) // step * step
        return slice(first, first + step)

    def begun(self) -> Sequence[str]:
        return ()

    def progress(self) -> str:
        return f"{len(self.settled)} of {len(self.arms[0].arm.blocks)} blocks"


def taken_by(contests: Sequence[Contest]) -> Taken:
    """What the runs of these arms hold, over all invocations."""
    return sum((run.taken() for contest in contests for run in contest.arms), Taken())


def require_playable(arms: Sequence[Arm], ceilings: Ceilings) -> None:
    """Refuse, before anything is paid for, a missing key or weights, and a limit in dollars without a price."""
    endpoints: dict[str, Endpoint] = {}
    for arm in arms:
        endpoints.update(arm.endpoints)
    require_ready(endpoints, [arm.spec for arm in arms])
    unknown = [model for model, endpoint in endpoints.items() if not price_known(endpoint)]
    if ceilings.usd is not None and unknown:
        raise Refused(
            f"a limit in dollars cannot be kept: the cost of {', '.join(unknown)} is not known; give a price in a gate "
            f'file, as [models."{unknown[0]}"] price = {{ input = 1.0, output = 4.0 }}, or drop max_usd',
            kind="price-unknown",
        )


def play(contests: Sequence[Contest], ceilings: Ceilings, note: Note) -> Brake:
    """Play contests one after the other, each as long as something is due, within one set of limits; what their runs
    took in earlier invocations counts towards these. The brake says why it ended early, if it did."""
    usage = taken_by(contests).usage
    brake = Brake(ceilings, calls=usage.calls, tokens=usage.tokens, usd=usage.cost_known_usd)
    try:
        asyncio.run(_play_all(contests, brake, note))
    except (KeyboardInterrupt, asyncio.CancelledError):  # a second Ctrl-C
        brake.pull("interrupted", "interrupted")
    except (LocalModelFailed, ProviderFailure) as failed:
        brake.pull("fatal", str(failed))
    return brake


async def _play_all(contests: Sequence[Contest], brake: Brake, note: Note) -> None:
    with stopping_on_signals(brake, note):
        for contest in contests:
            if not brake.pulled and contest.due() is not None:
                await _play(contest, brake, note)


async def _play(contest: Contest, brake: Brake, note: Note) -> None:
    for line in contest.begun():
        note(line)
    arms = [run.arm for run in contest.arms]
    endpoints = {model: endpoint for arm in arms for model, endpoint in arm.endpoints.items()}
    most = sum(arm.settings.episodes_in_flight for arm in arms if arm.endpoints)
    async with open_exchanges(endpoints, arms[0].setting.timeout, most or None, note) as exchanges:
        for run in contest.arms:
            run.begin(exchanges, brake, note)
        try:
            while (due := contest.due()) is not None and not brake.pulled:
                turns = [run.play(run.arm.blocks[due]) for run in contest.arms]
                # All come to rest before what is a bug is raised.
                for error in await asyncio.gather(*turns, return_exceptions=True):
                    if isinstance(error, BaseException):
                        raise error
                note(contest.progress())
        finally:
            for line in closing_notes(exchanges):
                note(line)
