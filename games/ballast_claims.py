"""Ballast with other claims: what an experiment may put between what a seat announces and what the other one hears.

Owns the two changes that leave the rules alone: an observation in which claims of the opponent are hidden or replaced,
and a move that says of its weight what is true. Both are pure. Nothing in the rules calls them.
"""

from __future__ import annotations

from collections.abc import Mapping

from games.ballast_moves import PLACE, Actions
from games.ballast_view import observe, view_of
from games.game import Move, Observation


def observe_with_claims(observation: Observation, claims: Mapping[int, int | None]) -> Observation:
    """The observation its seat would have had if these weights of the opponent had been announced so.

    `claims` is by number of weight: an announced value, or None for one that is hidden. Numbers that are not the
    opponent's, or not placed yet, are passed over. Facts, history and situation change alike, for they are all told
    anew; what may be done stays as it is. Two things are not changed, as they follow from the claim that was really
    made: a weight that was turned up shows its true value, and it stays or was removed by the real claim.

    The history of a seat stays append-only as long as it is always given the same claims.
    """
    if not isinstance(observation.legal, Actions):
        raise ValueError("an observation of another game")
    view = view_of(observation.facts)
    placed = [
        seen._replace(announced=claims[seen.number]) if not seen.mine and seen.number in claims else seen
        for seen in view.placed
    ]
    names = observation.facts["names"]
    if not isinstance(names, list):
        raise ValueError("facts without the names at the table")
    return observe(
        view._replace(placed=tuple(placed)), observation.seat, [str(name) for name in names], observation.legal
    )


def told_truthfully(move: Move) -> Move:
    """A canonical move as it is, but for a placement: that one announces the weight it places."""
    if isinstance(move, list) and move and move[0] == PLACE:
        word, weight, scale, _ = move
        return [word, weight, scale, weight]
    return move
