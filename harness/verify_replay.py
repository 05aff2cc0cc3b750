"""Deriving a record again from its game, config, deal and moves, and comparing everything that follows from them.

Owns the replay and the comparison of events, ending, scores and measures. Knows no store. Chance is not needed: the
deal stands in the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from games.game import AnyGame, GameError, State
from games.registry import game_named, read_config
from games.replay import StepRefused, replay_states
from harness.record import Record
from harness.verify_findings import Finding, agree, compare, compare_events, show


@dataclass(frozen=True, slots=True)
class Derived:
    """What the rules make of a record's moves."""

    game: AnyGame
    config: BaseModel
    seats: int
    states: tuple[State, ...]
    """The position before each step, and the one after the last."""


def derive(record: Record) -> Derived | list[Finding]:
    """Play the moves of a record; or the first reason why they cannot be played."""
    try:
        game = game_named(record.game)
    except GameError as error:
        return [Finding("game", f"cannot be replayed: {error}")]
    try:
        config = read_config(game, record.config)
    except GameError as error:
        return [Finding("config", f"is refused by the rules: {error}")]
    if found := list(compare("config", record.config, config.model_dump(mode="json"))):
        return found
    seats = game.seat_count(config)
    if found := _one_per_seat(record, seats):
        return found
    states: list[State] = []
    try:
        states.extend(replay_states(game, config, record.deal, list(record.moves)))
    except StepRefused as error:
        where = f"moves[{error.step}]" if error.seat is None else f"moves[{error.step}][{error.seat}]"
        # What went wrong may lie in an earlier move that was changed; the events up to here then disagree with it.
        last = states[-1]
        # Events are asked for as ended: those of a record hold what play had to hide.
        ended = last.stop() if last.to_act else last
        so_far = [event.to_json() for event in ended.events[: len(last.events)]]
        before = compare_events(record.events[: len(so_far)], so_far)
        return [Finding(where, f"cannot be played: {error}"), *before]
    except GameError as error:
        return [Finding("deal", f"is refused by the rules: {error}", show(record.deal))]
    if found := list(_not_canonical(record, states)):
        return found
    return Derived(game, config, seats, tuple(states))


def check_outcome(record: Record, derived: Derived) -> Iterator[Finding]:
    """Compare what the rules say of the end with what the record says."""
    state = derived.states[-1]
    if record.fallback != derived.game.fallback:
        yield Finding("fallback", "is not the game's own", show(record.fallback), show(derived.game.fallback))
    if state.to_act and record.reason != "deadline":
        yield Finding(
            "reason",
            f"claims an end that was not reached: after step {len(record.moves) - 1} seats {sorted(state.to_act)} "
            "had still to move",
            show(record.reason),
        )
        yield from compare_events(record.events, [event.to_json() for event in state.events])
        return
    if record.reason == "deadline":
        if record.episode_deadline is None:
            yield Finding("reason", "claims a deadline, and the episode had none", show(record.reason))
        if not state.to_act:
            yield Finding("reason", "claims a deadline after the game's own end", show(record.reason), show("complete"))
        else:
            state = state.stop()
    outcome = state.outcome
    if outcome is None:
        raise AssertionError(f"{derived.game.name}: no seat to act and no outcome")
    yield from compare_events(record.events, [event.to_json() for event in state.events])
    if record.ending != outcome.ending:
        yield Finding("ending", "does not follow from the moves", show(record.ending), show(outcome.ending))
    yield from compare("scores", record.scores, tuple(float(score) for score in outcome.scores))
    yield from compare("measures", record.measures, dict(outcome.measures))


def _one_per_seat(record: Record, seats: int) -> list[Finding]:
    found = [
        Finding(name, "must have one entry for each seat", str(len(values)), str(seats))
        for name, values in (
            ("entrants", record.entrants),
            ("policies", record.policies),
            ("models", record.models),
            ("aliases", record.aliases),
            ("scores", record.scores),
            ("fallbacks", record.fallbacks),
        )
        if len(values) != seats
    ]
    if len(set(record.aliases)) != len(record.aliases):
        found.append(Finding("aliases", "are not all different", show(record.aliases)))
    for name, values in (("entrants", record.entrants), ("models", record.models), ("aliases", record.aliases)):
        found += [Finding(f"{name}[{seat}]", "is an empty name") for seat, value in enumerate(values) if value == ""]
    return found


def _not_canonical(record: Record, states: list[State]) -> Iterator[Finding]:
    """Moves that the rules understand but that are not written as records write them, such as "7" for 7."""
    for step, (state, row) in enumerate(zip(states, record.moves, strict=False)):
        for seat in sorted(state.to_act):
            move = state.legal(seat).read(row[seat])
            if not agree(row[seat], move):
                yield Finding(f"moves[{step}][{seat}]", "is not in canonical form", show(row[seat]), show(move))
