"""Draws that depend on the server's seed and on the request, and on nothing else.

Owns the digest of a request and the streams made from it. Two servers with one seed draw alike for one request,
whatever came before it, in every process and on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from weigh.harness.seeds import derive, stream
from weigh.policies.contract import canonical

_SPACE = 2**256


def request_digest(wire: str, body: Mapping[str, Any]) -> str:
    """SHA-256, hex, of a request body and the endpoint it was sent to. The order of JSON keys does not matter."""
    return hashlib.sha256(f"{wire}\n{canonical(body)}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Dice:
    """Every draw there is for one request."""

    seed: int
    """The server's."""
    digest: str

    def fraction(self, purpose: str, *key: str | int) -> float:
        """A number in [0, 1), of its own for each purpose and key."""
        # The top 53 bits are what a float in [0, 1) can hold; dividing all 256 could round up to 1.
        return (derive(self.seed, f"mock-server {purpose}", self.digest, *key) >> 203) / 2**53

    def stream(self, purpose: str) -> Random:
        """A generator of its own for each purpose."""
        return stream(self.seed, f"mock-server {purpose}", self.digest)

    def integer(self, purpose: str, below: int) -> int:
        """A whole number in [0, below)."""
        return derive(self.seed, f"mock-server {purpose}", self.digest) * below // _SPACE
