"""`weigh ladder` with models at the mock server: keys, limits, dead providers, and what is said of them."""

from __future__ import annotations

import pytest

from tests.cli.runner import config, documents, weigh
from weigh.harness.providers.mock_server import read_plan
from weigh.harness.store.store import Store

ORDER = """\
seed = 3
[games.goofspiel]
seats = 4
cards = 4
blocks = 1
[entrants]
plain = "goofspiel/plain.md@mock:mock-small"
[models.mock]
base_url = "{url}"
[limits]
decision_timeout = 5.0
replays = 0
"""


@pytest.fixture(autouse=True)
def clean(server):
    server.follow(read_plan({"rules": []}))
    server.reset()


def order(folder, server, more=""):
    return config(folder, ORDER.format(url=server.openai_url) + more, "m.toml")


def test_models_are_named_with_their_addresses_before_the_first_call(server, tmp_path):
    said = weigh("ladder", order(tmp_path, server))
    assert said.code == 0
    assert f"mock:mock-small: asked at {server.openai_url}" in said.err.splitlines()  # c20: which provider played
    assert "$0.00, 16 calls" in said.out
    assert server.stats()["requests"] == 16


def test_c07_c20_a_missing_key_is_told_for_every_entrant_before_any_episode(tmp_path):
    text = """\
[games.goofspiel]
[entrants]
careful = "goofspiel/plain.md@anthropic:claude-x"
bold = "goofspiel/tempo.md@openai:gpt-x"
"""
    path = config(tmp_path, text)
    said = weigh("ladder", path, environ={"OPENAI_API_KEY": ""})
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines() == [
        "weigh: careful: anthropic:claude-x needs a key: set the environment variable ANTHROPIC_API_KEY",
        "weigh: bold: openai:gpt-x needs a key: set the environment variable OPENAI_API_KEY",
    ]
    assert documents(tmp_path) == [path]


def test_c01_a_dead_provider_ends_with_exit_code_4_and_the_reason(tmp_path):
    text = ORDER.format(url="http://127.0.0.1:9/v1").replace("decision_timeout = 5.0", "decision_timeout = 0.5")
    said = weigh("ladder", config(tmp_path, text))
    assert said.code == 4
    assert "nothing listens there" in said.err
    assert "http://127.0.0.1:9/v1" in said.err
    assert "go on with: weigh ladder" in said.err
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        assert store.finished() == ()
        assert store.status.startswith("stopped: ")


def test_a_refused_key_stops_the_run_at_once(server, tmp_path):
    server.follow(read_plan({"rules": [{"do": "respond", "status": 401}]}))
    said = weigh("ladder", order(tmp_path, server))
    assert said.code == 4
    assert "401" in said.err
    assert server.stats()["requests"] <= 4  # the first batch, and nothing after it


def test_too_many_void_episodes_are_exit_code_4_and_the_next_sitting_plays_them(server, tmp_path):
    path = order(tmp_path, server, "outages_in_a_row = 100\nepisodes_in_flight = 1\n")
    gone = {"nth": "1", "do": "respond", "status": 503, "headers": {"x-should-retry": "false"}}
    server.follow(read_plan({"rules": [gone]}))
    said = weigh("ladder", path)
    assert said.code == 4
    assert "1 of 4 episodes are void: a provider failed" in said.err
    assert "go on with: " in said.err
    assert weigh("ladder", path).code == 0


def test_a_wait_longer_than_a_decision_pauses_the_model_and_the_ladder_goes_on(server, tmp_path):
    path = order(tmp_path, server, "episodes_in_flight = 2\n")
    path.write_text(path.read_text().replace("decision_timeout = 5.0", "decision_timeout = 0.5"))
    pause = {"nth": "7", "do": "respond", "status": 429, "retry_after": "700ms", "hold": True}
    server.follow(read_plan({"rules": [pause]}))
    said = weigh("ladder", path)
    assert said.code == 0
    assert "void" not in said.err
    (begun,) = [line for line in said.err.splitlines() if "is paused until" in line]
    assert begun.startswith("mock:mock-small is paused until ")
    assert "status 429 from " in begun
    assert [line for line in said.err.splitlines() if line.startswith("mock:mock-small: paused 1 time, ")]
    assert server.stats()["answered_again"] == 0


def test_one_odd_answer_ends_no_ladder_and_one_at_the_beginning_does(server, tmp_path):
    path = order(tmp_path, server, "episodes_in_flight = 2\n")
    server.follow(read_plan({"rules": [{"nth": "9", "do": "html"}]}))
    assert weigh("ladder", path).code == 0
    assert server.stats()["requests"] == 17
    server.reset()
    server.follow(read_plan({"rules": [{"nth": "1-", "do": "html"}]}))
    said = weigh("ladder", path, "--name", "second")
    assert said.code == 4
    assert "a web page" in said.err
    assert server.stats()["requests"] <= 4


def test_a_limit_on_calls_is_reached_cleanly_and_raised(server, tmp_path):
    path = order(tmp_path, server, "episodes_in_flight = 1\n")
    said = weigh("ladder", path, "--max-calls", 6)
    assert said.code == 4
    assert "the run's 6 calls are used up (limits.max_calls)" in said.err
    assert f"go on with: weigh ladder {path} --max-calls N (above 6)" in said.err
    assert server.stats()["requests"] == 6
    assert weigh("ladder", path, "--max-calls", 100).code == 0
    assert server.stats()["requests"] == 16  # nothing was asked twice


def test_calls_that_were_lost_are_told_when_the_run_goes_on_and_counted_when_it_is_ranked(server, tmp_path):
    path = order(tmp_path, server, "episodes_in_flight = 1\n")
    assert weigh("ladder", path, "--max-calls", 6).code == 4
    folder = tmp_path / "results" / "m"
    with Store.open(folder) as store:
        made = list(store.calls())[-1]
        store.begin_call(made.key, made.request, made.started, 0.0)  # as if the process had been killed after it
    said = weigh("ladder", path)
    assert said.code == 0
    assert "lost in earlier invocations, and perhaps charged for: 1 call" in said.err
    assert server.stats()["requests"] == 16
    assert "17 requests for 16 attempts, 1 lost, 1 of unknown billing" in weigh("rank", folder, "--wide").out
    (account,) = weigh("rank", folder, "--json").json["accounts"]["models"]
    assert (account["traffic"]["calls"], account["traffic"]["lost_calls"]) == (17, 1)
    assert account["bill"]["unknown_usage_calls"] == 1


def test_a_limit_in_dollars_needs_known_prices(server, tmp_path):
    text = ORDER.format(url=server.openai_url).replace("mock:", "mine:").replace("models.mock", "models.mine")
    path = config(tmp_path, text)
    said = weigh("ladder", path, "--max-usd", "1")
    said.refused("limits.max_usd cannot be kept", "mine:mock-small", "price = { input = 1.0, output = 4.0 }")
    assert documents(tmp_path) == [path]
    assert "mine:mock-small: asked at " in (told := weigh("ladder", path).err)
    assert "its price is not known, so its cost will not be either" in told


def test_a_priced_limit_in_dollars_is_kept(server, tmp_path):
    text = ORDER.format(url=server.openai_url) + "episodes_in_flight = 1\n"
    path = config(tmp_path, text + '[models."mock:mock-small"]\nprice = { input = 1000.0, output = 1000.0 }\n')
    said = weigh("ladder", path, "--max-usd", "1")
    assert said.code == 4
    assert "the run's 1 USD are used up (limits.max_usd)" in said.err


def test_p46_a_proxy_in_use_is_told_without_its_password(tmp_path):
    text = ORDER.format(url="http://models.example:8000/v1").replace("decision_timeout = 5.0", "decision_timeout = 0.2")
    said = weigh("ladder", config(tmp_path, text), environ={"HTTP_PROXY": "http://me:secret@127.0.0.1:9"})
    assert "through the proxy http://127.0.0.1:9 (NO_PROXY leaves hosts out of it)" in said.err
    assert "secret" not in said.err
    assert said.code == 4


def test_p46_a_server_on_this_machine_is_never_asked_through_a_proxy(server, tmp_path):
    said = weigh("ladder", order(tmp_path, server), environ={"HTTP_PROXY": "http://127.0.0.1:9"})
    assert said.code == 0
    assert "proxy" not in said.err


@pytest.mark.parametrize("words", ["ladder s.toml", "play goofspiel @small match --config s.toml --save kept"])
def test_an_embedded_model_that_is_not_installed_is_told_before_anything(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("weigh.harness.providers.local.weights.BUNDLED", {"smollm2": "no_such_package"})
    path = config(tmp_path, '[games.goofspiel]\n[entrants]\nsmall = "goofspiel/plain.md@local:smollm2"\n')
    said = weigh(*words.split())
    said.refused("small: local:smollm2: the weights of the embedded model are not installed", "`weigh local setup`")
    assert documents(tmp_path) == [path]


def test_what_a_model_does_not_take_is_told_and_left_out(server, tmp_path):
    server.follow(
        read_plan(
            {
                "rules": [
                    {
                        "nth": "1",
                        "do": "respond",
                        "status": 400,
                        "body": {
                            "error": {
                                "message": "Unsupported parameter: 'temperature' is not supported with this model.",
                                "type": "invalid_request_error",
                                "param": "temperature",
                                "code": "unsupported_parameter",
                            }
                        },
                    }
                ]
            }
        )
    )
    text = ORDER.format(url=server.openai_url).replace(
        '"goofspiel/plain.md@mock:mock-small"',
        '{ prompt = "goofspiel/plain.md", model = "mock:mock-small", temperature = 0 }',
    )
    said = weigh("ladder", config(tmp_path, text))
    assert said.code == 0
    assert "mock:mock-small: the temperature asked for is not sent" in said.err
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        (line,) = store.adaptations()["mock:mock-small"]
    assert line.startswith("the temperature asked for is not sent")


def test_what_was_learned_of_a_model_outlives_a_process_that_dies_right_after(server, tmp_path, monkeypatch):
    refusal = {"message": "Unsupported parameter: 'temperature' is not supported with this model."}
    body = {
        "error": {**refusal, "type": "invalid_request_error", "param": "temperature", "code": "unsupported_parameter"}
    }
    server.follow(read_plan({"rules": [{"nth": "1", "do": "respond", "status": 400, "body": body}]}))
    text = ORDER.format(url=server.openai_url).replace(
        '"goofspiel/plain.md@mock:mock-small"',
        '{ prompt = "goofspiel/plain.md", model = "mock:mock-small", temperature = 0 }',
    )

    def dies(self, record):
        raise RuntimeError("as good as killed")

    monkeypatch.setattr(Store, "add_record", dies)
    assert weigh("ladder", config(tmp_path, text)).code == 4
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        assert list(store.adaptations()) == ["mock:mock-small"]
