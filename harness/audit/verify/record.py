"""Whether a record recomputes: from a document of unknown origin to what differs in it.

Owns its three steps. Is it a record at all: JSON, every field there, none unknown, of the version read here. What
do its game, config, deal and moves make of it: events, ending, scores, measures. Do its decisions account for its
moves: who made each one, after which faults. Knows no store; chance is not needed, since the deal stands in the
record. Nothing is trusted that can be derived.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from weigh.games.game import AnyGame, GameError, State
from weigh.games.registry import game_named, read_config
from weigh.games.replay import StepRefused, replay_states
from weigh.harness.audit.verify.findings import NOTHING, Finding, agree, compare, compare_events, show
from weigh.harness.store.record import SCHEMA, By, Decision, Record
from weigh.policies.reply import NOTES_LIMIT

DEEPEST: Final = 100
"""Levels of nesting; no record of ours comes near it."""


def as_record(data: object) -> Record | list[Finding]:
    """The record that `data` is, or why it is none."""
    if isinstance(data, Record):
        data = data.model_dump(mode="json")
    if not isinstance(data, Mapping):
        return [Finding("the record", "is not a JSON object", show(data))]
    try:
        if odd := list(_not_json(data, "", 0)):
            return odd
        if data.get("schema_version", SCHEMA) != SCHEMA or isinstance(data.get("schema_version"), bool):
            return [
                Finding(
                    "schema_version", "is not of this version of weigh", show(data["schema_version"]), show(SCHEMA)
                ),
            ]
        record = Record.model_validate(data)
    except ValidationError as error:
        return [_finding(detail["type"], detail["loc"], detail["msg"], detail["input"]) for detail in error.errors()]
    # A field with a default may be left out and pass; but then the document does not say all that it should.
    complete = record.model_dump(mode="json", exclude={"times"})
    given = {key: value for key, value in data.items() if key != "times"}
    missing = [
        Finding(found.where.removeprefix("."), found.what, found.recorded, found.derived)
        for found in compare("", given, complete)
    ]
    return missing or record


def _finding(kind: str, place: tuple[int | str, ...], message: str, value: object) -> Finding:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    if kind == "extra_forbidden":
        return Finding(where, "is no field of a record", show(value))
    if kind == "missing":
        return Finding(where, "is missing")
    return Finding(where, f"is wrong ({message.replace('Input should', 'it should')})", show(value))


def _not_json(value: object, where: str, depth: int) -> Iterator[Finding]:
    place = where.removeprefix(".") or "the record"
    if depth > DEEPEST:
        yield Finding(place, f"is nested deeper than {DEEPEST} levels")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                yield Finding(place, "has a key that is not a text", NOTHING)
            else:
                yield from _not_json(item, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _not_json(item, f"{where}[{index}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Finding(place, f"is no number of JSON: {value}")
    elif value is not None and not isinstance(value, str | int | float | bool):
        yield Finding(place, f"is no JSON value: {type(value).__name__}")


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


FAULTS_BEFORE: Final[dict[By, int]] = {"model": 0, "retry": 1, "fallback": 2, "scripted": 0, "human": 0}
"""How many attempts failed before a move of each provenance."""


def check_decisions(record: Record, derived: Derived) -> Iterator[Finding]:
    """One decision for each move asked for, in order, each with a provenance that its seat can have."""
    asked = [
        (step, seat) for step, state in enumerate(derived.states[: len(record.moves)]) for seat in sorted(state.to_act)
    ]
    yield from _cover(record, asked)
    scripts = {decision.seat for decision in record.decisions if decision.by == "scripted"}
    for index, decision in enumerate(record.decisions):
        yield from _faults(index, decision)
        yield from _notes(index, decision)
        if decision.seat < derived.seats:
            why = _impossible(decision.by, record.models[decision.seat], decision.seat in scripts)
            if why:
                yield Finding(f"decisions[{index}].by", why, show(decision.by))
    for seat, counted in enumerate(record.fallbacks):
        made = sum(decision.by == "fallback" for decision in record.decisions if decision.seat == seat)
        if counted != made:
            yield Finding(f"fallbacks[{seat}]", "disagrees with the decisions", show(counted), show(made))


def _cover(record: Record, asked: list[tuple[int, int]]) -> Iterator[Finding]:
    given = [(decision.step, decision.seat) for decision in record.decisions]
    if given == asked:
        return
    for (step, seat), times in Counter(given).items():
        if times > 1:
            yield Finding("decisions", f"has {times} for step {step}, seat {seat}")
    missing, extra = set(asked).difference(given), set(given).difference(asked)
    for step, seat in sorted(missing):
        yield Finding("decisions", f"has none for step {step}, seat {seat}")
    for step, seat in sorted(extra):
        yield Finding("decisions", f"has one for step {step}, seat {seat}, where no move was asked for")
    if not missing and not extra and len(given) == len(asked):
        index = next(at for at, (one, other) in enumerate(zip(given, asked, strict=True)) if one != other)
        yield Finding(f"decisions[{index}]", "is out of order", show(given[index]), show(asked[index]))


def _faults(index: int, decision: Decision) -> Iterator[Finding]:
    due = FAULTS_BEFORE[decision.by]
    if len(decision.faults) != due:
        yield Finding(
            f"decisions[{index}].faults",
            f"must have {due} for a move by {decision.by}",
            f"{len(decision.faults)} faults",
            f"{due} faults",
        )


def _notes(index: int, decision: Decision) -> Iterator[Finding]:
    """Notes come with an answer that was read, and are cut; what a script or the fallback plays brings none."""
    if decision.notes is None:
        return
    where = f"decisions[{index}].notes"
    if decision.by in ("scripted", "fallback"):
        yield Finding(where, f"cannot come with a move by {decision.by}", show(decision.notes), show(None))
    elif len(decision.notes) > NOTES_LIMIT:
        said = f"{len(decision.notes)} characters"
        yield Finding(where, "are longer than notes may be", said, f"at most {NOTES_LIMIT}")


def _impossible(by: By, model: str | None, script: bool) -> str | None:
    """A seat with a model moves by model, retry or fallback; one without by its script alone, or by a person."""
    if model is not None:
        return f"is impossible for a seat that {model} plays" if by in ("scripted", "human") else None
    if by in ("model", "retry"):
        return "is impossible for a seat that no model plays"
    return "is impossible for a seat that a script plays" if script and by != "scripted" else None


def verify_record(data: Mapping[str, Any] | Record) -> list[Finding]:
    """Everything in which a record does not re-derive; an empty list when it does.

    `data` is the record, or its JSON. Not derivable, and so not looked at: `times`; the names `key`, `block`,
    `entrants` and `aliases` (which must only differ); the digests `policies` and the names in `models`; notes, and
    which fault an attempt had. `verify_run` checks these against what the run keeps beside its records.
    """
    record = as_record(data)
    if not isinstance(record, Record):
        return record
    derived = derive(record)
    if isinstance(derived, list):
        return derived
    return [*check_outcome(record, derived), *check_decisions(record, derived)]


def verify_records(found: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[int, list[Finding]]:
    """Check records that stand together, each with its place: how many there are, and everything that is wrong with
    them, copies of one play included."""
    records = 0
    findings: list[Finding] = []
    places: dict[int, str] = {}
    plays: dict[int, tuple[str, str]] = {}

    def digest(data: Mapping[str, Any], *without: str) -> int:
        return hash(json.dumps({key: data[key] for key in data if key not in without}, sort_keys=True))

    for place, data in found:
        records += 1
        name = name_of(data, place)
        findings += [replace(each, episode=name) for each in verify_record(data)]
        # Two runs may hold episodes of one key; the same play of it is one episode, whoever counts the lines.
        first = places.setdefault(digest(data, "times"), place)
        if first != place:
            findings.append(Finding("the record", f"stands here twice: {first} and {place}", episode=name))
            continue
        # With its times: in a game without chance, equal players may well play the same twice, but not at one time.
        other, under = plays.setdefault(digest(data, "key", "block"), (place, name))
        if other != place:
            what = f"is the same play as that of {show(under)} at {other}, under another key"
            findings.append(Finding("the record", what, episode=name))
    return records, findings


def name_of(data: Mapping[str, Any], place: str) -> str:
    """The key of a record, or its place where it has none."""
    key = data.get("key")
    return key if isinstance(key, str) and key else place
