"""The verdict of a gate, and of a build of several: one value that every output is made of.

Owns how score and checks combine, what several gates on one build may say, which bound is missing and what would settle
it, the JSON form and the exit code. `docs/reference/output.md` describes the JSON form key by key. Knows no files or
layouts.

Two errors, and only one of them grows with the number of gates.
- A false pass: the build is green only when every gate passes. If any candidate is worse by its margin, its own gate
  passes with a chance of at most alpha, so the build is green with at most that: no correction, whatever the number
  (the intersection-union test: Berger, Technometrics 24, 1982).
- A false regression: one gate that calls a regression turns the build red. With k gates and nothing worse, that happens
  in up to k * beta of the builds. So regressions must survive Holm's step-down at beta: the chance that any candidate
  as good as its baseline is called a regression is then at most beta, however the gates depend on each other.

The p-values are sequential ones, valid at the analysis where a gate stopped, so they may be corrected after the fact. A
gate that stopped at beta alone may not survive; one that ran at beta / k does by itself, and so a gate file orders it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from weigh.harness.errors import FINE, INCONCLUSIVE, INTERRUPTED, INVALID, WRONG
from weigh.harness.gate.baseline import PolicyIdentity, differing
from weigh.harness.gate.measures import CHECK, Check, CheckResult, Rates, played_by_fallback
from weigh.harness.gate.play import Taken
from weigh.harness.gate.sequential import Analysis, Design, GateState, further
from weigh.harness.stats.clustered import at_most
from weigh.harness.stats.multiple_tests import holm
from weigh.harness.stats.power import LEVEL
from weigh.harness.words import interval
from weigh.policies.contract import canonical

Outcome: TypeAlias = Literal["pass", "regression", "inconclusive", "invalid"]

SCHEMA: Final = 2

EXIT_CODES: Final[Mapping[Outcome, int]] = {
    "pass": FINE,
    "regression": WRONG,
    "inconclusive": INCONCLUSIVE,
    "invalid": INVALID,
}

WORST: Final[tuple[Outcome, ...]] = ("regression", "invalid", "inconclusive", "pass")
"""What one of several says of all: a regression is known, whatever else could not be judged."""

EARLIER: Final = ("margin", "alpha", "beta", "max_blocks", "max_void_rate", "max_fallback_rate", "baseline", "checks")
"""What a verdict depends on in addition to the candidate's own episodes. `baseline` is a digest: of a baseline file, or
of the policy that was played."""


@dataclass(frozen=True, slots=True)
class GateIdentity:
    """Which gate it is."""

    name: str
    game: str
    candidate: str
    baseline: str
    baseline_file: str | None
    """As it was named; None where the baseline is played now."""
    opponents: tuple[str, ...]
    seats: int
    seed: int | None
    folder: str
    """Where the runs of its arms lie."""
    candidate_run: str | None = None
    """The folder of the candidate's own."""
    candidate_policy: PolicyIdentity | None = None
    """None where the gate was invalid before it could be read."""
    baseline_policy: PolicyIdentity | None = None
    baseline_digest: str | None = None
    """Of the baseline file."""

    @property
    def estimand(self) -> str:
        return (
            f"mean score at {self.game} of {self.candidate} less that of {self.baseline}, in one seat against "
            f"{', '.join(self.opponents)}, over the same deals, seeds and seats"
        )

    @property
    def differs(self) -> tuple[str, ...]:
        """In what the candidate differs from the baseline; none where one of them is not known."""
        if self.candidate_policy is None or self.baseline_policy is None:
            return ()
        return differing(self.candidate_policy, self.baseline_policy)

    def to_json(self) -> dict[str, Any]:
        policies = {
            name: None if (policy := getattr(self, name)) is None else policy.model_dump(mode="json")
            for name in ("candidate_policy", "baseline_policy")
        }
        names = [name for name in self.__dataclass_fields__ if name not in policies]
        plain = {name: getattr(self, name) for name in names} | {"opponents": list(self.opponents)}
        return {**plain, **policies, "differs": list(self.differs), "estimand": self.estimand}


@dataclass(frozen=True, slots=True)
class EarlierVerdict:
    """A verdict that the same candidate got. A margin that is changed until a gate is green must be seen."""

    settings: Mapping[str, Any]
    """By the names in EARLIER."""
    verdict: str
    blocks: int

    def __str__(self) -> str:
        """`margin 0.001 INCONCLUSIVE at 30 blocks`."""
        return f"margin {self.settings.get('margin')} {self.verdict.upper()} at {self.blocks} blocks"

    def to_json(self) -> dict[str, Any]:
        return {**{name: self.settings.get(name) for name in EARLIER}, "verdict": self.verdict, "blocks": self.blocks}


def earlier_verdicts(kept: Iterable[str], now: EarlierVerdict | None) -> tuple[EarlierVerdict, ...]:
    """Those that a run keeps as JSON, under other settings than now, the oldest first. What is none is passed over: the
    record tells, it decides nothing."""
    found = []
    for body in kept:
        try:
            document = json.loads(body)
            settings = {name: document[name] for name in EARLIER}
            found.append(EarlierVerdict(settings, str(document["verdict"]), int(document["blocks"])))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    present = None if now is None else canonical(now.settings)
    return tuple(verdict for verdict in found if canonical(verdict.settings) != present)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What one gate came to; one that is not judged yet is invalid. A number that does not exist is None."""

    identity: GateIdentity
    design: Design | None = None
    """None where they could not be read."""
    state: GateState | None = None
    """None where nothing was played."""
    checks: tuple[CheckResult, ...] = ()
    """The rule of `played_by_fallback` among them, where it failed."""
    candidate_rates: Rates = field(default_factory=Rates)
    baseline_rates: Rates = field(default_factory=Rates)
    taken: Taken = field(default_factory=Taken)
    """On the blocks that were judged, in all arms that are played."""
    all_invocations: Taken = field(default_factory=Taken)
    """What the runs of these arms took in all, blocks beyond the verdict included."""
    baseline_void: int = 0
    """Blocks of a baseline file that are void and were not played."""
    warnings: tuple[str, ...] = ()
    """What is allowed and probably not meant, a line each."""
    verdict: Outcome = "invalid"
    """Of score and checks together."""
    score: Outcome = "invalid"
    """Of the score alone."""
    reason: str = ""
    """Why, in a sentence or two."""
    next: str = ""
    """What to do now; empty when there is nothing to do."""
    problems: tuple[str, ...] = ()
    """What makes it invalid, a line each."""
    p_regression_holm: float | None = None
    """Corrected for all gates of the build."""
    earlier: tuple[EarlierVerdict, ...] = ()
    """The same candidate under other settings, the oldest first."""

    @property
    def analysis(self) -> Analysis | None:
        return None if self.state is None else self.state.analysis

    @property
    def saved_blocks(self) -> int | None:
        """Against the fixed test, of a score that was decided; negative when it took more."""
        decided = self.analysis is not None and self.score in ("pass", "regression")
        return self.analysis.saved if self.analysis is not None and decided else None

    @property
    def saved_calls(self) -> int | None:
        """The same in calls, at what the judged blocks took."""
        if self.saved_blocks is None or self.state is None or not self.state.judged:
            return None
        return round(self.saved_blocks * self.taken.usage.calls / self.state.judged)

    def to_json(self) -> dict[str, Any]:
        design, state, analysis = self.design, self.state, self.analysis
        promised = ("margin", "alpha", "beta", "max_void_rate", "max_fallback_rate", "lowest", "max_blocks")
        found = ("mean", "sd", "lower", "upper", "detectable", "p_pass", "p_regression", "by")
        played = None if state is None else state.design
        return {
            **self.identity.to_json(),
            **{name: getattr(self, name) for name in ("verdict", "score", "reason", "next")},
            "problems": list(self.problems),
            **{name: None if design is None else getattr(design, name) for name in promised},
            "blocks": 0 if analysis is None else analysis.n,
            "void_blocks": 0 if state is None else state.missing,
            **{name: None if analysis is None else getattr(analysis, name) for name in found},
            "fixed_blocks": None if analysis is None else analysis.fixed_n,
            "fewest_to_pass": None if played is None else played.fewest_to_pass,
            "difference_range": None if played is None else [played.least, played.greatest],
            "p_regression_holm": self.p_regression_holm,
            "baseline_void_blocks": self.baseline_void,
            "fallback_rate": self.candidate_rates.fallback,
            "retry_rate": self.candidate_rates.retry,
            "baseline_fallback_rate": self.baseline_rates.fallback,
            "baseline_retry_rate": self.baseline_rates.retry,
            **self.taken.to_json(),
            "all_invocations": self.all_invocations.to_json(),
            "saved_blocks": self.saved_blocks,
            "saved_calls": self.saved_calls,
            "checks": [asdict(check) for check in self.checks],
            "warnings": list(self.warnings),
            "earlier_verdicts": [verdict.to_json() for verdict in self.earlier],
        }


@dataclass(frozen=True, slots=True)
class BuildVerdict:
    """What a build may go by."""

    name: str
    gates: tuple[GateVerdict, ...]
    interrupted: bool = False
    invocation: Mapping[str, Any] | None = None
    """`calls`, `tokens` and `cost_usd` of this very command: 0 where a verdict is only told again."""

    @property
    def verdict(self) -> Outcome:
        return worst([gate.verdict for gate in self.gates])

    @property
    def exit_code(self) -> int:
        return INTERRUPTED if self.interrupted else EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        names = ("name", "verdict", "exit_code", "interrupted")
        return {
            "schema_version": SCHEMA,
            **{name: getattr(self, name) for name in names},
            "invocation": dict(self.invocation or {"calls": 0, "tokens": 0, "cost_usd": 0.0}),
            "gates": [gate.to_json() for gate in self.gates],
        }


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """The first of WORST among them. Raises ValueError for none: nothing checked is no pass."""
    if not outcomes:
        raise ValueError("a build without a gate has no verdict")
    return min(outcomes, key=WORST.index)


def invalid(gate: GateVerdict, problems: Sequence[str], todo: str) -> GateVerdict:
    """A gate that cannot be judged."""
    return replace(gate, verdict="invalid", score="invalid", reason=problems[0], next=todo, problems=tuple(problems))


def judged(gate: GateVerdict) -> GateVerdict:
    """A gate that was played to its end. Raises ValueError for one that goes on, or was not played."""
    state, analysis = gate.state, gate.analysis
    if state is None:
        raise ValueError("the gate was not played")
    if state.more or (analysis is not None and analysis.verdict == "continue" and not state.too_void):
        raise ValueError("the gate is not over")
    most, (mine, theirs) = state.design.max_fallback_rate, (gate.candidate_rates, gate.baseline_rates)
    why = played_by_fallback(mine, most)
    if why is not None:
        failed = CheckResult(CHECK, "regression", mine.fallback, theirs.fallback, None, most, why, blocks=state.judged)
        gate = replace(gate, checks=(failed, *gate.checks))
    if state.too_void:
        rate = f"{state.missing} of {state.judged} blocks are void, more than {state.design.max_void_rate:.0%} allow"
        return invalid(gate, [rate], "the same command plays the void episodes again")
    if analysis is None:
        return invalid(gate, ["fewer than 2 blocks have a difference"], "allow more blocks")
    why = played_by_fallback(theirs, most)
    if why is not None:
        todo = "take a baseline that plays its own moves; or allow more with max_fallback_rate"
        return invalid(gate, [f"the baseline measures the fallback: {why}"], todo)
    score: Outcome = analysis.verdict if analysis.verdict in ("pass", "regression") else "inconclusive"
    verdict = worst([score, *(check.verdict for check in gate.checks)])
    gate = replace(gate, score=score, verdict=verdict, p_regression_holm=analysis.p_regression)
    return replace(gate, reason=_reason(gate, analysis, state), next=_next(gate, analysis, state))


def settings_judged(gate: GateVerdict, checks: Sequence[Check]) -> EarlierVerdict | None:
    """What is to be kept of a verdict; None where nothing was judged."""
    state, identity = gate.state, gate.identity
    if state is None or state.more or state.too_void or state.analysis is None:
        return None
    played = None if identity.baseline_policy is None else identity.baseline_policy.digest
    names = ("margin", "alpha", "beta", "max_blocks", "max_void_rate", "max_fallback_rate")
    known = {
        **{name: getattr(state.design, name) for name in names},
        "baseline": identity.baseline_digest or played,
        "checks": [asdict(check) for check in checks],
    }
    return EarlierVerdict(known, gate.verdict, state.analysis.n)


def corrected(gates: Sequence[GateVerdict], beta: float) -> tuple[GateVerdict, ...]:
    """The gates with Holm's correction over those whose score was judged. `beta` is the chance of any false regression
    over all of them.

    A regression that does not survive it is inconclusive, never a pass. Its checks stay as they are.
    """
    judgeable = {n: gate.analysis for n, gate in enumerate(gates) if gate.score != "invalid"}
    p_values = {n: analysis.p_regression for n, analysis in judgeable.items() if analysis is not None}
    after = list(gates)
    for n, p in zip(p_values, holm(list(p_values.values())), strict=True):
        gate = replace(gates[n], p_regression_holm=p)
        if gate.score == "regression" and not at_most(p, beta):
            verdict = worst(["inconclusive", *(check.verdict for check in gate.checks)])
            why = (
                f"A regression by itself, which does not survive the correction for {len(p_values)} gates (p {p:.3f})."
            )
            todo = gate.next if verdict == "regression" else "raise max_blocks for this gate, or its margin"
            gate = replace(gate, score="inconclusive", verdict=verdict, reason=why, next=todo)
        after[n] = gate
    return tuple(after)


def _reason(gate: GateVerdict, analysis: Analysis, state: GateState) -> str:
    words = {
        "pass": f"The lower bound is above the margin: a loss of {state.design.margin:g} is excluded.",
        "regression": "The upper bound is below 0: the candidate scores less.",
        "inconclusive": " ".join(_missing(analysis, state)),
    }
    failed = [f"{check.measure}: {check.reason}." for check in gate.checks if check.verdict != "pass"]
    if gate.verdict == gate.score == "regression":
        return " ".join([words[gate.score], *failed])
    return " ".join([*failed, words[gate.score]])


def _missing(analysis: Analysis, state: GateState) -> Iterable[str]:
    """Which bound is missing, and why `weigh compare` may say more of the same blocks."""
    design, mean = state.design, analysis.mean or 0.0
    loss = mean < -design.margin / 2
    if loss:
        yield "The upper bound is above 0: a loss is likely, not proven."
    else:
        yield f"The lower bound is below the margin: a loss of {design.margin:g} is not excluded."
    found = _t_interval(analysis)
    if found is not None and (found[1] < 0 if loss else found[0] > -design.margin):
        says, rare = ("call it one", design.greatest) if loss else ("exclude it", -design.least)
        yield (
            f"The t interval of `weigh compare`, {interval(found)}, would {says}; the gate also allows for rare "
            f"{'gains' if loss else 'losses'} of up to {rare:.3g} in a block, which {analysis.n} blocks do not exclude."
        )


def _t_interval(analysis: Analysis) -> tuple[float, float] | None:
    from scipy import stats

    if analysis.mean is None or not analysis.sd:
        return None
    half = float(stats.t.isf(LEVEL / 2, analysis.n - 1)) * analysis.sd / analysis.n**0.5
    return analysis.mean - half, analysis.mean + half


def _next(gate: GateVerdict, analysis: Analysis, state: GateState) -> str:
    if gate.verdict == "regression":
        return f"look at what it played: weigh view {gate.identity.candidate_run or gate.identity.folder}"
    if gate.score == "inconclusive":
        more = further(analysis, state.design)
        about = "more blocks" if more is None else f"about {more} more blocks"
        count = state.judged + (more or 0)
        if gate.identity.baseline_file is not None:
            return f"{about}: save a baseline of {count} blocks, run this again"
        return f"{about}: raise --max-blocks to {count}"
    if gate.verdict == "inconclusive":
        unsure = [check for check in gate.checks if check.verdict == "inconclusive"]
        unknown = [check.measure for check in unsure if check.value is None or check.baseline is None]
        if unknown:
            return f"nothing is known of {', '.join(unknown)}: save the baseline again, or drop the check"
        return f"more blocks may tell of {', '.join(check.measure for check in unsure)}: play a larger baseline"
    return ""


def impossible(state: GateState, baseline_file: str | None) -> str | None:
    """Why no unchanged policy can pass, and what would let it; None where it can."""
    fewest, most = state.design.fewest_to_pass, state.design.max_blocks
    if fewest <= most:
        return None
    remedy = f"Raise --max-blocks to {fewest}." if baseline_file is None else f"Save a baseline of {fewest} blocks."
    return f"an unchanged policy needs {fewest} blocks, {most} are allowed. {remedy}"
