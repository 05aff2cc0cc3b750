"""Gates, from what is asked for to their verdicts; and the baseline that one is saved from.

Owns what a gate takes from its baseline file and what from its own words, the refusal of what cannot be played, and the
reading of the verdict from what is kept once all is played, so that the same command gives it again, at no cost. A
baseline that no candidate may be held against is no refusal: such a gate is invalid, with its problems named.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

from pydantic import BaseModel

from weigh.games.game import AnyGame, ConfigInvalid
from weigh.games.registry import GAMES, read_config
from weigh.harness.errors import INTERRUPTED, INVALID, Refused
from weigh.harness.gate.arm import TIMEOUT, Arm, Setting, arm_of, opponents_of, require_plays, shown_path
from weigh.harness.gate.baseline import Baseline, BlockScores, Conditions, faults, load_baseline, made, run_against
from weigh.harness.gate.measures import (
    Check,
    Measures,
    freedom_of,
    known_measures,
    measures_of,
    played_by_fallback,
    rates_of,
    reliability_of,
    run_checks,
)
from weigh.harness.gate.play import ArmRun, FixedBlocks, Note, Scores, Taken, arm_run, play, require_playable, taken_by
from weigh.harness.gate.sequential import Design, GateState, evaluate, largest_loss
from weigh.harness.gate.spec import BuildSpec, GateSpec, blocks_of, unknown_measure
from weigh.harness.gate.verdict import (
    BuildVerdict,
    GateIdentity,
    GateVerdict,
    corrected,
    earlier_verdicts,
    impossible,
    invalid,
    judged,
    settings_judged,
)
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.opening import versions
from weigh.harness.stats.paired import block_difference, minimum_detectable
from weigh.harness.words import interval, score, shown
from weigh.policies.contract import canonical
from weigh.policies.scripted.registry import UnknownPolicy


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate, ready to be played; or invalid, for its problems."""

    identity: GateIdentity
    design: Design | None = None
    """None where `problems` came before they could be read."""
    problems: tuple[str, ...] = ()
    """Why it is invalid before anything is played."""
    checks: tuple[Check, ...] = ()
    candidate: Arm | None = None
    baseline: Arm | None = None
    """None where the baseline is a file."""
    saved: Baseline | None = None

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Those to be played."""
        return () if self.problems else tuple(arm for arm in (self.candidate, self.baseline) if arm is not None)

    @property
    def unjudged(self) -> GateVerdict:
        void = 0 if self.saved is None else len(self.saved.blocks) - len(self.saved.whole)
        return GateVerdict(self.identity, self.design, baseline_void=void)


def gate_of(spec: GateSpec, build: BuildSpec) -> Gate:
    """The gate, ready to be played or invalid. Raises Refused, ConfigInvalid and the like for what is asked wrongly."""
    saved = None if spec.played_baseline is not None else load_baseline(build.folder / spec.baseline)
    identity = _identity(spec, build, saved)
    before = None if saved is None else saved.conditions
    name = spec.game.name if spec.game is not None else identity.game
    problems = []
    if before is not None and before.game != name:
        problems.append(f"game: {before.game} in the baseline, {name} now")
    if name not in GAMES:
        problems.append(f"game: this version of weigh has no game {name}")
    if problems:
        return Gate(identity, problems=tuple(problems), saved=saved)
    try:
        setting = _setting(GAMES[name], spec, build, before)
    except (ConfigInvalid, UnknownPolicy) as error:
        if spec.set is not None or spec.opponents is not None or before is None:
            raise
        return Gate(identity, problems=(str(error),), saved=saved)
    for who in (spec.candidate, *([spec.played_baseline] if spec.played_baseline else [])):
        require_plays(who, name)
    for check in spec.checks:
        if check.measure not in known_measures(name):
            raise Refused(
                f"{spec.name}: checks.{check.measure}: {unknown_measure(check.measure, name)}", kind="unknown-measure"
            )
    problems = [] if saved is None else _unfit(spec, build, saved, setting)
    identity = replace(identity, game=name, opponents=setting.opponents, seats=setting.seats, seed=setting.seed)
    design = _design(spec, build, saved, setting)
    if problems:
        return Gate(identity, design, tuple(problems), spec.checks, saved=saved)
    home, wanted = build.home(spec.name), design.max_blocks if saved is None else len(saved.blocks)
    blocks = setting.blocks("candidate", wanted)
    if saved is not None:
        blocks = tuple(block for block, kept in zip(blocks, saved.blocks, strict=True) if kept.whole)
    candidate = arm_of("candidate", spec.candidate, setting, blocks, home, build.settings)
    baseline = None
    if spec.played_baseline is not None:
        theirs = setting.blocks("baseline", wanted)
        baseline = arm_of("baseline", spec.played_baseline, setting, theirs, home, build.settings)
        identity = replace(identity, baseline_policy=baseline.identity)
    identity = replace(identity, candidate_run=shown_path(candidate.folder), candidate_policy=candidate.identity)
    return Gate(identity, design, (), spec.checks, candidate, baseline, saved)


def _identity(spec: GateSpec, build: BuildSpec, saved: Baseline | None) -> GateIdentity:
    """As far as the baseline file says it."""
    played, before = spec.played_baseline, None if saved is None else saved.conditions
    return GateIdentity(
        name=spec.name,
        game=before.game if before is not None else "",
        candidate=spec.candidate.name,
        baseline=played.name if played is not None else saved.policy.name if saved is not None else "",
        baseline_file=None if played is not None else spec.baseline,
        opponents=tuple(player.name for player in before.field) if before is not None else (),
        seats=0,
        seed=None,
        folder=shown_path(build.home(spec.name)),
        baseline_policy=None if saved is None else saved.policy,
        baseline_digest=None if saved is None else saved.digest,
    )


def _setting(game: AnyGame, spec: GateSpec, build: BuildSpec, before: Conditions | None) -> Setting:
    """What the gate's own words say; then what its baseline file says; then the defaults."""
    head, limits = build.head, build.limits
    config: BaseModel = read_config(game, spec.set if spec.set is not None else before.config if before else {})
    names = spec.opponents if spec.opponents is not None else [one.name for one in before.field] if before else None
    return Setting(
        game=game,
        config=config,
        opponents=opponents_of(game, names),
        seed=head.seed if head.seed is not None else before.seed if before is not None else 0,
        timeout=limits.decision_timeout or (before.decision_timeout if before is not None else TIMEOUT),
        deadline=limits.episode_deadline or (before.episode_deadline if before is not None else None),
    )


def _unfit(spec: GateSpec, build: BuildSpec, saved: Baseline, setting: Setting) -> list[str]:
    """Why no candidate may be held against this baseline file, a line each."""
    problems = faults(saved, setting.conditions(), setting.seats)
    why = played_by_fallback(rates_of(saved.measures), build.head.max_fallback_rate)
    if problems or why is not None:
        return problems or [f"the baseline measures the fallback: {why}"]
    keys = [block.key for block in setting.blocks("candidate", len(saved.blocks))]
    if [block.key for block in saved.blocks] != keys:
        return ["blocks: are not those that its seed and opponents make"]
    against = run_against(saved, build.results)
    if against is not None:
        run = shown_path(against)
        return [f"blocks: its scores are not those of {run}; `weigh verify {spec.baseline} --run {run}` names them"]
    return []


def _design(spec: GateSpec, build: BuildSpec, saved: Baseline | None, setting: Setting) -> Design:
    most = blocks_of(setting.seats) if saved is None else len(saved.whole)
    limit = (spec.max_blocks or most) if saved is None else min(most, spec.max_blocks or most)
    try:
        return Design(
            spec.margin,
            limit,
            alpha=build.head.alpha,
            beta=build.beta,
            max_void_rate=build.head.max_void_rate,
            max_fallback_rate=build.head.max_fallback_rate,
            lowest=float(setting.game.lowest(setting.config)),
        )
    except ValueError as error:
        raise Refused(f"{spec.name}: {error}", kind="design") from error


@dataclass(frozen=True, slots=True)
class OpenGate:
    """One gate with its arms open. Implements `harness.gate.play.Contest`."""

    gate: Gate
    design: Design
    candidate: ArmRun
    baseline: ArmRun | None

    @property
    def arms(self) -> tuple[ArmRun, ...]:
        return (self.candidate,) if self.baseline is None else (self.candidate, self.baseline)

    def state(self) -> GateState:
        """By the blocks that are settled in both arms, from the first on without a gap."""
        differences: list[float | None] = []
        for number in range(len(self.candidate.arm.blocks[: self.design.max_blocks])):
            mine, theirs = self.candidate.scores(number), self._baseline_scores(number)
            if mine is None or theirs is None:
                break
            differences.append(block_difference(mine, theirs))
        before = self.baseline_means(len(differences))
        return evaluate(differences, before if self.baseline is None else before[: self.design.min_blocks], self.design)

    def baseline_means(self, count: int) -> list[float]:
        """The baseline's mean score in its whole blocks: all of a file's, or those among the first `count` played."""
        if self.gate.saved is not None:
            return list(self.gate.saved.means)
        found = [self._baseline_scores(number) for number in range(count)]
        whole = [[score for score in scores if score is not None] for scores in found if scores and None not in scores]
        return [sum(scores) / len(scores) for scores in whole]

    def _baseline_scores(self, number: int) -> Scores | None:
        if self.gate.saved is not None:
            return self.gate.saved.whole[number].scores
        return None if self.baseline is None else self.baseline.scores(number)

    def due(self) -> slice | None:
        state = self.state()
        return slice(state.judged, state.judged + state.more) if state.more else None

    def begun(self) -> Sequence[str]:
        name, state = shown(self.gate.identity.name), self.state()
        why = impossible(state, self.gate.identity.baseline_file)
        lines = [*([f"cannot pass: {why}"] if why is not None else []), *self.warnings()]
        return [f"{name}: {line}" for line in lines]

    def warnings(self) -> tuple[str, ...]:
        """What the settings probably do not mean."""
        loss = largest_loss(
            self.baseline_means(len(self.candidate.arm.blocks[: self.design.max_blocks])), self.design.lowest
        )
        if loss is None or self.design.margin < loss:
            return ()
        return (
            f"the margin {self.design.margin:g} is beyond any possible loss: the baseline's mean leaves {loss:.3g} "
            "to lose, so whatever plays passes",
        )

    def progress(self) -> str:
        state, name = self.state(), shown(self.gate.identity.name)
        found = state.analysis
        if found is None or found.mean is None:
            return f"{name}: no block has a difference yet"
        more = f"; {state.more} more blocks" if state.more else ""
        return f"{name}: {found.n} blocks, difference {score(found.mean)} {interval((found.lower, found.upper))}{more}"

    def before(self, count: int, relative: Sequence[str]) -> Measures:
        """The baseline's measures, with errors of those that a change is checked of."""
        if self.baseline is not None:
            return measures_of(self.baseline.store, self.baseline.arm.blocks[:count], "baseline", relative)
        saved = self.gate.saved
        if saved is None:
            return Measures()
        return Measures(saved.measures, saved.errors, freedom_of(len(saved.blocks)), len(saved.blocks))

    def verdict(self, brake: Brake) -> GateVerdict:
        """The verdict by what is kept, and those the same candidate got under other settings. Says in the runs how
        they ended, and keeps the verdict there."""
        state, checks = self.state(), self.gate.checks
        blocks, store = self.candidate.arm.blocks[: state.judged], self.candidate.store
        found = replace(
            self.gate.unjudged,
            state=state,
            candidate_rates=rates_of(reliability_of(store, blocks, "candidate")),
            baseline_rates=rates_of(self.before(state.judged, ()).values),
            taken=sum((run.taken(run.arm.blocks[: state.judged]) for run in self.arms), Taken()),
            all_invocations=sum((run.taken() for run in self.arms), Taken()),
            warnings=self.warnings(),
        )
        if state.more:
            stopped = "interrupted" if brake.pulled == "interrupted" else f"stopped: {brake.reason}"
            found = invalid(found, [brake.reason], "the same command goes on from here")
        else:
            if checks and not state.too_void:
                relative = [each.measure for each in checks if (each.max_increase, each.max_decrease) != (None, None)]
                mine = measures_of(store, blocks, "candidate", relative)
                found = replace(found, checks=run_checks(checks, mine, self.before(state.judged, relative)))
            found = judged(found)
            stopped = f"stopped: {found.reason}" if found.verdict == "invalid" else "finished"
        for run in self.arms:
            run.end(stopped)
        why = impossible(state, self.gate.identity.baseline_file)
        if why is not None and found.verdict != "pass":
            found = replace(found, warnings=(f"could not have passed: {why}", *found.warnings))
        return found

    def remembered(self, verdict: GateVerdict) -> GateVerdict:
        """The verdict with those the same candidate got under other settings; and it is kept beside them."""
        store, now = self.candidate.store, settings_judged(verdict, self.gate.checks)
        before = earlier_verdicts(store.verdicts(), now)
        if now is not None:
            store.keep_verdict(canonical(now.to_json()))
        return replace(verdict, earlier=before)


def run_gates(build: BuildSpec, note: Note) -> BuildVerdict:
    """Play every gate that is valid to its end, one after the other; the verdict of the build.

    Raises Refused where something is asked wrongly, a key is missing or a price unknown, before anything is played.
    """
    gates = [gate_of(spec, build) for spec in build.gates]
    require_playable([arm for gate in gates for arm in gate.arms], build.limits.ceilings)
    with ExitStack() as stack:
        contests = [_opened(gate, stack) for gate in gates]
        playing = [contest for contest in contests if contest is not None]
        before = taken_by(playing).usage
        brake = play(playing, build.limits.ceilings, note)
        verdicts = [
            invalid(gate.unjudged, gate.problems, "put it right, or save the baseline again with --save-baseline")
            if contest is None
            else contest.verdict(brake)
            for gate, contest in zip(gates, contests, strict=True)
        ]
        left = any(verdict.verdict == "invalid" and verdict.reason == brake.reason for verdict in verdicts)
        told = tuple(
            verdict if contest is None else contest.remembered(verdict)
            for verdict, contest in zip(corrected(verdicts, build.head.beta), contests, strict=True)
        )
        after = taken_by(playing).usage
    unknown = after.unknown_cost_calls > before.unknown_cost_calls
    spent: dict[str, Any] = {
        "calls": after.calls - before.calls,
        "tokens": after.tokens - before.tokens,
        "cost_usd": None if unknown else after.cost_known_usd - before.cost_known_usd,
    }
    return BuildVerdict(build.name, told, brake.pulled == "interrupted" and left, spent)


def _opened(gate: Gate, stack: ExitStack) -> OpenGate | None:
    if gate.problems or gate.candidate is None or gate.design is None:
        return None
    candidate = stack.enter_context(arm_run(gate.candidate))
    baseline = None if gate.baseline is None else stack.enter_context(arm_run(gate.baseline))
    return OpenGate(gate, gate.design, candidate, baseline)


def played_baseline(
    arm: Arm, ceilings: Ceilings, max_void_rate: float, max_fallback_rate: float, note: Note
) -> tuple[Baseline, Taken]:
    """Play a baseline's blocks; the baseline, and what it took.

    Raises Refused, with its exit code, where it comes to no end, too much is void, or the fallback played for it.
    """
    require_playable([arm], ceilings)
    with arm_run(arm) as run:
        brake = play([FixedBlocks((run,))], ceilings, note)
        scores = [run.scores(number) for number in range(len(arm.blocks))]
        blocks = [
            BlockScores(key=block.key, scores=each) for block, each in zip(arm.blocks, scores, strict=True) if each
        ]
        if len(blocks) < len(scores):
            interrupted = brake.pulled == "interrupted"
            run.store.set_status("interrupted" if interrupted else f"stopped: {brake.reason}")
            code = INTERRUPTED if interrupted else INVALID
            raise Refused(f"no baseline is saved: {brake.reason}; the same command goes on", code=code, kind="stopped")
        void = sum(not block.whole for block in blocks)
        if void > max_void_rate * len(blocks) or void == len(blocks):
            run.store.set_status(f"stopped: {void} blocks are void")
            raise Refused(
                f"no baseline is saved: {void} of {len(blocks)} blocks are void; the same command plays them again",
                code=INVALID,
                kind="void",
            )
        run.end("finished")
        measures = measures_of(run.store, arm.blocks, arm.role)
        why = played_by_fallback(rates_of(measures.values), max_fallback_rate)
        if why is not None:
            raise Refused(
                f"no baseline is saved, for it would measure the fallback: {why}; allow more with --max-fallback-rate, "
                "or fix the policy",
                code=INVALID,
                kind="fallback",
            )
        conditions = arm.setting.conditions()
        return made(conditions, arm.identity, versions(), blocks, measures.values, measures.errors), run.taken()


def smallest_margin(baseline: Baseline) -> float | None:
    """The least loss that so many blocks would find with 80 % power, if pairing took no noise away."""
    means = baseline.means
    return minimum_detectable(len(means), 2**0.5 * stdev(means)) if len(means) > 1 else None
