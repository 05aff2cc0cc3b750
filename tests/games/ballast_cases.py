"""Games of Ballast in a short notation, and the worked examples that the rules must settle as they stand here.

`0:p5s0` player 0 places weight 5 on scale 0 and announces it; `a5` after it makes the claim 5. `1:c0` player 1
challenges number 0. `1:d2` player 1 discards weight 2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.games.adapters.adapter import Steps
from weigh.games.ballast.rules import BALLAST, BallastConfig, BallastState
from weigh.games.game import Outcome
from weigh.games.replay import replay

_WORD = re.compile(r"([01]):(?:p(\d)s(\d)(?:a(\d))?|c(\d+)|d(\d))")


def steps(text: str) -> Steps:
    """The steps of a game in the notation."""
    rows: Steps = []
    for word in text.split():
        match = _WORD.fullmatch(word)
        assert match is not None, word
        seat, weight, scale, announced, number, discarded = match.groups()
        if weight is not None:
            move: list[Any] = ["place", int(weight), int(scale), int(announced or weight)]
        else:
            move = ["challenge", int(number)] if number is not None else ["discard", int(discarded)]
        rows.append([move, None] if seat == "0" else [None, move])
    return rows


def after(text: str, stop: bool = False, **fields: int) -> BallastState:
    """The state after a game in the notation."""
    state = replay(BALLAST, BallastConfig(**fields), {}, list(steps(text)), stop)
    assert isinstance(state, BallastState)
    return state


def settled(state: BallastState) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def legal(state: BallastState) -> list[Any]:
    """Every move of the player to move."""
    (seat,) = state.to_act
    return list(state.legal(seat))


def words(state: BallastState) -> set[str]:
    """What kinds of moves the player to move has."""
    return {move[0] for move in legal(state)}


def first_scale(text: str) -> Any:
    """How scale 0 stands after a game in the notation."""
    scales: Any = settled(after(text, stop=True)).measures["scales"]
    return scales[0]


def random_game(seed: int, config: BallastConfig | None = None) -> tuple[BallastState, int, int]:
    """The end of a game of uniform play, its steps, and the most moves that were open at once."""
    rng, state, played, most = Random(seed), BALLAST.start(config or BallastConfig(), {}), 0, 0
    while state.mover is not None:
        moves = state.legal(state.mover)
        most = max(most, len(moves))
        state, played = state.play({state.mover: moves.sample(rng)}), played + 1
    return state, played, most


@dataclass(frozen=True)
class Example:
    play: str
    scales: Sequence[tuple[Sequence[int], Sequence[int], int | None]]
    """Per scale: totals, counts, winner."""
    scores: Sequence[int]
    turns: int
    decisions: int


HONEST = "0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s0 1:p2s1 0:p1s1"

EXAMPLES: Mapping[str, Example] = {
    "B1_honest": Example(
        f"{HONEST} 1:p1s0",
        [((7, 6), (2, 2), 0), ((5, 6), (2, 2), 1), ((3, 3), (1, 1), 0)],
        (1, -1),
        turns=10,
        decisions=10,
    ),
    "B2_player_1_copies": Example(
        "0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s0 1:p2s0 0:p1s1 1:p1s1",
        [((7, 7), (2, 2), 0), ((5, 5), (2, 2), 0), ((3, 3), (1, 1), 0)],
        (1, -1),
        turns=10,
        decisions=10,
    ),
    "B3_a_challenge_that_succeeds": Example(
        "0:p1s0a5 1:c0 0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s2 1:p2s1 1:p1s0",
        [((5, 6), (1, 2), 1), ((4, 6), (1, 2), 1), ((5, 3), (2, 1), 0)],
        (-1, 1),
        turns=11,
        decisions=11,
    ),
    "B4_a_challenge_that_fails": Example(
        "0:p5s0 1:c0 1:d1 0:p4s1 1:p5s1 0:p3s2 1:p4s2 0:p2s2 1:p3s1 0:p1s0 1:p2s0",
        [((6, 2), (2, 1), 0), ((4, 8), (1, 2), 1), ((5, 4), (2, 1), 0)],
        (1, -1),
        turns=10,
        decisions=11,
    ),
    "B5_the_last_weight_is_lost_by_a_challenge": Example(
        f"{HONEST} 1:c8",
        [((7, 5), (2, 1), 0), ((5, 6), (2, 2), 1), ((3, 3), (1, 1), 0)],
        (1, -1),
        turns=10,
        decisions=10,
    ),
    "B6_the_last_weight_is_kept_by_a_challenge": Example(
        "0:p5s0 1:p5s1 0:p4s0 1:p4s1 0:p3s2 1:p3s2 0:p2s1 1:p2s0 0:p1s2a5 1:c8 1:p1s2",
        [((9, 2), (2, 1), 0), ((2, 9), (1, 2), 1), ((3, 4), (1, 2), 1)],
        (-1, 1),
        turns=11,
        decisions=11,
    ),
    "B7_fewer_weights_go_before_the_first": Example(
        "0:p4s0 1:p3s2 0:p5s2 1:p2s2 0:p3s1 1:p5s0 0:p2s1 1:p4s1 0:p1s0 1:p1s1",
        [((5, 5), (2, 1), 1), ((5, 5), (2, 2), 0), ((5, 5), (1, 2), 0)],
        (1, -1),
        turns=10,
        decisions=10,
    ),
    "B8_an_empty_scale_and_a_draw": Example(
        "0:p5s0 1:p5s1 0:p4s0 1:p4s1 0:p3s0 1:p3s1 0:p2s1 1:p2s0 0:p1s1 1:p1s0",
        [((12, 3), (3, 2), 0), ((3, 12), (2, 3), 1), ((0, 0), (0, 0), None)],
        (0, 0),
        turns=10,
        decisions=10,
    ),
    "B13_both_challenges_fail": Example(
        "0:p3s0 1:c0 1:d2 0:p4s1 1:p5s1 0:c2 0:d1 1:p4s2 0:p5s2 1:p3s0 0:p2s0 1:p1s2",
        [((5, 3), (2, 1), 0), ((4, 5), (1, 1), 1), ((5, 5), (1, 2), 0)],
        (1, -1),
        turns=10,
        decisions=12,
    ),
    "B15_every_claim_false_and_nobody_asks": Example(
        "0:p5s0a1 1:p5s0a2 0:p4s1a5 1:p4s1a5 0:p3s2a4 1:p3s2a1 0:p2s0a5 1:p2s1a3 0:p1s1a5 1:p1s0a2",
        [((7, 6), (2, 2), 0), ((5, 6), (2, 2), 1), ((3, 3), (1, 1), 0)],
        (1, -1),
        turns=10,
        decisions=10,
    ),
}
