"""Episodes as rows of a run's database: what was planned of each, and how its seats scored.

Owns the tables `episodes` and `seats` as readers see them. Knows neither records nor calls.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

QUERY: Final = (
    "SELECT e.id, e.key, e.block, e.game, e.deal_key, s.entrant, s.score "
    "FROM episodes e LEFT JOIN seats s ON s.episode = e.id "
)


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode as the run knows it beside its record. Implements `harness.manifest.Planned` when it was planned."""

    key: str
    block: str
    game: str
    deal_key: str
    """Empty for an episode that was played without a schedule."""
    entrants: tuple[str, ...]
    """By seat."""
    scores: tuple[float | None, ...]
    """By seat, None while the episode is not finished."""


def episode_rows(db: sqlite3.Connection) -> Iterator[EpisodeRow]:
    """Every episode that was planned, or that anything is kept of, in schedule order."""
    yield from _grouped(db.execute(f"{QUERY} ORDER BY e.id, s.seat"))


def episode_row(db: sqlite3.Connection, key: str) -> EpisodeRow | None:
    """One of them."""
    return next(_grouped(db.execute(f"{QUERY} WHERE e.key = ? ORDER BY s.seat", (key,))), None)


def _grouped(cursor: sqlite3.Cursor) -> Iterator[EpisodeRow]:
    for _, rows in groupby(cursor, key=lambda row: row[0]):
        seats = list(rows)
        _, key, block, game, deal_key, *_ = seats[0]
        taken = [(row[5], row[6]) for row in seats if row[5] is not None]
        entrants, scores = (tuple(column) for column in zip(*taken, strict=True)) if taken else ((), ())
        yield EpisodeRow(key, block or "", game or "", deal_key or "", entrants, scores)
