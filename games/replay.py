"""Playing an episode again from its steps, as a file or a record holds them.

Owns the shape of a step and the message that says which one is wrong. Knows no game. A step is a list with one entry
per seat, null for a seat that has no move to make; steps and seats are counted from 0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from weigh.games.game import AnyGame, Deal, GameError, Json, Move, MoveRefused, Seat, State
from weigh.games.values import quote


class StepRefused(GameError):
    """A step, or the stop after the last one, cannot be played. The message names step, seat, move and why."""

    def __init__(self, why: str, step: int, seat: Seat | None = None) -> None:
        place = f"step {step}" if seat is None else f"step {step}, seat {seat}"
        super().__init__(f"{place}: {why}")
        self.step = step
        self.seat = seat


def replay(game: AnyGame, config: BaseModel, deal: Deal, steps: Sequence[Json], stop: bool = False) -> State:
    """The state after all `steps`, ended by the wall clock if `stop`. Raises DealInvalid or StepRefused."""
    return deque(replay_states(game, config, deal, steps, stop), maxlen=1)[0]


def replay_states(
    game: AnyGame, config: BaseModel, deal: Deal, steps: Sequence[Json], stop: bool = False
) -> Iterator[State]:
    """Every state from the first on: the start, the one after each step, and the stopped one if `stop`.

    Moves are read as a player's would be, so "7" stands for 7. Raises like `replay`, once it gets there.
    """
    if isinstance(steps, str) or not isinstance(steps, Sequence):
        raise StepRefused(f"the steps are {quote(steps)}: they must be a list, one entry a step", 0)
    seats = game.seat_count(config)
    state = game.start(config, deal)
    yield state
    for number, step in enumerate(steps):
        if not state.to_act:
            raise StepRefused(f"the episode was over after {number} steps; {len(steps)} were given", number)
        state = state.play(_moves(state, step, number, seats))
        yield state
    if stop:
        if not state.to_act:
            raise StepRefused(f"stop: the episode was already over after {len(steps)} steps", len(steps))
        yield state.stop()


def _moves(state: State, step: Json, number: int, seats: int) -> dict[Seat, Move]:
    if isinstance(step, str) or not isinstance(step, Sequence):
        raise StepRefused(f"{quote(step)} is not a list with one entry for each of {seats} seats", number)
    if len(step) != seats:
        raise StepRefused(f"{quote(step)} has {len(step)} entries, not one for each of {seats} seats", number)
    moves: dict[Seat, Move] = {}
    for seat, value in enumerate(step):
        if seat in state.to_act:
            try:
                moves[seat] = state.legal(seat).read(value)
            except MoveRefused as refused:
                why, quoted = str(refused), quote(value)
                raise StepRefused(why if quoted in why else f"{quoted}: {why}", number, seat) from None
        elif value is not None:
            raise StepRefused(f"{quote(value)} must be null: the seat has no move to make", number, seat)
    return moves
