"""Settings of a server: latencies, shares of faults, and one clear line for every mistake."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.providers.mock_server import Options, Plan, read_options
from weigh.harness.providers.mock_server.options import parse_faults, parse_latency
from weigh.harness.providers.mock_server.rules import Cut, Limit, Respond


@given(st.floats(0, 1, exclude_max=True))
def test_latencies_lie_where_their_words_say(quantile: float) -> None:
    assert parse_latency("200ms")(quantile) == pytest.approx(0.2)
    assert 0.05 <= parse_latency("uniform:50-400ms")(quantile) <= 0.4
    assert 0 < parse_latency("lognormal:300ms,0.5")(quantile) < math.inf


def test_a_lognormal_latency_has_its_median_and_spread() -> None:
    latency = parse_latency("lognormal:300ms,0.5")
    drawn = [math.log(latency((i + 0.5) / 1000)) for i in range(1000)]
    assert latency(0.5) == pytest.approx(0.3)
    assert statistics.pstdev(drawn) == pytest.approx(0.5, rel=0.02)


def test_shares_of_reply_faults_partition_the_draws() -> None:
    faults = parse_faults("illegal=0.1, empty=0.02")
    drawn = [faults.reply((i + 0.5) / 1000) for i in range(1000)]
    assert (drawn.count("illegal"), drawn.count("empty"), drawn.count(None)) == (100, 20, 880)


def test_shares_of_transport_faults_become_rules_that_leave_each_its_share() -> None:
    assert parse_faults("429=0.5,500=0.25,reset=0.25").rules == (
        Respond(name="429", share=0.5, status=429, retry_after="1s"),
        Respond(name="500", share=0.5, status=500),
        Cut(name="reset", share=1.0, after=None),
    )


def test_the_rate_limit_is_asked_before_the_plan_and_the_faults_after_it() -> None:
    options = Options(requests_per_minute=5, faults="reset=1")
    kinds = [type(rule) for rule in options.all_rules(Plan(rules=(Respond(status=500),)))]
    assert kinds == [Limit, Respond, Cut]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"latency": "soon"}, "latency 'soon': 'soon' is not a duration"),
        ({"latency": "unifrom:1-2s"}, "did you mean 'uniform'"),
        ({"latency": "uniform:1s-"}, "write both ends"),
        ({"latency": "lognormal:0,1"}, "a median above 0"),
        ({"latency": "lognormal:1s"}, "and a sigma"),
        ({"latency": "lognormal:1s,-1"}, "and a sigma"),
        ({"faults": "ilegal=0.1"}, "did you mean 'illegal'"),
        ({"faults": "empty"}, "needs a share from 0 to 1, e.g. empty=0.1"),
        ({"faults": "empty=2"}, "needs a share"),
        ({"faults": "empty=-0.1"}, "needs a share"),
        ({"faults": "empty=nan"}, "needs a share"),
        ({"faults": "empty=0.6,illegal=0.6"}, "add up to more than 1"),
        ({"faults": "500=0.6,reset=0.6"}, "add up to more than 1"),
        ({"faults": "empty=0.1,empty=0.1"}, "there twice"),
        ({"faults": "600=0.1"}, "no fault is called '600'"),
        ({"port": 70_000}, "port: "),
        ({"notes_share": 1.5}, "notes_share: "),
        ({"log_size": -1}, "log_size: "),
        ({"requests_per_minute": 0}, "requests_per_minute: "),
        ({"models": ()}, "models: "),
        ({"models": ("a", "")}, "models.1: "),
        ({"answer_style": "json"}, "answer_style: Input should be 'reason-then-json' or 'json-only'"),
        ({"constant": "7"}, "constant: "),
        ({"sed": 1}, "unknown key 'sed'; did you mean 'seed'"),
        ({"plan": {"rules": [{"do": "cut", "x": 1}]}}, "rule 1: unknown key 'x'"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_options(settings)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_survive_json() -> None:
    plan = Plan(rules=(Respond(status=503, nth=((1, 2),)),))
    options = Options(seed=7, latency="uniform:1-2s", faults="empty=0.1", models=("a",), constant='{"x": 1}', plan=plan)
    assert Options.model_validate_json(options.model_dump_json(round_trip=True)) == options
