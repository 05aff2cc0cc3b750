"""The lock that lets one process at a time write a run.

Owns the file `run.lock`. The lock is the operating system's: it goes with the process that holds it, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final

from harness.store_schema import StoreFailed, StoreRefused

FILE: Final = "run.lock"
PATIENCE: Final = 0.3
"""Seconds to wait for the lock: a reader that asks `is_held` has it for an instant."""


class WriterLock:
    """Held from construction to `release`. Raises StoreRefused when another process (or this one) holds it."""

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreFailed(
                f"{path}: it cannot be written ({error.strerror}); check the rights on the folder"
            ) from error
        patience = time.monotonic() + PATIENCE
        while not _take(self._fd, fcntl.LOCK_EX):
            if time.monotonic() > patience:
                holder = os.pread(self._fd, 20, 0).decode("ascii", "replace").strip()
                os.close(self._fd)
                raise StoreRefused(
                    f"{folder} is being written by another process{f' ({holder})' if holder else ''}; "
                    "wait until it has ended, or end it"
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
        fd = os.open(folder / FILE, os.O_RDONLY | os.O_CLOEXEC)
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
