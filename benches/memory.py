"""Memory over a long ladder: the resident size of the process while 2,000 episodes are played, kept and shown.

    python -m benches memory      half a minute

Everything of a run is in it but the terminal: schedule, players, client, store on disk, the counts behind the display.
First scripted seats only, then two prompted seats asked over HTTP at the mock server, which is another process. What
matters is the growth after the first few hundred episodes. What still grows then is the database's own cache of the
run's file, to its 8 MB.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from benches.orchestration import GUIDANCE, MODEL, client_at, endpoint_at, new_store
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.harness.cli.progress.plain import choose_display
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.providers.endpoints.prices import cost_of
from weigh.harness.providers.mock_server import MockServerProcess
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.episode import Table
from weigh.harness.run.events import Plan, Progress
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.runner import Division, Pace, Run
from weigh.harness.store.store import Store
from weigh.policies.contract import Policy, Sampling
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import scripted

EPISODES = 2_000
MARKS = (0, 50, 100, 250, 500, 1_000, 1_500, 2_000)
WARM = 500
"""Episodes after which nothing but that cache should grow."""

CONFIG = GoofspielConfig(seats=2, cards=4)
MEGABYTE = 1_048_576


def resident() -> float:
    """Megabytes of this process in memory, as Linux counts them."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def planned(names: Sequence[str], episodes: int) -> tuple[Episode, ...]:
    return schedule("goofspiel", names, CONFIG.seats, -(-episodes // CONFIG.seats), 1)[:episodes]


def all_scripted() -> dict[str, Policy]:
    return {name: scripted("goofspiel", name) for name in ("match", "random")}


def all_prompted() -> dict[str, Policy]:
    return {
        name: PromptedPolicy(
            name, OperatorPrompt(name, GUIDANCE), MODEL, Sampling(), "reason-then-json", GOOFSPIEL, CONFIG
        )
        for name in ("ash", "birch")
    }


def sizes(policies: Mapping[str, Policy], server: MockServerProcess | None, episodes: int) -> dict[int, float]:
    """Megabytes by episodes started, for one run of so many episodes."""
    found: dict[int, float] = {}
    started = 0

    def started_one(table: Table) -> None:
        nonlocal started
        if started in MARKS:
            found[started] = resident()
        started += 1

    names = tuple(policies)
    order = planned(names, episodes)
    divisions = {"goofspiel": Division(GOOFSPIEL, CONFIG, policies, scripted("goofspiel", GOOFSPIEL.fallback))}
    pace = Pace(episodes_in_flight=8)

    async def play(store: Store, display: Progress) -> None:
        async with AsyncExitStack() as stack:
            exchanges = {}
            if server is not None:
                endpoint = endpoint_at(server, "sdk")
                client = await stack.enter_async_context(client_at(endpoint))
                slots, price = Slots.for_endpoint(endpoint), partial(cost_of, endpoint)
                exchanges[MODEL] = Exchange(client, slots, price, pace.decision_timeout)
            run = Run(1, divisions, store, exchanges, Brake(), display, pace, watch=started_one)
            summary = await run.play(order, frozenset())
            assert summary.complete, summary

    with (
        tempfile.TemporaryDirectory() as folder,
        new_store(Path(folder) / "run", order) as store,
        Path(os.devnull).open("w") as nowhere,
        choose_display(nowhere, {}, False) as display,
    ):
        display.run_started(Plan("bench", 1, names, Counter(goofspiel=episodes), Counter(), {}))
        asyncio.run(play(store, display))
        found[episodes] = resident()
    return found


def growth(found: Mapping[int, float]) -> float:
    """Megabytes between the warm run and its end."""
    return found[max(found)] - found[max(mark for mark in found if mark <= WARM)]


def main() -> None:
    print(f"{'MB resident after':<20}" + "".join(f"{mark:>8}" for mark in MARKS) + f"{f'after {WARM}':>12}")
    rows = {"scripted": sizes(all_scripted(), None, EPISODES)}
    with MockServerProcess() as server:
        rows["mock server, HTTP"] = sizes(all_prompted(), server, EPISODES)
    for name, found in rows.items():
        cells = "".join(f"{found[mark]:>8.1f}" for mark in MARKS)
        print(f"{name:<20}{cells}{growth(found):>+12.1f}")


if __name__ == "__main__":
    main()
