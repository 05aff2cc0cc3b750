"""What `weigh doctor` looks at without asking a model: the machine, the installation, the keys and prices of a config.

Owns these checks and their advice. A check never changes anything, and no key or header is ever shown.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.harness.providers.endpoints.endpoints import Endpoint, proxy_for
from weigh.harness.providers.endpoints.prices import price_known
from weigh.harness.providers.local.weights import missing
from weigh.harness.run.concurrency import shortage
from weigh.harness.run.folder import no_room
from weigh.harness.run.opening import calls_at_once, lacking, schedule_of, versions
from weigh.harness.run.play.opening_lines import unsent

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig

Level: TypeAlias = Literal["ok", "note", "fail"]
"""All is well; something to know; something that would stop a run."""

LITTLE_SPACE = 200 * 1024 * 1024
"""Bytes; a run of thousands of calls takes some tens of megabytes."""
BYTES_A_CALL = 2_000
"""On disk, prompt and reply whole: measured at 1,070 with short replies, for texts that repeat are kept once."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one check came to."""

    level: Level
    what: str
    found: str
    mend: str = ""
    """What to do, for a level that is not `ok`."""

    def told(self) -> str:
        """The finding and the advice as one line."""
        from weigh.harness.words import shown

        return shown(f"{self.found}: {self.mend}" if self.mend else self.found, limit=1_000)

    def to_json(self) -> dict[str, str]:
        return {"level": self.level, "check": self.what, "found": self.found, "mend": self.mend}


def look_around(order: LadderConfig | None) -> Iterator[Found]:
    """The machine and the installation."""
    yield Found("ok", "python", f"{platform.python_version()} at {sys.prefix}")
    listed = versions()
    yield Found("ok", "packages", ", ".join(f"{name} {number}" for name, number in listed.items() if name != "python"))
    yield _embedded()
    yield _space(Path.cwd() if order is None else order.results)
    if order is not None:
        trouble = no_room(order.run_folder)
        if trouble is None:
            yield Found("ok", "results", f"this run will be kept in {order.run_folder}{_size(order)}")
        else:
            yield Found("fail", "results", trouble, "choose another folder with --results")
        short = shortage(order.endpoints, calls_at_once(order))
        if short is not None:
            yield Found("note", "open files", short)
        for warning in (*order.warnings, *unsent(order)):
            yield Found("note", "config", warning)


def _embedded() -> Found:
    trouble = missing()
    if trouble is not None:
        return Found("note", "embedded model", trouble, "run `weigh local setup` to play with it")
    return Found("ok", "embedded model", "local:smollm2 can be played with, without a key or a network")


def _size(order: LadderConfig) -> str:
    """How much the run's model calls will take on disk, where there are any: a bound from the games' longest play."""
    models = {spec.name for spec in order.entrants if spec.model is not None}
    steps = {entry.game.name: entry.game.longest(entry.config) for entry in order.games}
    decisions = sum(
        steps[episode.game] * sum(name in models for name in episode.entrants) for episode in schedule_of(order)
    )
    if not decisions:
        return ""
    return f": at most {decisions:,} decisions of models, and about {max(1, decisions * BYTES_A_CALL // 10**6):,} MB"


def _space(folder: Path) -> Found:
    there = next((place for place in (folder, *folder.absolute().parents) if place.is_dir()), Path("/"))
    free = shutil.disk_usage(there).free
    said = f"{free / 1e9:.1f} GB free at {there}"
    if free < LITTLE_SPACE:
        return Found("fail", "disk", said, "free some space, or choose another folder with --results")
    return Found("ok", "disk", said)


def look_at_keys(order: LadderConfig) -> tuple[list[Found], dict[str, Endpoint]]:
    """What can be said of each model without asking it, and the models that can be asked, by name."""
    found: list[Found] = []
    reachable: dict[str, Endpoint] = {}
    for model, endpoint in order.endpoints.items():
        line = lacking(endpoint)
        if line is not None:
            mend = "export it in the shell that runs weigh" if endpoint.api_key_env else ""
            found.append(Found("fail", model, line, mend))
            continue
        reachable[model] = endpoint
        if endpoint.api_key_env is not None:
            found.append(Found("ok", model, f"its key is set ({endpoint.api_key_env})"))
        proxy = proxy_for(endpoint, os.environ)
        if proxy is not None:
            found.append(Found("note", model, f"is asked through the proxy {proxy}", "NO_PROXY leaves hosts out of it"))
        found += _price(order, model, endpoint)
    return found, reachable


def _price(order: LadderConfig, model: str, endpoint: Endpoint) -> list[Found]:
    if price_known(endpoint):
        return []
    mend = f'give it one: [models."{model}"] price = {{ input = 1.0, output = 4.0 }} (US dollars per million tokens)'
    if order.limits.max_usd is not None:
        return [Found("fail", model, "its price is not known, so limits.max_usd cannot be kept", mend)]
    return [Found("note", model, "its price is not known, so its cost will be unknown", mend)]
