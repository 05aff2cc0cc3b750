"""Columns that were added within a format: runs that lack them are read as they are, and get them from a writer."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harness.store.store_cases import call, new_run
from weigh.harness.errors import StoreFailed
from weigh.harness.store.schema import ADDED, FILE, create_tables
from weigh.harness.store.store import Store
from weigh.harness.store.usage import Usage as Sums
from weigh.policies.contract import Usage


def without_columns(folder: Path) -> None:
    db = sqlite3.connect(folder / FILE)
    for name in ADDED:
        db.execute(f"ALTER TABLE calls DROP COLUMN {name}")
    db.close()


def columns(folder: Path) -> set[str]:
    db = sqlite3.connect(folder / FILE)
    found = {row[1] for row in db.execute("PRAGMA table_info(calls)")}
    db.close()
    return found


def test_what_a_provider_states_and_our_lag_come_back_equal(tmp_path: Path) -> None:
    first, second = call(), call(number=1, fate="outage")
    assert first.completion is not None
    stated = replace(first.completion, usage=replace(first.completion.usage, cost=0.125, tier="flex"))
    kept = [replace(first, completion=stated, lag=0.25), replace(second, told=Usage(input=7, cost=0.5))]
    with new_run(tmp_path / "run") as store:
        for each in kept:
            store.add_call(each)
        assert list(store.calls()) == kept


@pytest.mark.parametrize("mode", ["rw", "ro"])
def test_a_run_without_the_columns_is_read_as_it_is(tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "run"
    with new_run(folder) as store:
        store.add_call(call())
    without_columns(folder)
    before = columns(folder)
    if mode == "ro":
        (folder / FILE).chmod(0o444)
    with Store.open(folder, readonly=True) as store:
        assert list(store.calls()) == [call()]
        assert store.totals().calls == len(list(store.call_facts())) == 1
        assert list(store.untold()) == []
    assert columns(folder) == before


def test_a_run_without_the_columns_goes_on_with_them(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with new_run(folder) as store:
        store.add_call(call())
    without_columns(folder)
    with Store.open(folder) as store:
        store.add_call(replace(call(number=1), lag=0.5))
        assert [each.lag for each in store.calls()] == [0.0, 0.5]
    assert columns(folder) >= set(ADDED)


def test_a_place_without_a_write_ahead_log_is_noticed() -> None:
    with pytest.raises(StoreFailed) as caught:
        create_tables(Path(":memory:"))
    assert caught.value.kind == "no-wal"


def test_the_models_that_answered_are_summed_alike_in_memory_and_in_the_store(tmp_path: Path) -> None:
    first, second = call(), call(number=1)
    assert second.completion is not None
    second = replace(second, completion=replace(second.completion, served_by="gpt-5, newer"))
    with new_run(tmp_path / "run") as store:
        for each in (first, second, call(number=2, fate="outage")):
            store.add_call(each)
        assert store.totals().served == {"gpt-5-2026-01-01", "gpt-5, newer"}
        assert store.totals() == sum((Sums.of(each) for each in store.calls()), Sums())
