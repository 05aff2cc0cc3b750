"""Two or three arms of a comparison: set up, played on the same blocks, and read back.

Owns the reading of a `weigh compare` command into arms, and their playing; each arm is one of `harness.gate.arms`.
Prints nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weigh.games.registry import game_named, read_config
from weigh.harness.config.blocks import planned
from weigh.harness.config.entrants import Renamed
from weigh.harness.config.sections import safe_name
from weigh.harness.errors import Refused
from weigh.harness.gate.arms import Arm, Conduction, arm_run
from weigh.harness.gate.comparison import ArmComparison, ArmReport, Letter
from weigh.harness.gate.conduct import conduct_of
from weigh.harness.gate.order import TIMEOUT, Common, arm_order, field_of
from weigh.harness.gate.play import brake_on, drive, exchanges_for, play_together, require_playable
from weigh.harness.run.limits import Ceilings
from weigh.harness.run.opening import closing_notes
from weigh.harness.run.play.single import Asked, entrants_of
from weigh.harness.run.signals import stopping_on_signals
from weigh.policies.contract import Fault
from weigh.policies.replicate import Redrawn

if TYPE_CHECKING:
    from weigh.harness.config.blocks import Block, Role
    from weigh.harness.gate.arms import ArmOrder
    from weigh.harness.run.limits import Brake

BLOCKS = 20
"""Unless said otherwise."""

TOGETHER = 32
"""Episodes of an arm that are begun before the first of them is waited for: when a run is stopped, the blocks before
them are whole in every arm."""

LETTERS: tuple[Letter, ...] = ("A", "B", "A again")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a `weigh compare` command asks for; None leaves a thing to its default."""

    words: tuple[str, str]
    game: str
    asked: Asked
    field: str | None
    pairs: int | None
    settings: Mapping[str, Any]
    null: bool
    name: str
    results: Path | None


@dataclass(frozen=True, slots=True)
class ComparisonOrder:
    """A comparison, ready to be played."""

    seed: int
    field: tuple[str, ...]
    names: tuple[str, ...]
    """Of the policies, arm by arm."""
    arms: tuple[ArmOrder, ...]
    """A, B and, where the noise is wanted, A again."""


def order_of(wanted: Wanted) -> ComparisonOrder:
    """Read the command. Raises Refused, ConfigError and the like: nothing is started yet."""
    if wanted.name != safe_name(wanted.name):
        raise Refused(f"--name {wanted.name}: no folder can be called so; {safe_name(wanted.name)} would do")
    game = game_named(wanted.game)
    specs, given = entrants_of(wanted.words, wanted.asked)
    for spec in specs:
        if not spec.plays(game.name):
            raise Refused(f"{spec.name} does not play {game.name}; `weigh policies` lists what does")
    config = read_config(game, wanted.settings)
    seats = game.seat_count(config)
    field = field_of(game, None if wanted.field is None else _names(wanted.field))
    count = BLOCKS if wanted.pairs is None else -(-wanted.pairs // seats)
    seed = wanted.asked.seed
    common = Common(
        folder=Path.cwd(),
        results=(wanted.results or Path("results")).absolute(),
        prefix="",
        settings=given,
        conduction=Conduction(),
        seed=seed,
        timeout=wanted.asked.timeout,
        deadline=None,
        alpha=0.05,
        beta=0.05,
        max_void_rate=0.0,
    )
    roles: tuple[Role, Role] = ("baseline", "candidate")
    arms = [
        arm_order(
            role,
            spec,
            game,
            config,
            field,
            planned(game.name, seats, field, role, seed, count),
            common,
            seed,
            wanted.asked.timeout or TIMEOUT,
            None,
            wanted.name,
        )
        for role, spec in zip(roles, specs, strict=True)
    ]
    if wanted.null:
        arms.append(_again(arms[0]))
    return ComparisonOrder(seed, field, tuple(arm.spec.name for arm in arms), tuple(arms))


def _again(arm: ArmOrder) -> ArmOrder:
    """The same arm with other draws and fresh calls, in a run of its own."""
    policy = Redrawn(arm.division.policies[arm.role])
    policies = {**arm.division.policies, arm.role: Renamed(arm.role, policy)}
    return replace(arm, division=replace(arm.division, policies=policies))


def _names(words: str) -> tuple[str, ...]:
    names = tuple(word.strip() for word in words.split(","))
    if not all(names):
        raise Refused(f"--field {words}: names with commas between them, as match,hoard,random")
    return names


def played(order: ComparisonOrder, ceilings: Ceilings, note: Callable[[str], None]) -> ArmComparison:
    """Play what is left, and read back what there is.

    Raises Refused where a key is missing, a price is unknown, or a run's folder holds something else.
    """
    require_playable(order.arms, ceilings)
    with ExitStack() as stack:
        arms = tuple(stack.enter_context(arm_run(arm)) for arm in order.arms)
        brake = brake_on(arms, ceilings)
        drive(_play(arms, brake, note), brake)
        told = _told(order, arms, brake)
        _close(arms, told)
    return told


async def _play(arms: Sequence[Arm], brake: Brake, note: Callable[[str], None]) -> None:
    blocks = len(arms[0].order.blocks)
    with stopping_on_signals(brake, note):
        if all(arm.settled(episode.key) for arm in arms for episode in arm.order.episodes()):
            return
        async with exchanges_for([arm.order for arm in arms], note) as exchanges:
            for arm in arms:
                arm.sit_down(exchanges, brake, note)
            step = max(1, TOGETHER // len(arms[0].order.blocks[0].episodes))
            try:
                for start in range(0, blocks, step):
                    if brake.pulled:
                        break
                    await play_together(arms, start, step)
                    note(_progress(arms))
            finally:
                for line in closing_notes(exchanges):
                    note(line)


def _progress(arms: Sequence[Arm]) -> str:
    """`16 of 20 blocks`: those that are settled in every arm."""
    return f"{len(_settled(arms))} of {len(arms[0].order.blocks)} blocks"


def _settled(arms: Sequence[Arm]) -> list[int]:
    """The numbers of the blocks that every arm has scores of, or an outage took."""
    return [
        number
        for number in range(len(arms[0].order.blocks))
        if all(arm.scores(arm.order.blocks[number]) is not None for arm in arms)
    ]


def _told(order: ComparisonOrder, arms: Sequence[Arm], brake: Brake) -> ArmComparison:
    first = arms[0].order
    settled = _settled(arms)
    reports = [
        _report(letter, name, arm, settled) for letter, name, arm in zip(LETTERS, order.names, arms, strict=False)
    ]
    left = len(settled) < len(first.blocks)
    return ArmComparison(
        game=first.division.game.name,
        config=first.division.config.model_dump(mode="json"),
        seats=len(first.blocks[0].episodes),
        seed=order.seed,
        field=order.field,
        blocks=tuple(block.key for block in first.blocks),
        a=reports[0],
        b=reports[1],
        again=reports[2] if len(reports) == len(LETTERS) else None,
        stopped=(brake.reason or "stopped") if left else "",
        used_up=brake.used_up,
        interrupted=left and brake.pulled == "interrupted",
    )


def _report(letter: Letter, name: str, arm: Arm, settled: Sequence[int]) -> ArmReport:
    """An arm on the blocks that are settled in all of them."""
    blocks = [arm.order.blocks[number] for number in settled]
    policy = arm.order.division.policies[arm.order.role]
    faults, decisions = _faults(arm, blocks)
    return ArmReport(
        letter=letter,
        name=name,
        policy=policy.digest,
        model=policy.model,
        run=arm.order.shown,
        scores={block.key: arm.scores(block) or () for block in blocks},
        conduct=conduct_of(arm.store, blocks, arm.order.role),
        faults=faults,
        decisions=decisions,
        spent=arm.spent(blocks),
        all_sittings=arm.spent(),
    )


def _faults(arm: Arm, blocks: Sequence[Block]) -> tuple[dict[Fault, int], int]:
    """The focal policy's failed attempts by kind, and its decisions."""
    faults: Counter[Fault] = Counter()
    decisions = 0
    for block in blocks:
        for seat, episode in enumerate(block.episodes):
            record = arm.store.record(episode.key)
            for decision in record.decisions if record is not None else ():
                if decision.seat == seat:
                    decisions += 1
                    faults.update(note.fault for note in decision.faults)
    return dict(faults), decisions


def _close(arms: Sequence[Arm], told: ArmComparison) -> None:
    """Say in every run how it ended: what is void for want of a provider may be played again after a stop."""
    status = "finished"
    if told.interrupted:
        status = "interrupted"
    elif told.stopped:
        status = f"stopped: {told.stopped}"
    elif told.too_void:
        status = f"stopped: {told.comparison.missing} of {len(told.blocks)} blocks are void"
    for arm in arms:
        arm.end(status)
