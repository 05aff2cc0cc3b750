"""Replaying steps: the states on the way, and which step, seat and move a refusal names."""

from __future__ import annotations

from typing import Any

import pytest

from weigh.games.game import DealInvalid, Json
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.registry import game_named, read_config
from weigh.games.replay import StepRefused, replay, replay_states
from weigh.games.values import quote

SMALL = GoofspielConfig(seats=3, cards=4)
DEAL = {"prize_order": [2, 4, 1, 3]}
STEPS = [[1, 2, 3], [2, 3, 4], [3, 4, 1], [4, 1, 2]]


def test_replay_gives_the_state_that_play_gives() -> None:
    state = GOOFSPIEL.start(SMALL, DEAL)
    played = [state]
    for step in STEPS:
        state = state.play(dict(enumerate(step)))
        played.append(state)
    assert list(replay_states(GOOFSPIEL, SMALL, DEAL, STEPS)) == played
    assert replay(GOOFSPIEL, SMALL, DEAL, STEPS) == state
    assert replay(GOOFSPIEL, SMALL, DEAL, []) == played[0]


def test_moves_are_read_as_a_players_would_be() -> None:
    loose: Any = [["1", 2.0, " 3 "], ("2", 3, "4")]
    assert replay(GOOFSPIEL, SMALL, DEAL, loose) == replay(GOOFSPIEL, SMALL, DEAL, STEPS[:2])


def test_stop_ends_by_the_wall_clock() -> None:
    state = replay(GOOFSPIEL, SMALL, DEAL, STEPS[:2], stop=True)
    assert state.outcome is not None
    assert (state.outcome.reason, state.outcome.ending) == ("deadline", "wall-clock")


@pytest.mark.parametrize(
    ("steps", "message", "step", "seat"),
    [
        ([[1, 2, 3], [2, 2, 4]], "step 1, seat 1: 2 is not a legal bid now: you hold 1, 3, 4", 1, 1),
        ([[1, 2, 3.5]], "step 0, seat 2: 3.5 is not a whole number", 0, 2),
        ([[1, None, 3]], "step 0, seat 1: null is not a number; a bid is one whole number", 0, 1),
        ([[1, 2]], "step 0: [1, 2] has 2 entries, not one for each of 3 seats", 0, None),
        ([[1, 2, 3, 4]], "step 0: [1, 2, 3, 4] has 4 entries, not one for each of 3 seats", 0, None),
        ([{"0": 1}], 'step 0: {"0": 1} is not a list with one entry for each of 3 seats', 0, None),
        (["123"], 'step 0: "123" is not a list with one entry for each of 3 seats', 0, None),
        ([None], "step 0: null is not a list with one entry for each of 3 seats", 0, None),
        ([*STEPS, [1, 1, 1]], "step 4: the episode was over after 4 steps; 5 were given", 4, None),
        ("[]", 'step 0: the steps are "[]": they must be a list, one entry a step', 0, None),
        (None, "step 0: the steps are null: they must be a list, one entry a step", 0, None),
    ],
)
def test_a_refused_step_is_named(steps: Any, message: str, step: int, seat: int | None) -> None:
    with pytest.raises(StepRefused) as refused:
        replay(GOOFSPIEL, SMALL, DEAL, steps)
    assert str(refused.value) == message
    assert (refused.value.step, refused.value.seat) == (step, seat)


def test_an_episode_that_is_over_cannot_be_stopped() -> None:
    with pytest.raises(StepRefused, match="step 4: stop: the episode was already over after 4 steps"):
        replay(GOOFSPIEL, SMALL, DEAL, STEPS, stop=True)


def test_the_first_refused_step_is_reached_through_the_good_ones() -> None:
    states = replay_states(OSHI_ZUMO, OshiZumoConfig(), {}, [[5, 3], [16, 1]])
    assert [len(next(states).events), len(next(states).events)] == [0, 2]
    with pytest.raises(StepRefused, match="step 1, seat 0: 16 is not a legal bid now: you may bid 1 to 15"):
        next(states)


def test_a_wrong_deal_is_refused_before_any_step() -> None:
    with pytest.raises(DealInvalid):
        replay(GOOFSPIEL, SMALL, {}, STEPS)


class OneAtATime:
    """A game of two seats that move in turn, and whose every move is allowed, null among them."""

    def __init__(self, moves: tuple[Any, ...] = ()) -> None:
        self.moves = moves
        self.to_act = frozenset({len(moves) % 2})

    def seat_count(self, config: Any) -> int:
        return 2

    def start(self, config: Any, deal: Any) -> OneAtATime:
        return self

    def legal(self, seat: int) -> OneAtATime:
        return self

    def read(self, value: Any) -> Any:
        return value

    def play(self, moves: Any) -> OneAtATime:
        assert moves.keys() == self.to_act
        return OneAtATime((*self.moves, *moves.values()))


def test_only_a_seat_that_is_to_act_has_an_entry() -> None:
    game: Any = OneAtATime()
    config: Any = None
    end: Any = replay(game, config, {}, [[5, None], [None, 7], [None, None]])
    assert end.moves == (5, 7, None)
    with pytest.raises(StepRefused, match="step 1, seat 0: 3 must be null: the seat has no move to make"):
        replay(game, config, {}, [[5, None], [3, 7]])


@pytest.mark.parametrize("move", [["challenge", 0], ["discard", 5]])
def test_a_refused_move_is_always_named(move: list[Json]) -> None:
    game = game_named("ballast")
    with pytest.raises(StepRefused) as refused:
        replay(game, read_config(game, {}), {}, [[move, None]])
    assert str(refused.value).startswith("step 0, seat 0: ")
    assert quote(move) in str(refused.value)
