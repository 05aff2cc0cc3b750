"""The tables of a run as plain rows, one at a time: seats, decisions, calls, voids and accounts.

Owns the columns: their names, their order, what they mean and what is missing in them. Frames and exports are made of
these rows. Knows no pandas, and works on a run of which only a part is finished.

The column names are a contract: other people's scripts read them. `docs/reference/output.md` describes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from pydantic import JsonValue

from weigh.harness.store.calls import Void
from weigh.harness.store.record import Decision, Record
from weigh.harness.store.store import CallFacts, Store
from weigh.harness.store.usage import COLUMNS, Usage, accounts_of, was_cut
from weigh.policies.contract import FAULTS, canonical

Kind: TypeAlias = Literal["text", "count", "whole", "number", "flag"]
"""`count` is a whole number that is never missing, `whole` one that may be; a missing `number` is NaN."""

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = tuple[Cell, ...]
Columns: TypeAlias = Mapping[str, Kind]

SEATS: Final[Columns] = {
    "run": "text",
    "game": "text",
    "block": "text",
    "episode": "text",
    "seat": "count",
    "entrant": "text",
    "policy": "text",
    "model": "text",
    "score": "number",
    "decisions": "count",
    "by_model": "count",
    "by_retry": "count",
    "by_fallback": "count",
    "by_scripted": "count",
    "by_human": "count",
    "faults": "count",
    **{f"fault_{fault}": "count" for fault in FAULTS},
    "refusal_streak": "count",
    "collusion_index": "number",
    "points": "number",
    "reason": "text",
    "ending": "text",
    "seconds": "number",
    **COLUMNS,
}
"""One row for each seat of each finished episode."""

DECISIONS: Final[Columns] = {
    "run": "text",
    "game": "text",
    "block": "text",
    "episode": "text",
    "step": "count",
    "seat": "count",
    "entrant": "text",
    "model": "text",
    "move": "text",
    "by": "text",
    "faults": "count",
    "first_fault": "text",
    "first_detail": "text",
    "second_fault": "text",
    "second_detail": "text",
    "notes": "text",
}
"""One row for each decision of each finished episode. `move` is JSON text."""

CALLS: Final[Columns] = {
    "run": "text",
    "episode": "text",
    "game": "text",
    "seat": "count",
    "entrant": "text",
    "step": "count",
    "attempt": "count",
    "number": "count",
    "model": "text",
    "fate": "text",
    "stop": "text",
    "stop_detail": "text",
    "served_by": "text",
    "input_tokens": "whole",
    "cached_tokens": "whole",
    "cache_written_tokens": "whole",
    "output_tokens": "whole",
    "reasoning_tokens": "whole",
    "prompt_characters": "whole",
    "prompt_cut": "flag",
    "billing": "text",
    "cost_usd": "number",
    "started": "text",
    "latency": "number",
    "error": "text",
    "reused_from": "text",
    "request": "text",
}
"""One row for each call, of finished, void and unfinished episodes alike. Lost and reused ones have no latency."""

TEXTS: Final[Columns] = {"reply": "text", "reasoning": "text"}
"""What `calls` rows end with when their texts are asked for."""

VOIDS: Final[Columns] = {
    "run": "text",
    "game": "text",
    "block": "text",
    "episode": "text",
    "occurrence": "count",
    "seat": "count",
    "entrant": "text",
    "step": "count",
    "failed": "flag",
    "cause": "text",
    "finished": "flag",
}
"""One row for each seat of an episode that an outage ended, each time it did: `occurrence` counts from 0.

`failed` marks the seats whose provider failed. `finished` says that the episode was played again and has a record.
"""

ACCOUNTS: Final[Columns] = {"run": "text", "game": "text", "entrant": "text", "model": "text", **COLUMNS}
"""One row for each entrant and model in each game: all their calls, of finished, void and unfinished episodes alike."""


class SeatEpisode(NamedTuple):
    """What is counted of one seat of one episode."""

    decisions: int
    by: Counter[str]
    faults: Counter[str]
    refusal_streak: int
    """The most attempts in a row that the model refused."""


def seat_rows(store: Store) -> Iterator[Row]:
    """The rows of `SEATS`, by episode in schedule order, then by seat. Calls of earlier void attempts count too."""
    run = store.manifest.run_id
    for record in store.records():
        asked = any(record.models)
        used = store.usage(record.key) if asked else {}
        for seat in range(len(record.entrants)):
            yield _seat_row(run, record, seat, used.get(seat, Usage()))


def decision_rows(store: Store) -> Iterator[Row]:
    """The rows of `DECISIONS`, by episode in schedule order, step and seat."""
    for record in store.records():
        for decision in record.decisions:
            first, second = _attempt(decision, 0), _attempt(decision, 1)
            yield (
                store.manifest.run_id,
                record.game,
                record.block,
                record.key,
                decision.step,
                decision.seat,
                record.entrants[decision.seat],
                record.models[decision.seat],
                canonical(record.moves[decision.step][decision.seat]),
                decision.by,
                len(decision.faults),
                *first,
                *second,
                decision.notes,
            )


def call_rows(store: Store, texts: bool = False) -> Iterator[Row]:
    """The rows of `CALLS`, with `TEXTS` behind them if asked for."""
    run = store.manifest.run_id
    for facts in store.call_facts():
        row = _call_row(run, facts)
        if texts:
            row += tuple(None if place is None else store.text(place) for place in (facts.reply, facts.reasoning))
        yield row


def _call_row(run: str, call: CallFacts) -> Row:
    return (
        run,
        call.episode,
        call.game,
        call.seat,
        call.entrant,
        call.step,
        call.attempt,
        call.number,
        call.model,
        call.fate,
        call.stop,
        call.stop_detail,
        call.served_by,
        call.input_tokens,
        call.cached_tokens,
        call.cache_written_tokens,
        call.output_tokens,
        call.reasoning_tokens,
        call.prompt_characters,
        was_cut(call.prompt_characters, call.input_tokens),
        call.billing,
        call.cost_usd,
        call.started,
        None if call.fate in ("lost", "reused") else call.latency,
        call.error,
        call.reused_from,
        call.request,
    )


def account_rows(store: Store) -> Iterator[Row]:
    """The rows of `ACCOUNTS`, by game, entrant and model."""
    for account in accounts_of([store]).rows:
        place = (store.manifest.run_id, account.game, account.entrant, account.model)
        yield (*place, *account.usage.row())


def void_rows(store: Store) -> Iterator[Row]:
    """The rows of `VOIDS`, in the order in which the outages happened."""
    finished = frozenset(store.finished())
    seen: Counter[str] = Counter()
    for void in store.voids():
        yield from _void_rows(store.manifest.run_id, void, seen[void.episode], void.episode in finished)
        seen[void.episode] += 1


def _void_rows(run: str, void: Void, occurrence: int, finished: bool) -> Iterator[Row]:
    for seat, entrant in enumerate(void.entrants):
        failed = seat in void.seats
        place = (run, void.game, void.block, void.episode, occurrence, seat, entrant)
        yield (*place, void.step, failed, void.cause if failed else None, finished)


def _seat_row(run: str, record: Record, seat: int, used: Usage) -> Row:
    counted = _count(record.decisions, seat)
    return (
        run,
        record.game,
        record.block,
        record.key,
        seat,
        record.entrants[seat],
        record.policies[seat],
        record.models[seat],
        record.scores[seat],
        counted.decisions,
        *(counted.by[by] for by in ("model", "retry", "fallback", "scripted", "human")),
        counted.faults.total(),
        *(counted.faults[fault] for fault in FAULTS),
        counted.refusal_streak,
        _measure(record.measures, "collusion_index", seat),
        _measure(record.measures, "points", seat),
        record.reason,
        record.ending,
        record.times.seconds if record.times else None,
        *used.row(),
    )


def _count(decisions: Iterable[Decision], seat: int) -> SeatEpisode:
    mine = [decision for decision in decisions if decision.seat == seat]
    by = Counter(str(decision.by) for decision in mine)
    attempts = [fault for decision in mine for fault in _attempts(decision)]
    streaks = (len(list(run)) for refused, run in groupby(attempts, key=lambda fault: fault == "refused") if refused)
    faults = Counter(fault for fault in attempts if fault is not None)
    return SeatEpisode(len(mine), by, faults, max(streaks, default=0))


def _attempts(decision: Decision) -> list[str | None]:
    """The attempts at a decision in order: each one's fault, None for the one that gave the move."""
    faults: list[str | None] = [note.fault for note in decision.faults]
    return faults if decision.by == "fallback" else [*faults, None]


def _measure(measures: Mapping[str, JsonValue], name: str, seat: int) -> float | None:
    """A seat's part of a measure; None where the game has no such measure or says null: not applicable, not zero."""
    value = measures.get(name)
    mine = value[seat] if isinstance(value, list) and seat < len(value) else None
    return float(mine) if isinstance(mine, int | float) and not isinstance(mine, bool) else None


def _attempt(decision: Decision, number: int) -> tuple[str | None, str | None]:
    if number >= len(decision.faults):
        return None, None
    note = decision.faults[number]
    return note.fault, note.detail
