"""A verdict as JUnit XML: a test case for the score of each gate, and one for each of its checks.

Owns the mapping: pass is passed, a regression fails, what is invalid is an error, and what is inconclusive is skipped.
Holds no times: equal verdicts give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.gate.verdict import BuildVerdict, GateVerdict, Outcome
from policies.show import one_line

PROPERTIES = (
    *("verdict", "estimand", "margin", "alpha", "beta", "blocks", "pairs", "void_blocks", "mean", "lower", "upper"),
    *("mde", "llr", "p_pass", "p_regression", "p_regression_holm", "fixed_blocks", "saved_blocks", "episodes"),
    *("calls", "saved_calls", "cost_usd", "void_starts", "replayed", "seed", "folder", "next"),
)
"""Keys of `GateVerdict.to_json` that a suite has as properties; what is None is left out."""


def junit(build: BuildVerdict) -> str:
    """The document: a suite for each gate."""
    from junitparser import JUnitXml

    document: Any = JUnitXml(one_line(build.name))  # parts of junitparser have no types
    for gate in build.gates:
        document.append(_suite(gate))
    document.update_statistics()
    text: bytes | str = document.tostring()
    return (text.decode() if isinstance(text, bytes) else text) + "\n"


def _suite(gate: GateVerdict) -> Any:
    from junitparser import TestCase, TestSuite

    suite = TestSuite(one_line(gate.subject.name))
    known: Mapping[str, Any] = gate.to_json()
    for name in PROPERTIES:
        if known[name] is not None:
            suite.add_property(name, _text(known[name]))
    for name, outcome, reason in (
        ("score", gate.score, "; ".join(gate.problems) or gate.reason),
        *((f"check {check.measure}", check.verdict, check.reason) for check in gate.checks),
    ):
        case = TestCase(name, classname=one_line(gate.subject.name))
        result = _result(outcome, one_line(reason, 2_000))
        if result is not None:
            case.result = [result]
        suite.add_testcase(case)
    return suite


def _result(outcome: Outcome, reason: str) -> Any:
    from junitparser import Error, Failure, Skipped

    kinds = {"regression": Failure, "invalid": Error, "inconclusive": Skipped}
    kind = kinds.get(outcome)
    return None if kind is None else kind(reason, outcome)


def _text(value: object) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "-"
    return one_line(str(value), 2_000)
