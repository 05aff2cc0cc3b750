"""What a gate may take from earlier commands: never another rule's scores, and no judgement unseen."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.runner import weigh
from weigh.harness.gate import arm as gate_arms
from weigh.policies.scripted import registry
from weigh.policies.scripted.bidders import GOOFSPIEL
from weigh.policies.scripted.policy import Baseline
from weigh.policies.scripted.registry import BASELINES

SMALL = ("--game", "goofspiel", "--set", "cards=5", "--set", "seats=2", "--opponents", "match")
SAVE = ("gate", "--save-baseline", "base.json", "--candidate", "hoard", *SMALL, "--blocks", 10, "--json")
GATE = ("gate", "--baseline", "match", "--candidate", "hoard", *SMALL, "--json")


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def other_hoard(monkeypatch):
    """As after an upgrade: `hoard` plays otherwise, under the name and the digest it had."""

    def upgrade():
        table = {**GOOFSPIEL, "hoard": Baseline(lambda facts, legal, rng: legal.sample(rng))}
        monkeypatch.setattr(registry, "BASELINES", {**BASELINES, "goofspiel": table})

    return upgrade


def scores():
    return json.loads(Path("base.json").read_text())["blocks"]


def test_a_scripted_policy_that_plays_otherwise_is_played_again_when_a_baseline_is_saved(other_hoard):
    first = weigh(*SAVE).json
    before = scores()
    assert weigh(*SAVE).json == first
    other_hoard()
    second = weigh(*SAVE).json
    assert second["folder"] != first["folder"]
    assert scores() != before
    assert weigh("verify", second["folder"]).code == 0


def test_it_is_played_again_as_candidate_and_in_a_comparison(other_hoard):
    gate = weigh(*GATE, "--margin", 0.5).json["gates"][0]
    compare = ("compare", "hoard", "match", *SMALL, "--blocks", 10, "--json")
    arms = weigh(*compare).json["arms"]
    other_hoard()
    again = weigh(*GATE, "--margin", 0.5).json["gates"][0]
    assert again["candidate_run"] != gate["candidate_run"]
    assert again["mean"] != gate["mean"]
    # `match` is another arm, too: the hoard of the probes is part of what its rules are.
    assert weigh(*compare).json["arms"][0]["mean"] != arms[0]["mean"]


def test_a_policy_of_neither_field_nor_yardsticks_is_in_the_identity_as_well(other_hoard, monkeypatch):
    monkeypatch.setattr("weigh.harness.gate.arm.yardsticks", lambda game: ())
    first = weigh(*SAVE).json["folder"]
    other_hoard()
    assert weigh(*SAVE).json["folder"] != first


def test_other_rules_and_another_layout_of_prompts_are_other_arms(monkeypatch):
    first = weigh(*SAVE).json["folder"]
    monkeypatch.setattr(gate_arms, "LAYOUT", gate_arms.LAYOUT + 1)
    second = weigh(*SAVE).json["folder"]
    monkeypatch.setattr("weigh.games.goofspiel.rules.Goofspiel.rulebook", lambda self, config: "Other rules.")
    third = weigh(*SAVE).json["folder"]
    assert len({first, second, third}) == 3


def test_a_run_kept_without_its_rules_is_no_arm_of_today(monkeypatch):
    kept = weigh(*SAVE).json["folder"]
    config = json.loads(json.dumps(_manifest(kept).config))
    assert set(config["gate"]) == {"role", "field", "policy", "rules", "layout"}


def _manifest(folder):
    from weigh.harness.store.store import Store

    with Store.open(Path(folder), readonly=True) as store:
        return store.manifest


def test_the_same_candidate_under_another_margin_is_told_of_in_every_output():
    strict = weigh(*GATE, "--margin", 0.001, "--max-blocks", 30)
    assert strict.code == 3, strict
    assert strict.json["gates"][0]["earlier_verdicts"] == []
    loose = weigh(*GATE, "--margin", 1.2, "--max-blocks", 30, "--summary", "gate.md", "--junit", "gate.xml")
    (before,) = loose.json["gates"][0]["earlier_verdicts"]
    assert (before["margin"], before["verdict"], before["blocks"]) == (0.001, "inconclusive", 30)
    told = "margin 0.001 INCONCLUSIVE at 30 blocks"
    assert f"**earlier**: {told}" in Path("gate.md").read_text()
    assert "earlier_verdicts" in Path("gate.xml").read_text()
    text = weigh(*GATE[:-1], "--margin", 1.2, "--max-blocks", 30).out
    assert f"earlier   {told}" in text


def test_a_verdict_that_is_only_repeated_is_kept_once_and_repeats_byte_for_byte():
    words = (*GATE, "--margin", 1.2)
    first = weigh(*words)
    kept = verdicts()
    assert weigh(*words) == first
    assert verdicts() == kept
    assert len(kept) == 1


def test_more_allowed_fallbacks_or_another_level_are_other_terms():
    words = (*GATE, "--margin", 1.2)
    for more in ((), ("--max-fallback-rate", 0.9), ("--max-void-rate", 0.2), ("--alpha", 0.2)):
        last = weigh(*words, *more)
    assert len(last.json["gates"][0]["earlier_verdicts"]) == 3


def verdicts():
    from weigh.harness.store.store import Store

    (folder,) = Path("results").glob("*/candidate-*")
    with Store.open(folder, readonly=True) as store:
        return store.verdicts()


def in_the_candidates_run(*statements):
    (file,) = Path("results").glob("*/candidate-*/run.sqlite")
    with closing(sqlite3.connect(file)) as db, db:
        for statement in statements:
            db.execute(*statement)


def test_a_damaged_history_is_passed_over_and_stops_nothing():
    weigh(*GATE, "--margin", 0.001, "--max-blocks", 30)
    bad = ('{"margin": 1', "[]", '{"verdict": "pass"}', b"\xff")
    in_the_candidates_run(*(("INSERT INTO verdicts(body) VALUES (?)", (body,)) for body in bad))
    said = weigh(*GATE, "--margin", 1.2)
    assert said.code in (0, 1), said
    assert [each["margin"] for each in said.json["gates"][0]["earlier_verdicts"]] == [0.001]


def test_a_run_made_before_verdicts_were_kept_in_it_gets_them():
    weigh(*GATE, "--margin", 0.001, "--max-blocks", 30)
    in_the_candidates_run(("DROP TABLE verdicts",))
    assert weigh(*GATE, "--margin", 1.2).json["gates"][0]["earlier_verdicts"] == []
    assert len(verdicts()) == 1
