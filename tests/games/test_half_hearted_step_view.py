"""What a seat of Half-Hearted Step is shown in each phase, and what it is not: the moves of the step that is open."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.games.half_hearted_step_cases import BOARD, HORIZONTAL_ME, P, bid, turned
from weigh.games.game import Observation
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP, HalfHeartedStepConfig
from weigh.harness.run.episode import Table, play_episode
from weigh.policies.contract import Reply

NAMES = ("Ash", "Birch")
ROUNDS = [(-2, 1), (2, 2), (P, P)]
CHOICE = [None, {"active": "opponent", "axis": "vertical"}]


def seen(state: Any, seat: int) -> Observation:
    observation = state.observe(seat, NAMES)
    assert isinstance(observation, Observation)
    assert json.loads(json.dumps(observation.facts)) == observation.facts
    return observation


BARE = """\
Board (P = the piece):
 3  1  4  1  5  2  2
 5 -1  2  3  1  4  3
 1  2  5  4  2  0  1
 4  3  1  P  5  2 -2
 2  0  3  2  1  3  4
 1  4 -1  5  3  1  2
 2  3  1  4  0  5  3"""


# The auction


def test_the_auction_in_full() -> None:
    assert seen(bid([]), 0).situation == "\n".join(
        [
            "Auction, round 1 of at most 20.",
            "Your opponent is Birch.",
            "No bid stands. You have priority if both bid the same.",
            BARE,
            'Your legal bids: "pass", -999 to 999.',
        ]
    )
    assert seen(bid(ROUNDS[:1]), 0).situation == "\n".join(
        [
            "Auction, round 2 of at most 20.",
            "Your opponent is Birch.",
            "Birch's bid 1 stands. Birch has priority if both bid the same.",
            BARE,
            'Your legal bids: "pass", 2 to 999.',
        ]
    )


def test_the_auction_as_facts() -> None:
    assert seen(bid(ROUNDS[:1]), 0).facts == {
        "seat": 0,
        "names": ["Ash", "Birch"],
        "phase": "auction",
        "board": BOARD,
        "position": [3, 3],
        "visited": [[3, 3]],
        "bids": [[-2, 1]],
        "round": 1,
        "rounds_left": 19,
        "priority": 1,
        "standing": 1,
        "bidder": 1,
        "bid_limit": 999,
    }
    assert seen(bid([]), 1).facts["standing"] is seen(bid([]), 1).facts["bidder"] is None


# The choice


def test_the_choice_in_full() -> None:
    observation = seen(bid(ROUNDS), 1)
    assert observation.history == (
        "Auction round 1: you 1, Ash -2. Your bid 1 stands.",
        "Auction round 2: you 2, Ash 2. Your bid 2 stands.",
        "Auction round 3: you pass, Ash pass. Your bid 2 stands.",
        "Nobody bid any more: you hold the threshold 2.",
    )
    assert observation.situation == "\n".join(
        [
            "You won the auction with 2. Choose who is active first, and your axis.",
            "Your opponent is Ash.",
            "Horizontal moves left or right, vertical up or down; Ash gets the other axis.",
            BARE,
            'Your legal choices: {"active": "me", "axis": "horizontal"}, {"active": "me", "axis": "vertical"}, '
            '{"active": "opponent", "axis": "horizontal"}, {"active": "opponent", "axis": "vertical"}.',
        ]
    )
    facts = observation.facts
    assert (facts["phase"], facts["threshold"], facts["holder"]) == ("choice", 2, 1)
    assert facts["bids"] == [[-2, 1], [2, 2], ["pass", "pass"]]


@pytest.mark.parametrize(
    ("rounds", "line"),
    [
        ([(P, P), (P, P)], "Nobody opened: you hold the threshold 0."),
        ([(n, P) for n in range(20)], "That was the last round: you hold the threshold 19."),
    ],
)
def test_it_is_told_why_the_auction_is_over(rounds: Any, line: str) -> None:
    assert seen(bid(rounds), 0).history[-1] == line


# Play


def test_the_history_of_play_is_told_from_the_own_side() -> None:
    state = bid(ROUNDS, 0, CHOICE, [1, 1], [-1, -1])
    assert seen(state, 0).history[3:] == (
        "Nobody bid any more: Birch holds the threshold 2.",
        "Birch chooses: you are active first, you move left or right and Birch moves up or down.",
        "Turn 1: you right 1, Birch down 1; row 4, column 4: new, you get 1.",
        "Turn 2: you left 1, Birch up 1; row 3, column 3: visited, Birch loses a life.",
    )
    assert seen(state, 1).history[3:] == (
        "Nobody bid any more: you hold the threshold 2.",
        "You choose: Ash is active first, you move up or down and Ash moves left or right.",
        "Turn 1: you down 1, Ash right 1; row 4, column 4: new, Ash gets 1.",
        "Turn 2: you up 1, Ash left 1; row 3, column 3: visited, you lose a life.",
    )


def test_a_turn_in_full_for_the_active_seat_and_for_the_other() -> None:
    state = turned([(1, 1), (1, 0)], threshold=2)
    board = [
        "Board (P = the piece, x = visited):",
        " 3  1  4  1  5  2  2",
        " 5 -1  2  3  1  4  3",
        " 1  2  5  4  2  0  1",
        " 4  3  1  x  5  2 -2",
        " 2  0  3  2  x  P  4",
        " 1  4 -1  5  3  1  2",
        " 2  3  1  4  0  5  3",
    ]
    assert seen(state, 0).situation.split("\n") == [
        "Turn 3. You are active.",
        "Your opponent is Birch. You move left or right, Birch up or down.",
        "You win with a lead of 2 or more. The lead is -2: Birch would win now.",
        "Points: you 1, Birch 3. Lives: you 3, Birch 3.",
        *board,
        "What you get, by your move, then Birch's (x = visited, a life lost):",
        "left 2: up 1 = x, down 1 = 5",
        "left 1: up 1 = 5, down 1 = 3",
        "stay: up 1 = 2, down 1 = 1",
        "right 1: up 1 = -2, down 1 = 2",
        "Birch may go: up 1, down 1. (Birch stayed last turn and must move now.)",
        'Your legal moves: {"direction": "left", "distance": 2}, {"direction": "left", "distance": 1}, '
        '{"direction": "stay", "distance": 0}, {"direction": "right", "distance": 1}.',
    ]
    assert seen(state, 1).situation.split("\n") == [
        "Turn 3. Ash is active.",
        "Your opponent is Ash. You move up or down, Ash left or right.",
        "Ash wins with a lead of 2 or more. The lead is -2: you would win now.",
        "Points: you 3, Ash 1. Lives: you 3, Ash 3.",
        *board,
        "What Ash gets, by your move, then Ash's (x = visited, a life lost):",
        "up 1: left 2 = x, left 1 = 5, stay = 2, right 1 = -2",
        "down 1: left 2 = 5, left 1 = 3, stay = 1, right 1 = 2",
        "Ash may go: left 2, left 1, stay, right 1.",
        'Your legal moves: {"direction": "up", "distance": 1}, {"direction": "down", "distance": 1}.',
    ]


def test_a_turn_as_facts() -> None:
    facts = seen(bid(ROUNDS, 0, CHOICE, [1, 1], [1, 0]), 1).facts
    landing = facts.pop("landing")  # type: ignore[attr-defined]
    assert landing == [
        [
            {"square": [3, 3], "number": None},
            {"square": [3, 4], "number": 5},
            {"square": [3, 5], "number": 2},
            {"square": [3, 6], "number": -2},
        ],
        [
            {"square": [5, 3], "number": 5},
            {"square": [5, 4], "number": 3},
            {"square": [5, 5], "number": 1},
            {"square": [5, 6], "number": 2},
        ],
    ]
    assert facts == {
        "seat": 1,
        "names": ["Ash", "Birch"],
        "phase": "play",
        "board": BOARD,
        "position": [4, 5],
        "visited": [[3, 3], [4, 4], [4, 5]],
        "bids": [[-2, 1], [2, 2], ["pass", "pass"]],
        "turn": 2,
        "threshold": 2,
        "holder": 1,
        "lead": 2,
        "horizontal": 0,
        "axis": "vertical",
        "first": 0,
        "active": 0,
        "points": [1, 3],
        "lives": [3, 3],
        "stayed": [False, True],
        "own_moves": [-1, 1],
        "opponent_moves": [-2, -1, 0, 1],
        "turns": [
            {"moves": [1, 1], "active": 0, "square": [4, 4], "number": 1},
            {"moves": [1, 0], "active": 1, "square": [4, 5], "number": 3},
        ],
    }


def test_play_that_a_deal_began_with_has_no_auction_to_tell() -> None:
    observation = seen(turned([(1, 1)]), 0)
    assert observation.history == ("Turn 1: you right 1, Birch down 1; row 4, column 4: new, you get 1.",)
    assert observation.facts["bids"] == []


# What is hidden


@pytest.mark.parametrize("seat", [0, 1])
def test_a_step_shows_in_the_history_once_it_is_played(seat: int) -> None:
    for before in (bid(ROUNDS[:1]), bid(ROUNDS, 0, CHOICE, [1, 1])):
        own, others = next(iter(before.legal(seat))), list(before.legal(1 - seat))
        first, last = (before.play({seat: own, 1 - seat: other}) for other in (others[1], others[-1]))
        assert seen(first, seat).history[:-1] == seen(last, seat).history[:-1] == seen(before, seat).history
        assert seen(first, seat).history[-1] != seen(last, seat).history[-1]


@dataclass(frozen=True)
class Watchful:
    """Keeps all that it sees. Opens with the lowest bid, then passes; in play it makes the second of its moves.

    At the step `last_at` it makes the last of its moves instead.
    """

    last_at: int | None = None
    seen: list[str] = field(default_factory=list)
    name = "watchful"
    digest = "0" * 64
    model = None

    def sit(self, seat: int, rng: Random, client: object = None) -> Watchful:
        return self

    async def decide(self, observation: Observation, retry: object = None) -> Reply:
        moves = list(observation.legal)
        number = len(self.seen)
        self.seen.append(repr(observation))
        if observation.facts["phase"] == "auction" and number > 0:
            return Reply(move=P)
        return Reply(move=moves[-1] if number == self.last_at else moves[1])


def test_at_the_table_a_seat_sees_nothing_of_the_step_that_is_open() -> None:
    for step in range(6):
        told = []
        for last_at in (None, step):
            watcher = Watchful()
            policies = (watcher, Watchful(last_at))
            deal = {"board": BOARD, "priority": 0}
            table = Table("k", "b", HALF_HEARTED_STEP, HalfHeartedStepConfig(), deal, 1, policies, NAMES, Watchful())
            asyncio.run(play_episode(table, {}))
            told.append(watcher.seen)
        one, other = told
        # Seat 0 chooses after the second round; until then, and in the turns, both seats are asked together.
        place = step if step < 2 else step + 1
        assert one[: place + 1] == other[: place + 1]
        assert step in (0, 1) or one[place + 1] != other[place + 1]


def test_both_seats_know_the_same() -> None:
    own_side = {"seat", "axis", "own_moves", "opponent_moves", "landing"}
    for state in (bid(ROUNDS[:1]), bid(ROUNDS, 0, CHOICE, [1, 1])):
        one, other = (
            {key: value for key, value in seen(state, seat).facts.items() if key not in own_side} for seat in (0, 1)
        )
        assert one == other


def test_the_rulebook_in_the_default_config_and_in_a_variant() -> None:
    text = HALF_HEARTED_STEP.rulebook(HalfHeartedStepConfig())
    for line in ("7 × 7 board", "(−999 to 999)", "or with round 20.", "Each has 0 points and 3 lives."):
        assert line in text
    text = HALF_HEARTED_STEP.rulebook(HalfHeartedStepConfig(size=5, lives=1, bid_limit=50, auction_rounds=4))
    for line in ("5 × 5 board", "(−50 to 50)", "or with round 4.", "Each has 0 points and 1 life."):
        assert line in text


def test_what_the_choice_led_to_is_public() -> None:
    state = bid([(3, P), (P, P)], 0, [HORIZONTAL_ME, None])
    for seat in (0, 1):
        facts = seen(state, seat).facts
        assert (facts["holder"], facts["horizontal"], facts["first"], facts["active"]) == (0, 0, 0, 0)
