"""What the store keeps, and that it gives back what it was given."""

from __future__ import annotations

import re
import sqlite3
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.store.store_cases import MODEL, call, manifest, new_run, planned, record, request, void
from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.store import call_table as store_calls
from weigh.harness.store import usage
from weigh.harness.store.calls import CallKey, Fate, departed
from weigh.harness.store.record import Decision, FaultNote
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage

ODD = ("", "\x00", "a\x00b", "ok \ud83d", "\ude00\ud83d", "é" * 150, "x" * 5000, "\x1b[2J‮", "😀" * 100, "\r\n\t")


def test_a_new_run_holds_its_manifest_and_schedule(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as made:
        kept = made.manifest
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert store.manifest == kept == manifest(planned(3))
        assert store.finished() == ()
        assert list(store.records()) == list(store.voids()) == list(store.calls()) == []
        assert store.totals() == usage.Usage()


def test_nothing_but_the_two_files_is_left_behind(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call())
    with Store.open(tmp_path / "run", readonly=True) as reader:
        reader.totals()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.lock", "run.sqlite"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_call_comes_back_equal(tmp_path: Path) -> None:
    kept = [
        call(),
        call(seat=1, asked=request(schema={"type": "object", "properties": {"bid": {"enum": [1, 2]}}})),
        call(seat=1, attempt=2, fate="timed_out", error="no answer within 30 s", billing="unknown", cost=None),
        call(step=1, fate="wait", error="429", billing="none"),
        call(step=1, number=1, fate="outage", error="503", billing="none"),
        call(step=2, completion=Completion("", "refusal", reasoning="hm", stop_detail="safety"), cost=None),
    ]
    with new_run(tmp_path / "run") as store:
        for each in kept:
            store.add_call(each)
        assert sorted(store.calls(), key=str) == sorted(kept, key=str)
        assert list(store.calls("coin/b0000/r1")) == []
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert [each.key.seat for each in store.calls("coin/b0000/r0")] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text)[:20])
def test_r28_r29_surrogates_and_nuls_survive_wherever_a_text_is_kept(tmp_path: Path, text: str) -> None:
    asked = Request(MODEL, (Message("system", "s"), Message("user", text)), Sampling(extra={"stop": text}))
    answered = Completion(text, "end", reasoning=text, served_by=text, stop_detail=text)
    noted = Decision(step=0, seat=0, by="retry", faults=(FaultNote(fault="illegal", detail=text),), notes=text)
    episode = planned(1)[0]
    finished = record(episode, decisions=(noted, Decision(step=0, seat=1, by="scripted")))
    with new_run(tmp_path / "run") as store:
        good = call(asked=asked, completion=answered)
        cut = call(step=1, fate="outage", error=text)
        store.add_call(good)
        store.add_call(cut)
        store.add_record(finished)
        store.add_void(void(planned(2)[1], cause="cut at \ud83d"))
        assert list(store.calls()) == [good, cut]
        assert store.paid(good.key, asked) == good
        # Text with a surrogate pair in two halves is one character to JSON, on both sides of the comparison.
        assert [each.comparable() for each in store.records()] == [finished.comparable()]
        assert [each.cause for each in store.voids()] == ["cut at \\ud83d"]


def test_any_text_comes_back(tmp_path: Path) -> None:
    steps = iter(range(10_000))
    with new_run(tmp_path / "run") as store:

        @given(texts=st.lists(st.text(alphabet=st.characters(), max_size=300), min_size=1, max_size=4))
        def comes_back(texts: list[str]) -> None:
            asked = request(messages=tuple(Message("user", text) for text in texts))
            kept = call(step=next(steps), asked=asked, completion=Completion(texts[-1], "end", reasoning=texts[0]))
            store.add_call(kept)
            assert [each for each in store.calls() if each.key == kept.key] == [kept]

        comes_back()


def test_a_call_is_paid_for_the_same_attempt_and_request_only(tmp_path: Path) -> None:
    made = call()
    with new_run(tmp_path / "run") as store:
        store.add_call(made)
        assert store.paid(made.key, request()) == made
        assert store.paid(made.key, request("Your bid, please?")) is None
        assert store.paid(made.key, request(sampling=Sampling(temperature=0.5))) is None
        assert store.paid(made.key, request(model="openai:gpt-5-mini")) is None
        for changes in ({"seat": 1}, {"step": 1}, {"attempt": 2}, {"episode": "coin/b0000/r1"}, {"episode": "none"}):
            assert store.paid(replace(made.key, **changes), request()) is None


def test_a_stored_timeout_is_told_and_a_passing_failure_is_not(tmp_path: Path) -> None:
    waited = call(fate="wait", error="429", billing="none")
    late = call(number=1, fate="timed_out", error="no answer within 30 s", billing="unknown", cost=None)
    with new_run(tmp_path / "run") as store:
        store.add_call(waited)
        assert store.paid(waited.key, request()) is None
        assert store.next_number(waited.key) == 1
        store.add_call(late)
        assert store.paid(late.key, request()) == late
        paid = store.paid(late.key, request())
        assert paid is not None
        assert paid.completion is None
        assert store.next_number(late.key) == 2
        assert store.next_number(CallKey("coin/b0000/r1", 0, 0, 1)) == 0


def test_the_same_number_twice_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call())
        with pytest.raises(StoreRefused, match="already kept"):
            store.add_call(call(text="another"))
        store.add_call(call(number=1, text="another"))
        assert [each.completion.text for each in store.calls() if each.completion] == ['{"bid": 1}', "another"]


def test_o31_a_text_is_kept_once_however_often_it_is_sent(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        for step in range(50):
            store.add_call(call(step=step))
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as db:
        # system, question, settings, reply
        assert db.execute("SELECT count(*) FROM texts").fetchone() == (4,)
        assert db.execute("SELECT count(*) FROM calls").fetchone() == (50,)
    db.close()


def test_r34_a_huge_reply_is_kept_whole_and_small(tmp_path: Path) -> None:
    huge = "no move here. " * 150_000
    with new_run(tmp_path / "run") as store:
        store.add_call(call(text=huge))
        assert [each.completion.text == huge for each in store.calls() if each.completion] == [True]
    assert (tmp_path / "run" / "run.sqlite").stat().st_size < 200_000


def test_o32_records_come_in_schedule_order_whatever_order_they_finished_in(tmp_path: Path) -> None:
    episodes = planned(4)
    with new_run(tmp_path / "run", 4) as store:
        for index in (2, 0, 3):
            store.add_record(record(episodes[index]))
        assert store.finished() == tuple(episodes[index].key for index in (0, 2, 3))
        assert [each.key for each in store.records()] == list(store.finished())
        assert store.record(episodes[2].key) == record(episodes[2])
        assert store.record(episodes[1].key) is None


def test_unplanned_episodes_are_kept_after_the_planned_ones(tmp_path: Path) -> None:
    episodes = planned(2)
    with Store.create(tmp_path / "run", manifest()) as store:
        store.add_call(call(episodes[1].key))
        store.add_record(record(episodes[0]))
        store.add_record(record(episodes[1]))
        assert store.finished() == (episodes[1].key, episodes[0].key)
        assert [account.entrant for account in store.accounts()] == ["bob"]


def test_o07_a_record_twice_counts_once_and_another_one_is_refused(tmp_path: Path) -> None:
    episode = planned(1)[0]
    with new_run(tmp_path / "run") as store:
        store.add_record(record(episode))
        store.add_record(record(episode, times=None))
        with pytest.raises(StoreRefused, match="coin/b0000/r0 is already finished"):
            store.add_record(record(episode, (-1.0, 1.0)))
        assert list(store.records()) == [record(episode)]


def test_an_episode_may_be_void_several_times_and_finish_in_the_end(tmp_path: Path) -> None:
    episode = planned(1)[0]
    with new_run(tmp_path / "run") as store:
        store.add_void(void(episode))
        store.add_void(void(episode, step=3, seats=(0, 1), cause="503"))
        store.add_record(record(episode))
        assert list(store.voids()) == [void(episode), void(episode, step=3, seats=(0, 1), cause="503")]
        assert store.finished() == (episode.key,)


def test_m22_m23_totals_count_every_attempt_and_keep_the_unknown_apart(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call())
        store.add_call(call(attempt=2, fate="timed_out", error="late", billing="unknown", cost=None))
        store.add_call(call(step=1, fate="wait", error="429", billing="none"))
        store.add_call(call(step=1, number=1, completion=Completion("x", "end", usage=Usage(7)), cost=None))
        store.add_call(call("coin/b0000/r1", seat=1))
        store.add_call(call("coin/b0000/r1", seat=0, asked=request(model="openai:gpt-5-mini")))
        store.add_record(record(planned(1)[0]))
        spent = {(account.game, account.entrant, account.model): account.usage for account in store.accounts()}
        assert list(spent) == [("coin", "ann", MODEL), ("coin", "bob", "openai:gpt-5-mini")]
        assert spent["coin", "ann", MODEL] == usage.Usage(
            answered=3,
            input_tokens=207,
            cached_tokens=80,
            output_tokens=40,
            reasoning_tokens=10,
            unknown_usage_calls=2,
            cost_known_usd=0.5,
            unknown_cost_calls=2,
            seconds=(1.5, 1.5, 1.5),
            cache_written_tokens=None,
            attempts=4,
            timed_out_calls=1,
            repeated_calls=1,
            unbilled_calls=1,
            unknown_billing_calls=1,
            served=frozenset({"gpt-5-2026-01-01"}),
        )
        assert store.totals().calls == 6
        assert store.totals().cost_known_usd == 0.75
        assert store.usage("coin/b0000/r1")[0].calls == 1


def test_every_call_has_one_fate_in_the_sums(tmp_path: Path) -> None:
    fates: tuple[Fate, ...] = ("answered", "timed_out", "wait", "outage", "fatal", "lost", "reused")
    with new_run(tmp_path / "run") as store:
        for step, fate in enumerate(fates * 2):
            store.add_call(call(step=step, fate=fate))
        spent = store.totals()
    by_fate = (
        spent.answered,
        spent.timed_out_calls,
        spent.repeated_calls,
        spent.outage_calls,
        spent.fatal_calls,
        spent.lost_calls,
    )
    assert by_fate == (2,) * 6
    assert spent.calls == sum(by_fate)
    assert spent.attempts == spent.calls + spent.reused_calls == 14


def test_a_reused_answer_comes_back_equal_and_is_no_call(tmp_path: Path) -> None:
    reused = call(fate="reused")
    with new_run(tmp_path / "run") as store:
        store.add_call(reused)
        store.add_call(call(step=1))
        assert next(iter(store.calls())) == reused
        assert store.paid(reused.key, request()) == reused
        spent = store.totals()
        assert (spent.calls, spent.answered, spent.reused_calls, spent.attempts) == (1, 1, 1, 2)
        # Its tokens and its cost were the earlier run's.
        assert (
            spent.input_tokens,
            spent.output_tokens,
            spent.cost_known_usd,
            spent.unknown_cost_calls,
            spent.unbilled_calls,
        ) == (100, 20, 0.25, 0, 0)
        assert store.usage("coin/b0000/r0")[0].seconds == (1.5,)


def test_r15_p32_p34_m26_what_answers_were_like_is_counted_apart(tmp_path: Path) -> None:
    long_prompt = request(messages=(Message("system", "The rules. " * 400),))
    answers = [
        Completion("", "end", reasoning='{"bid": 7}'),
        Completion(" \n", "end", usage=Usage(reasoning=40)),
        Completion("", "end"),
        Completion("7", "end", reasoning="hm"),
        Completion("", "length", reasoning="and so on"),
        Completion("", "refusal", reasoning="no"),
        Completion("cut", "length"),
        Completion("7", "unknown", stop_detail="halted"),
    ]
    with new_run(tmp_path / "run") as store:
        for step, completion in enumerate(answers):
            store.add_call(call(step=step, completion=completion))
        store.add_call(call(seat=1, asked=long_prompt, completion=Completion("7", "end", usage=Usage(600, output=1))))
        store.add_call(call(seat=1, step=1, asked=long_prompt, completion=Completion("7", "end", usage=Usage(1100))))
        store.add_call(call(seat=1, step=2, asked=long_prompt, completion=Completion("7", "end")))
        spent = store.usage("coin/b0000/r0")
    assert (
        spent[0].truncated_calls,
        spent[0].refused_calls,
        spent[0].reasoning_only_calls,
        spent[0].cut_prompt_calls,
    ) == (2, 1, 2, 0)
    assert (spent[0].unknown_stop_calls, spent[1].unknown_stop_calls) == (1, 0)
    assert (
        spent[1].truncated_calls,
        spent[1].refused_calls,
        spent[1].reasoning_only_calls,
        spent[1].cut_prompt_calls,
    ) == (0, 0, 0, 1)


# -- before a call leaves, and after it returned ----------------------------------------------------------------------


def test_a_call_that_left_counts_as_lost_until_it_returns(tmp_path: Path) -> None:
    made = call(latency=2.5)
    with new_run(tmp_path / "run") as store:
        assert store.begin_call(made.key, made.request, made.started) == 0
        (out,) = store.calls()
        assert out == departed(made.key, 0, made.request, made.started, None)
        assert (out.fate, out.billing, out.cost, out.latency) == ("lost", "unknown", None, 0.0)
        assert store.paid(made.key, made.request) is None, "it has not returned, so it is asked again"
        assert store.next_number(made.key) == 1
        spent = store.totals()
        assert (
            spent.calls,
            spent.lost_calls,
            spent.unknown_billing_calls,
            spent.unknown_cost_calls,
            spent.unknown_usage_calls,
        ) == (1,) * 5
        store.end_call(made)
        assert list(store.calls()) == [made]
        assert store.paid(made.key, made.request) == made


def test_a_lost_call_that_could_cost_nothing_leaves_the_cost_known(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.begin_call(call().key, request(), call().started, cost=0.0)
        assert (store.totals().lost_calls, store.totals().unknown_cost_calls) == (1, 0)


def test_numbers_go_on_after_a_lost_call(tmp_path: Path) -> None:
    made = call(number=1)
    with new_run(tmp_path / "run") as store:
        store.begin_call(made.key, made.request, made.started)
    with new_run(tmp_path / "other") as store:
        assert store.begin_call(made.key, made.request, made.started) == 0
    with Store.open(tmp_path / "run") as store:
        assert store.begin_call(made.key, made.request, made.started) == 1
        store.end_call(made)
        assert [(each.number, each.fate) for each in store.calls()] == [(0, "lost"), (1, "answered")]
        other = replace(made.key, attempt=2)
        assert store.begin_call(other, made.request, made.started) == 0


def test_a_call_ends_once_and_only_if_it_was_begun(tmp_path: Path) -> None:
    made = call()
    with new_run(tmp_path / "run") as store:
        with pytest.raises(StoreRefused, match="was not begun, or has ended"):
            store.end_call(made)
        store.begin_call(made.key, made.request, made.started)
        store.end_call(made)
        with pytest.raises(StoreRefused, match="was not begun, or has ended"):
            store.end_call(call(text="another"))
        assert list(store.calls()) == [made]


def test_a_call_may_end_with_any_fate_and_comes_back_equal(tmp_path: Path) -> None:
    ends = [
        call(step=0, completion=Completion("\ud83d", "end", "hm", Usage(9, 8, 7, 6, 5), "\ud83d", "\ud83d")),
        call(step=1, fate="timed_out", error="late", billing="unknown", cost=None),
        call(step=2, fate="wait", error="429 \ud83d", billing="none"),
        call(step=3, fate="outage"),
        call(step=4, fate="fatal"),
    ]
    with new_run(tmp_path / "run") as store:
        for each in ends:
            assert store.begin_call(each.key, each.request, each.started) == each.number
        for each in reversed(ends):
            store.end_call(each)
        assert list(store.calls()) == ends


def test_the_status_is_what_was_said_last(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        assert store.status == "interrupted"
        store.set_status("running")
        assert store.status == "running"
        with Store.open(tmp_path / "run", readonly=True) as reader:
            assert reader.status == "running"
            store.set_status("stopped: the ceiling of 5 USD is reached")
            assert reader.status == "stopped: the ceiling of 5 USD is reached"
        store.set_status("stopped: \ud83d")
        assert store.status == "stopped: \\ud83d"
        store.set_status("running")
    with Store.open(tmp_path / "run", readonly=True) as reader:
        assert reader.status == "interrupted", "nobody writes it any more"


def test_what_is_long_is_looked_up_by_index_and_never_read_whole(tmp_path: Path) -> None:
    """O14: a resume asks for the finished episodes and for paid calls; neither may walk over a file of 1 GB."""
    episodes = planned(400)
    with Store.create(tmp_path / "run", manifest(episodes), episodes) as store:
        for episode in episodes[:200]:
            store.add_record(record(episode, measures={"padding": episode.key * 300}))
            store.add_call(call(episode.key, asked=request(episode.key)))
        db = store._db
        statements = {"begin": store_calls.BEGIN, "end": store_calls.END}
        for name, statement in statements.items():
            named = dict.fromkeys(re.findall(r":(\w+)", statement))
            lookups = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", named).fetchall()]
            assert lookups and all("USING" in step and "INDEX" in step for step in lookups if "calls" in step), name
        plans = {
            "finished": "SELECT e.key FROM records r JOIN episodes e ON e.id = r.episode ORDER BY r.episode",
            "paid": store_calls.PAID,
            "next_number": store_calls.NEXT_NUMBER,
        }
        steps = {
            name: [
                row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", tuple("?" * query.count("?"))).fetchall()
            ]
            for name, query in plans.items()
        }
        asked: list[str] = []
        db.set_trace_callback(asked.append)
        assert len(store.finished()) == 200
        assert store.paid(CallKey(episodes[7].key, 0, 0, 1), request(episodes[7].key)) is not None
        db.set_trace_callback(None)
    assert steps["finished"][0] == "SCAN r USING COVERING INDEX records_episode"
    assert all("SCAN" not in step for name in ("paid", "next_number") for step in steps[name]), steps
    assert plans["finished"] in asked, "the plan checked above is the one in use"


@pytest.mark.slow
def test_o14_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    def grow(store: Store, first: int) -> int:
        tracemalloc.start()
        for step in range(first, first + 1500):
            made = call(step=step, asked=request(f"{step} " * 1000), text=f"reply {step} " * 400)
            store.begin_call(made.key, made.request, made.started)
            store.end_call(made)
            store.paid(call(step=step).key, request(f"{step} " * 1000))
        assert sum(1 for _ in store.calls()) == first + 1500
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    with new_run(tmp_path / "run") as store:
        warm = grow(store, 0)
        assert grow(store, 1500) < warm + 1_000_000, "nothing is held of what is kept"
        # Of the 30 MB of text that went through, only the last few hundred texts are remembered.
        assert warm < 8_000_000


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    new_run(tmp_path / "run").close()
    with Store.open(tmp_path / "run", readonly=True) as reader:
        for write in (
            lambda: reader.add_call(call()),
            lambda: reader.begin_call(call().key, request(), call().started),
            lambda: reader.end_call(call()),
            lambda: reader.add_record(record(planned(1)[0])),
            lambda: reader.set_status("finished"),
        ):
            with pytest.raises(StoreRefused, match="for reading only"):
                write()


def test_a_reader_sees_what_is_committed_while_the_writer_goes_on(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store, Store.open(tmp_path / "run", readonly=True) as reader:
        store.add_call(call())
        seen = reader.calls()
        assert next(seen) == call()
        store.add_call(call(step=1))
        assert len(list(reader.calls())) == 2
        seen.close()  # type: ignore[attr-defined]


def test_a_failure_keeps_nothing_of_the_call_and_the_next_one_works(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store._db.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreFailed, match=r"run\.sqlite: it cannot be opened or written"):
            store.add_call(call())
        store._db.execute("PRAGMA query_only = OFF")
        store.add_call(call())
        assert list(store.calls()) == [call()]


@pytest.mark.parametrize("name", ["Zo\u00eb", "\U0001f600", 'a "quoted\\" name', "two\nlines\x1b[2J", "</script>"])
def test_a_record_is_of_its_episode_however_json_writes_the_names(tmp_path: Path, name: str) -> None:
    (episode,) = planned(1)
    named = replace(episode, entrants=(name, "bob"))
    with Store.create(tmp_path / "run", manifest([named]), [named]) as store:
        store.add_record(record(named))
        assert list(store.misfiled()) == []
        store._db.execute("UPDATE seats SET entrant = 'eve' WHERE entrant = 'bob'")
        assert list(store.misfiled()) == [episode.key]
