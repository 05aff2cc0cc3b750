"""What both arms of a gate play: the blocks, with one focal policy in every seat against a frozen field.

Owns who sits where and under which keys. Knows no policies and no results: the field is names.

A block is one deal, played once with the focal policy in each seat. Both arms play the same blocks under the same keys,
so deals, aliases and every seat's stream of randomness are equal in both: whatever differs, the focal policy brought
about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.harness.config.schedule import Episode
from weigh.harness.seeds import stream

Role: TypeAlias = Literal["candidate", "baseline"]
"""Which arm. Also the name under which its focal policy plays: no scripted policy has it, so that the policy under test
is told from a field that has it too."""


@dataclass(frozen=True, slots=True)
class Block:
    """One deal, with the focal policy in every seat once."""

    key: str
    """`goofspiel/b0003`."""
    episodes: tuple[Episode, ...]
    """By the focal policy's seat."""


def planned(game: str, seats: int, field: Sequence[str], focal: Role, seed: int, count: int) -> tuple[Block, ...]:
    """The first `count` blocks. The blocks of fewer are the beginning of those of more.

    The names of `field` take the other seats by turns, from block to block where there are more or fewer of them than
    seats; the seed deals their order. Within a block the table turns, so that they keep their neighbours.
    """
    return tuple(block_of(game, seats, field, focal, seed, number) for number in range(count))


def block_of(game: str, seats: int, field: Sequence[str], focal: Role, seed: int, number: int) -> Block:
    """The block of this number, counted from 0."""
    key = f"{game}/b{number:04}"
    first = number * (seats - 1)
    others = [field[(first + n) % len(field)] for n in range(seats - 1)]
    stream(seed, "seating", game, number).shuffle(others)
    table = (focal, *others)
    return Block(
        key,
        tuple(
            Episode(
                key=f"{key}/r{seat}",
                game=game,
                block=key,
                entrants=tuple(table[(place - seat) % seats] for place in range(seats)),
                deal_key=key,
            )
            for seat in range(seats)
        ),
    )
