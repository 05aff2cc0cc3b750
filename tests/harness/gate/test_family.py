"""Holm over gates: which error is corrected, which is not."""

from dataclasses import replace

import numpy as np
import pytest

from weigh.harness.gate.family import family_of
from weigh.harness.gate.sequential import Design, decide

LOOK = decide([], Design(0.1, 100))


def gates(*stood):
    return [replace(LOOK, verdict=verdict, p_regression=p) for verdict, p in stood]


def test_a_regression_must_survive_the_step_down():
    """Corrected by hand: 3 * .01, then max with 2 * .03, then with 1 * .04."""
    family = family_of(gates(("regression", 0.01), ("regression", 0.04), ("regression", 0.03)))
    assert family.p_regression == pytest.approx((0.03, 0.06, 0.06))
    assert family.gates == ("regression", "inconclusive", "inconclusive")
    assert family.verdict == "regression"


def test_what_does_not_survive_is_inconclusive_and_never_a_pass():
    family = family_of(gates(("regression", 0.03), ("pass", 0.9)))
    assert family.gates == ("inconclusive", "pass")
    assert family.verdict == "inconclusive"


def test_one_gate_is_not_corrected():
    assert family_of(gates(("regression", 0.049))).verdict == "regression"


def test_green_takes_every_gate():
    assert family_of(gates(("pass", 0.9), ("pass", 0.5))).verdict == "pass"
    assert family_of(gates(("pass", 0.9), ("inconclusive", 0.5))).verdict == "inconclusive"
    assert family_of(gates(("pass", 0.9), ("continue", 0.5))).verdict == "continue"
    assert family_of(gates(("continue", 0.9), ("regression", 0.001))).verdict == "regression"
    with pytest.raises(ValueError, match="at least one gate"):
        family_of([])


def test_regressions_of_gates_that_share_beta_survive():
    rng = np.random.default_rng(9)
    design = Design(0.1, 400, beta=0.05 / 4, least=-1, greatest=1)
    worse = decide(rng.normal(-0.12, 0.2, 400).clip(-1, 1).tolist(), design)
    assert worse.verdict == "regression"
    family = family_of([worse, *gates(("pass", 0.9), ("pass", 0.8), ("pass", 1.0))])
    assert family.gates[0] == "regression"
