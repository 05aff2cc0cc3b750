"""Streams of randomness, each a keyed hash of the run seed and what it is for.

No stream depends on how often another was drawn from, on the process, the platform or PYTHONHASHSEED.

What an episode's streams are keyed by, beside the run's seed:

    stream            of a ladder    of a rematch's arm                of an experiment's arm
    deal              deal_key       deal_key, of the first episode    deal_key, which all arms share
    aliases           key            the first episode's key, but      deal_key
                                     its own where names are new
    seat, fallback    key            key                               deal_key

Equal keys under one seed give equal randomness, and nothing else does. Whoever compares episodes says which streams
they share: a rematch only deals and names (`harness.config.schedule.names_key`), since its players shall play anew; an
experiment all of them (`harness.config.schedule.Episode.paired`), since its arms shall differ in nothing else. The
arms of a gate or a comparison are runs of one seed with the same keys, and share all without a rule; a policy that
meets itself there draws otherwise by being another policy (`policies.replicate`).

The anonymous names seats play under: neutral, and dealt anew for every episode.

Models favour and target some labels ("Player 0", famous names), so the names are plain trees, none contained in
another, and which seat gets which is drawn from the episode's own stream.
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


NAMES = (
    "Acacia",
    "Alder",
    "Apple",
    "Ash",
    "Aspen",
    "Beech",
    "Birch",
    "Cedar",
    "Cherry",
    "Cypress",
    "Elder",
    "Elm",
    "Fig",
    "Fir",
    "Hazel",
    "Holly",
    "Juniper",
    "Larch",
    "Laurel",
    "Linden",
    "Maple",
    "Myrtle",
    "Oak",
    "Olive",
    "Pine",
    "Rowan",
    "Spruce",
    "Walnut",
    "Willow",
    "Yew",
)


def deal_aliases(seats: int, rng: Random) -> tuple[str, ...]:
    """A different name for each seat. Raises ValueError for more seats than there are names."""
    if seats > len(NAMES):
        raise ValueError(f"{seats} seats need as many aliases, and there are {len(NAMES)}")
    return tuple(rng.sample(NAMES, seats))
