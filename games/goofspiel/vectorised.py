"""Whole batches of finished games of Goofspiel at once, in numpy, played at random or from given bids.

For questions that need millions of games: how far a score strays by luck alone (the spread that decides how many games
a comparison needs), or how often an honest table shows a given collusion index or margin (the null a report is read
against). An example of each:

    games = random_goofspiel(GoofspielConfig(), 1_000_000, np.random.default_rng(7))
    spread = games.scores.std()
    false_alarms = (games.collusion_index >= 0.5).mean()

Owns a second form of the rules, for speed. `rules` is the first, and a test holds the two to each other move by move.
Nothing here goes into a record. Memory: about 150 bytes a game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weigh.games.goofspiel.rules import GoofspielConfig, unit
from weigh.games.legal import OVERBID

Bytes: TypeAlias = NDArray[np.uint8]

_CHUNK = 8192
"""Games worked on together: few enough for the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class GoofspielGames:
    """Finished games of one config; every array has one row a game."""

    config: GoofspielConfig
    prizes: Bytes
    """(games, rounds): the prize of each round."""
    bids: Bytes
    """(games, rounds, seats)."""
    points: NDArray[np.uint32]
    """(games, seats): exact, in units of `1 / unit`."""
    margins: Bytes
    """(games, rounds): by how much the top bid beat the next; 0 when the top was tied."""
    conceded: Bytes
    """(games, seats): overbid rounds in which the seat bid the lowest card it held."""

    @property
    def unit(self) -> int:
        return unit(self.config.seats)

    @property
    def scores(self) -> NDArray[np.float64]:
        """(games, seats): each row sums to 0."""
        seats, points = self.config.seats, self.points.astype(np.int64)
        pool = points.sum(axis=1, keepdims=True)
        scores: NDArray[np.float64] = (seats * points - pool) / ((seats - 1) * pool)
        return scores

    @property
    def collusion_index(self) -> NDArray[np.float64]:
        """(games, seats): `conceded` as a share of the rounds."""
        index: NDArray[np.float64] = self.conceded / self.config.max_rounds
        return index


def random_goofspiel(config: GoofspielConfig, games: int, rng: np.random.Generator) -> GoofspielGames:
    """`games` games from fresh decks, every seat uniform over its hand.

    That is to say that the deck and each seat's bids are random orders of the cards. They are drawn by sorting keys of
    28 random bits; equal keys favour the lower card, a bias below one in three million for an order.
    """

    def draw(chosen: slice) -> tuple[Bytes, Bytes]:
        shape = (config.seats + 1, chosen.stop - chosen.start)
        orders = _random_orders(config.cards, shape, rng)[: config.max_rounds]
        return orders[:, 0], orders[:, 1:]

    return _settle_chunks(config, games, draw)


def settle_goofspiel(config: GoofspielConfig, prizes: Bytes, bids: Bytes) -> GoofspielGames:
    """What given games come to. `prizes` is (games, rounds) and `bids` (games, rounds, seats), both whole numbers.

    Raises ValueError for other shapes, and for a card or a prize that the config does not have or that comes twice.
    """
    shape = (len(prizes), config.max_rounds)
    if prizes.shape != shape or bids.shape != (*shape, config.seats):
        raise ValueError(
            f"prizes {prizes.shape} and bids {bids.shape} must be (games, {config.max_rounds}) "
            f"and (games, {config.max_rounds}, {config.seats})"
        )
    for what, played in (("prize", prizes[:, :, np.newaxis]), ("bid", bids)):
        ordered = np.sort(played, axis=1)
        if not ((ordered[:, :1] >= 1).all() and (ordered[:, -1:] <= config.cards).all()):
            raise ValueError(f"a {what} lies outside 1 to {config.cards}")
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise ValueError(f"a {what} comes twice in one game")
    return _settle_chunks(config, len(prizes), lambda chosen: (_games_last(prizes[chosen]), _games_last(bids[chosen])))


def _games_last(rows: Bytes) -> Bytes:
    return np.ascontiguousarray(np.moveaxis(rows, 0, -1), dtype=np.uint8)


def _settle_chunks(
    config: GoofspielConfig, games: int, orders: Callable[[slice], tuple[Bytes, Bytes]]
) -> GoofspielGames:
    """`orders(chosen)` gives the prizes (rounds, games) and the bids (rounds, seats, games) of those games."""
    rounds, seats = config.max_rounds, config.seats
    all_prizes = np.empty((rounds, games), np.uint8)
    all_bids = np.empty((rounds, seats, games), np.uint8)
    points = np.empty((seats, games), np.uint32)
    margins = np.empty((rounds, games), np.uint8)
    aside = np.empty((seats, games), np.uint8)
    for first in range(0, games, _CHUNK):
        chosen = slice(first, min(first + _CHUNK, games))
        prizes, bids = orders(chosen)
        all_prizes[:, chosen], all_bids[..., chosen] = prizes, bids
        top = bids.max(axis=1)
        at_top = bids == top[:, np.newaxis]
        sharing = at_top.sum(axis=1, dtype=np.uint8)
        second = (bids * ~at_top).max(axis=1)
        margin = (top - second) * (sharing == 1)
        award = prizes * _award_per_prize(seats).take(sharing)
        points[:, chosen] = (award[:, np.newaxis] * at_top).sum(axis=0, dtype=np.uint32)
        margins[:, chosen] = margin
        lowest = bids == _lowest_held(bids, config.cards)
        aside[:, chosen] = (lowest & (margin >= OVERBID)[:, np.newaxis]).sum(axis=0, dtype=np.uint8)
    return GoofspielGames(config, all_prizes.T, np.moveaxis(all_bids, -1, 0), points.T, margins.T, aside.T)


def _award_per_prize(seats: int) -> NDArray[np.uint32]:
    """By the number of winners: what one unit of prize is worth to each of them. Exact: `unit` is their multiple."""
    return np.array([0] + [unit(seats) // winners for winners in range(1, seats + 1)], np.uint32)


def _lowest_held(bids: Bytes, cards: int) -> Bytes:
    """The lowest card of each hand before each round: the lowest of what is bid from there on or never."""
    never = np.full(bids.shape[1:], 255, np.uint8)
    if len(bids) < cards:
        for card in range(cards, 0, -1):
            never[~(bids == card).any(axis=0)] = card
    lowest = np.empty_like(bids)
    for later, (bid, low) in enumerate(zip(bids[::-1], lowest[::-1], strict=True)):
        np.minimum(bid, lowest[len(bids) - later] if later else never, out=low)
    return lowest


def _random_orders(cards: int, shape: tuple[int, int], rng: np.random.Generator) -> Bytes:
    """(cards, *shape): a random order of 1..cards along the first axis, for each place of `shape`."""
    keys = _random_bits((cards, *shape), rng)
    keys &= np.uint32(0xFFFFFFF0)
    keys |= np.arange(1, cards + 1, dtype=np.uint32).reshape(cards, 1, 1)
    # Sorting along the first axis by exchanges of whole rows is several times faster than `np.sort` along it.
    rows, spare = list(keys), np.empty(shape, np.uint32)
    for i, j in _exchanges(cards):
        np.minimum(rows[i], rows[j], out=spare)
        np.maximum(rows[i], rows[j], out=rows[j])
        rows[i], spare = spare, rows[i]
    orders = np.empty((cards, *shape), np.uint8)
    for row, order in zip(rows, orders, strict=True):
        np.bitwise_and(row, np.uint32(15), out=order, casting="unsafe")
    return orders


def _random_bits(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.uint32]:
    """Words of 32 random bits, drawn two at a time."""
    size = int(np.prod(shape))
    words = rng.integers(0, 2**64, (size + 1) // 2, dtype=np.uint64).view(np.uint32)
    return words[:size].reshape(shape)


def _exchanges(count: int) -> list[tuple[int, int]]:
    """The compare-exchange steps that sort `count` items: Batcher's odd-even merge sort (Knuth 5.2.2, algorithm M)."""
    steps = []
    top = 1 << (count - 1).bit_length() - 1
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            steps += [(i, i + d) for i in range(count - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return steps
