"""How often the gate errs and what it saves, measured on differences and games whose truth is known.

    python -m benches.gate            under three minutes; prints the tables of docs/method.md
    python -m benches.gate --quick    a tenth of it

Every row is 400 gates by `harness.gate.sequential.decide`. "Fixed n" is the t test of the same margin and errors,
planned with the true spread; blocks are shown as a share of it.

First table: drawn differences, once with a mean of exactly -margin and once of 0. `textbook` is the same gate by
fishtest's formula: normal likelihood ratio, sign-flip confirmation, no ends. Second table: the errors at other caps.

Third table: real games. Both arms play the same deals against the same field with the same streams, in every rotation
of the seats; only the focal seat's own stream differs. Blocks are played once, and every gate draws its own from them,
so the truth is the mean of what was played. Where both arms are the same, either may be called the candidate: drawn
with both signs, the mean is exactly 0. The margin of "exactly the margin" is what the candidate lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.game import Legal, Move
from games.registry import game_named
from harness.gate.confirm import sign_flip
from harness.gate.fixed import fixed_size
from harness.gate.pairs import block_difference, credible_ends
from harness.gate.sequential import Design, decide
from harness.gate.sprt import normal_llr, wald_bounds
from harness.seeds import stream
from policies.baselines import scripted
from policies.scripted import Rule

Floats = NDArray[np.float64]
Blocks = Sequence[Sequence[float]]
Draw = Callable[[np.random.Generator, float, int], Floats]
"""Differences of so many blocks with this mean."""

GATES = 400


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
    return Design(margin, max(10, round(caps * size)), 10, batch, least=ends[0], greatest=ends[1]), size


def outcome(draws: Sequence[Floats], plan: Design) -> Outcome:
    stood = [decide(draw.tolist(), plan) for draw in draws]
    return Outcome(
        float(np.mean([look.verdict == "pass" for look in stood])),
        float(np.mean([look.verdict == "regression" for look in stood])),
        float(np.mean([look.n for look in stood])),
    )


def textbook(draws: Sequence[Floats], plan: Design) -> float:
    """The share of passes of the gate that knows no ends."""
    low, high = wald_bounds(plan.alpha, plan.beta)
    passes = 0
    for draw in draws:
        count = plan.look_after(0)
        while count is not None:
            seen = draw[:count]
            llr = normal_llr(count, float(seen.mean()), max(float(seen.var()), 1e-12), -plan.margin, 0.0)
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
            f"| {textbook(found.draws[0], found.plan):.3f} | {good.regressed:.3f} | {good.passed:.3f} "
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


def noisy(rule: Rule, share: float) -> Rule:
    """The rule with this share of its moves made at random."""

    def noisy_rule(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
        return legal.sample(rng) if rng.random() < share else rule(facts, legal, rng)

    return noisy_rule


@dataclass(frozen=True)
class Arena:
    """A game with the field that both arms meet, and the margin of its gates."""

    name: str
    settings: Mapping[str, Any]
    field: tuple[str, ...]
    margin: float
    lowest: float
    """The least score the rules give."""

    def block(self, number: int, focal: Rule, arm: str) -> list[float]:
        """The focal policy's score at each seat of one deal."""
        game = game_named(self.name)
        config = game.config_type(**self.settings)
        seats = game.seat_count(config)
        deal = game.deal(config, stream(1, "deal", number))
        names = [f"s{seat}" for seat in range(seats)]
        field = [rule(self.name, other) for other in self.field]
        scores = []
        for mine in range(seats):
            rules = [*field[:mine], focal, *field[mine:]]
            streams = [stream(1, "seat", number, mine, seat) for seat in range(seats)]
            streams[mine] = stream(1, "focal", number, mine, arm)
            state = game.start(config, deal)
            while state.to_act:
                seen = {seat: state.observe(seat, names) for seat in sorted(state.to_act)}
                state = state.play({s: rules[s](o.facts, o.legal, streams[s]) for s, o in seen.items()})
            assert state.outcome is not None
            scores.append(float(state.outcome.scores[mine]))
        return scores

    def play(self, focal: Rule, arm: str, blocks: int) -> list[list[float]]:
        return [self.block(number, focal, arm) for number in range(blocks)]


def rule(game: str, name: str) -> Rule:
    return scripted(game, name).baseline.rule


ARENAS = (
    Arena("goofspiel", {"seats": 4}, ("random",) * 3, 0.012, -1 / 3),
    Arena("goofspiel", {"seats": 4}, ("match", "hoard", "random"), 0.01, -1 / 3),
    Arena("oshi_zumo", {}, ("random",), 0.1, -1.0),
)


def games(gates: int, blocks: int) -> None:
    print(f"\n{gates} gates a row from {blocks} blocks played, cap at the fixed test\n")
    print(
        "| candidate, for match with .1 of its moves at random | M | mean | sd | fixed n | passes | regressions | n |"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|--:|")
    for arena in ARENAS:
        match, hoard = rule(arena.name, "match"), rule(arena.name, "hoard")
        shaky = noisy(match, 0.1)
        baseline = arena.play(shaky, "baseline", blocks)
        ends = credible_ends([float(np.mean(block)) for block in baseline], arena.lowest)
        where = f"{arena.name} against {', '.join(dict.fromkeys(arena.field))}"
        alike = differences(arena.play(shaky, "candidate", blocks), baseline)
        row(f"{where}: the same", np.concatenate([alike, -alike]), arena.margin, ends, gates)
        for title, focal in (
            ("0.15 at random", noisy(match, 0.15)),
            ("half at random", noisy(match, 0.5)),
            ("hoard", hoard),
        ):
            pool = differences(arena.play(focal, "candidate", blocks), baseline)
            row(f"{where}: {title}", pool, arena.margin, ends, gates)
            lost = -float(pool.mean())
            if title == "0.15 at random" and lost > 0:
                row(f"{where}: {title}, exactly the margin", pool, lost, ends, gates)
        once, again = arena.play(match, "baseline", 50), arena.play(match, "candidate", 50)
        plan = Design(arena.margin, 10_000, least=ends[0], greatest=ends[1])
        look = decide(differences(again, once).tolist() * 200, plan)
        print(f"| {where}: match for match | {arena.margin:g} | 0 | 0 | - | {look.verdict} | - | {look.n} blocks |")


def differences(candidate: Blocks, baseline: Blocks) -> Floats:
    return np.array([block_difference(new, old) for new, old in zip(candidate, baseline, strict=True)], float)


def row(title: str, pool: Floats, margin: float, ends: tuple[float, float], gates: int) -> None:
    plan, size = design(margin, float(pool.std()), ends, 1)
    rng = np.random.default_rng(19)
    found = outcome([rng.choice(pool, plan.max_blocks) for _ in range(gates)], plan)
    print(
        f"| {title} | {margin:.4f} | {pool.mean():+.4f} | {pool.std():.3f} | {size} | {found.passed:.3f} "
        f"| {found.regressed:.3f} | {found.blocks / size:.2f} |",
        flush=True,
    )


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.gate", description="error rates and savings of the gate")
    parser.add_argument("--quick", action="store_true", help="a tenth of the gates")
    quick = parser.parse_args([*arguments]).quick
    gates = GATES // 10 if quick else GATES
    shapes(gates)
    other_caps(gates)
    games(gates, 150 if quick else 600)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
