"""How often a claim from few blocks is wrong where scores are not as normal theory has them, on simulated leagues.

    python -m benches rare            about six minutes
    python -m benches rare --quick    a tenth of it

Each league is a full table of four, one episode a block. Ann and bob are the best, and bob is unlike the others: it
fails rarely, has long tails, mostly scores the same, or is lost to an outage where it was about to lose. Two claims are
measured, each in its two grades: "X is first" of a ladder, and "B is higher" or "lower" of two arms on the same blocks.
A claim of a true difference is never counted as wrong. Fixed seeds: equal figures on every run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benches.coverage import Floats
from weigh.harness.results.ranking.ranks import call_first, places
from weigh.harness.stats.clustered import cluster_mean, estimate
from weigh.harness.stats.rare import bounded_interval, grade

NAMES = ("ann", "bob", "cy", "dan")
STRENGTHS = np.array((0.2, 0.2, -0.2, -0.2))
NOISE = 0.07
"""Standard deviation of each block mean, about that of goofspiel at four seats."""

Luck = Callable[[np.random.Generator, int], Floats]
"""What bob's score has, block by block, beside its strength and noise. At least -1, at most 0.7."""


@dataclass(frozen=True)
class Generator:
    """A league's scores."""

    title: str
    luck: Luck
    worse: float = 0.0
    """By how much bob is truly worse than ann: then it is wrong to call bob first, and right to call ann."""
    void: tuple[float, float] = (0.0, 0.0)
    """The chance that an outage ends a block, and the chance that it does where bob scores less than it should."""

    @property
    def truth(self) -> float:
        """Bob's expected score."""
        return float(STRENGTHS[1] - self.worse * (1 - 1 / len(NAMES)))

    def draw(self, rng: np.random.Generator, blocks: int) -> Floats:
        """blocks x entrants: scores that sum to 0 in each block; blocks that an outage ended are left out."""
        luck = self.luck(rng, blocks)
        score = STRENGTHS + rng.normal(size=(blocks, len(NAMES))).clip(-3, 3) * NOISE
        score[:, 1] += luck - self.worse
        score -= score.mean(axis=1, keepdims=True)
        lost = np.where(score[:, 1] < self.truth, self.void[1], self.void[0])
        return score[rng.random(blocks) >= lost]


def rarely(share: float, loss: float) -> Luck:
    """Loses `loss` in this share of blocks, and gains in the others what makes the mean 0."""

    def luck(rng: np.random.Generator, blocks: int) -> Floats:
        return np.where(rng.random(blocks) < share, -loss, share * loss / (1 - share))

    return luck


def tailed(freedom: float) -> Luck:
    """Student's t with so many degrees of freedom, times 0.1, cut at 0.7."""
    return lambda rng, blocks: (rng.standard_t(freedom, blocks) * 0.1).clip(-0.7, 0.7)


def mostly_nothing(zeros: float) -> Luck:
    """Nothing in this share of blocks; of the others it loses 0.7 in one of five, and gains 0.175 in four."""

    def luck(rng: np.random.Generator, blocks: int) -> Floats:
        there = rng.random(blocks) >= zeros
        return there * np.where(rng.random(blocks) < 0.2, -0.7, 0.175)

    return luck


GENERATORS = (
    Generator("nothing but noise", rarely(0.0, 0.0)),
    *(
        Generator(f"loses {loss:g} in {share:.0%}", rarely(share, loss))
        for loss in (0.6, 1.0)
        for share in (0.01, 0.02, 0.03, 0.05, 0.1)
    ),
    Generator("worse by .2", rarely(0.0, 0.0), worse=0.2),
    Generator("worse by .04, loses 1 in 5%", rarely(0.05, 1.0), worse=0.04),
    Generator("long tails (t, 2)", tailed(2)),
    Generator("long tails (t, 1)", tailed(1)),
    *(Generator(f"{zeros:.0%} zeros", mostly_nothing(zeros)) for zeros in (0.6, 0.75, 0.9)),
    Generator("voids: 2% and 8%", tailed(5), void=(0.02, 0.08)),
    Generator("voids: 4% and 22%", tailed(5), void=(0.04, 0.22)),
)
BLOCKS = (10, 20, 40, 160)


@dataclass(frozen=True)
class Found:
    """Shares of the repetitions."""

    guaranteed: float
    """A wrong claim was made as guaranteed."""
    barring: float
    """A wrong claim was made, in either grade."""
    covered: float
    """The interval of bob's mean, or of the difference, held the truth."""
    rightly: float
    """A right claim was made as guaranteed."""


def first(generator: Generator, blocks: int, repetitions: int) -> Found:
    """The claim "X is first" of a ladder. With ann and bob equal, every such claim is wrong."""
    rng = np.random.default_rng(23)
    tally = np.zeros(4)
    for _ in range(repetitions):
        score = generator.draw(rng, blocks)
        entrant, block = np.tile(np.arange(len(NAMES)), len(score)), np.repeat(np.arange(len(score)), len(NAMES))
        found = estimate(entrant, block, block, score.ravel(), len(NAMES))
        whole = len(score) == blocks
        (placed,) = call_first([places(NAMES, NAMES, found, 1, (-1.0, 1.0) if whole else None)])
        wrong = [placed[name] for name in NAMES if not (name == "ann" and generator.worse)]
        held = abs(found.mean[1] - generator.truth) <= found.half_width[1]
        rightly = generator.worse > 0 and placed["ann"].first_guaranteed
        tally += any(place.first_guaranteed for place in wrong), any(place.first for place in wrong), held, rightly
    return Found(*(tally / repetitions).tolist())


def higher(generator: Generator, blocks: int, repetitions: int) -> Found:
    """The claim that bob is higher than ann on the same blocks, or lower. With voids, nothing is guaranteed."""
    rng = np.random.default_rng(29)
    tally = np.zeros(4)
    for _ in range(repetitions):
        score = generator.draw(rng, blocks)
        values = score[:, 1] - score[:, 0]
        mean, half = cluster_mean(values, np.arange(len(values)))
        bounds = bounded_interval(values, -2.0, 2.0) if len(values) == blocks else (-2.0, 2.0)
        found = grade((mean - half, mean + half), bounds)
        right = generator.worse > 0 and mean < 0
        held = abs(mean + generator.worse) <= half
        guaranteed = found == "guaranteed"
        tally += guaranteed and not right, found is not None and not right, held, guaranteed and right
    return Found(*(tally / repetitions).tolist())


def _share(value: float, repetitions: int) -> str:
    """With its standard error by the repetitions."""
    return f"{value:.3f} ± {sqrt(max(value * (1 - value), 1e-9) / repetitions):.3f}"


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.rare", description="claims under rare failures")
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    repetitions = 50 if parser.parse_args([*arguments]).quick else 500
    print(f"{repetitions} repetitions; ± one standard error\n")
    print(
        "| bob | blocks | first, guaranteed: wrong | first: wrong | its interval holds | higher, guaranteed: wrong "
        "| higher: wrong | its interval holds | rightly first, guaranteed | rightly lower, guaranteed |"
    )
    print(f"|:--{'|--:' * 9}|")
    for generator in GENERATORS:
        for blocks in BLOCKS:
            found = first(generator, blocks, repetitions), higher(generator, blocks, repetitions)
            shares = [share for one in found for share in (one.guaranteed, one.barring, one.covered)]
            shares += [one.rightly for one in found]
            texts = " | ".join(_share(share, repetitions) for share in shares)
            print(f"| {generator.title} | {blocks} | {texts} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
