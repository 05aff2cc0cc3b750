"""Fault plans as files: every key, and one clear line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from weigh.harness.providers.mock_server import Cut, Drip, Limit, Plan, Reply, Respond, Rule, load_plan, read_plan
from weigh.harness.providers.mock_server.actions import ACTIONS, AnyAction
from weigh.harness.providers.mock_server.plan_file import plan_document

TOML = """
[[rules]]
name = "busy at first"
model = "mock-*"
nth = "1-3"
do = "respond"
status = 429
retry_after = "date+2s"
headers = { X-Shard = "7" }

[[rules]]
elapsed = "10s-20s"
share = 0.5
do = "drip"
interval = "100ms"
size = 4

[[rules]]
per = "request"
nth = [1, "3-"]
do = "reply"
kind = "parts"
set = { "choices.0.message.role" = "model" }
drop = ["usage"]
"""

READ = Plan(
    rules=(
        Rule(
            name="busy at first",
            model="mock-*",
            nth="1-3",
            action=Respond(status=429, retry_after="date+2s", headers={"X-Shard": "7"}),
        ),
        Rule(elapsed="10s-20s", share=0.5, action=Drip(interval=0.1, size=4)),
        Rule(
            per="request",
            nth=[1, "3-"],
            action=Reply(kind="parts", set={"choices.0.message.role": "model"}, drop=("usage",)),
        ),
    )
)


def test_a_toml_plan_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML, encoding="utf-8")
    assert load_plan(path) == READ


def test_a_json_plan_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"rules": [{"do": "cut", "after": None}, {"do": "limit", "in_flight": 4}]}))
    assert load_plan(path) == Plan(rules=(Rule(action=Cut(after=None)), Rule(action=Limit(in_flight=4))))


def test_a_plan_survives_its_document() -> None:
    assert read_plan(json.loads(json.dumps(plan_document(READ)))) == READ


def test_every_action_can_be_named_in_a_plan() -> None:
    kinds = get_args(get_args(AnyAction)[0])
    assert {kind.model_fields["do"].default: kind for kind in kinds} == ACTIONS


def test_no_setting_of_an_action_is_called_like_a_condition() -> None:
    conditions = set(Rule.model_fields) - {"action"}
    for kind in ACTIONS.values():
        assert not conditions & set(kind.model_fields)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({}, "rule 1 has no 'do'; known: cut"),
        ({"do": "repond"}, "rule 1 cannot do 'repond'; did you mean 'respond'?"),
        ({"do": "cut", "nht": 1}, "rule 1: unknown key 'nht' with do = 'cut'; did you mean 'nth'?"),
        ({"do": "cut", "status": 500}, "rule 1: unknown key 'status' with do = 'cut'"),
        ({"do": "respond", "name": "x"}, r"rule 1 \(x\): status: Field required"),
        ({"do": "respond", "status": 99}, "status: Input should be greater than or equal to 200"),
        ({"do": "respond", "status": 429, "hold": True}, "hold needs a retry_after"),
        ({"do": "respond", "status": 429, "retry_after": "soon"}, "retry_after: 'soon' is not a duration"),
        ({"do": "respond", "status": 429, "headers": {"A": "b\r\nC: d"}}, "headers: 'A' cannot be a header"),
        ({"do": "respond", "status": 429, "headers": {"Content-Type": "x"}}, "content_type"),
        ({"do": "hang", "nth": 0}, "nth: 0 is not a count from 1"),
        ({"do": "hang", "nth": "3-1"}, "nth: '3-1' is not a count"),
        ({"do": "hang", "every": 0}, "every: Input should be greater"),
        ({"do": "hang", "share": 2}, "share: Input should be less"),
        ({"do": "hang", "elapsed": "9s-1s"}, "elapsed: '9s-1s' ends before it starts"),
        ({"do": "hang", "delay": -1}, "delay: -1 is not a duration"),
        ({"do": "limit"}, "limit needs requests_per_minute"),
        ({"do": "limit", "requests_per_minute": 5, "burst": 0.5}, "burst must be at least 1"),
        ({"do": "reply", "kind": "sulky"}, "kind: Input should be 'answer'"),
        ({"do": "reply", "wire": "smtp"}, "wire: Input should be 'chat'"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_rule_and_key(rule: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        read_plan({"rules": [rule]})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "a table with a list 'rules'"),
        ({"rule": []}, "unknown key 'rule' beside the rules; did you mean 'rules'"),
        ({"rules": {}}, "must be a list of tables"),
        ({"rules": [3]}, "rule 1 must be a table"),
    ],
)
def test_what_is_no_plan_is_refused(document: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_plan(document)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, broken = tmp_path / "none.toml", tmp_path / "broken.toml"
    broken.write_text("[[rules]\n")
    with pytest.raises(ValueError, match=r"cannot read the fault plan .*none\.toml"):
        load_plan(missing)
    with pytest.raises(ValueError, match=r"fault plan .*broken\.toml: "):
        load_plan(broken)
