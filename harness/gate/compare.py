"""Two policies on the same blocks, and one of them against itself: read, played, and told as one value.

Owns what is told of such a comparison, its one-word answer, its exit code and its JSON form, whose keys are a contract
(`docs/reference/output.md`). One analysis of a fixed number of blocks (`harness.stats.paired`). Knows no words for
people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from weigh.games.game import Json
from weigh.games.registry import game_named, read_config
from weigh.harness.config.blocks import Block, Role
from weigh.harness.config.entrants import Renamed
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import FINE, INCONCLUSIVE, INTERRUPTED, INVALID
from weigh.harness.gate.arm import (
    Arm,
    RunSettings,
    Setting,
    arm_of,
    opponents_of,
    require_name,
    require_plays,
    shown_path,
)
from weigh.harness.gate.measures import played_by_fallback, rates_of, reliability_of
from weigh.harness.gate.play import ArmRun, FixedBlocks, Note, Scores, Taken, arm_run, play, require_playable
from weigh.harness.run.limits import Brake, Ceilings, Spending
from weigh.harness.run.play.single import Asked, entrants_of
from weigh.harness.stats.paired import HIGHEST, LOWEST, Paired, block_difference, paired, present
from weigh.harness.stats.power import LEVEL
from weigh.harness.stats.rare import RareLoss, bounded_interval, rare_loss
from weigh.policies.contract import Fault
from weigh.policies.replicate import Redrawn

SCHEMA: Final = 2

BLOCKS: Final = 20
"""Unless said otherwise."""

MAX_VOID_RATE: Final = 0.1
"""A comparison with a larger share of void blocks is no valid one."""

Answer: TypeAlias = Literal["b_higher", "a_higher", "not_significant", "nothing"]
"""The interval of B - A lies above 0, below it, holds it; or there is none."""

Letter: TypeAlias = Literal["A", "B", "A again"]
LETTERS: Final[tuple[Letter, ...]] = ("A", "B", "A again")


@dataclass(frozen=True, slots=True)
class CompareSpec:
    """What a comparison is asked for with; None leaves a thing to its default."""

    words: tuple[str, str]
    game: str
    asked: Asked
    opponents: Sequence[str] | None = None
    blocks: int | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    aa: bool = False
    """Whether A is played against itself, too."""
    name: str = "compare"
    results: Path | None = None


def arms_of(spec: CompareSpec) -> tuple[Arm, ...]:
    """A, B and, where A is played against itself, A again. Raises Refused, ConfigError and the like: nothing is started
    yet."""
    home = (spec.results or Path("results")).absolute() / require_name(spec.name)
    game = game_named(spec.game)
    entrants, models = entrants_of(spec.words, spec.asked)
    for each in entrants:
        require_plays(each, game.name)
    opponents = opponents_of(game, spec.opponents)
    setting = Setting(game, read_config(game, spec.set), opponents, spec.asked.seed, spec.asked.timeout)
    roles: tuple[Role, Role] = ("baseline", "candidate")
    arms = [
        arm_of(role, each, setting, setting.blocks(role, spec.blocks or BLOCKS), home, RunSettings(models))
        for role, each in zip(roles, entrants, strict=True)
    ]
    if spec.aa:  # with other draws and fresh calls, in a run of its own
        first = arms[0]
        arms.append(replace(first, policy=Renamed(first.role, Redrawn(first.policy))))
    return tuple(arms)


@dataclass(frozen=True, slots=True)
class ArmReport:
    """One arm next to its scores. A number that does not exist is None."""

    letter: Letter
    name: str
    policy: str
    """The policy's digest."""
    model: str | None
    run: str
    """The folder of its run."""
    scores: Mapping[str, Scores]
    """By block. Blocks that are not settled are left out."""
    reliability: Mapping[str, float | None]
    """By the names of `harness.gate.measures`."""
    faults: Mapping[Fault, int]
    """Attempts of the policy that gave no legal move, by kind."""
    decisions: int
    taken: Taken
    """On the blocks that are compared."""
    all_invocations: Taken = field(default_factory=Taken)
    """What its run took in all: blocks that other arms lack, or that another command asked for, included."""

    @property
    def mean(self) -> float | None:
        """Over all its finished episodes in settled blocks."""
        scores = [score for block in self.scores.values() for score in block if score is not None]
        return sum(scores) / len(scores) if scores else None

    def to_json(self) -> dict[str, Any]:
        return {
            "arm": self.letter,
            "name": self.name,
            "policy_digest": self.policy,
            "model": self.model,
            "run": self.run,
            "mean": self.mean,
            "decisions": self.decisions,
            "faults": dict(sorted(self.faults.items())),
            "reliability": dict(self.reliability),
            **self.taken.to_json(),
            "all_invocations": self.all_invocations.to_json(),
        }

    @property
    def by_fallback(self) -> str | None:
        """Why its score is hardly its policy's; None where it is."""
        return played_by_fallback(rates_of(self.reliability), MAX_FALLBACK_RATE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """B less A."""

    game: str
    config: Mapping[str, Json]
    seats: int
    seed: int
    opponents: tuple[str, ...]
    blocks: tuple[str, ...]
    """Keys of all that are to be played, in order."""
    a: ArmReport
    b: ArmReport
    again: ArmReport | None = None
    lowest: float = LOWEST
    """The lowest score the game's rules allow."""
    stopped: str = ""
    """Why it was not played to its end; empty when it was."""
    used_up: tuple[Spending, int | float] | None = None
    """The limit that stopped it, and what is spent of it."""
    interrupted: bool = False

    @property
    def estimand(self) -> str:
        return (
            f"mean score at {self.game} of {self.b.name} less that of {self.a.name}, in one seat against "
            f"{', '.join(self.opponents)}, over the same deals, seeds and seats"
        )

    @property
    def differences(self) -> dict[str, float | None]:
        """B - A of every block that is settled in both arms; None for a void one."""
        return _differences(self.blocks, self.b, self.a)

    @property
    def aa_differences(self) -> dict[str, float | None] | None:
        """A again - A, likewise; None where it was not asked for."""
        return None if self.again is None else _differences(self.blocks, self.again, self.a)

    @property
    def found(self) -> Paired:
        return paired(list(self.differences.values()), HIGHEST - self.lowest)

    @property
    def higher(self) -> ArmReport | None:
        """The arm that scores more; None where neither is significantly higher."""
        return {"a_higher": self.a, "b_higher": self.b}.get(self.answer)

    @property
    def bounded_interval(self) -> tuple[float, float]:
        """The 95 % betting interval of the mean difference: it holds for any bounded scores."""
        values, _ = present(list(self.differences.values()))
        return bounded_interval(values, self.lowest - HIGHEST, HIGHEST - self.lowest)

    @property
    def rare_loss(self) -> RareLoss | None:
        """What the arm that scores more may lose in blocks that have not shown it; None where no arm does."""
        higher = self.higher
        return None if higher is None or higher.mean is None else rare_loss(self.found.n, higher.mean - self.lowest)

    @property
    def aa(self) -> Paired | None:
        return (
            None if self.aa_differences is None else paired(list(self.aa_differences.values()), HIGHEST - self.lowest)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What keeps the difference from telling of the policies, a line each."""
        return tuple(
            f"{arm.letter}: {arm.by_fallback.partition(' (')[0]}, so its score tells of the fallback"
            for arm in self.arms
            if arm.by_fallback is not None
        )

    @property
    def noiseless(self) -> bool:
        """Whether A played alike in every block of both its arms, so far as scores tell."""
        known = [value for value in (self.aa_differences or {}).values() if value is not None]
        return bool(known) and not any(known)

    @property
    def complete(self) -> bool:
        again = self.aa_differences
        return len(self.differences) == len(self.blocks) and (again is None or len(again) == len(self.blocks))

    @property
    def too_void(self) -> bool:
        """Whether outages took more blocks than MAX_VOID_RATE allows."""
        return self.found.missing > MAX_VOID_RATE * len(self.blocks)

    @property
    def answer(self) -> Answer:
        """Which arm is higher by the interval of the difference, or by its signs where all blocks agree."""
        found = self.found
        if found.interval is None or found.mean is None:
            return "nothing"
        if found.alike and found.mean:
            # Signs are all there is to go by: five equal ones come of chance once in sixteen times.
            if found.p is None or found.p > LEVEL:
                return "nothing"
            return "b_higher" if found.mean > 0 else "a_higher"
        if found.interval[0] > 0:
            return "b_higher"
        return "a_higher" if found.interval[1] < 0 else "not_significant"

    @property
    def exit_code(self) -> int:
        """130 interrupted; 4 stopped by a limit or a provider, or too void; 3 nothing can be said; else 0."""
        if self.interrupted:
            return INTERRUPTED
        if self.stopped or self.too_void:
            return INVALID
        return INCONCLUSIVE if self.answer == "nothing" else FINE

    def to_json(self) -> dict[str, Any]:
        again = self.aa_differences
        return {
            "schema_version": SCHEMA,
            "game": self.game,
            "config": dict(self.config),
            "seats": self.seats,
            "seed": self.seed,
            "opponents": list(self.opponents),
            "estimand": self.estimand,
            "answer": self.answer,
            "higher": None if self.higher is None else self.higher.letter,
            "higher_guaranteed": self.higher is not None and self.found.guaranteed,
            "rare_loss": None if self.rare_loss is None else asdict(self.rare_loss),
            "exit_code": self.exit_code,
            "stopped": self.stopped or None,
            "blocks_planned": len(self.blocks),
            "blocks_settled": len(self.differences),
            "notes": list(self.notes),
            "difference": {**_to_json(self.found), "bounded_interval": self.bounded_interval},
            "aa": None if self.aa is None else {**_to_json(self.aa), "noiseless": self.noiseless},
            "blocks": [
                {
                    "block": block,
                    "a": list(self.a.scores[block]),
                    "b": list(self.b.scores[block]),
                    "difference": difference,
                    "aa_difference": None if again is None else again.get(block),
                }
                for block, difference in self.differences.items()
            ],
            "arms": [arm.to_json() for arm in self.arms],
        }

    @property
    def arms(self) -> tuple[ArmReport, ...]:
        return tuple(arm for arm in (self.a, self.b, self.again) if arm is not None)


def _to_json(found: Paired) -> dict[str, Any]:
    """Without the interval of no width that blocks which agree would make."""
    return {**asdict(found), "interval": None} if found.alike else asdict(found)


def _differences(blocks: Sequence[str], one: ArmReport, other: ArmReport) -> dict[str, float | None]:
    settled = [block for block in blocks if block in one.scores and block in other.scores]
    return {block: block_difference(one.scores[block], other.scores[block]) for block in settled}


def compare(arms: Sequence[Arm], ceilings: Ceilings, note: Note) -> Comparison:
    """Play what is left, and read back what there is.

    Raises Refused where a key is missing, a price is unknown, or a run's folder holds something else.
    """
    require_playable(arms, ceilings)
    with ExitStack() as stack:
        contest = FixedBlocks(tuple(stack.enter_context(arm_run(arm)) for arm in arms))
        brake = play([contest], ceilings, note)
        found = _read(contest, brake)
        status = "finished"
        if found.interrupted:
            status = "interrupted"
        elif found.stopped:
            status = f"stopped: {found.stopped}"
        elif found.too_void:
            status = f"stopped: {found.found.missing} of {len(found.blocks)} blocks are void"
        for run in contest.arms:
            run.end(status)
    return found


def _read(contest: FixedBlocks, brake: Brake) -> Comparison:
    first, settled = contest.arms[0].arm, contest.settled
    reports = [_report(letter, run, settled) for letter, run in zip(LETTERS, contest.arms, strict=False)]
    left = len(settled) < len(first.blocks)
    return Comparison(
        game=first.setting.game.name,
        config=first.setting.config.model_dump(mode="json"),
        seats=first.setting.seats,
        lowest=float(first.setting.game.lowest(first.setting.config)),
        seed=first.setting.seed,
        opponents=first.setting.opponents,
        blocks=tuple(block.key for block in first.blocks),
        a=reports[0],
        b=reports[1],
        again=reports[2] if len(reports) == len(LETTERS) else None,
        stopped=(brake.reason or "stopped") if left else "",
        used_up=brake.used_up,
        interrupted=left and brake.pulled == "interrupted",
    )


def _report(letter: Letter, run: ArmRun, settled: Sequence[int]) -> ArmReport:
    """An arm on the blocks that are settled in all of them."""
    arm = run.arm
    blocks = [arm.blocks[number] for number in settled]
    faults, decisions = _faults(run, blocks)
    return ArmReport(
        letter=letter,
        name=arm.spec.name,
        policy=arm.policy.digest,
        model=arm.policy.model,
        run=shown_path(arm.folder),
        scores={arm.blocks[number].key: run.scores(number) or () for number in settled},
        reliability=reliability_of(run.store, blocks, arm.role),
        faults=faults,
        decisions=decisions,
        taken=run.taken(blocks),
        all_invocations=run.taken(),
    )


def _faults(run: ArmRun, blocks: Sequence[Block]) -> tuple[dict[Fault, int], int]:
    """The policy's failed attempts by kind, and its decisions."""
    records = [(seat, run.store.record(episode.key)) for block in blocks for seat, episode in enumerate(block.episodes)]
    decisions = [
        decision
        for seat, record in records
        if record is not None
        for decision in record.decisions
        if decision.seat == seat
    ]
    return dict(Counter(note.fault for decision in decisions for note in decision.faults)), len(decisions)
