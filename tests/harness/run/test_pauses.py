"""A model that is paused: nobody calls it meanwhile, nothing is charged, and what needs other models goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.harness.run.scripted_client import ANSWER, Book, Naps, ScriptedClient, ask, exchange, hang, limited, until
from tests.harness.run.seat_lines import seat_line
from tests.harness.run.toy_run import Follower, Model, ToyRun, planned
from tests.jumping_time import jumping
from weigh.harness.config.schedule import Episode
from weigh.harness.run.concurrency import Pause, Pauses, Slots
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.runner import Flight, Summary, Sweep
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, DecisionTimedOut

HOUR = 3600.0


class Clock:
    """Time that passes only in its own sleep, which takes none."""

    def __init__(self, during: Callable[[], bool] = lambda: True) -> None:
        """A sleep ends when `during` holds."""
        self.time = 1000.0
        self.slept: list[float] = []
        self._during = during

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        await until(self._during)
        self.slept.append(seconds)
        self.time += seconds

    def pauses(self) -> Pauses:
        return Pauses(self.now, self.sleep)


async def forever(seconds: float) -> None:
    await asyncio.Event().wait()


def endless() -> Slots:
    """Slots whose pauses never end."""
    return Slots(100, start=100, pauses=Pauses(sleep=forever))


# -- one pause ---------------------------------------------------------------------------------------------------------


def test_a_pause_is_made_longer_and_never_shorter_and_told_when_that_is_news() -> None:
    async def play() -> tuple[list[Pause | None], Pauses, list[float]]:
        clock, told = Clock(), list[Pause | None]()
        pauses = clock.pauses()
        stop = pauses.follow(told.append)
        pauses.begin(HOUR, "first")
        clock.time += 1.0
        for seconds in (HOUR, 10.0, 2 * HOUR, 0.0):
            pauses.begin(seconds, "another")
        await until(lambda: pauses.current is None)
        stop()
        pauses.begin(5.0, "untold")
        await until(lambda: pauses.current is None)
        return told, pauses, clock.slept

    told, pauses, slept = jumping(play())
    assert [pause and (pause.seconds, pause.cause) for pause in told] == [(HOUR, "first"), (2 * HOUR, "another"), None]
    assert slept == [2 * HOUR, 5.0]
    assert (pauses.over, pauses.seconds) == (2, 1.0 + 2 * HOUR + 5.0)


def test_while_a_model_is_paused_nobody_gets_a_slot_and_afterwards_turns_come_in_order_from_one() -> None:
    async def play() -> tuple[list[int], list[int]]:
        order, limits = list[int](), list[int]()
        clock = Clock(lambda: slots.view.waiting == 20)
        slots = Slots(16, start=16, pauses=clock.pauses())

        async def one(number: int) -> None:
            async with slots.slot():
                order.append(number)
                limits.append(slots.view.limit)
                assert slots.view.in_flight <= slots.view.limit
                await asyncio.sleep(0)

        slots.pauses.begin(HOUR, "told")
        await asyncio.gather(*(one(number) for number in range(20)))
        return order, limits

    order, seen = jumping(play())
    assert order == list(range(20))
    assert seen[0] == 1
    assert seen == sorted(seen)
    assert seen[-1] > 2


# -- a seat's line -----------------------------------------------------------------------------------------------------


def test_a_wait_longer_than_the_decision_pauses_the_model_holds_no_slot_and_is_charged_to_nobody() -> None:
    book, naps, held, brake = Book(), Naps(), list[int](), Brake()
    clock = Clock(lambda: held.append(slots.view.in_flight) is None)
    slots = Slots(4, pauses=clock.pauses())
    client = ScriptedClient(limited(HOUR), limited(2 * HOUR), ANSWER)
    assert (
        jumping(seat_line(exchange(client, slots=slots, tries=1), book, brake=brake, sleep=naps).complete(ask()))
        == ANSWER
    )
    assert clock.slept == [HOUR, 2 * HOUR]
    assert set(held) == {0}
    assert book.fates == ["wait", "wait", "answered"]
    assert sum(naps.lengths) == 0.0
    assert brake.pulled is None


def test_every_seat_of_a_paused_model_waits_and_has_its_whole_time_afterwards() -> None:
    """Seats that had lost nearly all of their time to waits when another's answer paused the model."""
    book = Book()
    clock = Clock(lambda: slots.view.waiting == 3)
    slots = Slots(4, pauses=clock.pauses())
    client = ScriptedClient(limited(0.8), limited(0.8), limited(HOUR), hang)
    shared = exchange(client, slots=slots, timeout=1.0)

    async def crowd() -> list[Completion | BaseException]:
        asked = (seat_line(shared, book, seat, sleep=Naps()).complete(ask()) for seat in range(3))
        return await asyncio.gather(*asked, return_exceptions=True)

    # The hanging answers are the policy's own fault only because each got the whole of its time.
    assert [type(each) for each in jumping(crowd())] == [DecisionTimedOut] * 3
    assert sorted(book.fates) == ["timed_out"] * 3 + ["wait"] * 3
    assert len(clock.slept) == 1


def test_a_pause_ends_at_once_when_the_run_is_stopped_or_its_time_is_up() -> None:
    async def stopped(brake: Brake, stop: bool) -> str | None:
        slots = endless()
        line = seat_line(exchange(ScriptedClient(limited(HOUR)), slots=slots), Book(), brake=brake, sleep=Naps())
        waiting = asyncio.create_task(line.complete(ask()))
        await until(lambda: slots.view.waiting == 1)
        if stop:
            brake.pull("interrupted", "Ctrl-C")
        await asyncio.wait([waiting])
        assert waiting.exception() is not None
        assert slots.view.waiting == 0
        return brake.pulled

    assert jumping(stopped(Brake(), True)) == "interrupted"
    assert jumping(stopped(Brake(Ceilings(seconds=0.3)), False)) == "ceiling"


# -- a run -------------------------------------------------------------------------------------------------------------

MIXED = ("ann", "bob", "p", "q", "r", "s")
"""Two models and four scripts: four of them sit at a table."""


def once(number: int) -> Callable[[int, object], BaseException | None]:
    """A 429 for the call of this number: come back in an hour."""
    return lambda asked, request: limited(HOUR) if asked == number else None


def test_while_one_model_is_paused_whatever_needs_others_is_played_and_records_are_the_same(tmp_path: Path) -> None:
    undisturbed, paused = ToyRun(tmp_path / "a", 6, MIXED), ToyRun(tmp_path / "b", 6, MIXED)
    undisturbed.sit(Model())
    without = {episode.key for episode in paused.episodes if "ann" not in episode.entrants}
    follower, brake = Follower(), Brake()
    clock = Clock(lambda: without <= set(follower.finished))
    models = {"ann": Model(once(5)), "bob": Model()}
    summary = paused.sit(
        models,
        onlooker=follower,
        brake=brake,
        episodes_in_flight=1,
        slots=lambda name: Slots(100, start=100, pauses=clock.pauses() if name == "ann" else None),
    )
    assert without
    assert summary.complete
    assert clock.slept == [HOUR]
    assert follower.void == []
    assert brake.pulled is None
    assert paused.records == undisturbed.records
    fates = [call.fate for call in paused.calls]
    assert (fates.count("wait"), fates.count("answered")) == (1, len(undisturbed.calls))
    # One is played, one waits: nothing more is begun with a paused model.
    assert follower.most_in_flight == 2


def test_after_a_pause_no_more_are_played_at_once_than_before() -> None:
    todo = planned(MIXED, 6)
    (first, *_) = (episode for episode in todo if "ann" in episode.entrants)
    without = [episode.key for episode in todo if "ann" not in episode.entrants]
    clock, flights, played, busiest = Clock(lambda: len(played) >= len(without)), set[Flight](), list[str](), 0
    pauses = clock.pauses()

    async def play(episode: Episode, flight: Flight) -> None:
        nonlocal busiest
        flights.add(flight)
        if episode is first:
            pauses.begin(HOUR, "told")
            await until(lambda: pauses.current is None)
        for _ in range(3):
            busiest = max(busiest, sum(not each.waits for each in flights))
            await asyncio.sleep(0)
        flights.discard(flight)
        played.append(episode.key)

    order = (first, *(episode for episode in todo if episode is not first))
    models = {episode.key: ("mock:ann",) if "ann" in episode.entrants else () for episode in todo}
    jumping(Sweep(order, 1, play, lambda episode: models[episode.key], {"mock:ann": pauses}, Brake()).run())
    assert busiest == 1
    assert played[: len(without)] == without
    assert sorted(played) == sorted(models)


def test_an_episodes_time_stands_still_while_a_model_that_plays_in_it_is_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("weigh.harness.run.runner.time", SimpleNamespace(monotonic=clock.now))
    toy = ToyRun(tmp_path / "run", 1)
    summary = toy.sit(
        Model(once(6)),
        patience=10.0,
        episode_deadline=60.0,
        slots=lambda name: Slots(100, start=100, pauses=clock.pauses()),
    )
    assert summary.complete
    assert HOUR in clock.slept
    with Store.open(toy.folder, readonly=True) as store:
        records = list(store.records())
    assert {record.reason for record in records} == {undisturbed_reason(tmp_path)}
    assert {record.times.seconds for record in records if record.times is not None} == {0.0}


def undisturbed_reason(tmp_path: Path) -> str:
    toy = ToyRun(tmp_path / "other", 1)
    toy.sit(Model())
    with Store.open(toy.folder, readonly=True) as store:
        (reason,) = {record.reason for record in store.records()}
    return reason


def test_a_run_that_waits_for_a_pause_stops_at_once_and_goes_on_from_there(tmp_path: Path) -> None:
    undisturbed, toy = ToyRun(tmp_path / "a", 2, MIXED), ToyRun(tmp_path / "b", 2, MIXED)
    undisturbed.sit(Model())
    brake, follower = Brake(), Follower()
    without = {episode.key for episode in toy.episodes if "ann" not in episode.entrants}

    async def stopped() -> Summary:
        pausing = {"ann": Model(once(3)), "bob": Model()}
        sitting = asyncio.create_task(toy.sitting(pausing, follower, brake, slots=lambda name: endless()))
        await until(lambda: without <= set(follower.finished))
        assert not sitting.done()
        brake.pull("interrupted", "Ctrl-C")
        return await sitting

    summary = asyncio.run(stopped())
    assert (summary.pulled, summary.void) == ("interrupted", 0)
    assert summary.finished < summary.scheduled
    assert toy.sit(Model()).complete
    assert toy.records == undisturbed.records
    assert [call.fate for call in toy.calls].count("answered") == len(undisturbed.calls)


def test_a_bug_in_an_episode_is_shown_although_others_wait_for_a_pause(tmp_path: Path) -> None:
    toy = ToyRun(tmp_path / "run", 6, MIXED)

    def broken(number: int, request: object) -> BaseException | None:
        return ZeroDivisionError("a bug") if number > 8 else None

    with pytest.raises(ZeroDivisionError):
        toy.sit({"ann": Model(once(3)), "bob": Model(broken)}, slots=lambda name: endless())
