"""The hash chain of a run: what enters it and when, over deaths, resumes and extensions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.harness.store.store_cases import call, manifest, planned, record, void
from weigh.harness.audit.verify.seal import check_chain
from weigh.harness.errors import StoreRefused
from weigh.harness.store.chain import START
from weigh.harness.store.store import Store

FIRST, SECOND = planned(2)


def chained(folder: Path, count: int = 3) -> Store:
    episodes = planned(count)
    return Store.create(folder, manifest(episodes, chained=True), episodes)


def entered(store: Store) -> list[tuple[str, int | str]]:
    return [(entry.table, entry.row) for entry in store.chain()]


def flaws(store: Store) -> list[str]:
    return [str(finding) for finding in check_chain(store)]


def test_a_new_run_begins_with_its_order(tmp_path: Path) -> None:
    with chained(tmp_path / "run") as store:
        first, second = store.chain()
        assert entered(store) == [("meta", "manifest"), ("meta", "status")]
        assert (first.previous, second.previous) == (START, first.link)
        head = store.chain_head()
        assert head is not None
        assert (head.rows, head.link) == (2, second.link.hex())


def test_calls_enter_with_their_record_and_not_before(tmp_path: Path) -> None:
    with chained(tmp_path / "run") as store:
        store.set_status("running")
        for step in range(2):
            asked = call(step=step)
            store.begin_call(asked.key, asked.request, asked.started)
            store.end_call(asked)
        assert entered(store)[3:] == []
        assert flaws(store) == [], "a call under way may be there and not in the chain"
        store.add_record(record(FIRST))
        assert entered(store)[3:] == [("calls", 1), ("calls", 2), ("records", 1)]
        store.set_status("finished")
        assert flaws(store) == []


def test_calls_enter_with_a_void_and_when_the_run_comes_to_rest(tmp_path: Path) -> None:
    with chained(tmp_path / "run") as store:
        store.set_status("running")
        store.add_call(call(fate="outage"))
        store.add_void(void(FIRST))
        store.add_call(call(number=1))
        store.set_status("interrupted")
        assert entered(store)[3:] == [("calls", 1), ("voids", 1), ("calls", 2), ("meta", "status")]
        assert flaws(store) == []


def test_a_chain_goes_on_where_a_process_died(tmp_path: Path) -> None:
    store = chained(tmp_path / "run")
    store.set_status("running")
    lost = call()
    store.begin_call(lost.key, lost.request, lost.started)
    store.close()  # without a word on how it ended
    with Store.open(tmp_path / "run") as again:
        assert flaws(again) == []
        again.add_call(call(number=1))
        again.add_record(record(FIRST))
        assert entered(again)[3:] == [("calls", 1), ("calls", 2), ("records", 1)]
        again.set_status("finished")
        assert flaws(again) == []


def test_a_row_that_was_taken_away_and_made_again_is_told(tmp_path: Path) -> None:
    with chained(tmp_path / "run") as store:
        store.add_record(record(FIRST))
    db = sqlite3.connect(tmp_path / "run" / "run.sqlite", isolation_level=None)
    db.execute("DELETE FROM records")
    db.close()
    with Store.open(tmp_path / "run") as store:
        assert flaws(store) == ["chain holds row 1 of records, which is gone"]
        store.add_record(record(FIRST))
        assert flaws(store) == ["chain has row 1 of records twice: it was taken away and made again"]


def test_what_was_undone_leaves_no_entry(tmp_path: Path) -> None:
    with chained(tmp_path / "run") as store:
        store.add_record(record(FIRST))
        before = list(store.chain())
        with pytest.raises(StoreRefused):
            store.add_record(record(FIRST, scores=(0.5, -0.5)))
        assert list(store.chain()) == before
        store.add_record(record(SECOND))
        assert flaws(store) == []


def test_an_extension_enters(tmp_path: Path) -> None:
    episodes = planned(4)
    with chained(tmp_path / "run", 2) as store:
        store.amend(manifest(episodes), episodes[2:])
        assert store.manifest.chained, "whatever the new order says"
        assert entered(store)[2:] == [("meta", "manifest"), ("meta", "status")]
        assert flaws(store) == []


def test_a_run_without_a_chain_gets_none(tmp_path: Path) -> None:
    episodes = planned(2)
    with Store.create(tmp_path / "run", manifest(episodes), episodes) as store:
        store.add_call(call())
        store.add_record(record(FIRST))
        store.amend(manifest(episodes, chained=True), ())
        assert not store.manifest.chained
        assert store.chain_head() is None
        with pytest.raises(StoreRefused, match="no such table"):
            list(store.chain())
