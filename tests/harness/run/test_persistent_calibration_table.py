"""A whole table of Persistent Calibration: thirteen prompted seats in one batch, and what becomes of a failed one."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION, PersistentCalibrationConfig
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.record import Record
from weigh.policies.contract import Completion, Request, Sampling
from weigh.policies.operator_prompt import parse_prompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import scripted

SEATS = 13
SEED = 5


class Answering:
    """A seat's line to its model, which answers only when a whole batch has arrived. Implements `Line`."""

    def __init__(self, seat: int, batch: Batch) -> None:
        self.seat = seat
        self.batch = batch
        self.asked: list[Request] = []
        self.attempt = (0, 1)

    def open(self, step: int, attempt: int) -> None:
        self.attempt = (step, attempt)

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        await self.batch.arrived(self.attempt)
        return Completion(self.batch.replies(self.seat, *self.attempt), "end")


class Batch:
    """Lets the first attempts of a step through together."""

    def __init__(self, replies: Any) -> None:
        self.replies = replies
        self.waiting: dict[int, list[asyncio.Event]] = {}
        self.sizes: list[int] = []

    async def arrived(self, attempt: tuple[int, int]) -> None:
        step, number = attempt
        if number > 1:
            return
        mine = asyncio.Event()
        batch = self.waiting.setdefault(step, [])
        batch.append(mine)
        if len(batch) == SEATS:
            self.sizes.append(len(batch))
            for each in batch:
                each.set()
        # Nobody answers before all have been asked: were they asked in turn, this would time out.
        async with asyncio.timeout(5):
            await mine.wait()


def put(step: int, seat: int) -> str:
    return json.dumps({"scale": "ABC"[seat % 3], "side": ["left", "right"][seat % 2], "weight": step % 3 + 1})


def table() -> Table:
    config = PersistentCalibrationConfig()
    prompt = parse_prompt("Play well.", "plain.md")
    policies = tuple(
        PromptedPolicy(f"p{seat}", prompt, "mock:one", Sampling(), "json-only", PERSISTENT_CALIBRATION, config)
        for seat in range(SEATS)
    )
    return Table(
        key="persistent_calibration/b0000/r0",
        block="persistent_calibration/b0000",
        game=PERSISTENT_CALIBRATION,
        config=config,
        deal={},
        run_seed=SEED,
        policies=policies,
        aliases=deal_aliases(SEATS, stream(SEED, "aliases", "persistent_calibration/b0000/r0")),
        fallback=scripted("persistent_calibration", "absent"),
    )


def play(replies: Any) -> tuple[Record, Batch, dict[int, Answering]]:
    batch = Batch(replies)
    lines = {seat: Answering(seat, batch) for seat in range(SEATS)}
    record = asyncio.run(play_episode(table(), lines))
    assert isinstance(record, Record)
    return record, batch, lines


def test_thirteen_seats_are_asked_in_one_batch_in_each_of_six_rounds() -> None:
    record, batch, lines = play(lambda seat, step, attempt: put(step, seat))
    assert batch.sizes == [SEATS] * 6
    assert all(len(line.asked) == 6 for line in lines.values())
    assert {decision.by for decision in record.decisions} == {"model"}
    assert len(record.decisions) == 6 * SEATS
    assert record.moves[0][4] == {"scale": "B", "side": "left", "weight": 1, "modify": 0}
    assert verify_record(record) == []


def test_A12_a_seat_that_fails_twice_submits_nothing_and_loses_its_lowest_weight() -> None:
    def replies(seat: int, step: int, attempt: int) -> str:
        if seat == 7 and step == 1:
            return ["null", '{"scale": "A", "side": "left", "weight": 1}'][attempt - 1]
        return put(step, seat)

    record, _, lines = play(replies)
    assert record.moves[1][7] is None
    (decision,) = [each for each in record.decisions if each.faults]
    assert (decision.step, decision.seat, decision.by) == (1, 7, "fallback")
    assert [note.fault for note in decision.faults] == ["unreadable", "illegal"]
    assert decision.faults[1].detail == "weight 1: you hold 2, 3"
    assert record.fallbacks == tuple(int(seat == 7) for seat in range(SEATS))
    weighed: Any = [event for event in record.events if event["type"] == "weigh"]
    assert weighed[1]["sides"][7] is None
    assert "No move: " in lines[7].asked[-1].messages[1].text
    # The lowest weight it still held was 2; with 3 it goes on.
    assert record.moves[2][7]["weight"] == 3  # type: ignore[index, call-overload]
    assert verify_record(record) == []


def test_a_missing_move_that_was_none_is_found_out() -> None:
    record, _, _ = play(lambda seat, step, attempt: put(step, seat))
    told = record.model_dump(mode="json")
    told["moves"][5][7] = None
    assert any("events" in finding.where for finding in verify_record(told))


@pytest.mark.parametrize("key", ["points", "garnets_final", "share_score", "points_by_round", "tokens_of_life"])
def test_a_changed_measure_is_found_out(key: str) -> None:
    record, _, _ = play(lambda seat, step, attempt: put(step, seat))
    told = record.model_dump(mode="json")
    told["measures"][key][0] = 99
    assert [finding.where.partition("[")[0] for finding in verify_record(told)] == [f"measures.{key}"]
