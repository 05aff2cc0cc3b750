"""The file format of a run: tables, their version, and how a database file is opened and its failures told.

Owns `run.sqlite` as a format. Knows neither what a call or a record means, nor who may write.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.store.chain import CHAIN

FILE: Final = "run.sqlite"
APPLICATION_ID: Final = 0x77_65_69_67
"""`weig` in ASCII: tells our files from other SQLite files."""
VERSION: Final = 3
"""Of the file, in `PRAGMA user_version`. No other is read: formats 1 and 2 were those of versions before 0.1.0."""

BUSY_SECONDS: Final = 10.0
"""How long one statement waits for another process's lock on the file."""
CHECKPOINT_PAGES: Final = 4000
"""16 MB of log between two checkpoints, each of which waits for the disk."""

Mode: TypeAlias = Literal["write", "read"]

VERDICTS: Final = """
CREATE TABLE IF NOT EXISTS verdicts(
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL UNIQUE
);
"""
"""A run of format 3 that was made before there was this table gets it with its first verdict."""

ADDED: Final = {"lag": "REAL", "stated_cost": "REAL", "tier": "TEXT"}
"""Columns of the table `calls` that the first runs of format 3 lack: see `_complete`."""

TABLES: Final = f"""
{VERDICTS}
CREATE TABLE meta(
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE episodes(
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    block TEXT,
    game TEXT,
    deal_key TEXT
);
CREATE TABLE seats(
    episode INTEGER NOT NULL REFERENCES episodes(id),
    seat INTEGER NOT NULL,
    entrant TEXT NOT NULL,
    score REAL,
    PRIMARY KEY(episode, seat)
) WITHOUT ROWID;
CREATE TABLE records(
    episode INTEGER PRIMARY KEY REFERENCES episodes(id),
    body TEXT NOT NULL,
    times TEXT
);
-- Covers the question "which episodes are finished?", so that it need not walk over the bodies.
CREATE UNIQUE INDEX records_episode ON records(episode);
CREATE TABLE voids(
    id INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL REFERENCES episodes(id),
    step INTEGER NOT NULL,
    seats TEXT NOT NULL,
    cause TEXT NOT NULL
);
CREATE TABLE texts(
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    body NOT NULL
);
CREATE TABLE calls(
    id INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL REFERENCES episodes(id),
    seat INTEGER NOT NULL,
    step INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    request BLOB NOT NULL,
    model TEXT NOT NULL,
    messages TEXT NOT NULL,
    settings INTEGER NOT NULL REFERENCES texts(id),
    prompt_characters INTEGER,
    fate TEXT NOT NULL,
    reply INTEGER REFERENCES texts(id),
    reasoning INTEGER REFERENCES texts(id),
    stop TEXT,
    stop_detail TEXT,
    served_by TEXT,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    cache_written_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    error TEXT,
    billing TEXT NOT NULL,
    cost REAL,
    started TEXT NOT NULL,
    latency REAL NOT NULL,
    reused_from TEXT,
    {", ".join(f"{name} {kind}" for name, kind in ADDED.items())},
    UNIQUE(episode, seat, step, attempt, number)
);
"""


def is_run(folder: Path) -> bool:
    """Whether there is a run in this folder, as far as the names of its files tell."""
    return (folder / FILE).is_file()


def create_tables(path: Path) -> sqlite3.Connection:
    """A new database file with empty tables, open for writing."""
    with telling(path):
        db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
        try:
            db.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};")
            (journal,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            if journal != "wal":
                raise StoreFailed(
                    f"{path}: SQLite keeps no write-ahead log here ({journal} instead), without which readers and a "
                    "writer stop each other; keep runs on a local disk",
                    kind="no-wal",
                )
            db.executescript(TABLES)
            _tune(db)
        except BaseException:
            db.close()
            raise
        return db


def connect(path: Path, mode: Mode) -> sqlite3.Connection:
    """Open a run's database. Raises StoreRefused when it is none of ours, of another format, or damaged."""
    db = _reachable(path, mode)
    try:
        with telling(path):
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise StoreRefused(
                f"{path} is an SQLite file, but not a run of weigh; give the folder of a run", kind="not-a-run"
            )
        if version > VERSION:
            raise StoreRefused(
                f"{path} was written by a newer version of weigh (format {version}, this one reads {VERSION}); "
                "upgrade weigh to read it",
                kind="newer-format",
            )
        if version < VERSION:
            raise StoreRefused(
                f"{path} was written by an earlier version of weigh (format {version}, this one reads {VERSION}); "
                "read it with that version, or play the run again",
                kind="older-format",
            )
        _tune(db)
        with telling(path):
            _complete(db, mode)
        if mode == "read":
            db.execute("PRAGMA query_only = ON")
    except BaseException:
        db.close()
        raise
    return db


def _reachable(path: Path, mode: Mode) -> sqlite3.Connection:
    """A connection on which a first read has worked.

    A reader opens for writing where it can and then forbids itself to write: only so does SQLite take away its own
    log files when the last reader leaves. Where the folder cannot be written, a plain reading connection works if the
    log files are there, and `immutable` works if there is nothing in them.
    """
    if not path.is_file():
        raise StoreRefused(
            f"{path.parent} is not a run: it has no file {path.name}; give the folder of a run", kind="not-a-run"
        )
    log = path.with_name(f"{path.name}-wal")
    ways = ["mode=rw"] if mode == "write" else ["mode=rw", "mode=ro"]
    if mode == "read" and not (log.exists() and log.stat().st_size):
        ways.append("mode=ro&immutable=1")
    for way in ways:
        db = None
        try:
            with telling(path):
                address = f"file:{quote(os.fsencode(path.absolute()))}?{way}"
                db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
                db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if mode == "write":
                    # Asks for the right to write now, and not at the first finished episode.
                    db.execute("BEGIN IMMEDIATE")
                    db.execute("ROLLBACK")
            return db
        except StoreFailed as failed:
            if db is not None:
                db.close()
            if way == ways[-1]:
                raise StoreRefused(str(failed), kind=failed.kind) from failed
        except BaseException:
            if db is not None:
                db.close()
            raise
    raise AssertionError("there is at least one way")


def _complete(db: sqlite3.Connection, mode: Mode) -> None:
    """Give the table `calls` the columns that it lacks: for good, or for a reader as a view of its own."""
    there = {row[1] for row in db.execute("PRAGMA table_info(calls)")}
    lacking = {name: kind for name, kind in ADDED.items() if there and name not in there}
    if mode == "write":
        for name, kind in lacking.items():
            db.execute(f"ALTER TABLE calls ADD COLUMN {name} {kind}")
    elif lacking:
        empty = ", ".join(f"NULL AS {name}" for name in lacking)
        db.execute(f"CREATE TEMP VIEW calls AS SELECT *, {empty} FROM main.calls")  # noqa: S608


def _tune(db: sqlite3.Connection) -> None:
    # NORMAL: a commit survives the death of the process at once, and a power cut once it has been checkpointed.
    db.executescript(
        f"PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}; PRAGMA cache_size = -8000;"
    )


DAMAGED: Final = ("no such table", "no such column", "UTF-8", "malformed JSON", "JSON path")
"""What SQLite says of a file that is one, and none of ours any more."""
TYPES: Final = {"INTEGER": ("integer",), "TEXT": ("text",), "REAL": ("real",), "BLOB": ("blob",), "": ("text", "blob")}
"""What SQLite calls the values of a column, by its declared type."""
ALSO: Final = {
    **dict.fromkeys((("calls", name) for name in ("error", "stop_detail", "served_by", "reused_from")), "blob"),
    ("chain", "row"): "integer",
}
"""Columns that may hold another type too: texts with lone surrogates are bytes."""


ASTRAY: Final = "SELECT \"table\" FROM pragma_foreign_key_check WHERE parent = 'episodes' LIMIT 1"
"""A table with rows of an episode that is not there."""


def damage_of(db: sqlite3.Connection) -> str | None:
    """What is wrong with a file as a database of a run, or None. Reads all of it."""
    found = [str(row[0]) for row in db.execute("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        return "; ".join(" ".join(found).split("\n"))
    astray = db.execute(ASTRAY).fetchone()
    return next(odd_cells(db), None) if astray is None else f"a row of {astray[0]} belongs to no episode"


@contextmanager
def unchanging(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """What is read within is the file at one moment, whatever is written to it meanwhile."""
    if db.in_transaction:
        yield
        return
    with telling(path):
        db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


def odd_cells(db: sqlite3.Connection) -> Iterator[str]:
    """Every table and column that is not of this format, or holds a value of a type that it cannot have."""
    wanted = sqlite3.connect(":memory:")
    try:
        wanted.executescript(TABLES + CHAIN)
        due = _columns(wanted)
    finally:
        wanted.close()
    there = _columns(db)
    for table, columns in there.items():
        # Tables, and columns that may be empty, may have come later than a file of this format.
        lacking = [column for column in due.get(table, ()) if column not in columns and column[2]]
        if lacking or (table in due and not set(columns) <= set(due[table])):
            yield f"the table {table} has other columns"
            continue
        for name, declared, required in columns:
            types = [*TYPES.get(declared, ()), ALSO.get((table, name), ""), *(() if required else ("null",))]
            listed = ", ".join(f"'{each}'" for each in types)
            query = f'SELECT count(*) FROM main."{table}" WHERE typeof("{name}") NOT IN ({listed})'  # noqa: S608
            (count,) = db.execute(query).fetchone()
            if count:
                yield f"{table}.{name} has a value of another type, in {count} of its rows"
    yield from (f"the table {table} is missing" for table in sorted(due.keys() - there.keys() - {"verdicts", "chain"}))


def gaps(db: sqlite3.Connection) -> Iterator[str]:
    """The tables of which a number is missing: rows are numbered from 1 as they come, and none is ever taken away."""
    for table, columns in _columns(db).items():
        if columns[0][0] == "id":
            query = f"SELECT coalesce(max(id), 0) <> count(*) OR coalesce(min(id), 1) <> 1 FROM main.{table}"  # noqa: S608
            if db.execute(query).fetchone()[0]:
                yield table


def _columns(db: sqlite3.Connection) -> dict[str, list[tuple[str, str, bool]]]:
    """Each table's columns in the file, whatever a reader sees of it: name, declared type, and whether a value is
    required."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {
        table: [(row[1], row[2], bool(row[3] or row[5])) for row in db.execute(f"PRAGMA main.table_info({table})")]
        for table in tables
    }


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into StoreRefused (the file is at fault) or StoreFailed (the machine is)."""
    try:
        yield
    except sqlite3.Error as error:
        raise _told(error, path) from error


def _told(error: sqlite3.Error, path: Path) -> StoreRefused | StoreFailed:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_NOTADB"):
        return StoreRefused(f"{path} is not a run: it is no SQLite file", kind="not-a-run")
    if name.startswith("SQLITE_CORRUPT") or any(sign in str(error) for sign in DAMAGED):
        return StoreRefused(
            f"{path} is damaged ({error}); what can still be read comes out with `sqlite3 {path} .recover`",
            kind="damaged",
        )
    if name.startswith("SQLITE_FULL"):
        cause = "the disk is full; free some space"
    elif name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        cause = f"it cannot be opened or written ({error}); check the rights on the folder and its files"
    elif name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        cause = "another process holds it; wait for that process"
    else:
        cause = f"reading or writing failed ({error}); check the disk"
    return StoreFailed(
        f"{path}: {cause}, then give the same command again: whatever was kept is safe", kind="write-failed"
    )
