"""One verdict, four outputs: nothing but a pass is green, and every output says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sin
from random import Random

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from weigh.harness.gate.baseline import PolicyIdentity
from weigh.harness.gate.junit import junit, not_judged
from weigh.harness.gate.measures import Check, Measures, Rates, run_checks
from weigh.harness.gate.play import Taken
from weigh.harness.gate.sequential import Design, decide, evaluate
from weigh.harness.gate.verdict import (
    BuildVerdict,
    EarlierVerdict,
    GateIdentity,
    GateVerdict,
    corrected,
    impossible,
    invalid,
    judged,
    worst,
)
from weigh.harness.report.sections.verdict import markdown, text_lines
from weigh.harness.stats.paired import paired
from weigh.harness.store.usage import Usage

SPREAD = [0.1 * sin(n) for n in range(60)]
UNKNOWN = Rates()


def identity(name="gate"):
    return GateIdentity(name, "goofspiel", "mine", "match", "base.json", ("match", "hoard"), 4, 0, "results/x")


def gate(
    mean, sd=0.1, limit=90, checks=(), values=None, name="gate", seed=1, beta=0.05, rates=(UNKNOWN, UNKNOWN), **more
):
    settings = Design(margin=0.1, max_blocks=limit, beta=beta)
    noise = Random(seed)
    differences = [max(-1.0, min(1.0, noise.gauss(mean, sd))) for _ in range(limit)]
    count = 0
    while (state := evaluate(differences[:count], SPREAD, settings)).more:
        count += state.more
    results = run_checks(checks, Measures(values or {}, blocks=state.judged), Measures())
    taken = Taken(Usage(answered=400, cost_known_usd=1.5), episodes=40)
    mine, theirs = rates
    return judged(GateVerdict(identity(name), settings, state, results, mine, theirs, taken, **more))


def broken(name="gate"):
    return invalid(GateVerdict(identity(name)), ["digest: edited", "seed: 0 in the baseline, 1 now"], "put it right")


def text_of(build, **more):
    return " ".join(" ".join(text_lines(build, **more)).split())


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
    assert next(text_lines(build)).startswith(f"{outcome.upper()} (exit {build.exit_code}")
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
    assert {"detectable", "fixed_blocks", "saved_calls", "p_regression_holm"} <= known.keys()
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
    assert "a loss of 0.1 is excluded" in only.reason


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


def with_p(*given):
    """Gates that were judged, with these scores and sequential p-values."""
    base = gate(-0.4)
    return [
        replace(
            base,
            score=score,
            verdict=score,
            state=replace(base.state, analysis=replace(base.analysis, p_regression=p)),
        )
        for score, p in given
    ]


def test_a_regression_must_survive_the_step_down():
    """Corrected by hand: 3 * .01, then max with 2 * .03, then with 1 * .04."""
    gates = corrected(with_p(("regression", 0.01), ("regression", 0.04), ("regression", 0.03)), 0.05)
    assert [gate.p_regression_holm for gate in gates] == pytest.approx([0.03, 0.06, 0.06])
    assert [gate.verdict for gate in gates] == ["regression", "inconclusive", "inconclusive"]
    two = corrected(with_p(("regression", 0.03), ("pass", 0.9)), 0.05)
    assert [gate.verdict for gate in two] == ["inconclusive", "pass"]
    assert corrected(with_p(("regression", 0.049)), 0.05)[0].verdict == "regression"
    assert corrected([], 0.05) == ()


def test_regressions_of_gates_that_share_beta_survive():
    worse = gate(-0.4, beta=0.05 / 4)
    assert worse.verdict == "regression"
    rest = with_p(("pass", 0.9), ("pass", 0.8), ("pass", 1.0))
    assert corrected([worse, *rest], 0.05)[0].verdict == "regression"


def test_the_missing_bound_is_named_and_what_a_t_interval_leaves_out():
    """One data, one verdict: what `weigh compare` calls a loss, and the gate does not yet."""
    worse = gate(-0.08, sd=0.1, limit=25)
    assert worse.verdict == "inconclusive"
    assert worse.analysis.upper > 0
    differences = decide([-0.08] * 2, worse.state.design)
    assert differences.verdict == "continue"
    assert worse.reason.startswith("The upper bound is above 0")
    assert f"gains of up to {worse.state.design.greatest:.3g} in a block, which 25 blocks do not" in worse.reason
    equal = gate(0.0, sd=0.1, limit=20)
    assert equal.reason.startswith("The lower bound is below the margin: a loss of 0.1 is not excluded.")
    assert f"losses of up to {-equal.state.design.least:.3g} in a block" in equal.reason
    wide = gate(0.0, sd=0.6, limit=20)
    assert "t interval" not in wide.reason


def test_the_minimum_detectable_difference_is_that_of_a_comparison_of_the_same_blocks():
    noise = Random(3)
    differences = [max(-1.0, min(1.0, noise.gauss(0.0, 0.2))) for _ in range(20)]
    state = evaluate(differences, SPREAD, Design(margin=0.1, max_blocks=20))
    assert state.analysis.detectable == paired(differences).detectable


def test_a_gate_that_no_unchanged_policy_can_pass_says_what_would_let_it():
    few = gate(-0.05, sd=0.6, limit=10)
    fewest = few.state.design.fewest_to_pass
    assert fewest > 10
    allowed = "an unchanged policy needs {} blocks, 10 are allowed. {}"
    assert impossible(few.state, None) == allowed.format(fewest, f"Raise --max-blocks to {fewest}.")
    saved = impossible(few.state, "base.json")
    assert saved == allowed.format(fewest, f"Save a baseline of {fewest} blocks.")
    assert impossible(gate(0.0).state, None) is None


def test_of_several_gates_there_is_a_line_each_and_the_worst_in_full():
    build = BuildVerdict("b", (gate(0.0, name="good"), gate(-0.4, name="bad")))
    lines = list(text_lines(build))
    assert lines[0].startswith("REGRESSION (exit 1)")
    assert lines[0].endswith(" b")
    assert [line.split()[:2] for line in lines[1:3]] == [["PASS", "good"], ["REGRESSION", "bad"]]
    assert [line.split()[-1] for line in lines if "(exit" in line] == ["b", "bad"]
    assert [line.split()[-1] for line in text_lines(build, wide=True) if "(exit" in line] == ["b", "good", "bad"]


@pytest.mark.parametrize("outcome", BUILDS)
def test_the_lines_fit_80_columns_and_are_ascii_where_no_terminal_draws(outcome):
    for wide in (False, True):
        lines = list(text_lines(BUILDS[outcome], wide=wide))
        assert max(map(len, lines)) <= 80
        assert "\n".join(lines).isascii()


def test_the_picture_has_the_bounds_the_mean_the_margin_and_0_in_their_order():
    only = gate(-0.05, sd=0.6, limit=10)
    found = only.analysis
    title, bar, figures = [line for line in text_lines(BuildVerdict("b", (only,))) if line.startswith("  ")][:3]
    places = [bar.index(mark) for mark in "o:|"]
    values = [found.mean, -0.1, 0.0]
    assert sorted(range(3), key=places.__getitem__) == sorted(range(3), key=values.__getitem__)
    assert bar.index("+") < min(places) < max(places) < bar.rindex("+")
    assert "0" in title
    assert f"[{found.lower:+.3f}, {found.upper:+.3f}]" in figures


def test_an_invalid_gate_takes_no_part_in_the_correction():
    strong = gate(-0.4)
    one, other = corrected([strong, broken()], 0.05)
    assert one.p_regression_holm == pytest.approx(strong.to_json()["p_regression"])
    assert other.p_regression_holm is None


def test_moves_of_the_fallback_are_a_regression_whatever_the_score_and_survive_the_correction():
    only = gate(0.0, rates=(Rates(1.0, 1.0), Rates(0.0, 0.0)))
    assert (only.verdict, only.score) == ("regression", "pass")
    assert "own_moves: the fallback made 100.0% of its moves (max_fallback_rate 0.2)" in only.reason
    assert "is excluded" in only.reason
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
    for page in (text_of(build, wide=True), markdown(build)):
        for told in ("candidate 12.5%, baseline 0.0%", "candidate 25.0%, baseline 6.2%", "candidate 87.5%"):
            assert told in page, told
    for name, value in zip(names, ("0.125", "0.25", "0.0", "0.0625"), strict=True):
        assert f'name="{name}" value="{value}"' in junit(build)


def test_who_was_judged_and_in_what_they_differ_is_in_every_output():
    sampling = {"max_tokens": 512, "temperature": None, "seed": None, "extra": {}}
    known = {"model": "openai:m", "style": "schema", "endpoint": "https://x"}
    old = PolicyIdentity(name="mine", digest="a" * 64, prompt="b" * 64, sampling=sampling, **known)
    warm = {**sampling, "temperature": 1.7}
    new = PolicyIdentity(name="mine", digest="c" * 64, prompt="d" * 64, sampling=warm, **known)
    full = replace(identity(), candidate_policy=new, baseline_policy=old, baseline_digest="e" * 64)
    build = BuildVerdict("b", (replace(gate(0.0), identity=full),))
    only = build.to_json()["gates"][0]
    assert only["differs"] == ["prompt", "temperature 1.7"]
    assert only["candidate_policy"]["sampling"]["temperature"] == 1.7
    assert "from the baseline in: prompt, temperature 1.7" in text_of(build, wide=True)
    assert "from the baseline in: prompt, temperature 1.7" in markdown(build)
    document = junit(build)
    for part in ("a" * 64, "b" * 64, "c" * 64, "d" * 64, "e" * 64, "temperature 1.7", "openai:m"):
        assert part in document
        assert part[:12] in text_of(build, wide=True)


def test_earlier_verdicts_are_told_and_long_lists_are_cut():
    kept = tuple(EarlierVerdict({"margin": n / 1000}, "inconclusive", 30) for n in range(1, 9))
    build = BuildVerdict("b", (gate(0.0, earlier=kept),))
    for page in (text_of(build), markdown(build)):
        assert "margin 0.008 INCONCLUSIVE at 30 blocks; and 3 times before" in page
        assert "margin 0.003" not in page
    assert len(build.to_json()["gates"][0]["earlier_verdicts"]) == 8


def test_a_build_without_a_verdict_is_one_error():
    document = JUnitXml.fromstring(not_judged("b\x1b", "why <not>").encode())
    assert (document.tests, document.errors, document.failures, document.skipped) == (1, 1, 0, 0)


def test_what_was_saved_is_told_in_blocks_and_calls():
    only = gate(-0.4, sd=0.1)
    found = only.analysis
    assert only.saved_blocks == found.fixed_n - found.n
    assert only.saved_calls == round(only.saved_blocks * 400 / only.state.judged)


def test_names_are_harmless_in_every_output():
    evil = "x\x1b[31m|<script>`\n# y @everyone ~~gone~~ https://evil.example www.evil.example #12"
    build = BuildVerdict(evil, (invalid(GateVerdict(identity(evil)), [evil], evil),))
    text = "\n".join(text_lines(build))
    page = markdown(build)
    assert "\x1b" not in text + page + junit(build)
    assert "<script>" not in page
    for mark in ("@everyone", "~~gone", "https://", "www.", " #12"):
        assert mark not in page, mark
    assert not any(line.startswith("# ") for line in page.splitlines())
