"""The scripted players of Ballast: `steady` tells the truth and stays level, `bluffer` makes false claims only.

Two more are controls for experiments on claims, and stand aside in ladders: `feint` plays as `steady` does under claims
that mislead and never give themselves away, `deaf` plays as `steady` does without hearing a claim.

Owns their rules, each a pure function of the facts that `games.ballast.view` gives a seat, and the habits by which they
differ from one episode to the next.

Ballast has no chance in it, so two bare rules would play one game for each seating, in every block again. An entrant
therefore draws habits when it sits down: which scale it prefers where its rule prefers none, and at one placement in
four it takes the weight after the one that its rule would take. The bare rule of `steady` stands in for a seat whose
own attempts failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from weigh.games.game import Json, Legal, Move
from weigh.policies.scripted.policy import Baseline, Rule

_MOST_SCALES = 5
"""Of any config."""

_NO_PREFERENCE = range(_MOST_SCALES)

_SWAPS = 0.25
"""Share of an entrant's placements that take the second weight in line."""


def steady(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """`steady` by its bare rule, deterministic.

    Discards the smallest weight. Challenges once two or more face-down weights claim the same value, for one claim of
    them is false. Otherwise places its largest weight under its true value, where it is behind or level by the least.
    """
    return _steady(facts, _NO_PREFERENCE, second=False)


def bluffer(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """`bluffer` by its bare rule, deterministic.

    Discards the smallest weight. Challenges the newest claim of one of the two highest values, as long as it would have
    a weight to spare. Otherwise places its smallest weight, scale after scale, under the mirrored value: heavy for
    light and light for heavy, and the highest for the middle one.
    """
    return _bluffer(facts, _NO_PREFERENCE, second=False)


def steady_habits(rng: Random) -> Rule:
    """`steady` for one episode: ties between scales fall by a drawn order, and it swaps its two largest weights."""
    order = _drawn_order(rng)

    def rule(facts: Mapping[str, Json], legal: Legal, rng: Random) -> Move:
        return _steady(facts, order, second=rng.random() < _SWAPS)

    return rule


def bluffer_habits(rng: Random) -> Rule:
    """`bluffer` for one episode: it goes through the scales in a drawn order, and swaps its two smallest weights."""
    order = _drawn_order(rng)

    def rule(facts: Mapping[str, Json], legal: Legal, rng: Random) -> Move:
        return _bluffer(facts, order, second=rng.random() < _SWAPS)

    return rule


def feint_habits(rng: Random) -> Rule:
    """`feint` for one episode: what `steady` does, under mirrored claims."""
    plain = steady_habits(rng)

    def rule(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
        return _mirrored(plain(facts, legal, rng), facts["weights"])

    return rule


def deaf_habits(rng: Random) -> Rule:
    """`deaf` for one episode: what `steady` does when every claim is hidden from it."""
    plain = steady_habits(rng)

    def rule(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
        return plain(_without_claims(facts), legal, rng)

    return rule


def feint(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """`feint` by its bare rule: heavy is announced as light and light as heavy, so no value is ever claimed twice."""
    return _mirrored(steady(facts, legal, rng), facts["weights"])


def deaf(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """`deaf` by its bare rule: a face-down weight is the middle one to it, and it never challenges."""
    return steady(_without_claims(facts), legal, rng)


def _mirrored(move: Move, weights: int) -> Move:
    if isinstance(move, list) and move[0] == "place":
        word, weight, scale, _ = move
        return [word, weight, scale, weights + 1 - weight]
    return move


def _without_claims(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts without any claim of the opponent."""
    placed = [
        {**each, "announced": None} if each["owner"] == "opponent" and each["status"] == "down" else each
        for each in facts["placed"]
    ]
    turned_up = Counter[int]()
    for each in placed:
        if each["owner"] == "opponent" and each["status"] == "up":
            turned_up[each["scale"]] += each["true"]
    scales = [{**each, "opponent_announced_total": turned_up[each["scale"]]} for each in facts["scales"]]
    return {**facts, "placed": placed, "scales": scales}


def _steady(facts: Mapping[str, Any], order: Sequence[int], second: bool) -> Move:
    if facts["phase"] == "discard":
        return ["discard", min(facts["your_hand"])]
    claims = _claims(facts)
    shared = [(count, value) for value, count in Counter(claims.values()).items() if count > 1]
    if shared:
        _, suspect = max(shared)  # of groups of one size, the higher value
        return ["challenge", max(number for number, value in claims.items() if value == suspect)]
    weight = _taken(sorted(facts["your_hand"], reverse=True), second)
    margins = {
        each["scale"]: each["your_true_total"] - each["opponent_announced_total"] - _hidden(facts, each["scale"])
        for each in sorted(facts["scales"], key=lambda each: order.index(each["scale"]))
    }
    # `max` and `min` keep the first of equals: the preferred one.
    behind = [scale for scale, margin in margins.items() if margin <= 0]
    scale = max(behind, key=lambda scale: margins[scale]) if behind else min(margins, key=lambda scale: margins[scale])
    return ["place", weight, scale, weight]


def _bluffer(facts: Mapping[str, Any], order: Sequence[int], second: bool) -> Move:
    hand, highest = facts["your_hand"], facts["weights"]
    if facts["phase"] == "discard":
        return ["discard", min(hand)]
    boasts = [number for number, value in _claims(facts).items() if value >= highest - 1]
    if boasts and len(hand) > 1:
        return ["challenge", max(boasts)]
    weight = _taken(sorted(hand), second)
    mirrored = highest + 1 - weight
    scales = [scale for scale in order if scale < len(facts["scales"])]
    own = sum(each["owner"] == "you" for each in facts["placed"])
    return ["place", weight, scales[own % len(scales)], mirrored if mirrored != weight else highest]


def _claims(facts: Mapping[str, Any]) -> dict[int, int]:
    """The announced value of every weight that may be challenged, by its number. What is hidden is no claim."""
    open_to = facts["challengeable"]
    return {
        each["number"]: each["announced"]
        for each in facts["placed"]
        if each["number"] in open_to and each["announced"] is not None
    }


def _hidden(facts: Mapping[str, Any], scale: int) -> float:
    """What the opponent's weights without a claim on a scale may come to: each counts as the middle one of the game."""
    unknown = [each for each in facts["placed"] if each["scale"] == scale and _unknown(each)]
    middle: float = (facts["weights"] + 1) / 2
    return len(unknown) * middle


def _unknown(placed: Mapping[str, Any]) -> bool:
    return placed["owner"] == "opponent" and placed["status"] == "down" and placed["announced"] is None


def _taken(line: Sequence[int], second: bool) -> int:
    return line[1] if second and len(line) > 1 else line[0]


def _drawn_order(rng: Random) -> list[int]:
    return rng.sample(range(_MOST_SCALES), _MOST_SCALES)


BALLAST: Mapping[str, Baseline] = {
    "steady": Baseline(steady, habits=steady_habits),
    "bluffer": Baseline(bluffer, habits=bluffer_habits),
    "feint": Baseline(feint, habits=feint_habits, stands_aside=True),
    "deaf": Baseline(deaf, habits=deaf_habits, stands_aside=True),
}
