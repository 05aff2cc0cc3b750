"""Who met whom, in the order of the schedule: one game's scored episodes as arrays.

Owns that order, what a tie is, and how an episode of many seats falls apart into pairs. Computes no statistic. Knows no
files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.clusters import ZERO
from harness.rating_rows import GameRows, RowsInvalid, split_by_game
from harness.standings import GameLadder, Ladder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from harness.clusters import Floats, Ints

EMPTY_SEAT = -1
"""Stands in `Encounters.table` for a seat without a score, and for one that a smaller table does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class Encounters:
    """One game's scored episodes, in the order of the schedule."""

    game: str
    names: tuple[str, ...]
    """Entrants with a score, in the order of the ladder: their places are the entrant numbers below."""
    table: Ints
    """episodes x seats: entrant numbers, or EMPTY_SEAT."""
    score: Floats
    """episodes x seats; NaN at an empty seat."""
    above: Ints
    """episodes x seats: how many seats of the episode scored more. Equal numbers are a tie."""
    block: Ints
    """By episode: block numbers from 0 without gaps. Blocks of runs that share their deals are the same."""

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """The pairs of all episodes: arrays with one element for each two entrants of each episode, `one` < `other`."""

    one: Ints
    other: Ints
    block: Ints
    difference: Floats
    """Score of `one` less that of `other`."""
    margin: Floats
    """1 where `one` scored more, -1 where `other` did, 0 for a tie."""


def encounters_of(
    seats: pd.DataFrame, ladder: Ladder, *, seeds: Mapping[str, int] | None = None
) -> Iterator[tuple[GameLadder, Encounters]]:
    """Each game of `ladder` with its episodes, under the view that the ladder has; games are never mixed.

    `seats` is the frame that `ladder` was made of, and `seeds` what it was told of shared deals.

    Raises RowsInvalid as `harness.ratings.rank` does, and for an entrant that sits twice at one table.
    """
    ladders = {game.game: game for game in ladder.games}
    split = split_by_game(
        seats,
        None,
        exclude_fallback_episodes=ladder.fallback_episodes == "left out",
        games=ladders,
        entered={},
        seeds=seeds or {},
    )
    for rows in split:
        if rows.game in ladders:
            scored = [s.entrant for s in ladders[rows.game].standings if s.entrant in rows.names]
            yield ladders[rows.game], encounters(rows, scored)


def encounters(rows: GameRows, names: Sequence[str]) -> Encounters:
    """The scored episodes of `rows`; `names` are its entrants with a score, in the order their numbers shall have.

    Order of the schedule: by run id (which begins with the time the run was made), then by episode key with numbers
    read as numbers, block by block and rotation by rotation. Neither the order of rows nor the order in which episodes
    happened to finish plays a part.
    """
    import numpy as np

    scored = rows.scored
    number = {name: n for n, name in enumerate(names)}
    keys = sorted(set(zip(scored["run"], scored["episode"], strict=True)), key=lambda key: (key[0], _natural(key[1])))
    place = {key: n for n, key in enumerate(keys)}
    episode = np.array([place[key] for key in zip(scored["run"], scored["episode"], strict=True)], dtype=np.intp)
    entrant = np.array([number[name] for name in scored["entrant"]], dtype=np.intp)
    # Rows come sorted by seat within an episode, so a stable sort by episode numbers the scored seats of each.
    order = np.argsort(episode, kind="stable")
    episode, entrant = episode[order], entrant[order]
    sizes = np.bincount(episode, minlength=len(keys))
    seat = np.arange(len(episode)) - (np.cumsum(sizes) - sizes)[episode]
    shape = (len(keys), int(sizes.max(initial=0)))
    table = np.full(shape, EMPTY_SEAT, dtype=np.intp)
    score = np.full(shape, np.nan)
    table[episode, seat] = entrant
    score[episode, seat] = scored["score"].to_numpy(dtype=float)[order]
    block = np.zeros(len(keys), dtype=np.intp)
    block[episode] = scored.groupby(["deals", "block"], sort=True).ngroup().to_numpy(dtype=np.intp)[order]
    _check_tables(rows.game, names, keys, table)
    above = (score[:, None, :] - score[:, :, None] > ZERO).sum(axis=2)
    return Encounters(rows.game, tuple(names), table, score, above, block)


def meetings(played: Encounters) -> Meetings:
    """Every two entrants of every episode."""
    import numpy as np

    first, second = np.triu_indices(played.table.shape[1], k=1)
    left, right = played.table[:, first], played.table[:, second]
    there = (left != EMPTY_SEAT) & (right != EMPTY_SEAT)
    turned = np.where(left < right, 1.0, -1.0)[there]
    difference = (played.score[:, first] - played.score[:, second])[there]
    margin = np.sign(played.above[:, second] - played.above[:, first])[there]
    block = np.broadcast_to(played.block[:, None], there.shape)[there]
    left, right = left[there], right[there]
    return Meetings(
        np.minimum(left, right), np.maximum(left, right), block, turned * difference, turned * margin.astype(float)
    )


def _natural(key: str) -> tuple[tuple[int, str], ...]:
    """Sorts `b9999` before `b10000`: runs of digits by their value, everything else as text."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", key) if part)


def _check_tables(game: str, names: Sequence[str], keys: Sequence[tuple[str, str]], table: Ints) -> None:
    import numpy as np

    line = np.sort(table, axis=1)
    twice = (line[:, 1:] == line[:, :-1]) & (line[:, 1:] != EMPTY_SEAT)
    if twice.any():
        episode, seat = (int(place) for place in np.argwhere(twice)[0])
        raise RowsInvalid(
            f"{game}: {names[line[episode, seat]]} sits twice at the table of {keys[episode][1]}; "
            "an entrant that plays itself has no place on a board"
        )
