"""Runs for the tests of reports: played by chance through the real rules, under any names, with faults and voids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from tests.harness.store.store_cases import call, manifest, void
from tests.harness.web.episodes import played
from weigh.harness.audit.collusion.audit import Settings
from weigh.harness.cli.commands.audit import audit_of
from weigh.harness.config.schedule import Episode
from weigh.harness.report.contents import Contents, gather
from weigh.harness.results import load
from weigh.harness.store.record import Decision, FaultNote, Record
from weigh.harness.store.store import Store

HOSTILE = '<img src=x onerror="stung()">|`@root`\u202e#1 https://evil.test ](x)'
"""A name, a cause and a status that want to be markup, a mention, a reference, a link and a table's bar."""

QUICK = Settings(permutations=99)


def tables(
    names: Sequence[str], game: str = "goofspiel", seats: int = 3, blocks: int = 4, **config: Any
) -> list[Record]:
    """Blocks of all tables of `names`, each in two orders, on deals of their own."""
    settings = {"cards": 4, "seats": seats, **config} if game == "goofspiel" else config
    found = []
    chosen = list(combinations(names, seats))
    for block in range(blocks):
        table = chosen[block % len(chosen)]
        for turn, row in enumerate(list(permutations(table))[:2]):
            record = played(game, settings, seed=100 * block + 7)
            place = f"{game}/b{block:04d}"
            found.append(record.model_copy(update={"key": f"{place}/r{turn}", "block": place, "entrants": row}))
    return found


def with_faults(record: Record, seat: int, *causes: str) -> Record:
    """The record with its first decisions of a seat made by a model that failed so."""
    left = list(causes)
    decisions = []
    for decision in record.decisions:
        if decision.seat == seat and left:
            notes = tuple(FaultNote(fault=cause, detail="said nothing") for cause in left[:2])  # type: ignore[arg-type]
            del left[:2]
            by = "fallback" if len(notes) == 2 else "retry"
            decisions.append(Decision(step=decision.step, seat=seat, by=by, faults=notes))  # type: ignore[arg-type]
        elif decision.seat == seat:
            decisions.append(Decision(step=decision.step, seat=seat, by="model"))
        else:
            decisions.append(decision)
    fallbacks = tuple(
        sum(each.by == "fallback" for each in decisions if each.seat == n) for n in range(len(record.entrants))
    )
    models = tuple("openai:gpt-5" if n == seat else None for n in range(len(record.entrants)))
    return record.model_copy(update={"decisions": tuple(decisions), "fallbacks": fallbacks, "models": models})


def make_run(
    folder: Path,
    records: Sequence[Record],
    *,
    missing: Sequence[Record] = (),
    models: Mapping[str, str] | None = None,
    calls: bool = False,
    status: str = "finished",
    **changes: Any,
) -> Path:
    """A run that holds `records` and still lacks `missing`, the first of which an outage ended."""
    everything = [*records, *missing]
    episodes = [Episode(each.key, each.game, each.block, each.entrants, each.block) for each in everything]
    policies = {
        f"{each.game}/{name}": {"digest": f"{name!r:x<64}"[:64], "model": (models or {}).get(name)}
        for each in everything
        for name in each.entrants
    }
    with Store.create(folder, manifest(episodes, policies=policies, **changes), episodes) as store:
        for record in records:
            if calls:
                for seat, model in enumerate(record.models):
                    if model is not None:
                        store.add_call(call(record.key, seat=seat, cost=0.5, latency=1.0 + seat))
            store.add_record(record)
        if missing:
            store.add_void(void(episodes[len(records)], cause=HOSTILE))
        store.set_status(status)
    return folder


def contents(*folders: Path, **options: Any) -> Contents:
    """What a report on these runs says."""
    return gather(load(list(folders)), audit_of(folders, QUICK), **options)
