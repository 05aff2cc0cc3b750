"""Ladders on providers that fail: nothing is charged to a policy that is not its own, and nothing paid for is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.ladders import KEY, Ladder, config
from weigh.harness.providers.mock_server import MockServerProcess, Options, Plan
from weigh.harness.providers.mock_server.rules import Hang, Respond
from weigh.harness.store.store import Store

pytestmark = pytest.mark.slow

ENTRANTS = [
    ("ada", "plain.md@chat:mock-a"),
    ("bea", "bold.md@chat:mock-b"),
    ("cyd", "plain.md@claude:mock-c"),
    ("match", "match"),
]
SMALL = "[games.goofspiel]\nseats = 4\ncards = 4\nblocks = 1\n"


def test_a_third_of_all_requests_failing_costs_time_and_no_policy_a_fault(tmp_path: Path) -> None:
    # Seed and shares decide how often each request fails; the two statuses announce Retry-After: 1.
    options = Options(latency="5ms", faults="429=0.1,503=0.1,reset=0.1", seed=2, log_size=5000)
    games = "[games.goofspiel]\nseats = 4\ncards = 5\nblocks = 2\n"
    with MockServerProcess(options) as server:
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=games, limits="episodes_in_flight = 8"))
        result = ladder.play()
        assert result.code == 0, result
        stats = server.stats()
    calls = ladder.calls
    failed = sum(stats["by_rule"].values())
    assert failed > 0.2 * stats["requests"]
    assert len(calls) == stats["requests"]
    assert Counter(call.fate for call in calls) == {"answered": stats["requests"] - failed, "wait": failed}
    assert Counter(call.billing for call in calls if call.fate == "wait") == {
        "none": stats["by_rule"]["429"] + stats["by_rule"]["503"],
        "unknown": stats["by_rule"]["reset"],
    }
    assert ladder.voids == []
    with Store.open(ladder.run, readonly=True) as store:
        records = list(store.records())
    assert len(records) == 8
    decisions = [decision for record in records for decision in record.decisions]
    assert {decision.by for decision in decisions} == {"model", "scripted"}
    assert [decision.faults for decision in decisions if decision.faults] == []


def test_P44_a_provider_that_is_down_voids_episodes_and_the_same_command_goes_on_once_it_is_up(tmp_path: Path) -> None:
    with MockServerProcess() as server:
        port = server.addresses.port
        limits = "decision_timeout = 1.5\noutages_in_a_row = 2\nepisodes_in_flight = 2"
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits=limits))
    down = ladder.play()
    assert down.code == 4, down
    assert f"http://127.0.0.1:{port}" in down.err
    assert "is the server running?" in down.err
    assert f"weigh ladder {ladder.config}" in down.err
    assert ladder.records == []
    assert 2 <= len(ladder.voids) <= 4
    assert {call.fate for call in ladder.calls} == {"wait", "outage"}
    assert {call.billing for call in ladder.calls} == {"none"}
    assert ladder.status.startswith("stopped: ")
    kept = len(ladder.voids)
    with MockServerProcess(Options(port=port)) as server:
        up = ladder.play()
        assert up.code == 0, up
        requests = server.stats()["requests"]
    assert len(ladder.records) == 4
    assert len(ladder.voids) == kept
    assert sum(call.fate == "answered" for call in ladder.calls) == requests == 4 * 4 * 3


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_P28_a_refused_key_stops_the_run_within_its_first_batch_and_is_shown_nowhere(
    tmp_path: Path, debug: tuple[str, ...]
) -> None:
    # The worst kind of provider: it quotes the key it refuses, in the body and in a header.
    refusal = Respond(status=401, message=f"Incorrect API key provided: {KEY}", headers={"x-key": KEY})
    plan = Plan(rules=(refusal,))
    entrants = [(name, word.replace("claude", "chat")) for name, word in ENTRANTS]
    models = 'api_key_env = "MOCK_KEY"\nconcurrency = 8'
    with MockServerProcess(Options(plan=plan, latency="20ms")) as server:
        text = config(server, entrants=entrants, limits="episodes_in_flight = 2").replace(
            'wire = "openai-chat"', f'wire = "openai-chat"\n{models}'
        )
        environ = {"MOCK_KEY": KEY, "OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug"}
        ladder = Ladder(tmp_path, text, environ)
        refused = ladder.play(*debug)
        assert refused.code == 4, refused
        # Two tables of three seats were asked at once; not one request more.
        assert server.stats()["requests"] == 6
        assert "MOCK_KEY" in refused.err
        for name, text in {"stdout": refused.out, "stderr": refused.err, "calls": repr(ladder.calls)}.items():
            assert KEY not in text, name
        for path in (path for path in ladder.folder.rglob("*") if path.is_file()):
            assert KEY.encode() not in path.read_bytes(), path
        assert ladder.records == []
        assert ladder.voids == []
        assert {call.fate for call in ladder.calls} == {"fatal"}
        server.follow(Plan())
        mended = ladder.play(*debug)
        assert mended.code == 0, mended
        assert KEY not in mended.out + mended.err
    assert len(ladder.records) == 8


def test_O01_a_seat_that_hangs_costs_its_timeouts_and_nothing_else(tmp_path: Path) -> None:
    plan = Plan(rules=(Hang(model="mock-c"),))
    with MockServerProcess(Options(plan=plan, latency="20ms")) as server:
        limits = "decision_timeout = 1.0\nepisodes_in_flight = 4"
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits=limits))
        result = ladder.play()
        assert result.code == 0, result
        stats = server.stats()
    assert stats["connections"] <= 8
    with Store.open(ladder.run, readonly=True) as store:
        records = list(store.records())
    assert len(records) == 4
    for record in records:
        slow = record.entrants.index("cyd")
        assert record.reason == "complete"
        assert [count for seat, count in enumerate(record.fallbacks) if seat != slow] == [0, 0, 0]
        assert record.fallbacks[slow] == 4
        for decision in record.decisions:
            wanted = ["timed_out", "timed_out"] if decision.seat == slow else []
            assert [note.fault for note in decision.faults] == wanted
    calls = ladder.calls
    fates = Counter((call.request.model.endswith("mock-c"), call.fate) for call in calls)
    # Four tables of four rounds: two attempts a round, and no other seat's call is asked again.
    assert fates == {(True, "timed_out"): 4 * 4 * 2, (False, "answered"): stats["requests"] - 4 * 4 * 2}
    asked = Counter((call.key.episode, call.key.seat, call.key.step) for call in calls if call.fate == "answered")
    assert set(asked.values()) == {1}
    assert len(calls) == stats["requests"]
