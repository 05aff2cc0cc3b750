"""Small runs, calls and records for the tests of the store; nothing in them is played."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weigh.harness.config.schedule import Episode
from weigh.harness.store.calls import BROUGHT, Call, CallKey, Fate, Void
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.record import Decision, Record, Times
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage

MODEL = "openai:gpt-5"


def planned(count: int = 3) -> tuple[Episode, ...]:
    """Episodes of two seats, blocks of two rotations."""
    return tuple(
        Episode(
            key=f"coin/b{number // 2:04d}/r{number % 2}",
            game="coin",
            block=f"coin/b{number // 2:04d}",
            entrants=("ann", "bob") if number % 2 == 0 else ("bob", "ann"),
            deal_key=f"coin/b{number // 2:04d}",
        )
        for number in range(count)
    )


def manifest(episodes: Sequence[Episode] = (), **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "run_id": "20260501-142233-s7-1f0a9c3e",
        "created": "2026-05-01T14:22:33+00:00",
        "seed": 7,
        "config": {"blocks": 1, "limits": {"decision_timeout": 30}},
        "policies": {"ann": {"digest": "a" * 64, "model": MODEL}, "bob": {"digest": "b" * 64, "model": None}},
        "schedule": schedule_digest(episodes),
        "episodes": len(episodes),
        "versions": {"weigh": "0.1.0", "python": "3.11.7"},
    }
    return Manifest.model_validate(values | changes)


def new_run(folder: Path, count: int = 3) -> Store:
    episodes = planned(count)
    return Store.create(folder, manifest(episodes), episodes)


def unchained(run: Path) -> None:
    """A run as it was made before there was a hash chain."""
    with Store.open(run, readonly=True) as store:
        data = store.manifest.model_dump(mode="json") | {"chained": False}
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    db.execute("UPDATE meta SET value = ? WHERE name = 'manifest'", (json.dumps(data),))
    db.execute("DROP TABLE chain")
    db.close()


def request(text: str = "Your bid?", **changes: Any) -> Request:
    values: dict[str, Any] = {
        "model": MODEL,
        "messages": (Message("system", "The rules. " * 60), Message("user", text)),
        "sampling": Sampling(temperature=0.0, extra={"effort": "low"}),
    }
    return Request(**values | changes)


def call(
    episode: str = "coin/b0000/r0",
    seat: int = 0,
    step: int = 0,
    attempt: int = 1,
    number: int = 0,
    *,
    asked: Request | None = None,
    fate: Fate = "answered",
    text: str = '{"bid": 1}',
    **changes: Any,
) -> Call:
    completion = None
    if fate in BROUGHT:
        completion = Completion(text, "end", usage=Usage(100, 40, 20, 5), served_by="gpt-5-2026-01-01")
    values: dict[str, Any] = {
        "key": CallKey(episode, seat, step, attempt),
        "number": number,
        "request": asked or request(),
        "fate": fate,
        "completion": completion,
        "error": None if completion else "connection reset",
        "billing": "known" if fate == "answered" else "none",
        "cost": 0.25 if fate == "answered" else 0.0,
        "started": "2026-05-01T14:22:40.000+00:00",
        "latency": 1.5,
    }
    if fate == "reused":
        values |= {"latency": 0.0, "reused_from": f"20260430-090000-s7-00000000 {episode}"}
    return Call(**values | changes)


def record(episode: Episode, scores: tuple[float, float] = (1.0, -1.0), **changes: Any) -> Record:
    values: dict[str, Any] = {
        "key": episode.key,
        "block": episode.block,
        "game": episode.game,
        "config": {"rounds": 1},
        "deal": {},
        "entrants": episode.entrants,
        "policies": tuple(("a" if name == "ann" else "b") * 64 for name in episode.entrants),
        "models": tuple(MODEL if name == "ann" else None for name in episode.entrants),
        "aliases": ("Ash", "Elm"),
        "fallback": "match",
        "moves": ((1, 2),),
        "decisions": (Decision(step=0, seat=0, by="model"), Decision(step=0, seat=1, by="scripted")),
        "events": ({"type": "reveal", "bids": [1, 2]},),
        "reason": "complete",
        "ending": "round-cap",
        "scores": scores,
        "measures": {"points": [2.0, 1.0], "collusion_index": [0.0, 0.0]},
        "fallbacks": (0, 0),
        "times": Times(started="2026-05-01T14:22:40.000+00:00", seconds=1.75),
    }
    return Record.model_validate(values | changes)


def void(episode: Episode, **changes: Any) -> Void:
    values: dict[str, Any] = {
        "episode": episode.key,
        "block": episode.block,
        "game": episode.game,
        "entrants": episode.entrants,
        "step": 0,
        "seats": (0,),
        "cause": "openai:gpt-5: 503 past patience",
    }
    return Void(**values | changes)
