"""A small run for the viewer's tests: finished, void and unfinished episodes, one with model calls."""

from __future__ import annotations

from pathlib import Path

from tests.harness.store.store_cases import call, manifest, void
from tests.harness.web.episodes import by_models, played
from weigh.harness.config.schedule import Episode
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Usage

SMALL = {"seats": 3, "cards": 4}
MODELS = "goofspiel/b0000/r0"
VOID = "oshi_zumo/b0001/r0"
OPEN = "oshi_zumo/b0001/r1"


def renamed(record: Record, key: str, **changes: object) -> Record:
    return record.model_copy(update={"key": key, "block": key.rpartition("/")[0], **changes})


def records() -> list[Record]:
    """Four finished episodes; the first by models."""
    first = by_models(played("goofspiel", SMALL, seed=1), notes="kept in mind")
    return [
        renamed(first, MODELS, entrants=("ann", "bob", "cat")),
        renamed(played("goofspiel", SMALL, seed=2), "goofspiel/b0000/r1", entrants=("bob", "cat", "ann")),
        renamed(played("oshi_zumo", {"coins": 8}, seed=3), "oshi_zumo/b0000/r0", entrants=("ann", "bob")),
        renamed(played("oshi_zumo", {"coins": 20}, seed=4, stop=1), "oshi_zumo/b0000/r1", entrants=("bob", "cat")),
    ]


def make_run(folder: Path, reply: str = '{"bid": 1}', reasoning: str | None = "I thought.") -> Path:
    """The run's folder. `reply` and `reasoning` are what the model of seat 1 said at step 0, at its second attempt."""
    kept = records()
    episodes = [
        *(Episode(record.key, record.game, record.block, record.entrants, record.block) for record in kept),
        Episode(VOID, "oshi_zumo", "oshi_zumo/b0001", ("ann", "bob"), "oshi_zumo/b0001"),
        Episode(OPEN, "oshi_zumo", "oshi_zumo/b0001", ("bob", "ann"), "oshi_zumo/b0001"),
    ]
    with Store.create(folder, manifest(episodes), episodes) as store:
        store.add_call(call(MODELS, seat=0, text="I pass."))
        store.add_call(call(MODELS, seat=0, attempt=2, text=""))
        store.add_call(call(MODELS, seat=1, fate="wait"))
        store.add_call(call(MODELS, seat=1, number=1, text="cut off"))
        said = Completion(reply, "end", reasoning, Usage(321, 40, 123, 45), served_by="served-by-7")
        store.add_call(call(MODELS, seat=1, attempt=2, completion=said, cost=0.0125, latency=2.25))
        for record in kept:
            store.add_record(record)
        store.add_void(void(episodes[4], cause="502 from the <b>gateway</b>", step=2))
        store.set_status("stopped: too many voids")
    return folder
