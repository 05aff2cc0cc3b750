"""Waiting for what another process or thread does, with a guard against waiting for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds: far more than anything takes that is waited for."""


def until(holds: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Look again and again until something is the case. Raises AssertionError when it never is."""
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it was not the case within {patience:g} s")
        time.sleep(0.01)
