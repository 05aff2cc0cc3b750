"""What a run spent, and what became of its calls: sums over them, made by the database.

Owns which calls count for what. Knows neither prices nor how a call is kept.

Prompts that a server may have cut at the front without saying so.

Owns one estimate, from a request and the token count that came back. Knows no provider: some local servers drop the
beginning of a prompt that is too long, the rules first, answer with status 200, and only the count tells.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any, Final

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
class Spending:
    """Sums over calls. Tokens and cost are sums over the calls that are known; the unknown ones are counted beside.

    Every call that left has one fate: `calls` is the sum of `answered`, `timed_out`, `repeated`, `outages`, `fatal` and
    `lost`.
    """

    calls: int = 0
    """Every request that left for a provider."""
    answered: int = 0
    input: int | None = 0
    """Prompt tokens, cached ones included; None where no call told, here and below."""
    cached: int | None = 0
    output: int | None = 0
    """Generated tokens, reasoning included."""
    reasoning: int | None = 0
    unknown_usage: int = 0
    """Calls that may have been billed and whose tokens nobody told."""
    cost: float = 0.0
    """US dollars."""
    unknown_cost: int = 0
    """Calls whose cost is not known; above 0, `cost` is a lower bound."""
    waited: float = 0.0
    """Seconds of latency, summed over the answered calls."""
    cache_written: int | None = 0
    """Prompt tokens written to a cache."""
    attempts: int = 0
    """Attempts at decisions that a call was made for, or an earlier answer used."""
    reused: int = 0
    """Answers of an earlier run. Nothing left for them: they are no calls, and have no tokens and no cost here."""
    timed_out: int = 0
    repeated: int = 0
    """Calls that failed in passing and were made again."""
    outages: int = 0
    """Calls that failed past patience."""
    fatal: int = 0
    lost: int = 0
    """Calls that left and of which nothing was kept."""
    unbilled: int = 0
    """Calls that brought nothing and were not charged for."""
    unknown_billing: int = 0
    """Calls of which nobody can tell whether they were charged for."""
    truncated: int = 0
    """Answers that ended at the token cap; reused ones count, here and below."""
    refused: int = 0
    """Answers in which the model declined."""
    reasoning_only: int = 0
    """Answers that held reasoning and no text, and were neither cut nor a refusal."""
    cut_prompts: int = 0
    """Calls whose prompt the server seems to have cut: see `harness.store.usage`."""
    unknown_stop: int = 0
    """Answers that stopped for a reason that is not known: see `harness.providers.wire.finish_reasons`."""

    @property
    def tokens(self) -> int:
        """Prompt and generated tokens that were told of."""
        return (self.input or 0) + (self.output or 0)

    def __add__(self, other: Spending) -> Spending:
        if NOTHING in (self, other):
            return self if other == NOTHING else other  # its zeros are known, and make nothing else known
        return Spending(*map(_sum, astuple(self), astuple(other)))


NOTHING: Final = Spending()
"""What was spent before the first call."""

_LEFT: Final = "c.fate <> 'reused'"
_BLANK: Final = (
    "(SELECT typeof(t.body) = 'text' AND trim(t.body, char(9, 10, 11, 12, 13, 32)) = '' FROM texts t "
    "WHERE t.id = c.reply)"
)


def _tokens(column: str) -> str:
    return f"sum(CASE WHEN {_LEFT} THEN c.{column} ELSE 0 END)"


# In the order of the fields. `IS` compares to false, not to unknown, where a column is empty.
_SUMS: Final = {
    "calls": f"sum({_LEFT})",
    "answered": "sum(c.fate = 'answered')",
    "input": _tokens("input_tokens"),
    "cached": _tokens("cached_tokens"),
    "output": _tokens("output_tokens"),
    "reasoning": _tokens("reasoning_tokens"),
    "unknown_usage": "sum(c.billing <> 'none' AND (c.input_tokens IS NULL OR c.output_tokens IS NULL))",
    "cost": "coalesce(sum(c.cost), 0.0)",
    "unknown_cost": "sum(c.cost IS NULL)",
    "waited": "coalesce(sum(CASE WHEN c.fate = 'answered' THEN c.latency END), 0.0)",
    "cache_written": _tokens("cache_written_tokens"),
    "attempts": "sum(c.number = 0)",
    "reused": "sum(c.fate = 'reused')",
    "timed_out": "sum(c.fate = 'timed_out')",
    "repeated": "sum(c.fate = 'wait')",
    "outages": "sum(c.fate = 'outage')",
    "fatal": "sum(c.fate = 'fatal')",
    "lost": "sum(c.fate = 'lost')",
    "unbilled": f"sum({_LEFT} AND c.billing = 'none')",
    "unknown_billing": "sum(c.billing = 'unknown')",
    "truncated": "sum(c.stop IS 'length')",
    "refused": "sum(c.stop IS 'refusal')",
    "reasoning_only": (
        "sum(c.stop IS NOT NULL AND c.stop NOT IN ('length', 'refusal') "
        f"AND (c.reasoning IS NOT NULL OR coalesce(c.reasoning_tokens, 0) > 0) AND {_BLANK})"
    ),
    "cut_prompts": f"coalesce(sum({WAS_CUT_SQL}), 0)",
    "unknown_stop": "sum(c.stop IS 'unknown')",
}
SUMS: Final = ", ".join(_SUMS[name] for name in Spending.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Account:
    """What one entrant spent at one model in one game, in finished, void and unfinished episodes alike."""

    game: str | None
    entrant: str | None
    """None, as `game`, for an episode that nothing but its calls is known of."""
    model: str
    spending: Spending


def accounts(db: sqlite3.Connection) -> Iterator[Account]:
    """What was spent, by game, entrant and model."""
    query = (
        f"SELECT e.game, s.entrant, c.model, {SUMS} FROM calls c JOIN episodes e ON e.id = c.episode "  # noqa: S608
        "LEFT JOIN seats s ON s.episode = c.episode AND s.seat = c.seat GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    for row in db.execute(query):
        yield Account(row[0], row[1], row[2], Spending(*row[3:]))


def latencies(db: sqlite3.Connection) -> Iterator[tuple[str | None, str | None, str, float]]:
    """The seconds of every answered call, with its game, entrant and model."""
    query = (
        "SELECT e.game, s.entrant, c.model, c.latency FROM calls c JOIN episodes e ON e.id = c.episode "
        "LEFT JOIN seats s ON s.episode = c.episode AND s.seat = c.seat WHERE c.fate = 'answered'"
    )
    # Not `yield from`: it would close the cursor of whoever stops in the middle, which a closed store forbids.
    for row in db.execute(query):  # noqa: UP028
        yield row


def by_seat(db: sqlite3.Connection, episode: str) -> dict[int, Spending]:
    """What was spent for each seat of one episode that made calls."""
    query = (
        f"SELECT c.seat, {SUMS} FROM episodes e JOIN calls c ON c.episode = e.id "  # noqa: S608 - constants only
        "WHERE e.key = ? GROUP BY c.seat"
    )
    return {row[0]: Spending(*row[1:]) for row in db.execute(query, (episode,))}


def latencies_by_seat(db: sqlite3.Connection, episode: str) -> dict[int, list[float]]:
    """The seconds of every answered call of one episode, sorted, for each seat that has any."""
    query = (
        "SELECT c.seat, c.latency FROM episodes e JOIN calls c ON c.episode = e.id "
        "WHERE e.key = ? AND c.fate = 'answered' ORDER BY c.latency"
    )
    found: dict[int, list[float]] = {}
    for seat, latency in db.execute(query, (episode,)):
        found.setdefault(seat, []).append(latency)
    return found


def _sum(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return left if right is None else right
    return left + right
