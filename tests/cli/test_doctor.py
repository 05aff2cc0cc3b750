"""`weigh doctor`: what would stop a run is found, named and advised on."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.runner import config, documents, weigh
from tests.cli.test_ladder_models import ORDER
from tests.harness.providers.raw_server import chat
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan

SCHEMA = 'strict = { prompt = "goofspiel/tempo.md", model = "mock:mock-small", style = "schema", temperature = 0 }\n'


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(log_size=20)) as going:
        yield going


@pytest.fixture(autouse=True)
def clean(server):
    server.follow(read_plan({"rules": []}))
    server.reset()


def order(folder, url, entrants="", more=""):
    text = ORDER.format(url=url).replace("[models.mock]", f"{entrants}[models.mock]")
    return config(folder, text + more, "m.toml")


def checks(said):
    return {check["check"]: check for check in said.json["checks"]}


def test_without_a_config_the_machine_is_looked_at():
    said = weigh("doctor")
    assert (said.code, said.err) == (0, "")
    assert [line.split()[:2] for line in said.out.splitlines()[:2]] == [["ok", "python"], ["ok", "packages"]]
    assert said.out.splitlines()[-1].startswith("nothing found that would stop a run; `weigh doctor CONFIG.toml`")
    found = checks(weigh("doctor", "--json"))
    assert set(found) == {"python", "packages", "embedded model", "disk"}


def test_a_config_that_is_well_passes_every_check_with_one_call_for_each_way_of_asking(server, tmp_path):
    path = order(tmp_path, server.openai_url, SCHEMA)
    said = weigh("doctor", path, "--json")
    assert (said.code, said.err, said.json["ok"]) == (0, "", True)
    assert {check["level"] for check in said.json["checks"]} == {"ok"}
    found = checks(said)
    assert found["mock:mock-small"]["found"].startswith("answered in ")
    assert found["mock:mock-small, schema of goofspiel"]["found"].startswith("kept to the schema, ")
    assert server.stats()["requests"] == 3  # two samplings, one schema
    assert documents(tmp_path) == [path]


def test_nothing_is_asked_without_calls(server, tmp_path):
    assert weigh("doctor", order(tmp_path, server.openai_url), "--no-calls").code == 0
    assert server.stats()["requests"] == 0


def test_p44_a_dead_address_fails_after_a_few_tries_with_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr("weigh.harness.run.play.doctor.WAIT", 0.01)
    said = weigh("doctor", order(tmp_path, "http://127.0.0.1:9/v1"))
    assert said.code == 1
    (line,) = [line for line in said.out.splitlines() if line.startswith("fail ")]
    assert "nothing listens there" in line
    assert "http://127.0.0.1:9/v1" in line
    assert said.out.splitlines()[-1] == "1 of 6 checks failed: fix these first"
    assert said.err.count("asking again") == 2


def test_p43_a_server_that_is_loading_is_waited_for_and_the_wait_is_explained(server, tmp_path):
    body = {"error": {"message": "Loading model", "type": "unavailable_error"}}
    server.follow(
        read_plan({"rules": [{"nth": "1-4", "do": "respond", "status": 503, "body": body, "retry_after": "100ms"}]})
    )
    said = weigh("doctor", order(tmp_path, server.openai_url))
    assert said.code == 0
    assert said.err.count("asking again in 0.1 s") == 4
    assert "503" in said.err


def test_a_wait_has_an_end(server, tmp_path):
    server.follow(read_plan({"rules": [{"do": "respond", "status": 503}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url), "--timeout", "1.5")
    assert said.code == 1
    server.follow(read_plan({"rules": [{"do": "hang"}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url), "--timeout", "0.3")
    assert said.code == 1
    assert "no answer within 0.3 s" in said.out


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_refusal_is_told_at_once(server, tmp_path, status):
    server.follow(read_plan({"rules": [{"do": "respond", "status": status}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url, SCHEMA))
    assert said.code == 1
    assert str(status) in said.out
    assert server.stats()["requests"] == 1  # what follows could only be refused as well


def test_a_check_that_was_used_up_by_thinking_fails_with_the_key_that_makes_it_think_less(server, tmp_path):
    server.follow(read_plan({"rules": [{"do": "reply", "kind": "reasoning-only"}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url), "--json")
    found = checks(said)["mock:mock-small"]
    assert (said.code, found["level"]) == (1, "fail")
    assert "1024 tokens" in found["found"]
    assert "max_tokens" in found["fix"]
    assert "reasoning_effort" in found["fix"]


def test_an_answer_that_the_small_cap_of_a_check_cuts_is_asked_for_again_with_the_cap_of_the_entrant(server, tmp_path):
    server.follow(read_plan({"rules": [{"nth": 1, "do": "reply", "kind": "reasoning-only"}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url), "--json")
    assert (said.code, checks(said)["mock:mock-small"]["level"]) == (0, "ok")
    assert server.stats()["requests"] == 2


@pytest.mark.parametrize("kind", ["truncated", "empty"])
def test_a_model_whose_answer_is_cut_or_empty_is_reachable(server, tmp_path, kind):
    server.follow(read_plan({"rules": [{"do": "reply", "kind": kind}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url), "--json")
    found = checks(said)["mock:mock-small"]
    assert (said.code, found["level"]) == (0, "note")
    assert found["found"].startswith("reachable, ")
    assert "max_tokens" in found["fix"]


def test_a_finish_reason_that_is_not_known_is_a_note_with_the_word(server, tmp_path):
    body = chat('{"bid": 1}', "halted\x1b")
    server.follow(read_plan({"rules": [{"do": "respond", "status": 200, "body": body}]}))
    said = weigh("doctor", order(tmp_path, server.openai_url), "--json")
    notes = [check["found"] for check in said.json["checks"] if check["level"] == "note"]
    assert said.code == 0
    assert [note for note in notes if 'finish reason "halted\\u001b" is not known' in note] != []


def test_a_schema_that_is_refused_or_not_kept_to_is_told_with_what_to_do(server, tmp_path):
    path = order(tmp_path, server.openai_url, SCHEMA)
    server.follow(read_plan({"rules": [{"nth": "3", "do": "respond", "status": 400}]}))
    said = weigh("doctor", path, "--json")
    found = checks(said)["mock:mock-small, schema of goofspiel"]
    assert (said.code, found["level"]) == (1, "fail")
    assert "reason-then-json" in found["fix"]
    server.reset()
    server.follow(read_plan({"rules": [{"nth": "3", "do": "reply", "text": '{"bid": 99}'}]}))
    said = weigh("doctor", path, "--json")
    found = checks(said)["mock:mock-small, schema of goofspiel"]
    assert (said.code, found["level"]) == (0, "note")
    assert "did not keep to it" in found["found"]


def test_c07_a_missing_key_fails_and_the_others_are_asked_all_the_same(server, tmp_path):
    path = order(tmp_path, server.openai_url, 'rich = "goofspiel/tempo.md@openai:gpt-x"\n')
    said = weigh("doctor", path, "--json")
    found = checks(said)
    assert said.code == 1
    assert found["openai:gpt-x"]["level"] == "fail"
    assert "OPENAI_API_KEY" in found["openai:gpt-x"]["found"]
    assert found["mock:mock-small"]["level"] == "ok"


def test_a_key_is_never_shown(tmp_path):
    secret = "sk-very-secret-0123456789"
    text = ORDER.format(url="http://127.0.0.1:9/v1").replace("mock:mock-small", "openai:gpt-x")
    text = text.replace("[models.mock]", "[models.openai]")
    said = weigh("doctor", config(tmp_path, text), "--timeout", "0.5", environ={"OPENAI_API_KEY": secret})
    assert said.code == 1
    assert secret not in said.out + said.err
    assert "its key is set (OPENAI_API_KEY)" in said.out


def test_an_unknown_price_is_a_note_and_stops_a_limit_in_dollars(server, tmp_path):
    text = ORDER.format(url=server.openai_url).replace("mock:", "mine:").replace("models.mock", "models.mine")
    said = weigh("doctor", config(tmp_path, text), "--no-calls", "--json")
    found = checks(said)["mine:mock-small"]
    assert (said.code, found["level"]) == (0, "note")
    said = weigh("doctor", config(tmp_path, text + "max_usd = 1.0\n"), "--no-calls", "--json")
    found = checks(said)["mine:mock-small"]
    assert (said.code, found["level"]) == (1, "fail")
    assert 'models."mine:mock-small"' in found["fix"]


def test_p46_a_proxy_in_use_is_told(tmp_path):
    path = order(tmp_path, "http://models.example/v1")
    said = weigh("doctor", path, "--no-calls", environ={"HTTP_PROXY": "http://me:secret@10.0.0.1:3128"})
    assert "is asked through the proxy http://10.0.0.1:3128: NO_PROXY leaves hosts out of it" in said.out
    assert "secret" not in said.out


def test_little_space_and_a_place_without_room_fail(server, tmp_path, monkeypatch):
    path = order(tmp_path, server.openai_url)
    (tmp_path / "results").write_text("a file", encoding="utf-8")
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage)
    found = checks(weigh("doctor", path, "--no-calls", "--json"))
    assert found["disk"]["level"] == "fail"
    assert found["results"]["level"] == "fail"
    assert "choose another folder with --results" in found["results"]["fix"]


def test_a_config_that_is_wrong_is_exit_code_2(tmp_path):
    weigh("doctor", config(tmp_path, "seed = 1\n")).refused("games: missing")


def test_warnings_of_a_config_are_told(server, tmp_path):
    path = order(tmp_path, server.openai_url, more='[models."mock:nobody"]\nconcurrency = 1\n')
    found = checks(weigh("doctor", path, "--no-calls", "--json"))["config"]
    assert found["level"] == "note"
    assert "no entrant plays with it" in found["found"]


@pytest.mark.parametrize("limit", ["max_usd = 1.0", "max_tokens = 1000"])
def test_an_endpoint_that_does_not_count_is_told_where_a_limit_needs_the_count(server, tmp_path, limit):
    server.follow(read_plan({"rules": [{"do": "reply", "drop": ["usage"]}]}))
    plain = weigh("doctor", order(tmp_path, server.openai_url), "--json")
    assert "from above" not in plain.out
    path = order(tmp_path, server.openai_url)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[limits]\n", f"[limits]\n{limit}\n", 1), encoding="utf-8")
    assert limit in path.read_text(encoding="utf-8")
    said = weigh("doctor", path, "--json")
    assert said.code == 0, said.err
    assert any("limits count its calls from above" in check["found"] for check in said.json["checks"]), said.out
