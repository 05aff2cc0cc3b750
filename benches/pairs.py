"""How often a circle is claimed that is none, and how often one that is there, on simulated leagues.

    python -m benches pairs      half a minute; prints a table of docs/explanation/validation.md

Schedules, deal effects and play are those of `benches.coverage`. A circle is planted among three entrants: at a table,
each gets something off the next, beside what strengths give. Fixed seeds: equal figures on every run.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from benches.coverage import Floats, Ints, League, Table
from weigh.harness.results.ranking.intransitivity import cyclic_share, sure_circle
from weigh.harness.results.ranking.pairwise import Encounters, meetings, pair_blocks
from weigh.harness.stats.power import LEVEL, ZERO

REPETITIONS = 1_000


@dataclass(frozen=True)
class Found:
    """Shares of the repetitions, and means over them."""

    claimed: float
    """A circle was named that is none."""
    found: float
    """The planted circle was named."""
    share: float
    expected: float
    rejected: float
    """The cyclic share was significant."""


def measure(league: League, strengths: Floats, size: float, sides: int) -> Found:
    """Play `league` so often, with the first `sides` sides of a circle 0 > 1 > 2 > 0 planted; only 3 make a circle."""
    table = Table(league, strengths)
    names = tuple(f"e{number:03}" for number in range(league.entrants))
    gains = np.zeros((league.entrants, league.entrants))
    for one, other in ((0, 1), (1, 2), (2, 0))[:sides]:
        gains[one, other], gains[other, one] = size, -size
    planted = np.array([gains[np.ix_(row, row)].sum(axis=1) / league.seats for row in table.tables])
    rng = np.random.default_rng(17)
    tally: list[tuple[bool, bool, float, float, bool]] = []
    for _ in range(REPETITIONS):
        score = _scores(table, planted, rng)
        cells = pair_blocks(meetings(_encounters(names, table.tables, score, table.block_of)), league.entrants)
        shown, claim = cyclic_share(cells), sure_circle(cells)
        true = sides == 3 and claim is not None and claim.members == (0, 1, 2)
        share, expected, p = (0.0, 0.0, 1.0) if shown is None else (shown.share, shown.expected, shown.p_value)
        assert expected is not None
        assert p is not None
        tally.append((claim is not None and not true, true, share, expected, p <= LEVEL))
    return Found(*(float(column) for column in np.mean(np.array(tally, dtype=np.float64), axis=0)))


def _scores(table: Table, planted: Floats, rng: np.random.Generator) -> Floats:
    if table.league.noise == "win or lose":
        wins = rng.uniform(size=len(table.tables)) < (1 + np.clip(table.expected[:, 0] + planted[:, 0], -1, 1)) / 2
        first = np.where(wins, 1.0, -1.0)
        return np.column_stack([first, -first])
    return table.draw(rng).reshape(table.tables.shape) + planted


def _encounters(names: tuple[str, ...], tables: Ints, score: Floats, block: Ints) -> Encounters:
    above = (score[:, None, :] - score[:, :, None] > ZERO).sum(axis=2)
    return Encounters("league", names, tables, score, above, block)


EQUAL = 0.0
RISING = 0.1
LEAGUES = (
    (League(3, 2, 15), EQUAL, 0.0, 0),
    (League(3, 2, 45, "win or lose"), EQUAL, 0.0, 0),
    (League(6, 2, 150, "win or lose"), EQUAL, 0.0, 0),
    (League(6, 2, 150, "win or lose"), RISING, 0.0, 0),
    (League(4, 4, 20), EQUAL, 0.0, 0),
    (League(6, 4, 30), EQUAL, 0.0, 0),
    (League(6, 4, 30), RISING, 0.0, 0),
    (League(6, 4, 30, "skewed"), EQUAL, 0.0, 0),
    (League(3, 2, 45), EQUAL, 0.6, 2),
    (League(3, 2, 45, "win or lose"), EQUAL, 1.6, 2),
    (League(6, 4, 60), EQUAL, 1.0, 2),
    (League(3, 2, 45), EQUAL, 0.2, 3),
    (League(3, 2, 45, "win or lose"), EQUAL, 1.0, 3),
    (League(3, 2, 90, "win or lose"), EQUAL, 1.0, 3),
    (League(6, 2, 450, "win or lose"), EQUAL, 1.0, 3),
    (League(6, 4, 60), EQUAL, 0.4, 3),
    (League(6, 4, 120), EQUAL, 0.4, 3),
)
"""A league, the step from each entrant's strength to the next, and the size and number of the sides planted. Two sides
make no circle, and are the case in which one is named most easily: two sides are sure and the third is even."""


def main() -> int:
    print(f"{REPETITIONS} repetitions a league\n")
    print("| league | planted | wrongly named | rightly named | cyclic share | by noise | significant |")
    print("|:--|:--|--:|--:|--:|--:|--:|")
    for league, step, size, sides in LEAGUES:
        found = measure(league, step * np.arange(league.entrants), size, sides)
        kind = "" if league.noise == "normal" else f", {league.noise}"
        what = {0: "equal" if step == 0 else f"strengths in steps of {step:g}", 2: f"two sides of {size:g}"}
        parts = f"{found.share:.3f} | {found.expected:.3f} | {found.rejected:.3f}"
        if league.entrants == league.seats:  # there differences add up by construction, and no share is shown
            parts = "- | - | -"
        print(
            f"| {league.entrants} at {league.seats}, {league.blocks} blocks{kind} "
            f"| {what.get(sides, f'a circle of {size:g}')} | {found.claimed:.3f} "
            f"| {f'{found.found:.3f}' if sides == 3 else '-'} | {parts} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
