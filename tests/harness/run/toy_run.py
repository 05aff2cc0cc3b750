"""A small ladder of the toy game, played by prompted policies whose models are the test's own."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.harness.run.scripted_client import price
from tests.harness.run.test_orchestrate import Scripted, plays
from tests.toy_game import Toy, ToyConfig
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.runner import Division, Onlooker, Pace, Run, Summary
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, ModelClient, Policy, Request, Sampling, Usage
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy

SEED = 11
NAMES = ("ann", "bob", "cat", "dan")
MODELS = {name: f"mock:{name}" for name in NAMES}


def answer_to(request: Request) -> Completion:
    """What a model says: a function of the question alone. One answer in six is no move."""
    dice = hashlib.sha256(request.digest.encode()).digest()
    text = "I pass." if dice[0] % 6 == 0 else f'Well.\n{{"bid": {dice[1] % 10}, "notes": "said {dice[1] % 10}"}}'
    return Completion(text, "end", usage=Usage(input=90, output=10))


class Model:
    """Answers by the question, after `latency(request)` seconds, unless `failure` says otherwise."""

    def __init__(
        self,
        failure: Callable[[int, Request], BaseException | None] = lambda number, request: None,
        latency: Callable[[Request], float] = lambda request: 0.0,
    ) -> None:
        self._failure = failure
        self._latency = latency
        self.asked: list[str] = []
        self.returned = 0

    async def complete(self, request: Request) -> Completion:
        """Requests are numbered from 1."""
        self.asked.append(request.digest)
        number = len(self.asked)
        await asyncio.sleep(self._latency(request))
        failure = self._failure(number, request)
        if failure is not None:
            raise failure
        self.returned += 1
        return answer_to(request)


@dataclass
class Follower:
    """An onlooker that remembers, and may act on each call."""

    on_call: Callable[[Call], None] = lambda call: None
    started: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    void: list[Void] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    most_in_flight: int = 0

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        self.started.append(key)
        self.most_in_flight = max(self.most_in_flight, len(self.started) - len(self.finished) - len(self.void))

    def episode_finished(self, record: Record) -> None:
        self.finished.append(record.key)

    def episode_void(self, void: Void) -> None:
        self.void.append(void)

    def call_finished(self, call: Call) -> None:
        self.calls.append(call)
        self.on_call(call)

    def note(self, line: str) -> None:
        self.notes.append(line)


def division(names: Sequence[str] = NAMES, rounds: int = 3) -> Division:
    config = ToyConfig(seats=4, rounds=rounds)
    policies: dict[str, Policy] = {
        name: PromptedPolicy(
            name, OperatorPrompt(name, "Play high."), MODELS[name], Sampling(), "reason-then-json", Toy(), config
        )
        if name in MODELS
        else Scripted(plays(7), asks=None, name=name)
        for name in names
    }
    return Division(Toy(), config, policies, Scripted(plays(0), asks=None, name="zero"))


def planned(names: Sequence[str] = NAMES, blocks: int = 3) -> tuple[Episode, ...]:
    return schedule("toy", names, 4, blocks, SEED)


@dataclass
class ToyRun:
    """A run in a folder, to be played in as many sittings as it takes."""

    folder: Path
    blocks: int = 3
    names: Sequence[str] = NAMES

    def __post_init__(self) -> None:
        self.episodes = planned(self.names, self.blocks)
        manifest = Manifest(
            run_id="toy",
            created="2026-05-01T14:22:33+00:00",
            seed=SEED,
            config={},
            policies={},
            schedule=schedule_digest(self.episodes),
            episodes=len(self.episodes),
            versions={},
        )
        Store.create(self.folder, manifest, self.episodes).close()

    def sit(
        self,
        models: Mapping[str, ModelClient] | ModelClient,
        *,
        onlooker: Onlooker | None = None,
        brake: Brake | None = None,
        patience: float = 60.0,
        tries: int = 1,
        slots: Callable[[str], Slots] = lambda name: Slots(100, start=100),
        **pace: Any,
    ) -> Summary:
        """One sitting. `models` by entrant's name, or one for all. `patience` is the decision timeout; a failure that
        would pass is tried `tries` times. `slots` makes those of an entrant's model."""
        return asyncio.run(self.sitting(models, onlooker, brake or Brake(), patience, tries, slots, **pace))

    async def sitting(
        self,
        models: Mapping[str, ModelClient] | ModelClient,
        onlooker: Onlooker | None,
        brake: Brake,
        patience: float = 60.0,
        tries: int = 1,
        slots: Callable[[str], Slots] = lambda name: Slots(100, start=100),
        **pace: Any,
    ) -> Summary:
        clients = models if isinstance(models, Mapping) else dict.fromkeys(NAMES, models)
        exchanges = {
            MODELS[name]: Exchange(client, slots(name), price, patience, tries) for name, client in clients.items()
        }
        with Store.open(self.folder) as store:
            run = Run(
                SEED,
                {"toy": division(self.names)},
                store,
                exchanges,
                brake,
                onlooker or Follower(),
                Pace(**{"episodes_in_flight": 4, "decision_timeout": patience, **pace}),
            )
            async with asyncio.timeout(60):
                return await run.play(self.episodes, frozenset(store.finished()))

    @property
    def records(self) -> list[str]:
        """In the order in which a reader gets them."""
        with Store.open(self.folder, readonly=True) as store:
            return [record.comparable() for record in store.records()]

    @property
    def calls(self) -> list[Call]:
        with Store.open(self.folder, readonly=True) as store:
            return list(store.calls())

    @property
    def voids(self) -> list[Void]:
        with Store.open(self.folder, readonly=True) as store:
            return list(store.voids())
