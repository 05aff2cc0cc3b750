"""Small experiments of scripted policies, played into a store of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weigh.games.ballast.rules import BALLAST, BallastConfig
from weigh.harness.audit.claims.arms import ClaimsPlan, Direction, with_alterations
from weigh.harness.run.events import SilentDisplay
from weigh.harness.run.limits import Brake
from weigh.harness.run.opening import ordered
from weigh.harness.run.runner import Division, Pace, Run
from weigh.harness.store.kinds import EXPERIMENT
from weigh.harness.store.store import Store
from weigh.policies.scripted.registry import fallback_of, scripted

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
    described = {
        "pairs": plan.pairs,
        "directions": [[each.claimer, each.listener] for each in plan.directions],
    }
    setting = BallastConfig().model_dump(mode="json")
    config = {"games": {"ballast": {"blocks": plan.blocks, "config": setting}}, EXPERIMENT: described}
    manifest = ordered(SEED, config, {"ballast": division}, episodes)
    with Store.create(folder, with_alterations(manifest, "ballast", policies), episodes) as store:
        run = Run(SEED, {"ballast": division}, store, {}, Brake(), SilentDisplay(), Pace())
        asyncio.run(run.play(episodes, frozenset()))
        yield store
