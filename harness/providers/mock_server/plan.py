"""The fault plan: ordered rules, each a condition on requests and an action.

Owns the conditions and what they mean. Keeps no count and reads no file: `script` applies a plan, `plan_file` reads
one. The first rule whose conditions all hold decides; a request that no rule takes gets the ordinary answer.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from weigh.harness.providers.mock_server.actions import AnyAction
from weigh.harness.providers.mock_server.durations import parse_span
from weigh.harness.providers.mock_server.exchange import Asked, Wire

_RANGE = re.compile(r"\s*(\d+)\s*(?:(-)\s*(\d+)?)?\s*", re.ASCII)

Span = Annotated[tuple[float, float | None], BeforeValidator(parse_span)]
"""Seconds from, and to (not included; None for no end): `0-20s`, `20s-`."""


def _parse_counts(value: object) -> object:
    """Ranges of counts from `5`, `"1-3"`, `"4-"`, or a list of such."""
    if isinstance(value, (list, tuple)):
        return tuple(_one_range(item) for item in value)
    return (_one_range(value),)


def _one_range(value: object) -> tuple[int, int | None]:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        first, last = value
    elif isinstance(value, str) and (match := _RANGE.fullmatch(value)):
        first, last = int(match[1]), int(match[3]) if match[3] else None if match[2] else int(match[1])
    else:
        first = last = value
    if not _is_count(first) or not (last is None or (_is_count(last) and last >= first)):
        raise ValueError(f"{value!r} is not a count from 1: write e.g. 5, '1-3' or '4-'")
    return first, last


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


Counts = Annotated[tuple[tuple[int, int | None], ...], BeforeValidator(_parse_counts)]

Per: TypeAlias = Literal["all", "model", "request"]


class Rule(BaseModel):
    """An action, and the conditions on a request under which it is taken. Conditions left out always hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: AnyAction
    name: str = ""
    """By which the statistics count it; absent: `rule 1` and so on, by its place."""

    model: str = "*"
    """A pattern for the model's name: `mock-*`."""
    wire: Wire | None = None
    tag: str = "*"
    """A pattern for the tag in the address the request was sent to; untagged requests have the empty one."""
    contains: str | None = None
    """Text that stands somewhere in the conversation."""
    has: str | None = None
    """A body field that is present and not null, by path: `max_tokens`, `reasoning.effort`."""
    longer_than: int | None = Field(default=None, ge=0)
    """The prompt has more tokens than this."""
    turns: Literal["repeated", "empty"] | None = None
    """Two turns in a row have one role (a system turn aside), or some turn has no text."""
    elapsed: Span | None = None
    """Seconds since the server started or was reset."""

    nth: Counts | None = None
    """Which of the requests that meet all the conditions above, counted from 1: `5`, `"1-3"`, `"4-"`, `[1, "6-8"]`.
    Also those count that an earlier rule took."""
    every: int | None = Field(default=None, ge=1)
    """Every k-th of them: the k-th, the 2k-th, ..."""
    per: Per = "all"
    """What `nth` and `every` count: all together, each model on its own, or each identical request on its own (then
    `nth=1` fails the first try of every request and lets its retry pass)."""
    share: float | None = Field(default=None, ge=0, le=1)
    """This share of them, by a hash of the server's seed, the request and how often it was seen: a request that failed
    may pass when sent again."""

    def concerns(self, asked: Asked, tag: str, elapsed: float) -> bool:
        """Whether the conditions hold that need no counting."""
        return (
            (self.model == "*" or fnmatchcase(asked.model, self.model))
            and self.wire in (None, asked.wire)
            and (self.tag == "*" or fnmatchcase(tag, self.tag))
            and (self.elapsed is None or _within(self.elapsed, elapsed))
            and (self.has is None or _present(asked, self.has))
            and (self.contains is None or self.contains in asked.text)
            and (self.longer_than is None or asked.input_tokens > self.longer_than)
            and (self.turns is None or (_repeats(asked) if self.turns == "repeated" else _has_empty(asked)))
        )

    def counted(self, count: int) -> bool:
        """Whether the request that makes the count `count` is one of those meant by `nth` and `every`."""
        return (
            self.nth is None or any(first <= count and (last is None or count <= last) for first, last in self.nth)
        ) and (self.every is None or count % self.every == 0)


class Plan(BaseModel):
    """Rules in the order in which they are asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[Rule, ...] = ()

    def name(self, index: int) -> str:
        """What the rule at `index` is called in statistics and logs."""
        return self.rules[index].name or f"rule {index + 1}"


def _within(span: tuple[float, float | None], elapsed: float) -> bool:
    return span[0] <= elapsed and (span[1] is None or elapsed < span[1])


def _present(asked: Asked, path: str) -> bool:
    found: object = asked.body
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found is not None


def _repeats(asked: Asked) -> bool:
    roles = [turn.role for turn in asked.turns if turn.role not in ("system", "developer")]
    return any(first == second for first, second in pairwise(roles))


def _has_empty(asked: Asked) -> bool:
    return any(not turn.text.strip() for turn in asked.turns)
