"""The store: one folder per run, one SQLite file in it, written by one process at a time.

Owns that what a method kept is committed when it returns, and that a call paid for is found again. A run that is killed
loses the calls in flight and nothing else. Knows no rules, no providers and no config format;
`docs/reference/records.md` describes the tables for people who read them with other tools.

Nothing is ever loaded whole: what may be long is iterated.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.store import call_table as store_calls
from weigh.harness.store import usage as store_usage
from weigh.harness.store.call_table import CallFacts, StoredCall
from weigh.harness.store.calls import LOST, Call, CallKey, Void
from weigh.harness.store.chain import START, Chain, Entry, Head, entries, rows
from weigh.harness.store.episode_table import (
    EpisodeRow,
    episode_row,
    episode_rows,
    manifest_from,
    merged,
    misfiled,
    record_from,
    seats_from,
    to_texts,
)
from weigh.harness.store.folder import WriterLock, is_held, make_run, write_order
from weigh.harness.store.manifest import Manifest, Planned
from weigh.harness.store.record import Record
from weigh.harness.store.schema import FILE, VERDICTS, Mode, connect, damage_of, gaps, is_run, telling, unchanging
from weigh.harness.store.texts import Texts, printable
from weigh.harness.store.usage import UNTOLD, Account, Told, Usage
from weigh.policies.contract import Request, canonical

__all__ = [
    "CallFacts",
    "EpisodeRow",
    "Store",
    "StoredCall",
    "is_run",
]

KNOWN_EPISODES: Final = 4096
"""Episodes whose row number is remembered."""


class Store:
    """An open run. Made by `create` or `open`; a context manager. For one thread.

    Methods that write raise StoreFailed when the disk is full or gone, with what was kept before still in place.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.folder = folder
        self._path = folder / FILE
        self._db = db
        self._lock = lock
        self._texts = Texts(db)
        self._episodes: dict[str, int] = {}
        self._place = self._inode()
        self.manifest = self._read_manifest()
        self._chain = Chain(db, self.manifest.chained)

    @classmethod
    def create(cls, folder: Path, manifest: Manifest, episodes: Iterable[Planned] = ()) -> Store:
        """Make a new run in `folder`, which must not exist or be empty, and open it for writing.

        The folder appears whole or not at all. Raises StoreRefused when there is something in it, StoreFailed when it
        cannot be made. `episodes` are the schedule: records come back in its order.
        """
        return cls._on(folder, "write", make_run(folder, manifest, episodes))

    @classmethod
    def open(cls, folder: Path, readonly: bool = False) -> Store:
        """Open the run in `folder`. A writer takes the run's lock; readers may come and go beside it.

        Raises StoreRefused: no run there, written by a newer version, damaged, or being written by another process.
        """
        if not folder.is_dir():
            what = "is a file, not the folder of a run" if folder.exists() else "does not exist"
            raise StoreRefused(f"{folder} {what}; give the folder that `weigh ladder` made", kind="not-a-run")
        if not is_run(folder):
            raise StoreRefused(
                f"{folder} is not a run: it has no file {FILE}; give the folder that `weigh ladder` made",
                kind="not-a-run",
            )
        return cls._on(folder, "read", None) if readonly else cls._on(folder, "write", WriterLock(folder))

    @classmethod
    def _on(cls, folder: Path, mode: Mode, lock: WriterLock | None) -> Store:
        """A store on a run that is there. Lets go of everything when it cannot be opened."""
        db = None
        try:
            db = connect(folder / FILE, mode)
            return cls(folder, db, lock)
        except BaseException:
            if db is not None:
                db.close()
            if lock is not None:
                lock.release()
            raise

    def close(self) -> None:
        """Let go of the run. Safe to call twice."""
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- calls ---------------------------------------------------------------------------------------------------------

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None = None) -> int:
        """Keep that a call is about to leave; gives its number. Until `end_call` it counts as lost, at `cost`."""
        with self._writing(f"a call of {key} is already kept"):
            values = store_calls.place(key, self._episode(key.episode))
            values |= store_calls.asked(request, started, self._texts)
            number, call = self._db.execute(store_calls.BEGIN, {**values, "error": LOST, "cost": cost}).fetchone()
            self._chain.began(int(str(values["episode"])), call)
        return int(number)

    def end_call(self, call: Call) -> None:
        """Keep what became of a call that was begun. Raises StoreRefused for any other."""
        with self._writing(f"call {call.number} of {call.key} is already kept"):
            values = store_calls.place(call.key, self._episode(call.key.episode)) | {"number": call.number}
            if self._db.execute(store_calls.END, values | store_calls.outcome(call, self._texts)).rowcount != 1:
                raise StoreRefused(
                    f"{self.folder}: call {call.number} of {call.key} was not begun, or has ended",
                    kind="call-not-begun",
                )

    def add_call(self, call: Call) -> None:
        """Keep a whole call at once. Raises StoreRefused for a second call of the same key and number."""
        with self._writing(f"call {call.number} of {call.key} is already kept"):
            values = store_calls.place(call.key, self._episode(call.key.episode)) | {"number": call.number}
            values |= store_calls.asked(call.request, call.started, self._texts)
            added = self._db.execute(store_calls.INSERT, values | store_calls.outcome(call, self._texts))
            self._chain.began(int(str(values["episode"])), int(added.lastrowid or 0))

    def paid(self, key: CallKey, request: Request) -> Call | None:
        """The last call for this attempt and an equal request that settled it (`calls.SETTLED`), if there is one."""
        place = (key.episode, key.seat, key.step, key.attempt, bytes.fromhex(request.digest))
        with telling(self._path):
            row = self._db.execute(store_calls.PAID, place).fetchone()
            return None if row is None else store_calls.from_row(row, self._texts, self._path, request)

    def next_number(self, key: CallKey) -> int:
        """The number of the next call for this attempt: how many were made."""
        with telling(self._path):
            row = self._db.execute(store_calls.NEXT_NUMBER, (key.episode, key.seat, key.step, key.attempt)).fetchone()
        return int(row[0])

    def calls(self, episode: str | None = None) -> Iterator[Call]:
        """Every call, or those of one episode, by episode in schedule order, seat, step, attempt and number."""
        return (kept.call for kept in self.stored_calls(episode))

    def stored_calls(self, episode: str | None = None) -> Iterator[StoredCall]:
        """The same, with the request digests that were written when the calls were made."""
        where = "" if episode is None else "WHERE e.key = ?"
        query = (
            f"SELECT {store_calls.COLUMNS} FROM episodes e JOIN calls c ON c.episode = e.id {where} "  # noqa: S608
            "ORDER BY c.episode, c.seat, c.step, c.attempt, c.number"
        )
        with telling(self._path):
            for row in self._db.execute(query, () if episode is None else (episode,)):
                yield store_calls.stored(row, self._texts, self._path)

    def call_facts(self) -> Iterator[CallFacts]:
        """The same without their texts, and many times faster."""
        with telling(self._path):
            yield from store_calls.facts(self._db)

    def instructions(self) -> Iterator[tuple[str, str, str, str]]:
        """Every system message that an entrant's model was sent: (game, entrant, the message, the settings as JSON);
        those that cannot be read are left out."""
        with telling(self._path):
            for game, entrant, *places in self._db.execute(store_calls.INSTRUCTIONS):
                with suppress(ValueError, TypeError, OverflowError):
                    system, settings = (self._texts.get(place) for place in places)
                    yield game, entrant, system, settings

    def text(self, place: int) -> str:
        """A text that `call_facts` points to."""
        with telling(self._path):
            return self._texts.get(place)

    def accounts(self) -> tuple[Account, ...]:
        """What was spent, by game, entrant and model."""
        with telling(self._path):
            return tuple(store_usage.accounts(self._db))

    def totals(self) -> Usage:
        """What was spent in all, by all sittings of the run."""
        return sum((account.usage for account in self.accounts()), Usage())

    def told(self) -> tuple[Told, ...]:
        """What calls took, by model, of those that told it all."""
        with telling(self._path):
            return tuple(store_usage.told(self._db))

    def untold(self) -> Iterator[Call]:
        """The calls that may have been charged for, and whose tokens or cost nobody told."""
        query = f"SELECT {store_calls.COLUMNS} FROM episodes e JOIN calls c ON c.episode = e.id WHERE {UNTOLD}"  # noqa: S608
        with telling(self._path):
            for row in self._db.execute(query):
                yield store_calls.from_row(row, self._texts, self._path)

    def usage(self, episode: str) -> dict[int, Usage]:
        """What was spent for each seat of one episode, all its attempts together. No entry for a seat without calls."""
        with telling(self._path):
            return store_usage.by_seat(self._db, episode)

    # -- episodes ------------------------------------------------------------------------------------------------------

    def add_record(self, record: Record) -> None:
        """Keep a finished episode. The same record again changes nothing; another one for its key is StoreRefused."""
        body, times = to_texts(record)
        with self._writing(f"{record.key} is already kept"):
            episode = self._episode(record.key, record.block, record.game)
            kept = self._db.execute("SELECT body FROM records WHERE episode = ?", (episode,)).fetchone()
            if kept is not None:
                if kept[0] != body:
                    raise StoreRefused(
                        f"{record.key} is already finished in {self.folder}, with another record",
                        kind="finished-otherwise",
                    )
                return
            self._db.execute("INSERT INTO records(episode, body, times) VALUES (?, ?, ?)", (episode, body, times))
            self._db.executemany(
                "INSERT INTO seats(episode, seat, entrant, score) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET score = excluded.score",
                [
                    (episode, seat, entrant, score)
                    for seat, (entrant, score) in enumerate(zip(record.entrants, record.scores, strict=True))
                ],
            )
            self._chain.settle(episode)
            self._chain.enter("records", episode)

    def add_void(self, void: Void) -> None:
        """Keep that an outage ended an episode. One episode may be void several times."""
        with self._writing(f"{void.episode} cannot be kept as void"):
            episode = self._episode(void.episode, void.block, void.game)
            added = self._db.execute(
                "INSERT INTO voids(episode, step, seats, cause) VALUES (?, ?, ?, ?)",
                (episode, void.step, json.dumps(void.seats), printable(void.cause)),
            )
            self._db.executemany(
                "INSERT INTO seats(episode, seat, entrant) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(episode, seat, entrant) for seat, entrant in enumerate(void.entrants)],
            )
            self._chain.settle(episode)
            self._chain.enter("voids", int(added.lastrowid or 0))

    def finished(self) -> tuple[str, ...]:
        """The keys of the finished episodes, in schedule order. Does not read the records themselves."""
        with telling(self._path):
            query = "SELECT e.key FROM records r JOIN episodes e ON e.id = r.episode ORDER BY r.episode"
            return tuple(row[0] for row in self._db.execute(query))

    def records(self) -> Iterator[Record]:
        """Every finished episode in schedule order, whatever order they finished in."""
        for _, body, times in self.bodies():
            yield record_from(body, times, self._path)

    def bodies(self) -> Iterator[tuple[str, str, str | None]]:
        """The same as JSON text, unread: (the key it is kept under, the record without its times, the times)."""
        query = "SELECT e.key, r.body, r.times FROM records r JOIN episodes e ON e.id = r.episode ORDER BY r.episode"
        with telling(self._path):
            # Not `yield from`: it would close the cursor of whoever stops in the middle, which a closed store forbids.
            for row in self._db.execute(query):  # noqa: UP028
                yield row

    def record(self, key: str) -> Record | None:
        """The record of one episode, or None while it is not finished."""
        query = "SELECT r.body, r.times FROM episodes e JOIN records r ON r.episode = e.id WHERE e.key = ?"
        with telling(self._path):
            row = self._db.execute(query, (key,)).fetchone()
        return None if row is None else record_from(row[0], row[1], self._path)

    def voids(self) -> Iterator[Void]:
        """Every time an outage ended an episode, in the order it happened."""
        query = (
            "SELECT e.id, e.key, e.block, e.game, v.step, v.seats, v.cause "
            "FROM voids v JOIN episodes e ON e.id = v.episode ORDER BY v.id"
        )
        with telling(self._path):
            for number, key, block, game, step, seats, cause in self._db.execute(query):
                yield Void(key, block, game, self._entrants(number), step, seats_from(seats, self._path), cause)

    def episodes(self) -> Iterator[EpisodeRow]:
        """Every episode that was planned, or that anything is kept of, in schedule order."""
        with telling(self._path):
            yield from episode_rows(self._db)

    def episode(self, key: str) -> EpisodeRow | None:
        """One of them."""
        with telling(self._path):
            return episode_row(self._db, key)

    def misfiled(self) -> Iterator[str]:
        """The keys under which the record of another episode is kept: see `store_episodes.misfiled`."""
        with telling(self._path):
            yield from misfiled(self._db)

    # -- the run -------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """`running`, `finished`, `interrupted` or `stopped: why`. A run whose process died is `interrupted`."""
        said = self.meta().get("status", "interrupted")
        if said == "running" and self._lock is None and not is_held(self.folder):
            return "interrupted"
        return said

    @property
    def at_rest(self) -> bool:
        """Whether whoever wrote the run last said how it ended: not where the process died, or still plays."""
        return self.meta().get("status", "interrupted") != "running"

    def meta(self) -> dict[str, str]:
        """What the run says of itself, by name, as it is kept: its manifest, its status, what was learned of models."""
        with telling(self._path):
            return dict(self._db.execute("SELECT name, value FROM meta"))

    def set_status(self, status: str) -> None:
        """Say how the run stands: see `status`. What it says already is not said again."""
        if self.meta().get("status") == printable(status):
            return
        with self._writing("the status cannot be kept"):
            self._db.execute("INSERT OR REPLACE INTO meta(name, value) VALUES ('status', ?)", (printable(status),))
            if status != "running":
                self._chain.rest()
            self._chain.enter("meta", "status")

    def chain_head(self) -> Head | None:
        """The end of the run's hash chain; None for a run that was made before there was one."""
        if not self.manifest.chained:
            return None
        with telling(self._path):
            last = [*entries(self._db, "ORDER BY seq DESC LIMIT 1")]
        return Head(last[0].seq, last[0].link.hex()) if last else Head(0, START.hex())

    def chain(self) -> Iterator[Entry]:
        """The entries of the hash chain. Raises StoreRefused where the table is missing."""
        with telling(self._path):
            yield from entries(self._db)

    def chained_rows(self) -> Iterator[tuple[str, int | str, bytes]]:
        """Every row that belongs in the chain, as it is now: its table, what names it, and its digest."""
        with telling(self._path):
            yield from rows(self._db)

    def amend(self, manifest: Manifest, episodes: Iterable[Planned]) -> None:
        """Order the run with another manifest, and plan `episodes` after those there are: all of it or nothing."""
        old = self.manifest
        kept = {"chained": old.chained, "prompts": {**old.prompts, **manifest.prompts} if old.chained else {}}
        ordered = manifest.model_copy(update=kept)
        with self._writing("an episode to be added is already planned"):
            self._chain.rest()
            write_order(self._db, ordered, episodes, self._chain)
        self.manifest = ordered

    def adaptations(self) -> dict[str, tuple[str, ...]]:
        """What was learned of each model during the run and is done otherwise than ordered: lines, by model."""
        return self._of_models("adaptations")

    def add_adaptations(self, learned: Mapping[str, Sequence[str]]) -> None:
        """Keep what was learned of models, after what was learned before. What is known already changes nothing."""
        self._add_of_models("adaptations", learned)

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """Where each model was asked, by all sittings; nothing of runs made before this was kept."""
        return self._of_models("addresses")

    def add_addresses(self, asked: Mapping[str, str]) -> None:
        """Keep where models are asked, beside where they were asked before."""
        self._add_of_models("addresses", {model: [address] for model, address in asked.items()})

    def _of_models(self, name: str) -> dict[str, tuple[str, ...]]:
        with telling(self._path):
            row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return merged(row[0] if row else None, {})

    def _add_of_models(self, name: str, lines: Mapping[str, Sequence[str]]) -> None:
        known = self._of_models(name)
        told = merged(canonical(known), {model: [printable(line) for line in own] for model, own in lines.items()})
        if told != known:
            with self._writing(f"{name} of the models cannot be kept"):
                self._db.execute("INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)", (name, canonical(told)))
                self._chain.enter("meta", name)

    def verdicts(self) -> list[str]:
        """What was concluded from the run, the oldest first, as `keep_verdict` was given it."""
        with telling(self._path):
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'verdicts'").fetchone():
                return []
            return [str(row[0]) for row in self._db.execute("SELECT body FROM verdicts ORDER BY id")]

    def keep_verdict(self, body: str) -> None:
        """Keep what was concluded from the run, a JSON document. What is there already is not kept again."""
        if body not in self.verdicts():
            with self._writing("the verdict cannot be kept"):
                self._db.execute(VERDICTS)
                kept = self._db.execute("INSERT INTO verdicts(body) VALUES (?)", (body,))
                self._chain.enter("verdicts", int(kept.lastrowid or 0))

    def damage(self) -> str | None:
        """What is wrong with the file as a database of a run, or None. Reads all of it."""
        try:
            with telling(self._path):
                return damage_of(self._db)
        except StoreRefused as refused:
            return str(refused)

    def unchanging(self) -> AbstractContextManager[None]:
        """What is read within is the run at one moment, whatever is written to it meanwhile."""
        return unchanging(self._db, self._path)

    def flaws(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the file as this program writes it, as (where, what). Reads every text."""
        with telling(self._path):
            for table in gaps(self._db):
                yield table, "has rows that are gone, or are numbered otherwise than they came"
            for place in self._texts.altered():
                yield f"texts, row {place},", "is not that of its digest"

    def _inode(self) -> tuple[int, int] | None:
        """What tells the run's file from any other, None when there is none at its place."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - on every write, and pathlib's takes twice as long
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _read_manifest(self) -> Manifest:
        with telling(self._path):
            row = self._db.execute("SELECT value FROM meta WHERE name = 'manifest'").fetchone()
        return manifest_from(row[0] if row else None, self._path)

    def _entrants(self, episode: int) -> tuple[str, ...]:
        rows = self._db.execute("SELECT entrant FROM seats WHERE episode = ? ORDER BY seat", (episode,))
        return tuple(row[0] for row in rows)

    def _episode(self, key: str, block: str | None = None, game: str | None = None) -> int:
        """The row number of an episode, which is added when it was not planned. Inside a transaction."""
        number = self._episodes.get(key)
        if number is not None and block is None:
            return number
        row = self._db.execute(
            "INSERT INTO episodes(key, block, game) VALUES (?, ?, ?) ON CONFLICT(key) DO UPDATE "
            "SET block = coalesce(block, excluded.block), game = coalesce(game, excluded.game) RETURNING id",
            (key, block, game),
        ).fetchone()
        if len(self._episodes) >= KNOWN_EPISODES:
            self._episodes.clear()
        self._episodes[key] = number = int(row[0])
        return number

    @contextmanager
    def _writing(self, twice: str) -> Iterator[None]:
        """One transaction: all of it is kept, or nothing is and an error is raised, with `twice` for a repeat."""
        if self._lock is None:
            raise StoreRefused(f"{self.folder} is open for reading only", kind="read-only")
        if self._inode() != self._place:
            # The database would go on in a file that nobody can open any more, and so would the spending.
            raise StoreFailed(
                f"{self._path} was deleted or moved while the run was going on; nothing more can be kept",
                kind="run-gone",
            )
        try:
            with telling(self._path):
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
        except BaseException as error:
            self._texts.forget()
            self._chain.forget()
            self._episodes.clear()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error.__cause__, sqlite3.IntegrityError):
                raise StoreRefused(f"{self.folder}: {twice}", kind="given-twice") from error
            raise
