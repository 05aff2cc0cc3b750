"""The round: one parallel batch, attempt, retry, fallback, sealed until all are in, outages apart from faults."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.toy_game import Toy, ToyConfig
from weigh.games.game import Move, Observation, Seat, State
from weigh.harness.run.episode import PolicyBroken, Table, play_episode
from weigh.harness.run.limits import Brake, Stopping
from weigh.harness.store.calls import Void
from weigh.harness.store.record import Decision, Record
from weigh.policies.contract import (
    Completion,
    DecisionTimedOut,
    Fatal,
    ModelClient,
    Outage,
    Reply,
    Request,
    Retry,
)

Script = Callable[[Observation, Retry | None], Awaitable[Reply]]


@dataclass
class Scripted:
    """A policy whose attempts are given as a function; with `asks` it counts as a model's."""

    script: Script
    asks: str | None = "mock:one"
    name: str = "someone"
    digest: str = "0" * 64

    @property
    def model(self) -> str | None:
        return self.asks

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> Scripted:
        return self

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        return await self.script(observation, retry)


@dataclass
class DumbLine:
    opened: list[tuple[int, int]] = field(default_factory=list)

    def open(self, step: int, attempt: int) -> None:
        self.opened.append((step, attempt))

    async def complete(self, request: Request) -> Completion:
        raise AssertionError("these players ask nobody")


async def always(value: int) -> Reply:
    return Reply(move=value)


def plays(value: int) -> Script:
    return lambda seen, retry: always(value)


async def _zero(seen: Observation, retry: Retry | None) -> Reply:
    return Reply(move=0)


def table(*policies: Scripted, rounds: int = 1, **more: Any) -> Table:
    return Table(
        key="toy/b0/r0",
        block="toy/b0",
        game=Toy(),
        config=ToyConfig(seats=len(policies), rounds=rounds),
        deal={},
        run_seed=1,
        policies=tuple(policies),
        aliases=tuple(f"N{seat}" for seat in range(len(policies))),
        fallback=Scripted(_zero, asks=None, name="zero"),
        **more,
    )


def play(setup: Table, **more: Any) -> Record | Void:
    lines = {seat: DumbLine() for seat, policy in enumerate(setup.policies) if policy.model is not None}
    return asyncio.run(play_episode(setup, lines, **more))


@pytest.mark.parametrize("seats", [4, 13])
def test_every_model_seat_is_asked_in_one_parallel_batch(seats: int) -> None:
    asked: list[int] = []
    everybody = asyncio.Event()

    async def slow(seen: Observation, retry: Retry | None) -> Reply:
        asked.append(seen.seat)
        if len(asked) == seats:
            everybody.set()
        # Nobody answers before all have been asked: were they asked in turn, this would time out.
        async with asyncio.timeout(5):
            await everybody.wait()
        return Reply(move=seen.seat % 10)

    record = play(table(*(Scripted(slow) for _ in range(seats))))
    assert isinstance(record, Record)
    assert asked == list(range(seats))
    assert record.moves == (tuple(seat % 10 for seat in range(seats)),)


def test_a_scripted_seat_answers_before_the_batch_leaves() -> None:
    order: list[str] = []

    async def noted(seen: Observation, retry: Retry | None) -> Reply:
        order.append("model" if seen.seat == 0 else "scripted")
        return Reply(move=1)

    record = play(table(Scripted(noted), Scripted(noted, asks=None)))
    assert order == ["scripted", "model"]
    assert isinstance(record, Record)
    assert [decision.by for decision in record.decisions] == ["model", "scripted"]


def test_the_retry_names_the_fault_and_carries_the_legal_set() -> None:
    seen_retries: list[Retry | None] = []

    async def second_time(seen: Observation, retry: Retry | None) -> Reply:
        seen_retries.append(retry)
        if retry is None:
            return Reply(fault="illegal", detail="12 is too high")
        return Reply(move=5, notes="careful now")

    record = play(table(Scripted(second_time), Scripted(plays(1))))
    assert isinstance(record, Record)
    first, second = seen_retries
    assert first is None
    assert second is not None
    assert second.fault == "illegal"
    assert "12 is too high" in second.hint
    assert "0 to 9" in second.hint
    decision = record.decisions[0]
    assert decision.by == "retry"
    assert [note.fault for note in decision.faults] == ["illegal"]
    assert decision.notes == "careful now"
    assert record.fallbacks == (0, 0)


def test_after_two_faults_the_fallback_moves_and_is_counted_with_both_causes() -> None:
    async def hopeless(seen: Observation, retry: Retry | None) -> Reply:
        return Reply(fault="empty") if retry is None else Reply(fault="truncated")

    record = play(table(Scripted(hopeless), Scripted(plays(1)), rounds=2))
    assert isinstance(record, Record)
    assert record.fallbacks == (2, 0)
    assert record.moves == ((0, 1), (0, 1))
    for decision in record.decisions[::2]:
        assert decision.by == "fallback"
        assert [note.fault for note in decision.faults] == ["empty", "truncated"]


def test_a_decision_that_times_out_is_a_fault_of_the_policy() -> None:
    async def late(seen: Observation, retry: Retry | None) -> Reply:
        raise DecisionTimedOut("no answer within 2 s")

    record = play(table(Scripted(late), Scripted(plays(1))))
    assert isinstance(record, Record)
    assert [note.fault for note in record.decisions[0].faults] == ["timed_out", "timed_out"]
    assert record.fallbacks == (1, 0)


def test_no_seat_waits_for_another_seats_first_answer_before_its_retry() -> None:
    retried = asyncio.Event()

    async def quick(seen: Observation, retry: Retry | None) -> Reply:
        if retry is None:
            return Reply(fault="unreadable")
        retried.set()
        return Reply(move=1)

    async def patient(seen: Observation, retry: Retry | None) -> Reply:
        async with asyncio.timeout(5):
            await retried.wait()
        return Reply(move=2)

    record = play(table(Scripted(quick), Scripted(patient)))
    assert isinstance(record, Record)
    assert record.moves == ((1, 2),)


def test_an_outage_voids_the_episode_and_lets_the_other_seats_finish() -> None:
    finished: list[int] = []

    async def down(seen: Observation, retry: Retry | None) -> Reply:
        raise Outage("mock:one: 503 for a minute")

    async def slower(seen: Observation, retry: Retry | None) -> Reply:
        await asyncio.sleep(0.01)
        finished.append(seen.seat)
        return Reply(move=1)

    void = play(table(Scripted(down), Scripted(slower), Scripted(slower)))
    assert isinstance(void, Void)
    assert void.seats == (0,)
    assert void.step == 0
    assert "503 for a minute" in void.cause
    assert finished == [1, 2]


@pytest.mark.parametrize("failure", [Fatal("mock:one: 401"), ValueError("a bug")])
def test_O02_a_fatal_failure_or_a_bug_is_raised_after_the_other_seats_have_finished(failure: Exception) -> None:
    finished: list[int] = []

    async def broken(seen: Observation, retry: Retry | None) -> Reply:
        raise failure

    async def slower(seen: Observation, retry: Retry | None) -> Reply:
        await asyncio.sleep(0.01)
        finished.append(seen.seat)
        return Reply(move=1)

    with pytest.raises(type(failure)):
        play(table(Scripted(broken), Scripted(slower), Scripted(slower)))
    assert finished == [1, 2]


@pytest.mark.parametrize("failures", [(Stopping("Ctrl-C"), Fatal("401")), (Outage("503"), Stopping("Ctrl-C"))])
def test_of_several_failures_the_gravest_is_raised(failures: tuple[Exception, Exception]) -> None:
    def fails(failure: Exception) -> Script:
        async def fail(seen: Observation, retry: Retry | None) -> Reply:
            raise failure

        return fail

    # Bugs and fatal failures before the end of the run, and that before outages: the episode is unfinished, not void.
    for order in (failures, failures[::-1]):
        with pytest.raises(type(failures[1])):
            play(table(*(Scripted(fails(failure)) for failure in order)))


def test_notes_are_recorded_where_they_change_and_survive_a_fallback() -> None:
    said = iter([("plan", None), ("plan", None), (None, "empty"), (None, "empty"), ("plan", None), ("new", None)])

    async def noting(seen: Observation, retry: Retry | None) -> Reply:
        notes, fault = next(said)
        return Reply(move=1, fault="empty" if fault else None, notes=notes or "plan")

    record = play(table(Scripted(noting), Scripted(plays(2), asks=None), rounds=5))
    assert isinstance(record, Record)
    notes = [decision.notes for decision in record.decisions if decision.seat == 0]
    assert notes == ["plan", None, None, None, "new"]


def test_nothing_of_a_round_is_shown_before_every_move_of_it_is_in() -> None:
    shown: list[tuple[int, ...]] = []
    seen_histories: list[tuple[str, ...]] = []

    class Watcher:
        def step_played(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
            shown.append(tuple(int(str(moves[seat])) for seat in sorted(moves)))

    async def look(seen: Observation, retry: Retry | None) -> Reply:
        seen_histories.append(seen.history)
        assert len(shown) == len(seen.history)
        await asyncio.sleep(0.001 * seen.seat)
        return Reply(move=seen.seat)

    play(table(Scripted(look), Scripted(look), rounds=2), watch=Watcher())
    assert shown == [(0, 1), (0, 1)]
    assert [len(history) for history in seen_histories] == [0, 0, 1, 1]


def test_a_round_opens_only_if_both_attempts_fit_before_the_deadline() -> None:
    clock = iter([0.0, 0.0, 3.0, 7.0, 8.0, 8.0])
    # Attempts of 2 s: rounds are opened while 4 s are left of 10. The readings are: begin, then one before each round.
    record = play(
        table(Scripted(plays(1)), Scripted(plays(2)), rounds=9, decision_timeout=2.0, episode_deadline=10.0),
        now=lambda: next(clock),
    )
    assert isinstance(record, Record)
    assert (record.reason, record.ending) == ("deadline", "wall-clock")
    assert len(record.moves) == 2
    assert record.episode_deadline == 10.0


def test_a_scripted_policy_that_breaks_the_rules_is_a_bug_and_no_fault() -> None:
    with pytest.raises(PolicyBroken, match="someone played 77 at step 0"):
        play(table(Scripted(plays(77), asks=None), Scripted(plays(1))))


def test_a_pulled_brake_stops_the_episode_before_its_next_step() -> None:
    brake = Brake()

    async def last(seen: Observation, retry: Retry | None) -> Reply:
        brake.pull("interrupted", "Ctrl-C")
        return Reply(move=1)

    with pytest.raises(Stopping, match="Ctrl-C"):
        play(table(Scripted(last), Scripted(plays(1)), rounds=3), check=brake.check)


def test_each_attempt_is_announced_to_its_line_with_its_step() -> None:
    line = DumbLine()

    async def twice(seen: Observation, retry: Retry | None) -> Reply:
        return Reply(fault="empty") if retry is None and seen.facts["round"] == 0 else Reply(move=1)

    setup = table(Scripted(twice), Scripted(plays(1), asks=None), rounds=2)
    asyncio.run(play_episode(setup, {0: line}))
    assert line.opened == [(0, 1), (0, 2), (1, 1)]
