"""The example board of Half-Hearted Step, and episodes told in short: a turn is (seat 0's move, seat 1's move)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weigh.games.game import Outcome
from weigh.games.half_hearted_step.rules import (
    HALF_HEARTED_STEP,
    AuctionState,
    ChoiceState,
    HalfHeartedStepConfig,
    PlayState,
)
from weigh.games.replay import replay

BOARD: list[list[int | None]] = [
    [3, 1, 4, 1, 5, 2, 2],
    [5, -1, 2, 3, 1, 4, 3],
    [1, 2, 5, 4, 2, 0, 1],
    [4, 3, 1, None, 5, 2, -2],
    [2, 0, 3, 2, 1, 3, 4],
    [1, 4, -1, 5, 3, 1, 2],
    [2, 3, 1, 4, 0, 5, 3],
]

START: dict[str, int] = {"horizontal": 0, "active": 0, "threshold": 0, "holder": 0}

P = "pass"

HORIZONTAL_ME: dict[str, Any] = {"active": "me", "axis": "horizontal"}

SHORTEST = [(0, 0), *[(1, 1), (-1, -1)] * 3]
"""Seven turns: both stay, then one new square, visited ever after."""

TOUR = [
    *[(0, -1), (1, -2), (2, 0), (0, 1), (-1, -1), (0, 1), (1, 1), (-1, 0), (1, 1), (-1, 0), (1, 1), (0, 2)],
    *[(-1, 0), (1, -1), (-1, 0), (-1, 1), (0, -1), (1, -1), (-1, 0), (0, -1), (-1, 1), (0, 2), (-1, 0), (1, -1)],
    *[(-1, 0), (-1, 1), (-1, 0), (0, -1), (1, 0), (0, -1), (1, 0), (0, -1), (2, -1), (0, -1), (-1, 0), (0, -1)],
    *[(-1, 0), (0, 2), (-2, 1), (0, 1), (1, -1), (0, -1), (1, -1), (-1, -1), (-1, 1), (0, -1), (1, 1), (-1, 1)],
]
"""Every square of the board, each once."""


def dealt(**start: int) -> dict[str, Any]:
    """A deal that begins with play."""
    return {"board": BOARD, "priority": 0, "start": {**START, **start}}


def turned(turns: Sequence[tuple[int, int]], stop: bool = False, lives: int = 3, **start: int) -> PlayState:
    """Where these turns lead on the example board; seat 0 is horizontal and active first unless said."""
    config = HalfHeartedStepConfig(lives=lives)
    state = replay(HALF_HEARTED_STEP, config, dealt(**start), [list(turn) for turn in turns], stop)
    assert isinstance(state, PlayState)
    return state


def bid(
    rounds: Sequence[tuple[Any, Any]], priority: int = 0, *further: list[Any], stop: bool = False, **fields: int
) -> Any:
    """Where these rounds of the auction, and the steps after them, lead on the example board."""
    deal: dict[str, Any] = {"board": BOARD, "priority": priority}
    steps = [*([*sealed] for sealed in rounds), *further]
    return replay(HALF_HEARTED_STEP, HalfHeartedStepConfig(**fields), deal, steps, stop)


def sold(rounds: Sequence[tuple[Any, Any]], priority: int = 0, **fields: int) -> ChoiceState:
    """The choice that a finished auction leads to."""
    state = bid(rounds, priority, **fields)
    assert isinstance(state, ChoiceState)
    return state


def open_round(rounds: Sequence[tuple[Any, Any]], priority: int = 0, **fields: int) -> AuctionState:
    """An auction that goes on."""
    state = bid(rounds, priority, **fields)
    assert isinstance(state, AuctionState)
    return state


def settled(state: Any) -> Outcome:
    outcome = state.outcome
    assert isinstance(outcome, Outcome)
    return outcome


def told(state: Any) -> list[Any]:
    return [event.to_json() for event in state.events]
