"""One verdict, four outputs: nothing but a pass is green, and every output says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sin
from random import Random

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from weigh.harness.gate.checks import Check, Measures, run_checks
from weigh.harness.gate.conduct import Rates
from weigh.harness.gate.judgements import Judgement
from weigh.harness.gate.junit import junit, not_judged
from weigh.harness.gate.spent import Spent
from weigh.harness.gate.standing import Terms, stand
from weigh.harness.gate.subject import Contestant, Subject
from weigh.harness.gate.verdict import UNKNOWN, BuildVerdict, corrected, invalid, judged, worst
from weigh.harness.report.sections.verdict import markdown, text_lines

SPREAD = [0.1 * sin(n) for n in range(60)]


def subject(name="gate"):
    return Subject(name, "goofspiel", "mine", "match", "base.json", ("match", "hoard", "random"), 4, 0, "results/x")


def gate(
    mean, sd=0.1, limit=90, checks=(), values=None, name="gate", seed=1, beta=0.05, rates=(UNKNOWN, UNKNOWN), **more
):
    terms = Terms(margin=0.1, limit=limit, beta=beta)
    noise = Random(seed)
    differences = [max(-1.0, min(1.0, noise.gauss(mean, sd))) for _ in range(limit)]
    count = 0
    while (standing := stand(differences[:count], SPREAD, terms)).more:
        count += standing.more
    results = run_checks(checks, Measures(values or {}, blocks=standing.judged), Measures())
    spent = Spent(episodes=40, calls=400, cost_known_usd=1.5)
    return judged(subject(name), terms, standing, results, rates, spent=spent, **more)


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


def test_moves_of_the_fallback_are_a_regression_whatever_the_score_and_survive_the_correction():
    only = gate(0.0, rates=(Rates(1.0, 1.0), Rates(0.0, 0.0)))
    assert (only.verdict, only.score) == ("regression", "pass")
    assert "own_moves: the fallback made 100 % of its moves (max_fallback_rate 0.2); score: not worse" in only.reason
    build = BuildVerdict("b", corrected([only, *[gate(0.0, name=f"g{n}", seed=n) for n in range(3)]], 0.05))
    assert build.exit_code == 1
    (case, check), *_ = ([*suite] for suite in JUnitXml.fromstring(junit(build).encode()))
    assert (case.name, case.result, check.name) == ("score", [], "check own_moves")
    assert [type(result) for result in check.result] == [Failure]


@pytest.mark.parametrize(
    ("mine", "theirs", "verdict"),
    [
        (0.2, 0.0, "pass"),
        (0.21, 0.0, "regression"),
        (0.21, 0.21, "invalid"),
        (0.0, 0.21, "invalid"),
        (1.0, 1.0, "invalid"),
        (None, None, "pass"),
    ],
)
def test_the_share_of_fallbacks_that_is_borne(mine, theirs, verdict):
    assert gate(0.0, rates=(Rates(mine), Rates(theirs))).verdict == verdict


@pytest.mark.parametrize("outcome", BUILDS)
def test_rates_of_both_arms_are_in_every_output(outcome):
    if outcome == "invalid":
        return
    mean = {"pass": 0.0, "regression": -0.4, "inconclusive": -0.05}[outcome]
    build = BuildVerdict(
        "b",
        (gate(mean, limit=90 if outcome != "inconclusive" else 10, rates=(Rates(0.125, 0.25), Rates(0.0, 0.0625))),),
    )
    only = build.to_json()["gates"][0]
    names = ("fallback_rate", "retry_rate", "baseline_fallback_rate", "baseline_retry_rate")
    assert [only[name] for name in names] == [0.125, 0.25, 0.0, 0.0625]
    for page in ("\n".join(text_lines(build)), markdown(build)):
        assert "12.5 % of the candidate's moves, 0 % of the baseline's" in page
        assert "25 % of the candidate's moves, 6.25 % of the baseline's" in page
    for name, value in zip(names, ("0.125", "0.25", "0.0", "0.0625"), strict=True):
        assert f'name="{name}" value="{value}"' in junit(build)


def test_who_was_judged_and_in_what_they_differ_is_in_every_output():
    sampling = {"max_tokens": 512, "temperature": None, "seed": None, "extra": {}}
    old = Contestant("mine", "a" * 64, "openai:m", "b" * 64, "schema", sampling, "https://x")
    new = replace(old, digest="c" * 64, prompt="d" * 64, sampling={**sampling, "temperature": 1.7})
    full = replace(subject(), candidate_policy=new, baseline_policy=old, baseline_digest="e" * 64)
    build = BuildVerdict("b", (replace(gate(0.0), subject=full),))
    only = build.to_json()["gates"][0]
    assert only["differs"] == ["prompt", "temperature 1.7"]
    assert only["candidate_policy"]["sampling"]["temperature"] == 1.7
    assert "from the baseline in: prompt, temperature 1.7" in "\n".join(text_lines(build))
    assert "from the baseline in: prompt, temperature 1.7" in markdown(build)
    document = junit(build)
    for part in ("a" * 64, "b" * 64, "c" * 64, "d" * 64, "e" * 64, "temperature 1.7", "openai:m"):
        assert part in document
        assert part[:12] in "\n".join(text_lines(build))


def test_earlier_judgements_are_told_and_long_lists_are_cut():
    kept = tuple(Judgement({"margin": n / 1000}, "inconclusive", 30) for n in range(1, 9))
    build = BuildVerdict("b", (gate(0.0, judged_before=kept),))
    text = "\n".join(text_lines(build))
    assert "margin 0.008 INCONCLUSIVE at 30 blocks; and 3 times before" in text
    assert "margin 0.003" not in text
    assert len(build.to_json()["gates"][0]["judged_before"]) == 8


def test_a_build_without_a_verdict_is_one_error():
    document = JUnitXml.fromstring(not_judged("b\x1b", "why <not>").encode())
    assert (document.tests, document.errors, document.failures, document.skipped) == (1, 1, 0, 0)


def test_nothing_is_saved_where_nothing_is_decided_and_it_says_so():
    text = "\n".join(text_lines(BUILDS["inconclusive"]))
    assert "saved - (nothing is decided, so nothing is saved)" in text


def test_what_was_saved_is_told_in_blocks_and_calls():
    only = gate(-0.4, sd=0.1)
    look = only.standing.look
    assert only.saved_blocks == look.fixed_n - look.n
    assert only.saved_calls == round(only.saved_blocks * 400 / only.standing.judged)


def test_names_are_harmless_in_every_output():
    evil = "x\x1b[31m|<script>`\n# y @everyone ~~gone~~ https://evil.example www.evil.example #12"
    build = BuildVerdict(evil, (invalid(subject(evil), None, [evil], evil),))
    text = "\n".join(text_lines(build))
    page = markdown(build)
    assert "\x1b" not in text + page + junit(build)
    assert "<script>" not in page
    for mark in ("@everyone", "~~gone", "https://", "www.", " #12"):
        assert mark not in page, mark
    assert not any(line.startswith("# ") for line in page.splitlines())
