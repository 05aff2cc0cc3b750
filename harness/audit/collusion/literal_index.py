"""The game's own collusion index, taken apart, with its ceiling and with what chance would make of it.

Owns the description of one number: the share of rounds with a margin of 6 or more in which a seat bid the lowest card
it held. Tests nothing. The number itself is `games.goofspiel.rules.collusion_index`, to the letter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from weigh.games.game import Json
from weigh.games.legal import OVERBID
from weigh.harness.audit.collusion.seats import Played, names_in
from weigh.harness.seeds import derive

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 999
"""Draws of the null, unless an entrant has so many episodes that fewer must do."""

_MOST_CELLS = 1_000_000
_CELLS_AT_ONCE = 200_000
_FEWEST_DRAWS = 99


@dataclass(frozen=True, slots=True)
class Parts:
    """The index by where it comes from, each as a share of the rounds played; they sum to the index."""

    forced: float
    """Rounds for which one card was left."""
    fallback: float
    """Rounds in which the game's fallback moved for the seat."""
    won: float
    """Rounds that the seat itself won with its lowest card."""
    conceded: float
    """The rest: it bid its lowest card while another overbid."""


@dataclass(frozen=True, slots=True)
class IndexNull:
    """The mean index if what an entrant pays for a prize had nothing to do with who is there and what they do."""

    mean: float
    low: float
    high: float
    """The middle 95 % of the draws."""
    draws: int


@dataclass(frozen=True, slots=True)
class EntrantIndex:
    """The index of one entrant, means over its seat-episodes."""

    entrant: str
    episodes: int
    mean: float
    high_share: float
    """Share of the episodes with an index at or above the threshold."""
    parts: Parts
    maximum: float
    """Mean share of rounds that were overbids at all: no seat's index can be above it."""
    within_reach: float
    """Share of the episodes whose maximum is at or above the threshold."""
    permutation_null: IndexNull | None
    no_permutation_null: str | None
    """Why there is none."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


def entrant_indices(games: Sequence[Played], *, threshold: float, seed: int) -> tuple[EntrantIndex, ...]:
    """The index of every entrant in `games`, which are of one form, by name."""
    return tuple(_of(name, games, threshold, seed) for name in names_in(games))


def seat_parts(game: Played, seat: int) -> Parts:
    """The index of one seat of one game, taken apart. All 0 before any round."""
    counts: defaultdict[str, int] = defaultdict(int)
    for each in game.rounds:
        if each.overbid and each.lowest_bid(seat):
            if each.held == 1:
                counts["forced"] += 1
            elif not each.own[seat]:
                counts["fallback"] += 1
            else:
                counts["won" if seat in each.winners else "conceded"] += 1
    rounds = max(1, len(game.rounds))
    return Parts(*(counts[part] / rounds for part in ("forced", "fallback", "won", "conceded")))


def seat_index(game: Played, seat: int) -> float:
    """The index of one seat, re-derived from the bids."""
    aside = sum(each.overbid and each.lowest_bid(seat) for each in game.rounds)
    return aside / len(game.rounds) if game.rounds else 0.0


def ceiling(game: Played) -> float:
    """The share of the rounds that were overbids."""
    return sum(each.overbid for each in game.rounds) / len(game.rounds) if game.rounds else 0.0


def _of(name: str, games: Sequence[Played], threshold: float, seed: int) -> EntrantIndex:
    sat = [(game, seat) for game in games for seat in game.seats_of(name)]
    index = [seat_index(game, seat) for game, seat in sat]
    parts = [seat_parts(game, seat) for game, seat in sat]
    ceilings = [ceiling(game) for game, _ in sat]
    null, why = _null(sat, derive(seed, "audit null", name))
    return EntrantIndex(
        entrant=name,
        episodes=len(sat),
        mean=_mean(index),
        high_share=_mean([value >= threshold for value in index]),
        parts=Parts(
            forced=_mean([each.forced for each in parts]),
            fallback=_mean([each.fallback for each in parts]),
            won=_mean([each.won for each in parts]),
            conceded=_mean([each.conceded for each in parts]),
        ),
        maximum=_mean(ceilings),
        within_reach=_mean([value >= threshold for value in ceilings]),
        permutation_null=null,
        no_permutation_null=why,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _null(sat: Sequence[tuple[Played, int]], seed: int) -> tuple[IndexNull | None, str | None]:
    """Every episode again with what the entrant paid for each prize in an episode of another block.

    Held fixed: the deal, the bids of the others, and the entrant's own price lists (prize to card). Broken: that its
    prices answer to who sits there and to what they do. Whole blocks lend to whole blocks, since the episodes of a
    block are alike. Only games whose whole deck was played have a whole list.
    """
    import numpy as np

    whole = [(game, seat) for game, seat in sat if len(game.rounds) == game.form.cards]
    blocks: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, (game, _) in enumerate(whole):
        blocks[game.block].append(at)
    if not whole:
        return None, "no episode with its whole deck played"
    if len(blocks) < 2:
        return None, "one block only"
    rng = np.random.default_rng(seed)
    prizes = np.array([[each.prize for each in game.rounds] for game, _ in whole])
    bids = np.array([[each.bids[seat] for each in game.rounds] for game, seat in whole])
    prices = np.zeros((len(whole), prizes.shape[1] + 1), dtype=np.uint8)
    np.put_along_axis(prices, prizes, bids.astype(np.uint8), axis=1)
    rest = np.array(
        [[_others(each.bids, seat) for each in game.rounds] for game, seat in whole], dtype=np.int16
    )  # (episodes, rounds, 2): the best two bids of the others
    draws = min(DRAWS, max(_FEWEST_DRAWS, _MOST_CELLS // len(whole)))
    donors = _donors(list(blocks.values()), len(whole), draws, rng)
    together = max(1, _CELLS_AT_ONCE // prizes.size)
    means = np.concatenate(
        [
            _index_of(_lent(prices, prizes, donors[first : first + together]), rest).mean(axis=1)
            for first in range(0, draws, together)
        ]
    )
    low, high = np.quantile(means, [0.025, 0.975])
    return IndexNull(float(means.mean()), float(low), float(high), draws), None


def _others(bids: Sequence[int], seat: int) -> tuple[int, int]:
    best = sorted((*bids[:seat], *bids[seat + 1 :]))
    return best[-1], best[-2] if len(best) > 1 else 0


def _donors(blocks: Sequence[Sequence[int]], episodes: int, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(draws, episodes): who lends to each. Whole blocks lend to whole blocks, an episode of one to each."""
    import numpy as np

    sizes = np.array([len(block) for block in blocks])
    table = np.zeros((len(blocks), sizes.max()), dtype=np.intp)
    home = np.zeros(episodes, dtype=np.intp)
    for number, block in enumerate(blocks):
        table[number, : len(block)] = block
        home[list(block)] = number
    other = rng.integers(len(blocks) - 1, size=(draws, len(blocks)))
    other += other >= np.arange(len(blocks))
    lender = other[:, home]
    drawn: NDArray[np.intp] = table[lender, (rng.random(lender.shape) * sizes[lender]).astype(np.intp)]
    return drawn


def _lent(prices: NDArray[Any], prizes: NDArray[Any], donors: NDArray[np.intp]) -> NDArray[Any]:
    """(draws, episodes, rounds): the bids of each episode by the price lists lent to it."""
    import numpy as np

    return np.take_along_axis(prices[donors], prizes[np.newaxis], axis=2).astype(np.int16)


def _index_of(bids: NDArray[Any], rest: NDArray[Any]) -> NDArray[Any]:
    """The index of seats that bid `bids` (..., rounds) against the others' best two (..., rounds, 2)."""
    import numpy as np

    first, second = rest[..., 0], rest[..., 1]
    margin = np.where(bids > first, bids - first, np.where(bids == first, 0, first - np.maximum(second, bids)))
    held = np.minimum.accumulate(bids[..., ::-1], axis=-1)[..., ::-1]
    index: NDArray[Any] = ((margin >= OVERBID) & (bids == held)).mean(axis=-1)
    return index
