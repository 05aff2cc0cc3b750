"""What each failure of a call means: the two tables, one of answers with an error, one of exceptions.

Owns the rows and their order; the first row that fits decides. Reads no body and words no line for people: see
`harness.providers.errors.reading` and `harness.providers.errors.failures`. Imports no SDK: exceptions are recognised
by name, so that asking one provider never loads the other's package.

Three kinds of error are answers rather than failures, since the policy's prompt or the model's own text is at fault,
and since asking later changes nothing: a content filter (`refusal`), a prompt that has outgrown the model's context
(`length`), and text that the provider held against the schema and did not pass on (`malformed`). They leave the episode
going: it gets a second attempt and then the fallback move, like any reply without a move. Failing the call instead
would void the same episode again on each replay, or stop a whole ladder for one long game.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.harness.providers.errors.reading import ProviderError
from weigh.policies.contract import Billing

Decision: TypeAlias = Literal["fatal", "outage", "wait"]
"""See `harness.providers.errors.failures.CallFailed`."""


@dataclass(frozen=True, slots=True)
class Row:
    """Errors of one meaning. Everything a row names must hold; what it leaves out may be anything."""

    means: Decision | Literal["refusal", "length", "malformed"]
    source: str
    """Who sends it, or where it is specified."""
    status: Container[int] | None = None
    codes: frozenset[str] = frozenset()
    """One of them stands in the error's `code` or `type`."""
    words: str = ""
    """A pattern, in any case of letters, found in the error's message or in the name of the field it complains of."""
    page: bool | None = None
    """Whether it is a page for people: sent by what stands between here and the provider."""
    inside_200: bool = False
    remedy: str = ""
    """What a person should do. `{key}`, `{model}` and `{host}` are filled in."""
    keyless: str = ""
    """The same for an endpoint without a key, where that differs."""
    odd: bool = False
    """See `CallFailed.odd`."""
    untold: bool = False
    """Only where no header says when to come back."""

    def fits(self, error: ProviderError) -> bool:
        return (
            (not self.untold or error.headers.keys().isdisjoint(("retry-after", "retry-after-ms")))
            and (self.status is None or error.status in self.status)
            and (not self.codes or not self.codes.isdisjoint(error.names))
            and (self.page is None or self.page == error.html)
            and (error.inside_200 or not self.inside_200)
            and (not self.words or re.search(self.words, error.excerpt, re.IGNORECASE) is not None)
        )


# fmt: off
FILTERED = frozenset((
    "bio_policy", "cyber_policy_violation", "invalid_prompt", "misalignment_policy_violation",  # OpenAI, Responses
    "content_filter", "content_policy_violation", "moderation_blocked", "safety_error",  # OpenAI, OpenRouter
    "responsibleaipolicyviolation",  # Azure
))
_TOO_LONG = frozenset((
    "context_length_exceeded", "string_above_max_length",  # OpenAI
    "exceed_context_size_error",  # llama.cpp
))
_NO_MONEY = frozenset((
    "billing_hard_limit_reached", "billing_not_active", "insufficient_quota",  # OpenAI
    "billing_error", "contract_spend_limit_reached", "enforced_spend_limit_reached",  # Anthropic
    "linked_organization_billing_unavailable", "linked_organization_spend_limit_reached",  # Anthropic
    "insufficient_credits",  # OpenRouter
    "budget_exceeded",  # LiteLLM
))
_MALFORMED = frozenset(("json_validate_failed", "tool_use_failed"))  # Groq
_PASSING = frozenset(("beta_request_body_timeout", "thread_continue_in_flight"))

_FILTER_WORDS = r"content (management )?policy|content filter(ing)? policy|flagged (by|as|for)|moderation.*flagged"
_TOO_LONG_WORDS = (
    r"maximum context length|context (length|window|size).*(exceed|limit|too)|exceeds? the (available )?context"
    r"|prompt is too long|input is too long|too many (input )?tokens|maximum (prompt|model) length"
)
# Not "exceeded your current quota": one provider says that of its limits per minute as well.
_NO_MONEY_WORDS = r"credit balance|insufficient (credits|funds|balance)|budget has been exceeded|key limit exceeded"
_DAY_WORDS = r"per[ _-]?day\b|perday|\b[rt]pd\b|daily (request |token )?(limit|quota)"
_NO_SUCH_METHOD_WORDS = r"unexpected endpoint or method"
_TEMPLATE_WORDS = r"roles must alternate|system role (is )?not supported|only user and assistant roles"
_NEVER_FITS_WORDS = r"request too large for|larger than the (rate )?limit"
_SCHEMA_WORDS = r"response_format|json_schema|output_config|text\.format|structured output"

_TURNED_DOWN = (400, 403, 413, 422, 500, 502)
"""Statuses under which a prompt may have been turned down, whatever the provider calls it."""
_NO_CREDIT = "the account has no credit left, or the key's budget is used up: add some, then resume the run"
_NO_DAY = "the quota of the day is used up: raise it, or give the same command again tomorrow"
_NO_METHOD = "base_url leads to no API: add /v1 to it"
_TEMPLATE = "its chat template takes no system turn: set fold_system = true for this model"
_NEVER_FITS = "a single request is above the account's limit: lower max_tokens or raise the limit"
_REDIRECTED = "it sends calls on to {host}: check base_url"
_CHECK_MODEL = "check the model name {model} and base_url"

ANSWERED = (
    Row("refusal", "codes of OpenAI, Azure and OpenRouter", _TURNED_DOWN, FILTERED),
    Row("refusal", "the same, passed on by a router", None, FILTERED, inside_200=True),
    Row("refusal", "Azure and OpenRouter, in words", (400, 403), words=_FILTER_WORDS, page=False),
    Row("length", "codes of OpenAI and llama.cpp", _TURNED_DOWN, _TOO_LONG),
    Row("length", "the same, passed on by a router", None, _TOO_LONG, inside_200=True),
    # A page is a proxy's own limit, and says nothing of the model.
    Row("length", "RFC 9110; Anthropic's request_too_large", (413,), page=False),
    Row("length", "OpenAI, Anthropic, vLLM and llama.cpp, in words", (400, 422, 500), words=_TOO_LONG_WORDS),
    Row("malformed", "codes of Groq", (400, 422), _MALFORMED),
    Row("malformed", "the same, passed on by a router", None, _MALFORMED, inside_200=True),
    Row("fatal", "LM Studio, which says it with status 200", words=_NO_SUCH_METHOD_WORDS, inside_200=True,
        remedy=_NO_METHOD),
    Row("fatal", "codes of OpenAI, Anthropic, OpenRouter and LiteLLM", None, _NO_MONEY, remedy=_NO_CREDIT),
    Row("fatal", "RFC 9110: payment required", (402,), remedy=_NO_CREDIT),
    Row("fatal", "Anthropic and others, in words", (400, 403, 429), words=_NO_MONEY_WORDS, remedy=_NO_CREDIT),
    # A wait told in the body is that of the next minute's quota.
    Row("fatal", "Google and OpenRouter: quotas of a day", (429,), words=_DAY_WORDS, untold=True, remedy=_NO_DAY),
    Row("wait", "codes of Anthropic, with a 400", None, _PASSING),
    Row("fatal", "chat templates, in words", (400, 500), words=_TEMPLATE_WORDS, remedy=_TEMPLATE),
    Row("fatal", "OpenAI and its imitators, in words", (429,), words=_NEVER_FITS_WORDS, remedy=_NEVER_FITS),
    Row("fatal", "RFC 9110: unauthorized", (401,), remedy="the key in {key} is not accepted",
        keyless="it wants a key: set api_key_env"),
    Row("fatal", "RFC 9110: forbidden", (403,), page=False, remedy="the key in {key} may not use this model here",
        keyless="access is refused"),
    # Another try looks no better, and no key is at fault.
    Row("outage", "a bot guard before the provider", (403,)),
    Row("wait", "RFC 9110 and 6585: passing; 498, 499: gateways", (408, 409, 421, 423, 425, 429, 498, 499)),
    Row("fatal", "RFC 9110, 2774 and 6585", (501, 505, 510, 511), remedy="it does not offer this API", odd=True),
    Row("wait", "RFC 9110: server errors; 520 and on: gateways; 529: Anthropic", range(500, 1000)),
    Row("fatal", "RFC 9110: redirects", range(300, 400), remedy=_REDIRECTED, odd=True),
    Row("fatal", "a proxy's page", (404, 410), page=True, remedy=_CHECK_MODEL, odd=True),
    Row("fatal", "RFC 9110: not found", (404, 410), remedy=_CHECK_MODEL),
    Row("fatal", "RFC 9110: method not allowed", (405,), remedy="check base_url", odd=True),
    Row("fatal", "OpenAI and Anthropic, by the field at fault", words=_SCHEMA_WORDS,
        remedy='its schema is refused: style = "json-only" asks without one'),
    Row("fatal", "all else", remedy="the endpoint does not take this request", odd=True),
)
# fmt: on
"""Errors with a status, from the most telling to the least."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What an exception of a call means."""

    names: str
    """The classes, as `harness.providers.errors.failures.qualified` names them."""
    words: str
    """What happened."""
    decision: Decision = "wait"
    billing: Billing = "unknown"
    odd: bool = False
    """See `CallFailed.odd`."""


def _unsent(names: str, words: str) -> Rule:
    """No request left, so nothing is charged, and another may."""
    return Rule(names, words, "wait", "none")


def _setup(names: str, words: str, odd: bool = False) -> Rule:
    """No request can leave before something is fixed."""
    return Rule(names, words, "fatal", "none", odd)


_CONFIG = "the SDK cannot make the call with these settings"
_CUT = "the connection was cut off before the answer was complete"
_SHAPE = "the answer has not the shape of one"
_UNREADABLE = "the answer could not be decoded"
_NO_HTTP = "the server spoke no proper HTTP"
_UNTRUSTED = "its certificate is not trusted; behind a proxy of your own, set SSL_CERT_FILE"
NO_FILES = _unsent("", "no more files can be opened; raise the limit (ulimit -n) or lower the concurrency")
WRONG_SCHEME = _setup("", "it does not speak https; write http:// in base_url", odd=True)

# From the most telling to the least: of all classes in an exception's chain of causes, the first one listed here
# decides. The order matters because transports hide what happened: through aiohttp a refused connection arrives as a
# "connect timeout", and only the cause below it says so.
# fmt: off
_RAISED = (
    _setup("ssl.SSLCertVerificationError", _UNTRUSTED, odd=True),
    _setup("aiohttp.ClientConnectorCertificateError", "its certificate does not fit the host name", odd=True),
    _setup("aiohttp.ServerFingerprintMismatch", "its certificate is not the expected one", odd=True),
    _unsent("aiohttp.ClientConnectorSSLError aiohttp.ClientSSLError",
            "no secure connection; does it speak https at that port?"),
    _unsent("aiohttp.ClientHttpProxyError", "the proxy refused the connection"),
    _unsent("aiohttp.ClientProxyConnectionError httpx2.ProxyError", "the proxy cannot be reached"),
    _unsent("aiohttp.ClientConnectorDNSError socket.gaierror", "the host name cannot be resolved; check base_url"),
    _unsent("builtins.ConnectionRefusedError", "nothing listens there; is the server running?"),
    _unsent("aiohttp.ConnectionTimeoutError", "no connection within the connect timeout"),
    _setup("aiohttp.InvalidURL httpx2.InvalidURL", "base_url is no address"),
    _setup("aiohttp.NonHttpUrlClientError httpx2.UnsupportedProtocol", "base_url is no http address"),
    _setup("aiohttp.RedirectClientError", "it sends calls on to another address; check base_url", odd=True),
    _setup("aiohttp.TooManyRedirects httpx2.TooManyRedirects",
           "it sends calls on in circles; check base_url", odd=True),
    _unsent("aiohttp.ClientConnectorError", "no connection"),
    Rule("aiohttp.ServerDisconnectedError", "the server hung up without an answer"),
    Rule("aiohttp.SocketTimeoutError aiohttp.ServerTimeoutError", "the server went silent"),
    Rule("aiohttp.UploadAbortedError", "the server hung up while the request was sent"),
    Rule("aiohttp.ClientPayloadError", _CUT),
    Rule("aiohttp.WSServerHandshakeError", _NO_HTTP),
    Rule("aiohttp.ContentTypeError", _UNREADABLE),
    Rule("aiohttp.ClientResponseError", _NO_HTTP),
    Rule("httpx2.DecodingError json.JSONDecodeError builtins.UnicodeDecodeError", _UNREADABLE),
    Rule("weigh.AnswerTooLong", "the answer is too long to be one", "outage"),
    Rule("builtins.RecursionError", "the answer is nested too deeply to be decoded"),
    Rule("pydantic_core.ValidationError", _SHAPE),
    Rule("openai.APIResponseValidationError anthropic.APIResponseValidationError", _SHAPE),
    Rule("builtins.ConnectionResetError builtins.BrokenPipeError builtins.ConnectionAbortedError", _CUT),
    Rule("aiohttp.ClientConnectionError", _CUT),
    _unsent("httpx2.PoolTimeout", "no free connection in time"),
    Rule("httpx2.ReadTimeout", "the server went silent"),
    Rule("httpx2.WriteTimeout", "the server took no more of the request"),
    _unsent("httpx2.ConnectTimeout", "no connection within the connect timeout"),
    _unsent("httpx2.ConnectError", "no connection"),
    _setup("httpx2.LocalProtocolError", _CONFIG),
    Rule("httpx2.RemoteProtocolError", _NO_HTTP),
    Rule("httpx2.NetworkError httpx2.TransportError httpx2.RequestError", _CUT),
    Rule("ssl.SSLError", "the secure connection broke"),
    Rule("builtins.TimeoutError", "the connection timed out"),
    Rule("builtins.OSError", "the connection failed"),
    Rule("openai.APITimeoutError anthropic.APITimeoutError", "the connection timed out"),
    Rule("openai.APIConnectionError anthropic.APIConnectionError", "the connection failed"),
    Rule("anthropic.RetryableError", "the SDK asked for another try"),
    # Credentials that the SDKs could look for by themselves. The clients hand theirs in, so these mean a setting of the
    # machine (a profile, a federation) got in between.
    _setup("openai.SubjectTokenProviderError anthropic.CredentialsError anthropic.WorkloadIdentityError",
           "its credentials cannot be obtained"),
    _setup("openai.MutuallyExclusiveAuthError anthropic.MutuallyExclusiveAuthError", _CONFIG),
    _setup("openai.MissingDependencyError anthropic.MissingDependencyError",
           "a package that the SDK needs is not installed"),
    Rule("openai.APIError anthropic.APIError", "the provider reported an error"),
    # Whatever else the SDKs say of themselves is about how they were called.
    _setup("openai.OpenAIError anthropic.AnthropicError", _CONFIG),
)
RULES: Mapping[str, Rule] = {name: rule for rule in _RAISED for name in rule.names.split()}

BUGS = frozenset((
    "openai.APIRemovedInV1", "openai._AmbiguousModuleClientUsageError", "openai.AgentFilePreparationError",
    "openai.AgentFileStagingError", "openai.AgentOutputParseError", "openai.AgentTurnResultError",
    "openai.ContentFilterFinishReasonError", "openai.LengthFinishReasonError", "openai.StreamAlreadyConsumed",
    "openai.WebSocketConnectionClosedError", "openai.WebSocketQueueFullError",
    "anthropic.APIWebhookValidationError", "anthropic.StreamAlreadyConsumed", "anthropic.ToolsetUsageError",
))
# fmt: on
"""What only parts of the SDKs raise that no client here uses (parsed output, streams, sockets, tools, web hooks): such
an exception, and any subclass of it, is a mistake in this package and must be seen as one."""
