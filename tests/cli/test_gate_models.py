"""`weigh gate` with models: whose moves were judged, what they took, and who was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.runner import weigh
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan

pytestmark = pytest.mark.slow

SMALL = ("--game", "goofspiel", "--set", "cards=4", "--set", "seats=2", "--opponents", "match")
NEVER = {"rules": [{"do": "reply", "text": "?"}]}
"""A model that gives no move, ever."""
ALWAYS = {"rules": []}


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(log_size=50)) as going:
        yield going


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch, server):
    monkeypatch.chdir(tmp_path)
    server.follow(read_plan(ALWAYS))
    server.reset()
    for name in ("mine", "other"):
        Path(f"{name}.md").write_text(f"Bid the {name} way.\n")


def gate(server, *words):
    return weigh("gate", *words, "--base-url", server.openai_url)


MINE = "mine.md@mock:mock-small"
LOOSE = (*SMALL, "--margin", 1.4)
"""Margin and game under which a policy as good as the baseline passes at the first look."""


def test_a_candidate_that_never_answers_is_a_regression_although_its_fallback_plays_as_well(server):
    server.follow(read_plan(NEVER))
    files = ("--junit", "gate.xml", "--summary", "gate.md", "--json")
    said = gate(server, "--baseline", "match", "--candidate", MINE, *LOOSE, *files)
    assert said.code == 1, said
    (only,) = said.json["gates"]
    assert (only["verdict"], only["score"]) == ("regression", "pass")
    assert "the fallback made 100.0% of its moves" in only["reason"]
    assert (only["fallback_rate"], only["retry_rate"], only["baseline_fallback_rate"]) == (1.0, 1.0, 0.0)
    assert "the fallback made 100.0% of its moves" in Path("gate.md").read_text()
    document = JUnitXml.fromfile("gate.xml")
    assert document.failures == 1
    known = {each.name: each.value for suite in document for each in suite.properties()}
    assert (known["fallback_rate"], known["baseline_fallback_rate"], known["retry_rate"]) == ("1.0", "0.0", "1.0")
    text = gate(server, "--baseline", "match", "--candidate", MINE, *LOOSE, "--wide").out
    assert "fallback  candidate 100.0%, baseline 0.0% of the moves" in text


def test_no_share_of_fallbacks_that_is_allowed_makes_a_pass_of_none_of_its_own(server):
    server.follow(read_plan(NEVER))
    said = gate(server, "--baseline", "match", "--candidate", MINE, *LOOSE, "--max-fallback-rate", 1)
    assert said.code == 1, said


def test_some_fallbacks_pass_where_they_are_allowed_and_the_refusal_names_the_share(server):
    server.follow(read_plan({"rules": [{"share": 0.4, "do": "reply", "text": "?"}]}))
    words = ("--baseline", "match", "--candidate", MINE, *LOOSE, "--json")
    first = gate(server, *words, "--max-fallback-rate", 0.01)
    rate = first.json["gates"][0]["fallback_rate"]
    assert 0.01 < rate < 0.5
    assert first.code == 1
    assert "max_fallback_rate 0.01" in first.json["gates"][0]["reason"]
    again = gate(server, *words, "--max-fallback-rate", 0.5)
    assert again.code == 0, again
    assert again.json["gates"][0]["fallback_rate"] == rate


def test_a_baseline_that_the_fallback_played_is_invalid_and_no_such_file_is_saved(server):
    server.follow(read_plan(NEVER))
    said = gate(server, "--baseline", MINE, "--candidate", "other.md@mock:mock-small", *LOOSE)
    assert said.code == 4, said
    assert "the baseline measures the fallback: the fallback made 100.0% of its moves" in " ".join(said.out.split())
    saved = gate(server, "--save-baseline", "b.json", "--candidate", MINE, *SMALL, "--blocks", 10)
    assert saved.code == 4, saved
    assert "would measure the fallback" in saved.err
    assert not Path("b.json").exists()


def test_a_file_of_such_a_baseline_is_invalid_before_anything_is_paid(server):
    from weigh.harness.gate.baseline import digest_of, read_baseline, written

    assert gate(server, "--save-baseline", "b.json", "--candidate", MINE, *SMALL, "--blocks", 10).code == 0
    kept = read_baseline(Path("b.json").read_text(), "b.json")
    changed = kept.model_copy(update={"measures": {**kept.measures, "fallback_rate": 0.9}})
    Path("b.json").write_text(written(changed.model_copy(update={"digest": digest_of(changed)})))
    server.reset()
    said = gate(server, "--baseline", "b.json", "--candidate", "other.md@mock:mock-small", "--margin", 1.4)
    assert said.code == 4, said
    assert "the fallback made 90.0% of its moves" in " ".join(said.out.split())
    assert server.stats()["requests"] == 0


def test_calls_are_those_of_the_blocks_judged_whatever_was_played_before(server):
    words = ("--baseline", "match", "--candidate", MINE, *LOOSE, "--json")
    fresh = gate(server, *words, "--name", "fresh").json
    # The same candidate, taken much further first, under a margin that no block decides.
    slow = ("--margin", 0.01, "--beta", 0.0001, "--max-blocks", 30)
    far = gate(server, "--baseline", "match", "--candidate", MINE, *SMALL, *slow, "--json")
    assert far.json["gates"][0]["blocks"] > fresh["gates"][0]["blocks"]
    again = gate(server, *words, "--name", far.json["name"]).json
    one, other = fresh["gates"][0], again["gates"][0]
    for key in ("blocks", "episodes", "calls", "tokens", "cost_usd", "saved_blocks", "saved_calls"):
        assert one[key] == other[key], key
    assert one["calls"] == one["all_invocations"]["calls"] == fresh["invocation"]["calls"]
    assert other["all_invocations"]["calls"] == far.json["gates"][0]["calls"] > other["calls"]
    assert again["invocation"]["calls"] == 0


def test_the_verdict_says_who_was_judged_and_how_they_differ(server):
    assert gate(server, "--save-baseline", "b.json", "--candidate", MINE, *SMALL, "--blocks", 10).code == 0
    saved = json.loads(Path("b.json").read_text())
    assert saved["policy"]["sampling"] == {"max_tokens": 1024, "temperature": None, "seed": None, "extra": {}}
    files = ("--junit", "gate.xml", "--summary", "gate.md", "--temperature", 1.7)
    words = ("--baseline", "b.json", "--candidate", "other.md@mock:mock-small", "--margin", 1.4, *files)
    (only,) = gate(server, *words, "--json").json["gates"]
    assert only["differs"] == ["prompt", "temperature 1.7"]
    assert only["baseline_digest"] == saved["digest"]
    assert only["baseline_policy"]["digest"] == saved["policy"]["digest"]
    mine = only["candidate_policy"]
    assert (mine["model"], mine["sampling"]["temperature"]) == ("mock:mock-small", 1.7)
    assert mine["prompt"] != only["baseline_policy"]["prompt"] == saved["policy"]["prompt"]
    text = " ".join(gate(server, *words, "--wide").out.split())
    assert "from the baseline in: prompt, temperature 1.7" in text
    for place in (text, Path("gate.md").read_text(), Path("gate.xml").read_text()):
        for part in (mine["digest"][:12], mine["prompt"][:12], saved["digest"][:12], "mock:mock", "1.7"):
            assert part in place.replace("\\", ""), part
    (same,) = gate(server, "--baseline", "b.json", "--candidate", MINE, "--margin", 1.4, "--json").json["gates"]
    assert same["differs"] == []


def test_another_server_on_this_machine_is_another_model(server):
    words = ("--baseline", "match", "--candidate", MINE, *LOOSE, "--json")
    first = gate(server, *words).json["gates"][0]
    with MockServerProcess(Options(log_size=50)) as other:
        other.follow(read_plan(NEVER))
        said = gate(other, *words)
        assert other.stats()["requests"] == said.json["gates"][0]["calls"] > 0
    assert said.code == 1
    assert said.json["gates"][0]["candidate_run"] != first["candidate_run"]
