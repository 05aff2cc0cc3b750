"""One episode as the data of a page: its frames, its facts in words, and how each move came about.

Owns the shape that the page's script reads (`assets/episode.js`). Everything in it is text or numbers; the only markup
are picture trees, from which the script makes elements of a fixed list. How moves came about is taken from a record's
decisions and, where there is a run, from its stored calls; texts of models are neutralised, and cut with the number of
characters that were left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeAlias

from weigh.games.game import Json, Seat
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.store.calls import Call
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.scene import COLOURS, Names, exact_score, marks, score
from weigh.harness.web.svg import share
from weigh.harness.web.viewer.frames import Frames, frames_of
from weigh.harness.words import count, duration, money, plural
from weigh.policies.show import escaped, one_line

_NAME: Final = 200
"""Characters of a name or a value on the page."""

_FINDINGS: Final = 5
"""Lines about what does not re-derive."""

LONGEST: Final = 20_000
"""Characters of one text that the page holds. The run has all of it: `weigh export RUN FILE --dataset calls`."""

Attempts: TypeAlias = Mapping[tuple[int, int], Sequence[Call]]
"""The calls of an episode by step and seat, in order."""


def attempts_of(calls: Iterable[Call]) -> Attempts:
    """The calls of one episode, sorted to the decisions they were made for."""
    found: defaultdict[tuple[int, int], list[Call]] = defaultdict(list)
    for call in calls:
        found[call.key.step, call.key.seat].append(call)
    return found


def episode_data(
    record: Record,
    attempts: Attempts | None = None,
    *,
    run: str | None = None,
    versions: Mapping[str, str] | None = None,
    frames: Frames | None = None,
) -> dict[str, Json]:
    """What the page holds of an episode.

    `attempts` and `versions` come from the run, where there is one, and `run` is what it is called. `frames` are those
    of the record, where the caller has them. Raises like `harness.web.viewer.frames.frames_of`.
    """
    shown = frames or frames_of(record)
    pictures = share([frame.picture for frame in shown.frames])
    # Scores are those that the rules settle, not those that the record claims.
    scores = shown.scores or (None,) * len(shown.names)
    seats = zip(record.aliases, record.entrants, record.models, scores, record.fallbacks, strict=True)
    steps: list[list[Json]] = [[] for _ in record.moves]
    for decision in record.decisions:
        if decision.step < len(steps) and decision.seat < len(record.aliases):
            calls = (attempts or {}).get((decision.step, decision.seat), ())
            words = shown.moves[decision.step].get(decision.seat, "none")
            steps[decision.step].append(move_data(decision, words, calls, record.fallback))
    return {
        "key": one_line(record.key, _NAME),
        "game": record.game,
        "title": shown.game.title,
        "facts": _facts(record, attempts, run, versions),
        "warnings": _warnings(record),
        "seats": [seat_data(shown.names, seat, *of) for seat, of in enumerate(seats)],
        "shared": list(pictures.shared),
        "frames": [frame.to_json(tree) for frame, tree in zip(shown.frames, pictures.trees, strict=True)],
        "steps": [*steps],
        "calls": attempts is not None,
    }


def seat_data(
    names: Names, seat: Seat, alias: str, entrant: str, model: str | None, value: Fraction | None, fallbacks: int
) -> dict[str, Json]:
    """One row of the table of seats. `value` is None while there is no score."""
    return {
        "mark": marks(names)[seat],
        "colour": seat % COLOURS,
        "alias": one_line(alias, _NAME),
        "entrant": one_line(entrant, _NAME),
        "model": None if model is None else one_line(model, _NAME),
        "score": None if value is None else score(value),
        "exact": None if value is None else exact_score(value),
        "value": None if value is None else float(value),
        "fallbacks": fallbacks,
    }


def _facts(
    record: Record, attempts: Attempts | None, run: str | None, versions: Mapping[str, str] | None
) -> list[Json]:
    block, _, rotation = record.key.rpartition("/")
    by = [decision.by for decision in record.decisions]
    times = record.times
    facts: list[tuple[str, str | None]] = [
        ("ended", f"{record.ending} ({record.reason})"),
        ("steps", str(len(record.moves))),
        ("config", ", ".join(f"{key} {_value(value)}" for key, value in record.config.items())),
        ("block", record.block),
        ("rotation", rotation if block == record.block else None),
        ("moves", ", ".join(f"{by.count(kind)} by {_BY[kind]}" for kind in _BY if kind in by)),
        ("faults", str(sum(len(decision.faults) for decision in record.decisions))),
        ("calls", totals(attempts) if attempts is not None else "not in a record; open it from its run to see them"),
        ("played", None if times is None else f"{times.started[:19]} UTC, {_seconds(times.seconds, 1)}"),
        ("run", run),
        ("versions", ", ".join(f"{name} {number}" for name, number in (versions or {}).items()) or None),
        ("record format", str(record.schema_version)),
    ]
    return [[label, one_line(value, 1_000)] for label, value in facts if value]


_BY: Final = {
    "model": "the model",
    "retry": "a retry",
    "fallback": "the fallback",
    "scripted": "a script",
    "human": "a person",
}


def _seconds(seconds: float, decimals: int) -> str:
    return f"{seconds:.{decimals}f} s" if seconds < 3600 else duration(seconds)


def _value(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else legible(str(value))


def _warnings(record: Record) -> list[Json]:
    """What in the record does not follow from its moves. Pictures always do."""
    found: Sequence[object] = verify_record(record)
    lines: list[Json] = [one_line(str(finding), 600) for finding in found[:_FINDINGS]]
    if len(found) > _FINDINGS:
        lines.append(f"and {len(found) - _FINDINGS} more: see weigh verify")
    return lines


# -- how a move came about ---------------------------------------------------------------------------------------------


def move_data(decision: Decision, words: str, calls: Sequence[Call], fallback: str) -> dict[str, Json]:
    """A move, `words` being how its game says it, with what was wrong before it and the calls it took."""
    return {
        "seat": decision.seat,
        "move": one_line(words, 200),
        "by": decision.by,
        "fallback": fallback if decision.by == "fallback" else None,
        "faults": [
            {"fault": note.fault, "detail": one_line(note.detail, 600), "attempt": number}
            for number, note in enumerate(decision.faults, start=1)
        ],
        "notes": None if decision.notes is None else text(decision.notes),
        "calls": [_call(call) for call in calls],
    }


def _call(call: Call) -> Json:
    completion = call.completion
    again = f", request {call.number + 1}" if call.number else ""
    return {
        "title": f"attempt {call.key.attempt}{again}: {call.fate.replace('_', ' ')}",
        "facts": legible(" · ".join(_call_facts(call))),
        "reply": text(completion.text) if completion else None,
        "reasoning": text(completion.reasoning) if completion and completion.reasoning else None,
    }


def _call_facts(call: Call) -> list[str]:
    """Model, tokens, seconds and dollars of one call; what is not known is said to be unknown."""
    facts, completion = [one_line(call.request.model, 80)], call.completion
    if completion is not None:
        usage = completion.usage
        facts = [one_line(completion.served_by or call.request.model, 80)]
        facts.append(f"{_tokens(usage.input)} tokens in" + (f" ({usage.cached} cached)" if usage.cached else ""))
        facts.append(f"{_tokens(usage.output)} out" + (f" ({usage.reasoning} reasoning)" if usage.reasoning else ""))
        if completion.stop != "end":
            word = f' "{one_line(completion.stop_detail or "none", 40)}"' if completion.stop == "unknown" else ""
            facts.append(f"stopped by {completion.stop}{word}")
    if call.fate == "reused":
        facts.append(f"reused from {one_line(call.reused_from or '', 120)}")
    else:
        facts += [_seconds(call.latency, 2), "cost unknown" if call.cost is None else money(call.cost)]
    return [*facts, one_line(call.error, 300)] if call.error else facts


_MANY: Final = 10_000_000
"""Tokens from which on only their magnitude is shown."""


def _tokens(number: int | None) -> str:
    return "unknown" if number is None else str(number) if number < _MANY else count(number)


def text(whole: str) -> Json:
    """A text as the page holds it: `[its beginning, how many characters are left out, how many it has]`.

    What is counted are the characters that the model wrote, not those of the escapes that stand for some of them.
    """
    shown = min(len(whole), LONGEST)
    kept = escaped(whole[:shown])
    if len(kept) > 2 * LONGEST:  # mostly escapes, of up to ten characters each
        shown = LONGEST // 5
        kept = escaped(whole[:shown])
    return [kept, len(whole) - shown, len(whole)]


def totals(attempts: Attempts) -> str | None:
    """One line on all calls of an episode; None when there were none."""
    calls = [call for made in attempts.values() for call in made]
    if not calls:
        return None
    known = [call.cost for call in calls if call.cost is not None]
    usages = [call.completion.usage for call in calls if call.completion]
    read, written = sum(usage.input or 0 for usage in usages), sum(usage.output or 0 for usage in usages)
    tokens = f"{_tokens(read)} tokens in, {_tokens(written)} out"
    return legible(f"{plural(len(calls), 'call')}, {tokens}, {money(sum(known), len(calls) - len(known))}")


_LONG_NUMBER: Final = re.compile(r"\d{13,}(?:\.\d+)?")


def legible(line: str) -> str:
    """A line of facts in which numbers of more than 12 digits say their magnitude.

    >>> legible("seed 12345678901234567, 3 cards")
    'seed 1.235e16, 3 cards'
    """
    return _LONG_NUMBER.sub(lambda found: f"{Decimal(found[0]):.3e}".replace("e+", "e"), line)
