"""One verdict, four outputs: nothing but a pass is green, and every output says the same."""

from __future__ import annotations

import json
from math import sin
from random import Random

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from harness.gate.checks import Check, run_checks
from harness.gate.junit import junit
from harness.gate.standing import Terms, stand
from harness.gate.verdict import BuildVerdict, Spent, Subject, corrected, invalid, judged, worst
from harness.gate.verdict_text import markdown, text_lines

SPREAD = [0.1 * sin(n) for n in range(60)]


def subject(name="gate"):
    return Subject(name, "goofspiel", "mine", "match", "base.json", ("match", "hoard", "random"), 4, 0, "results/x")


def gate(mean, sd=0.1, limit=30, checks=(), values=None, name="gate", seed=1, beta=0.05):
    terms = Terms(margin=0.1, limit=limit, beta=beta)
    noise = Random(seed)
    differences = [max(-1.0, min(1.0, noise.gauss(mean, sd))) for _ in range(limit)]
    count = 0
    while (standing := stand(differences[:count], SPREAD, terms)).more:
        count += standing.more
    results = run_checks(checks, values or {}, {})
    return judged(subject(name), terms, standing, results, Spent(episodes=40, calls=400, cost_known_usd=1.5))


def broken(name="gate"):
    return invalid(subject(name), None, ["digest: edited", "seed: 0 in the baseline, 1 now"], "put it right")


BUILDS = {
    "pass": BuildVerdict("b", (gate(0.0),)),
    "regression": BuildVerdict("b", (gate(-0.4),)),
    "inconclusive": BuildVerdict("b", (gate(-0.05, sd=0.6, limit=10),)),
    "invalid": BuildVerdict("b", (broken(),)),
}
CODES = {"pass": 0, "regression": 1, "inconclusive": 3, "invalid": 4}


@pytest.mark.parametrize("outcome", BUILDS)
def test_the_exit_code_and_every_output_say_the_same(outcome):
    build = BUILDS[outcome]
    assert build.verdict == outcome
    assert build.exit_code == CODES[outcome]
    assert build.to_json()["verdict"] == build.to_json()["gates"][0]["verdict"] == outcome
    assert outcome.upper() in "\n".join(text_lines(build)).splitlines()[0]
    assert outcome.upper() in markdown(build).splitlines()[0]
    (suite,) = JUnitXml.fromstring(junit(build).encode())
    (case,) = suite
    kinds = {"regression": Failure, "invalid": Error, "inconclusive": Skipped}
    assert [type(result) for result in case.result] == ([kinds[outcome]] if outcome in kinds else [])


def test_junit_counts_and_properties():
    build = BuildVerdict("b", (gate(-0.4, checks=[Check("m", max=1.0)], values={"m": 2.0}), broken("other")))
    document = JUnitXml.fromstring(junit(build).encode())
    assert (document.tests, document.failures, document.errors, document.skipped) == (3, 2, 1, 0)
    suite = next(iter(document))
    known = {each.name: each.value for each in suite.properties()}
    told = build.gates[0].to_json()
    for name, value in (("blocks", told["blocks"]), ("calls", 400), ("margin", 0.1)):
        assert known[name] == str(value)
    assert float(known["mean"]) == told["mean"]
    assert float(known["lower"]) == told["lower"]
    assert {"mde", "fixed_blocks", "saved_calls", "p_regression_holm"} <= known.keys()
    assert junit(build) == junit(build)


def test_the_json_form_is_json_and_has_null_for_what_does_not_exist():
    told = BUILDS["invalid"].to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    (only,) = told["gates"]
    assert (only["mean"], only["blocks"], only["margin"], only["p_regression_holm"]) == (None, 0, None, None)
    assert only["problems"] == ["digest: edited", "seed: 0 in the baseline, 1 now"]


def test_a_failed_check_is_a_regression_that_names_itself_and_the_score_stays_beside_it():
    only = gate(0.0, checks=[Check("fallback_rate", max=0.1)], values={"fallback_rate": 0.3})
    assert (only.verdict, only.score) == ("regression", "pass")
    assert "fallback_rate: 0.3 is above 0.1" in only.reason
    assert "score: not worse by 0.1" in only.reason


def test_a_check_without_data_is_inconclusive_and_never_a_pass():
    only = gate(0.0, checks=[Check("overbid", max=0.1)])
    assert (only.verdict, only.score) == ("inconclusive", "pass")
    assert "overbid" in only.next
    assert BuildVerdict("b", (only,)).exit_code == 3


def test_an_inconclusive_gate_says_how_much_more_it_takes():
    assert "more blocks" in BUILDS["inconclusive"].gates[0].next
    assert BUILDS["inconclusive"].gates[0].saved_blocks is None


def test_an_interrupted_build_ends_with_130_whatever_its_gates_say():
    assert BuildVerdict("b", (gate(0.0), broken()), interrupted=True).exit_code == 130


def test_gates_are_never_averaged_and_the_worst_says_it():
    assert worst(["pass", "inconclusive"]) == "inconclusive"
    assert worst(["pass", "invalid", "inconclusive"]) == "invalid"
    assert worst(["invalid", "regression"]) == "regression"
    with pytest.raises(ValueError, match="no verdict"):
        worst([])


def test_holm_takes_back_a_regression_that_a_family_does_not_bear_and_makes_it_no_pass():
    weak = gate(-0.1, sd=0.2, seed=2)
    assert weak.verdict == "regression"
    p = weak.to_json()["p_regression"]
    assert 0.0125 < p < 0.05, p
    gates = corrected([weak, *[gate(0.0, name=f"g{n}", seed=n) for n in range(3)]], 0.05)
    assert gates[0].verdict == "inconclusive"
    assert gates[0].p_regression_holm == pytest.approx(4 * p)
    assert "does not survive" in gates[0].reason
    alone = corrected([weak], 0.05)
    assert alone[0].verdict == "regression"


def test_an_invalid_gate_takes_no_part_in_the_correction():
    strong = gate(-0.4)
    one, other = corrected([strong, broken()], 0.05)
    assert one.p_regression_holm == pytest.approx(strong.to_json()["p_regression"])
    assert other.p_regression_holm is None


def test_what_was_saved_is_told_in_blocks_and_calls():
    only = gate(-0.4, sd=0.1)
    look = only.standing.look
    assert only.saved_blocks == look.fixed_n - look.n
    assert only.saved_calls == round(only.saved_blocks * 400 / only.standing.judged)


def test_names_are_harmless_in_every_output():
    evil = "x\x1b[31m|<script>`\n# y"
    build = BuildVerdict(evil, (invalid(subject(evil), None, [evil], evil),))
    text = "\n".join(text_lines(build))
    page = markdown(build)
    assert "\x1b" not in text + page + junit(build)
    assert "<script>" not in page
    assert not any(line.startswith("# ") for line in page.splitlines())
