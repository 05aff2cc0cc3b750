"""What a rematch says of a pair: how often one bids its lowest card on a big prize, arm by arm, and what differs.

Owns the count, the paired comparison by block and the verdicts. Pure functions of records. Goofspiel only.
`docs/explanation/appendix.md`, "Controlled replay", says what each number estimates and when not to trust it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from weigh.harness.audit.collusion.seats import game_of
from weigh.harness.config.schedule import AGAIN, ALIASES, WITHOUT, Episode, Pair, split_key
from weigh.harness.stats.clustered import at_most, zeroed
from weigh.harness.stats.multiple_tests import holm_of_known
from weigh.harness.stats.paired import paired
from weigh.harness.stats.power import LEVEL, Test, blocks_needed
from weigh.harness.store.record import Record

if TYPE_CHECKING:
    from pydantic import JsonValue

Arm: TypeAlias = Literal["first", "again", "aliases", "replaced"]
"""`first` is the run that is played again."""

Verdict: TypeAlias = Literal["less", "more", "same", "open"]
"""How often the lowest card is bid in the arm, beside `again`. `open`: nobody can tell yet."""

MARGIN: Final = 0.10
"""A difference of shares below this counts as none: `same` is said when the whole interval is, whatever its p."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One table in one arm, as one pair sees it."""

    pair: Pair
    arm: Arm
    table: str
    """Key of the first episode."""
    block: str
    low: int
    """High prizes, as the audit counts them, for which the first of the pair bid its lowest card."""
    rounds: int
    """High prizes for which it chose a card itself."""
    score: float
    """Of the second one's seat, whoever sat there."""


@dataclass(frozen=True, slots=True)
class Level:
    """One arm of one pair."""

    arm: Arm
    tables: int
    blocks: int
    low: int
    rounds: int
    score: float | None
    """Mean score of the second one's seat; None without a table."""

    @property
    def share(self) -> float | None:
        return self.low / self.rounds if self.rounds else None

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "share": self.share}


@dataclass(frozen=True, slots=True)
class Contrast:
    """The share in `again` less the share in another arm, over the tables that both have."""

    arm: Arm
    blocks: int
    tables: int
    mean: float | None
    """Over blocks, each with the same weight."""
    interval: tuple[float, float] | None
    """95 %, t; None for fewer than two blocks, and for fewer than five that all agree."""
    p: float | None
    """Two-sided, by flipping signs of blocks."""
    p_holm: float | None = None
    """Corrected for all contrasts of the rematch."""
    verdict: Verdict = "open"
    guaranteed: bool = False
    """Whether a difference is sure even if rare failures have not shown yet."""
    more_blocks: int | None = None
    """About how many more blocks an open question needs; None when it is not open, or nobody can tell."""

    def to_json(self) -> dict[str, JsonValue]:
        found = asdict(self)
        del found["arm"]
        return {"arms": [AGAIN, self.arm], **found, "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the rematch says of one pair."""

    pair: Pair
    stand_in: str
    levels: tuple[Level, ...]
    """`first`, `again`, `aliases`, `replaced`."""
    contrasts: tuple[Contrast, ...]
    """`aliases`, `replaced`."""

    @property
    def open(self) -> bool:
        return any(contrast.verdict == "open" for contrast in self.contrasts)

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "entrant": self.pair[0],
            "other": self.pair[1],
            "stand_in": self.stand_in,
            "levels": [level.to_json() for level in self.levels],
            "contrasts": [contrast.to_json() for contrast in self.contrasts],
        }


def seen(record: Record, table: Episode, pairs: Sequence[Pair]) -> Iterator[Seen]:
    """A record of the first run or of the rematch as each pair sees it; `table` is the episode as first played."""
    _, name = split_key(record.key)
    game = game_of(record)
    for pair in pairs:
        if not set(pair) <= set(table.entrants):
            continue
        arm: Arm
        if name is None:
            arm = "first"
        elif name == AGAIN:
            arm = "again"
        elif name == ALIASES:
            arm = "aliases"
        elif name == f"{WITHOUT}{pair[1]}":
            arm = "replaced"
        else:
            continue
        one, other = (table.entrants.index(name) for name in pair)
        bids = game.chosen(one)
        low = sum(bid.lowest_bid(one) for bid in bids)
        yield Seen(pair, arm, table.key, table.block, low, len(bids), record.scores[other])


def answers(
    sights: Iterable[Seen], pairs: Sequence[Pair], stand_ins: Mapping[str, Sequence[str]]
) -> tuple[Answer, ...]:
    """What all of it says of each pair, in the order of `pairs`. The order of `sights` plays no part."""
    ordered = sorted(sights, key=lambda sight: (sight.block, sight.table, sight.arm))
    found = []
    for pair in pairs:
        mine = [sight for sight in ordered if sight.pair == pair]
        arms: tuple[Arm, ...] = ("first", "again", "aliases", "replaced")
        levels = tuple(_level(arm, [sight for sight in mine if sight.arm == arm]) for arm in arms)
        contrasts = (_contrast(mine, "aliases"), _contrast(mine, "replaced"))
        found.append(Answer(pair, " or ".join(stand_ins[pair[1]]), levels, contrasts))
    return _judged(found)


def _level(arm: Arm, sights: Sequence[Seen]) -> Level:
    return Level(
        arm=arm,
        tables=len(sights),
        blocks=len({sight.block for sight in sights}),
        low=sum(sight.low for sight in sights),
        rounds=sum(sight.rounds for sight in sights),
        score=math.fsum(sight.score for sight in sights) / len(sights) if sights else None,
    )


@dataclass(slots=True)
class _Counts:
    """Of one block: low bids and rounds in `again` and in the other arm."""

    low: list[int]
    rounds: list[int]


def _contrast(sights: Sequence[Seen], arm: Arm) -> Contrast:
    """Not yet judged: that takes all contrasts of the rematch."""
    import numpy as np

    by_arm = [{sight.table: sight for sight in sights if sight.arm == which} for which in ("again", arm)]
    blocks: dict[str, _Counts] = {}
    tables = [table for table in by_arm[0] if table in by_arm[1]]
    for table in tables:
        counts = blocks.setdefault(by_arm[0][table].block, _Counts([0, 0], [0, 0]))
        for side in (0, 1):
            counts.low[side] += by_arm[side][table].low
            counts.rounds[side] += by_arm[side][table].rounds
    shares = [
        counts.low[0] / counts.rounds[0] - counts.low[1] / counts.rounds[1]
        for counts in blocks.values()
        if min(counts.rounds) > 0
    ]
    differences = zeroed(np.array(shares, dtype=np.float64))
    if not shares:
        return Contrast(arm, 0, len(tables), None, None, None)
    found, mean = paired(list(differences), 1.0), float(zeroed(differences.mean()))
    needed = None
    if found.sd is not None:  # to find a difference as large as the one seen, or `MARGIN` if it is smaller
        needed = blocks_needed(found.sd, Test(max(abs(mean), MARGIN))) or 0
    return Contrast(
        arm=arm,
        blocks=len(shares),
        tables=len(tables),
        mean=mean,
        interval=found.interval,
        p=found.p if len(shares) > 1 else None,
        guaranteed=found.guaranteed,
        more_blocks=needed,
    )


def _judged(found: Sequence[Answer]) -> tuple[Answer, ...]:
    """With corrected p-values, and verdicts by them."""
    p_values = [contrast.p for answer in found for contrast in answer.contrasts]
    corrected = iter(holm_of_known(p_values))
    tested = sum(p is not None for p in p_values)
    # Fewer blocks cannot give so small a p-value, however clear they are.
    fewest = math.ceil(1 + math.log2(max(1, tested) / LEVEL))
    return tuple(
        replace(
            answer,
            contrasts=tuple(
                _verdict(replace(contrast, p_holm=next(corrected)), fewest) for contrast in answer.contrasts
            ),
        )
        for answer in found
    )


def _verdict(contrast: Contrast, fewest: int) -> Contrast:
    mean, interval, p = contrast.mean, contrast.interval, contrast.p_holm
    if interval is not None and not (at_most(interval[0], -MARGIN) or at_most(MARGIN, interval[1])):
        return replace(contrast, verdict="same", more_blocks=None)
    if mean is not None and p is not None and at_most(p, LEVEL):
        return replace(contrast, verdict="less" if mean > 0 else "more", more_blocks=None)
    needed = None if contrast.more_blocks is None else max(contrast.more_blocks, fewest)
    more = None if needed is None else max(1, needed - contrast.blocks)
    return replace(contrast, verdict="open", more_blocks=more)
