"""The one decision about a call that gave no answer: try again, give up this time, or stop the run.

Owns `CallFailed` and the mapping of every exception that a call can end in, of either SDK or from below it, each named
on purpose. What a status and an error body mean is decided in `harness.providers.errors.verdicts`. Imports no SDK:
classes are recognised by name, so that asking one provider never loads the other's package.

CallFailed
    wait      worth another try, after `wait` seconds where the provider said so
    outage    another try will not help, and nothing in the config is to blame: the episode is void
    fatal     no call can succeed until a person mends something: the run stops, resumable
    `odd` marks a `fatal` that says nothing of its cause and may pass where the model has answered before (a web page, a
    redirect, a request not taken): see `harness.run.model_calls`
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.errors.reading import one_line
from weigh.policies.contract import Billing

Decision: TypeAlias = Literal["fatal", "outage", "wait"]


class CallFailed(Exception):
    """One call to a provider gave no answer. Read-only; the message is `cause`."""

    def __init__(
        self,
        decision: Decision,
        cause: str,
        *,
        wait: float | None = None,
        limited: bool = False,
        billing: Billing = "unknown",
        status: int | None = None,
        odd: bool = False,
    ) -> None:
        super().__init__(cause)
        self._fields = (decision, cause, wait, limited, billing, status, odd)

    @property
    def decision(self) -> Decision:
        return self._fields[0]

    @property
    def cause(self) -> str:
        """One line for people: what happened, at which address, and for `fatal` what to mend. No keys, no headers."""
        return self._fields[1]

    @property
    def wait(self) -> float | None:
        """Seconds the provider asked for; None when it did not say."""
        return self._fields[2]

    @property
    def limited(self) -> bool:
        """A 429: too many calls at once. Nothing else says anything about concurrency."""
        return self._fields[3]

    @property
    def billing(self) -> Billing:
        """Whether the call can have been charged."""
        return self._fields[4]

    @property
    def status(self) -> int | None:
        """The HTTP status, or the one that an error inside a 200 stands for; None where there was no answer at all."""
        return self._fields[5]

    @property
    def odd(self) -> bool:
        """Of a `fatal` one: what a mistaken address looks like, and a moment's fault of a right one as well."""
        return self._fields[6]

    @property
    def busy(self) -> bool:
        """A 429, 503 or 529: the provider takes no calls now, whatever they ask. Its wait is meant for all of them."""
        return self.status in _BUSY

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, self._fields


_BUSY = frozenset((429, 503, 529))


def _rebuilt(
    decision: Decision, cause: str, wait: float | None, limited: bool, billing: Billing, status: int | None, odd: bool
) -> CallFailed:
    return CallFailed(decision, cause, wait=wait, limited=limited, billing=billing, status=status, odd=odd)


@dataclass(frozen=True, slots=True)
class _Rule:
    decision: Decision
    billing: Billing
    words: str
    odd: bool = False
    """See `CallFailed.odd`: what stands between here and the provider can be the cause, and gone a moment later."""


_CONFIG = "the SDK cannot make the call with these settings"
_CUT = "the connection was cut off before the answer was complete"
_UNREADABLE = "the answer could not be decoded"
_NO_FILES = _Rule("wait", "none", "no more files can be opened; raise the limit (ulimit -n) or lower the concurrency")

# From the most telling to the least: of all classes in an exception's chain of causes, the first one listed here
# decides. The order matters because transports hide what happened: through aiohttp a refused connection arrives as a
# "connect timeout", and only the cause below it tells.
RULES: Mapping[str, _Rule] = {
    "ssl.SSLCertVerificationError": _Rule(
        "fatal", "none", "its certificate is not trusted; behind a proxy of your own, set SSL_CERT_FILE", odd=True
    ),
    "aiohttp.ClientConnectorCertificateError": _Rule(
        "fatal", "none", "its certificate does not fit the host name", odd=True
    ),
    "aiohttp.ServerFingerprintMismatch": _Rule("fatal", "none", "its certificate is not the expected one", odd=True),
    "aiohttp.ClientConnectorSSLError": _Rule("wait", "none", "no secure connection; does it speak https at that port?"),
    "aiohttp.ClientSSLError": _Rule("wait", "none", "no secure connection; does it speak https at that port?"),
    "aiohttp.ClientHttpProxyError": _Rule("wait", "none", "the proxy refused the connection"),
    "aiohttp.ClientProxyConnectionError": _Rule("wait", "none", "the proxy cannot be reached"),
    "httpx2.ProxyError": _Rule("wait", "none", "the proxy cannot be reached"),
    "aiohttp.ClientConnectorDNSError": _Rule("wait", "none", "the host name cannot be resolved; check base_url"),
    "socket.gaierror": _Rule("wait", "none", "the host name cannot be resolved; check base_url"),
    "builtins.ConnectionRefusedError": _Rule("wait", "none", "nothing listens there; is the server running?"),
    "aiohttp.ConnectionTimeoutError": _Rule("wait", "none", "no connection within the connect timeout"),
    "aiohttp.InvalidURL": _Rule("fatal", "none", "base_url is no address"),
    "httpx2.InvalidURL": _Rule("fatal", "none", "base_url is no address"),
    "aiohttp.NonHttpUrlClientError": _Rule("fatal", "none", "base_url is no http address"),
    "httpx2.UnsupportedProtocol": _Rule("fatal", "none", "base_url is no http address"),
    "aiohttp.RedirectClientError": _Rule(
        "fatal", "none", "it sends calls on to another address; check base_url", odd=True
    ),
    "aiohttp.TooManyRedirects": _Rule("fatal", "none", "it sends calls on in circles; check base_url", odd=True),
    "httpx2.TooManyRedirects": _Rule("fatal", "none", "it sends calls on in circles; check base_url", odd=True),
    "aiohttp.ClientConnectorError": _Rule("wait", "none", "no connection"),
    "aiohttp.ServerDisconnectedError": _Rule("wait", "unknown", "the server hung up without an answer"),
    "aiohttp.SocketTimeoutError": _Rule("wait", "unknown", "the server went silent"),
    "aiohttp.ServerTimeoutError": _Rule("wait", "unknown", "the server went silent"),
    "aiohttp.UploadAbortedError": _Rule("wait", "unknown", "the server hung up while the request was sent"),
    "aiohttp.ClientPayloadError": _Rule("wait", "unknown", _CUT),
    "aiohttp.WSServerHandshakeError": _Rule("wait", "unknown", "the server spoke no proper HTTP"),
    "aiohttp.ContentTypeError": _Rule("wait", "unknown", _UNREADABLE),
    "aiohttp.ClientResponseError": _Rule("wait", "unknown", "the server spoke no proper HTTP"),
    "httpx2.DecodingError": _Rule("wait", "unknown", _UNREADABLE),
    "json.JSONDecodeError": _Rule("wait", "unknown", _UNREADABLE),
    "builtins.UnicodeDecodeError": _Rule("wait", "unknown", _UNREADABLE),
    "builtins.RecursionError": _Rule("wait", "unknown", "the answer is nested too deeply to be decoded"),
    "pydantic_core.ValidationError": _Rule("wait", "unknown", "the answer has not the shape of one"),
    "openai.APIResponseValidationError": _Rule("wait", "unknown", "the answer has not the shape of one"),
    "anthropic.APIResponseValidationError": _Rule("wait", "unknown", "the answer has not the shape of one"),
    "builtins.ConnectionResetError": _Rule("wait", "unknown", _CUT),
    "builtins.BrokenPipeError": _Rule("wait", "unknown", _CUT),
    "builtins.ConnectionAbortedError": _Rule("wait", "unknown", _CUT),
    "aiohttp.ClientConnectionError": _Rule("wait", "unknown", _CUT),
    "httpx2.PoolTimeout": _Rule("wait", "none", "no free connection in time"),
    "httpx2.ReadTimeout": _Rule("wait", "unknown", "the server went silent"),
    "httpx2.WriteTimeout": _Rule("wait", "unknown", "the server took no more of the request"),
    "httpx2.ConnectTimeout": _Rule("wait", "none", "no connection within the connect timeout"),
    "httpx2.ConnectError": _Rule("wait", "none", "no connection"),
    "httpx2.LocalProtocolError": _Rule("fatal", "none", _CONFIG),
    "httpx2.RemoteProtocolError": _Rule("wait", "unknown", "the server spoke no proper HTTP"),
    "httpx2.NetworkError": _Rule("wait", "unknown", _CUT),
    "httpx2.TransportError": _Rule("wait", "unknown", _CUT),
    "httpx2.RequestError": _Rule("wait", "unknown", _CUT),
    "ssl.SSLError": _Rule("wait", "unknown", "the secure connection broke"),
    "builtins.TimeoutError": _Rule("wait", "unknown", "the connection timed out"),
    "builtins.OSError": _Rule("wait", "unknown", "the connection failed"),
    "openai.APITimeoutError": _Rule("wait", "unknown", "the connection timed out"),
    "openai.APIConnectionError": _Rule("wait", "unknown", "the connection failed"),
    "anthropic.APITimeoutError": _Rule("wait", "unknown", "the connection timed out"),
    "anthropic.APIConnectionError": _Rule("wait", "unknown", "the connection failed"),
    "anthropic.RetryableError": _Rule("wait", "unknown", "the SDK asked for another try"),
    # Credentials that the SDKs could look for by themselves. The clients hand theirs in, so these mean a setting of the
    # machine (a profile, a federation) got in between.
    "openai.SubjectTokenProviderError": _Rule("fatal", "none", "its credentials cannot be obtained"),
    "openai.MutuallyExclusiveAuthError": _Rule("fatal", "none", _CONFIG),
    "anthropic.CredentialsError": _Rule("fatal", "none", "its credentials cannot be obtained"),
    "anthropic.WorkloadIdentityError": _Rule("fatal", "none", "its credentials cannot be obtained"),
    "anthropic.MutuallyExclusiveAuthError": _Rule("fatal", "none", _CONFIG),
    "openai.MissingDependencyError": _Rule("fatal", "none", "a package that the SDK needs is not installed"),
    "anthropic.MissingDependencyError": _Rule("fatal", "none", "a package that the SDK needs is not installed"),
    "anthropic.APIError": _Rule("wait", "unknown", "the provider reported an error"),
    "openai.APIError": _Rule("wait", "unknown", "the provider reported an error"),
    # Whatever else the SDKs say of themselves is about how they were called.
    "openai.OpenAIError": _Rule("fatal", "none", _CONFIG),
    "anthropic.AnthropicError": _Rule("fatal", "none", _CONFIG),
}

BUGS = frozenset(
    {
        "openai.APIRemovedInV1",
        "openai._AmbiguousModuleClientUsageError",
        "openai.AgentFilePreparationError",
        "openai.AgentFileStagingError",
        "openai.AgentOutputParseError",
        "openai.AgentTurnResultError",
        "openai.ContentFilterFinishReasonError",
        "openai.LengthFinishReasonError",
        "openai.StreamAlreadyConsumed",
        "openai.WebSocketConnectionClosedError",
        "openai.WebSocketQueueFullError",
        "anthropic.APIWebhookValidationError",
        "anthropic.StreamAlreadyConsumed",
        "anthropic.ToolsetUsageError",
    }
)
"""What only parts of the SDKs raise that no client here uses (parsed output, streams, sockets, tools, web hooks): such
an exception, and any subclass of it, is a mistake in this package and must be seen as one."""


def decide(exc: BaseException, endpoint: Endpoint, *, secret: str = "", proxy: str | None = None) -> CallFailed | None:
    """What an exception of a call means; None for a bug, which the caller lets through.

    Not for answers with an error status, which say more: see `harness.providers.errors.verdicts`. `secret` is blotted
    out of the cause, `proxy` named in it where a connection failed.
    """
    chain = tuple(_causes(exc))
    if BUGS.intersection(_names(exc)) or not any(name in RULES for name in _names(exc)):
        return None
    named = {name: link for link in chain for name in _names(link)}
    telling, rule = next((named[name], rule) for name, rule in RULES.items() if name in named)
    if any(isinstance(link, OSError) and link.errno in (errno.EMFILE, errno.ENFILE) for link in chain):
        rule = _NO_FILES
    cause = f"{rule.words} ({_detail(telling, secret)}) at {endpoint.base_url}"
    if _wrong_scheme(chain):
        rule = _Rule("fatal", "none", rule.words, odd=True)
        cause = f"{endpoint.base_url} does not speak https; write http:// in base_url"
    if proxy is not None and rule.billing == "none":
        cause += f", through the proxy {proxy}; if it is in the way, name the host in NO_PROXY"
    return CallFailed(rule.decision, cause, billing=rule.billing, odd=rule.odd)


def _causes(exc: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from, not what was merely being handled: that may be a matter of its own."""
    link: BaseException | None = exc
    for _ in range(12):
        if link is None:
            return
        yield link
        link = link.__cause__


def _names(exc: BaseException) -> list[str]:
    return [qualified(kind) for kind in type(exc).__mro__]


def qualified(kind: type) -> str:
    """A class as the table names it: the package's name and its own. `socket.gaierror` and its kin are their own."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _detail(exc: BaseException, secret: str) -> str:
    """An exception in its own words, by class name where it has none."""
    words = (exc.strerror if isinstance(exc, OSError) else None) or str(exc)
    name = type(exc).__name__
    return one_line(f"{name}: {words}" if words else name, secret, 120)


def _wrong_scheme(chain: tuple[BaseException, ...]) -> bool:
    """Whether a TLS handshake met plain HTTP."""
    return any(getattr(link, "reason", None) in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST") for link in chain)
