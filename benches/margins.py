"""How large a margin a gate can hold in each game, and how many blocks that takes.

    python -m benches margins      a minute or two

The baseline is the game's fallback policy with a tenth of its moves drawn at random, against the field that a gate
takes by default, on the default config. The candidate is the same policy with randomness of its own: unchanged, and
not exactly repeatable, as a model is. *Sd* is the standard deviation of its block differences. *Best to worst* is the
mean score of the game's best scripted policy in this seat less that of its worst, which shows how long a margin is.
*Margin* is the smallest of those tried that at least 80 % of 500 gates pass within 100 blocks, drawn from the 60 that
were played. *Blocks* is the number by which 80 % have passed, *exact* that of a policy that moves exactly as before,
and *episodes* what *blocks* come to in each arm. Fixed seeds: equal figures on every run.
"""

from __future__ import annotations

import sys

import numpy as np

from benches._arenas import Arena, noisy, rule
from benches.gate import differences, ends_of
from weigh.games.registry import GAMES
from weigh.harness.gate.sequential import Design, walk
from weigh.policies.scripted.registry import yardsticks

PLAYED, GATES, CAP, SHARE = 60, 500, 100, 0.8
MARGINS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)


def passed_at(pool: np.ndarray, design: Design) -> int | None:
    """Blocks by which `SHARE` of the gates have passed; None where fewer ever do."""
    rng = np.random.default_rng(31)
    ends = []
    for _ in range(GATES):
        last = walk(rng.choice(pool, CAP), design)[-1]
        ends.append(last.count if last.verdict == "pass" else CAP + 1)
    found = int(np.sort(ends)[round(SHARE * GATES) - 1])
    return found if found <= CAP else None


def main() -> int:
    print("| game | seats | sd | best to worst | margin | blocks | exact | episodes |")
    print("|:--|--:|--:|--:|--:|--:|--:|--:|")
    for name, game in GAMES.items():
        seats = game.seat_count(game.config_type())
        own = yardsticks(name)
        field = tuple(own[place % len(own)] for place in range(seats - 1))
        arena = Arena(name, {}, field, 0.1)
        shaky = noisy(rule(name, game.fallback), 0.1)
        baseline = arena.play(shaky, "baseline", PLAYED)
        alike = differences(arena.play(shaky, "candidate", PLAYED), baseline)
        pool = np.concatenate([alike, -alike])
        means = [float(np.mean(arena.play(rule(name, policy), "baseline", PLAYED))) for policy in own]
        least, greatest = ends_of(baseline, arena.lowest)
        told = "- | - | - | - |"
        for margin in (margin for margin in MARGINS if margin < -least):
            design = Design(margin, CAP, least=least, greatest=greatest)
            blocks = passed_at(pool, design)
            if blocks is not None:
                told = f"{margin:g} | {blocks} | {design.fewest_to_pass} | {blocks * seats:,} |"
                break
        print(f"| {name} | {seats} | {pool.std():.3f} | {max(means) - min(means):.2f} | {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
