"""What calls took and what became of them, as one value that adds.

Owns the counts, their names (the keys of JSON and the columns of tables), the SQL that sums them over calls, and the
same sums of calls in memory. Knows neither prices nor how a call is kept. Every call counts, of finished, void and
unfinished episodes alike. None means: not known, or not applicable; never 0.

Also owns one estimate: whether a server dropped the beginning of a prompt that was too long, as some local ones do, the
rules first, with status 200. Only the token count tells.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from weigh.games.game import Json
from weigh.harness.store.calls import Call
from weigh.policies.contract import Request

DENSEST = 6.5
"""Characters per token that no tokenizer in use exceeds on prompts of rules, numbers and English sentences (usually
3-5); above it, part of the text was not read."""

TOO_SHORT_TO_TELL = 2_000
"""Characters; below, a few long words decide the ratio."""


def characters_of(request: Request) -> int:
    """The length of a prompt: all its texts, in characters."""
    return sum(len(message.text) for message in request.messages)


def was_cut(characters: int | None, input_tokens: int | None) -> bool:
    """Whether the model can hardly have read the whole prompt: far fewer input tokens were counted than it must have.

    A suspicion, to be shown beside the results; False where either number is not known or 0.
    """
    if characters is None or not input_tokens or characters < TOO_SHORT_TO_TELL:
        return False  # no token at all: the prompt was turned down, and nothing was done in silence
    return characters > input_tokens * DENSEST


WAS_CUT_SQL = (
    f"(c.prompt_characters >= {TOO_SHORT_TO_TELL} AND c.input_tokens > 0 "
    f"AND c.prompt_characters > c.input_tokens * {DENSEST})"
)
"""`was_cut` of a row `c` of the table `calls`: 1, or 0 or NULL for no."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from sending to the answer, queues left out, over the calls that were answered. Each percentile is the
    latency of one of them: the smallest that so large a share of them does not exceed. All None without any."""

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    max: float | None = None


def latency_of(seconds: Iterable[float]) -> Latency:
    """Of latencies in any order."""
    known = sorted(seconds)
    if not known:
        return Latency()
    return Latency(sum(known) / len(known), _percentile(known, 50), _percentile(known, 95), known[-1])


def _percentile(values: Sequence[float], percent: int) -> float:
    """Nearest rank, of sorted values: in whole numbers, so that no rounding picks the neighbour."""
    return values[-(-percent * len(values) // 100) - 1]


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over calls. `Usage()` is that of no call; `+` adds. Tokens and cost are of the calls that told; those that
    did not are counted beside them."""

    attempts: int = 0
    """Attempts at decisions that a call was made for, or an answer of an earlier run used."""
    answered: int = 0
    timed_out_calls: int = 0
    """The decision's time ran out."""
    repeated_calls: int = 0
    """Failed in passing and were made again."""
    outage_calls: int = 0
    """Failed past patience."""
    fatal_calls: int = 0
    """Refused for a reason that no further call can change."""
    lost_calls: int = 0
    """Left, and nothing of them was kept: the process died first, or they are still out."""
    reused_calls: int = 0
    """Answers of an earlier run. Nothing left for them: they are not among the calls, and have no tokens and no cost
    here."""
    unbilled_calls: int = 0
    """Brought nothing and were not charged for."""
    unknown_billing_calls: int = 0
    """Of which nobody can tell whether they were charged for."""
    truncated_calls: int = 0
    """Answers cut at the token cap; reused answers count, here and in what follows."""
    refused_calls: int = 0
    """Answers in which the model declined."""
    reasoning_only_calls: int = 0
    """Answers with reasoning and no text, neither cut nor refused."""
    cut_prompt_calls: int = 0
    """Calls whose prompt the server seems to have cut at the front: see `was_cut`."""
    unknown_stop_calls: int = 0
    """Answers that stopped for a reason that is not known: such an answer counts only if it ends the text."""
    input_tokens: int | None = 0
    """All prompt tokens, cached and cache-written ones included; None where calls were made and none told, here and
    below."""
    cached_tokens: int | None = 0
    cache_written_tokens: int | None = 0
    output_tokens: int | None = 0
    """All generated tokens, reasoning included."""
    reasoning_tokens: int | None = 0
    unknown_usage_calls: int = 0
    """Calls that may have been billed and whose tokens nobody told: the tokens above are lower bounds when there are
    any."""
    cost_known_usd: float = 0.0
    """Over the calls whose cost is known: a lower bound."""
    unknown_cost_calls: int = 0
    served: frozenset[str] = frozenset()
    """The models that the provider says it answered with; reused answers count."""
    seconds: tuple[float, ...] = ()
    """The latencies of the answered calls, sorted, where somebody asks for their percentiles."""

    @classmethod
    def of(cls, call: Call) -> Usage:
        """That of one call."""
        left, answer = call.fate != "reused", call.completion
        told = call.usage
        counts: dict[str, Any] = {OUTCOMES[call.fate]: 1}
        if left:
            counts |= {name: None if told is None else getattr(told, field) for name, field in TOKENS.items()}
        if answer is not None:
            hidden = answer.reasoning is not None or bool(answer.usage.reasoning)
            empty = answer.stop not in ("length", "refusal") and not answer.text.strip(BLANK)
            counts |= {
                "truncated_calls": int(answer.stop == "length"),
                "refused_calls": int(answer.stop == "refusal"),
                "reasoning_only_calls": int(hidden and empty),
                "cut_prompt_calls": int(was_cut(characters_of(call.request), answer.usage.input)),
                "unknown_stop_calls": int(answer.stop == "unknown"),
            }
        return cls(
            **counts,
            attempts=int(call.number == 0),
            unbilled_calls=int(left and call.billing == "none"),
            unknown_billing_calls=int(call.billing == "unknown"),
            unknown_usage_calls=int(call.billing != "none" and (told is None or None in (told.input, told.output))),
            cost_known_usd=call.cost or 0.0,
            unknown_cost_calls=int(call.cost is None),
            served=frozenset({answer.served_by} if answer is not None and answer.served_by else ()),
            seconds=(call.latency,) if call.fate == "answered" else (),
        )

    @property
    def calls(self) -> int:
        """Requests that left, HTTP retries included: what the provider was asked. Every one has one outcome."""
        return sum(getattr(self, name) for fate, name in OUTCOMES.items() if fate != "reused")

    @property
    def brought(self) -> int:
        """Answers, reused ones included."""
        return self.answered + self.reused_calls

    @property
    def truncation_rate(self) -> float | None:
        return self.truncated_calls / self.brought if self.brought else None

    @property
    def reasoning_only_rate(self) -> float | None:
        return self.reasoning_only_calls / self.brought if self.brought else None

    @property
    def tokens(self) -> int:
        """Prompt and generated tokens that were told of."""
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    @property
    def cost_usd(self) -> float | None:
        """None when the cost of any call is unknown."""
        return None if self.unknown_cost_calls else self.cost_known_usd

    @property
    def latency(self) -> Latency:
        return latency_of(self.seconds)

    def __add__(self, other: Usage) -> Usage:
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        sums |= {name: _told(self, other, name) for name in TOKENS}
        served, seconds = self.served | other.served, tuple(sorted(self.seconds + other.seconds))
        return Usage(**sums, served=served, seconds=seconds)

    def traffic(self) -> dict[str, Json]:
        """What became of the calls, as JSON."""
        return {**{name: getattr(self, name) for name in TRAFFIC}, "latency": asdict(self.latency)}

    def bill(self) -> dict[str, Json]:
        """Tokens and money, as JSON."""
        return {name: getattr(self, name) for name in BILL}

    def row(self) -> tuple[int | float | None, ...]:
        """The cells of COLUMNS."""
        latency = {f"latency_{name}": value for name, value in asdict(self.latency).items()}
        return tuple(latency[name] if name in latency else getattr(self, name) for name in COLUMNS)


OUTCOMES: Final[Mapping[str, str]] = {
    "answered": "answered",
    "timed_out": "timed_out_calls",
    "wait": "repeated_calls",
    "outage": "outage_calls",
    "fatal": "fatal_calls",
    "lost": "lost_calls",
    "reused": "reused_calls",
}
"""The count of each fate."""

TOKENS: Final[Mapping[str, str]] = {
    "input_tokens": "input",
    "cached_tokens": "cached",
    "cache_written_tokens": "cache_written",
    "output_tokens": "output",
    "reasoning_tokens": "reasoning",
}
"""The tokens of `Usage`, and their names in one call's usage."""

_ADDED: Final = tuple(field.name for field in fields(Usage) if field.name not in (*TOKENS, "served", "seconds"))

TRAFFIC: Final = (
    *("attempts", "calls", "answered", "timed_out_calls", "repeated_calls", "outage_calls", "fatal_calls"),
    *("lost_calls", "reused_calls", "unbilled_calls", "unknown_billing_calls", "truncated_calls", "truncation_rate"),
    *("refused_calls", "reasoning_only_calls", "reasoning_only_rate", "cut_prompt_calls", "unknown_stop_calls"),
)
BILL: Final = (*TOKENS, "unknown_usage_calls", "cost_usd", "cost_known_usd", "unknown_cost_calls")

Kind: TypeAlias = Literal["count", "whole", "number"]
"""`count` is a whole number that is never missing, `whole` one that may be; a missing `number` is none."""

COLUMNS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys((name for name in TRAFFIC if not name.endswith("_rate")), "count"),
    **dict.fromkeys((f"latency_{field.name}" for field in fields(Latency)), "number"),
    **{name: "whole" if name in TOKENS else "number" if "_usd" in name else "count" for name in BILL},
}
"""The columns of a usage in a table, in their order."""

BLANK: Final = "\t\n\v\f\r "


def _told(left: Usage, right: Usage, name: str) -> int | None:
    """The sum of what was told. The zero of a side without calls is known, and makes nothing of the other known."""
    one, other = getattr(left, name), getattr(right, name)
    if one is None or other is None:
        known, value = (right, other) if one is None else (left, one)
        return value if known.calls else None
    return int(one + other)


_LEFT: Final = "c.fate <> 'reused'"
_BLANK: Final = (
    "(SELECT typeof(t.body) = 'text' AND trim(t.body, char(9, 10, 11, 12, 13, 32)) = '' FROM texts t "
    "WHERE t.id = c.reply)"
)

# `IS` compares to false, not to unknown, where a column is empty.
_SQL: Final = {
    "attempts": "sum(c.number = 0)",
    **{name: f"sum(c.fate = '{fate}')" for fate, name in OUTCOMES.items()},
    **{name: f"CASE WHEN max({_LEFT}) THEN sum(CASE WHEN {_LEFT} THEN c.{name} END) ELSE 0 END" for name in TOKENS},
    "unknown_usage_calls": "sum(c.billing <> 'none' AND (c.input_tokens IS NULL OR c.output_tokens IS NULL))",
    "cost_known_usd": "coalesce(sum(c.cost), 0.0)",
    "unknown_cost_calls": "sum(c.cost IS NULL)",
    "unbilled_calls": f"sum({_LEFT} AND c.billing = 'none')",
    "unknown_billing_calls": "sum(c.billing = 'unknown')",
    "truncated_calls": "sum(c.stop IS 'length')",
    "refused_calls": "sum(c.stop IS 'refusal')",
    "reasoning_only_calls": (
        "sum(c.stop IS NOT NULL AND c.stop NOT IN ('length', 'refusal') "
        f"AND (c.reasoning IS NOT NULL OR coalesce(c.reasoning_tokens, 0) > 0) AND {_BLANK})"
    ),
    "cut_prompt_calls": f"coalesce(sum({WAS_CUT_SQL}), 0)",
    "unknown_stop_calls": "sum(c.stop IS 'unknown')",
    "served": "json_group_array(DISTINCT c.served_by) FILTER (WHERE typeof(c.served_by) = 'text')",
}
_SUMS: Final = ", ".join(_SQL.values())


def _usage(sums: Sequence[Any], seconds: Iterable[float] = ()) -> Usage:
    found = dict(zip(_SQL, sums, strict=True))
    return Usage(**{**found, "served": frozenset(json.loads(found["served"]))}, seconds=tuple(sorted(seconds)))


@dataclass(frozen=True, slots=True)
class Account:
    """The calls of one entrant to one model in one game, or of more than one where a name is None."""

    game: str | None
    entrant: str | None
    """None, as `game`, for an episode that nothing but its calls is known of."""
    model: str | None
    usage: Usage

    def to_json(self) -> dict[str, Json]:
        names: dict[str, Json] = {"game": self.game, "entrant": self.entrant, "model": self.model}
        return {**names, "traffic": self.usage.traffic(), "bill": self.usage.bill()}


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of one or several runs, and their sums."""

    rows: tuple[Account, ...] = ()
    """By game, entrant and model."""
    entrants: tuple[Account, ...] = ()
    """By game and entrant, whatever the model."""
    models: tuple[Account, ...] = ()
    """By model."""

    def of(self, game: str, entrant: str) -> Account | None:
        """All calls of one entrant in one game; None when it made none."""
        return next((account for account in self.entrants if (account.game, account.entrant) == (game, entrant)), None)


class Keeps(Protocol):
    """What accounts are taken from: a run's store."""

    def accounts(self) -> Iterable[Account]: ...


def accounts_of(stores: Iterable[Keeps]) -> Accounts:
    """The accounts of runs, which may be going on."""
    rows = [account for store in stores for account in store.accounts()]
    return Accounts(
        rows=_summed(rows, ("game", "entrant", "model")),
        entrants=_summed(rows, ("game", "entrant")),
        models=_summed(rows, ("model",)),
    )


def _summed(rows: Iterable[Account], kept: Sequence[str]) -> tuple[Account, ...]:
    """One account for each combination of the names in `kept`, the others summed over."""
    sums: dict[tuple[str | None, str | None, str | None], Usage] = {}
    for row in rows:
        game, entrant, model = (getattr(row, name) if name in kept else None for name in ("game", "entrant", "model"))
        sums[game, entrant, model] = sums.get((game, entrant, model), Usage()) + row.usage
    return tuple(
        Account(*place, sums[place]) for place in sorted(sums, key=lambda names: [name or "" for name in names])
    )


def accounts(db: sqlite3.Connection) -> Iterator[Account]:
    """What was spent, by game, entrant and model."""
    calls = (
        "FROM calls c JOIN episodes e ON e.id = c.episode "
        "LEFT JOIN seats s ON s.episode = c.episode AND s.seat = c.seat"
    )
    seconds: dict[tuple[Any, ...], array[float]] = {}
    answered = f"SELECT e.game, s.entrant, c.model, c.latency {calls} WHERE c.fate = 'answered'"
    for *place, latency in db.execute(answered):
        seconds.setdefault(tuple(place), array("d")).append(latency)
    query = f"SELECT e.game, s.entrant, c.model, {_SUMS} {calls} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    for row in db.execute(query):
        yield Account(row[0], row[1], row[2], _usage(row[3:], seconds.get(row[:3], ())))


UNTOLD: Final = (
    "(c.fate <> 'reused' AND c.billing <> 'none' "
    "AND (c.input_tokens IS NULL OR c.output_tokens IS NULL OR c.cost IS NULL))"
)
"""A row `c` of the table `calls` that may have been charged for, and whose tokens or cost nobody told."""


class Told(NamedTuple):
    """What the calls to one model took that told all of it."""

    model: str
    tokens: int
    usd: float
    most_tokens: int
    """Of the call that took most of them."""
    most_usd: float


def told(db: sqlite3.Connection) -> Iterator[Told]:
    """What was told, by model. The models whose calls brought nothing are left out."""
    tokens = "coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0)"
    query = (
        f"SELECT c.model, sum({tokens}), sum(c.cost), max({tokens}), max(c.cost) FROM calls c "  # noqa: S608
        f"WHERE c.fate = 'answered' AND NOT {UNTOLD} GROUP BY c.model ORDER BY c.model"
    )
    yield from map(Told._make, db.execute(query))


def by_seat(db: sqlite3.Connection, episode: str) -> dict[int, Usage]:
    """What was spent for each seat of one episode that made calls."""
    calls = "FROM episodes e JOIN calls c ON c.episode = e.id WHERE e.key = ?"
    seconds: dict[int, list[float]] = {}
    for seat, latency in db.execute(f"SELECT c.seat, c.latency {calls} AND c.fate = 'answered'", (episode,)):
        seconds.setdefault(seat, []).append(latency)
    query = f"SELECT c.seat, {_SUMS} {calls} GROUP BY c.seat"
    return {row[0]: _usage(row[1:], seconds.get(row[0], ())) for row in db.execute(query, (episode,))}
