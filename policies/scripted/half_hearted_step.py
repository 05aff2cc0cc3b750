"""The scripted players of Half-Hearted Step: `forager` plays for numbers, `spoiler` for room, `stand` does nothing.

Owns their rules, each a pure function of the facts that `games.half_hearted_step.view` gives a seat. `forager` and
`spoiler` are deterministic. `stand` is what the rules themselves do for a seat that hands in no move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeAlias

from weigh.games.game import Legal, Move
from weigh.policies.scripted.policy import Baseline

LIFE = -4.0
"""What the forager takes a lost life to be worth, in points."""

FORAGER_OPENING, FORAGER_HIGHEST, FORAGER_RAISE = 0, 1, 1
SPOILER_OPENING, SPOILER_HIGHEST, SPOILER_RAISE = -3, 3, 2

Worth: TypeAlias = Callable[[int | None], float]
"""What landing is worth to the active seat: by the square's number, or None for a visited one."""


def forage(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """Bids for small leads; then the best mean number for itself, the worst for the opponent."""
    if facts["phase"] == "auction":
        return _raised(facts, legal, FORAGER_OPENING, FORAGER_HIGHEST, FORAGER_RAISE)
    if facts["phase"] == "choice":
        return {"active": "me", "axis": "horizontal"}
    return _best_on_average(facts, legal, lambda number: LIFE if number is None else float(number))


def spoil(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """Bids in larger steps; then as many new squares as it can for itself, as few for the opponent. Ignores numbers."""
    if facts["phase"] == "auction":
        return _raised(facts, legal, SPOILER_OPENING, SPOILER_HIGHEST, SPOILER_RAISE)
    if facts["phase"] == "choice":
        return {"active": "me", "axis": "vertical"}
    return _best_on_average(facts, legal, lambda number: float(number is not None))


def stand(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """No bid, the first choice of the rulebook, no movement; where that is not legal, any legal movement."""
    if facts["phase"] == "auction":
        return "pass"
    if facts["phase"] == "choice":
        return {"active": "me", "axis": "horizontal"}
    return 0 if 0 in legal else legal.sample(rng)


def _raised(facts: Mapping[str, Any], legal: Legal, opening: int, highest: int, step: int) -> Move:
    """The opening bid, or `step` over the standing one, while that is at most `highest`; never over the own bid."""
    if facts["bidder"] == facts["seat"]:
        return "pass"
    bid = opening if facts["standing"] is None else facts["standing"] + step
    return bid if bid <= highest and bid in legal else "pass"


def _best_on_average(facts: Mapping[str, Any], legal: Legal, worth: Worth) -> Move:
    """The movement of the best mean worth, the opponent's taken as equally likely; of the worst mean for a seat that
    is not active. Ties go to the shorter movement, then to the one left or up.
    """
    sign = 1 if facts["active"] == facts["seat"] else -1
    replies = len(facts["opponent_moves"])
    means: dict[int, float] = {
        step: sign * sum(worth(landing["number"]) for landing in landings) / replies
        for step, landings in zip(facts["own_moves"], facts["landing"], strict=True)
    }
    return min(means, key=lambda step: (-means[step], abs(step), step))


HALF_HEARTED_STEP: Mapping[str, Baseline] = {
    "forager": Baseline(forage),
    "spoiler": Baseline(spoil),
    "stand": Baseline(stand, stands_aside=True),
}
