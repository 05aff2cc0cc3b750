"""A run: order, voids and their replay, the ways it stops, and that it goes on as if it never had."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.harness.run.scripted_client import busy, refused_key
from tests.harness.run.toy_run import MODELS, NAMES, SEED, Follower, Model, ToyRun, division, planned
from weigh.harness.errors import StoreFailed
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.model_calls import MemoryLedger
from weigh.harness.run.runner import ALL_CUT, Pace, Run
from weigh.harness.store.calls import LOST, Call
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import CONTEXT_FULL, Completion, Request


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    """The run that every other one must come to equal."""
    run = ToyRun(tmp_path_factory.mktemp("undisturbed") / "run")
    summary = run.sit(Model())
    assert summary.complete
    assert len(run.records) == len(run.episodes) == 12
    return run


# -- order -------------------------------------------------------------------------------------------------------------


def test_O32_records_are_the_same_in_the_same_order_whatever_the_latencies(undisturbed: ToyRun, tmp_path: Path) -> None:
    def early_first(request: Request) -> float:
        return int(request.digest[:2], 16) / 50_000

    def late_first(request: Request) -> float:
        return (255 - int(request.digest[:2], 16)) / 50_000

    orders = []
    for name, latency in (("early", early_first), ("late", late_first)):
        run, follower = ToyRun(tmp_path / name), Follower()
        run.sit(Model(latency=latency), onlooker=follower, episodes_in_flight=12)
        assert run.records == undisturbed.records
        orders.append(follower.finished)
    assert orders[0] != orders[1]
    with Store.open(undisturbed.folder, readonly=True) as store:
        assert [record.key for record in store.records()] == [episode.key for episode in undisturbed.episodes]


@pytest.mark.parametrize("most", [1, 3, 50])
def test_no_more_episodes_are_in_flight_than_ordered(tmp_path: Path, most: int) -> None:
    run, follower = ToyRun(tmp_path / "run"), Follower()
    run.sit(Model(latency=lambda request: 0.001), onlooker=follower, episodes_in_flight=most)
    assert follower.most_in_flight == min(most, 12)
    assert sorted(follower.finished) == sorted(follower.started) == sorted(episode.key for episode in run.episodes)


def test_nothing_of_a_finished_episode_stays_in_memory() -> None:
    kept: list[weakref.ref[Record]] = []
    most_tasks = 0

    class Forgetful(MemoryLedger):
        def add_record(self, record: Record) -> None:
            nonlocal most_tasks
            kept.append(weakref.ref(record))
            most_tasks = max(most_tasks, len(asyncio.all_tasks()))

        def add_void(self, void: object) -> None:
            raise AssertionError("nothing fails here")

        def begin_call(self, *what: object) -> int:
            raise AssertionError("nobody is asked here")

    class Blind(Follower):
        def episode_started(self, key: str, entrants: object) -> None: ...
        def episode_finished(self, record: Record) -> None: ...

    names = ("p", "q", "r", "s")
    run = Run(SEED, {"toy": division(names)}, Forgetful(), {}, Brake(), Blind(), Pace(episodes_in_flight=4))
    summary = asyncio.run(run.play(planned(names, 50), frozenset()))
    gc.collect()
    assert summary.finished == len(kept) == 200
    assert sum(record() is not None for record in kept) <= 1
    assert most_tasks <= 1 + 4


# -- outages -----------------------------------------------------------------------------------------------------------


def fails_at(*numbers: int) -> Model:
    """A model whose nth requests meet a 503."""
    return Model(failure=lambda number, request: busy() if number in numbers else None)


def test_a_void_episode_is_kept_and_replayed_with_the_same_seed_and_no_answer_is_bought_twice(
    undisturbed: ToyRun, tmp_path: Path
) -> None:
    run, model, follower = ToyRun(tmp_path / "run"), fails_at(7), Follower()
    summary = run.sit(model, onlooker=follower)
    assert summary.complete
    assert summary.void == 0
    (void,) = run.voids
    assert [void] == follower.void
    assert "503" in void.cause
    assert follower.started.count(void.episode) == 2
    assert follower.started[-1] == void.episode
    assert follower.notes == ["playing 1 void episode(s) again, with the same seeds"]
    assert run.records == undisturbed.records
    # One request more than the undisturbed run: the one that met the 503.
    assert len(run.calls) == len(undisturbed.calls) + 1
    assert Counter(call.fate for call in run.calls)["outage"] == 1


def test_without_replays_a_void_episode_has_no_record_and_the_next_sitting_plays_it(
    undisturbed: ToyRun, tmp_path: Path
) -> None:
    run = ToyRun(tmp_path / "run")
    summary = run.sit(fails_at(7), replays=0)
    assert (summary.finished, summary.void, summary.complete, summary.pulled) == (11, 1, False, None)
    assert len(run.records) == 11
    assert run.sit(Model(), replays=0).complete
    assert run.records == undisturbed.records
    assert len(run.voids) == 1


def test_an_episode_that_is_void_again_on_its_replay_stays_void(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    down = Model(failure=lambda number, request: busy())
    summary = run.sit({"ann": down, **{name: Model() for name in NAMES[1:]}}, replays=2, outages_in_a_row=1000)
    assert (summary.finished, summary.void) == (0, 12)
    assert Counter(void.episode for void in run.voids) == {episode.key: 3 for episode in run.episodes}


class Cut(Model):
    """Its answers are cut, those with these numbers left out."""

    def __init__(self, *whole: int, why: str | None = None) -> None:
        super().__init__()
        self._uncut = whole
        self._why = why

    async def complete(self, request: Request) -> Completion:
        answer = await super().complete(request)
        if len(self.asked) in self._uncut:
            return answer
        return replace(answer, stop="length", stop_detail=self._why)


@pytest.mark.parametrize(("why", "remedy"), [(None, "max_tokens"), (CONTEXT_FULL, "longer than the context")])
def test_an_entrant_whose_first_answers_are_all_truncated_stops_the_run(
    tmp_path: Path, why: str | None, remedy: str
) -> None:
    run, cut = ToyRun(tmp_path / "run", blocks=12), Cut(why=why)
    summary = run.sit({**{name: Model() for name in NAMES}, "bob": cut}, episodes_in_flight=1)
    assert summary.pulled == "fatal"
    assert len(cut.asked) == ALL_CUT
    assert "bob" in summary.reason
    assert remedy in summary.reason


def test_one_whole_answer_among_the_first_lets_a_run_go_on(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run", blocks=3)
    cut = Cut(ALL_CUT)
    assert run.sit({**{name: Model() for name in NAMES}, "bob": cut}, episodes_in_flight=1).complete
    assert len(cut.asked) > 2 * ALL_CUT


def test_O34_a_run_whose_episodes_all_failed_is_not_complete(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    summary = run.sit(Model(failure=lambda number, request: busy()), outages_in_a_row=1000)
    assert (summary.finished, summary.void, summary.complete) == (0, 12, False)
    assert run.records == []


def test_O34_a_block_that_fails_whole_is_void_and_the_others_are_played(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    second = {episode.key for episode in run.episodes if episode.block == "toy/b0001"}
    playing: list[str] = []

    class Watching(Follower):
        def episode_started(self, key: str, entrants: object) -> None:
            playing.append(key)

    down = Model(failure=lambda number, request: busy() if playing[-1] in second else None)
    summary = run.sit(down, onlooker=Watching(), episodes_in_flight=1, replays=0)
    assert (summary.finished, summary.void, summary.pulled) == (8, 4, None)
    assert {void.episode for void in run.voids} == second


def test_a_provider_that_stays_away_stops_the_run_after_so_many_void_episodes(tmp_path: Path) -> None:
    run, down, follower = ToyRun(tmp_path / "run"), Model(failure=lambda number, request: busy()), Follower()
    models = {"ann": down, **{name: Model() for name in NAMES[1:]}}
    summary = run.sit(models, onlooker=follower, episodes_in_flight=1, outages_in_a_row=3)
    assert (summary.pulled, summary.void, summary.finished) == ("outage", 3, 0)
    assert "mock:ann ended 3 episodes without one answer in between: mock:ann: status 503" in summary.reason
    assert len(down.asked) == len(follower.started) == 3
    assert follower.notes == []


def test_one_answer_in_between_starts_the_count_anew(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    # Two void episodes, then one played to its end, and so on: each void one ends with its first request.
    model = Model(failure=lambda number, request: busy() if number % 12 < 2 else None)
    summary = run.sit(
        {"ann": model, **{name: Model() for name in NAMES[1:]}}, episodes_in_flight=1, outages_in_a_row=3, replays=0
    )
    assert summary.pulled is None
    assert summary.void >= 3


def test_voids_are_all_told_when_the_run_stops_during_their_replay(tmp_path: Path) -> None:
    run, brake = ToyRun(tmp_path / "run"), Brake()

    class Stopper(Follower):
        def note(self, line: str) -> None:
            brake.pull("interrupted", "Ctrl-C")

    summary = run.sit(Model(failure=lambda n, request: busy()), onlooker=Stopper(), brake=brake, outages_in_a_row=1000)
    assert (summary.void, summary.finished, summary.pulled) == (12, 0, "interrupted")


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_a_brake_pulled_after_the_last_call_stopped_nothing(undisturbed: ToyRun, tmp_path: Path) -> None:
    run, brake = ToyRun(tmp_path / "run"), Brake(Ceilings(calls=len(undisturbed.calls)))

    class Late(Follower):
        def episode_finished(self, record: Record) -> None:
            super().episode_finished(record)
            if len(self.finished) == len(run.episodes):
                brake.pull("interrupted", "Ctrl-C")

    summary = run.sit(Model(), onlooker=Late(), brake=brake)
    assert brake.pulled == "interrupted"
    assert (summary.complete, summary.pulled, summary.reason) == (True, None, "")
    short = ToyRun(tmp_path / "short")
    summary = short.sit(Model(), brake=Brake(Ceilings(tokens=50 * len(undisturbed.calls))))
    assert (summary.complete, summary.pulled) == (False, "ceiling")
    assert "limits.max_tokens" in summary.reason


def test_a_fatal_failure_stops_the_run_at_once_and_calls_in_flight_return(undisturbed: ToyRun, tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    wrong_key = Model(failure=lambda number, request: refused_key())
    slow = Model(latency=lambda request: 0.05)
    models, follower = {"ann": wrong_key, **{name: slow for name in NAMES[1:]}}, Follower()
    summary = run.sit(models, onlooker=follower, episodes_in_flight=4, replays=3)
    assert (summary.pulled, summary.finished, summary.void) == ("fatal", 0, 0)
    assert "mock:ann: status 401" in summary.reason
    # The first round of four tables left in one batch. Nothing was begun or sent after it, not even a retry.
    assert len(follower.started) == 4
    assert (len(wrong_key.asked), len(slow.asked), slow.returned) == (4, 12, 12)
    assert Counter(call.fate for call in run.calls) == {"fatal": 4, "answered": 12}
    assert run.voids == []
    assert run.sit(Model()).complete
    assert run.records == undisturbed.records


def test_a_bug_in_one_episode_is_raised_after_the_others_came_to_rest(undisturbed: ToyRun, tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    model = Model(
        failure=lambda number, request: ZeroDivisionError("a bug") if number == 30 else None,
        latency=lambda request: 0.002,
    )
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run.sit(model, episodes_in_flight=4)
    kept = Counter(call.fate for call in run.calls)
    assert kept == {"answered": model.returned, "fatal": 1}
    assert len(model.asked) == model.returned + 1
    assert run.sit(Model()).complete
    assert run.records == undisturbed.records


def test_further_bugs_are_not_swallowed(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    model = Model(failure=lambda number, request: ValueError(f"bug {number}"))
    with pytest.raises(ValueError, match="bug") as bug:
        run.sit(model, episodes_in_flight=2)
    (note,) = bug.value.__notes__
    assert "another episode in flight failed as well: ValueError: bug" in note


def test_a_record_that_cannot_be_kept_is_not_told_and_stops_the_run() -> None:
    class FullDisk(MemoryLedger):
        def add_record(self, record: Record) -> None:
            raise StoreFailed("run.sqlite: the disk is full")

        def add_void(self, void: object) -> None: ...

    names, follower, brake = ("p", "q", "r", "s"), Follower(), Brake()
    run = Run(SEED, {"toy": division(names)}, FullDisk(), {}, brake, follower)
    with pytest.raises(StoreFailed, match="the disk is full"):
        asyncio.run(run.play(planned(names), frozenset()))
    assert follower.finished == []
    assert brake.pulled == "fatal"


def _stopping_after(calls: int, brake: Brake) -> Follower:
    def count(call: Call) -> None:
        if len(follower.calls) == calls:
            brake.pull("interrupted", "Ctrl-C")

    follower = Follower(on_call=count)
    return follower


def test_a_run_stopped_again_and_again_ends_like_one_that_never_was(undisturbed: ToyRun, tmp_path: Path) -> None:
    run, model, dice = ToyRun(tmp_path / "run"), Model(latency=lambda request: 0.0005), Random(5)
    sittings = 0
    complete = False
    while not complete:
        sittings += 1
        brake = Brake()
        stopper = _stopping_after(dice.randint(1, 25), brake)
        summary = run.sit(model, onlooker=stopper, brake=brake)
        complete = summary.complete
        assert complete or summary.pulled == "interrupted"
    assert sittings > 5
    assert run.records == undisturbed.records
    # Stopped cleanly, so every request had returned: none was made twice.
    assert len(model.asked) == len(undisturbed.calls)
    assert [(call.key, call.number, call.request, call.fate) for call in run.calls] == [
        (call.key, call.number, call.request, call.fate) for call in undisturbed.calls
    ]


def test_stopping_at_once_writes_down_the_calls_it_cuts_off_and_leaves_no_task(tmp_path: Path) -> None:
    run, model = ToyRun(tmp_path / "run"), Model(latency=lambda request: 30.0)

    async def cancelled() -> None:
        sitting = asyncio.create_task(run.sitting(model, None, Brake()))
        while len(model.asked) < 16:  # noqa: ASYNC110 - an event would have to be the model's
            await asyncio.sleep(0.001)
        sitting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sitting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelled())
    assert [(call.fate, call.error) for call in run.calls] == [("lost", LOST)] * 16
    assert run.records == []


def test_a_scripted_run_can_be_stopped_too(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run", blocks=50, names=("p", "q", "r", "s"))
    brake = Brake()

    async def stopped() -> None:
        asyncio.get_running_loop().call_later(0.02, brake.pull, "interrupted", "Ctrl-C")
        summary = await run.sitting({}, None, brake, episodes_in_flight=1)
        assert summary.pulled == "interrupted"
        assert 0 < summary.finished < 200

    asyncio.run(stopped())


def test_only_the_seat_that_is_slow_times_out(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run", blocks=1)
    hanging = Model(latency=lambda request: 30.0)
    summary = run.sit({"ann": hanging, **{name: Model() for name in NAMES[1:]}}, patience=0.3)
    assert summary.complete
    with Store.open(run.folder, readonly=True) as store:
        for record in store.records():
            seat = record.entrants.index("ann")
            assert record.fallbacks[seat] == len(record.moves)
            for decision in record.decisions:
                faults = {note.fault for note in decision.faults}
                assert ("timed_out" in faults) == (decision.seat == seat)
    fates = {(call.request.model == MODELS["ann"], call.fate) for call in run.calls}
    assert fates == {(True, "timed_out"), (False, "answered")}


def test_an_outage_in_a_patient_line_names_the_failure(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run", blocks=1)
    gone = Model(failure=lambda number, request: CallFailed("outage", "the model was withdrawn"))
    summary = run.sit({"ann": gone, **{name: Model() for name in NAMES[1:]}}, replays=0)
    assert summary.void == 4
    assert {void.cause for void in run.voids} == {"mock:ann: the model was withdrawn"}
