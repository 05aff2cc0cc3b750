"""A policy with other random draws: the same recipe, played once more as if for the first time.

Owns the stream that takes the place of a seat's own. A prompted policy draws nothing here, so for it this is the policy
as it is under another digest; its answers are other ones because they are asked for again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from random import Random

from weigh.games.game import Seat
from weigh.policies.contract import ModelClient, Player, Policy, canonical

VERSION = 1
"""Raised whenever the draws of a redrawn policy would be others."""


@dataclass(frozen=True, slots=True)
class Redrawn:
    """A policy whose players draw from another stream. Implements `policies.contract.Policy`."""

    policy: Policy

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def digest(self) -> str:
        """SHA-256, hex, over the policy's own and what is done to it."""
        return hashlib.sha256(canonical({"redrawn": VERSION, "of": self.policy.digest}).encode()).hexdigest()

    @property
    def model(self) -> str | None:
        return self.policy.model

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> Player:
        """The policy's player, on a stream that is keyed by the state of `rng` and takes nothing from it."""
        state = b"redrawn:" + repr(rng.getstate()).encode()
        return self.policy.sit(seat, Random(hashlib.sha256(state).digest()), client)  # noqa: S311 - no secret
