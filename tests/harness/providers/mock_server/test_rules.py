"""Rules as people write them: every way to say a time or a count, every key, and one clear line for every mistake."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from weigh.harness.providers.mock_server import Plan, load_plan, read_plan
from weigh.harness.providers.mock_server.rules import (
    Cut,
    Drip,
    Limit,
    Reply,
    Respond,
    parse_counts,
    parse_seconds,
    parse_span,
)

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

[[rules]]
do = "respond"
status = 429
retry_after = 2
"""

READ = Plan(
    rules=(
        Respond(
            name="busy at first",
            model="mock-*",
            nth=((1, 3),),
            status=429,
            retry_after="date+2s",
            headers={"X-Shard": "7"},
        ),
        Drip(elapsed=(10.0, 20.0), share=0.5, interval=0.1, size=4),
        Reply(
            per="request",
            nth=((1, 1), (3, None)),
            kind="parts",
            set={"choices.0.message.role": "model"},
            drop=("usage",),
        ),
        Respond(status=429, retry_after=2),
    )
)


def test_a_toml_plan_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML, encoding="utf-8")
    assert load_plan(path) == READ


def test_a_json_plan_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"rules": [{"do": "cut", "after": None}, {"do": "limit", "in_flight": 4}]}))
    assert load_plan(path) == Plan(rules=(Cut(after=None), Limit(in_flight=4)))


def test_a_plan_survives_json() -> None:
    assert read_plan(json.loads(READ.model_dump_json())) == READ


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({}, "rule 1: has no 'do'; known: cut"),
        ({"do": "repond"}, "rule 1: cannot do 'repond'; did you mean 'respond'?"),
        ({"do": "cut", "nht": 1}, "rule 1: unknown key 'nht'; did you mean 'nth'?"),
        ({"do": "cut", "status": 500}, "rule 1: unknown key 'status'"),
        ({"do": "respond", "stauts": 500}, "rule 1: unknown key 'stauts'; did you mean 'status'?"),
        ({"do": "respond"}, "rule 1: status: Field required"),
        ({"do": "respond", "status": 99}, "rule 1: status: Input should be greater than or equal to 200"),
        ({"do": "respond", "status": 429, "hold": True}, "rule 1: hold needs a retry_after"),
        ({"do": "respond", "status": 429, "retry_after": "soon"}, "rule 1: retry_after: 'soon' is not a duration"),
        ({"do": "respond", "status": 429, "headers": {"A": "b\r\nC: d"}}, "rule 1: headers: 'A' cannot be a header"),
        ({"do": "respond", "status": 429, "headers": {"Content-Type": "x"}}, "content_type"),
        ({"do": "hang", "nth": 0}, "rule 1: nth: 0 is not a count"),
        ({"do": "hang", "elapsed": "9s-1s"}, "rule 1: elapsed: '9s-1s' ends before it starts"),
        ({"do": "hang", "every": 0}, "rule 1: every: Input should be greater"),
        ({"do": "hang", "share": 2}, "rule 1: share: Input should be less"),
        ({"do": "hang", "delay": -1}, "rule 1: delay: -1 is not a duration"),
        ({"do": "limit"}, "rule 1: limit needs requests_per_minute"),
        ({"do": "limit", "requests_per_minute": 5, "burst": 0.5}, "rule 1: burst: Input should be greater"),
        ({"do": "reply", "kind": "sulky"}, "rule 1: kind: Input should be 'illegal', "),
        ({"do": "reply", "wire": "smtp"}, "rule 1: wire: Input should be 'chat'"),
        (3, "rule 1: "),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_rule_and_key(rule: object, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_plan({"rules": [rule]})
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("document", "says"),
    [([], "dictionary"), ({"rule": []}, "unknown key 'rule'; did you mean 'rules'"), ({"rules": {}}, "rules: ")],
)
def test_what_is_no_plan_is_refused_in_one_line(document: object, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        read_plan(document)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, broken = tmp_path / "none.toml", tmp_path / "broken.toml"
    broken.write_text("[[rules]\n")
    with pytest.raises(ValueError, match=r"cannot read the fault plan .*none\.toml"):
        load_plan(missing)
    with pytest.raises(ValueError, match=r"fault plan .*broken\.toml: "):
        load_plan(broken)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("200ms", 0.2), ("1.5s", 1.5), ("10m", 600.0), ("1h", 3600.0), ("3", 3.0), (" 2 s ", 2.0), (0, 0.0), (1.25, 1.25)],
)
def test_a_duration_is_read_in_seconds(written: object, seconds: float) -> None:
    assert parse_seconds(written) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written", ["", "fast", "-1", "1,5s", "5 days", "1e3", None, True, -1, math.inf, math.nan, "٣s"]
)
def test_what_is_no_duration_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_seconds(written)


@pytest.mark.parametrize(
    ("written", "span"),
    [
        ("50-400ms", (0.05, 0.4)),
        ("0-20s", (0.0, 20.0)),
        ("20s-", (20.0, None)),
        ("-20s", (0.0, 20.0)),
        ("500ms - 2s", (0.5, 2.0)),
        ([1, "2s"], (1.0, 2.0)),
        ([1, None], (1.0, None)),
    ],
)
def test_a_span_takes_the_unit_of_its_end_for_both(written: object, span: tuple[float, float | None]) -> None:
    assert parse_span(written) == pytest.approx(span)


@pytest.mark.parametrize("written", ["", "-", "5", "3s-1s", [3, 1], [1], "a-b", "1-2-3", 7])
def test_what_is_no_span_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match=r"not a span of time|ends before it starts|not a duration"):
        parse_span(written)


@pytest.mark.parametrize(
    ("written", "counts"),
    [(5, ((5, 5),)), ("5", ((5, 5),)), ("1-3", ((1, 3),)), ("4-", ((4, None),)), ([1, "6-8"], ((1, 1), (6, 8)))],
)
def test_counts_are_read_as_ranges(written: object, counts: tuple[Any, ...]) -> None:
    assert parse_counts(written) == counts


@pytest.mark.parametrize("written", [0, -1, True, 1.5, "3-1", "-3", "x", "", None, [0], [[1, 2, 3]]])
def test_what_is_no_count_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="is not a count from 1"):
        parse_counts(written)
