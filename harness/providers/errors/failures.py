"""The one decision about a call that gave no answer: try again, give up this time, or stop the run.

Owns `CallFailed`, and its making from an error with a status, a web page or an exception; what each of them means
stands in `harness.providers.errors.table`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import partial
from urllib.parse import urlsplit

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.errors.reading import ProviderError, one_line, without_markup
from weigh.harness.providers.errors.retry_after import asked_wait, refuses_retry
from weigh.harness.providers.errors.table import ANSWERED, BUGS, FILTERED, NO_FILES, RULES, WRONG_SCHEME, Decision, Row
from weigh.policies.contract import CONTEXT_FULL, Billing, Completion, Usage

_BUSY = frozenset((429, 503, 529))
_NOTHING = Usage(input=0, cached=0, output=0, reasoning=0, cache_written=0)


@dataclass(eq=False)
class CallFailed(Exception):
    """One call to a provider gave no answer. Read-only; the message is `cause`.

    decision
        wait      worth another try, after `wait` seconds where the provider said so
        outage    another try will not help, and nothing in the config is to blame: the episode is void
        fatal     no call can succeed until a person fixes something: the run stops, resumable
    """

    decision: Decision
    cause: str
    """One line for people: what happened, at which address, and for `fatal` what to fix. No keys, no headers."""
    _: KW_ONLY
    wait: float | None = None
    """Seconds the provider asked for; None when it did not say."""
    billing: Billing = "unknown"
    """Whether the call can have been charged."""
    status: int | None = None
    """The HTTP status, or the one that an error inside a 200 stands for; None where there was no answer at all."""
    usage: Usage | None = None
    """What it used, where the provider told although it gave no answer."""
    odd: bool = False
    """Of a `fatal` one: it says nothing of its cause and may pass where the model has answered before (a web page, a
    redirect, a request not taken): see `harness.run.model_calls`."""

    def __post_init__(self) -> None:
        super().__init__(self.cause)

    @property
    def limited(self) -> bool:
        """A 429 that is not about the account: too many calls at once. Nothing else says anything about concurrency."""
        return self.status == 429 and self.decision != "fatal"

    @property
    def busy(self) -> bool:
        """A 429, 503 or 529: the provider takes no calls now, whatever they ask. Its wait is meant for all of them."""
        return self.status in _BUSY

    def __setattr__(self, name: str, value: object) -> None:
        if name in vars(self):  # not `frozen`, under which no context manager could set the traceback
            raise AttributeError(f"{name} of a failed call is read-only")
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(CallFailed, **{field.name: getattr(self, field.name) for field in fields(self)}), ()


@dataclass
class Progress:
    """How far a call came, for whoever ends it because its time is out. Written by who sends it."""

    sent: bool | None = None
    """Whether the request left, on a connection that stands; None where the client does not say."""
    status: int | None = None
    """Of the answer; None until its head is in."""
    headers: Mapping[str, str] = field(default_factory=dict)
    failure: CallFailed | None = None
    """What the status means, for a call that was cut off while the body of its error was still to come."""


PROGRESS: ContextVar[Progress | None] = ContextVar("PROGRESS", default=None)
"""Of the call that the task makes."""


def as_completion(error: ProviderError) -> Completion | None:
    """The answer that an error amounts to (see `harness.providers.errors.table`), or None when it is a failure."""
    match _row(error).means:
        case "refusal":
            detail = min(error.names & FILTERED, default="content_filter")
            return Completion("", "refusal", usage=_NOTHING, stop_detail=detail)
        case "length":
            return Completion("", "length", usage=_NOTHING, stop_detail=CONTEXT_FULL)
        case "malformed":  # the model ran, so the call may be charged
            return Completion("", "malformed", stop_detail=min(error.names, default=None))
        case _:
            return None


def verdict(error: ProviderError, endpoint: Endpoint, *, secret: str = "", now: float | None = None) -> CallFailed:
    """What to do about an error that is no answer. `secret` is blotted out of the cause."""
    row = _row(error)
    if row.means == "refusal" or row.means == "length" or row.means == "malformed":
        raise ValueError(f"an error of status {error.status} that is an answer ({row.means})")
    decision: Decision = row.means
    wait = None
    if decision == "wait":
        wait = asked_wait(error.headers, limited=error.status == 429, delay=error.retry_delay, now=now)
        if wait is None and refuses_retry(error.headers):
            # Where a wait is given too, that is kept, and says when another try is welcome.
            decision = "outage"
    where = f"status {error.status}" if not error.inside_200 else f"an error {error.status} inside a 200"
    if error.html:
        reported = f"a web page: {one_line(without_markup(error.message), secret)}"
    else:
        reported = one_line(error.message, secret) or "no reason given"
    if wait:
        reported += f"; it asks for {wait:g} s"
    remedy = _remedy(row, error, endpoint)
    return CallFailed(
        decision,
        f"{where} from {endpoint.base_url}: {reported}" + (f"; {remedy}" if remedy else ""),
        wait=wait,
        billing=_billing(error),
        status=error.status,
        odd=row.odd,
    )


def web_page(status: int, text: str, endpoint: Endpoint, *, secret: str = "") -> CallFailed:
    """A page for people where an answer should be, with a status that says all is well: a login, a wrong path."""
    page = one_line(without_markup(text), secret) or one_line(text, secret)
    cause = (
        f"status {status} from {endpoint.base_url}, but a web page: {page}; check base_url, and log in to the network"
    )
    return CallFailed("fatal", cause, billing="none", status=status, odd=True)


def decide(exc: BaseException, endpoint: Endpoint, *, secret: str = "", proxy: str | None = None) -> CallFailed | None:
    """What an exception of a call means; None for a bug, which the caller lets through.

    Not for answers with an error status, which say more: see `verdict`. `secret` is blotted out of the cause, `proxy`
    named in it where a connection failed.
    """
    own = _names(exc)
    if BUGS.intersection(own) or RULES.keys().isdisjoint(own):
        return None
    chain = tuple(_causes(exc))
    named = {name: link for link in chain for name in _names(link)}
    telling, rule = next((named[name], rule) for name, rule in RULES.items() if name in named)
    if any(isinstance(link, OSError) and link.errno in (errno.EMFILE, errno.ENFILE) for link in chain):
        rule = NO_FILES
    if any(getattr(link, "reason", None) in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST") for link in chain):
        rule = WRONG_SCHEME  # a TLS handshake met plain HTTP
    # An exception in its own words, by class name where it has none.
    words = (telling.strerror if isinstance(telling, OSError) else None) or str(telling)
    detail = one_line(": ".join(filter(None, (type(telling).__name__, words))), secret, 120)
    cause = f"{rule.words} ({detail}) at {endpoint.base_url}"
    if proxy is not None and rule.billing == "none":
        cause += f", through the proxy {proxy}; if it is in the way, name the host in NO_PROXY"
    return CallFailed(rule.decision, cause, billing=rule.billing, odd=rule.odd)


def qualified(kind: type) -> str:
    """A class as the table names it: the package's name and its own. `socket.gaierror` and its kin are their own."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _row(error: ProviderError) -> Row:
    return next(row for row in ANSWERED if row.fits(error))


def _remedy(row: Row, error: ProviderError, endpoint: Endpoint) -> str:
    if row.keyless and not endpoint.api_key_env:
        return row.keyless
    return row.remedy.format(
        key=endpoint.api_key_env,
        model=one_line(endpoint.model, limit=80),
        host=_host_of(error.headers.get("location", "")),
    )


def _host_of(location: str) -> str:
    """Where a redirect leads, without its path and query: these may hold tokens."""
    try:
        parts = urlsplit(location[:2_000])
        host = parts.hostname
    except ValueError:
        return "another address"
    return one_line(f"{parts.scheme or 'https'}://{host}", limit=80) if host else "another address"


def _billing(error: ProviderError) -> Billing:
    """What was turned down costs nothing; behind a gateway's error the model may have run all the same."""
    passed_on = error.status in (408, 499) or (error.status >= 500 and error.status not in (503, 529))
    if error.inside_200:
        passed_on = error.status >= 500
    return "unknown" if passed_on else "none"


def _names(exc: BaseException) -> list[str]:
    return [qualified(kind) for kind in type(exc).__mro__]


def _causes(exc: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from, not what was merely being handled: that may be a matter of its own."""
    link: BaseException | None = exc
    for _ in range(12):
        if link is None:
            return
        yield link
        link = link.__cause__
