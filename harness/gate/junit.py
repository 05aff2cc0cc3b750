"""A verdict as JUnit XML: a test case for the score of each gate, and one for each of its checks.

Owns the mapping: pass is passed, a regression fails, what is invalid is an error, and what is inconclusive is skipped.
Holds no times: equal verdicts give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from weigh.harness.gate.verdict import BuildVerdict, GateVerdict, Outcome
from weigh.policies.contract import canonical
from weigh.policies.show import one_line

PROPERTIES = (
    *(
        "verdict",
        "estimand",
        "margin",
        "alpha",
        "beta",
        "blocks",
        "void_blocks",
        "mean",
        "lower",
        "upper",
        "detectable",
    ),
    *("p_pass", "p_regression", "p_regression_holm", "fixed_blocks", "saved_blocks", "episodes"),
    *("calls", "saved_calls", "cost_usd", "void_starts", "replayed", "seed", "folder", "next"),
    *("fallback_rate", "retry_rate", "baseline_fallback_rate", "baseline_retry_rate", "max_fallback_rate"),
    *("difference_range", "fewest_to_pass"),
    *("candidate", "baseline", "baseline_digest", "differs", "warnings", "earlier_verdicts"),
)
"""Keys of `GateVerdict.to_json` that a suite has as properties; what is None or empty is left out."""

POLICY = ("digest", "model", "prompt", "style", "sampling", "endpoint")
"""Keys of a policy identity, as `candidate_digest`."""


def junit(build: BuildVerdict) -> str:
    """The document: a suite for each gate."""
    document: Any = JUnitXml(one_line(build.name))  # parts of junitparser have no types
    for gate in build.gates:
        document.append(_suite(gate))
    document.update_statistics()
    return _text_of(document)


def _text_of(document: Any) -> str:
    text: bytes | str = document.tostring()
    return (text.decode() if isinstance(text, bytes) else text) + "\n"


def not_judged(name: str, reason: str) -> str:
    """The document of a build without a verdict: one error, so that nobody takes it for green."""
    document: Any = JUnitXml(one_line(name))
    suite: Any = TestSuite(one_line(name))
    case: Any = TestCase("verdict", classname=one_line(name))
    case.result = [Error(one_line(reason, 2_000), "not judged")]
    suite.add_testcase(case)
    document.append(suite)
    document.update_statistics()
    return _text_of(document)


def _suite(gate: GateVerdict) -> Any:
    suite = TestSuite(one_line(gate.identity.name))
    known: Mapping[str, Any] = gate.to_json()
    for name in PROPERTIES:
        if known[name] not in (None, []):
            suite.add_property(name, _text(known[name]))
    for role in ("candidate", "baseline"):
        for name in POLICY:
            value = (known[f"{role}_policy"] or {}).get(name)
            if value is not None:
                suite.add_property(f"{role}_{name}", _text(value))
    for name, outcome, reason in (
        ("score", gate.score, "; ".join(gate.problems) or gate.reason),
        *((f"check {check.measure}", check.verdict, check.reason) for check in gate.checks),
    ):
        case = TestCase(name, classname=one_line(gate.identity.name))
        result = _result(outcome, one_line(reason, 2_000))
        if result is not None:
            case.result = [result]
        suite.add_testcase(case)
    return suite


def _result(outcome: Outcome, reason: str) -> Any:
    kinds = {"regression": Failure, "invalid": Error, "inconclusive": Skipped}
    kind = kinds.get(outcome)
    return None if kind is None else kind(reason, outcome)


def _text(value: object) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "-"
    if isinstance(value, dict | list | tuple):
        return one_line("; ".join(value) if _words(value) else canonical(value), 2_000)
    return one_line(str(value), 2_000)


def _words(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
