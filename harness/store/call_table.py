"""Model calls as rows of a run's database.

Owns how a `Call` is written to the table `calls` and read back equal. Knows neither transactions nor who asks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from weigh.games.game import Json
from weigh.harness.errors import StoreRefused
from weigh.harness.store.calls import BROUGHT, SETTLED, Call, CallKey
from weigh.harness.store.texts import Texts, column, uncolumn
from weigh.harness.store.usage import characters_of
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage, canonical

_PLACE: Final = "episode, seat, step, attempt, number"
_ASKED: Final = "request, model, messages, settings, prompt_characters, started"
_OUTCOME: Final = (
    "fate, reply, reasoning, stop, stop_detail, served_by, input_tokens, cached_tokens, cache_written_tokens, "
    "output_tokens, reasoning_tokens, error, billing, cost, latency, reused_from, lag, "
    "stated_cost, tier"
)
_NEXT: Final = (
    "SELECT coalesce(max(number) + 1, 0) FROM calls WHERE episode = :episode AND seat = :seat AND step = :step "
    "AND attempt = :attempt"
)


def _named(columns: str) -> str:
    return ", ".join(f":{column}" for column in columns.split(", "))


# Statements of constants only, all with named parameters: `place`, `asked` and `outcome` give the values.
INSERT: Final = (
    f"INSERT INTO calls({_PLACE}, {_ASKED}, {_OUTCOME}) "  # noqa: S608
    f"VALUES ({_named(_PLACE)}, {_named(_ASKED)}, {_named(_OUTCOME)})"
)
BEGIN: Final = (
    f"INSERT INTO calls({_PLACE}, {_ASKED}, fate, error, billing, cost, latency) "  # noqa: S608
    f"VALUES (:episode, :seat, :step, :attempt, ({_NEXT}), {_named(_ASKED)}, 'lost', :error, 'unknown', :cost, 0.0) "
    "RETURNING number, id"
)
END: Final = (
    f"UPDATE calls SET ({_OUTCOME}) = ({_named(_OUTCOME)}) WHERE episode = :episode AND seat = :seat "  # noqa: S608
    "AND step = :step AND attempt = :attempt AND number = :number AND fate = 'lost'"
)

COLUMNS: Final = (
    "e.key, c.seat, c.step, c.attempt, c.number, c.model, c.messages, c.settings, c.fate, c.reply, c.reasoning, "
    "c.stop, c.stop_detail, c.served_by, c.input_tokens, c.cached_tokens, c.output_tokens, c.reasoning_tokens, "
    "c.cache_written_tokens, c.error, c.billing, c.cost, c.started, c.latency, c.reused_from, c.request, "
    "c.prompt_characters, c.lag, c.stated_cost, c.tier"
)

_SETTLED: Final = ", ".join(f"'{fate}'" for fate in SETTLED)
PAID: Final = (
    f"SELECT {COLUMNS} FROM episodes e JOIN calls c ON c.episode = e.id "  # noqa: S608
    "WHERE e.key = ? AND c.seat = ? AND c.step = ? AND c.attempt = ? AND c.request = ? "
    f"AND c.fate IN ({_SETTLED}) ORDER BY c.number DESC LIMIT 1"
)
NEXT_NUMBER: Final = (
    "SELECT coalesce(max(c.number) + 1, 0) FROM episodes e JOIN calls c ON c.episode = e.id "
    "WHERE e.key = ? AND c.seat = ? AND c.step = ? AND c.attempt = ?"
)

INSTRUCTIONS: Final = (
    "SELECT DISTINCT e.game, s.entrant, "
    "CASE WHEN json_valid(c.messages) THEN json_extract(c.messages, '$[0][1]') END, c.settings "
    "FROM calls c JOIN episodes e ON e.id = c.episode "
    "JOIN seats s ON s.episode = c.episode AND s.seat = c.seat"
)


class CallFacts(NamedTuple):
    """One call without its texts."""

    episode: str
    game: str | None
    seat: int
    entrant: str | None
    step: int
    attempt: int
    number: int
    model: str
    fate: str
    stop: str | None
    stop_detail: str | None
    served_by: str | None
    input_tokens: int | None
    cached_tokens: int | None
    cache_written_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    prompt_characters: int | None
    billing: str
    cost_usd: float | None
    started: str
    latency: float
    error: str | None
    reused_from: str | None
    request: str
    """The digest of the request, hex."""
    reply: int | None
    """Where its text lies: for `Store.text`."""
    reasoning: int | None


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call as it lies in the run, with what its row claims beside it."""

    call: Call
    digest: str
    """The digest of the request, as it was written when the call was made."""
    prompt_characters: int | None = None
    """The length of its prompt, likewise."""


def place(key: CallKey, episode: int) -> dict[str, object]:
    """Where a call belongs; `episode` is the number of its row."""
    return {"episode": episode, "seat": key.seat, "step": key.step, "attempt": key.attempt}


def asked(request: Request, started: str, texts: Texts) -> dict[str, object]:
    """What was asked. Adds the texts that are new, so it must be called inside a transaction."""
    settings = canonical({"sampling": request.sampling.to_json(), "schema": request.schema})
    messages = [[message.role, texts.put(message.text)] for message in request.messages]
    return {
        "request": bytes.fromhex(request.digest),
        "model": request.model,
        "messages": json.dumps(messages, separators=(",", ":")),
        "settings": texts.put(settings),
        "prompt_characters": characters_of(request),
        "started": started,
    }


def outcome(call: Call, texts: Texts) -> dict[str, object]:
    """What became of it. Adds the texts that are new, so it must be called inside a transaction."""
    completion, usage = call.completion, call.usage or Usage()
    return {
        "fate": call.fate,
        "reply": texts.put(completion.text) if completion else None,
        "reasoning": texts.put(completion.reasoning) if completion and completion.reasoning is not None else None,
        "stop": completion.stop if completion else None,
        "stop_detail": column(completion.stop_detail) if completion else None,
        "served_by": column(completion.served_by) if completion else None,
        "input_tokens": usage.input,
        "cached_tokens": usage.cached,
        "cache_written_tokens": usage.cache_written,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.reasoning,
        "error": column(call.error),
        "billing": call.billing,
        "cost": call.cost,
        "latency": call.latency,
        "reused_from": column(call.reused_from),
        "lag": call.lag,
        "stated_cost": usage.cost,
        "tier": column(usage.tier),
    }


def from_row(row: tuple[Any, ...], texts: Texts, path: Path, request: Request | None = None) -> Call:
    """The call that a row of `COLUMNS` stands for. `request`, where the caller has it, spares reading the prompt.

    Raises StoreRefused, naming the file at `path`, when a part of the call is damaged.
    """
    try:
        return Call(
            key=CallKey(row[0], row[1], row[2], row[3]),
            number=row[4],
            request=request or _request(row[5], row[6], row[7], texts),
            fate=row[8],
            completion=_completion(row, texts) if row[8] in BROUGHT else None,
            error=uncolumn(row[19]),
            billing=row[20],
            cost=row[21],
            started=row[22],
            latency=row[23],
            reused_from=uncolumn(row[24]),
            lag=row[27] or 0.0,
            told=None if row[8] in BROUGHT or row[14] is row[16] is None else _told(row),
        )
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise StoreRefused(f"{path} is damaged: a call of {row[0]} cannot be read: {error}", kind="damaged") from error


def stored(row: tuple[Any, ...], texts: Texts, path: Path) -> StoredCall:
    """The same, with the digest that stands in the row."""
    return StoredCall(from_row(row, texts, path), row[25].hex(), row[26])


def facts(db: sqlite3.Connection) -> Iterator[CallFacts]:
    """Every call without its texts, by episode in schedule order, seat, step, attempt and number."""
    query = (
        "SELECT e.key, e.game, c.seat, s.entrant, c.step, c.attempt, c.number, c.model, c.fate, c.stop, c.stop_detail, "
        "c.served_by, c.input_tokens, c.cached_tokens, c.cache_written_tokens, c.output_tokens, c.reasoning_tokens, "
        "c.prompt_characters, c.billing, c.cost, c.started, c.latency, c.error, c.reused_from, c.request, c.reply, "
        "c.reasoning "
        "FROM calls c JOIN episodes e ON e.id = c.episode "
        "LEFT JOIN seats s ON s.episode = c.episode AND s.seat = c.seat "
        "ORDER BY c.episode, c.seat, c.step, c.attempt, c.number"
    )
    for row in map(CallFacts._make, db.execute(query)):
        yield row._replace(
            stop_detail=uncolumn(row.stop_detail),
            served_by=uncolumn(row.served_by),
            error=uncolumn(row.error),
            reused_from=uncolumn(row.reused_from),
            request=bytes(row.request).hex(),  # type: ignore[arg-type]
        )


def _completion(row: tuple[Any, ...], texts: Texts) -> Completion:
    return Completion(
        text=texts.get(row[9]),
        stop=row[11],
        reasoning=None if row[10] is None else texts.get(row[10]),
        usage=_told(row),
        served_by=uncolumn(row[13]),
        stop_detail=uncolumn(row[12]),
    )


def _told(row: tuple[Any, ...]) -> Usage:
    return Usage(row[14], row[15], row[16], row[17], row[18], cost=row[28], tier=uncolumn(row[29]))


def _request(model: str, messages: str, settings: int, texts: Texts) -> Request:
    asked: Mapping[str, Any] = json.loads(texts.get(settings))
    schema: Mapping[str, Json] | None = asked["schema"]
    return Request(
        model=model,
        messages=tuple(Message(role, texts.get(place)) for role, place in json.loads(messages)),
        sampling=Sampling(**asked["sampling"]),
        schema=schema,
    )
