"""Gates on models: outages void pairs and are made up for, ceilings and kills cost nothing twice, verdicts repeat."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.cli.runner import process, started, weigh
from tests.waiting import until
from weigh.harness.providers.mock_server import MockServerProcess, Options, Plan
from weigh.harness.providers.mock_server.rules import Respond
from weigh.harness.store.store import Store

pytestmark = pytest.mark.slow

MODEL = "goofspiel/plain.md@mock:mock-first"
GAME = ("--game", "goofspiel", "--set", "cards=4", "--set", "seats=3", "--opponents", "match,random")
gone = partial(Respond, status=503, headers={"x-should-retry": "false"})
"""An outage at once."""
CALLS = 10 * 3 * 4
"""Of a gate's first look: blocks, seats, rounds."""


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(log_size=5000)) as going:
        yield going


@pytest.fixture(autouse=True)
def clean(server, tmp_path, monkeypatch):
    server.follow(Plan())
    server.reset()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def base(server):
    said = weigh(*save(server), "--json")
    assert said.code == 0, said
    assert said.json["calls"] == 20 * 3 * 4
    server.reset()
    return Path("base.json")


def save(server):
    return ("gate", "--save-baseline", "base.json", "--candidate", MODEL, *GAME, "--blocks", 20, "--base-url",
            server.openai_url)  # fmt: skip


def words(server, *more, candidate=MODEL):
    url = server.openai_url
    return ("gate", "--baseline", "base.json", "--candidate", candidate, "--margin", 0.2, "--base-url", url, *more)


def requests(server):
    return server.stats()["requests"]


def candidate_run(name="base-plain-mock-first"):
    return next(Path(f"results/gate-{name}").glob("candidate-*"))


def judged(said):
    """What a gate said, but for what this one call of the command spent."""
    return said.code, said.err, {key: value for key, value in said.json.items() if key != "invocation"}


def test_a_model_against_its_own_baseline_passes_and_a_rerun_asks_nothing(server, base):
    first = weigh(*words(server), "--json")
    assert first.code == 0, first
    (gate,) = first.json["gates"]
    assert gate["mean"] == 0.0
    assert gate["calls"] == requests(server) == CALLS
    again = weigh(*words(server), "--json")
    assert judged(again) == judged(first)
    assert again.json["invocation"]["calls"] == 0
    assert requests(server) == CALLS
    assert weigh("verify", candidate_run()).code == 0


def test_all_calls_of_a_batch_are_in_flight_together(base, tmp_path):
    with MockServerProcess(Options(latency="500ms")) as slow:
        assert weigh(*words(slow, "--name", "together")).code == 0
        assert slow.stats()["most_in_flight"] == 10 * 3


def test_a_model_in_the_place_of_another_is_judged_on_the_same_deals_in_both_arms(server):
    said = weigh(
        *("gate", "--baseline", "match", "--candidate", MODEL, *GAME, "--margin", 0.05, "--max-blocks", 100),
        *("--base-url", server.openai_url, "--json"),
    )
    assert said.code == 1, said
    assert said.json["gates"][0]["calls"] == requests(server)


def test_episodes_that_an_outage_ended_are_begun_again_once_and_counted(server, base):
    server.follow(Plan(rules=(gone(nth="7-9"),)))
    said = weigh(*words(server), "--json")
    assert said.code == 0, said
    (gate,) = said.json["gates"]
    assert (gate["void_starts"], gate["replayed"], gate["void_blocks"]) == (3, 3, 0)
    assert (gate["blocks"], gate["mean"]) == (10, 0.0)
    made = requests(server)
    assert judged(weigh(*words(server), "--json")) == judged(said)
    assert requests(server) == made


def staying_void(server, which):
    """Rules for an outage whenever certain episodes come to their last round, found by playing all of them once."""
    assert weigh(*words(server, "--name", "whole")).code == 0
    with Store.open(candidate_run("whole"), readonly=True) as store:
        keys = store.finished()
        last = [list(store.calls(keys[n]))[-1].request.messages[-1].text for n in which]
    server.reset()
    return tuple(gone(contains=text) for text in last)


def test_an_episode_that_stays_void_takes_its_block_out_of_both_arms(server, base):
    server.follow(Plan(rules=staying_void(server, [4])))
    said = weigh(*words(server), "--json")
    assert said.code == 0, said
    (gate,) = said.json["gates"]
    assert (gate["blocks"], gate["void_blocks"], gate["void_starts"], gate["replayed"]) == (10, 1, 2, 1)
    made = requests(server)
    server.follow(Plan())
    # Not once more because the provider is well again: the verdict stands.
    assert judged(weigh(*words(server), "--json")) == judged(said)
    assert requests(server) == made


def test_more_voids_than_allowed_are_invalid_and_the_same_command_plays_them_again(server, base):
    server.follow(Plan(rules=staying_void(server, [1, 7, 20])))
    said = weigh(*words(server, "--junit", "gate.xml", "--summary", "gate.md"), "--json")
    assert said.code == 4, said
    assert "blocks are void" in said.json["gates"][0]["reason"]
    assert "<error" in Path("gate.xml").read_text()
    assert "INVALID" in Path("gate.md").read_text()
    server.follow(Plan())
    again = weigh(*words(server), "--json")
    assert again.code == 0, again
    assert again.json["gates"][0]["void_blocks"] == 0
    assert server.stats()["answered_again"] == 0


def test_a_provider_that_is_down_stops_the_gate_as_invalid_and_it_goes_on_once_it_is_up(server, base):
    server.follow(Plan(rules=(gone(nth="40-"),)))
    down = weigh(*words(server))
    assert down.code == 4, down
    assert "INVALID" in down.out
    assert "the same command goes on from here" in down.out
    server.follow(Plan())
    up = weigh(*words(server))
    assert up.code == 0, up
    assert server.stats()["answered_again"] == 0


def test_a_ceiling_stops_as_invalid_and_a_higher_one_goes_on(server, base):
    stopped = weigh(*words(server, "--max-calls", 50, "--json"))
    assert stopped.code == 4, stopped
    assert "50 calls are used up" in stopped.json["gates"][0]["reason"]
    assert requests(server) == 50
    assert weigh(*words(server, "--max-calls", 50)).code == 4
    assert requests(server) == 50
    assert weigh(*words(server, "--max-calls", 500)).code == 0
    assert requests(server) == CALLS
    assert server.stats()["answered_again"] == 0


def test_dollars_that_nobody_can_count_are_refused_before_anything_is_played(server, base):
    said = weigh(*words(server, "--max-usd", 1, candidate="goofspiel/plain.md@chat:mock-first"))
    said.refused("limit in dollars", "chat:mock-first")
    assert requests(server) == 0


def test_a_missing_key_is_found_before_anything_is_played(base, server):
    said = weigh(
        "gate", "--baseline", "base.json", "--candidate", "goofspiel/plain.md@openai:gpt-5-mini", "--margin", 1
    )
    said.refused("OPENAI_API_KEY")
    assert not list(Path("results").glob("gate-base-plain*"))


def test_fallback_moves_are_data_and_a_check_on_them_fails_by_name(server, base):
    Path("gate.toml").write_text(
        f"""\
[gates.faulty]
baseline = "base.json"
candidate = "{MODEL}"
margin = 0.5
[gates.faulty.checks]
fallback_rate = {{ max_increase = 0.05 }}
cost_per_episode_usd = 1.0
[models.mock]
base_url = "{server.openai_url}"
price = {{ input = 1.0, output = 1.0 }}
"""
    )
    server.follow(Plan(rules=(Respond(status=200, body=_silent(), share=0.5),)))
    said = weigh("gate", "gate.toml", "--json")
    assert said.code == 1, said
    (gate,) = said.json["gates"]
    checks = {check["measure"]: check for check in gate["checks"]}
    fallback, cost = checks["fallback_rate"], checks["cost_per_episode_usd"]
    assert fallback["verdict"] == "regression"
    assert 0.1 < fallback["value"] < 0.5
    assert cost["verdict"] == "pass"
    assert gate["cost_usd"] > 0
    assert gate["void_blocks"] == 0


def _silent():
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "mock-first",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "no move"}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_a_gate_that_dies_or_is_stopped_goes_on_without_asking_twice(base, tmp_path, kind):
    with MockServerProcess(Options(latency="120ms", log_size=5000)) as slow:
        files = ("--junit", "gate.xml", "--json")
        with started(*words(slow, *files), cwd=tmp_path) as going:
            until(lambda: slow.stats()["requests"] >= 70)
            going.send_signal(kind)
            out, err = going.communicate(timeout=60)
        if kind == signal.SIGINT:
            assert going.returncode == 130, err
            assert json.loads(out)["interrupted"] is True
            assert "<error" in Path("gate.xml").read_text()
        with Store.open(candidate_run(), readonly=True) as store:
            fates = Counter(call.fate for call in store.calls())
        assert fates["answered"] > 0
        time.sleep(0.5)
        ended = process(*words(slow, *files), cwd=tmp_path)
        assert ended.returncode == 0, ended
        (gate,) = json.loads(ended.stdout)["gates"]
        assert gate["blocks"] == 10
        lost = fates["lost"]
        assert (kind == signal.SIGKILL) or lost == 0
        assert slow.stats()["answered_again"] <= lost
        assert gate["calls"] == CALLS + lost


def test_an_outage_while_a_baseline_is_saved_is_made_up_for_or_leaves_no_file(server):
    server.follow(Plan(rules=(gone(nth="5-6"),)))
    said = weigh(*save(server), "--json")
    assert (said.code, said.json["void_blocks"]) == (0, 0)
    Path("base.json").unlink()
    server.follow(Plan(rules=(gone(),)))
    down = weigh(*save(server), "--name", "other")
    assert down.code == 4, down
    assert not Path("base.json").exists()
    assert "no baseline is saved" in down.err
    server.follow(Plan())
    assert weigh(*save(server), "--name", "other").code == 0
