"""Who beats whom: every pair of entrants, what one number per entrant hides of it, and the mixture nobody beats.

Owns these results as values and how they are put together; the arithmetic is in `pair_blocks`, `cycles` and `lottery`.
Pure: equal rows give equal results, whatever their order. `docs/explanation/appendix.md` says what the numbers are
worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weigh.games.game import Json
from weigh.harness.results.ranking.intransitivity import CyclicShare, circular_triples, cyclic_share, sure_circle
from weigh.harness.results.ranking.lottery import drawn_lotteries, maximal_lottery, spread
from weigh.harness.results.ranking.pairwise import (
    EMPTY_SEAT,
    Encounters,
    PairBlocks,
    encounters_of,
    meetings,
    pair_blocks,
)
from weigh.harness.results.ranking.standings import GameLadder, Interval, Ladder, json_object

if TYPE_CHECKING:
    import pandas as pd

    from weigh.harness.stats.clustered import Flags, Floats


@dataclass(frozen=True, slots=True)
class Pair:
    """One entrant against another, over the episodes in which both sat."""

    entrant: str
    opponent: str
    episodes: int
    blocks: int
    difference: float
    """Mean of the entrant's score less the opponent's."""
    interval: Interval | None
    """95 %, clustered by block; None for fewer than two blocks, or fewer than five that all agree."""
    guaranteed: bool
    """The difference is not 0 for any distribution of bounded scores; where only `interval` is without 0 it is not,
    barring rare failures. Never before the run is whole."""
    win_share: float
    """Share of these episodes in which the entrant scored more; a tie counts half."""


@dataclass(frozen=True, slots=True)
class SureCircle:
    """The surest circle of three: each is above the next, and the last above the first."""

    entrants: tuple[str, str, str]
    win_shares: tuple[float, float, float]
    """Of each, against the next."""
    p_value: float
    """Corrected for the number of circles there could have been."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """An entrant's part of the maximal lottery."""

    entrant: str
    probability: float
    interval: Interval | None
    """95 %, of a bootstrap over blocks; None where a pair met in fewer than five."""
    support: float | None
    """Share of the draws in which its probability is not 0."""


@dataclass(frozen=True, slots=True)
class PairBoard:
    """Who beats whom in one game."""

    game: str
    entrants: tuple[str, ...]
    """With a score, in the order of the ladder."""
    unranked: Mapping[str, str]
    """Those of them that are listed and not ranked, and why. They stand in `pairs` and in nothing below."""
    pairs: tuple[Pair, ...]
    """Every ordered pair that met."""
    never_met: tuple[tuple[str, str], ...]
    """The pairs that did not, each once."""
    intransitivity: CyclicShare | None
    """Of the mean differences. None without a loop of pairs, and where `one_table`."""
    one_table: bool
    """All ranked entrants sit at every table: there mean differences add up by construction."""
    triples: int
    """Of ranked entrants, those of which all three pairs met."""
    intransitive_triples: int
    """Those in which each is above the next more often than below, sure or not."""
    intransitive_triple: SureCircle | None
    """Only one that is sure."""
    lottery: tuple[Ticket, ...] | None
    """None where ranked entrants never met, or fewer than two are ranked."""

    def to_json(self) -> dict[str, Json]:
        """JSON with the field names as keys, intervals as `[low, high]`; what is not known is null."""
        return json_object(self)


def pair_boards(
    seats: pd.DataFrame, ladder: Ladder, *, seeds: Mapping[str, int] | None = None
) -> tuple[PairBoard, ...]:
    """Who beats whom in every game of `ladder`, which was made of `seats`; its view of fallback episodes holds here.

    Raises RowsInvalid as `encounters_of` does.
    """
    return tuple(_pair_board(game, played) for game, played in encounters_of(seats, ladder, seeds=seeds))


def _pair_board(ladder: GameLadder, played: Encounters) -> PairBoard:
    import numpy as np

    standing = {found.entrant: found for found in ladder.standings}
    ranked = np.array([standing[name].rank is not None for name in played.names], dtype=np.bool_)
    field = [name for name, counts in zip(played.names, ranked, strict=True) if counts]
    cells = pair_blocks(meetings(played), len(played.names))
    among = cells.among(ranked)
    one_table = _all_at_every_table(played, ranked)
    circular, triples = circular_triples(among)
    return PairBoard(
        game=ladder.game,
        entrants=played.names,
        unranked={name: reason for name in played.names for reason in [standing[name].unranked] if reason is not None},
        pairs=tuple(_pairs(cells, played, ladder)),
        never_met=tuple(_never_met(cells, played.names)),
        intransitivity=None if one_table else cyclic_share(among),
        one_table=one_table,
        triples=triples,
        intransitive_triples=circular,
        intransitive_triple=_circle(among, field),
        lottery=_lottery(among, field),
    )


def _all_at_every_table(played: Encounters, ranked: Flags) -> bool:
    import numpy as np

    seated = ranked[played.table] & (played.table != EMPTY_SEAT) if len(ranked) else np.zeros(played.table.shape)
    return bool((seated.sum(axis=1) == ranked.sum()).all())


def _pairs(cells: PairBlocks, played: Encounters, ladder: GameLadder) -> list[Pair]:
    """Both orders of each pair, in the order of the entrants."""
    import numpy as np

    difference, half = cells.mean(cells.difference), cells.half_width(cells.difference)
    won = (1 + cells.mean(cells.margin)) / 2
    met, blocks = cells.met, cells.blocks
    guaranteed = cells.guaranteed(ladder.bounds) & ladder.whole
    bound = 2 * max(1.0, float(np.nanmax(np.abs(played.score), initial=0.0)))
    found: dict[tuple[int, int], Pair] = {}
    for n, (i, j) in enumerate(zip(cells.one.tolist(), cells.other.tolist(), strict=True)):
        for one, other, sign in ((i, j, 1), (j, i, -1)):
            middle, wide = sign * float(difference[n]), float(half[n])
            found[one, other] = Pair(
                entrant=played.names[one],
                opponent=played.names[other],
                episodes=int(met[n]),
                blocks=int(blocks[n]),
                difference=middle,
                interval=Interval.around(middle, wide, bound),
                guaranteed=bool(guaranteed[n]),
                win_share=float(won[n]) if sign == 1 else 1 - float(won[n]),
            )
    return [found[key] for key in sorted(found)]


def _never_met(cells: PairBlocks, names: Sequence[str]) -> list[tuple[str, str]]:
    met = set(zip(cells.one.tolist(), cells.other.tolist(), strict=True))
    return [(a, b) for i, a in enumerate(names) for j, b in enumerate(names) if i < j and (i, j) not in met]


def _circle(cells: PairBlocks, field: Sequence[str]) -> SureCircle | None:
    found = sure_circle(cells)
    if found is None:
        return None
    i, j, k = found.members
    won = (1 + _margins(cells)) / 2
    return SureCircle(
        (field[i], field[j], field[k]), (float(won[i, j]), float(won[j, k]), float(won[k, i])), found.p_value
    )


def _lottery(cells: PairBlocks, field: Sequence[str]) -> tuple[Ticket, ...] | None:
    if len(field) < 2 or len(cells.one) < len(field) * (len(field) - 1) // 2:
        return None
    chances = maximal_lottery(_margins(cells))
    drawn = drawn_lotteries(cells)
    if drawn is None:
        return tuple(Ticket(name, float(p), None, None) for name, p in zip(field, chances, strict=True))
    low, high, support = spread(drawn)
    return tuple(
        Ticket(name, float(chances[n]), Interval(float(low[n]), float(high[n])), float(support[n]))
        for n, name in enumerate(field)
    )


def _margins(cells: PairBlocks) -> Floats:
    mean = cells.mean(cells.margin)
    return cells.matrix(mean, -mean, 0.0)
