"""How far a command is, for a person who waits at a terminal: one line on standard error, written over and over.

Owns when it is shown: not to a file or a pipe, and not before there was something to wait for.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from weigh.harness.cli.output import print_over

PATIENCE: Final = 1.0
"""Seconds without a word."""

PAUSE: Final = 0.2
"""Seconds between two numbers, at least."""


@contextmanager
def counting(what: str, total: int, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[int], None]]:
    """`what` says what is done, e.g. `drawing`; the function handed out is told how many of `total` episodes are."""
    from weigh.harness.cli.output import moves_cursor

    shows = sys.stderr is not None and moves_cursor(sys.stderr, os.environ)
    due, shown = clock() + PATIENCE, False

    def tell(number: int) -> None:
        nonlocal due, shown
        if shows and clock() >= due:
            due, shown = clock() + PAUSE, True
            print_over(f"weigh: {what} {number} of {total} episodes")

    try:
        yield tell
    finally:
        if shown:
            print_over("")
