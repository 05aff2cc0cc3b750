"""Streams of randomness, each a keyed hash of the run seed and what it is for.

No stream depends on how often another was drawn from, on the process, the platform or PYTHONHASHSEED.
"""

from __future__ import annotations

import hashlib
from random import Random


def derive(run_seed: int, purpose: str, *key: str | int) -> int:
    """A 256-bit integer, equal for equal arguments on every machine.

    `purpose` separates streams of one episode (`deal`, `aliases`, `seat`); `key` names the episode and what lies below.
    """
    parts = [str(run_seed), purpose, *(str(part) for part in key)]
    framed = b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in parts)
    return int.from_bytes(hashlib.sha256(b"weighhouse:" + framed).digest(), "big")


def stream(run_seed: int, purpose: str, *key: str | int) -> Random:
    """A generator of its own, seeded by `derive`."""
    return Random(derive(run_seed, purpose, *key))  # noqa: S311 - games of chance, not secrets
