"""The hash chain of a run: every row that is final, in the order in which it became so.

Owns the table `chain`, what of a row enters its digest, and the reading of both. An entry holds the digest of a row and
the link of the entry before it; its own link, SHA-256 over both, stands for everything up to it, and the last one is
the head. Who knows a head from elsewhere sees any later change to what it covers; the chain by itself shows order and
consistency only, since whoever writes the rows can write another chain.

A row is digested by what it says and not by where it lies: row numbers, and those of texts, are no part of it. A call
is final when its episode is finished or void, or when the run comes to rest: it enters then, and not as it returns, so
that a call in flight costs no further write.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from weigh.policies.contract import canonical

CHAIN: Final = """
CREATE TABLE chain(
    seq INTEGER PRIMARY KEY,
    "table" TEXT NOT NULL,
    row NOT NULL,
    digest BLOB NOT NULL,
    previous BLOB NOT NULL
);
"""
START: Final = bytes(32)
"""What stands for the link before the first entry."""

_KEYED: Final = "e.key AS key, t.* FROM {table} t JOIN episodes e ON e.id = t.episode"
_TEXTS: Final = ", ".join(
    f"(SELECT digest FROM texts WHERE id = t.{name}) AS {name}_text"  # noqa: S608
    for name in ("settings", "reply", "reasoning")
)
ROWS: Final = {
    "meta": "SELECT t.name AS row, t.* FROM meta t",
    "verdicts": "SELECT t.id AS row, t.* FROM verdicts t",
    "records": f"SELECT t.episode AS row, {_KEYED.format(table='records')}",
    "voids": f"SELECT t.id AS row, {_KEYED.format(table='voids')}",
    "calls": f"SELECT t.id AS row, {_TEXTS}, {_KEYED.format(table='calls')}",
}
"""What is digested of each table, whatever columns it has, after what names a row. What is planned stands in the
manifest as a digest of its own, and scores stand in the records."""
NUMBERS: Final = frozenset({"row", "id", "episode", "settings", "reply", "reasoning"})
"""Columns that only say where something lies."""
_NAMED: Final = {"meta": "t.name", "records": "t.episode"}


class Entry(NamedTuple):
    """One row of the chain."""

    seq: int
    table: str
    row: int | str
    digest: bytes
    previous: bytes

    @property
    def link(self) -> bytes:
        """What the next entry holds as the one before it."""
        return hashlib.sha256(self.previous + self.table.encode() + b"\0" + self.digest).digest()


@dataclass(frozen=True, slots=True)
class Head:
    """How long a chain is, and the link of its last entry."""

    rows: int
    link: str
    """Hex."""


class Chain:
    """The chain of one open database, for whoever writes it. Inside transactions; errors are SQLite's own."""

    def __init__(self, db: sqlite3.Connection, kept: bool) -> None:
        """`kept`: whether the run has a chain. Where it has none, nothing is done."""
        self._db = db
        self._kept = kept
        self.forget()

    def forget(self) -> None:
        """After a transaction was undone: what is remembered of the file may not be there."""
        self._link: bytes | None = None
        self._loose: dict[int, list[int]] | None = None if self._kept else {}

    def enter(self, table: str, row: int | str) -> None:
        """Take in a row as it is now. What a run says of itself is taken in whenever it is said; any other row once."""
        if self._kept:
            self._append(table, f"{_NAMED.get(table, 't.id')} = ?", (row,))

    def began(self, episode: int, call: int) -> None:
        """Remember a call that is not final yet."""
        if self._loose is None:
            self._not_entered()  # finds it
        elif self._kept:
            self._loose.setdefault(episode, []).append(call)

    def settle(self, episode: int) -> None:
        """Take in the calls of an episode that is finished or void."""
        if due := self._not_entered().pop(episode, None):
            self._append("calls", "t.episode = ? AND t.id >= ? AND t.id <= ? ORDER BY t.id", (episode, due[0], due[-1]))

    def rest(self) -> None:
        """Take in every call there is: nothing is in flight any more."""
        for episode in sorted(self._not_entered()):
            self.settle(episode)

    def _append(self, table: str, where: str, values: tuple[int | str, ...]) -> None:
        """Take in the rows of a table that are asked for, in their order."""
        link, added = self._head(), []
        texts: dict[int, object] = {}
        found = self._db.execute(f"{ROWS[table]} WHERE {where}", values)
        names = [column[0] for column in found.description]
        for row in found.fetchall():
            entry = Entry(0, table, row[0], row_digest(self._db, names, row, texts), link)
            added.append(entry[1:])
            link = entry.link
        self._db.executemany('INSERT INTO chain("table", row, digest, previous) VALUES (?, ?, ?, ?)', added)
        self._link = link

    def _head(self) -> bytes:
        if self._link is None:
            self._link = START
            for entry in entries(self._db, "ORDER BY seq DESC LIMIT 1"):
                self._link = entry.link
        return self._link

    def _not_entered(self) -> dict[int, list[int]]:
        """The calls that are not in the chain, by episode."""
        if self._loose is None:
            self._loose = {}
            for episode, call in self._db.execute(
                "SELECT episode, id FROM calls "
                "WHERE id NOT IN (SELECT row FROM chain WHERE \"table\" = 'calls') ORDER BY id"
            ):
                self._loose.setdefault(episode, []).append(call)
        return self._loose


def entries(db: sqlite3.Connection, how: str = "ORDER BY seq") -> Iterator[Entry]:
    """The chain, from its first entry on."""
    return map(Entry._make, db.execute(f'SELECT seq, "table", row, digest, previous FROM chain {how}'))  # noqa: S608


def rows(db: sqlite3.Connection) -> Iterator[tuple[str, int | str, bytes]]:
    """Every row that belongs in a chain, as it is now: its table, what names it, and its digest."""
    for table, query in ROWS.items():
        found = db.execute(query)
        names = [column[0] for column in found.description]
        for row in found:
            yield table, row[0], row_digest(db, names, row, {})


def row_digest(db: sqlite3.Connection, names: Sequence[str], row: Sequence[Any], texts: dict[int, object]) -> bytes:
    """SHA-256 over the canonical JSON of a row of `ROWS` whose columns are `names`: an object of the cells that are not
    empty, so that a column which comes later changes nothing, bytes as `["blob", HEX]`. Texts stand there by their
    digests; `texts` remembers these by their places, for several rows."""
    cells = {name: _cell(cell) for name, cell in zip(names, row, strict=True) if cell is not None}
    said = {name: cell for name, cell in cells.items() if name not in NUMBERS}
    if "messages" in said:
        said["messages"] = _messages(db, said["messages"], texts)
    return hashlib.sha256(canonical(said).encode()).digest()


def _cell(cell: object) -> object:
    return ["blob", cell.hex()] if isinstance(cell, bytes) else cell


def _messages(db: sqlite3.Connection, text: object, texts: dict[int, object]) -> object:
    """The messages of a call, each with its role and the digest of its text; as they are where they are spelled
    otherwise than a call's, so that this is seen too."""
    try:
        pairs = [[role, place] for role, place in json.loads(str(text))]
    except (ValueError, TypeError, RecursionError):
        return text
    sound = all(isinstance(place, int) and abs(place) < 2**63 for _, place in pairs)
    if not sound or json.dumps(pairs, separators=(",", ":")) != text:
        return text
    for pair in pairs:
        place = pair[1]
        if place not in texts:
            digest = db.execute("SELECT digest FROM texts WHERE id = ?", (place,)).fetchone()
            texts[place] = _cell(digest[0]) if digest else place
        pair[1] = texts[place]
    return pairs
