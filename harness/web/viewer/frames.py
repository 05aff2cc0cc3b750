"""An episode as a sequence of beats: the record's moves, played again by the rules and handed to the game's scene.

Owns the way from a record to frames. Every position comes from the engine, none from what the record says of itself, so
that what is shown is what the moves come to. Knows neither pages nor games.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from pydantic import BaseModel

from weigh.games.game import AnyGame, GameError, Json, Move, Seat, State
from weigh.games.registry import game_named, read_config
from weigh.games.replay import replay_states
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.viewer.scene import Beat, Moment
from weigh.harness.web.viewer.scenes import scene_of
from weigh.harness.web.viewer.told import told_beats
from weigh.policies.show import escaped

LONGEST_ENTRANT = 18
"""Characters of an entrant's name, and of an alias, in a picture; the table of seats beside it holds the whole name."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One beat, with the step that it shows."""

    step: int
    """Counted from 0; -1 for the opening. The stop by the clock counts as a step of its own."""
    beat: Beat


@dataclass(frozen=True, slots=True)
class Frames:
    """A whole episode, ready to be shown."""

    game: AnyGame
    names: tuple[str, ...]
    frames: tuple[Frame, ...]
    """At least one."""
    scores: tuple[Fraction, ...] | None
    """By seat, as the rules settle it; None when the moves do not lead to an end."""
    said: tuple[Mapping[Seat, str], ...]
    """The moves of each step in the game's words."""


def frames_of(record: Record) -> Frames:
    """Every beat of a record.

    Raises GameError where the rules refuse its config, deal or moves, and NoPictures for a game without a scene.
    """
    game, config, states = states_of(record)
    scene = scene_of(game.name)
    names = spectator_names(record)
    made: defaultdict[int, list[Decision]] = defaultdict(list)
    for decision in record.decisions:
        if decision.seat < len(names):
            made[decision.step].append(decision)
    opening = Moment(game, config, names, -1, None, {}, states[0])
    frames = [Frame(-1, beat) for beat in told_beats(scene, opening, (), record.fallback)]
    said = []
    for step, (before, after) in enumerate(pairwise(states)):
        moves = _moves(before, record.moves[step]) if step < len(record.moves) else {}
        moment = Moment(game, config, names, step, before, moves, after)
        frames += [Frame(step, beat) for beat in told_beats(scene, moment, made[step], record.fallback)]
        said.append({seat: scene.said(before, seat, move) for seat, move in moves.items()})
    outcome = states[-1].outcome
    return Frames(game, names, tuple(frames), outcome.scores if outcome else None, tuple(said))


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


def spectator_names(record: Record) -> tuple[str, ...]:
    """What each seat is called in pictures: its alias, and the entrant behind it as far as there is room."""
    return tuple(
        f"{_cut(alias)} ({_cut(entrant)})" for alias, entrant in zip(record.aliases, record.entrants, strict=True)
    )


def _cut(name: str) -> str:
    line = escaped(name[: LONGEST_ENTRANT + 1]).replace("\n", " ").replace("\t", " ")
    return line if len(line) <= LONGEST_ENTRANT else f"{line[: LONGEST_ENTRANT - 1]}…"


def _moves(before: State, row: tuple[Json, ...]) -> dict[Seat, Move]:
    """The moves of a step in canonical form; `replay_states` has read them before, so none is refused here."""
    return {seat: before.legal(seat).read(row[seat]) for seat in sorted(before.to_act)}
