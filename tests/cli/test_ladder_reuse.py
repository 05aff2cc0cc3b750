"""`weigh ladder --reuse`: the questions of an earlier run are not paid for again, and the ladder says so."""

from __future__ import annotations

import pytest

from tests.cli.runner import config, weigh
from weigh.harness.providers.mock_server import MockServerProcess, Options
from weigh.harness.store.store import Store

ORDER = """\
seed = 3
[games.goofspiel]
seats = 4
cards = 4
blocks = 1
[entrants]
plain = "goofspiel/plain.md@mock:mock-small"
second = "goofspiel/tempo.md@mock:mock-large"
[models.mock]
base_url = "{url}"
[limits]
decision_timeout = 5.0
"""


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(faults="illegal=0.2,refused=0.1", seed=4)) as going:
        yield going


@pytest.fixture
def old(server, tmp_path):
    server.reset()
    path = config(tmp_path, ORDER.format(url=server.openai_url), "old.toml")
    assert weigh("ladder", path).code == 0
    return path.parent / "results" / "old"


def kept(folder):
    with Store.open(folder, readonly=True) as store:
        return [record.comparable() for record in store.records()], list(store.calls())


def test_a_ladder_played_again_pays_for_refusals_only_and_re_derives(server, old, tmp_path):
    path = config(tmp_path, ORDER.format(url=server.openai_url), "new.toml")
    records, before = kept(old)
    asked = server.stats()["requests"]
    said = weigh("ladder", path, "--reuse", old)
    assert said.code == 0, said
    new = path.parent / "results" / "new"
    again, calls = kept(new)
    refused = [call for call in before if call.completion is not None and call.completion.stop == "refusal"]
    reused = [call for call in calls if call.fate == "reused"]
    assert refused
    assert len(reused) >= 16
    assert server.stats()["requests"] - asked == len(calls) - len(reused) == len(refused)
    # The mock answers each question by its text, so the refused ones are refused again.
    assert again == records
    assert f"{len(reused)} answers of earlier runs were used again" in said.err.splitlines()
    assert weigh("verify", new).code == 0
    ladder = weigh("rank", new, "--json").json
    assert sum(row["traffic"]["reused_calls"] for row in ladder["accounts"]["models"]) == len(reused)
    assert sum(row["traffic"]["calls"] for row in ladder["accounts"]["models"]) == len(refused)
    (game,) = ladder["games"]
    assert "reused" in [caveat["kind"] for caveat in game["warnings"]]
    assert "reused" in weigh("rank", new, "--wide").out


def test_an_endpoint_that_differs_is_told_and_asked_anew(server, old, tmp_path):
    text = ORDER.format(url=server.openai_url) + '[models."mock:mock-small"]\nfold_system = true\n'
    path = config(tmp_path, text, "new.toml")
    said = weigh("ladder", path, "--reuse", old)
    assert said.code == 0, said
    assert f"weigh: mock:mock-small is asked elsewhere or in another way than in {old}; its answers are not used" in (
        said.err.splitlines()
    )
    _, calls = kept(path.parent / "results" / "new")
    fates = {model: {call.fate for call in calls if call.request.model == model} for model in ("mock:mock-small",)}
    assert "reused" not in fates["mock:mock-small"]
    assert any(call.fate == "reused" for call in calls)


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_what_is_no_run_is_refused_before_anything_is_made(tmp_path, name):
    path = config(tmp_path, ORDER.format(url="http://127.0.0.1:9/v1"), "new.toml")
    weigh("ladder", path, "--reuse", tmp_path / name).refused(name if name != "." else str(tmp_path))
    assert not (tmp_path / "results").exists()


def test_a_run_is_not_reused_by_itself(server, old, tmp_path):
    weigh("ladder", tmp_path / "old.toml", "--reuse", old).refused("is this run itself", "drop --reuse")


@pytest.mark.slow
def test_answers_of_a_server_at_another_address_are_not_used(server, old, tmp_path):
    with MockServerProcess(Options(seed=5)) as other:
        path = config(tmp_path, ORDER.format(url=other.openai_url), "new.toml")
        said = weigh("ladder", path, "--reuse", old)
        assert said.code == 0, said
        assert "mock:mock-small is asked elsewhere" in said.err
        _, calls = kept(path.parent / "results" / "new")
        assert not [call for call in calls if call.fate == "reused"]
        assert other.stats()["requests"] == len(calls)
