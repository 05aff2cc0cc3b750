"""What a rule of a fault plan can do to a request, one value per kind of behaviour.

Owns the kinds, their settings and defaults. Performs nothing: `serving` and `delivery` do.

What a server cannot do by itself is refuse a connection, since something listens on its port. For that, point the
client at the address of a server that has stopped.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from weigh.harness.providers.mock_server.announce import parse_retry_after
from weigh.harness.providers.mock_server.durations import parse_seconds

Seconds = Annotated[float, BeforeValidator(parse_seconds)]
"""Seconds as a number, or text with a unit: `1.5`, `200ms`."""


def _checked_retry_after(value: object) -> str:
    parse_retry_after(value)
    return str(value)


RetryAfterText = Annotated[str, BeforeValidator(_checked_retry_after)]
"""`2s` for seconds, `300ms` for the -ms header, `date+3s` for an HTTP date."""


def _header_safe(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not name.isascii() or not name.strip() or any(end in name + value for end in "\r\n"):
            raise ValueError(f"{name!r} cannot be a header")
        if name.lower() in ("content-type", "content-length", "transfer-encoding", "connection"):
            raise ValueError(f"{name!r} follows from the body; for the type of the content there is content_type")
    return headers


class Action(BaseModel):
    """Common to all: when it begins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delay: Seconds | None = None
    """Seconds before the first byte. Absent: the server's own latency where an answer is given, none for errors."""


class Respond(Action):
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
    retry_after: RetryAfterText | None = None
    hold: bool = False
    """Whether requests that come before the announced time get the same response again."""

    @model_validator(mode="after")
    def _held_until_something(self) -> Respond:
        if self.hold and self.retry_after is None:
            raise ValueError("hold needs a retry_after to hold until")
        return self


class ErrorIn200(Action):
    """Status 200 with an error object in the body, as routers pass on what went wrong behind them."""

    do: Literal["error-in-200"] = "error-in-200"
    code: int | str = 504
    message: str = "Provider returned error"


class NullChoices(Action):
    """Status 200 with every top-level value of the answer null."""

    do: Literal["null-choices"] = "null-choices"


class Html(Action):
    """A web page: a proxy's error, a sign-in page, a wrong base URL."""

    do: Literal["html"] = "html"
    status: int = Field(default=200, ge=200, le=599)
    size: int = Field(default=200, ge=0, le=100_000_000)
    """Least length of the page in bytes."""


class Malformed(Action):
    """Status 200, declared as JSON, that does not decode: cut short, or with bytes that are not UTF-8."""

    do: Literal["malformed"] = "malformed"
    what: Literal["json", "utf-8"] = "json"


class Drip(Action):
    """The answer, a few bytes at a time. No single read takes long; the whole does."""

    do: Literal["drip"] = "drip"
    interval: Seconds = 0.5
    """Seconds between two writes."""
    size: int = Field(default=1, ge=1)
    """Bytes per write."""
    lasting: Seconds | None = None
    """For so many seconds newlines drip, and then the answer comes whole. Absent: the answer itself drips."""


class Cut(Action):
    """The connection ends within the answer, although its full length was announced."""

    do: Literal["cut"] = "cut"
    after: int | None = Field(default=40, ge=0)
    """Bytes of the body that are sent first; None: the connection ends before any response."""
    how: Literal["reset", "close"] = "reset"
    """Reset by peer, or closed in order."""


class GzipCut(Action):
    """The answer, compressed, without its last bytes; the announced length fits what is sent."""

    do: Literal["gzip-cut"] = "gzip-cut"
    missing: int = Field(default=20, ge=1)


class Hang(Action):
    """The request is read and never answered, until the client leaves."""

    do: Literal["hang"] = "hang"
    after_headers: bool = False
    """Whether status 200 and headers are sent before the silence."""


ReplyKind: TypeAlias = Literal[
    "answer",
    "illegal",
    "unreadable",
    "ambiguous",
    "empty",
    "null",
    "truncated",
    "refused",
    "filtered",
    "parts",
    "reasoning-only",
    "pause",
    "tool-calls",
]
"""What a reply holds: a legal answer; one of the faults of a reply; nothing or null; a content filter's stop; content
as typed parts; reasoning that used the whole cap; an unfinished turn; a call for a tool."""


class Reply(Action):
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


class Limit(Action):
    """A ceiling: requests over it get 429 with the API's rate-limit headers; the others go on to the next rule.

    Buckets refill evenly, `requests_per_minute / 60` a second, and start full.
    """

    do: Literal["limit"] = "limit"
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """Counted as prompt tokens plus the cap on output, when the request comes."""
    in_flight: int | None = Field(default=None, ge=1)
    """Requests being answered at once."""
    burst: float | None = Field(default=None, gt=0)
    """What the bucket of requests holds; absent: a minute's worth."""

    @model_validator(mode="after")
    def _limits_something(self) -> Limit:
        if self.requests_per_minute is None and self.tokens_per_minute is None and self.in_flight is None:
            raise ValueError("limit needs requests_per_minute, tokens_per_minute or in_flight")
        if self.burst is not None and self.burst < 1:
            raise ValueError("burst must be at least 1, or no request could ever pass")
        return self


AnyAction: TypeAlias = Annotated[
    Respond | ErrorIn200 | NullChoices | Html | Malformed | Drip | Cut | GzipCut | Hang | Reply | Limit,
    Field(discriminator="do"),
]

ACTIONS: dict[str, type[Action]] = {
    "respond": Respond,
    "error-in-200": ErrorIn200,
    "null-choices": NullChoices,
    "html": Html,
    "malformed": Malformed,
    "drip": Drip,
    "cut": Cut,
    "gzip-cut": GzipCut,
    "hang": Hang,
    "reply": Reply,
    "limit": Limit,
}
"""By the word a plan calls them."""
