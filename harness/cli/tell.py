"""An episode told in a terminal, step by step: what each seat played and how it came to that, and what happened.

Events as one line each, for a terminal. The same for every game: it knows no game's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

from weigh.games.game import Event, Json, State
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.scene import SEALED, exact_score, score
from weigh.harness.web.viewer.frames import Frames, frames_of, states_of
from weigh.harness.words import shown
from weigh.policies.show import one_line

_LONG = 2_000


def playthrough(record: Record, encoding: str = "utf-8") -> Iterator[str]:
    """The lines. Raises GameError for a record that cannot be played, NoPictures for a game without a scene."""
    yield from (shown(line, encoding, _LONG) for line in _lines(record))


def _lines(record: Record) -> Iterator[str]:
    told = frames_of(record)
    _, _, states = states_of(record)
    wide = max(map(len, record.aliases))
    yield f"=== {record.key}"
    yield f"game: {record.game} ({told.game.title})"
    yield f"config: {json.dumps(record.config)}"
    yield f"deal: {json.dumps(record.deal)}"
    for seat, (alias, entrant, model) in enumerate(zip(record.aliases, record.entrants, record.models, strict=True)):
        yield f"seat {seat}: {alias:<{wide}}  {entrant}{f' ({model})' if model else ''}"
    yield ""
    yield "--- start"
    yield from _events(record, None, states[0])
    made = {(decision.step, decision.seat): decision for decision in record.decisions}
    for step, (before, after) in enumerate(pairwise(states)):
        yield ""
        if step < len(record.moves):
            yield f"--- {_name(told, step)}"
            for seat in sorted(before.to_act):
                played = told.moves[step][seat]
                yield f"{record.aliases[seat]:<{wide}}  {played:<6}  {_by(record, made.get((step, seat)))}"
        else:
            yield "--- stopped by the clock"
        yield from _events(record, before, after)
        yield from _standing(record, told, step)
    yield ""
    yield f"=== {record.reason}: {record.ending}"
    yield from _scores(record, told)


def _name(told: Frames, step: int) -> str:
    """What the game calls a step: `round 4`, `turn 12`."""
    label = next(frame.label for frame in told.frames if frame.step == step and frame.kind not in SEALED)
    return label.split(":")[0]


def _by(record: Record, decision: Decision | None) -> str:
    if decision is None:
        return "by nobody that the record names"
    by = f"fallback ({record.fallback})" if decision.by == "fallback" else decision.by
    causes = ", then ".join(f"{note.fault} ({note.detail})" for note in decision.faults)
    return f"{by} after {causes}" if causes else by


def _events(record: Record, before: State | None, after: State) -> Iterator[str]:
    known = len(before.events) if before is not None else 0
    for event in after.events[known:]:
        yield f"  {event.kind:<9} {narrate(event, record.aliases)}"


def _standing(record: Record, told: Frames, step: int) -> Iterator[str]:
    """The rows of the table of seats, as they are after the step."""
    last = [frame for frame in told.frames if frame.step == step][-1]
    for label, texts in last.counts:
        seats = ", ".join(f"{alias} {text}" for alias, text in zip(record.aliases, texts, strict=False))
        yield f"  {label}: {seats}"


def _scores(record: Record, told: Frames) -> Iterator[str]:
    scores = told.scores or ()
    for seat in sorted(range(len(scores)), key=lambda seat: (-scores[seat], seat)):
        value, exact = score(scores[seat]), exact_score(scores[seat])
        yield f"{value:>8}  {record.aliases[seat]}  {record.entrants[seat]}{f'  ({exact})' if exact != value else ''}"


_NAMES_A_SEAT = ("seat", "owner", "priority", "holder", "winner", "horizontal", "first", "next")
"""Keys whose whole number is a seat."""

_LIST_SEATS = ("winners", "seats", "elimination_candidates")
"""Keys whose list holds seats."""

NOT_BY_SEAT = ("remaining", "flips", "square", "position", *_LIST_SEATS)
"""Keys whose list is not one entry a seat, however long it is."""


def narrate(event: Event, aliases: Sequence[str]) -> str:
    """What happened, e.g. `round 1, bids Ash 5 / Elm 7, margin 2`; the event's kind is left to the caller."""
    parts = [f"{key} {_value(key, value, aliases)}" for key, value in event.data.items()]
    return one_line(", ".join(parts), 2_000)


def seats_named(key: str, value: object, aliases: Sequence[str]) -> str | None:
    """`Ash and Elm` for a list of seats under one of the keys that hold such; None for anything else."""
    if key not in _LIST_SEATS or not isinstance(value, list | tuple):
        return None
    return " and ".join(aliases[seat] for seat in value if isinstance(seat, int)) or "nobody"


_COUNTED = ("round", "turn")
"""Keys whose whole number counts from 0, and is told from 1 as at the table."""


def _value(key: str, value: Json, aliases: Sequence[str]) -> str:
    if key in _COUNTED and isinstance(value, int):
        return str(value + 1)
    if key in _NAMES_A_SEAT and isinstance(value, int) and 0 <= value < len(aliases):
        return aliases[value]
    if (named := seats_named(key, value, aliases)) is not None:
        return named
    if isinstance(value, list | tuple):
        if len(value) == len(aliases) and key not in NOT_BY_SEAT:
            return " / ".join(
                f"{alias} {_value('', item, aliases)}" for alias, item in zip(aliases, value, strict=True)
            )
        rows = any(isinstance(item, list | tuple) for item in value)
        return (" | " if rows else " ").join(_value("", item, aliases) for item in value) or "none"
    if isinstance(value, dict):
        # Lists within an object are not by seat, however many items they have.
        return " ".join(f"{name}={_value('', item, ())}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)
