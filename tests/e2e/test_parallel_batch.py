"""All model seats of a round are asked at once: seen from the server's side, with the real clients."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.e2e.ladders import Ladder, config, texts_of, texts_sent
from tests.harness.run.scripted_client import price
from tests.harness.run.test_orchestrate import Scripted, plays
from tests.harness.run.toy_run import Follower
from tests.toy_game import Toy, ToyConfig
from weigh.harness.config.schedule import Episode
from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.mock_server import MockServer, MockServerProcess, Options
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange, MemoryLedger
from weigh.harness.run.runner import Division, Pace, Run
from weigh.harness.store.calls import Call, CallKey
from weigh.harness.store.record import Record
from weigh.policies.contract import Request, Sampling
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy


@pytest.mark.slow
def test_four_seats_of_goofspiel_send_four_requests_at_once_in_every_round(tmp_path: Path) -> None:
    entrants = [("ada", "plain.md@chat:mock-a"), ("bea", "bold.md@chat:mock-b")]
    entrants += [("cyd", "plain.md@claude:mock-c"), ("dee", "bold.md@claude:mock-d")]
    games = "[games.goofspiel]\nseats = 4\ncards = 4\nblocks = 1\n"
    with MockServerProcess(Options(latency="150ms", log_size=1000)) as server:
        text = config(server, entrants=entrants, games=games, limits="episodes_in_flight = 1")
        ladder = Ladder(tmp_path, text)
        ended = ladder.play()
        assert ended.code == 0, ended
        stats, log = server.stats(), server.log()
    # Four rotations of four rounds (the last card is played without a choice, and still asked for) of four seats.
    assert stats["requests"] == 4 * 4 * 4
    assert stats["most_in_flight"] == 4
    assert stats["by_wire"]["chat"] == stats["by_wire"]["messages"] == 32
    kept = {texts_sent(call): call.key for call in ladder.calls}
    rounds = [kept[texts_of(entry["body"])] for entry in log]
    for first in range(0, len(rounds), 4):
        batch = rounds[first : first + 4]
        assert len({(key.episode, key.step) for key in batch}) == 1
        assert sorted(key.seat for key in batch) == [0, 1, 2, 3]


class Ledger(MemoryLedger):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[Record] = []
        self.moments: list[tuple[str, int]] = []
        """In their order: that a call of a step left, or returned."""

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None) -> int:
        self.moments.append(("left", key.step))
        return super().begin_call(key, request, started, cost)

    def end_call(self, call: Call) -> None:
        self.moments.append(("returned", call.key.step))
        super().end_call(call)

    def add_record(self, record: Record) -> None:
        self.records.append(record)

    def add_void(self, void: object) -> None:
        raise AssertionError(f"nothing fails here: {void}")


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_thirteen_seats_send_thirteen_requests_at_once_from_the_first_round_on(wire: str) -> None:
    seats, rounds = 13, 3
    game_config = ToyConfig(seats=seats, rounds=rounds)
    names = tuple(f"p{seat}" for seat in range(seats))
    policies = {
        name: PromptedPolicy(
            name, OperatorPrompt(name, "Play."), "mock:m", Sampling(), "reason-then-json", Toy(), game_config
        )
        for name in names
    }
    division = Division(Toy(), game_config, policies, Scripted(plays(0), asks=None, name="zero"))
    ledger = Ledger()

    async def play() -> dict[str, int]:
        async with MockServer(Options(latency="100ms")) as server:
            url = server.openai_url if wire == "openai-chat" else server.anthropic_url
            endpoint = endpoint_for("mock:m", {"mock": {"base_url": url, "wire": wire, "concurrency": 64}})
            client = client_for(endpoint, {})
            try:
                exchanges = {"mock:m": Exchange(client, Slots.for_endpoint(endpoint), price, 30.0)}
                run = Run(1, {"toy": division}, ledger, exchanges, Brake(), Follower(), Pace())
                summary = await run.play((Episode("toy/b0/r0", "toy", "toy/b0", names, "toy/b0"),), frozenset())
                assert summary.complete
                return server.stats()
            finally:
                await client.aclose()

    stats = asyncio.run(play())
    assert stats["most_in_flight"] == seats
    assert stats["requests"] == len(ledger.calls) == seats * rounds
    (record,) = ledger.records
    assert all(decision.by == "model" for decision in record.decisions)
    # Of each round all left before one returned: it took one call's time, not thirteen.
    assert ledger.moments == [
        (what, step) for step in range(rounds) for what in ("left", "returned") for _ in range(seats)
    ]
    assert {call.key for call in ledger.calls} == {
        CallKey("toy/b0/r0", seat, step, 1) for seat in range(seats) for step in range(rounds)
    }
