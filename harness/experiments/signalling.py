"""How much a claim tells of its weight, in bits.

Owns the mutual information of true and announced values, its bias correction and its test. Knows claims as two rows of
numbers with their episodes; no game.

A sample's mutual information is too large, the more so the fewer claims there are. What is subtracted is its mean over
permutations of the announced values within each episode: what the same claims would seem to tell if they had been laid
on that episode's weights blindly. The same permutations give the p value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.intp]

LEAST: Final = 200
"""Claims, below which nothing is said."""
PERMUTATIONS: Final = 999
SEED: Final = 20_261_130
"""Fixed: equal claims give equal numbers."""


@dataclass(frozen=True, slots=True)
class Signalling:
    """What the claims of one entrant tell."""

    claims: int
    episodes: int
    plain: float | None
    """I(true; announced) of the counts, in bits."""
    by_chance: float | None
    """Its mean over the permutations."""
    information: float | None
    """`plain` less `by_chance`."""
    most: float | None
    """The entropy of the true values: what claims that are always true tell."""
    p: float | None
    """Share of permutations with as much information, the sample counted in."""


def signalling(true: Sequence[int], announced: Sequence[int], episodes: Sequence[str]) -> Signalling:
    """The information in these claims, each in its episode; None for fewer than LEAST."""
    import numpy as np

    places: dict[str, int] = {}
    where = [places.setdefault(episode, len(places)) for episode in episodes]
    if len(true) < LEAST:
        return Signalling(len(true), len(places), None, None, None, None, None)
    weights = np.unique(np.asarray(true), return_inverse=True)[1]
    claims = np.unique(np.asarray(announced), return_inverse=True)[1]
    at = np.asarray(where, float)
    order = np.argsort(at, kind="stable")
    weights, claims, at = weights[order], claims[order], at[order]
    plain = _information(weights, claims)
    rng = np.random.default_rng(SEED)
    # Numbers below 1 added to the episodes' own: sorting them shuffles within episodes and moves none.
    shuffled = np.array(
        [_information(weights, claims[np.argsort(at + rng.random(len(at)))]) for _ in range(PERMUTATIONS)]
    )
    by_chance = float(shuffled.mean())
    beyond = int((shuffled >= plain - 1e-12).sum())
    return Signalling(
        claims=len(true),
        episodes=len(places),
        plain=plain,
        by_chance=by_chance,
        information=plain - by_chance,
        most=_information(weights, weights),
        p=(1 + beyond) / (1 + PERMUTATIONS),
    )


def _information(one: Ints, other: Ints) -> float:
    """Mutual information of two codings (0, 1, ...), in bits."""
    import numpy as np

    width = int(other.max()) + 1
    counts = np.bincount(one * width + other, minlength=(int(one.max()) + 1) * width).reshape(-1, width)
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log2(joint[there] / apart[there])).sum())
