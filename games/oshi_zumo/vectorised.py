"""Whole batches of finished matches of Oshi-Zumo at once, in numpy, played at random.

Owns a second form of the rules, for speed. `rules` is the first, and a test holds the two to each other move by move.
Nothing here goes into a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig

Bytes: TypeAlias = NDArray[np.uint8]

_CHUNK = 32768
"""Games worked on together: few enough for the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class OshiZumoGames:
    """Finished games of one config; every array has one row a game."""

    config: OshiZumoConfig
    bids: Bytes
    """(games, longest, 2); 0 after a game's end."""
    lengths: Bytes
    """(games,): rounds played."""
    positions: NDArray[np.int8]
    """(games,): the token's last cell, -1 or 2 * size + 1 when it was pushed off."""
    coins: Bytes
    """(games, 2): left at the end."""

    @property
    def scores(self) -> NDArray[np.int8]:
        """(games, 2): 1, 0 or -1."""
        lead = np.sign(self.positions - np.int8(self.config.size))
        return np.stack([lead, -lead], axis=1)

    @property
    def margins(self) -> Bytes:
        """(games, longest): by how much the higher bid beat the other; 0 after a game's end."""
        margins: Bytes = self.bids.max(axis=2) - self.bids.min(axis=2)
        return margins


def random_oshi_zumo(config: OshiZumoConfig, games: int, rng: np.random.Generator) -> OshiZumoGames:
    """`games` games with both seats uniform over their legal bids (to within 2**-47, as the drawing of `Bids` is)."""
    longest, last = OSHI_ZUMO.longest(config), 2 * config.size
    all_bids = np.zeros((longest, 2, games), np.uint8)
    lengths = np.empty(games, np.uint8)
    positions = np.empty(games, np.int8)
    all_coins = np.empty((2, games), np.uint8)
    for first in range(0, games, _CHUNK):
        chosen = slice(first, min(first + _CHUNK, games))
        # The games that are still on; coins and position have a column for each of them alone.
        on = np.arange(chosen.start, chosen.stop)
        coins = np.full((2, len(on)), config.coins, np.uint8)
        position = np.full(len(on), config.size, np.int8)
        for played in range(1, longest + 1):
            least = np.minimum(coins, np.uint8(config.min_bid))
            share = rng.random(coins.shape)
            share *= coins - least + np.uint8(1)
            bids = share.astype(np.uint8) + least
            coins -= bids
            position += (bids[0] > bids[1]).view(np.int8)
            position -= (bids[0] < bids[1]).view(np.int8)
            for seat in (0, 1):
                all_bids[played - 1, seat][on] = bids[seat]
            # Seen as unsigned, -1 is beyond every cell too.
            over = (position.view(np.uint8) > last) | ((coins[0] | coins[1]) == 0)
            if played == longest:
                over[:] = True
            ended = np.flatnonzero(over)
            if len(ended):
                where = on[ended]
                lengths[where], positions[where] = played, position[ended]
                all_coins[:, where] = coins[:, ended]
                left = np.flatnonzero(~over)
                on, position, coins = on[left], position[left], coins.take(left, axis=1)
            if not len(on):
                break
    return OshiZumoGames(config, np.moveaxis(all_bids, -1, 0), lengths, positions, all_coins.T)
