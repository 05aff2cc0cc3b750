"""Plays a baseline and writes its file: `weigh gate --save-baseline`.

Owns what a baseline must be worth to be saved, and what is told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.errors import INTERRUPTED, INVALID, Refused
from weigh.harness.gate.arms import Arm, arm_run, play_arm
from weigh.harness.gate.baseline import Baseline, BlockScores, FocalPolicy, made, written
from weigh.harness.gate.conduct import measures_of, per_cent, played_by_fallback, rates_of
from weigh.harness.gate.order import contestant
from weigh.harness.gate.play import brake_on, drive, exchanges_for, require_playable
from weigh.harness.gate.spent import Spent
from weigh.harness.run.opening import closing_notes, versions
from weigh.harness.run.signals import stopping_on_signals
from weigh.harness.words import plural, shown

if TYPE_CHECKING:
    from weigh.harness.cli.commands.gate_words import Words
    from weigh.harness.gate.arms import ArmOrder
    from weigh.harness.gate.baseline import Conditions
    from weigh.harness.run.limits import Brake, Ceilings

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Saved:
    """A baseline that was played, and what it took."""

    baseline: Baseline
    spent: Spent


def save(words: Words, target: Path, ceilings: Ceilings, note: Note, json: bool) -> None:
    """Play the baseline, write its file, and tell of it."""
    from weigh.harness.results.export import write_atomically

    order, conditions = words.baseline_order()
    saved = played_baseline(order, conditions, ceilings, words.max_void_rate, words.max_fallback_rate, note)
    write_atomically(target, written(saved.baseline))
    count, whole = len(saved.baseline.blocks), len(saved.baseline.whole)
    noise, mean = _noise(saved.baseline.means), sum(saved.baseline.means) / whole
    rates = rates_of(saved.baseline.measures)
    if json:
        print_json(
            {
                "schema_version": 1,
                "file": str(target),
                "digest": saved.baseline.digest,
                "blocks": count,
                "void_blocks": count - whole,
                "pairs": count * len(order.blocks[0].episodes),
                "mean": mean,
                "detectable_unpaired": noise,
                "calls": saved.spent.calls,
                "cost_usd": saved.spent.cost_usd,
                "measures": saved.baseline.measures,
                "folder": order.shown,
            }
        )
        return
    print_text(f"{shown(str(target))}: {plural(whole, 'block')} of {shown(order.spec.name)}, mean score {mean:+.4f}")
    print_text(
        f"the fallback made {per_cent(rates.fallback)} of its moves; {per_cent(rates.retry)} took a second attempt"
    )
    if count > whole:
        print_text(f"{plural(count - whole, 'block')} more are void and will not be compared")
    if noise is not None:
        print_text(f"margins from about {noise:.2g} on can be told apart with so many blocks; less where pairs agree")
    print_note(f"kept in {order.shown}; commit {target}")


def played_baseline(
    order: ArmOrder, now: Conditions, ceilings: Ceilings, max_void_rate: float, max_fallback_rate: float, note: Note
) -> Saved:
    """Play a baseline's blocks.

    Raises Refused, with its exit code, where it comes to no end, too much is void, or the fallback played for it.
    """
    require_playable([order], ceilings)
    with arm_run(order) as arm:
        brake = brake_on([arm], ceilings)
        drive(_play(arm, brake, note), brake)
        scores = [arm.scores(block) for block in order.blocks]
        if any(each is None for each in scores):
            arm.store.set_status("interrupted" if brake.pulled == "interrupted" else f"stopped: {brake.reason}")
            code = INTERRUPTED if brake.pulled == "interrupted" else INVALID
            raise Refused(f"no baseline is saved: {brake.reason}; the same command goes on", code=code)
        blocks = [
            BlockScores(key=block.key, scores=each)
            for block, each in zip(order.blocks, scores, strict=True)
            if each is not None
        ]
        void = sum(not block.whole for block in blocks)
        if void > max_void_rate * len(blocks) or void == len(blocks):
            arm.store.set_status(f"stopped: {void} blocks are void")
            raise Refused(
                f"no baseline is saved: {void} of {len(blocks)} blocks are void; the same command plays them again",
                code=INVALID,
            )
        arm.end("finished")
        who = contestant(order)
        measures = measures_of(arm.store, order.blocks, order.role)
        by_fallback = played_by_fallback(rates_of(measures.values), max_fallback_rate)
        if by_fallback is not None:
            raise Refused(
                f"no baseline is saved, for it would measure the fallback: {by_fallback}; allow more with "
                "--max-fallback-rate, or mend the policy",
                code=INVALID,
            )
        focal = FocalPolicy(
            name=who.name,
            digest=order.division.policies[order.role].digest,
            model=who.model,
            prompt=who.prompt,
            style=who.style,
            sampling=None if who.sampling is None else dict(who.sampling),
            endpoint=who.endpoint,
        )
        return Saved(made(now, focal, versions(), blocks, measures.values, measures.errors), arm.spent())


async def _play(arm: Arm, brake: Brake, note: Note) -> None:
    with stopping_on_signals(brake, note):
        if all(arm.settled(episode.key) for episode in arm.order.episodes()):
            return
        async with AsyncExitStack() as stack:
            exchanges = await stack.enter_async_context(exchanges_for([arm.order], note))
            try:
                await play_arm(arm, arm.order.blocks, exchanges, brake, note)
            finally:
                for line in closing_notes(exchanges):
                    note(line)


def _noise(means: Sequence[float]) -> float | None:
    """What so many blocks could detect if pairing took no noise away."""
    from statistics import stdev

    from weigh.harness.stats.power import one_sided_detectable

    return one_sided_detectable(len(means), 2**0.5 * stdev(means), 0.05, 0.05) if len(means) > 1 else None
