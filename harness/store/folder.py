"""The folder of a run: made whole or not at all, and written by one process at a time.

Owns the steps from nothing to a folder with a manifest and a schedule in it, the rows of both, and the file `run.lock`.
The lock is the operating system's: it goes with the process that holds it, however that ends. Knows nothing of what is
played.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.store.chain import CHAIN, Chain
from weigh.harness.store.manifest import Manifest, Planned
from weigh.harness.store.schema import FILE, create_tables, is_run, telling
from weigh.policies.contract import canonical

LOCK_FILE: Final = "run.lock"
PATIENCE: Final = 0.3
"""Seconds to wait for the lock: a reader that asks `is_held` has it for an instant."""


class WriterLock:
    """Held from construction to `release`. Raises StoreRefused when another process (or this one) holds it."""

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK_FILE
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreFailed(
                f"{path}: it cannot be written ({error.strerror}); check the rights on the folder", kind="write-failed"
            ) from error
        patience = time.monotonic() + PATIENCE
        while not _take(self._fd, fcntl.LOCK_EX):
            if time.monotonic() > patience:
                holder = os.pread(self._fd, 20, 0).decode("ascii", "replace").strip()
                os.close(self._fd)
                raise StoreRefused(
                    f"{folder} is being written by another process{f' ({holder})' if holder else ''}; "
                    "wait until it has ended, or end it",
                    kind="locked",
                )
            time.sleep(0.02)
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"pid {os.getpid()}\n".encode(), 0)
        except OSError:
            # A full disk must not keep a run from being opened: the pid is only there to be shown.
            return

    def release(self) -> None:
        """Let the next writer in. Safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def is_held(folder: Path) -> bool:
    """Whether some process is writing the run now."""
    try:
        fd = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _take(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _take(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def make_run(folder: Path, manifest: Manifest, episodes: Iterable[Planned]) -> WriterLock:
    """Make a run in `folder`, which must not exist or be empty; its lock is held when this returns.

    Raises StoreRefused when there is something in the folder, StoreFailed when it cannot be made.
    """
    if folder.exists() and not _is_empty(folder):
        what = "holds a run already" if is_run(folder) else "exists and is not an empty folder"
        raise StoreRefused(
            f"{folder} {what}; give another folder, or resume the run with the config it was made with",
            kind="not-a-run",
        )
    draft = folder.with_name(f".{folder.name[:100]}.{secrets.token_hex(6)}.new")
    lock = None
    try:
        draft.mkdir(parents=True)
        lock = WriterLock(draft)
        db = create_tables(draft / FILE)
        try:
            with telling(folder / FILE):
                _fill(db, manifest, episodes)
        finally:
            db.close()
        _to_disk(draft / FILE)
        # Moves onto nothing or onto an empty folder, and fails if somebody else has made a run here meanwhile.
        draft.rename(folder)
        _to_disk(folder.parent)
        return lock
    except BaseException as error:
        if lock is not None:
            lock.release()
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            if is_run(folder):
                raise StoreRefused(f"{folder} holds a run already; give another folder", kind="holds-a-run") from error
            raise StoreFailed(
                f"{folder}: the run cannot be made there ({error.strerror})", kind="write-failed"
            ) from error
        raise


def _fill(db: sqlite3.Connection, manifest: Manifest, episodes: Iterable[Planned]) -> None:
    db.execute("BEGIN")
    if manifest.chained:
        db.execute(CHAIN)
    write_order(db, manifest, episodes, Chain(db, manifest.chained))
    db.execute("COMMIT")


def write_order(db: sqlite3.Connection, manifest: Manifest, episodes: Iterable[Planned], chain: Chain) -> None:
    """Write the manifest in place of any other, and plan `episodes` after those that are planned. Inside a
    transaction. What has planned episodes is not finished, whatever it was: it says `interrupted`."""
    db.executemany(
        "INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)",
        [("manifest", canonical(manifest.model_dump(mode="json"))), ("status", "interrupted")],
    )
    for name in ("manifest", "status"):
        chain.enter("meta", name)
    for episode in episodes:
        cursor = db.execute(
            "INSERT INTO episodes(key, block, game, deal_key) VALUES (?, ?, ?, ?)",
            (episode.key, episode.block, episode.game, episode.deal_key),
        )
        db.executemany(
            "INSERT INTO seats(episode, seat, entrant) VALUES (?, ?, ?)",
            [(cursor.lastrowid, seat, entrant) for seat, entrant in enumerate(episode.entrants)],
        )


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
