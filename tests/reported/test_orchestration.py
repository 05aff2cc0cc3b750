"""How public harnesses lost or doubled what was played, and that it does not happen here."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.cli.runner import SCRIPTED, command, config, environment, weigh
from tests.harness.run.toy_run import Follower, Model, ToyRun
from tests.harness.store.store_cases import new_run, planned, record
from tests.reported.ladders import kept, play
from weigh.games.game import AnyGame
from weigh.games.registry import GAMES, read_config
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.mock_server import MockServer, MockServerProcess
from weigh.harness.results import load
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.store.calls import Call
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Message, Request, Sampling
from weigh.policies.scripted.registry import fallback_of

OPEN_FILES = Path("/proc/self/fd")


def test_O07_an_exported_record_that_stands_there_twice_is_found(tmp_path: Path) -> None:
    weigh("ladder", config(tmp_path, SCRIPTED))
    weigh("export", tmp_path / "results" / "s", tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    assert weigh("verify", tmp_path / "all.jsonl").code == 0
    again = json.dumps(json.loads(lines[1]) | {"times": None})
    (tmp_path / "twice.jsonl").write_text("\n".join([*lines[:4], again]))
    said = weigh("verify", tmp_path / "twice.jsonl")
    assert said.code == 1
    assert f"the record stands here twice: {tmp_path / 'twice.jsonl'}:2 and {tmp_path / 'twice.jsonl'}:5" in said.out
    # The same episode of another run is another record.
    weigh("ladder", config(tmp_path, SCRIPTED), "--seed", "4", "--name", "t")
    weigh("export", tmp_path / "results" / "t", tmp_path / "more.jsonl")
    both = (tmp_path / "all.jsonl").read_text() + (tmp_path / "more.jsonl").read_text()
    (tmp_path / "both.jsonl").write_text(both)
    assert "12 records recomputed" in weigh("verify", tmp_path / "both.jsonl").out


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="open files are counted in /proc")
def test_O16_a_client_keeps_to_its_connections_and_closes_them() -> None:
    def files() -> int:
        return len(os.listdir(OPEN_FILES))  # noqa: PTH208 - as cheap as can be, in the midst of a run

    async def use() -> tuple[int, int, int]:
        async with MockServer() as here:
            endpoint = replace(endpoint_for("mock:m", {"mock": {"base_url": here.openai_url}}), concurrency=50)
            client = client_for(endpoint, {})
            before, most = files(), 0
            width = asyncio.Semaphore(50)

            async def ask(number: int) -> None:
                nonlocal most
                async with width:
                    await client.complete(Request("mock:m", (Message("user", str(number)),), Sampling()))
                    most = max(most, files())

            await asyncio.gather(*map(ask, range(300)))
            await client.aclose()
            for _ in range(200):
                if files() <= before:
                    break
                await asyncio.sleep(0.01)
            return before, most, files()

    before, most, afterwards = asyncio.run(use())
    # Both ends of a connection are in this process.
    assert most <= before + 2 * 50 + 4
    assert afterwards <= before


@pytest.mark.slow
def test_O16_few_open_files_cost_time_and_no_call(server: MockServerProcess, tmp_path: Path) -> None:
    server.reset()
    entrants = "".join(f'{name} = "goofspiel/plain.md@mock:{name}"\n' for name in "xyz")
    config(
        tmp_path,
        "baselines = false\n[games.goofspiel]\nseats = 4\ncards = 4\nblocks = 13\n"
        f'[entrants]\nm = "match"\n{entrants}[models.mock]\nbase_url = "{server.openai_url}"\n'
        "[limits]\nepisodes_in_flight = 50\n",
    )
    limited = ["sh", "-c", 'ulimit -n 128 && exec "$@"', "sh", *command("ladder", "s.toml")]
    done = subprocess.run(limited, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "this process may open few files (ulimit -n), so at most 26 calls at once go to each of " in done.stderr
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        fates = [call.fate for call in store.calls()]
    assert fates == ["answered"] * (52 * 3 * 4)
    assert server.stats()["requests"] == len(fates)


def test_O17_an_onlooker_may_read_the_run_it_is_told_of(tmp_path: Path) -> None:
    run = ToyRun(tmp_path / "run")
    totals: list[int] = []

    def look(call: Call) -> None:
        with Store.open(tmp_path / "run", readonly=True) as store:
            totals.append(store.totals().calls)

    run.sit(Model(), onlooker=Follower(on_call=look))
    assert len(totals) == totals[-1] == len(run.calls)


def test_O17_an_onlooker_that_fails_ends_the_sitting_once_and_loses_nothing(tmp_path: Path) -> None:
    whole, run = ToyRun(tmp_path / "whole"), ToyRun(tmp_path / "run")
    calm, model = Model(), Model()
    whole.sit(calm)

    def fail(call: Call) -> None:
        if len(model.asked) >= 20:
            raise OSError("the log is full")

    with pytest.raises(OSError, match="the log is full"):
        run.sit(model, onlooker=Follower(on_call=fail))
    assert len(run.calls) == len(model.asked) < len(calm.asked)
    run.sit(model)
    assert run.records == whole.records
    assert len(model.asked) == len(calm.asked), "no call that had returned was made again"


def test_O17_a_log_handler_that_logs_blocks_nothing(server: MockServerProcess, tmp_path: Path) -> None:
    class Echo(logging.Handler):
        depth = 0
        heard = 0

        def emit(self, record: logging.LogRecord) -> None:
            Echo.heard += 1
            if Echo.depth == 0:
                Echo.depth = 1
                logging.getLogger("echo").warning("heard %s", record.name)
                Echo.depth = 0

    root = logging.getLogger()
    handler, level = Echo(), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        assert play(tmp_path, server).code == 0
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert Echo.heard > 0
    assert server.stats()["requests"] == 8


CONFIGS = {
    "goofspiel": {"seats": 3, "cards": 5, "max_rounds": 4},
    "oshi_zumo": {"coins": 9, "size": 2, "min_bid": 2},
    "ballast": {"weights": 4, "scales": 2},
    "persistent_calibration": {"seats": 3, "starting_garnets": 2, "max_garnets_per_round": 1},
    "half_hearted_step": {"size": 5, "lives": 2, "bid_limit": 40, "auction_rounds": 3},
}


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_O25_a_seed_changes_the_deal_and_no_rule(game: AnyGame) -> None:
    asked = read_config(game, CONFIGS[game.name])
    assert asked != read_config(game, {})

    def played(seed: int) -> Record:
        seats = game.seat_count(asked)
        names = tuple(f"seat{n}" for n in range(seats))
        deal = game.deal(asked, Random(seed))
        policies = (fallback_of(game.name),) * seats
        table = Table("k", "b", game, asked, deal, seed, policies, names, fallback_of(game.name))
        made = asyncio.run(play_episode(table, {}))
        assert isinstance(made, Record)
        return made

    def first(seed: int) -> list[str]:
        state = game.start(asked, game.deal(asked, Random(seed)))
        return [state.legal(seat).describe() for seat in sorted(state.to_act)]

    one, other = played(0), played(1)
    # The whole config stands in the record, defaults included, and the record is played under it.
    assert one.config == other.config == asked.model_dump(mode="json")
    assert verify_record(one) == verify_record(other) == []
    assert first(0) == first(1)
    assert game.rulebook(asked) != game.rulebook(read_config(game, {}))


def test_O29_a_measure_nobody_knows_is_kept_as_it_is(tmp_path: Path) -> None:
    measures = {"points": [2, 0], "collusion_index": 0.5, "connect_timeout": 3, "deep": {"a": [1, None, "x"]}}
    with new_run(tmp_path / "run") as store:
        store.add_record(record(planned(1)[0], measures=measures))
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert [dict(each.measures) for each in store.records()] == [measures]
    assert load(tmp_path / "run").seats["points"].tolist() == [2.0, 0.0]
    assert weigh("export", tmp_path / "run", tmp_path / "all.jsonl").code == 0
    assert json.loads((tmp_path / "all.jsonl").read_text())["measures"] == measures


def test_O29_a_result_that_cannot_be_kept_loses_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, run = ToyRun(tmp_path / "whole"), ToyRun(tmp_path / "run")
    calm, model = Model(), Model()
    whole.sit(calm)

    def broken(self: Record) -> str:
        raise TypeError("a measure is no JSON")

    with monkeypatch.context() as patched:
        patched.setattr(Record, "comparable", broken)
        with pytest.raises(TypeError, match="no JSON"):
            run.sit(model, episodes_in_flight=1)
    assert run.records == []
    assert len(run.calls) == len(model.asked) > 0
    run.sit(model, episodes_in_flight=1)
    assert run.records == whole.records
    assert len(model.asked) == len(calm.asked)


@pytest.mark.parametrize(
    "failure",
    [
        {"do": "cut", "after": None},
        {"do": "cut", "after": 40, "how": "close"},
        {"do": "malformed", "what": "utf-8"},
        {"do": "respond", "status": 500, "body": ""},
    ],
    ids=lambda rule: rule["do"],
)
def test_O35_what_fails_once_is_tried_again_within_the_attempt(
    server: MockServerProcess, tmp_path: Path, failure: dict[str, object]
) -> None:
    assert play(tmp_path, server, {"nth": 1, **failure}).code == 0
    with kept(tmp_path) as store:
        calls = sorted(store.calls(), key=lambda call: call.started)
        assert [call.fate for call in calls] == ["wait", *["answered"] * 8]
        assert calls[0].key == calls[1].key
        assert [decision.faults for each in store.records() for decision in each.decisions if decision.faults] == []
    assert server.stats()["requests"] == 9
