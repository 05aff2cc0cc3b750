"""Small experiments of scripted policies, played into a store of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from games.ballast.rules import BALLAST, BallastConfig
from harness.brake import Brake
from harness.cli.compose import ordered
from harness.display import SilentDisplay
from harness.experiments.ordered import with_alterations
from harness.experiments.plan import ClaimsPlan, Direction
from harness.kinds_of_run import EXPERIMENT
from harness.run import Division, Pace, Run
from harness.store import Store
from policies.scripted.registry import fallback_of, scripted

SEED = 3


def plan_of(claimer: str, listener: str, pairs: int, both: bool = False) -> ClaimsPlan:
    one = Direction(claimer, listener)
    return ClaimsPlan((one, Direction(listener, claimer)) if both else (one,), pairs)


@contextmanager
def played(folder: Path, plan: ClaimsPlan) -> Iterator[Store]:
    """The finished run of a plan."""
    policies = plan.policies({name: scripted("ballast", name) for name in plan.names})
    division = Division(BALLAST, BallastConfig(), policies, fallback_of("ballast"))
    episodes = plan.episodes()
    manifest = ordered(SEED, {EXPERIMENT: {"pairs": plan.pairs}}, {"ballast": division}, episodes)
    with Store.create(folder, with_alterations(manifest, "ballast", policies), episodes) as store:
        run = Run(SEED, {"ballast": division}, store, {}, Brake(), SilentDisplay(), Pace())
        asyncio.run(run.play(episodes, frozenset()))
        yield store
