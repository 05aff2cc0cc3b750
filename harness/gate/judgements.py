"""What a candidate was judged by before: every set of terms it was held to, with the verdict.

Owns their form, kept as JSON in the table `verdicts` of the candidate's run, and what is told of those under other
terms. A margin that is changed until a gate is green is no error of the gate, but it must be seen. Knows no runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weigh.policies.contract import canonical

TERMS: Final = (*("margin", "alpha", "beta", "max_blocks", "max_void_rate", "max_fallback_rate", "baseline", "checks"),)
"""What a judgement depends on beside the candidate's own episodes."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict on a candidate."""

    terms: Mapping[str, Any]
    """By the names in TERMS. `baseline` is the digest of a baseline file, or of the policy that was played."""
    verdict: str
    blocks: int

    @property
    def told(self) -> str:
        """`margin 0.001 INCONCLUSIVE at 30 blocks`."""
        return f"margin {self.terms.get('margin')} {self.verdict.upper()} at {self.blocks} blocks"

    def to_json(self) -> dict[str, Any]:
        return {**{name: self.terms.get(name) for name in TERMS}, "verdict": self.verdict, "blocks": self.blocks}


def others(kept: Iterable[Judgement], now: Judgement | None) -> tuple[Judgement, ...]:
    """Those under other terms than now, the oldest first."""
    present = None if now is None else canonical(now.terms)
    return tuple(judgement for judgement in kept if canonical(judgement.terms) != present)


def read(kept: Iterable[str]) -> list[Judgement]:
    """The judgements in what a run keeps. What is none is passed over: the record tells, it decides nothing."""
    found = []
    for body in kept:
        try:
            document = json.loads(body)
            judgement = Judgement(
                {name: document[name] for name in TERMS}, str(document["verdict"]), int(document["blocks"])
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        found.append(judgement)
    return found
