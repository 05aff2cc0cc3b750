"""What a candidate was judged by before: every set of terms it was held to, with the verdict.

Owns their form, kept as lines of JSON beside the candidate's run, and what is told of those under other terms. A margin
that is changed until a gate is green is no error of the gate, but it must be seen. Knows no folders.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from weigh.policies.contract import canonical

if TYPE_CHECKING:
    from weigh.harness.gate.checks import Check
    from weigh.harness.gate.verdict import GateVerdict

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


def judgement_of(gate: GateVerdict, checks: Iterable[Check]) -> Judgement | None:
    """What is to be kept of a verdict; None where nothing was judged."""
    standing, terms = gate.standing, gate.terms
    if standing is None or terms is None or standing.more or standing.too_void or standing.look is None:
        return None
    subject = gate.subject
    played = None if subject.baseline_policy is None else subject.baseline_policy.digest
    known = {
        "margin": terms.margin,
        "alpha": terms.alpha,
        "beta": terms.beta,
        "max_blocks": terms.limit,
        "max_void_rate": terms.max_void_rate,
        "max_fallback_rate": terms.max_fallback_rate,
        "baseline": subject.baseline_digest or played,
        "checks": [asdict(check) for check in checks],
    }
    return Judgement(known, gate.verdict, standing.look.n)


def others(kept: Iterable[Judgement], now: Judgement | None) -> tuple[Judgement, ...]:
    """Those under other terms than now, the oldest first."""
    present = None if now is None else canonical(now.terms)
    return tuple(judgement for judgement in kept if canonical(judgement.terms) != present)


def written(kept: Iterable[Judgement]) -> str:
    """A line of JSON for each."""
    return "".join(f"{canonical(judgement.to_json())}\n" for judgement in kept)


def read(text: str) -> list[Judgement]:
    """The judgements in a file's text. A line that is none is passed over: the record tells, it decides nothing."""
    found = []
    for line in text.splitlines():
        try:
            document = json.loads(line)
            judgement = Judgement(
                {name: document[name] for name in TERMS}, str(document["verdict"]), int(document["blocks"])
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        found.append(judgement)
    return found
