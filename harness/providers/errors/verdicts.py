"""What a provider's error means: a refusal to be played on with, or a failure of the call.

Owns the rules by status and by the telling words of each provider. Knows no HTTP and no SDK.

Two kinds of error are answers rather than failures, since asking again, or asking later, changes nothing, and since it
is the policy's prompt that was turned down: a content filter (stop `refusal`), and a prompt that has outgrown the
model's context (stop `length`). Both leave the episode going: it gets a retry and then the fallback move, like any
reply without a move. Failing the call instead would void the same episode again on each replay, or stop a whole ladder
for one long game.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.errors.failures import CallFailed, Decision
from weigh.harness.providers.errors.reading import ProviderError, one_line, without_markup
from weigh.harness.providers.errors.retry_after import asked_wait, refuses_retry
from weigh.policies.contract import CONTEXT_FULL, Billing, Completion, Usage

FILTERED = "content_filter"
"""`Completion.stop_detail` of a prompt that was turned down for its content, where the provider named no other word."""

_NOTHING = Usage(input=0, cached=0, output=0, reasoning=0, cache_written=0)

_FILTER_NAMES = frozenset(
    (
        "bio_policy",
        "content_filter",
        "content_policy_violation",
        "cyber_policy_violation",
        "invalid_prompt",
        "misalignment_policy_violation",
        "moderation_blocked",
        "responsibleaipolicyviolation",
        "safety_error",
    )
)
_FILTER_WORDS = re.compile(
    r"content (?:management )?policy|content filter(?:ing)? policy|flagged (?:by|as|for)|moderation.*flagged", re.I
)
_CONTEXT_NAMES = frozenset(("context_length_exceeded", "exceed_context_size_error", "string_above_max_length"))
_CONTEXT_WORDS = re.compile(
    r"maximum context length|context (?:length|window|size).*(?:exceed|limit|too)|exceeds? the (?:available )?context"
    r"|prompt is too long|input is too long|too many (?:input )?tokens|maximum (?:prompt|model) length",
    re.I,
)
_NO_MONEY_NAMES = frozenset(
    (
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "insufficient_credits",
        "insufficient_quota",
        "linked_organization_billing_unavailable",
        "linked_organization_spend_limit_reached",
    )
)
# Not "exceeded your current quota": one provider says that of its limits per minute as well.
_NO_MONEY_WORDS = re.compile(r"credit balance|insufficient (?:credits|funds|balance)", re.I)
_NEVER_FITS_WORDS = re.compile(r"request too large for|larger than the (?:rate )?limit", re.I)
_TEMPLATE_WORDS = re.compile(
    r"roles must alternate|system role (?:is )?not supported|only user and assistant roles", re.I
)
_SCHEMA_WORDS = re.compile(r"response_format|json_schema|output_config|text\.format|structured output", re.I)
_PASSING_CODES = frozenset(("beta_request_body_timeout", "thread_continue_in_flight"))
"""Error codes that Anthropic sends with a 400 and that another try can mend."""

_PASSING = frozenset((408, 409, 421, 423, 425, 429, 498, 499))
"""Client-side statuses that another try can mend; every other 4xx stays what it is."""
_FINAL_5XX = frozenset((501, 505, 510, 511))
_NOT_CHARGED_5XX = frozenset((503, 529))


def as_completion(error: ProviderError) -> Completion | None:
    """The answer that an error amounts to (see the module), or None when it is a failure."""
    if error.status in (400, 403, 413, 422, 500, 502) or error.inside_200:
        if _filtered(error):
            detail = next(iter(sorted(error.names & _FILTER_NAMES)), FILTERED)
            return Completion("", "refusal", usage=_NOTHING, stop_detail=detail)
        if _too_long(error):
            return Completion("", "length", usage=_NOTHING, stop_detail=CONTEXT_FULL)
    return None


def verdict(error: ProviderError, endpoint: Endpoint, *, secret: str = "", now: float | None = None) -> CallFailed:
    """What to do about an error that is no answer. `secret` is blotted out of the cause."""
    decision, remedy, odd = _decision(error, endpoint)
    limited = error.status == 429 and decision == "wait"
    wait = None
    if decision == "wait":
        wait = asked_wait(error.headers, limited=limited, delay=error.retry_delay, now=now)
        if wait is None and refuses_retry(error.headers):
            # Where a wait is told too, that is kept, and says when another try is welcome.
            decision = "outage"
    where = f"status {error.status}" if not error.inside_200 else f"an error {error.status} inside a 200"
    if error.html:
        said = f"a web page: {one_line(without_markup(error.message), secret)}"
    else:
        said = one_line(error.message, secret) or "no reason given"
    cause = f"{where} from {endpoint.base_url}: {said}"
    return CallFailed(
        decision,
        f"{cause}; {remedy}" if remedy else cause,
        wait=wait,
        limited=limited,
        billing=_billing(error),
        status=error.status,
        odd=odd,
    )


def web_page(status: int, text: str, endpoint: Endpoint, *, secret: str = "") -> CallFailed:
    """A page for people where an answer should be, with a status that says all is well: a login, a wrong path."""
    shown = one_line(without_markup(text), secret) or one_line(text, secret)
    cause = (
        f"status {status} from {endpoint.base_url}, but a web page: {shown}; check base_url, and log in to the network"
    )
    return CallFailed("fatal", cause, billing="none", status=status, odd=True)


def _decision(error: ProviderError, endpoint: Endpoint) -> tuple[Decision, str, bool]:
    """The decision, what a person should do where it is `fatal`, and whether that is an odd one: see `CallFailed`."""
    status = error.status
    named = _named(error, endpoint)
    if named is not None:
        return *named, False
    if error.code in _PASSING_CODES or status in _PASSING:
        return "wait", "", False
    if status >= 500:
        return ("fatal", "it does not offer this API", True) if status in _FINAL_5XX else ("wait", "", False)
    if status == 403 and error.html:
        return "outage", "", False  # a bot guard before the provider: another try looks no better, no key is at fault
    if 300 <= status < 400:
        return "fatal", f"it sends calls on to {_host_of(error.headers.get('location', ''))}: check base_url", True
    if status in (404, 410):
        return "fatal", f"check the model name {one_line(endpoint.model, limit=80)} and base_url", error.html
    if status == 405:
        return "fatal", "check base_url", True
    if _SCHEMA_WORDS.search(f"{error.param} {error.told}"):
        return "fatal", 'its schema is refused: style = "json-only" asks without one', False
    return "fatal", "the endpoint does not take this request", True


def _named(error: ProviderError, endpoint: Endpoint) -> tuple[Decision, str] | None:
    """The same for errors of the account, the key and the model's own limits; None for all others."""
    status, key = error.status, endpoint.api_key_env
    if (
        error.names & _NO_MONEY_NAMES
        or status == 402
        or (status in (400, 403, 429) and _NO_MONEY_WORDS.search(error.told))
    ):
        return "fatal", "the account has no credit left: add some, then resume the run"
    if error.code in _PASSING_CODES:
        return None
    if status in (400, 500) and _TEMPLATE_WORDS.search(error.told):
        return "fatal", "its chat template takes no system turn: set fold_system = true for this model"
    if status == 429 and _NEVER_FITS_WORDS.search(error.told):
        return "fatal", "a single request is above the account's limit: lower max_tokens or raise the limit"
    if status == 401:
        return "fatal", f"the key in {key} is not accepted" if key else "it wants a key: set api_key_env"
    if status == 403 and not error.html:
        return "fatal", f"the key in {key} may not use this model here" if key else "access is refused"
    return None


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
    if error.inside_200:
        return "none" if error.status < 500 else "unknown"
    if error.status in (408, 499):
        return "unknown"
    return "none" if error.status < 500 or error.status in _NOT_CHARGED_5XX else "unknown"


def _filtered(error: ProviderError) -> bool:
    if error.names & _FILTER_NAMES:
        return True
    return error.status in (400, 403) and not error.html and bool(_FILTER_WORDS.search(error.told))


def _too_long(error: ProviderError) -> bool:
    if error.names & _CONTEXT_NAMES:
        return True
    if error.status == 413:
        return not error.html  # a page is a proxy's own limit, and says nothing of the model
    return error.status in (400, 422, 500) and bool(_CONTEXT_WORDS.search(error.told))
