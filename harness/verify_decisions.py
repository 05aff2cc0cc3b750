"""Whether the decisions of a record account for its moves: who made each one, after which faults.

Owns the rules of provenance. They need only the record and the positions that its moves led through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.record import By, Decision, Record
from harness.verify_findings import Finding, show
from harness.verify_replay import Derived
from policies.reply import NOTES_LIMIT

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
