"""How often the gate errs and what it saves, measured on differences and games whose truth is known.

    python -m benches.gate            under three minutes; prints tables of docs/explanation/validation.md
    python -m benches.gate --quick    a tenth of it

A row is 2,000 gates by `harness.gate.sequential.walk`. "Fixed n" is the t test of the same margin and errors, planned
with the true spread; blocks are shown as a share of it.

First table: drawn differences, once with a mean of exactly -margin and once of 0. `textbook` is what chess engines are
tested with, Fishtest's formula: the normal likelihood ratio at Wald's bounds, here with a sign-flip test to confirm it.
Second table: the errors at other caps. Third table: losses far beyond the margin.

Fourth table: candidates that are the baseline but for rare breakdowns, which make up exactly the margin. The baseline
is a real one, `match` at Goofspiel for two against `random`, with its blocks in the order in which they were played. A
broken episode scores so much; whole deals break, or episodes.

Fifth table: real games (`benches._arenas`). Blocks are played once, and every gate draws its own from them, so the
truth is the mean of what was played. Where both arms are the same, either may be called the candidate: drawn with both
signs, the mean is exactly 0. The margin of "exactly the margin" is what the candidate lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from benches._arenas import Arena, noisy, rule
from weigh.harness.gate.sequential import Design, walk
from weigh.harness.stats.paired import block_difference, difference_range
from weigh.harness.stats.power import fixed_size
from weigh.harness.stats.sign_flip import sign_flip

Floats = NDArray[np.float64]
Blocks = Sequence[Sequence[float]]
Draw = Callable[[np.random.Generator, float, int], Floats]
"""Differences of so many blocks with this mean."""

GATES = 2_000


@dataclass(frozen=True)
class Shape:
    """How block differences may be spread."""

    title: str
    draw: Draw
    margin: float
    end: float = 2.0
    """Differences lie in [-end, end]."""


@dataclass(frozen=True)
class Outcome:
    """What so many gates came to."""

    passed: float
    regressed: float
    blocks: float
    """Mean blocks to the end of a gate."""


def normal(sd: float) -> Draw:
    return lambda rng, mean, n: rng.normal(mean, sd, n)


def skewed(sd: float, sign: int) -> Draw:
    """Exponential; the long tail to the left (rare large losses) for sign -1."""
    return lambda rng, mean, n: np.clip(mean + sign * sd * (rng.exponential(size=n) - 1), -2, 2)


def ternary(zeros: float) -> Draw:
    """-1, 0, +1, with this share of zeros at a mean of 0."""

    def draw(rng: np.random.Generator, mean: float, n: int) -> Floats:
        decided = 1 - zeros
        u = rng.random(n)
        return np.where(u < (decided + mean) / 2, 1.0, np.where(u < decided, -1.0, 0.0))

    return draw


def lumpy(zeros: float, sd: float) -> Draw:
    """Exactly 0 on most deals, normal on the others."""
    return lambda rng, mean, n: np.where(rng.random(n) < zeros, 0.0, rng.normal(mean / (1 - zeros), sd, n))


def breaking(loss: float, sd: float) -> Draw:
    """A little noise, and all of a worsening in rare blocks that lose so much."""
    return lambda rng, mean, n: rng.normal(0, sd, n) - loss * (rng.random(n) < -mean / loss)


SHAPES = (
    Shape("normal, sd .4", normal(0.4), 0.1),
    Shape("normal, sd .05, ends ±.25", normal(0.05), 0.0125, 0.25),
    Shape("long tail of losses, sd .4", skewed(0.4, -1), 0.1),
    Shape("long tail of gains, sd .4", skewed(0.4, 1), 0.1),
    Shape("ternary, 80 % zeros", ternary(0.8), 0.1),
    Shape("ternary, 50 % zeros", ternary(0.5), 0.1),
    Shape("ternary, 20 % zeros", ternary(0.2), 0.1),
    Shape("80 % zeros, else normal, sd .9", lumpy(0.8, 0.9), 0.1),
    Shape("rare blocks that lose 1, noise .1", breaking(1.0, 0.1), 0.1),
    Shape("normal, sd .2, ends ±.8", normal(0.2), 0.1, 0.8),
    Shape("normal, sd .2, ends ±2", normal(0.2), 0.1),
)


def design(margin: float, sd: float, ends: tuple[float, float], caps: float) -> tuple[Design, int]:
    """A gate that looks about twenty times within the fixed test's size and goes on to `caps` times it."""
    size = fixed_size(margin, sd, 0.05, 0.05)
    if size is None:
        raise ValueError(f"no fixed test for a margin of {margin} and a spread of {sd}")
    batch = max(5, size // 20)
    return Design(margin, max(10, round(caps * size)), 10, batch, range=ends), size


def outcome(draws: Sequence[Floats], plan: Design) -> Outcome:
    stood = [walk(draw, plan)[-1] for draw in draws]
    return Outcome(
        float(np.mean([step.verdict == "pass" for step in stood])),
        float(np.mean([step.verdict == "regression" for step in stood])),
        float(np.mean([step.count for step in stood])),
    )


def textbook(draws: Sequence[Floats], plan: Design) -> float:
    """The share of passes by Fishtest's formula, n * M * (2 * mean + M) / (2 * variance), at Wald's bounds.

    The generalised likelihood ratio of two means in its normal approximation (Van den Bergh, "A practical introduction
    to the GSPRT"), and the bounds of Wald (Annals of Mathematical Statistics 16, 1945).
    """
    low, high = log(plan.beta / (1 - plan.alpha)), log((1 - plan.beta) / plan.alpha)
    passes = 0
    for draw in draws:
        count = plan.look_after(0)
        while count is not None:
            seen = draw[:count]
            spread = float(seen.var())
            if spread > 1e-18:
                llr = count * plan.margin * (2 * float(seen.mean()) + plan.margin) / (2 * spread)
            else:  # the formula takes it for certain
                llr = np.inf if seen.mean() > -plan.margin / 2 else -np.inf
            if llr >= high and sign_flip(seen + plan.margin, "greater") <= plan.alpha:
                passes += 1
                break
            if llr <= low and sign_flip(seen, "less") <= plan.beta:
                break
            count = plan.look_after(count)
    return passes / len(draws)


@dataclass(frozen=True)
class Case:
    """A shape with its gates: (worse by exactly the margin, as good)."""

    sizes: tuple[int, int]
    plan: Design
    draws: tuple[list[Floats], list[Floats]]


def case(number: int, gates: int, caps: float) -> Case:
    """One plan for both, made for the larger of the two fixed tests."""
    shape = SHAPES[number]
    rng = np.random.default_rng([17, number])
    means = (-shape.margin, 0.0)
    sds = [float(shape.draw(rng, mean, 200_000).std()) for mean in means]
    sizes = [fixed_size(shape.margin, sd, 0.05, 0.05) or 0 for sd in sds]
    plan, _ = design(shape.margin, max(sds), (-shape.end, shape.end), caps)
    worse, good = (
        [np.clip(shape.draw(rng, mean, plan.max_blocks), -shape.end, shape.end) for _ in range(gates)] for mean in means
    )
    return Case((sizes[0], sizes[1]), plan, (worse, good))


def shapes(gates: int) -> None:
    print(f"{gates} gates a row, cap at the fixed test\n")
    print("| differences | M | fixed n | false pass | textbook | false alarm | passes | caught | n, worse | n, good |")
    print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for number, shape in enumerate(SHAPES):
        found = case(number, gates, 1)
        worse, good = (outcome(draws, found.plan) for draws in found.draws)
        sizes = " / ".join(map(str, dict.fromkeys(found.sizes)))
        print(
            f"| {shape.title} | {shape.margin:g} | {sizes} | {worse.passed:.3f} "
            f"| {textbook(found.draws[0][:400], found.plan):.3f} | {good.regressed:.3f} | {good.passed:.3f} "
            f"| {worse.regressed:.3f} | {worse.blocks / found.sizes[0]:.2f} | {good.blocks / found.sizes[1]:.2f} |",
            flush=True,
        )


def other_caps(gates: int) -> None:
    print(f"\n{gates} gates a row, cap at half the fixed test and at twice\n")
    print("| differences | half: false pass | false alarm | right | twice: false pass | false alarm | right |")
    print("|:--|--:|--:|--:|--:|--:|--:|")
    for number, shape in enumerate(SHAPES):
        cells = []
        for caps in (0.5, 2):
            found = case(number, gates, caps)
            worse, good = (outcome(draws, found.plan) for draws in found.draws)
            right = (worse.regressed + good.passed) / 2
            cells.append(f"{worse.passed:.3f} | {good.regressed:.3f} | {right:.2f}")
        print(f"| {shape.title} | {' | '.join(cells)} |", flush=True)


LARGE = (normal(0.4), "normal, sd .4"), (normal(0.05), "normal, sd .05"), (breaking(1.5, 0.05), "blocks that lose 1.5")
LOSSES = (2, 5, 10)
"""In margins."""


def large_losses(gates: int) -> None:
    print(f"\n{gates} gates a row, ends -1.6 and 1.5, margin 0.1, cap 200 blocks: share caught, and blocks\n")
    print(f"| differences | beta | {' | '.join(f'{times} M' for times in LOSSES)} |")
    print("|:--|--:|--:|--:|--:|")
    for beta in (0.05, 0.0125):
        plan = Design(0.1, 200, beta=beta, range=(-1.6, 1.5))
        for number, (draw, title) in enumerate(LARGE):
            rng = np.random.default_rng([23, number])
            cells = []
            for times in LOSSES:
                draws = [np.clip(draw(rng, -times * 0.1, 200), -1.6, 1.5) for _ in range(gates)]
                found = outcome(draws, plan)
                cells.append(f"{found.regressed:.3f}, {found.blocks:.0f}")
            print(f"| {title} | {beta:g} | {' | '.join(cells)} |", flush=True)


def ends_of(baseline: Blocks, lowest: float) -> tuple[float, float]:
    return difference_range([float(np.mean(block)) for block in baseline], lowest)


def breakdowns(gates: int) -> None:
    arena = Arena("goofspiel", {"seats": 2}, ("random",), 0.1)
    baseline = np.array(arena.play(rule("goofspiel", "match"), "baseline", 200))
    print(f"\n{gates} gates a row, cap 200 blocks; the baseline's blocks score {baseline.mean():.3f} on average\n")
    print("| breaks | to | M | false pass | caught | n |")
    print("|:--|--:|--:|--:|--:|--:|")
    for number, (what, score, margin) in enumerate(
        (what, score, margin) for what in ("deals", "episodes") for score in (-1.0, -0.6) for margin in (0.1, 0.05)
    ):
        rng = np.random.default_rng([29, number])
        share = margin / (baseline - score).mean()
        shape = (len(baseline), 1 if what == "deals" else 2)
        draws = [(np.where(rng.random(shape) < share, score - baseline, 0.0)).mean(axis=1) for _ in range(gates)]
        least, greatest = ends_of(baseline.tolist(), arena.lowest)
        found = outcome(draws, Design(margin, 200, range=(least, greatest)))
        told = f"{found.passed:.3f} | {found.regressed:.3f} | {found.blocks:.0f}"
        print(f"| {what} | {score:g} | {margin:g} | {told} |", flush=True)


ARENAS = (
    Arena("goofspiel", {"seats": 4}, ("random",) * 3, 0.012),
    Arena("goofspiel", {"seats": 4}, ("match", "hoard", "random"), 0.01),
    Arena("oshi_zumo", {}, ("random",), 0.1),
)


def games(gates: int, blocks: int) -> None:
    print(f"\n{gates} gates a row from {blocks} blocks played, cap at twice the fixed test\n")
    print(
        "| candidate, for match with .1 of its moves at random | M | mean | sd | fixed n | passes | regressions | n |"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|--:|")
    for arena in ARENAS:
        match, hoard = rule(arena.name, "match"), rule(arena.name, "hoard")
        shaky = noisy(match, 0.1)
        baseline = arena.play(shaky, "baseline", blocks)
        where = f"{arena.name} against {', '.join(dict.fromkeys(arena.field))}"
        alike = differences(arena.play(shaky, "candidate", blocks), baseline)
        reach = ends_of(baseline, arena.lowest)
        row(f"{where}: the same", np.concatenate([alike, -alike]), arena.margin, reach, gates)
        for title, focal in (
            ("0.15 at random", noisy(match, 0.15)),
            ("half at random", noisy(match, 0.5)),
            ("hoard", hoard),
        ):
            pool = differences(arena.play(focal, "candidate", blocks), baseline)
            row(f"{where}: {title}", pool, arena.margin, reach, gates)
            lost = -float(pool.mean())
            if title == "0.15 at random" and lost > 0:
                row(f"{where}: {title}, exactly the margin", pool, lost, reach, gates)
        never = walk(np.zeros(1_000), Design(arena.margin, 10_000, range=reach))[-1].count
        print(f"| {where}: never differs | {arena.margin:g} | 0 | 0 | - | 1 | 0 | {never} blocks |")


def differences(candidate: Blocks, baseline: Blocks) -> Floats:
    return np.array([block_difference(new, old) for new, old in zip(candidate, baseline, strict=True)], float)


def row(title: str, pool: Floats, margin: float, reach: tuple[float, float], gates: int) -> None:
    plan, size = design(margin, float(pool.std()), reach, 2)
    rng = np.random.default_rng(19)
    found = outcome([rng.choice(pool, plan.max_blocks) for _ in range(gates)], plan)
    cells = f"{found.passed:.3f} | {found.regressed:.3f} | {found.blocks / size:.2f}"
    told = f"| {title} | {margin:.4f} | {pool.mean():+.4f} | {pool.std():.3f} | {size}"
    print(f"{told} | {cells} |", flush=True)


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.gate", description="error rates and savings of the gate")
    parser.add_argument("--quick", action="store_true", help="a tenth of the gates")
    quick = parser.parse_args([*arguments]).quick
    gates = GATES // 10 if quick else GATES
    shapes(gates)
    other_caps(gates)
    large_losses(gates)
    breakdowns(gates)
    games(gates, 150 if quick else 600)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
