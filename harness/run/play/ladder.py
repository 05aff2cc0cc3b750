"""A ladder, whole: composed from its config, opened, played as far as it goes, and closed.

Owns the order of these, so that what is refused leaves nothing behind and what was paid for is kept. Shows nothing:
whoever follows it is handed in.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from weigh.harness.config.config import LadderConfig, load_config
from weigh.harness.config.schedule import Episode
from weigh.harness.errors import FINE, INTERRUPTED, INVALID, StoreFailed, StoreRefused
from weigh.harness.run.events import Closing, Plan, Progress
from weigh.harness.run.folder import planned_in, run_in
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.opening import (
    Learning,
    brake_over,
    calls_at_once,
    ceilings_of,
    closing_notes,
    divisions_of,
    manifest_of,
    open_exchanges,
    pace_of,
    require_ready,
    schedule_of,
)
from weigh.harness.run.play.extending import advice, blocks_given, extended_run
from weigh.harness.run.play.followers import Watching
from weigh.harness.run.play.opening_lines import opening_lines, require_prices
from weigh.harness.run.play.reuse import Earlier, Reusing, earlier_run
from weigh.harness.run.runner import Division, Keeper, Run, Summary
from weigh.harness.run.signals import onward, stopping_on_signals
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.store import Store, is_run
from weigh.harness.words import plural

Follow: TypeAlias = Callable[[str], AbstractContextManager[tuple[Progress, Watching]]]
"""Who follows a run with this name, for as long as it is played."""


@dataclass(frozen=True, slots=True)
class LadderSpec:
    """What a ladder is asked for with."""

    config: Path
    overrides: Mapping[str, object]
    """By dotted key of the config, as in `harness.config.config.load_config`."""
    reuse: Path | None = None
    """An earlier run, whose answers to the very same questions are used again."""
    extend: bool = False
    """Add what the config has more of to the run that is there."""


@dataclass(frozen=True, slots=True)
class LadderPlayed:
    """How an invocation of a ladder ended."""

    order: LadderConfig
    closing: Closing
    code: int
    """The exit code of the invocation, before anything is ranked."""
    reused: int
    """Answers of earlier runs that the run holds."""

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.order.run_folder


class Afterwards(Protocol):
    """What is asked of models once every episode is played, within the same limits."""

    async def due(self) -> bool:
        """Whether there is a question that the run holds no answer to."""

    async def ask(self, exchanges: Mapping[str, Exchange], brake: Brake, display: Progress) -> None:
        """Ask. Returns when all is asked or the brake is pulled."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """What one call of `play_out` plays."""

    order: LadderConfig
    store: Store
    keeper: Keeper
    """`store`, perhaps with answers of an earlier run."""
    episodes: tuple[Episode, ...]
    """All that the run plans."""
    again: Sequence[str]
    """The command that goes on with what is left."""
    divisions: Mapping[str, Division] | None = None
    """The policies that play, where they are others than the config's entrants."""
    afterwards: Afterwards | None = None


def play_ladder(
    spec: LadderSpec, follow: Follow, note: Callable[[str], None], again: Sequence[str], *, quiet: bool = False
) -> LadderPlayed:
    """Play a ladder, or go on where it stopped.

    `note` is told what to know of the run before its first episode; with `quiet` only what speaks against it. `again`
    is the command that goes on with it. Raises Refused, ConfigError or StoreRefused before anything is made or paid
    for.
    """
    order = load_config(spec.config, spec.overrides)
    episodes = schedule_of(order)
    manifest = manifest_of(order, episodes)
    folder = order.run_folder
    if not is_finished(folder, episodes):  # else its result is told again, which takes no key
        require_ready(order.endpoints, order.entrants)
        require_prices(order)
    with ExitStack() as opened:
        # Before the run's folder is made: what is refused leaves nothing behind.
        earlier = None if spec.reuse is None else opened.enter_context(_earlier(order, spec.reuse, manifest))
        store = opened.enter_context(
            extended_run(order, manifest, note)
            if spec.extend
            else run_in(
                folder,
                manifest,
                episodes,
                "a name of its own (--name)",
                lambda there: advice(order, there, manifest),
                blocks_given(order),
                note=note,
            )
        )
        if store.manifest.amendments:
            episodes = planned_in(store)
        for warning in order.warnings:
            note(f"weigh: {warning}")
        for line in () if quiet else opening_lines(order, manifest.versions, episodes):
            note(line)
        for model in earlier.otherwise if earlier is not None else ():
            note(f"weigh: {model} is asked elsewhere or in another way than in {spec.reuse}; its answers are not used")
        keeper = store if earlier is None else Reusing(store, earlier)
        closing, code = play_out(Sitting(order, store, keeper, episodes, again), follow)
        return LadderPlayed(order, closing, code, store.totals().reused_calls)


def _earlier(order: LadderConfig, reuse: Path, manifest: Manifest) -> AbstractContextManager[Earlier]:
    asked = {model: endpoint.base_url for model, endpoint in order.endpoints.items()}
    return earlier_run(reuse, manifest, order.run_folder, asked)


def is_finished(folder: Path, episodes: Sequence[Episode]) -> bool:
    """Whether there is a run that holds every one of these episodes."""
    try:
        if not is_run(folder):
            return False
        with Store.open(folder, readonly=True) as store:
            return {episode.key for episode in episodes} <= set(store.finished())
    except (OSError, ValueError, StoreRefused, StoreFailed):
        return False  # what is wrong with it is told when it is opened to be played


def play_out(sitting: Sitting, follow: Follow) -> tuple[Closing, int]:
    """Play what is left of a run that is open; how that ended, and its exit code."""
    order, store, episodes = sitting.order, sitting.store, sitting.episodes
    spent = store.totals()
    brake = brake_over(ceilings_of(order.limits), [store], order.endpoints)
    finished = frozenset(store.finished())
    with follow(order.name) as (display, watch):
        display.run_started(_plan(order, store, episodes, finished))
        if spent.lost_calls:
            display.note(f"lost in earlier invocations, and perhaps charged for: {plural(spent.lost_calls, 'call')}")
        if len(finished) < len(episodes) or sitting.afterwards is not None:  # else nothing is written at all
            store.set_status("running")
        try:
            summary = asyncio.run(_played(sitting, finished, brake, display, watch))
        except (KeyboardInterrupt, asyncio.CancelledError):
            # The second Ctrl-C: nothing more is waited for. What was kept stays kept.
            brake.pull("interrupted", "stopped at once")
            summary = None
        except BaseException as error:
            with suppress(StoreFailed):  # the store itself may be what failed
                store.set_status(f"stopped: {type(error).__name__}")
            raise
        closing, code = _close(sitting, summary, brake)
        if (head := store.chain_head()) is not None:
            display.note(f"hash chain: {plural(head.rows, 'row')}, head {head.link}")
        display.run_finished(closing)
    return closing, code


async def _played(
    sitting: Sitting, finished: frozenset[str], brake: Brake, display: Progress, watch: Watching
) -> Summary:
    order, store, afterwards = sitting.order, sitting.store, sitting.afterwards
    with stopping_on_signals(brake, display.note):
        # A run with nothing left to play starts no model.
        due = len(finished) < len(sitting.episodes) or (afterwards is not None and await afterwards.due())
        endpoints = order.endpoints if due else {}
        store.add_addresses({model: endpoint.base_url for model, endpoint in endpoints.items()})
        timeout, most = order.limits.decision_timeout, calls_at_once(order)
        async with open_exchanges(endpoints, timeout, most, display.note) as exchanges:
            learning = Learning(sitting.keeper, store, exchanges)
            fielded = sitting.divisions or divisions_of(order)
            run = Run(order.seed, fielded, learning, exchanges, brake, display, pace_of(order.limits), watch)
            try:
                summary = await run.play(sitting.episodes, finished)
                if afterwards is not None and not brake.pulled:
                    await afterwards.ask(exchanges, brake, display)
                return summary
            finally:
                for line in closing_notes(exchanges):
                    display.note(line)


def _plan(order: LadderConfig, store: Store, episodes: tuple[Episode, ...], finished: frozenset[str]) -> Plan:
    sums: dict[tuple[str, str], tuple[int, float]] = {}
    for row in store.episodes():
        for entrant, score in zip(row.entrants, row.scores, strict=True):
            if score is not None:
                count, total = sums.get((row.game, entrant), (0, 0.0))
                sums[row.game, entrant] = (count + 1, total + score)
    return Plan(
        name=order.name,
        seed=order.seed,
        entrants=tuple(spec.name for spec in order.entrants),
        episodes=Counter(episode.game for episode in episodes),
        finished=Counter(episode.game for episode in episodes if episode.key in finished),
        scores=sums,
    )


def _close(sitting: Sitting, summary: Summary | None, brake: Brake) -> tuple[Closing, int]:
    """How the invocation ended, kept and told, and its exit code."""
    order, store, total = sitting.order, sitting.store, len(sitting.episodes)
    finished = len(store.finished())
    void = summary.void if summary is not None else 0
    left = total - finished
    again = onward(sitting.again, brake.used_up, order.source) if left else None
    if brake.pulled == "interrupted":
        store.set_status("interrupted")
        return Closing("interrupted", finished, void, total, brake.reason, again), INTERRUPTED
    if brake.pulled is not None:
        store.set_status(f"stopped: {brake.reason}")
        return Closing("stopped", finished, void, total, brake.reason, again), INVALID
    store.set_status("finished" if not left else f"stopped: {left} episodes are void")
    detail = "" if not left else f"{left} of {total} episodes are void: a provider failed"
    too_many = left > order.rank.max_void_rate * total
    return Closing("complete", finished, void, total, detail, again), INVALID if too_many else FINE
