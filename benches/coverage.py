"""How often the ladder's intervals hold, measured on simulated leagues whose truth is known.

    python -m benches.coverage            about three minutes; prints tables of docs/explanation/validation.md
    python -m benches.coverage --quick    a tenth of it

Every league is played on a schedule of `harness.config.schedule`. A score is the entrant's strength less its table's
mean strength, plus an effect of the deal on each entrant (shared by the episodes of a block) and an effect of play,
centred so that a table sums to 0. Fixed seeds: equal figures on every run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weigh.harness.config.schedule import schedule
from weigh.harness.results.ranking.ranks import call_first, places
from weigh.harness.stats.clustered import cluster_mean, estimate
from weigh.harness.stats.rank_bootstrap import draw_ranks

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

Noise = Literal["normal", "skewed", "one wild entrant", "win or lose", "strengths that do not add up"]

DEAL, PLAY = 0.1, 0.1
"""Standard deviations of the two effects, about those of goofspiel at four seats."""


@dataclass(frozen=True)
class League:
    """One simulated league."""

    entrants: int
    seats: int
    blocks: int
    noise: Noise = "normal"
    spread: float = 0.3
    """Standard deviation of the strengths, drawn once."""
    episodes: int | None = None
    """Where the run was cut short."""

    @property
    def title(self) -> str:
        cut = f" cut after {self.episodes} episodes" if self.episodes else ""
        strengths = "equal" if self.spread == 0 else "unlike"
        return f"{self.entrants} at {self.seats}, {self.blocks} blocks{cut}, {strengths}, {self.noise}"


@dataclass(frozen=True)
class Measured:
    """What was found over all repetitions and entrants."""

    clustered: float
    """Share of the ladder's intervals that hold the truth: the expected mean on this schedule."""
    textbook: float
    """The same for the interval of block means that knows nothing of the tables."""
    adjusted: float
    """The same for the interval of the adjusted mean, whose truth is the adjusted mean of the expected scores."""
    narrower: float
    """Width of the ladder's interval over that of the textbook."""
    mean_error: float
    """Root mean square error of the mean, as an estimate of the mean under an even schedule."""
    adjusted_error: float
    """The same for the opponent-adjusted mean."""


@dataclass(frozen=True)
class Ranked:
    """What was found of ranks."""

    called: float
    """Share of leagues in which somebody was called first who is not alone at the top."""
    rightly: float
    """Share of leagues in which the one true first was called first; 0 where there is none."""
    covered: float
    """Share of rank intervals that hold a true rank."""


class Table:
    """A league's schedule as arrays, and its scores, drawn again and again."""

    def __init__(self, league: League, strengths: Floats | None = None) -> None:
        names = [f"e{number:03}" for number in range(league.entrants)]
        number = {name: n for n, name in enumerate(names)}
        planned = schedule("league", names, league.seats, league.blocks, 1)[: league.episodes]
        self.league = league
        self.tables: Ints = np.array([[number[name] for name in e.entrants] for e in planned], dtype=np.intp)
        self.block_of: Ints = np.unique([e.block for e in planned], return_inverse=True)[1]
        self.entrant = self.tables.ravel()
        self.episode = np.repeat(np.arange(len(planned)), league.seats)
        self.block = np.repeat(self.block_of, league.seats)
        rng = np.random.default_rng(7)
        drawn = rng.normal(size=league.entrants) * league.spread
        self.strengths: Floats = drawn if strengths is None else strengths
        self.expected = self._expected(rng)
        count = np.bincount(self.entrant, minlength=league.entrants)
        self.truth: Floats = np.bincount(self.entrant, self.expected.ravel(), league.entrants) / count
        """Expected mean of each entrant on this schedule."""
        self.even_truth: Floats = self._even()
        """Expected mean of each entrant if all tables were equally common."""
        expected_fit = estimate(self.entrant, self.episode, self.block, self.expected.ravel(), league.entrants)
        self.adjusted_truth: Floats = expected_fit.adjusted
        """Expected adjusted mean on this schedule: `even_truth` where strengths add up."""

    def _expected(self, rng: np.random.Generator) -> Floats:
        at_table = self.strengths[self.tables]
        if self.league.noise == "win or lose":
            gain: Floats = np.tanh(2 * (at_table - at_table[:, ::-1]))
            return gain
        expected: Floats = at_table - at_table.mean(axis=1, keepdims=True)
        if self.league.noise == "strengths that do not add up":
            twist = rng.normal(size=(self.block_of.max() + 1, self.league.entrants)) * DEAL
            twisted = twist[self.block_of[:, None], self.tables]
            expected = expected + twisted - twisted.mean(axis=1, keepdims=True)
        return expected

    def _even(self) -> Floats:
        entrants, seats = self.league.entrants, self.league.seats
        if self.league.noise == "win or lose":
            met: Floats = np.tanh(2 * (self.strengths[:, None] - self.strengths)).sum(axis=1) / (entrants - 1)
            return met
        away: Floats = self.strengths - self.strengths.mean()
        return away * (seats - 1) / seats * entrants / (entrants - 1)

    def draw(self, rng: np.random.Generator) -> Floats:
        """The scores of one playing of the schedule."""
        if self.league.noise == "win or lose":
            wins = rng.uniform(size=len(self.tables)) < (1 + self.expected[:, 0]) / 2
            first = np.where(wins, 1.0, -1.0)
            return np.column_stack([first, -first]).ravel()
        deal = self._effects(rng, (self.block_of.max() + 1, self.league.entrants)) * DEAL
        play = self._effects(rng, self.tables.shape) * PLAY
        noise = deal[self.block_of[:, None], self.tables] + play
        if self.league.noise == "one wild entrant":
            noise = noise * np.where(self.tables == 0, 3.0, 1.0)
        noise -= noise.mean(axis=1, keepdims=True)
        return (self.expected + noise).ravel()

    def _effects(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return rng.exponential(size=shape) - 1 if self.league.noise == "skewed" else rng.normal(size=shape)


def measure(league: League, repetitions: int) -> Measured:
    """Play `league` so often and compare every interval with the truth."""
    table = Table(league)
    rng = np.random.default_rng(11)
    held, adjusted_held, plain, widths, plain_widths, off, adjusted_off = [], [], [], [], [], [], []
    for _ in range(repetitions):
        score = table.draw(rng)
        found = estimate(table.entrant, table.episode, table.block, score, league.entrants)
        held.append(np.abs(found.mean - table.truth) <= found.half_width)
        adjusted_held.append(np.abs(found.adjusted - table.adjusted_truth) <= found.adjusted_half_width)
        widths.append(found.half_width)
        off.append(found.mean - table.even_truth)
        adjusted_off.append(found.adjusted - table.even_truth)
        for i in range(league.entrants):
            mine = table.entrant == i
            mean, half = cluster_mean(score[mine], table.block[mine])
            plain.append(abs(mean - table.truth[i]) <= half)
            plain_widths.append(half)
    return Measured(
        clustered=float(np.mean(held)),
        textbook=float(np.mean(plain)),
        adjusted=float(np.mean(adjusted_held)),
        narrower=float(np.mean(widths) / np.mean(plain_widths)),
        mean_error=float(np.sqrt(np.mean(np.square(off)))),
        adjusted_error=float(np.sqrt(np.mean(np.square(adjusted_off)))),
    )


def measure_ranks(league: League, strengths: Floats, repetitions: int) -> Ranked:
    """Play `league` with these strengths so often, and compare ranks with the true ones."""
    table = Table(league, strengths)
    rng = np.random.default_rng(13)
    best = 1 + (strengths > strengths[:, None]).sum(axis=1)
    worst = (strengths >= strengths[:, None]).sum(axis=1)
    alone = (best == 1) & (worst == 1)
    called, rightly, covered = [], [], []
    for _ in range(repetitions):
        found = estimate(table.entrant, table.episode, table.block, table.draw(rng), league.entrants)
        ranks = draw_ranks(found, range(league.entrants))
        first = ranks.high == 1
        called.append(bool((first & ~alone).any()))
        rightly.append(bool((first & alone).any()))
        covered.append(np.mean((ranks.low <= worst) & (ranks.high >= best)))
    return Ranked(float(np.mean(called)), float(np.mean(rightly)), float(np.mean(covered)))


def measure_games(fields: Sequence[tuple[League, Floats]], repetitions: int) -> tuple[float, float]:
    """Play several games so often: the share of ladders in which somebody was wrongly called first in any of them, with
    Holm's correction and without."""
    tables = [Table(league, strengths) for league, strengths in fields]
    rng = np.random.default_rng(17)
    corrected, alone = 0, 0
    for _ in range(repetitions):
        games, wrong = [], []
        for table in tables:
            names = [f"e{number:03}" for number in range(table.league.entrants)]
            score = table.draw(rng)
            found = estimate(table.entrant, table.episode, table.block, score, table.league.entrants)
            games.append(places(names, names, found, len(tables)))
            best = table.strengths == table.strengths.max()
            alone_at_the_top = best & (best.sum() == 1)
            wrong.append([name for name, right in zip(names, alone_at_the_top, strict=True) if not right])
        called = call_first(games)
        corrected += any(game[name].first for game, names in zip(called, wrong, strict=True) for name in names)
        alone += any(
            game[name].claims and game[name].interval == (1, 1)
            for game, names in zip(called, wrong, strict=True)
            for name in names
        )
    return corrected / repetitions, alone / repetitions


ADDITIVE = (
    League(4, 4, 6),
    League(4, 4, 20),
    League(2, 2, 10),
    League(5, 2, 20),
    League(6, 4, 12, spread=0.0),
    League(6, 4, 12),
    League(13, 4, 13),
    League(13, 4, 26),
    League(6, 4, 30, "skewed"),
)
"""Leagues that are as the model says."""

OTHERS = (
    League(4, 4, 6, "skewed"),
    League(6, 4, 30, "one wild entrant"),
    League(6, 2, 30, "win or lose"),
    League(6, 2, 150, "win or lose"),
    League(13, 4, 26, "strengths that do not add up"),
    League(13, 4, 26, episodes=50),
    League(9, 4, 11, episodes=29),
)
"""Leagues that are not, and runs cut short."""

FIELDS = (
    (League(2, 2, 5), "both equal", (0.0, 0.0)),
    (League(2, 2, 40), "both equal", (0.0, 0.0)),
    (League(4, 4, 2), "two equal at the top", (0.4, 0.4, -0.4, -0.4)),
    (League(4, 4, 10), "two equal at the top", (0.4, 0.4, -0.4, -0.4)),
    (League(6, 4, 30), "all equal", (0.0,) * 6),
    (League(13, 4, 26), "two equal at the top", (0.4, 0.4, *([-0.1] * 11))),
    (League(4, 4, 10), "first by .1", (0.1, 0.0, 0.0, 0.0)),
    (League(4, 4, 10), "first by .2", (0.2, 0.0, 0.0, 0.0)),
    (League(13, 4, 26), "first by .2", (0.2, *([0.0] * 12))),
)
"""Leagues for ranks, with the strengths of the entrants."""

TWO_LEADERS = (League(4, 4, 10), np.array((0.4, 0.4, -0.4, -0.4)))
CLEAR = (League(4, 4, 10), np.array((0.6, 0.0, -0.2, -0.4)))


@dataclass(frozen=True)
class Uneven:
    """A league in which not everybody met the same opponents: some of its blocks, those of an extension, are played by
    some of its entrants only. Strengths add up, so that who is best is known."""

    title: str
    strengths: tuple[float, ...]
    blocks: tuple[tuple[tuple[int, ...], int], ...]
    """Who plays at a table, and how many such blocks there are."""


def measure_uneven(case: Uneven, repetitions: int) -> UnevenRanked:
    """Play such a league so often: how often somebody who is not the one best is called first, by the ladder's rule and
    by the mean alone, and how often the one best is."""
    tables = [table for table, count in case.blocks for _ in range(count)]
    seats = len(tables[0])
    rows = [table[row:] + table[:row] for table in tables for row in range(seats)]
    entrant = np.array(rows, dtype=np.intp).ravel()
    episode = np.repeat(np.arange(len(rows)), seats)
    block = np.repeat(np.arange(len(tables)), seats * seats)
    strengths = np.array(case.strengths)
    expected = strengths[entrant] - np.repeat(strengths[entrant].reshape(-1, seats).mean(axis=1), seats)
    best = np.flatnonzero(strengths == strengths.max())
    names = [f"e{number:03}" for number in range(len(strengths))]
    rng = np.random.default_rng(19)
    called, by_mean, rightly = 0, 0, 0
    for _ in range(repetitions):
        noise = rng.normal(size=(len(tables), len(names)))[block, entrant] * DEAL + rng.normal(size=len(entrant)) * PLAY
        noise -= np.repeat(noise.reshape(-1, seats).mean(axis=1), seats)
        found = estimate(entrant, episode, block, expected + noise, len(names))
        (places_found,) = call_first([places(names, names, found, 1)])
        first = [number for number, name in enumerate(names) if places_found[name].first]
        right = first == best.tolist()
        called += bool(first) and not right
        rightly += right
        alone = np.flatnonzero(draw_ranks(found, range(len(names))).high == 1)
        by_mean += len(alone) > 0 and alone.tolist() != best.tolist()
    return UnevenRanked(called / repetitions, by_mean / repetitions, rightly / repetitions)


def measure_late(twist: float, repetitions: int) -> tuple[float, float]:
    """How often the interval of the adjusted mean holds the mean against all others equally often, where four entrants
    met in pairs in ten blocks each and a fifth met two of them only: of the four, and of the fifth.

    `twist` is the standard deviation of what each pair's expected difference has beside that of their strengths, drawn
    anew each time: 0 where strengths add up."""
    tables = [(a, b) for a in range(4) for b in range(a + 1, 4)] * 10 + [(0, 4), (1, 4)] * 10
    entrant = np.array([seat for a, b in tables for seat in (a, b, b, a)], dtype=np.intp)
    episode, block = np.repeat(np.arange(2 * len(tables)), 2), np.repeat(np.arange(len(tables)), 4)
    strengths = np.array((0.3, 0.1, -0.1, -0.3, 0.2))
    rng = np.random.default_rng(31)
    held = np.zeros(len(strengths))
    for _ in range(repetitions):
        twisted = np.triu(rng.normal(size=(5, 5)) * twist, 1)
        gain = (strengths[:, None] - strengths + twisted - twisted.T) / 2
        lead = np.array([gain[a, b] for a, b in tables]) + rng.normal(size=len(tables)) * DEAL
        play = lead[:, None] + rng.normal(size=(len(tables), 2)) * PLAY
        score = np.stack([play[:, 0], -play[:, 0], -play[:, 1], play[:, 1]], axis=1).ravel()
        found = estimate(entrant, episode, block, score, len(strengths))
        held += np.abs(found.adjusted - gain.sum(axis=1) / 4) <= found.adjusted_half_width
    return float(held[:4].mean() / repetitions), float(held[4] / repetitions)


@dataclass(frozen=True)
class UnevenRanked:
    """What was found of who is called first on an uneven schedule: shares of leagues."""

    called: float
    """Somebody wrongly."""
    by_mean: float
    """The same by a rule that knows the mean alone."""
    rightly: float


UNEVEN = (
    Uneven(
        "two equal best join, one who met the weak leads",
        (0.3, 0.3, 0.2, -0.5),
        (((2, 3), 10), ((0, 1), 10), ((0, 2), 2), ((1, 2), 2)),
    ),
    Uneven(
        "two equal best, one of whom met the weak",
        (0.3, 0.3, 0.0, -0.5),
        (((0, 3), 10), ((1, 2), 10), ((0, 1), 4), ((2, 3), 4)),
    ),
    Uneven(
        "the one best joins late",
        (0.4, 0.2, 0.0, -0.5),
        (((1, 2), 8), ((1, 3), 8), ((2, 3), 8), ((0, 1), 8), ((0, 2), 4)),
    ),
)
"""Leagues on uneven schedules."""

GAMES = (
    ("5 games, two equal at the top in each", (TWO_LEADERS,) * 5),
    ("5 games, two equal at the top in three, a clear first in two", (*(TWO_LEADERS,) * 3, CLEAR, CLEAR)),
    ("5 games of 2, 20 blocks, both equal", ((League(2, 2, 20), np.zeros(2)),) * 5),
)
"""Ladders of several games."""


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benches.coverage", description="coverage of the ladder's intervals"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    quick = parser.parse_args([*arguments]).quick
    repetitions, rank_repetitions = (200, 100) if quick else (2_000, 1_000)
    print(f"{repetitions} repetitions a league; 95 % intervals\n")
    print(
        "| league | interval holds | textbook holds | width / textbook | adjusted holds | error of mean "
        "| of adjusted mean |"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|")
    for league in (*ADDITIVE, *OTHERS):
        m = measure(league, repetitions)
        print(
            f"| {league.title} | {m.clustered:.3f} | {m.textbook:.3f} | {m.narrower:.2f} | {m.adjusted:.3f} "
            f"| {m.mean_error:.3f} | {m.adjusted_error:.3f} |",
            flush=True,
        )
    print(f"\n{rank_repetitions} repetitions a field\n")
    print("| field | wrongly called first | rightly called first | rank interval holds |")
    print("|:--|--:|--:|--:|")
    for league, what, strengths in FIELDS:
        r = measure_ranks(league, np.array(strengths), rank_repetitions)
        size = f"{league.entrants} at {league.seats}, {league.blocks} blocks"
        print(f"| {size}, {what} | {r.called:.3f} | {r.rightly:.3f} | {r.covered:.3f} |", flush=True)
    print(f"\n{rank_repetitions} repetitions a league on an uneven schedule\n")
    print("| league of pairs | wrongly called first | by the mean alone | rightly called first |")
    print("|:--|--:|--:|--:|")
    for case in UNEVEN:
        u = measure_uneven(case, rank_repetitions)
        print(f"| {case.title} | {u.called:.3f} | {u.by_mean:.3f} | {u.rightly:.3f} |", flush=True)
    print(f"\n{rank_repetitions} repetitions; of a league of pairs, the fifth met two of the others only\n")
    print("| sd of what a pair has beside strengths | adjusted holds, of the four | of the fifth |")
    print("|--:|--:|--:|")
    for twist in (0.0, 0.05, 0.1, 0.2):
        four, fifth = measure_late(twist, rank_repetitions)
        print(f"| {twist:g} | {four:.3f} | {fifth:.3f} |", flush=True)
    print(f"\n{rank_repetitions} repetitions a ladder of several games\n")
    print("| ladder | anybody wrongly called first | without Holm |")
    print("|:--|--:|--:|")
    for title, fields in GAMES:
        corrected, alone = measure_games(fields, rank_repetitions)
        print(f"| {title} | {corrected:.3f} | {alone:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
