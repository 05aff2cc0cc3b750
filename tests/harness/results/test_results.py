"""Runs as tables: one row for each seat-episode, nothing missing turned into a zero, nothing counted twice."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.harness.audit.verify.verify_cases import SEED
from tests.harness.audit.verify.verify_cases import new_run as played_run
from tests.harness.store.store_cases import MODEL, call, new_run, planned, record, request, void
from weigh.harness.errors import StoreRefused
from weigh.harness.results import load
from weigh.harness.results import rows as result_rows
from weigh.harness.store.record import By, Decision, FaultNote
from weigh.policies.contract import FAULTS, Completion, Fault, Message, Usage

SEAT_COLUMNS = [
    *("run", "game", "block", "episode", "seat", "entrant", "policy", "model", "score"),
    *("decisions", "by_model", "by_retry", "by_fallback", "by_scripted", "by_human", "faults"),
    *(f"fault_{fault}" for fault in FAULTS),
    *("refusal_streak", "collusion_index", "points", "reason", "ending", "seconds"),
    *("attempts", "calls", "answered", "timed_out_calls", "repeated_calls", "outage_calls", "fatal_calls"),
    *("lost_calls", "reused_calls", "unbilled_calls", "unknown_billing_calls", "truncated_calls", "refused_calls"),
    *("reasoning_only_calls", "cut_prompt_calls", "unknown_stop_calls"),
    *("latency_mean", "latency_p50", "latency_p95", "latency_max"),
    *("input_tokens", "cached_tokens", "cache_written_tokens", "output_tokens", "reasoning_tokens"),
    *("unknown_usage_calls", "cost_usd", "cost_known_usd", "unknown_cost_calls"),
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three planned episodes: one finished after an outage, one void, one not begun."""
    one, two, _ = planned(3)
    with new_run(tmp_path / "run") as store:
        store.add_call(call(one.key, fate="outage", error="503", billing="none"))
        store.add_void(void(one))
        store.add_call(call(one.key, number=1))
        store.add_call(call(one.key, step=1, fate="timed_out", error="late", billing="unknown", cost=None))
        store.add_call(
            call(one.key, step=1, attempt=2, completion=Completion("x", "end", usage=Usage(input=7, output=1)))
        )
        store.add_record(record(one))
        store.add_call(call(two.key, seat=1))
        store.add_void(void(two, step=4, seats=(1,)))
    return tmp_path / "run"


def test_the_columns_are_as_promised(run: Path) -> None:
    results = load(run)
    assert list(results.seats.columns) == SEAT_COLUMNS == list(result_rows.SEATS)
    assert list(results.decisions.columns) == list(result_rows.DECISIONS)
    assert list(results.calls.columns) == list(result_rows.CALLS)
    assert list(results.voids.columns) == list(result_rows.VOIDS)
    assert list(results.accounts.columns) == list(result_rows.ACCOUNTS)


def test_m23_a_seat_counts_all_its_calls_with_those_of_a_void_start(run: Path) -> None:
    ann, bob = load(str(run)).seats.to_dict("records")
    assert (ann["entrant"], ann["seat"], ann["episode"], ann["game"]) == ("ann", 0, "coin/b0000/r0", "coin")
    assert (ann["model"], ann["score"], ann["points"], ann["collusion_index"]) == (MODEL, 1.0, 2.0, 0.0)
    assert (ann["calls"], ann["answered"], ann["unknown_usage_calls"]) == (4, 2, 1)
    assert (ann["input_tokens"], ann["cached_tokens"], ann["output_tokens"], ann["reasoning_tokens"]) == (
        107,
        40,
        21,
        5,
    )
    assert math.isnan(ann["cost_usd"]), "one of the calls has no known cost"
    assert (ann["cost_known_usd"], ann["unknown_cost_calls"]) == (0.5, 1)
    assert (ann["attempts"], ann["outage_calls"], ann["timed_out_calls"]) == (3, 1, 1)
    assert (ann["unbilled_calls"], ann["unknown_billing_calls"]) == (1, 1)
    assert ann["latency_mean"] == ann["latency_p50"] == ann["latency_max"] == 1.5
    assert (bob["calls"], bob["cost_usd"], bob["input_tokens"]) == (0, 0.0, 0)
    assert math.isnan(bob["latency_mean"])
    assert bob["by_scripted"] == bob["decisions"] == 1


def test_m22_tokens_nobody_told_of_are_missing_and_not_zero(tmp_path: Path) -> None:
    one = planned(1)[0]
    with new_run(tmp_path / "run") as store:
        store.add_call(call(one.key, completion=Completion("x", "end", usage=Usage(input=9, output=200))))
        store.add_record(record(one))
    seats = load(tmp_path / "run").seats
    assert seats["reasoning_tokens"].isna().tolist() == [True, False]
    assert seats["output_tokens"].tolist() == [200, 0]


def test_m04_a_measure_that_does_not_apply_is_missing_and_not_zero(tmp_path: Path) -> None:
    one, two, three = planned(3)
    with new_run(tmp_path / "run") as store:
        store.add_record(record(one, measures={"points": [1, 0], "collusion_index": None}))
        store.add_record(record(two, measures={"collusion_index": [None, 0.5]}))
        store.add_record(record(three, measures={"points": 3, "collusion_index": [True]}))
    seats = load(tmp_path / "run").seats
    assert seats["collusion_index"].isna().tolist() == [True, True, True, False, True, True]
    assert seats["points"].tolist()[:2] == [1.0, 0.0]
    assert seats["points"].isna().tolist()[2:] == [True] * 4
    assert seats["collusion_index"].mean() == 0.5


def test_p34_the_longest_run_of_refusals_at_one_seat_is_told(tmp_path: Path) -> None:
    one, two, _ = planned(3)

    def decision(step: int, by: By, *faults: Fault) -> Decision:
        return Decision(step=step, seat=0, by=by, faults=tuple(FaultNote(fault=fault, detail="") for fault in faults))

    refused = decision(0, "fallback", "refused", "refused")
    with new_run(tmp_path / "run") as store:
        decisions = (refused, decision(1, "retry", "refused"), decision(2, "retry", "refused"))
        store.add_record(record(one, decisions=decisions))
        store.add_record(record(two, decisions=(decision(0, "fallback", "empty", "refused"), decision(1, "model"))))
    seats = load(tmp_path / "run").seats
    # Three in a row, then a move: the retry of step 1 was answered.
    assert seats["refusal_streak"].tolist() == [3, 0, 1, 0]
    assert seats["fault_refused"].tolist() == [4, 0, 1, 0]


def test_p32_each_call_says_whether_its_prompt_was_probably_cut(tmp_path: Path) -> None:
    long = request(messages=(Message("system", "The rules. " * 400),))
    with new_run(tmp_path / "run") as store:
        store.add_call(call(asked=long, completion=Completion("x", "end", usage=Usage(600))))
        store.add_call(call(step=1, asked=long, completion=Completion("x", "end", usage=Usage(1200))))
        store.add_call(call(step=2, asked=long, completion=Completion("x", "end")))
    calls = load(tmp_path / "run").calls
    assert calls["prompt_cut"].tolist() == [True, False, False]
    assert calls["prompt_characters"].tolist() == [4400] * 3


def test_lost_and_reused_calls_have_no_latency_and_say_where_they_are_from(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.begin_call(call().key, request(), call().started)
        store.add_call(call(step=1, fate="reused"))
        store.add_call(call(step=2))
    calls = load(tmp_path / "run").calls
    assert calls["fate"].tolist() == ["lost", "reused", "answered"]
    assert calls["latency"].isna().tolist() == [True, True, False]
    assert calls["cost_usd"].isna().tolist() == [True, False, False]
    assert calls["reused_from"].tolist()[1] == "20260430-090000-s7-00000000 coin/b0000/r0"
    assert calls["reused_from"].isna().tolist() == [True, False, True]


def test_accounts_hold_the_calls_of_episodes_that_have_no_record(run: Path) -> None:
    results = load(run)
    assert results.accounts[["game", "entrant", "model", "calls"]].values.tolist() == [["coin", "ann", MODEL, 5]]
    assert results.accounts["calls"].sum() == len(results.calls)
    assert results.seats["calls"].sum() == 4


def test_types_do_not_depend_on_what_is_there(run: Path, tmp_path: Path) -> None:
    new_run(tmp_path / "empty").close()
    full, empty = load(run), load(tmp_path / "empty")
    for name in ("seats", "decisions", "calls", "voids", "accounts"):
        one, other = getattr(full, name), getattr(empty, name)
        assert len(one) > 0 and len(other) == 0
        assert one.dtypes.to_dict() == other.dtypes.to_dict()
    assert full.seats["input_tokens"].dtype == "Int64"
    assert full.seats["score"].dtype == "float64"
    assert full.seats["by_fallback"].dtype == "int64"
    assert full.voids["failed"].dtype == "bool"


def test_o05_a_partial_run_gives_what_it_has(run: Path) -> None:
    results = load(run)
    assert len(results.seats) == 2
    assert results.calls["episode"].value_counts().to_dict() == {"coin/b0000/r0": 4, "coin/b0000/r1": 1}
    voids = results.voids
    assert voids[["episode", "occurrence", "seat", "entrant", "failed", "finished"]].values.tolist() == [
        ["coin/b0000/r0", 0, 0, "ann", True, True],
        ["coin/b0000/r0", 0, 1, "bob", False, True],
        ["coin/b0000/r1", 0, 0, "bob", False, False],
        ["coin/b0000/r1", 0, 1, "ann", True, False],
    ]
    assert voids["step"].tolist() == [0, 0, 4, 4]


def test_decisions_tell_the_move_and_both_faults(tmp_path: Path) -> None:
    played_run(tmp_path / "run", "goofspiel", blocks=2).close()
    results = load(tmp_path / "run")
    decisions, seats = results.decisions, results.seats
    assert len(decisions) == seats["decisions"].sum() == 8 * 4 * 13
    assert decisions["by"].value_counts()["fallback"] == seats["by_fallback"].sum() > 0
    assert decisions["faults"].sum() == seats["faults"].sum() == seats.filter(like="fault_").to_numpy().sum()
    twice = decisions[decisions["by"] == "fallback"]
    assert twice["first_fault"].notna().all() and twice["second_fault"].notna().all()
    once = decisions[decisions["by"] == "retry"]
    assert once["first_fault"].notna().all() and once["second_fault"].isna().all()
    assert pd.to_numeric(decisions["move"]).between(1, 13).all()
    assert seats["by_model"].sum() + seats["by_retry"].sum() + seats["by_fallback"].sum() == 8 * 2 * 13


def test_m25_entrants_are_told_apart_by_their_whole_names(tmp_path: Path) -> None:
    one = planned(1)[0]
    with new_run(tmp_path / "run") as store:
        store.add_record(record(one, models=(MODEL, f"{MODEL}-mini")))
    seats = load(tmp_path / "run").seats
    assert len(seats[seats["model"] == MODEL]) == 1


def test_several_runs_are_one_table_told_apart_by_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        played_run(tmp_path / name, "oshi_zumo").close()
    results = load([tmp_path / "one", str(tmp_path / "two")])
    assert results.seats["run"].tolist() == ["run-one"] * 4 + ["run-two"] * 4
    assert [manifest.run_id for manifest in results.manifests] == ["run-one", "run-two"]
    assert load(tmp_path / "one").manifest.seed == SEED


def test_o07_the_same_run_twice_is_refused(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "copy")
    with pytest.raises(StoreRefused, match="hold the same run"):
        load([run, tmp_path / "copy"])
    with pytest.raises(StoreRefused, match="give it once"):
        load([run, run])
    with pytest.raises(StoreRefused, match="no run was given"):
        load([])


def test_a_folder_that_is_no_run_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="is not a run"):
        load(tmp_path)
