"""Who stands aside when whom is at the table: a permutation test for every ordered pair of a league.

Owns the statistic's null, its p values and what can be tested at all. Knows no game: an observation is a number between
0 and 1 for one seat of one episode, with the names of the others there. `harness.audit.collusion.seats` makes them.

The statistic of (i, j) is the mean of i's observations with j at the table less their mean without j. Under the null,
what i does does not depend on whether j is there, so the label "j is here" may be dealt anew over i's blocks: episodes
of a block share table and deal, so the block is what is exchanged, never the episode.

A pair gets two corrected values, because each sees what the other cannot, and half of the level goes to each:
- `q`, Benjamini & Hochberg (1995) over all pairs tested. It has no scale, so it finds weak habits in long leagues, but
  with few blocks no p value is small enough for it: 4 of 16 blocks can be chosen in 1,820 ways, and 156 pairs ask for
  p below 1/3,000 of a lone one.
- `p_max`, the share of permutations of the whole league in which the largest statistic of any pair is as large
  (Westfall & Young, Resampling-Based Multiple Testing, 1993). A habit that is large for this league shows early.
With each at half the level, the share of false flags among all flags stays below the level, as a mean over leagues.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb, sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from weigh.harness.seeds import derive
from weigh.harness.stats.clustered import at_most
from weigh.harness.stats.multiple_tests import benjamini_hochberg
from weigh.harness.stats.power import ZERO

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST_BLOCKS = 5
"""Blocks of i below which nothing is tested: four with and without can be told apart in six ways at most."""

FEWEST_ON_A_SIDE = 2
"""Blocks with j, and without, below which a pair is not tested."""

ALL_BELOW = 20_000
"""When there are at most so many ways to deal the label, all of them are gone through and p is exact."""

TOGETHER = 256
"""Permutations worked on at once: products so small that numpy does not start threads for them, which would take longer
than the products."""


Obstacle: TypeAlias = Literal["no_bid", "never", "always", "few_blocks", "one_block"]
"""What keeps a pair from being tested."""


class Observation(NamedTuple):
    """What one seat did in one episode."""

    block: tuple[str, str]
    """The deals it was played on, and the block's name: equal for what is not independent."""
    value: float
    rivals: frozenset[str]
    """The others at the table."""


@dataclass(frozen=True, slots=True)
class Direction:
    """What is known of one ordered pair: whether `by` acts otherwise when `toward` is there."""

    by: str
    toward: str
    untestable: str | None
    """Why it cannot be tested; every number of the test is then None."""
    alike: tuple[str, ...]
    """Others who sat at exactly the same tables of `by` as `toward`: whom of them it is about, nobody can tell."""
    blocks_with: int
    blocks_without: int
    rate_with: float | None
    """Mean of the observations with `toward` at the table; None without any."""
    rate_without: float | None
    difference: float | None
    """The statistic: `rate_with` less `rate_without`."""
    p: float | None = None
    """One-sided, of this pair alone."""
    exact: bool = False
    """Whether `p` comes of all ways to deal the label, not of a draw of them."""
    q: float | None = None
    """`p` after Benjamini & Hochberg over all pairs tested."""
    p_max: float | None = None
    """How often any pair of the league would show so much."""
    p_least: float | None = None
    """The smallest `p` that so many blocks can give."""
    p_max_least: float | None = None
    """The smallest `p_max`, as far as this entrant's own blocks decide it."""
    reachable: bool = False
    """Whether this pair alone could be flagged, however clear its habit."""
    flagged: bool = False

    @property
    def obstacle(self) -> Obstacle | None:
        """What `untestable` says, without names."""
        return obstacle(self.blocks_with, self.blocks_without)


def obstacle(blocks_with: int, blocks_without: int) -> Obstacle | None:
    """Why a pair with so many blocks cannot be tested; None when it can."""
    if not blocks_with + blocks_without:
        return "no_bid"
    if not blocks_with:
        return "never"
    if not blocks_without:
        return "always"
    if blocks_with + blocks_without < FEWEST_BLOCKS:
        return "few_blocks"
    return "one_block" if min(blocks_with, blocks_without) < FEWEST_ON_A_SIDE else None


def directions(
    observed: Mapping[str, Sequence[Observation]], *, level: float, permutations: int, seed: int
) -> tuple[Direction, ...]:
    """Every ordered pair of the entrants in `observed` and those they met, by name. Equal for rows in any order.

    `level` is the share of false flags that is put up with, `permutations` how many are drawn. Streams are keyed by
    `seed` and the entrant's name.
    """
    import numpy as np

    names = sorted({*observed, *(name for row in observed.values() for each in row for name in each.rivals)})
    found: list[Direction] = []
    tested: list[_Tested] = []
    highest = np.full(permutations, -np.inf)
    for by in names:
        row = observed.get(by, ())
        pairs = [_Pair.of(by, toward, row) for toward in names if toward != by]
        found += [pair.described(_alike(pair, pairs)) for pair in pairs]
        testable = [pair for pair in pairs if pair.untestable is None]
        tested += _test(testable, highest, permutations, derive(seed, "audit", by))
    if not tested:
        return tuple(found)
    q = benjamini_hochberg([each.p for each in tested])
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for each, adjusted in zip(tested, q, strict=True):
        pair = each.pair
        league = float((1 + (highest >= each.scaled - ZERO).sum()) / (1 + permutations))
        league_least = max(each.league_least, 1 / (1 + permutations))
        enough = at_most(league_least, level / 2) or at_most(each.p_least * len(tested), level / 2)
        difference = pair.difference or 0.0
        results[pair.by, pair.toward] = {
            "p": each.p,
            "exact": each.exact,
            "q": adjusted,
            "p_max": league,
            "p_least": each.p_least,
            "p_max_least": league_least,
            "reachable": enough,
            "flagged": difference > ZERO and at_most(min(adjusted, league), level / 2),
        }
    return tuple(replace(each, **results.get((each.by, each.toward), {})) for each in found)


def blocks_wanted(direction: Direction, level: float) -> float | None:
    """By how much the blocks of a pair that was tested must be multiplied for it to be flagged alone; None for never
    within a hundredfold, and for one that can be flagged already. Read off what `p_max` can become when everything
    else stays as it is; only with permutations enough."""
    if direction.p_max_least is None or direction.reachable:
        return None
    total = direction.blocks_with + direction.blocks_without
    rivals = direction.p_max_least * comb(total, direction.blocks_with)
    for times in range(2, 201):
        grown = comb(total * times // 2, direction.blocks_with * times // 2)
        if at_most(rivals / grown, level / 2):
            return times / 2
    return None


@dataclass(frozen=True, slots=True)
class _Pair:
    """One ordered pair's blocks."""

    by: str
    toward: str
    labels: tuple[bool, ...]
    """What is exchanged, in the order of the blocks: whether `toward` was there. Runs with one seed and other fields
    may have both in one block; the two then count apart and share a deal, which makes the test more careful."""
    episodes: frozenset[int]
    """Which of the entrant's observations were made with `toward` there."""
    sums: tuple[float, ...]
    counts: tuple[int, ...]
    blocks_with: int
    rate_with: float | None
    rate_without: float | None

    @classmethod
    def of(cls, by: str, toward: str, row: Sequence[Observation]) -> _Pair:
        values: defaultdict[tuple[tuple[str, str], bool], list[float]] = defaultdict(list)
        for each in row:
            values[each.block, toward in each.rivals].append(each.value)
        units = sorted(values)
        labels = tuple(here for _, here in units)
        # Sorted, so that sums come out the same to the last bit in whatever order the rows were.
        sums = tuple(sum(sorted(values[unit])) for unit in units)
        counts = tuple(len(values[unit]) for unit in units)
        rates = [_mean(sums, counts, labels, wanted) for wanted in (True, False)]
        met = frozenset(at for at, each in enumerate(row) if toward in each.rivals)
        return cls(by, toward, labels, met, sums, counts, sum(labels), *rates)

    @property
    def blocks_without(self) -> int:
        return len(self.labels) - self.blocks_with

    @property
    def difference(self) -> float | None:
        here, away = self.rate_with, self.rate_without
        return None if here is None or away is None else here - away

    @property
    def scale(self) -> float:
        """What makes differences comparable that rest on different numbers of blocks."""
        return 1 / sqrt(1 / self.blocks_with + 1 / self.blocks_without)

    @property
    def untestable(self) -> str | None:
        here, away = self.blocks_with, self.blocks_without
        match obstacle(here, away):
            case "no_bid":
                return f"{self.by} has no bid of its own that counts"
            case "never":
                return f"{self.toward} never sat at a table of {self.by}"
            case "always":
                return f"{self.toward} sat at every table of {self.by}"
            case "few_blocks":
                return f"{self.by} has {here + away} blocks, and {FEWEST_BLOCKS} are the least"
            case "one_block":
                return f"{self.by} sat {'with' if here < away else 'without'} {self.toward} in one block only"
        return None

    def described(self, alike: tuple[str, ...]) -> Direction:
        return Direction(
            by=self.by,
            toward=self.toward,
            untestable=self.untestable,
            alike=alike,
            blocks_with=self.blocks_with,
            blocks_without=self.blocks_without,
            rate_with=self.rate_with,
            rate_without=self.rate_without,
            difference=self.difference,
        )


def _alike(pair: _Pair, pairs: Sequence[_Pair]) -> tuple[str, ...]:
    return tuple(
        other.toward for other in pairs if pair.episodes and other.episodes == pair.episodes and other is not pair
    )


def _mean(sums: Sequence[float], counts: Sequence[int], labels: Sequence[bool], wanted: bool) -> float | None:
    number = sum(count for count, here in zip(counts, labels, strict=True) if here == wanted)
    return sum(each for each, here in zip(sums, labels, strict=True) if here == wanted) / number if number else None


class _Tested(NamedTuple):
    pair: _Pair
    scaled: float
    p: float
    exact: bool
    p_least: float
    league_least: float


def _test(pairs: Sequence[_Pair], highest: Floats, permutations: int, seed: int) -> list[_Tested]:
    """Test the pairs of one entrant, and raise `highest` to the largest scaled statistic of each permutation.

    Pairs whose blocks are the same are permuted together: they are not independent of each other.
    """
    import numpy as np

    alike: defaultdict[tuple[tuple[float, ...], tuple[int, ...]], list[_Pair]] = defaultdict(list)
    for pair in pairs:
        alike[pair.sums, pair.counts].append(pair)
    tested: list[_Tested] = []
    rng = np.random.default_rng(seed)
    for (sums, counts), group in alike.items():
        s, n = np.array(sums), np.array(counts, dtype=float)
        labels = np.array([pair.labels for pair in group], dtype=float)
        parts = []
        for first in range(0, permutations, TOGETHER):
            order = np.tile(np.arange(len(sums)), (min(TOGETHER, permutations - first), 1))
            part = rng.permuted(order, axis=1)
            # Blocks of one size, the usual case, weigh the same in whatever order they come.
            sizes = n if len(set(counts)) == 1 else n[part]
            parts.append(_differences(s[part], sizes, labels.T, s.sum(), n.sum()))
        shown = np.concatenate(parts)
        scales = np.array([pair.scale for pair in group])
        np.maximum(highest, (shown * scales).max(axis=1), out=highest)
        everything: dict[int, Floats] = {}
        """By the number of labels, the statistic under all ways to deal them: sorted."""
        for at, pair in enumerate(group):
            size, ways = pair.blocks_with, comb(len(sums), pair.blocks_with)
            observed = float(_differences(s, n, labels[at], s.sum(), n.sum()))
            if exact := ways <= ALL_BELOW:
                if size not in everything:
                    every = _differences(s, n, _subsets(len(sums), size).T, s.sum(), n.sum())
                    everything[size] = np.sort(every)
                p = (ways - int(np.searchsorted(everything[size], observed - ZERO))) / ways
            else:
                p = float((1 + (shown[:, at] >= observed - ZERO).sum()) / (1 + permutations))
            rivals = len({other.labels for other in group if other.blocks_with == size})
            tested.append(
                _Tested(
                    pair=pair,
                    scaled=observed * pair.scale,
                    p=p,
                    exact=exact,
                    p_least=1 / ways if exact else max(1 / ways, 1 / (1 + permutations)),
                    league_least=min(1.0, rivals / ways),
                )
            )
    return tested


def _differences(sums: Floats, counts: Floats, labels: Floats, total: float, number: float) -> Floats:
    """Mean where the label is 1 less mean where it is 0, for every row of `sums` and column of `labels`."""
    with_sum, with_count = sums @ labels, counts @ labels
    found: Floats = with_sum / with_count - (total - with_sum) / (number - with_count)
    return found


@lru_cache(maxsize=16)
def _subsets(number: int, size: int) -> Floats:
    """All ways to put `size` labels on `number` blocks, a row each."""
    import numpy as np

    rows = np.zeros((comb(number, size), number))
    for row, chosen in zip(rows, combinations(range(number), size), strict=True):
        row[list(chosen)] = 1.0
    return rows
