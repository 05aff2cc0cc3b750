"""What the harness adds to its model calls: processor time a decision, and a ladder's makespan over the ideal.

    python -m benches orchestration      about two minutes

The models are the mock server in another process, asked through the same client as any provider; everything is kept in
a store on disk, as in every run.

First table: episodes of goofspiel, four prompted seats over thirteen rounds. `client alone` sends the same requests
again, four at a time, with nothing around it; what is left of `all` is the harness's own.

Second table: 400 calls of equal latency on 100 slots, as 25 tables of four seats and four rounds. The ideal is the
larger of all work over the slots and the longest chain of calls that wait for each other; both are four latencies here.
`calls alone` makes the same calls in four waves with nothing around them: what the client and the server take.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import Endpoint, endpoint_for
from weigh.harness.providers.endpoints.prices import cost_of
from weigh.harness.providers.mock_server import MockServerProcess, Options
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.events import SilentDisplay
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.runner import Division, Pace, Run
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.store import Store
from weigh.policies.contract import Message, ModelClient, Policy, Request, Sampling
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import scripted

NAMES = ("ash", "birch", "cedar", "dune")
SEATS = len(NAMES)
MODEL = "mock:m"
GUIDANCE = "Spend where the prize is worth it, and keep high cards for late prizes. " * 4
EPISODES = 12
RUNS = 3


def division(rounds: int) -> Division:
    """Goofspiel with four prompted entrants; `rounds` prizes of thirteen are played for."""
    config = GoofspielConfig(seats=SEATS, max_rounds=rounds)
    policies: dict[str, Policy] = {
        name: PromptedPolicy(
            name, OperatorPrompt(name, GUIDANCE), MODEL, Sampling(), "reason-then-json", GOOFSPIEL, config
        )
        for name in NAMES
    }
    return Division(GOOFSPIEL, config, policies, scripted("goofspiel", GOOFSPIEL.fallback))


def planned(episodes: int) -> tuple[Episode, ...]:
    return schedule("goofspiel", NAMES, SEATS, -(-episodes // SEATS), 1)[:episodes]


def new_store(folder: Path, episodes: Sequence[Episode]) -> Store:
    manifest = Manifest(
        run_id="bench",
        created="2026-01-01T00:00:00+00:00",
        seed=1,
        config={},
        policies={},
        schedule=schedule_digest(episodes),
        episodes=len(episodes),
        versions={},
        chained=True,
    )
    return Store.create(folder, manifest, episodes)


async def play(store: Store, client: ModelClient, slots: Slots, endpoint: Endpoint, rounds: int, pace: Pace) -> None:
    """Every episode of the store's schedule."""
    exchange = Exchange(client, slots, partial(cost_of, endpoint), pace.decision_timeout)
    episodes = planned(sum(1 for _ in store.episodes()))
    run = Run(1, {"goofspiel": division(rounds)}, store, {MODEL: exchange}, Brake(), SilentDisplay(), pace)
    summary = await run.play(episodes, frozenset())
    assert summary.complete, summary


def endpoint_at(server: MockServerProcess, transport: str) -> Endpoint:
    return endpoint_for(MODEL, {"mock": {"base_url": server.openai_url, "concurrency": 100, "transport": transport}})


@asynccontextmanager
async def client_at(endpoint: Endpoint) -> AsyncIterator[ModelClient]:
    client = client_for(endpoint, {})
    try:
        yield client
    finally:
        await client.aclose()


async def replay(client: ModelClient, requests: Sequence[Request]) -> None:
    for first in range(0, len(requests), SEATS):
        await asyncio.gather(*(client.complete(request) for request in requests[first : first + SEATS]))


def cost_of_a_decision(server: MockServerProcess, transport: str) -> tuple[float, float]:
    """Milliseconds of processor time a decision: the harness with its client, and the client alone. Best of `RUNS`."""
    endpoint = endpoint_at(server, transport)

    async def measured() -> tuple[float, float]:
        whole, alone = [], []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                async with client_at(endpoint) as client:
                    with new_store(Path(folder) / "run", planned(EPISODES)) as store:
                        await replay(client, [])
                        gc.collect()
                        start = time.process_time()
                        await play(store, client, Slots.for_endpoint(endpoint), endpoint, 13, Pace())
                        whole.append(time.process_time() - start)
                        calls = sorted(store.calls(), key=lambda call: call.started)
                    requests = [call.request for call in calls]
                    gc.collect()
                    start = time.process_time()
                    await replay(client, requests)
                    alone.append(time.process_time() - start)
        decisions = len(requests)
        return 1e3 * min(whole) / decisions, 1e3 * min(alone) / decisions

    return asyncio.run(measured())


def makespan(server: MockServerProcess, transport: str, latency: float) -> tuple[float, float, float]:
    """Wall time over the ideal of 400 calls on 100 slots, best of `RUNS`: of the calls with nothing around them, of a
    run whose slots are open, and of one whose slots grow as they do at a provider with rate limits."""
    endpoint = endpoint_at(server, transport)
    rounds, tables = 4, 25
    ideal = max(rounds * tables * SEATS / 100, rounds) * latency

    async def alone() -> float:
        system = Message("system", GUIDANCE * 8)
        wave = [Request(MODEL, (system, Message("user", f"Bid {n}.")), Sampling()) for n in range(tables * SEATS)]
        async with client_at(endpoint) as client:
            start = time.perf_counter()
            for _ in range(rounds):
                await asyncio.gather(*(client.complete(request) for request in wave))
            return time.perf_counter() - start

    async def whole(slots: Slots) -> float:
        with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "run", planned(tables)) as store:
            async with client_at(endpoint) as client:
                start = time.perf_counter()
                await play(store, client, slots, endpoint, rounds, Pace(episodes_in_flight=tables))
                return time.perf_counter() - start

    def best(measured: Callable[[], Coroutine[Any, Any, float]]) -> float:
        return min(asyncio.run(measured()) for _ in range(RUNS)) / ideal

    return best(alone), best(lambda: whole(Slots(100, start=100))), best(lambda: whole(Slots(100)))


def main() -> None:
    print(f"{'ms of CPU a decision':<24}{'all':>8}{'client':>8}{'harness':>9}{'ratio':>8}")
    with MockServerProcess() as server:
        for transport in ("sdk", "lean"):
            whole, alone = cost_of_a_decision(server, transport)
            print(f"{transport:<24}{whole:>8.2f}{alone:>8.2f}{whole - alone:>9.2f}{whole / alone:>7.2f}x")
    print(f"\n{'makespan over the ideal':<24}{'calls alone':>12}{'a run':>8}{'from 16 slots':>15}")
    for latency in (0.2, 1.0):
        with MockServerProcess(Options(latency=f"{latency}s")) as server:
            for transport in ("sdk", "lean"):
                spans = makespan(server, transport, latency)
                print(
                    f"{f'{transport}, {latency:g} s a call':<24}{spans[0]:>11.2f}x{spans[1]:>7.2f}x{spans[2]:>14.2f}x"
                )


if __name__ == "__main__":
    main()
