"""How each move came about: who made it, what was wrong before, what the model said, and what that took.

Owns these facts as the page shows them, all in words. They come from a record's decisions and, where there is a run,
from its stored calls. Texts of models are neutralised, and cut with the number of characters that were left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weigh.games.game import Json, Seat
from weigh.harness.store.calls import Call
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.viewer.amounts import legible, move_text
from weigh.harness.words import count, duration, money, plural
from weigh.policies.show import escaped, one_line

LONGEST: Final = 20_000
"""Characters of one text that the page holds. The whole of it is in the run: `weigh export RUN FILE --table calls`."""

Attempts = Mapping[tuple[int, int], Sequence[Call]]
"""The calls of an episode by step and seat, in order."""


def attempts_of(calls: Iterable[Call]) -> Attempts:
    """The calls of one episode, sorted to the decisions they were made for."""
    found: defaultdict[tuple[int, int], list[Call]] = defaultdict(list)
    for call in calls:
        found[call.key.step, call.key.seat].append(call)
    return found


def conduct_of(record: Record, attempts: Attempts | None, said: Sequence[Mapping[Seat, str]] = ()) -> list[Json]:
    """What the page shows of each step's moves: a list by step of a list of moves.

    `attempts` is None where nothing is known of calls: a record without its run. `said` holds the moves of each step in
    the game's words; without it they stand as the record has them.
    """
    steps: list[list[Json]] = [[] for _ in record.moves]
    for decision in record.decisions:
        if decision.step < len(steps) and decision.seat < len(record.aliases):
            words = said[decision.step].get(decision.seat) if decision.step < len(said) else None
            steps[decision.step].append(_move(record, decision, attempts or {}, words))
    return [*steps]


def _move(record: Record, decision: Decision, attempts: Attempts, words: str | None) -> Json:
    calls = attempts.get((decision.step, decision.seat), ())
    return {
        "seat": decision.seat,
        "move": one_line(words or move_text(record.moves[decision.step][decision.seat]), 200),
        "by": decision.by,
        "fallback": record.fallback if decision.by == "fallback" else None,
        "faults": [
            {"fault": note.fault, "detail": one_line(note.detail, 600), "attempt": number}
            for number, note in enumerate(decision.faults, start=1)
        ],
        "notes": None if decision.notes is None else text(decision.notes),
        "calls": [_call(call) for call in calls],
    }


def _call(call: Call) -> Json:
    completion = call.completion
    return {
        "title": _title(call),
        "facts": _facts(call),
        "reply": text(completion.text) if completion else None,
        "reasoning": text(completion.reasoning) if completion and completion.reasoning else None,
    }


def _title(call: Call) -> str:
    again = f", request {call.number + 1}" if call.number else ""
    return f"attempt {call.key.attempt}{again}: {call.fate.replace('_', ' ')}"


def _facts(call: Call) -> str:
    """Model, tokens, seconds and dollars of one call; what is not known is said to be unknown."""
    facts: list[str] = []
    completion = call.completion
    if completion is not None:
        usage = completion.usage
        facts.append(one_line(completion.served_by or call.request.model, 80))
        facts.append(f"{_tokens(usage.input)} tokens in" + (f" ({usage.cached} cached)" if usage.cached else ""))
        facts.append(f"{_tokens(usage.output)} out" + (f" ({usage.reasoning} reasoning)" if usage.reasoning else ""))
        if completion.stop != "end":
            word = f' "{one_line(completion.stop_detail or "none", 40)}"' if completion.stop == "unknown" else ""
            facts.append(f"stopped by {completion.stop}{word}")
    else:
        facts.append(one_line(call.request.model, 80))
    if call.fate != "reused":
        facts.append(f"{call.latency:.2f} s" if call.latency < 3600 else duration(call.latency))
        facts.append("cost unknown" if call.cost is None else money(call.cost))
    else:
        facts.append(f"reused from {one_line(call.reused_from or '', 120)}")
    if call.error:
        facts.append(one_line(call.error, 300))
    return legible(" · ".join(facts))


def _tokens(number: int | None) -> str:
    return "unknown" if number is None else str(number) if number < _MANY else count(number)


_MANY: Final = 10_000_000
"""Tokens from which on only their magnitude is told."""


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
    unpriced = len(calls) - len(known)
    usages = [call.completion.usage for call in calls if call.completion]
    read, written = sum(usage.input or 0 for usage in usages), sum(usage.output or 0 for usage in usages)
    tokens = f"{_tokens(read)} tokens in, {_tokens(written)} out"
    return legible(f"{plural(len(calls), 'call')}, {tokens}, {money(sum(known), unpriced)}")
