"""What a number of blocks can show of one game's differences, and what it takes to play them.

Owns the table of blocks, and how much two entrants' difference varies from block to block, which every question of
power rests on: its sources (an earlier run of the same game, or scripted policies playing now) and the carrying over to
a field of another size. It is the error of a difference that `harness.stats.clustered` gives, put on one block:

    s = sqrt(B) * sqrt(sum over blocks b of (influence[b, i] - influence[b, j])^2)

At a full table it is the standard deviation of the difference of the two block means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, sqrt
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.games.game import Json, Observation, Seat
from weigh.harness.config.schedule import episodes as scheduled
from weigh.harness.planning.estimates import Span, plain
from weigh.harness.run.offline import PURPOSE, played
from weigh.harness.stats.clustered import LEAST_ALIKE, Estimates, estimate
from weigh.harness.stats.power import Test, blocks_needed, detectable
from weigh.harness.stats.rank_bootstrap import errors_beside
from weigh.policies.contract import ModelClient, Player, Policy, Reply, Retry
from weigh.policies.scripted.registry import scripted, yardsticks

if TYPE_CHECKING:
    from weigh.harness.config.designs import Rows
    from weigh.harness.results.ranking.rows import GameRows
    from weigh.harness.run.runner import Division

MULTIPLES = (0.5, 1, 2, 4)
"""Of the blocks there are, in the table."""


@dataclass(frozen=True, slots=True)
class Row:
    """So many blocks."""

    blocks: int
    detects: float | None
    """The minimum detectable difference; None where there is none that scores could have."""
    episodes: int
    calls: Span
    cost: Span | None
    """US dollars; None: not known."""

    def to_json(self) -> dict[str, Json]:
        return {
            "blocks": self.blocks,
            "minimum_detectable_difference": plain(self.detects),
            "episodes": self.episodes,
            "calls": self.calls.to_json(),
            "cost_usd": None if self.cost is None else self.cost.to_json(),
        }


@dataclass(frozen=True, slots=True)
class PowerTable:
    """What a game's blocks can show."""

    test: Test
    blocks: int
    """Planned, or played."""
    spread: Spread | None
    """None: nothing tells how much blocks differ."""
    reason: str
    """Where the spread comes from, or why there is none: one line."""
    detects: float | None
    needed: int | None
    """Blocks that find `test.difference`."""
    rows: tuple[Row, ...]

    @property
    def more(self) -> int | None:
        """Blocks still needed."""
        return None if self.needed is None else max(0, self.needed - self.blocks)

    def to_json(self) -> dict[str, Json]:
        return {
            "difference": self.test.difference,
            "alpha": self.test.alpha,
            "power": self.test.power,
            "blocks": self.blocks,
            "minimum_detectable_difference": plain(self.detects),
            "blocks_needed": self.needed,
            "more_blocks": self.more,
            "spread": None if self.spread is None else self.spread.to_json(),
            "spread_from": self.reason,
            "rows": [row.to_json() for row in self.rows],
        }


def power_table(
    blocks: int, seats: int, test: Test, spread: Spread | None, reason: str, calls: Span, cost: Span | None
) -> PowerTable:
    """`calls` and `cost` are those of `blocks`. The table has half, once, twice and four times the blocks, and those
    that the difference needs."""

    def shown(number: int) -> float | None:
        return None if spread is None else detectable(spread.typical, number, test, spread.share)

    needed = None if spread is None else blocks_needed(spread.typical, test, spread.share)
    wanted = {max(1, round(blocks * multiple + 0.01)) for multiple in MULTIPLES} | ({needed} if needed else set())
    rows = tuple(
        Row(n, shown(n), n * seats, calls * (n / blocks), None if cost is None else cost * (n / blocks))
        for n in sorted(wanted)
    )
    return PowerTable(test, blocks, spread, reason, shown(blocks), needed, rows)


Source: TypeAlias = Literal["run", "scripted"]

BLOCKS = 60
"""Played for a spread, where EPISODES allow."""
EPISODES = 400
LEAST_PLAYED = 20
"""Blocks all the same, where a block has many episodes."""

SITTINGS = 10
"""Blocks that every entrant of the field of scripted proxies sits in, about: a larger field is cut, for it would spread
the blocks too thinly over its pairs."""

SLIPS = (0.1, 0.25, 0.4)
"""Shares of moves drawn at random by the scripted proxies of prompted entrants: those of one policy are nearly equal,
and none plays one and the same game twice."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of a block's contribution to a difference, over pairs of entrants."""

    source: Source
    blocks: int
    """It was measured on."""
    pairs: int
    typical: float
    """Root of the mean square over the pairs."""
    low: float
    high: float
    """Of the pair that varies least, and most."""
    share: float = 1.0
    """Degrees of freedom over blocks: (f + 1) / B, the mean over the pairs. 1 at a full table."""
    alike: int = 0
    """Pairs without any spread, left out."""

    def at(self, factor: float) -> Spread:
        """In a field where an entrant sits in 1 / factor^2 as many of the blocks."""
        low, typical, high = (value * factor for value in (self.low, self.typical, self.high))
        return replace(self, low=low, typical=typical, high=high, share=self.share / factor**2)

    def to_json(self) -> dict[str, Json]:
        return {
            "source": self.source,
            "blocks": self.blocks,
            "pairs": self.pairs,
            "sd_block": plain(self.typical),
            "sd_block_low": plain(self.low),
            "sd_block_high": plain(self.high),
            "freedom_share": plain(self.share),
            "pairs_without_spread": self.alike,
        }


def spread_of(estimates: Estimates, pairs: Sequence[tuple[int, int]], source: Source) -> Spread | None:
    """Over those of `pairs` (entrant numbers) whose means both have an interval; None when none has, or none varies."""
    blocks = len(estimates.influence)
    found: list[float] = []
    freedom: list[float] = []
    alike = 0
    for one, other in pairs:
        if isnan(estimates.half_width[one] + estimates.half_width[other]):
            continue
        error = float(errors_beside(estimates.influence, one, [other])[0])
        if error == 0:
            alike += 1
            continue
        found.append(error * sqrt(blocks))
        freedom.append(float(min(estimates.freedom[one], estimates.freedom[other])))
    if not found:
        return None
    return Spread(
        source=source,
        blocks=blocks,
        pairs=len(found),
        typical=sqrt(sum(value * value for value in found) / len(found)),
        low=min(found),
        high=max(found),
        share=(sum(freedom) / len(freedom) + 1) / blocks,
        alike=alike,
    )


def spread_in(rows: GameRows) -> Spread | None:
    """From one game's rows of a run: over the pairs with a prompted entrant in them, or all where there is none.

    None with fewer than LEAST_ALIKE blocks, or where nothing varies.
    """
    if not rows.names:
        return None
    prompted = set(rows.seats.loc[rows.seats["model"].notna(), "entrant"])
    estimates = estimate(*rows.arrays(), len(rows.names))
    if len(estimates.influence) < LEAST_ALIKE:
        return None
    return spread_of(estimates, pairs_with([name in prompted for name in rows.names]), "run")


def pairs_with(prompted: Sequence[bool]) -> list[tuple[int, int]]:
    """The pairs of entrant numbers in which at least one is prompted; all where none is."""
    pairs = list(combinations(range(len(prompted)), 2))
    return [pair for pair in pairs if prompted[pair[0]] or prompted[pair[1]]] or pairs


def blocks_for(seats: int) -> int:
    """How many blocks are played for a spread at so many seats."""
    return max(LEAST_PLAYED, min(BLOCKS, EPISODES // seats))


async def scripted_spread(division: Division, seats: int, seed: int, rows: Rows) -> Spread | None:
    """Play scripted policies in the field's places and measure. The field's own scripted entrants play as they are."""
    import numpy as np

    field = proxies(division, seats)
    names = sorted(field)
    deals: dict[str, int] = {}
    seated: list[tuple[int, int, int, float]] = []
    for count, episode in enumerate(scheduled(division.game.name, names, seats, blocks_for(seats), seed, rows)):
        block = deals.setdefault(episode.block, len(deals))
        policies = [field[name] for name in episode.entrants]
        record = await played(division, policies, f"{PURPOSE}/spread/{episode.key}", block, seed)
        seated += [
            (names.index(name), count, block, score)
            for name, score in zip(episode.entrants, record.scores, strict=True)
        ]
    entrant, at, inside = (np.array([row[n] for row in seated], dtype=np.intp) for n in range(3))
    scores = np.array([row[3] for row in seated])
    estimates = estimate(entrant, at, inside, scores, len(names))
    spread = spread_of(estimates, pairs_with([isinstance(field[name], Slipping) for name in names]), "scripted")
    if spread is None:
        return None
    return spread.at(sqrt(len(division.policies) / len(names)))


def proxies(division: Division, seats: int) -> dict[str, Policy]:
    """The field by name, prompted entrants replaced by scripted policies that slip; cut so that all sit enough."""
    known = yardsticks(division.game.name)
    prompted = [name for name, policy in division.policies.items() if policy.model is not None]
    others = [name for name in division.policies if name not in prompted]
    kept = [*prompted, *others][: blocks_for(seats) * seats // SITTINGS]
    field: dict[str, Policy] = {}
    for n, name in enumerate(kept):
        policy = division.policies[name]
        if policy.model is not None:
            slip = SLIPS[n // len(known) % len(SLIPS)]
            policy = Slipping(scripted(division.game.name, known[n % len(known)]), slip)
        field[name] = policy
    return field


@dataclass(frozen=True, slots=True)
class Slipping:
    """A scripted policy that makes a share of its moves at random. A policy, and its own player once it is seated."""

    policy: Policy
    share: float
    player: Player | None = None
    rng: Random | None = None

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def digest(self) -> str:
        return self.policy.digest

    @property
    def model(self) -> None:
        return

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None = None) -> Player:
        return replace(self, player=self.policy.sit(seat, rng, None), rng=rng)

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        if self.player is None or self.rng is None:
            raise TypeError(f"{self.name} decides before it sits")
        if self.rng.random() < self.share:
            return Reply(move=observation.legal.sample(self.rng))
        return await self.player.decide(observation, retry)
