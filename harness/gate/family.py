"""Several gates on one build: what the build may say of all of them.

Owns what survives of a build's gates. Knows their verdicts and p-values only.

Two errors, and only one of them grows with the number of gates.
- A false green: the build is green only when every gate passes. If any candidate is worse by its margin, its own gate
  passes with a chance of at most alpha, so the build is green with at most that: no correction, whatever the number
  (the intersection-union test: Berger, Technometrics 24, 1982).
- A false alarm: one gate that calls a regression turns the build red. With k gates and nothing worse, that happens in
  up to k * beta of the builds. So regressions must survive Holm's step-down at beta (Scandinavian Journal of Statistics
  6, 1979): the chance that any candidate as good as its baseline is called a regression is then at most beta, however
  the gates depend on each other.

The p-values are sequential ones, valid at the look where a gate stopped, so they may be corrected after the fact. A
gate that stopped at beta alone may not survive; one that ran at beta / k does by itself, and so a gate file orders it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.harness.gate.sequential import Look, Verdict
from weigh.harness.stats.clustered import at_most
from weigh.harness.stats.multiple_tests import holm

Build: TypeAlias = Literal["pass", "regression", "continue", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Family:
    """What all gates say together."""

    verdict: Build
    """`regression` when a gate's survives; else `continue` while a gate goes on; else `pass` when every gate passes;
    else `inconclusive`."""
    gates: tuple[Verdict, ...]
    """Each gate's verdict: a regression that did not survive is `inconclusive`, never a pass. Others are unchanged."""
    p_regression: tuple[float, ...]
    """Each gate's p-value of "as good as the baseline", corrected by Holm."""


def family_of(looks: Sequence[Look], beta: float = 0.05) -> Family:
    """The family's verdict from the look at which each gate stands.

    `beta` is the chance of any false alarm over the whole family. Raises ValueError for no gates.
    """
    if not looks:
        raise ValueError("a family needs at least one gate")
    corrected = holm([look.p_regression for look in looks])
    gates: list[Verdict] = [
        "inconclusive" if look.verdict == "regression" and not at_most(p, beta) else look.verdict
        for look, p in zip(looks, corrected, strict=True)
    ]
    verdict: Build = "inconclusive"
    if "regression" in gates:
        verdict = "regression"
    elif "continue" in gates:
        verdict = "continue"
    elif all(gate == "pass" for gate in gates):
        verdict = "pass"
    return Family(verdict, tuple(gates), tuple(corrected))
