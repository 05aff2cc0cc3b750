"""An episode told in a terminal, step by step: what each seat played and how it came to that, and what happened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.cli.narrate import narrate
from harness.display_words import shown
from harness.viewer.amounts import exact_score, score
from harness.viewer.frames import frames_of, states_of
from harness.viewer.told import SEALED

if TYPE_CHECKING:
    from games.game import State
    from harness.record import Decision, Record
    from harness.viewer.frames import Frames

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
            yield f"--- step {step}: {_name(told, step)}"
            for seat in sorted(before.to_act):
                played = told.said[step][seat]
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
    label = next(frame.beat.label for frame in told.frames if frame.step == step and frame.beat.kind not in SEALED)
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
    last = [frame.beat for frame in told.frames if frame.step == step][-1]
    for label, texts in last.counts:
        seats = ", ".join(f"{alias} {text}" for alias, text in zip(record.aliases, texts, strict=False))
        yield f"  {label}: {seats}"


def _scores(record: Record, told: Frames) -> Iterator[str]:
    scores = told.scores or ()
    for seat in sorted(range(len(scores)), key=lambda seat: (-scores[seat], seat)):
        value, exact = score(scores[seat]), exact_score(scores[seat])
        yield f"{value:>8}  {record.aliases[seat]}  {record.entrants[seat]}{f'  ({exact})' if exact != value else ''}"
