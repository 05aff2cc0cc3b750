"""`weigh play` with models behind prompts, asked over HTTP at the mock server."""

from __future__ import annotations

import json
import signal

import pytest

from tests.cli.runner import config, started, weigh
from tests.waiting import until
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan
from weigh.harness.store.store import Store

PLAIN = "goofspiel/plain.md@mock:mock-small"
GAME = ("goofspiel", PLAIN, "match", "--set", "cards=4")


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(log_size=50)) as going:
        yield going


@pytest.fixture(autouse=True)
def clean(server):
    server.follow(read_plan({"rules": []}))
    server.reset()


def play(server, *words, **more):
    return weigh("play", *GAME, "--base-url", server.openai_url, *words, **more)


def test_a_model_plays_and_its_moves_calls_and_tokens_are_told(server):
    said = play(server)
    assert said.code == 0
    assert "plain-mock-small  (mock:mock-small)" in said.out
    assert "moves: 4 first try, 0 retry, 0 fallback; 4 calls; " in said.out
    assert server.stats()["requests"] == 4


def test_sampling_and_style_reach_the_request(server):
    said = play(server, "--max-tokens", "77", "--temperature", "0", "--style", "schema", "--json")
    assert said.code == 0
    body = server.log()[0]["body"]
    body = json.loads(body) if isinstance(body, str) else body
    assert body["max_tokens"] == 77
    assert body["temperature"] == 0  # 0 is sent as 0
    assert body["response_format"]["type"] == "json_schema"


def test_without_sampling_options_the_provider_keeps_its_own(server):
    play(server)
    body = server.log()[0]["body"]
    body = json.loads(body) if isinstance(body, str) else body
    assert "temperature" not in body
    assert body["max_tokens"] == 1024


def test_faults_are_shown_where_they_happen_with_their_cause(server):
    server.follow(read_plan({"rules": [{"nth": "2", "do": "reply", "text": "I pass."}]}))
    said = play(server)
    assert said.code == 0
    lines = said.out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if " moved by retry after unreadable (" in line]
    assert lines[at + 1].split()[:3] == ["reveal", "round", "2,"]
    assert "moves: 3 first try, 1 retry, 0 fallback; 5 calls" in said.out


def test_a_passing_failure_is_explained_while_it_lasts(server):
    server.follow(read_plan({"rules": [{"nth": "1", "do": "respond", "status": 503}]}))
    said = play(server)
    assert said.code == 0
    assert "seat 0: a passing failure: " in said.err
    assert "503" in said.err


def test_c01_a_provider_that_fails_is_exit_code_4_with_the_reason(server):
    server.follow(read_plan({"rules": [{"do": "respond", "status": 401}]}))
    said = play(server)
    assert said.code == 4
    assert said.err.splitlines()[-1].startswith("weigh: ")
    assert "401" in said.err
    assert server.stats()["requests"] == 1
    assert play(server, "--json").out == ""


def test_p44_a_dead_address_is_named_after_a_few_tries():
    said = weigh("play", *GAME, "--base-url", "http://127.0.0.1:9/v1", "--timeout", "1")
    assert said.code == 4
    assert said.err.splitlines()[-1].startswith("weigh: the episode is void: mock:mock-small: nothing listens there")
    assert "http://127.0.0.1:9/v1" in said.err


def test_a_saved_episode_is_shown_again_without_a_call(server, tmp_path):
    first = play(server, "--save", tmp_path / "kept")
    asked = server.stats()["requests"]
    again = play(server, "--save", tmp_path / "kept")
    assert again == first
    assert server.stats()["requests"] == asked == 4
    assert weigh("verify", tmp_path / "kept").out.endswith(
        "OK, 1 record recomputed, 4 model calls read again, no differences\n"
    )


def test_another_address_on_this_machine_is_the_same_model_and_another_model_is_not(server, tmp_path):
    play(server, "--save", tmp_path / "kept")
    words = ("play", "goofspiel", "goofspiel/plain.md@mock:mock-large", "match", "--set", "cards=4")
    said = weigh(*words, "--base-url", server.openai_url, "--save", tmp_path / "kept")
    assert said.code == 2
    assert "holds a run made under another config" in said.err


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_paid_for_and_the_same_command_goes_on(server, tmp_path):
    server.follow(read_plan({"rules": [{"do": "reply", "delay": "300ms"}]}))
    words = ("play", *GAME, "--base-url", server.openai_url, "--save", "kept")
    with started(*words, cwd=tmp_path) as going:
        until(lambda: server.stats()["requests"] >= 2)
        going.send_signal(signal.SIGINT)
        out, err = going.communicate(timeout=30)
    assert going.returncode == 130, err
    assert err.decode().splitlines()[-2:] == ["weigh: interrupted", f"weigh: go on with: weigh {' '.join(words)}"]
    with Store.open(tmp_path / "kept", readonly=True) as store:
        paid = len(list(store.calls()))
        assert store.status == "interrupted"
    assert paid == server.stats()["requests"] >= 2  # calls in flight were let to return, and are kept
    going_on = weigh("play", *GAME, "--base-url", server.openai_url, "--save", tmp_path / "kept")
    assert going_on.code == 0
    assert server.stats()["requests"] == 4
    assert out


@pytest.mark.slow
def test_a_killed_episode_goes_on_without_asking_again(server, tmp_path):
    server.follow(read_plan({"rules": [{"do": "reply", "delay": "200ms"}]}))
    with started("play", *GAME, "--base-url", server.openai_url, "--save", "kept", cwd=tmp_path) as going:
        until(lambda: server.stats()["requests"] >= 3)
        going.kill()
        going.communicate(timeout=30)
    said = weigh("play", *GAME, "--base-url", server.openai_url, "--save", tmp_path / "kept")
    assert said.code == 0
    assert server.stats()["requests"] <= 5  # four moves, and at most the one call in flight twice
    assert weigh("verify", tmp_path / "kept").code == 0


def test_names_of_models_and_prompts_of_any_length_are_played(server, tmp_path):
    long = tmp_path / f"{'x' * 200}.md"
    long.write_text("Bid low.\n", encoding="utf-8")
    models = ("mock:meta-llama/Llama-3:free", f"mock:{'m' * 300}")
    words = [f"{long}@{models[0]}", f"{long}@{models[1]}"]
    said = weigh("play", "goofspiel", *words, "--set", "cards=4", "--base-url", server.openai_url, "--json")
    assert said.code == 0
    one, two = said.json["entrants"]
    assert one != two
    assert max(len(one), len(two)) <= 40
    assert said.json["models"] == list(models)  # c13: the full id is in the record


def test_settings_of_a_config_are_kept_beside_a_base_url(server, tmp_path):
    models = f'[models.mock]\nbase_url = "{server.openai_url}"\nconcurrency = 1\n'
    order = config(tmp_path, f'[games.goofspiel]\n[entrants]\na = "{PLAIN}"\n{models}')
    said = weigh("play", "goofspiel", "@a", "match", "--set", "cards=4", "--config", order, "--json")
    assert said.json["entrants"] == ["a", "match"]


PRICED = """seed = 1
[games.goofspiel]
seats = 2
cards = 4
blocks = 1
[entrants]
match = "match"
hoard = "hoard"
[models.mock]
price = { input = 1000.0, output = 1000.0 }
"""


def test_a_limit_in_dollars_is_kept_over_sittings(server, tmp_path):
    words = ("--config", config(tmp_path, PRICED), "--max-usd", "4.5", "--save", tmp_path / "run")
    for _ in range(2):
        said = play(server, *words)
        assert said.code == 4
        assert "the run's 4.5 USD are used up (limits.max_usd)" in said.err
        assert 0 < server.stats()["requests"] < 4
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert 0 < store.totals().cost_known_usd <= 4.5


def test_a_limit_in_dollars_needs_known_prices(server):
    said = weigh(
        "play", "goofspiel", "goofspiel/plain.md@lan:x", "match", "--base-url", server.openai_url, "--max-usd", 1
    )
    said.refused("--max-usd cannot be kept", "lan:x", "price = {")
