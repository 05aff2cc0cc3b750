"""Whether the calls of an episode, and the outages that ended it, are such as a run makes.

Owns what must hold of them whatever was asked and answered: which attempts there are, when one is settled, and what
follows in a call's row from what became of it. Reads one episode at a time; knows no rules and no policies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict
from datetime import datetime
from typing import Final, TypeAlias

from weigh.harness.audit.redriven import ATTEMPTS
from weigh.harness.audit.verify.findings import Finding, show
from weigh.harness.store.calls import BROUGHT, LOST, SETTLED, Call, Fate, Void
from weigh.harness.store.store import StoredCall
from weigh.harness.store.texts import printable
from weigh.harness.store.usage import characters_of
from weigh.policies.contract import STOPS, Billing

Place: TypeAlias = tuple[int, int, int]
"""(seat, step, attempt)."""

BILLINGS: Final[Mapping[Fate, tuple[Billing, ...]]] = {
    "answered": ("known",),
    "timed_out": ("unknown",),
    "wait": ("known", "none", "unknown"),
    "outage": ("known", "none", "unknown"),
    "fatal": ("known", "none", "unknown"),
    "lost": ("unknown",),
    "reused": ("none",),
}
"""Who can have been charged for a call, by what became of it."""


def check_calls(
    made: Mapping[Place, Sequence[StoredCall]],
    models: Mapping[int, str | None] | None,
    asked: Set[tuple[int, int]] | None = None,
) -> Iterator[Finding]:
    """What must hold for the calls of an episode. `models` are those of its seats, and `asked` the seats and steps at
    which it asked for a move, where these are known."""
    for (seat, step, attempt), kept in made.items():
        where = where_of(seat, step, attempt)
        model = None if models is None else models.get(seat)
        if models is not None and model is None:
            yield Finding(where, "were made for a seat that no model plays")
            continue
        if asked is not None and (seat, step) not in asked:
            yield Finding(where, "were made where the record asks for no move")
        if not 1 <= attempt <= ATTEMPTS:
            yield Finding(where, f"are of no attempt that there is: they count from 1 to {ATTEMPTS}")
        elif attempt > 1 and not any(each.call.fate in SETTLED for each in made.get((seat, step, attempt - 1), ())):
            yield Finding(where, "were made before the attempt before it was settled")
        if [each.call.number for each in kept] != list(range(len(kept))):
            yield Finding(where, "are not all there", show([each.call.number for each in kept]), show(len(kept)))
        fates = [each.call.fate for each in kept]
        settled = next((number for number, fate in enumerate(fates, start=1) if fate in SETTLED), len(fates))
        if settled < len(fates):
            yield Finding(where, "went on after the attempt was settled", show(fates), show(fates[:settled]))
        for each in kept:
            for what, recorded, due in _check_call(each, model):
                yield Finding(where, what, show(recorded), show(due))


def _check_call(kept: StoredCall, model: str | None) -> Iterator[tuple[str, object, object]]:
    """What is wrong with one call by itself: what, as it is kept, as it should be. `model` plays the seat, where that
    is known."""
    call, request = kept.call, kept.call.request
    if model is not None and request.model != model:
        yield "went to another model", request.model, model
    if request.digest != kept.digest:
        yield "do not match the digest of what was sent", kept.digest, request.digest
    if kept.prompt_characters != characters_of(request):
        yield "were of another length", kept.prompt_characters, characters_of(request)
    if call.fate not in BILLINGS:
        yield "came to nothing that there is", call.fate, sorted(BILLINGS)
        return
    if (call.error is None) != (call.fate in BROUGHT) or (call.fate == "lost" and call.error != LOST):
        yield "tell an error that does not go with what became of them", call.error, call.fate
    if call.completion is not None and call.completion.stop not in STOPS:
        yield "stopped for no reason that there is", call.completion.stop, list(STOPS)
    if call.billing not in BILLINGS[call.fate]:
        yield "were charged for otherwise than goes with what became of them", call.billing, call.fate
    if not _cost_fits(call):
        yield "cost what does not go with their billing", call.cost, call.billing
    if min(call.latency, call.lag) < 0 or (call.fate in ("lost", "reused") and call.latency):
        yield "took a time that cannot be", call.latency, 0.0
    if not is_moment(call.started):
        yield "began at no moment", call.started, "UTC, ISO 8601"
    usage = None if call.completion is None else asdict(call.completion.usage)
    if usage and any(isinstance(number, int | float) and number < 0 for number in usage.values()):
        yield "took less than nothing", usage, None
    named = call.reused_from is not None and call.reused_from.endswith(f" {call.key.episode}")
    if not named if call.fate == "reused" else call.reused_from is not None:
        yield "name no run whose answer is used again", call.reused_from, call.fate


def _cost_fits(call: Call) -> bool:
    """Nothing that was not charged for has a cost, and of nothing that nobody told of is one known, but where nothing
    costs anything."""
    if call.billing == "none":
        return call.cost == 0.0
    return call.cost is None or (
        call.cost >= 0.0 if call.completion is not None or call.told is not None else call.cost == 0.0
    )


def is_moment(text: str) -> bool:
    """Whether a text is a time in ISO 8601 with its distance from UTC."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def check_voids(voids: Sequence[Void], made: Mapping[Place, Sequence[StoredCall]]) -> Iterator[Finding]:
    """Every void of an episode, in the order it happened, must have calls of its own that ended in an outage. Not the
    other way round: a run that was stopped or killed in the same round keeps no void."""
    left: dict[tuple[int, int], list[str]] = {}
    for (seat, step, _), kept in made.items():
        said = [f"{each.call.request.model}: {each.call.error}" for each in kept if each.call.fate == "outage"]
        left.setdefault((seat, step), []).extend(map(printable, said))
    for number, void in enumerate(voids):
        where = f"voids[{number}]"
        told: dict[str, None] = {}
        for seat in void.seats:
            failures = left.get((seat, void.step), [])
            cause = next((failure for failure in failures if failure in void.cause), None)
            if cause is None:
                yield Finding(where, f"has no call of step {void.step}, seat {seat} that its provider failed")
                break
            failures.remove(cause)
            told[cause] = None
        else:
            if not void.seats:
                yield Finding(where, "names no seat whose provider failed")
            elif "; ".join(told) != void.cause:
                yield Finding(where, "tells another cause than its calls", show(void.cause), show("; ".join(told)))


def where_of(seat: int, step: int, attempt: int) -> str:
    """The calls of one attempt, as a place."""
    return f"calls of step {step}, seat {seat}, attempt {attempt}"
