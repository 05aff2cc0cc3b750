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

from games.game import Json
from harness.calls import Call, CallKey
from harness.store_schema import StoreRefused
from harness.store_texts import Texts, column, uncolumn
from policies.contract import Completion, Message, Request, Sampling, Usage, canonical

INSERT: Final = (
    "INSERT INTO calls(episode, seat, step, attempt, number, request, model, messages, settings, fate, reply, "
    "reasoning, stop, stop_detail, served_by, input_tokens, cached_tokens, output_tokens, reasoning_tokens, error, "
    "billing, cost, started, latency) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)

COLUMNS: Final = (
    "e.key, c.seat, c.step, c.attempt, c.number, c.model, c.messages, c.settings, c.fate, c.reply, c.reasoning, "
    "c.stop, c.stop_detail, c.served_by, c.input_tokens, c.cached_tokens, c.output_tokens, c.reasoning_tokens, "
    "c.error, c.billing, c.cost, c.started, c.latency, c.request"
)

PAID: Final = (
    f"SELECT {COLUMNS} FROM episodes e JOIN calls c ON c.episode = e.id "  # noqa: S608 - constants only
    "WHERE e.key = ? AND c.seat = ? AND c.step = ? AND c.attempt = ? AND c.request = ? "
    "AND c.fate IN ('answered', 'timed_out') ORDER BY c.number DESC LIMIT 1"
)
NEXT_NUMBER: Final = (
    "SELECT coalesce(max(c.number) + 1, 0) FROM episodes e JOIN calls c ON c.episode = e.id "
    "WHERE e.key = ? AND c.seat = ? AND c.step = ? AND c.attempt = ?"
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
    output_tokens: int | None
    reasoning_tokens: int | None
    billing: str
    cost_usd: float | None
    started: str
    latency: float
    error: str | None
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


def to_row(call: Call, episode: int, texts: Texts) -> tuple[object, ...]:
    """The values of `INSERT`. Adds the texts that are new, so it must be called inside a transaction."""
    request, completion = call.request, call.completion
    usage = completion.usage if completion else Usage()
    settings = canonical({"sampling": request.sampling.to_json(), "schema": request.schema})
    return (
        episode,
        call.key.seat,
        call.key.step,
        call.key.attempt,
        call.number,
        bytes.fromhex(request.digest),
        request.model,
        json.dumps([[message.role, texts.put(message.text)] for message in request.messages], separators=(",", ":")),
        texts.put(settings),
        call.fate,
        texts.put(completion.text) if completion else None,
        texts.put(completion.reasoning) if completion and completion.reasoning is not None else None,
        completion.stop if completion else None,
        column(completion.stop_detail) if completion else None,
        column(completion.served_by) if completion else None,
        usage.input,
        usage.cached,
        usage.output,
        usage.reasoning,
        column(call.error),
        call.billing,
        call.cost,
        call.started,
        call.latency,
    )


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
            completion=_completion(row, texts) if row[8] == "answered" else None,
            error=uncolumn(row[18]),
            billing=row[19],
            cost=row[20],
            started=row[21],
            latency=row[22],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreRefused(f"{path} is damaged: a call of {row[0]} cannot be read: {error}") from error


def stored(row: tuple[Any, ...], texts: Texts, path: Path) -> StoredCall:
    """The same, with the digest that stands in the row."""
    return StoredCall(from_row(row, texts, path), row[23].hex())


def facts(db: sqlite3.Connection) -> Iterator[CallFacts]:
    """Every call without its texts, by episode in schedule order, seat, step, attempt and number."""
    query = (
        "SELECT e.key, e.game, c.seat, s.entrant, c.step, c.attempt, c.number, c.model, c.fate, c.stop, c.stop_detail, "
        "c.served_by, c.input_tokens, c.cached_tokens, c.output_tokens, c.reasoning_tokens, c.billing, c.cost, "
        "c.started, c.latency, c.error, c.request, c.reply, c.reasoning "
        "FROM calls c JOIN episodes e ON e.id = c.episode "
        "LEFT JOIN seats s ON s.episode = c.episode AND s.seat = c.seat "
        "ORDER BY c.episode, c.seat, c.step, c.attempt, c.number"
    )
    for row in map(CallFacts._make, db.execute(query)):
        yield row._replace(
            stop_detail=uncolumn(row.stop_detail),
            served_by=uncolumn(row.served_by),
            error=uncolumn(row.error),
            request=bytes(row.request).hex(),  # type: ignore[arg-type]
        )


def _completion(row: tuple[Any, ...], texts: Texts) -> Completion:
    return Completion(
        text=texts.get(row[9]),
        stop=row[11],
        reasoning=None if row[10] is None else texts.get(row[10]),
        usage=Usage(row[14], row[15], row[16], row[17]),
        served_by=uncolumn(row[13]),
        stop_detail=uncolumn(row[12]),
    )


def _request(model: str, messages: str, settings: int, texts: Texts) -> Request:
    asked: Mapping[str, Any] = json.loads(texts.get(settings))
    schema: Mapping[str, Json] | None = asked["schema"]
    return Request(
        model=model,
        messages=tuple(Message(role, texts.get(place)) for role, place in json.loads(messages)),
        sampling=Sampling(**asked["sampling"]),
        schema=schema,
    )
