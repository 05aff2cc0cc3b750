"""Episodes as rows of a run's database: what was planned of each, and how its seats scored.

Owns the tables `episodes` and `seats` as readers see them. Knows neither records nor calls.

Records, manifests and what was learned of models, as texts of a run's database.

Owns that a record comes back as it was kept, and that one which cannot be read is told in one line.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from weigh.harness.errors import StoreRefused
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.record import Record
from weigh.policies.contract import canonical


def to_texts(record: Record) -> tuple[str, str | None]:
    """The record without its times, equal for equal records, and the times."""
    return record.comparable(), None if record.times is None else canonical(record.times.model_dump(mode="json"))


def record_from(body: str, times: str | None, path: Path) -> Record:
    """The record that `to_texts` was given. Raises StoreRefused, naming the file at `path`."""
    try:
        return Record.model_validate({**json.loads(body), "times": json.loads(times) if times else None})
    except (ValueError, TypeError) as error:
        raise StoreRefused(
            f"{path} holds a record that cannot be read: {_first_line(error)}", kind="damaged"
        ) from error


def seats_from(text: str, path: Path) -> tuple[int, ...]:
    """The seats of a void, kept as `text`. Raises StoreRefused, naming the file at `path`."""
    try:
        seats = json.loads(text)
    except ValueError as error:
        raise StoreRefused(f"{path} is damaged: the seats of a void cannot be read: {error}", kind="damaged") from error
    if isinstance(seats, list) and all(type(seat) is int for seat in seats):
        return tuple(seats)
    raise StoreRefused(f"{path} is damaged: a void has no seats: {text}", kind="damaged")


def manifest_from(text: str | None, path: Path) -> Manifest:
    """The manifest kept as `text`. Raises StoreRefused, naming the file at `path`."""
    try:
        return Manifest.model_validate(json.loads(text or "null"))
    except ValueError as error:
        raise StoreRefused(
            f"{path} is damaged: its manifest cannot be read: {_first_line(error)}", kind="damaged"
        ) from error


def merged(text: str | None, learned: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """What was learned of models, kept as `text`, and after it what was `learned` since: every line once, by model."""
    known: dict[str, list[str]] = json.loads(text or "{}")
    return {
        model: tuple(dict.fromkeys([*known.get(model, ()), *learned.get(model, ())]))
        for model in dict.fromkeys([*known, *learned])
    }


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}".removeprefix(": ")
    return str(error)


QUERY: Final = (
    "SELECT e.id, e.key, e.block, e.game, e.deal_key, s.entrant, s.score "
    "FROM episodes e LEFT JOIN seats s ON s.episode = e.id "
)


# SQLite reads the bodies itself, in a tenth of the time that making records of them takes. Texts are compared one by
# one, since two JSON texts may write one name in two ways. A score may differ in its last digit, as SQLite reads
# numbers a little less exactly than they were written.
MISFILED: Final = """
SELECT e.key FROM records r JOIN episodes e ON e.id = r.episode
WHERE CASE WHEN NOT json_valid(r.body) THEN 1 ELSE
    json_extract(r.body, '$.key') IS NOT e.key
    OR json_extract(r.body, '$.block') IS NOT e.block
    OR json_extract(r.body, '$.game') IS NOT e.game
    OR json_array_length(r.body, '$.entrants') IS NOT (SELECT count(*) FROM seats s WHERE s.episode = e.id)
    OR EXISTS (SELECT 1 FROM seats s WHERE s.episode = e.id AND (
        json_extract(r.body, '$.entrants[' || s.seat || ']') IS NOT s.entrant
        OR coalesce(abs(json_extract(r.body, '$.scores[' || s.seat || ']') - s.score) > 1e-9, 1)))
END
ORDER BY e.id
"""


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode as the run knows it beside its record. Implements `harness.store.manifest.Planned` when it was
    planned."""

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


def misfiled(db: sqlite3.Connection) -> Iterator[str]:
    """The keys under which a record is kept that is not of that episode, by its own key, block, game, entrants or
    scores."""
    for row in db.execute(MISFILED):
        yield row[0]


def _grouped(cursor: sqlite3.Cursor) -> Iterator[EpisodeRow]:
    for _, rows in groupby(cursor, key=lambda row: row[0]):
        seats = list(rows)
        _, key, block, game, deal_key, *_ = seats[0]
        taken = [(row[5], row[6]) for row in seats if row[5] is not None]
        entrants, scores = (tuple(column) for column in zip(*taken, strict=True)) if taken else ((), ())
        yield EpisodeRow(key, block or "", game or "", deal_key or "", entrants, scores)
