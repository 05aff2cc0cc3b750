"""From the words of `weigh gate`, or a gate file, to gates that are ready to be played.

Owns what a gate takes from its baseline file and what from its own words, and the refusal of what cannot be played. A
baseline that no candidate may be held against is no refusal: such a gate is invalid, with its problems named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from weigh.games.game import AnyGame, ConfigInvalid
from weigh.games.registry import GAMES, read_config
from weigh.harness.config.blocks import Block, Role, planned
from weigh.harness.config.config import bearing
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import BaselineInvalid, EndpointInvalid, Refused
from weigh.harness.gate.arms import ArmOrder, Conduction
from weigh.harness.gate.baseline import LARGEST, Baseline, Conditions, FieldPlayer, faults, read_baseline
from weigh.harness.gate.checks import Check
from weigh.harness.gate.conduct import known_measures, played_by_fallback, rates_of
from weigh.harness.gate.file import unknown_measure
from weigh.harness.gate.rules import rules_digest
from weigh.harness.gate.saved import run_against
from weigh.harness.gate.standing import Terms
from weigh.harness.gate.subject import Contestant, Subject
from weigh.harness.providers.endpoints.endpoints import Endpoint, EndpointSettings, endpoint_for
from weigh.harness.run.runner import Division
from weigh.policies.layout import LAYOUT
from weigh.policies.scripted.registry import UnknownPolicy, fallback_of, scripted, yardsticks

if TYPE_CHECKING:
    from pydantic import BaseModel

    from weigh.harness.config.entrants import EntrantSpec
    from weigh.harness.gate.file import GateWanted
    from weigh.policies.contract import Policy

PAIRS = 200
"""Pairs of a gate or a new baseline, unless said otherwise."""
TIMEOUT = 60.0
"""Seconds for one attempt at one decision, unless a baseline file or the person says otherwise."""


@dataclass(frozen=True, slots=True)
class GateOrder:
    """One gate, ready."""

    subject: Subject
    terms: Terms | None
    """None where `problems` came before they could be read."""
    problems: tuple[str, ...]
    """Why it is invalid before anything is played."""
    checks: tuple[Check, ...]
    candidate: ArmOrder | None
    baseline: ArmOrder | None
    """None where the baseline is a file."""
    saved: Baseline | None

    @property
    def arms(self) -> tuple[ArmOrder, ...]:
        """Those to be played."""
        return () if self.problems else tuple(arm for arm in (self.candidate, self.baseline) if arm is not None)


@dataclass(frozen=True, slots=True)
class Common:
    """What all gates of a command share."""

    folder: Path
    """Where prompt and baseline files are looked for."""
    results: Path
    """Where the folders of gates lie."""
    prefix: str
    """What their names begin with."""
    settings: Mapping[str, EndpointSettings]
    conduction: Conduction
    seed: int | None
    timeout: float | None
    deadline: float | None
    alpha: float
    beta: float
    """Of each gate."""
    max_void_rate: float
    max_fallback_rate: float = MAX_FALLBACK_RATE

    @property
    def saves(self) -> Path:
        """Where the folders of baselines that were saved are looked for."""
        return self.results if self.prefix else self.results.parent

    def home(self, gate: str) -> Path:
        """The folder of one gate."""
        return self.results / f"{self.prefix}{gate}"


def order_of(wanted: GateWanted, common: Common) -> GateOrder:
    """The gate, ready to be played or invalid. Raises Refused, ConfigInvalid and the like for what is asked wrongly."""
    saved = None if wanted.played_baseline is not None else load_baseline(common.folder / wanted.baseline)
    subject = _subject(wanted, common, saved)
    problems: list[str] = []
    before = None if saved is None else saved.conditions
    name = wanted.game.name if wanted.game is not None else before.game if before is not None else ""
    if before is not None and before.game != name:
        problems.append(f"game: {before.game} in the baseline, {name} now")
    if name not in GAMES:
        problems.append(f"game: this version of weigh has no game {name}")
    if problems:
        return GateOrder(subject, None, tuple(problems), (), None, None, saved)
    game = GAMES[name]
    try:
        config, field = _played(game, wanted, before)
    except (ConfigInvalid, UnknownPolicy) as error:
        if wanted.settings is not None or wanted.field is not None or before is None:
            raise
        return GateOrder(subject, None, (str(error),), (), None, None, saved)
    for spec in (wanted.candidate, *([wanted.played_baseline] if wanted.played_baseline else [])):
        if not spec.plays(name):
            raise Refused(f"{spec.name} does not play {name}; `weigh policies` lists what does")
    for check in wanted.checks:
        if check.measure not in known_measures(name):
            raise Refused(f"{wanted.name}: checks.{check.measure}: {unknown_measure(check.measure, name)}")
    seed = common.seed if common.seed is not None else before.seed if before is not None else 0
    timeout = common.timeout or (before.decision_timeout if before is not None else TIMEOUT)
    deadline = common.deadline or (before.episode_deadline if before is not None else None)
    seats = game.seat_count(config)
    if saved is not None:
        problems += faults(saved, conditions(game, config, field, seed, timeout, deadline), seats)
        by_fallback = played_by_fallback(rates_of(saved.measures), common.max_fallback_rate)
        if by_fallback is not None and not problems:
            problems.append(f"the baseline measures the fallback: {by_fallback}")
    blocks = _blocks(wanted, saved, seats)
    if saved is not None and not problems:
        keys = [block.key for block in planned(name, seats, field, "candidate", seed, len(saved.blocks))]
        if [block.key for block in saved.blocks] != keys:
            problems.append("blocks: are not those that its seed and field make")
        elif (against := run_against(saved, common.saves)) is not None:
            problems.append(
                f"blocks: its scores are not those of {shown_path(against)}; `weigh verify {wanted.baseline} --run "
                f"{shown_path(against)}` names them"
            )
    subject = _subject(wanted, common, saved, game=name, field=field, seats=seats, seed=seed)
    terms = _terms(wanted, common, blocks, seats, float(game.lowest(config)))

    def arm(role: Role, spec: EntrantSpec) -> ArmOrder:
        count = len(saved.blocks) if saved is not None else blocks
        laid = planned(name, seats, field, role, seed, count)
        if saved is not None:
            laid = tuple(block for block, kept in zip(laid, saved.blocks, strict=True) if kept.whole)
        return arm_order(role, spec, game, config, field, laid, common, seed, timeout, deadline, wanted.name)

    if problems:
        return GateOrder(subject, terms, tuple(problems), wanted.checks, None, None, saved)
    candidate = arm("candidate", wanted.candidate)
    baseline = arm("baseline", wanted.played_baseline) if wanted.played_baseline is not None else None
    subject = replace(
        subject,
        candidate_run=candidate.shown,
        candidate_policy=contestant(candidate),
        baseline_policy=subject.baseline_policy if baseline is None else contestant(baseline),
    )
    return GateOrder(subject, terms, (), wanted.checks, candidate, baseline, saved)


def arm_order(
    role: Role,
    spec: EntrantSpec,
    game: AnyGame,
    config: BaseModel,
    field: Sequence[str],
    blocks: tuple[Block, ...],
    common: Common,
    seed: int,
    timeout: float,
    deadline: float | None,
    name: str,
) -> ArmOrder:
    """One arm, ready. `name` is the gate's, below whose folder the arm's run lies."""
    names = (*field, *([spec.scripted] if spec.scripted is not None else []))
    from weigh.harness.config.entrants import Renamed, policies_for

    (policy,) = policies_for((spec,), game, config)
    policies: dict[str, Policy] = {role: Renamed(role, policy)}
    policies.update({other: scripted(game.name, other) for other in field})
    return ArmOrder(
        role=role,
        spec=spec,
        division=Division(game, config, policies, fallback_of(game.name)),
        field=tuple(field),
        blocks=blocks,
        seed=seed,
        timeout=timeout,
        deadline=deadline,
        endpoints=endpoints_of((spec,), common.settings),
        home=common.home(name),
        conduction=common.conduction,
        rules=rules_digest(game, config, names),
    )


def contestant(arm: ArmOrder) -> Contestant:
    """Who plays in an arm, by all that tells it from another policy."""
    policy, spec, game = arm.division.policies[arm.role], arm.spec, arm.division.game.name
    file = spec.prompt_for(game) if spec.scripted is None else None
    if file is None or spec.model is None:
        return Contestant(spec.name, policy.digest)
    return Contestant(
        name=spec.name,
        digest=policy.digest,
        model=policy.model,
        prompt=file.sha256,
        style=spec.style_with(file),
        sampling=spec.sampling.to_json(),
        endpoint=str(bearing(arm.endpoints[spec.model])["base_url"]),
    )


def endpoints_of(specs: Sequence[EntrantSpec], settings: Mapping[str, EndpointSettings]) -> dict[str, Endpoint]:
    """Where the models of `specs` are asked. Raises Refused."""
    try:
        return {spec.model: endpoint_for(spec.model, settings) for spec in specs if spec.model is not None}
    except EndpointInvalid as error:
        hint = "" if "base_url" not in str(error) else "; --base-url gives it, or [models] of a gate file"
        raise Refused(f"{error}{hint}") from error


def load_baseline(path: Path) -> Baseline:
    """A baseline file. Raises Refused where it is none."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}; `weigh gate --save-baseline FILE` writes one") from error
    if len(content) > LARGEST:
        raise Refused(f"{path}: larger than {LARGEST // 1_000_000} MB, so no baseline file")
    try:
        return read_baseline(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: not UTF-8 text, so no baseline file") from error
    except BaselineInvalid as error:
        raise Refused(str(error)) from error


def field_of(game: AnyGame, words: Sequence[str] | None) -> tuple[str, ...]:
    """The scripted policies that hold the other seats. Raises UnknownPolicy, and Refused for what is not frozen."""
    names = tuple(words) if words else yardsticks(game.name)
    for name in names:
        if "@" in name or name.endswith(".md"):
            raise Refused(f"field: {name} asks a model; a field must be the same in every run: scripted policies only")
        scripted(game.name, name)
    return names


def conditions(
    game: AnyGame, config: BaseModel, field: Sequence[str], seed: int, timeout: float, deadline: float | None
) -> Conditions:
    """What must be equal in both arms."""
    return Conditions(
        game=game.name,
        config=config.model_dump(mode="json"),
        seed=seed,
        field=tuple(FieldPlayer(name=name, digest=scripted(game.name, name).digest) for name in field),
        rules=rules_digest(game, config, field),
        layout=LAYOUT,
        decision_timeout=timeout,
        episode_deadline=deadline,
    )


def _played(game: AnyGame, wanted: GateWanted, before: Conditions | None) -> tuple[BaseModel, tuple[str, ...]]:
    settings = wanted.settings if wanted.settings is not None else before.config if before is not None else {}
    names = wanted.field if wanted.field is not None else [one.name for one in before.field] if before else None
    return read_config(game, settings), field_of(game, names)


def _blocks(wanted: GateWanted, saved: Baseline | None, seats: int) -> int:
    """The most blocks."""
    if saved is None:
        return (wanted.max_pairs or PAIRS) // seats
    return min(len(saved.whole), (wanted.max_pairs or seats * len(saved.whole)) // seats)


def _terms(wanted: GateWanted, common: Common, blocks: int, seats: int, lowest: float) -> Terms:
    try:
        return Terms(
            wanted.margin,
            blocks,
            common.alpha,
            common.beta,
            max_void_rate=common.max_void_rate,
            max_fallback_rate=common.max_fallback_rate,
            lowest=lowest,
        )
    except ValueError as error:
        raise Refused(f"{wanted.name}: {error} (a block is {seats} pairs)") from error


def _subject(
    wanted: GateWanted,
    common: Common,
    saved: Baseline | None,
    game: str = "",
    field: tuple[str, ...] = (),
    seats: int = 0,
    seed: int | None = None,
) -> Subject:
    played = wanted.played_baseline
    return Subject(
        name=wanted.name,
        game=game or (saved.conditions.game if saved is not None else ""),
        candidate=wanted.candidate.name,
        baseline=played.name if played is not None else saved.policy.name if saved is not None else "",
        baseline_file=None if played is not None else wanted.baseline,
        field=field or (tuple(player.name for player in saved.conditions.field) if saved is not None else ()),
        seats=seats,
        seed=seed,
        folder=shown_path(common.home(wanted.name)),
        baseline_policy=None if saved is None else Contestant(**saved.policy.model_dump(mode="json")),
        baseline_digest=None if saved is None else saved.digest,
    )


def shown_path(path: Path) -> str:
    """A path as it is told: from the folder one stands in, where it lies below."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
