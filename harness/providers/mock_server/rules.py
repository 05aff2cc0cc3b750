"""The fault plan as a value: rules in order, each with conditions on a request and what is done to it.

    [[rules]]
    name = "busy at first"
    nth = "1-3"
    do = "respond"
    status = 429
    retry_after = "2s"

A plan is a TOML or JSON file with a table per rule: `do` says what kind of rule it is, the other keys are the fields of
that kind and of `Rule`. The first rule whose conditions all hold takes a request; one that no rule takes gets the
ordinary answer. Performs and counts nothing: `fault_plan` decides, `handling` performs.

What a server cannot do by itself is refuse a connection, since something listens on its port. For that, point the
client at the address of a server that has stopped.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)

from weigh.harness.providers.mock_server.exchange import Call, Wire, value_at
from weigh.harness.words import did_you_mean
from weigh.policies.contract import Fault

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s|m|h)?", re.ASCII)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


def parse_seconds(value: object) -> float:
    """Seconds from a number of seconds, or from text with a unit (`ms`, `s`, `m`, `h`; none means seconds).

    Raises ValueError.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a duration: write e.g. 200ms, 1.5s or 10m")
    return float(match[1]) * _UNITS[match[2]]


def parse_span(value: object) -> tuple[float, float | None]:
    """(from, to) in seconds, from `0-20s`, `20s-` (no end), `-20s`, or a list of the two. Raises ValueError.

    In `50-400ms` the unit stands for both ends.
    """
    first, last = _ends(value) or (None, None)
    if first is None and last is None:
        raise ValueError(f"{value!r} is not a span of time: write e.g. 0-20s or 20s-")
    if isinstance(first, str) and isinstance(last, str) and first[-1].isdigit():
        first += last.lstrip("0123456789. ")
    start = parse_seconds(first or 0.0)
    end = None if last is None else parse_seconds(last)
    if end is not None and end < start:
        raise ValueError(f"{value!r} ends before it starts")
    return start, end


def parse_counts(value: object) -> tuple[tuple[int, int | None], ...]:
    """(first, last) of each range, from `5`, `"1-3"`, `"4-"` (no end), or a list of such. Raises ValueError."""
    found = []
    for item in value if isinstance(value, list | tuple) else [value]:
        first, last = (_whole(end) for end in _ends(item) or (item, item))
        if first is None or first < 1 or (last is not None and last < first):
            raise ValueError(f"{item!r} is not a count from 1: write e.g. 5, '1-3' or '4-'")
        found.append((first, last))
    return tuple(found)


def _ends(value: object) -> tuple[object, object] | None:
    """Both ends of `A-B`, of which one may be missing, or of a list of two; None when it is neither."""
    if isinstance(value, str) and "-" in value:
        first, _, last = value.partition("-")
        return first.strip() or None, last.strip() or None
    return tuple(value) if isinstance(value, list | tuple) and len(value) == 2 else None


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{value!r} is not a count from 1: write e.g. 5, '1-3' or '4-'")


def parse_retry_after(value: object) -> tuple[Literal["seconds", "ms", "date"], float]:
    """The form of the header and the seconds to announce: `2s`, `300ms` (`retry-after-ms`), `date+3s` (an HTTP date).

    Raises ValueError.
    """
    text = str(value).strip()
    if text.startswith("date+"):
        return "date", parse_seconds(text.removeprefix("date+"))
    return "ms" if text.endswith("ms") else "seconds", parse_seconds(text)


def checked_by(parse: Callable[[Any], object]) -> AfterValidator:
    """Keep the value as written, if `parse` can read it."""

    def check(value: Any) -> Any:
        parse(value)
        return value

    return AfterValidator(check)


def _header_safe(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not name.isascii() or not name.strip() or any(end in name + value for end in "\r\n"):
            raise ValueError(f"{name!r} cannot be a header")
        if name.lower() in ("content-type", "content-length", "transfer-encoding", "connection"):
            raise ValueError(f"{name!r} follows from the body; for the type of the content there is content_type")
    return headers


Seconds = Annotated[float, BeforeValidator(parse_seconds)]


class Rule(BaseModel):
    """What all kinds of rules have: conditions on a request. Those left out always hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    """By which the statistics count it; absent: `rule 1` and so on, by its place."""
    delay: Seconds | None = None
    """Seconds before the first byte. Absent: the server's own latency where an answer is given, none for errors."""

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
    elapsed: Annotated[tuple[float, float | None], BeforeValidator(parse_span)] | None = None
    """Seconds since the server started or was reset, the end not included: `0-20s`, `20s-`."""

    nth: Annotated[tuple[tuple[int, int | None], ...], BeforeValidator(parse_counts)] | None = None
    """Which of the requests that meet all the conditions above, counted from 1: `5`, `"1-3"`, `"4-"`, `[1, "6-8"]`.
    Also those count that an earlier rule took."""
    every: int | None = Field(default=None, ge=1)
    """Every k-th of them: the k-th, the 2k-th, ..."""
    per: Literal["all", "model", "request"] = "all"
    """What `nth` and `every` count: all together, each model on its own, or each identical request on its own (then
    `nth=1` fails the first try of every request and lets its second pass)."""
    share: float | None = Field(default=None, ge=0, le=1)
    """This share of them, by a hash of the server's seed, the request and how often it was seen: a request that failed
    may pass when sent again."""

    def concerns(self, call: Call, tag: str, elapsed: float) -> bool:
        """Whether the conditions hold that need no counting."""
        start, end = self.elapsed or (0.0, None)
        return (
            (self.model == "*" or fnmatchcase(call.model, self.model))
            and self.wire in (None, call.wire)
            and (self.tag == "*" or fnmatchcase(tag, self.tag))
            and (self.elapsed is None or (start <= elapsed and (end is None or elapsed < end)))
            and (self.has is None or value_at(call.body, self.has) is not None)
            and (self.contains is None or self.contains in "\n".join(turn.text for turn in call.turns))
            and (self.longer_than is None or call.input_tokens > self.longer_than)
            and (self.turns != "repeated" or _repeats(call))
            and (self.turns != "empty" or any(not turn.text.strip() for turn in call.turns))
        )

    def counted(self, count: int) -> bool:
        """Whether the request that makes the count `count` is one of those meant by `nth` and `every`."""
        return (
            self.nth is None or any(first <= count and (last is None or count <= last) for first, last in self.nth)
        ) and (self.every is None or count % self.every == 0)


class Respond(Rule):
    """Any response: an error with this status in the API's own form, or the given body."""

    do: Literal["respond"] = "respond"
    status: int = Field(ge=200, le=599)
    headers: Annotated[dict[str, str], AfterValidator(_header_safe)] = Field(default_factory=dict)
    body: JsonValue = None
    """Text is sent as it stands, any other JSON value as JSON. Absent: the API's error body for the status."""
    content_type: str | None = None
    """Absent: `application/json`, or `text/plain` for a body given as text."""
    message: str = "scripted by the fault plan"
    """What the API's error body says."""
    retry_after: Annotated[str | float, checked_by(parse_retry_after)] | None = None
    """`2s` for seconds, `300ms` for the -ms header, `date+3s` for an HTTP date."""
    hold: bool = False
    """Whether requests that come before the announced time get the same response again."""

    @model_validator(mode="after")
    def _held_until_something(self) -> Respond:
        if self.hold and self.retry_after is None:
            raise ValueError("hold needs a retry_after to hold until")
        return self


class ErrorIn200(Rule):
    """Status 200 with an error object in the body, as routers pass on what went wrong behind them."""

    do: Literal["error-in-200"] = "error-in-200"
    code: int | str = 504
    message: str = "Provider returned error"


class NullChoices(Rule):
    """Status 200 with every top-level value of the answer null."""

    do: Literal["null-choices"] = "null-choices"


class Html(Rule):
    """A web page: a proxy's error, a sign-in page, a wrong base URL."""

    do: Literal["html"] = "html"
    status: int = Field(default=200, ge=200, le=599)
    size: int = Field(default=200, ge=0, le=100_000_000)
    """Least length of the page in bytes."""


class Malformed(Rule):
    """Status 200, declared as JSON, that does not decode: cut short, or with bytes that are not UTF-8."""

    do: Literal["malformed"] = "malformed"
    what: Literal["json", "utf-8"] = "json"


class Drip(Rule):
    """The answer, a few bytes at a time. No single read takes long; the whole does."""

    do: Literal["drip"] = "drip"
    interval: Seconds = 0.5
    """Seconds between two writes."""
    size: int = Field(default=1, ge=1)
    """Bytes per write."""
    lasting: Seconds | None = None
    """For so many seconds newlines drip, and then the answer comes whole. Absent: the answer itself drips."""


class Cut(Rule):
    """The connection ends within the answer, although its full length was announced."""

    do: Literal["cut"] = "cut"
    after: int | None = Field(default=40, ge=0)
    """Bytes of the body that are sent first; None: the connection ends before any response."""
    how: Literal["reset", "close"] = "reset"
    """Reset by peer, or closed in order."""


class GzipCut(Rule):
    """The answer, compressed, without its last bytes; the announced length fits what is sent."""

    do: Literal["gzip-cut"] = "gzip-cut"
    missing: int = Field(default=20, ge=1)


class Hang(Rule):
    """The request is read and never answered, until the client leaves."""

    do: Literal["hang"] = "hang"
    after_headers: bool = False
    """Whether status 200 and headers are sent before the silence."""


ReplyKind: TypeAlias = Literal[Fault, "answer", "null", "filtered", "parts", "reasoning-only", "pause", "tool-calls"]
"""What a reply holds: one of the faults of a reply (`timed_out`: it never comes); a legal answer; null; a content
filter's stop; content as typed parts; reasoning that used the whole cap; an unfinished turn; a call for a tool."""


class Reply(Rule):
    """A reply of a given kind, or the ordinary one with changes."""

    do: Literal["reply"] = "reply"
    kind: ReplyKind = "answer"
    text: str | None = None
    """The visible text, in place of the generated one."""
    set: dict[str, JsonValue] = Field(default_factory=dict)
    """Changes to the response body by path: `{"choices.0.message.role": "model", "service_tier": "turbo"}`."""
    nullify: tuple[str, ...] = ()
    """Paths whose value becomes null (TOML cannot write one)."""
    drop: tuple[str, ...] = ()
    """Paths that are left out: `["usage"]`."""


class Limit(Rule):
    """A rate limit: requests over it get 429 with the API's rate-limit headers; the others go on to the next rule.

    Buckets refill evenly, `requests_per_minute / 60` a second, and start full.
    """

    do: Literal["limit"] = "limit"
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """Counted as prompt tokens plus the cap on output, when the request comes."""
    in_flight: int | None = Field(default=None, ge=1)
    """Requests being answered at once."""
    burst: float | None = Field(default=None, ge=1)
    """What the bucket of requests holds; absent: a minute's worth."""

    @model_validator(mode="after")
    def _limits_something(self) -> Limit:
        if self.requests_per_minute is None and self.tokens_per_minute is None and self.in_flight is None:
            raise ValueError("limit needs requests_per_minute, tokens_per_minute or in_flight")
        return self


_Kinds: TypeAlias = Respond | ErrorIn200 | NullChoices | Html | Malformed | Drip | Cut | GzipCut | Hang | Reply | Limit
_KINDS: dict[str, type[Rule]] = {kind.model_fields["do"].default: kind for kind in get_args(_Kinds)}
"""By the word a plan calls them."""


class Plan(BaseModel):
    """Rules in the order in which they are asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[Annotated[_Kinds, Field(discriminator="do")], ...] = ()


def load_plan(path: Path) -> Plan:
    """The plan in a `.toml` or `.json` file. Raises ValueError: one line with the file, the place and the mistake."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the fault plan {path}: {error}") from error
    try:
        return read_plan(json.loads(text) if path.suffix == ".json" else tomllib.loads(text))
    except ValueError as error:  # also what both parsers raise
        raise ValueError(f"fault plan {path}: {error}") from error


def read_plan(document: object) -> Plan:
    """The plan in a parsed document: `{"rules": [{...}, ...]}`. Raises ValueError with one line."""
    try:
        return Plan.model_validate(document)
    except ValidationError as error:
        raise ValueError(first_mistake(error, Plan)) from error


def first_mistake(error: ValidationError, model: type[BaseModel]) -> str:
    """The first mistake that pydantic found in a plan or in settings, in one line: its rule, its key, what is wrong.

    `model` is what was validated.
    """
    # A key that is wrong comes before the one that is missing for it.
    first = min(error.errors(include_url=False), key=lambda found: found["type"] != "extra_forbidden")
    message = first["msg"].removeprefix("Value error, ")
    place = [part for part in first["loc"] if part != "plan"]
    rule = ""
    if place[:1] == ["rules"] and len(place) > 1:
        rule, model, place = f"rule {int(place[1]) + 1}: ", _KINDS.get(str(place[-2]), Rule), place[3:]
    if first["type"] == "extra_forbidden":
        return f"{rule}unknown key {place[-1]!r}{did_you_mean(str(place[-1]), model.model_fields)}"
    if first["type"] == "union_tag_invalid":
        return f"{rule}cannot do {first['ctx']['tag']!r}{did_you_mean(first['ctx']['tag'], _KINDS)}"
    if first["type"] == "union_tag_not_found":
        return f"{rule}has no 'do'{did_you_mean('', _KINDS)}"
    return rule + (f"{'.'.join(map(str, place))}: {message}" if place else message)


def _repeats(call: Call) -> bool:
    roles = [turn.role for turn in call.turns if turn.role not in ("system", "developer")]
    return any(first == second for first, second in pairwise(roles))
