"""The verdict of a gate, and of a build of several: one value that every output is made of.

Owns what is told of a gate, how score and checks combine, the JSON form and the exit code. `docs/reference/output.md`
describes the JSON form key by key. Knows no files and no formats for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from weigh.harness.gate.checks import Check, CheckResult
from weigh.harness.gate.conduct import CHECK, Rates, played_by_fallback
from weigh.harness.gate.family import family_of
from weigh.harness.gate.judgements import Judgement
from weigh.harness.gate.spent import Spent
from weigh.harness.gate.standing import Standing, Terms, further
from weigh.harness.gate.subject import Subject

Outcome: TypeAlias = Literal["pass", "regression", "inconclusive", "invalid"]

SCHEMA: Final = 1

EXIT_CODES: Final[Mapping[Outcome, int]] = {"pass": 0, "regression": 1, "inconclusive": 3, "invalid": 4}
INTERRUPTED: Final = 130

WORST: Final[tuple[Outcome, ...]] = ("regression", "invalid", "inconclusive", "pass")
"""What one of several says of all: a regression is known, whatever else could not be judged."""

NOTHING: Final = Spent()
UNKNOWN: Final = Rates()


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What one gate came to. A number that does not exist is None."""

    subject: Subject
    verdict: Outcome
    """Of score and checks together."""
    score: Outcome
    """Of the score alone."""
    reason: str
    """One line: why."""
    next: str
    """One line: what to do now; empty when there is nothing to do."""
    problems: tuple[str, ...]
    """What makes it invalid, a line each."""
    terms: Terms | None
    """None where they could not be read."""
    standing: Standing | None
    """None where nothing was played."""
    p_regression_holm: float | None
    """Corrected for all gates of the build."""
    checks: tuple[CheckResult, ...]
    """The rule of `harness.gate.conduct` among them, where it failed."""
    spent: Spent
    """On the blocks that were judged, in all arms that are played."""
    baseline_void: int = 0
    """Blocks of a baseline file that are void and were not played."""
    all_sittings: Spent = NOTHING
    """What the runs of these arms took in all, blocks beyond the verdict included."""
    candidate_rates: Rates = UNKNOWN
    baseline_rates: Rates = UNKNOWN
    warnings: tuple[str, ...] = ()
    """What is allowed and probably not meant, a line each."""
    judged_before: tuple[Judgement, ...] = ()
    """The same candidate under other terms, the oldest first."""

    @property
    def saved_blocks(self) -> int | None:
        """Against the fixed test, of a score that was decided; negative when it took more."""
        look = self.standing.look if self.standing is not None else None
        return look.saved if look is not None and self.score in ("pass", "regression") else None

    @property
    def saved_calls(self) -> int | None:
        """The same in calls, at what the judged blocks took."""
        if self.saved_blocks is None or self.standing is None or not self.standing.judged:
            return None
        return round(self.saved_blocks * self.spent.calls / self.standing.judged)

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self.subject),
            "field": list(self.subject.field),
            "differs": list(self.subject.differs),
            "estimand": self.subject.estimand,
            "verdict": self.verdict,
            "score": self.score,
            "reason": self.reason,
            "next": self.next,
            "problems": list(self.problems),
            **_terms_json(self.terms),
            **_standing_json(self.standing, self.subject.seats),
            "p_regression_holm": self.p_regression_holm,
            "baseline_void_blocks": self.baseline_void,
            "fallback_rate": self.candidate_rates.fallback,
            "retry_rate": self.candidate_rates.retry,
            "baseline_fallback_rate": self.baseline_rates.fallback,
            "baseline_retry_rate": self.baseline_rates.retry,
            **self.spent.to_json(),
            "all_sittings": self.all_sittings.to_json(),
            "saved_blocks": self.saved_blocks,
            "saved_calls": self.saved_calls,
            "checks": [asdict(check) for check in self.checks],
            "warnings": list(self.warnings),
            "judged_before": [judgement.to_json() for judgement in self.judged_before],
        }


def _terms_json(terms: Terms | None) -> dict[str, Any]:
    names = ("margin", "alpha", "beta", "max_void_rate", "max_fallback_rate", "lowest")
    return {
        **{name: None if terms is None else getattr(terms, name) for name in names},
        "max_blocks": None if terms is None else terms.limit,
    }


def _standing_json(standing: Standing | None, seats: int) -> dict[str, Any]:
    look = None if standing is None else standing.look
    names = ("mean", "sd", "lower", "upper", "mde", "p_pass", "p_regression", "by")
    return {
        "blocks": 0 if look is None else look.n,
        "pairs": 0 if look is None else look.n * seats,
        "void_blocks": 0 if standing is None else standing.missing,
        **{name: None if look is None else getattr(look, name) for name in names},
        "fixed_blocks": None if look is None else look.fixed_n,
        "fewest_to_pass": None if standing is None else standing.design.fewest_to_pass,
        "least": None if standing is None else standing.design.least,
        "greatest": None if standing is None else standing.design.greatest,
    }


@dataclass(frozen=True, slots=True)
class BuildVerdict:
    """What a build may go by."""

    name: str
    gates: tuple[GateVerdict, ...]
    interrupted: bool = False
    sitting: Spent = NOTHING
    """What this command itself took: nothing, where a verdict is only told again."""

    @property
    def verdict(self) -> Outcome:
        return worst([gate.verdict for gate in self.gates])

    @property
    def exit_code(self) -> int:
        return INTERRUPTED if self.interrupted else EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA,
            "name": self.name,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "interrupted": self.interrupted,
            "sitting": {
                "calls": self.sitting.calls,
                "tokens": self.sitting.tokens,
                "cost_usd": self.sitting.cost_usd,
            },
            "gates": [gate.to_json() for gate in self.gates],
        }


OWN_BASELINE: Final = "take a baseline that plays its own moves; or allow more with max_fallback_rate"


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """The first of WORST among them. Raises ValueError for none: nothing checked is no pass."""
    if not outcomes:
        raise ValueError("a build without a gate has no verdict")
    return min(outcomes, key=WORST.index)


def invalid(subject: Subject, terms: Terms | None, problems: Sequence[str], todo: str, **known: Any) -> GateVerdict:
    """A gate that cannot be judged. `known` are further fields, where something was played."""
    rest: dict[str, Any] = {"standing": None, "checks": (), "spent": Spent(), **known}
    return GateVerdict(
        subject=subject,
        verdict="invalid",
        score="invalid",
        reason=problems[0],
        next=todo,
        problems=tuple(problems),
        terms=terms,
        p_regression_holm=None,
        **rest,
    )


def judged(
    subject: Subject,
    terms: Terms,
    standing: Standing,
    checks: Sequence[CheckResult],
    rates: tuple[Rates, Rates] = (UNKNOWN, UNKNOWN),
    **more: Any,
) -> GateVerdict:
    """A gate that was played to its end. Raises ValueError for one that goes on.

    `rates` are the candidate's and the baseline's; `more` are further fields of the verdict, as `spent`.
    """
    look = standing.look
    if standing.more or (look is not None and look.verdict == "continue" and not standing.too_void):
        raise ValueError("the gate is not over")
    candidate, baseline = rates
    by_fallback = played_by_fallback(candidate, terms.max_fallback_rate)
    if by_fallback is not None:
        share = candidate.fallback
        failed = CheckResult(
            CHECK,
            "regression",
            share,
            baseline.fallback,
            None,
            terms.max_fallback_rate,
            by_fallback,
            None,
            standing.judged,
        )
        checks = [failed, *checks]
    known: dict[str, Any] = {
        "standing": standing,
        "checks": tuple(checks),
        "spent": Spent(),
        "candidate_rates": candidate,
        "baseline_rates": baseline,
        **more,
    }
    if standing.too_void:
        rate = f"{standing.missing} of {standing.judged} blocks are void, more than {terms.max_void_rate:.0%} allow"
        return invalid(subject, terms, [rate], "the same command plays the void episodes again", **known)
    if look is None:
        return invalid(subject, terms, ["fewer than 2 blocks have a difference"], "allow more blocks", **known)
    measured = played_by_fallback(baseline, terms.max_fallback_rate)
    if measured is not None:
        return invalid(subject, terms, [f"the baseline measures the fallback: {measured}"], OWN_BASELINE, **known)
    score: Outcome = look.verdict if look.verdict in ("pass", "regression") else "inconclusive"
    verdict = worst([score, *(check.verdict for check in checks)])
    return GateVerdict(
        subject=subject,
        verdict=verdict,
        score=score,
        reason=_reason(score, verdict, terms, standing, checks),
        next=_next(score, verdict, subject, standing, checks),
        problems=(),
        terms=terms,
        p_regression_holm=look.p_regression,
        **known,
    )


def judgement_of(gate: GateVerdict, checks: Sequence[Check]) -> Judgement | None:
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


def corrected(gates: Sequence[GateVerdict], beta: float) -> tuple[GateVerdict, ...]:
    """The gates with Holm's correction over those whose score was judged.

    A regression that does not survive it is inconclusive, never a pass. Its checks stay as they are.
    """
    told = [n for n, gate in enumerate(gates) if gate.score != "invalid"]
    looks = [gates[n].standing.look for n in told]  # type: ignore[union-attr]
    if not looks:
        return tuple(gates)
    family = family_of([look for look in looks if look is not None], beta)
    after = list(gates)
    for n, outcome, p in zip(told, family.gates, family.p_regression, strict=True):
        gate = replace(gates[n], p_regression_holm=p)
        if gate.score == "regression" and outcome != "regression":
            verdict = worst(["inconclusive", *(check.verdict for check in gate.checks)])
            reason = f"a regression by itself, which does not survive the correction for {len(told)} gates (p {p:.3f})"
            todo = gate.next if verdict == "regression" else "raise --max-pairs for this gate, or its margin"
            gate = replace(gate, score="inconclusive", verdict=verdict, reason=reason, next=todo)
        after[n] = gate
    return tuple(after)


def _reason(score: Outcome, verdict: Outcome, terms: Terms, standing: Standing, checks: Sequence[CheckResult]) -> str:
    look = standing.look
    if look is None:
        raise ValueError("a reason needs a look")
    words = {
        "pass": f"not worse by {terms.margin:g}",
        "regression": "worse than the baseline",
        "inconclusive": f"{look.n} blocks cannot tell a loss of {terms.margin:g} from none",
    }
    failed = [f"{check.measure}: {check.reason}" for check in checks if check.verdict != "pass"]
    if not failed or (verdict == score and score == "regression"):
        return "; ".join([words[score], *failed])
    return "; ".join([*failed, f"score: {words[score]}"])


def _next(score: Outcome, verdict: Outcome, subject: Subject, standing: Standing, checks: Sequence[CheckResult]) -> str:
    if verdict == "regression":
        return f"look at what it played: the runs of both arms are in {subject.folder}"
    if score == "inconclusive" and standing.look is not None:
        more = further(standing.look, standing.design)
        blocks = "more blocks" if more is None else f"about {more} more blocks ({more * subject.seats} pairs)"
        if subject.baseline_file is not None:
            count = standing.judged + (more or 0)
            return (
                f"play {blocks}: save a baseline of {count * subject.seats} pairs or more, or raise --max-pairs if it "
                "has them; or accept a larger margin"
            )
        return f"play {blocks}: raise --max-pairs; or accept a larger margin"
    if verdict == "inconclusive":
        unsure = [check for check in checks if check.verdict == "inconclusive"]
        unknown = [check.measure for check in unsure if check.value is None or check.baseline is None]
        if unknown:
            return f"nothing is known of {', '.join(unknown)}: save the baseline again, or drop the check"
        return f"more blocks may tell of {', '.join(check.measure for check in unsure)}: play a larger baseline"
    return ""
