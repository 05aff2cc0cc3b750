"""An episode as a sequence of frames: the record's moves, played again by the rules and shown by the game's board view.

Owns the way from a record to frames. Every position comes from the engine, none from what the record says of itself, so
that what is shown is what the moves come to. Knows neither pages nor games.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from pydantic import BaseModel

from weigh.games.game import AnyGame, GameError, Json, Seat, State
from weigh.games.registry import game_named, read_config
from weigh.games.replay import replay_states
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.scene import Frame, Moment, frames_of_moment
from weigh.harness.web.scenes import board_view
from weigh.policies.show import escaped

_LONGEST_NAME: Final = 18
"""Characters of an entrant's name, and of an alias, in a picture; the table of seats has the whole name."""


@dataclass(frozen=True, slots=True)
class Frames:
    """A whole episode, ready to be shown."""

    game: AnyGame
    names: tuple[str, ...]
    frames: tuple[Frame, ...]
    """At least one."""
    scores: tuple[Fraction, ...] | None
    """By seat, as the rules settle it; None when the moves do not lead to an end."""
    moves: tuple[Mapping[Seat, str], ...]
    """The moves of each step in the game's words."""


def frames_of(record: Record) -> Frames:
    """Every frame of a record.

    Raises GameError where the rules refuse its config, deal or moves, and NoPictures for a game without a board view.
    """
    game, _, states = states_of(record)
    view = board_view(game.name)
    names = spectator_names(record.aliases, record.entrants)
    made: defaultdict[int, list[Decision]] = defaultdict(list)
    for decision in record.decisions:
        if decision.seat < len(names):
            made[decision.step].append(decision)
    frames, worded = list(frames_of_moment(view, Moment(names, -1, None, {}, states[0]))), []
    for step, (before, after) in enumerate(pairwise(states)):
        row: Sequence[Json] = record.moves[step] if step < len(record.moves) else ()
        # `replay_states` has read them before, so none is refused here.
        moves = {seat: before.legal(seat).read(row[seat]) for seat in sorted(before.to_act)} if row else {}
        frames += frames_of_moment(view, Moment(names, step, before, moves, after, made[step], record.fallback))
        worded.append({seat: view.words(before, seat, move) for seat, move in moves.items()})
    outcome = states[-1].outcome
    return Frames(game, names, tuple(frames), outcome.scores if outcome else None, tuple(worded))


def states_of(record: Record) -> tuple[AnyGame, BaseModel, tuple[State, ...]]:
    """Every position of a record by its moves: the first one, one after each step, and the stopped one if the clock
    ended it. Raises GameError like `frames_of`."""
    game = game_named(record.game)
    config = read_config(game, record.config)
    seats = game.seat_count(config)
    for name in ("aliases", "entrants", "models", "fallbacks"):
        if len(getattr(record, name)) != seats:
            raise GameError(f"{record.key}: {name} must have one entry for each of {seats} seats")
    states = list(replay_states(game, config, record.deal, list(record.moves)))
    if record.reason == "deadline" and states[-1].to_act:
        states.append(states[-1].stop())
    return game, config, tuple(states)


def spectator_names(aliases: Sequence[str], entrants: Sequence[str]) -> tuple[str, ...]:
    """What each seat is called in pictures: its alias, and the entrant behind it as far as there is room."""
    return tuple(f"{_cut(alias)} ({_cut(entrant)})" for alias, entrant in zip(aliases, entrants, strict=True))


def _cut(name: str) -> str:
    line = escaped(name[: _LONGEST_NAME + 1]).replace("\n", " ").replace("\t", " ")
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"
