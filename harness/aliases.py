"""The anonymous names seats play under: neutral, and dealt anew for every episode.

Models favour and target some labels ("Player 0", famous names), so the names are plain trees, none contained in
another, and which seat gets which is drawn from the episode's own stream.
"""

from __future__ import annotations

from random import Random

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
