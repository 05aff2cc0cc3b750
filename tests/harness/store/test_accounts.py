"""Accounts: every call counted once, by entrant and model, with what is unknown told apart from what is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.store.store_cases import MODEL, call, manifest, planned, record, request, void
from weigh.harness.store import usage
from weigh.harness.store.store import Store
from weigh.harness.store.usage import Account, Accounts, accounts_of, latency_of
from weigh.policies.contract import Completion, Message, Usage

MINI = "openai:gpt-5-mini"


def new_run(folder: Path, run_id: str = "one") -> Store:
    episodes = planned(3)
    return Store.create(folder, manifest(episodes, run_id=run_id), episodes)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """ann's episode is finished after an outage; bob's, with another model, is not."""
    one, two, _ = planned(3)
    with new_run(tmp_path / "run") as store:
        store.add_call(call(one.key, fate="wait", error="429", billing="none"))
        store.add_call(call(one.key, number=1, fate="outage", error="cut", billing="unknown", cost=None))
        store.add_void(void(one))
        store.add_call(call(one.key, number=2, latency=0.4))
        store.add_call(call(one.key, step=1, fate="timed_out", error="late", billing="unknown", cost=None))
        store.add_call(call(one.key, step=1, attempt=2, fate="reused"))
        store.begin_call(call(one.key, step=2).key, request(), "2026-05-01T14:22:41.000+00:00")
        store.add_record(record(one))
        asked = request(model=MINI)
        usage = Usage(input=50, cached=10, cache_written=20, output=30, reasoning=29)
        store.add_call(call(two.key, asked=asked, completion=Completion("x", "length", usage=usage), latency=2.0))
        store.add_call(call(two.key, step=1, asked=asked, fate="fatal", error="401", billing="none"))
    return tmp_path / "run"


def by_name(accounts: tuple[Account, ...]) -> dict[tuple[Any, ...], Account]:
    return {(account.game, account.entrant, account.model): account for account in accounts}


def test_m23_every_call_is_counted_finished_or_not(run: Path) -> None:
    with Store.open(run, readonly=True) as store:
        accounts = accounts_of([store])
        rows = len(list(store.calls()))
    ann, bob = by_name(accounts.rows)["coin", "ann", MODEL], by_name(accounts.rows)["coin", "bob", MINI]
    assert (ann.usage.attempts, ann.usage.calls, ann.usage.answered) == (4, 5, 1)
    assert (ann.usage.repeated_calls, ann.usage.outage_calls, ann.usage.timed_out_calls) == (1, 1, 1)
    assert (ann.usage.lost_calls, ann.usage.reused_calls, ann.usage.fatal_calls) == (1, 1, 0)
    assert (ann.usage.unbilled_calls, ann.usage.unknown_billing_calls) == (1, 3)
    assert (ann.usage.cost_usd, ann.usage.cost_known_usd, ann.usage.unknown_cost_calls) == (None, 0.25, 3)
    assert ann.usage.unknown_usage_calls == 3
    assert (bob.usage.calls, bob.usage.fatal_calls, bob.usage.unbilled_calls) == (2, 1, 1)
    assert bob.usage.cost_usd == 0.25
    assert ann.usage.calls + bob.usage.calls + ann.usage.reused_calls == rows


def test_m22_reasoning_and_cache_are_parts_and_are_never_added(run: Path) -> None:
    with Store.open(run, readonly=True) as store:
        used = by_name(accounts_of([store]).rows)["coin", "bob", MINI].usage
        assert store.totals().tokens == 120 + 80
    assert (used.input_tokens, used.cached_tokens, used.cache_written_tokens) == (50, 10, 20)
    assert (used.output_tokens, used.reasoning_tokens) == (30, 29)


def test_what_nobody_told_is_none_and_what_did_not_happen_is_zero(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call(completion=Completion("x", "end", usage=Usage(input=9, output=200))))
        store.add_call(call(seat=1, fate="reused"))
        told, reused = accounts_of([store]).rows
    assert (told.usage.input_tokens, told.usage.reasoning_tokens, told.usage.cached_tokens) == (9, None, None)
    assert (reused.usage.input_tokens, reused.usage.output_tokens, reused.usage.cost_usd) == (0, 0, 0.0)
    assert reused.usage.calls == 0
    assert reused.usage.latency.p50 is None


def test_unknown_tokens_stay_unknown_beside_answers_that_took_none(tmp_path: Path) -> None:
    untold = call(completion=Completion("x", "end", usage=Usage()), cost=None)
    with new_run(tmp_path / "run") as store:
        store.add_call(untold)
        store.add_call(call(step=1, fate="reused"))
        (account,) = accounts_of([store]).rows
    for used in (account.usage, usage.Usage.of(call(fate="reused")) + usage.Usage.of(untold)):
        assert [getattr(used, name) for name in usage.TOKENS] == [None] * 5
        assert (used.unknown_usage_calls, used.cost_usd, used.cost_known_usd) == (1, None, 0.0)
    assert (usage.Usage() + account.usage, account.usage + usage.Usage()) == (account.usage, account.usage)


def test_calls_summed_in_memory_are_those_summed_by_the_database(tmp_path: Path) -> None:
    made = [
        *(call(step=step, fate=fate, latency=step) for step, fate in enumerate(usage.OUTCOMES)),
        call(step=9, number=1, fate="outage", error="cut", billing="unknown", cost=None),
        call(step=10, completion=Completion("", "length", usage=Usage(9, output=200))),
        call(step=11, completion=Completion(" \n", "end", usage=Usage(reasoning=40))),
        call(step=12, completion=Completion("", "refusal", reasoning="no")),
        call(step=13, completion=Completion("7", "unknown", stop_detail="halted")),
        call(
            step=14,
            asked=request(messages=(Message("system", "The rules. " * 400),)),
            completion=Completion("7", "end", usage=Usage(600, output=1)),
        ),
    ]
    with new_run(tmp_path / "run") as store:
        for each in made:
            store.add_call(each)
        kept = store.totals()
    assert sum(map(usage.Usage.of, made), usage.Usage()) == kept
    outcomes = [getattr(kept, name) for fate, name in usage.OUTCOMES.items() if fate != "reused"]
    assert kept.calls == sum(outcomes) == len(made) - 1
    assert all(outcomes), "every outcome is among them"


def test_rates_are_shares_of_answers(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call(completion=Completion("", "length")))
        store.add_call(call(step=1, completion=Completion("", "end", reasoning="hm")))
        store.add_call(call(step=2))
        store.add_call(call(step=3, fate="reused"))
        store.add_call(call(step=4, fate="timed_out", error="late", billing="unknown"))
        (account,) = accounts_of([store]).rows
    assert account.usage.truncation_rate == 1 / 4
    assert account.usage.reasoning_only_rate == 1 / 4
    with new_run(tmp_path / "other") as store:
        store.add_call(call(fate="outage"))
        (account,) = accounts_of([store]).rows
    assert account.usage.truncation_rate is None


def test_sums_over_models_and_over_runs(run: Path, tmp_path: Path) -> None:
    one = planned(1)[0]
    with new_run(tmp_path / "more", "two") as store:
        store.add_call(call(one.key, asked=request(model=MINI), latency=4.0, cost=1.0))
        store.add_record(record(one))
    with Store.open(run, readonly=True) as first, Store.open(tmp_path / "more", readonly=True) as second:
        accounts = accounts_of([first, second])
        assert accounts_of([second, first]) == accounts
    assert [(row.entrant, row.model) for row in accounts.rows] == [("ann", MODEL), ("ann", MINI), ("bob", MINI)]
    assert list(by_name(accounts.entrants)) == [("coin", "ann", None), ("coin", "bob", None)]
    assert list(by_name(accounts.models)) == [(None, None, MODEL), (None, None, MINI)]
    ann = accounts.of("coin", "ann")
    assert ann is not None
    assert ann.usage.calls == 6
    mini = by_name(accounts.models)[None, None, MINI]
    assert (mini.usage.calls, mini.usage.cost_usd, mini.usage.latency.max) == (3, 1.25, 4.0)
    assert accounts.of("coin", "cy") is None
    assert Accounts().of("coin", "ann") is None


def test_calls_of_an_episode_that_nobody_planned_are_counted_too(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run", manifest()) as store:
        store.add_call(call("coin/b0009/r0"))
        (account,) = accounts_of([store]).rows
        assert (account.game, account.entrant, account.usage.calls) == (None, None, 1)


def test_a_percentile_is_a_latency_that_was_measured() -> None:
    assert latency_of([]).p50 is latency_of([]).mean is None
    hundred = [float(number) for number in range(1, 101)]
    latency = latency_of(hundred)
    assert (latency.mean, latency.p50, latency.p95, latency.max) == (50.5, 50.0, 95.0, 100.0)
    assert latency_of([1.0, 9.0]).p50 == 1.0
    assert latency_of([1.0, 9.0]).p95 == 9.0
    twenty = latency_of(hundred[:20])
    assert twenty.p95 == 19.0, "in whole numbers: 95 % of 20 is 19, not 19.000000000000004"


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1))
def test_so_many_calls_are_no_slower_than_a_percentile(seconds: list[float]) -> None:
    latency = latency_of(seconds)
    for share, value in ((0.5, latency.p50), (0.95, latency.p95), (1.0, latency.max)):
        assert value in seconds
        assert sum(each <= value for each in seconds) >= share * len(seconds) - 1e-9
        assert sum(each < value for each in seconds) < share * len(seconds)


def test_p32_a_prompt_that_was_probably_cut_is_counted_by_its_length(tmp_path: Path) -> None:
    asked = request(messages=(Message("system", "The rules of the game. " * 1500),))
    with new_run(tmp_path / "run") as store:
        store.add_call(call(asked=asked, completion=Completion("7", "end", usage=Usage(4096, output=3))))
        store.add_call(call(step=1, asked=asked, completion=Completion("7", "end", usage=Usage(9000, output=3))))
        (account,) = accounts_of([store]).rows
    assert account.usage.cut_prompt_calls == 1
