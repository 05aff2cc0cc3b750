"""Calls and outages that no run makes are told: answers rolled again, attempts there are not, voids nobody had."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.verify.verify_cases import MODEL, episode, new_run, play
from weigh.harness.audit.verify.run import verify_run
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store

COLUMNS = (
    "episode, seat, step, attempt, number, request, model, messages, settings, prompt_characters, fate, reply, "
    "reasoning, stop, stop_detail, served_by, input_tokens, cached_tokens, cache_written_tokens, output_tokens, "
    "reasoning_tokens, error, billing, cost, started, latency, reused_from"
)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean") / "run"
    new_run(folder, "oshi_zumo").close()
    return folder


@pytest.fixture
def run(clean: Path, tmp_path: Path) -> Path:
    shutil.copytree(clean, tmp_path / "run")
    return tmp_path / "run"


def found(folder: Path) -> list[str]:
    with Store.open(folder, readonly=True) as store:
        return [str(finding) for finding in verify_run(store).findings]


def change(folder: Path, statement: str) -> None:
    db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
    assert db.execute(statement).rowcount > 0
    db.close()


def again(folder: Path, **columns: str) -> None:
    """A first answer's call once more, with other columns (as SQL)."""
    chosen = ", ".join(columns.get(name, name) for name in COLUMNS.split(", "))
    change(
        folder,
        f"INSERT INTO calls({COLUMNS}) SELECT {chosen} FROM calls "
        "WHERE fate = 'answered' AND attempt = 1 AND NOT EXISTS (SELECT 1 FROM calls o WHERE o.episode = calls.episode "
        "AND o.seat = calls.seat AND o.step = calls.step AND o.attempt = 2) ORDER BY id LIMIT 1",
    )


FAILED = {
    "fate": "'outage'",
    "reply": "NULL",
    "stop": "NULL",
    "input_tokens": "NULL",
    "cached_tokens": "NULL",
    "output_tokens": "NULL",
    "error": "'503'",
    "billing": "'none'",
    "cost": "0.0",
}


def test_the_run_that_is_changed_here_is_clean(clean: Path) -> None:
    assert found(clean) == []


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"number": "1"}, "went on after the attempt was settled"),
        ({"number": "1", **FAILED}, "went on after the attempt was settled"),
        ({"number": "1", **FAILED, "fate": "'lost'"}, "went on after the attempt was settled"),
        ({"attempt": "0"}, "are of no attempt that there is"),
        ({"attempt": "3"}, "are of no attempt that there is"),
        ({"attempt": "2"}, "hides that step"),
        ({"attempt": "2", **FAILED}, "hides that step"),
    ],
)
def test_a_call_that_no_run_makes_is_found(run: Path, columns: dict[str, str], said: str) -> None:
    again(run, **columns)
    assert any(said in line for line in found(run)), found(run)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("fate = 'asked'", "came to nothing that there is"),
        ("error = 'odd'", "tell an error"),
        ("stop = 'bored'", "stopped for no reason"),
        ("billing = 'none'", "were charged for otherwise"),
        ("cost = -1.0", "cost what does not go"),
        ("latency = -0.5", "took a time that cannot be"),
        ("started = 'noon'", "began at no moment"),
        ("reused_from = 'other oshi_zumo/b0000/r0'", "name no run"),
        ("prompt_characters = 7", "were of another length"),
        ("fate = 'lost', reply = NULL, stop = NULL, billing = 'unknown', cost = NULL, latency = 0.0", "tell an error"),
    ],
)
def test_a_column_that_follows_from_the_others_is_compared(run: Path, columns: str, said: str) -> None:
    change(run, f"UPDATE calls SET {columns} WHERE id = (SELECT min(id) FROM calls WHERE fate = 'answered')")
    assert any(said in line for line in found(run)), found(run)


def test_calls_of_an_unfinished_episode_are_looked_through_too(tmp_path: Path) -> None:
    _, calls = play(episode("oshi_zumo"), models=(0,))
    with new_run(tmp_path / "run", "oshi_zumo", kept=0) as store:
        store.add_call(calls[0])
    assert found(tmp_path / "run") == []
    again(tmp_path / "run", number="1")
    assert any("went on after" in line for line in found(tmp_path / "run"))
    change(tmp_path / "run", "UPDATE calls SET seat = 1")
    assert any("for a seat that no model plays" in line for line in found(tmp_path / "run"))


# -- outages -----------------------------------------------------------------------------------------------------------


def outage(call: Call, number: int = 0) -> Call:
    return Call(call.key, number, call.request, "outage", None, "503", "none", 0.0, call.started, 0.5)


def void(step: int = 0, seats: tuple[int, ...] = (0,), cause: str = f"{MODEL}: 503") -> Void:
    planned = episode("oshi_zumo")
    return Void(planned.key, planned.block, planned.game, planned.entrants, step, seats, cause)


def voided(folder: Path, *voids: Void, failures: int = 1) -> None:
    """A run whose first episode was ended by outages at its first step, and then played."""
    record, calls = play(episode("oshi_zumo"), models=(0,), faults=0.0)
    with new_run(folder, "oshi_zumo", kept=0) as store:
        for number in range(failures):
            store.add_call(outage(calls[0], number))
        for each in voids:
            store.add_void(each)
        for call in calls:
            store.add_call(Call(**{**fields(call), "number": failures if call.key.step == 0 else 0}))
        store.add_record(record)


def fields(call: Call) -> dict[str, Any]:
    return {name: getattr(call, name) for name in Call.__dataclass_fields__}


def test_outages_with_their_voids_are_no_findings(tmp_path: Path) -> None:
    voided(tmp_path / "run", void(), void(), failures=2)
    assert found(tmp_path / "run") == []


def test_an_outage_whose_void_was_not_kept_before_the_process_died_is_none(tmp_path: Path) -> None:
    voided(tmp_path / "run", failures=1)
    assert found(tmp_path / "run") == []


@pytest.mark.parametrize(
    ("voids", "said"),
    [
        ((void(), void()), "voids[1] has no call of step 0, seat 0"),
        ((void(step=1),), "voids[0] has no call of step 1, seat 0"),
        ((void(seats=(1,)),), "voids[0] has no call of step 0, seat 1"),
        ((void(seats=()),), "voids[0] names no seat"),
        ((void(cause="it rained"),), "voids[0] has no call"),
        ((void(cause=f"{MODEL}: 503; and more"),), "voids[0] tells another cause"),
    ],
)
def test_a_void_that_no_outage_brought_is_found(tmp_path: Path, voids: tuple[Void, ...], said: str) -> None:
    voided(tmp_path / "run", *voids)
    assert any(said in line for line in found(tmp_path / "run")), found(tmp_path / "run")


# -- deadlines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "honest"), [(380.5, True), (379.5, False)])
def test_an_episode_cut_before_its_deadline_is_found(tmp_path: Path, seconds: float, honest: bool) -> None:
    """500 s to play, and a round of models may take twice 60 s."""
    record, calls = play(episode("oshi_zumo"), models=(0,), stop_after=2, episode_deadline=500.0)
    times = {"started": "2026-05-01T14:22:40.000+00:00", "seconds": seconds}
    cut = Record.model_validate(record.model_dump(mode="json") | {"times": times})
    with new_run(tmp_path / "run", "oshi_zumo", kept=0, deadline=500.0) as store:
        for call in calls:
            store.add_call(call)
        store.add_record(cut)
    lines = found(tmp_path / "run")
    assert any("reason claims a deadline that was not reached" in line for line in lines) is not honest, lines
    assert len(lines) == (not honest)
