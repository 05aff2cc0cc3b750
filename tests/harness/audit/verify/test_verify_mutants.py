"""Every cell of a run changed, every row dropped or doubled: `weigh verify` sees it, or a reason says why it cannot.

With the hash chain nothing survives. Without it (as for someone who writes the chain again, too) what survives is named
here, column by column.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.harness.audit.verify.verify_cases import MODEL, episode, new_run, play
from weigh.harness.audit.verify.run import verify_run
from weigh.harness.errors import StoreRefused
from weigh.harness.store.calls import Void
from weigh.harness.store.store import Store

SAMPLE = 60
"""Mutants of each run in the quick tier."""

SURVIVORS = {
    "calls.latency": "how long a call took is nobody's to compute",
    "calls.lag": "how late this process was is nobody's to compute",
    "calls.stated_cost": "the provider's own count",
    "calls.tier": "the provider's own word",
    "calls.input_tokens": "the provider's own count",
    "calls.cached_tokens": "the provider's own count",
    "calls.output_tokens": "the provider's own count",
    "calls.cost": "prices are not kept",
    "calls.served_by": "the provider's own word",
    "calls.stop_detail": "the provider's own word",
    "calls.stop": "the provider's own word, where the reply is read alike under both",
    "calls.billing": "whether a failure was charged for",
    "calls.reply": "another answer with the same move and the same notes",
    "calls.messages": "a spelling of the same JSON",
    "records.body": "a spelling of the same JSON",
    "records.times": "how long an episode took",
    "voids.seats": "a spelling of the same JSON",
    "voids.id": "the last void: a run that was killed keeps none for an outage",
    "verdicts.id": "the last verdict",
    "verdicts.body": "the gate's own word",
    "meta.adaptations": "what was learned of models",
    "meta.manifest": "a spelling of the same JSON",
    "manifest.prompts": "runs without a chain keep none",
    "manifest.schedules": "nor have all of them these",
    "manifest.amendments": "none, spelled otherwise",
    "manifest.config.games": "rows, which decide nothing at two seats",
    "manifest.created": "when it was ordered",
    "manifest.run_id": "its name",
    "manifest.config.entrants": "the file of a prompt and its hash, of which the guidance alone is known; a default",
    "manifest.config.limits": "the time of a decision, where nothing timed out and no deadline was reached",
    "manifest.config.models": "where models were asked",
}
"""What a change may survive without the chain, by column, and why."""


class Mutant(NamedTuple):
    """One change."""

    column: str
    """`table.column`; the whole row's is named for its key."""
    what: str
    statement: str
    values: tuple[Any, ...]


def made(folder: Path, chained: bool) -> Path:
    """A finished run with outages, retries, fallbacks, a call used again, a verdict and something learned."""
    with new_run(folder, "oshi_zumo", kept=0, chained=chained) as store:
        for number, planned in enumerate(list(store.episodes())):
            drawn = replace(episode("oshi_zumo"), key=planned.key, block=planned.block, entrants=planned.entrants)
            seats = [seat for seat, name in enumerate(planned.entrants) if name == "ann"]
            record, calls = play(drawn, models=seats, faults=0.5)
            first = calls[0]
            if number == 0:
                failed = replace(first, fate="outage", completion=None, error="503", billing="none", cost=0.0)
                store.add_call(failed)
                store.add_void(
                    Void(record.key, record.block, record.game, record.entrants, 0, tuple(seats), f"{MODEL}: 503")
                )
            for call in calls:
                at = call.number + (number == 0 and call.key == first.key)
                if call.fate == "answered" and call.key.step == 3:
                    origin = f"earlier {record.key}"
                    call = replace(call, fate="reused", billing="none", cost=0.0, latency=0.0, reused_from=origin)
                store.add_call(replace(call, number=at))
            store.add_record(record)
        store.add_adaptations({MODEL: ["takes no temperature"]})
        store.keep_verdict('{"verdict": "pass"}')
        store.set_status("finished")
    return folder


@pytest.fixture(scope="module", params=[True, False], ids=["chained", "without a chain"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("run") / "run", request.param)


def mutants(db: sqlite3.Connection) -> Iterator[Mutant]:
    """Every cell of every table changed in every way that fits it, and every row dropped or doubled."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        columns = [(row[1], row[5]) for row in db.execute(f'PRAGMA table_info("{table}")')]
        keys = [name for name, place in columns if place]
        where = " AND ".join(f'"{name}" = ?' for name in keys)
        listed = ", ".join(f'"{name}"' for name, _ in columns)
        rows = db.execute(f'SELECT {listed} FROM "{table}"').fetchall()
        for row in rows:
            cells = dict(zip([name for name, _ in columns], row, strict=True))
            key = tuple(cells[name] for name in keys)
            told = f"{table}.{cells['name']}" if table == "meta" else ""
            yield Mutant(told or f"{table}.{keys[0]}", "dropped", f'DELETE FROM "{table}" WHERE {where}', key)
            for name, value in cells.items():
                other = rows[(rows.index(row) + 1) % len(rows)][list(cells).index(name)]
                for what, changed in changes(value, other):
                    statement = f'UPDATE "{table}" SET "{name}" = ? WHERE {where}'
                    yield Mutant(told or f"{table}.{name}", f"{what} {key}", statement, (changed, *key))
            if table == "records":
                yield from leaves("records.body", json.loads(cells["body"]), "UPDATE records SET body = ?", key)
            elif told == "meta.manifest":
                yield from leaves("manifest", json.loads(cells["value"]), "UPDATE meta SET value = ?", key)


def leaves(column: str, document: Any, statement: str, key: tuple[Any, ...]) -> Iterator[Mutant]:
    """Every leaf of a JSON document changed, and every entry of its objects and lists taken away."""
    where = "episode" if column == "records.body" else "name"
    places = list(paths(document))
    for place in places:
        told = ".".join(["manifest", *map(str, place[: 2 if place[0] == "config" else 1])])
        copy = json.loads(json.dumps(document))
        above: Any = copy
        for step in place[:-1]:
            above = above[step]
        value = above[place[-1]]
        if isinstance(value, dict | list):
            del above[place[-1]]
        else:
            above[place[-1]] = not value if isinstance(value, bool | None) else changed(value)
        values = (json.dumps(copy, sort_keys=True, separators=(",", ":")), *key)
        named = told if column == "manifest" else "records.body, a leaf"
        yield Mutant(named, f"{place}", f"{statement} WHERE {where} = ?", values)


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in below:
        yield (*above, step)
        yield from paths(item, (*above, step))


def changed(value: Any) -> Any:
    return f"{value}x" if isinstance(value, str) else value + 1


def changes(value: Any, other: Any) -> Iterator[tuple[str, Any]]:
    if value != other:
        yield "another row's", other
    if value is not None:
        yield "missing", None
    match value:
        case None:
            yield "there", "x"
        case int() | float():
            yield "more", value + 1
            yield "negative", -1 - abs(value)
            yield "a text", "odd"
        case str():
            yield "longer", f"{value} "
            yield "empty", ""
            yield "bytes", b"\xff\x00"
            yield "not UTF-8", value.encode("utf-8", "surrogatepass")[:1] + b"\xff"
        case bytes():
            yield "one bit", bytes([value[0] ^ 1, *value[1:]])
            yield "a text", "odd"


def verdict(store: Store, mutant: Mutant) -> str | None:
    """What is found in a mutant; None for one that cannot be made."""
    db = store._db
    db.execute("BEGIN")
    try:
        db.execute(mutant.statement, mutant.values)
        store._texts.forget()
        store.manifest = store._read_manifest()
        found = verify_run(store).findings
        return str(found[0]) if found else ""
    except sqlite3.IntegrityError:
        return None
    except StoreRefused as refused:
        return str(refused)
    finally:
        db.execute("ROLLBACK")


def survivors(run: Path, chosen: list[Mutant]) -> list[Mutant]:
    with Store.open(run) as store:
        manifest = store.manifest
        left = []
        for mutant in chosen:
            if verdict(store, mutant) == "":
                left.append(mutant)
            store.manifest = manifest
    return left


def all_of(run: Path) -> list[Mutant]:
    with sqlite3.connect(run / "run.sqlite") as db:
        db.execute("PRAGMA query_only = ON")
        found = list(mutants(db))
    db.close()
    return found


def check(run: Path, chosen: list[Mutant]) -> None:
    left = survivors(run, chosen)
    if "chain" in {mutant.column.partition(".")[0] for mutant in all_of(run)}:
        assert left == []
    else:
        assert [mutant for mutant in left if mutant.column not in SURVIVORS] == []


def test_the_run_that_is_changed_here_is_clean(run: Path) -> None:
    with Store.open(run, readonly=True) as store:
        assert [str(finding) for finding in verify_run(store).findings] == []


def test_a_sample_of_mutants_is_found(run: Path) -> None:
    found = all_of(run)
    assert len(found) > 1_500
    check(run, Random(4).sample(found, SAMPLE))


@pytest.mark.slow
def test_every_mutant_is_found(run: Path) -> None:
    check(run, all_of(run))
