"""What a provider says instead of an answer, brought into one shape from the many in use.

Owns where status, code, type, parameter and message stand in an error: in the body of an error status, in an error
object inside a 200, in a page of HTML; and how a provider's own words are quoted to people: on one line, cut short,
harmless on a terminal, and without keys. Decides nothing: `harness.providers.errors.table` does.
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

PIECE = 12
"""Characters of a secret that tell too much of it."""
_URL_SAFE = str.maketrans("+/", "-_")

LIMIT = 200
"""Most characters of a provider's text that a line quotes."""

_LOOKED_AT = 4_000
"""Characters of the text that are read at all; error pages run to hundreds of kilobytes."""

# What keys look like on both sides of an Authorization header. The client's own key is taken out by value as well.
_KEYS = re.compile(r"(?i)\b(?:bearer\s+|sk-|rk-|pk-|key-)[A-Za-z0-9._*\-]{8,}")
_MARKUP = re.compile(r"(?is)<(script|style)\b.*?(</\1\s*>|$)|<!--.*?(-->|$)|<[^>]*(>|$)")

# Names that stand for a status where an error inside a 200 gives no number. Anthropic's error types and the codes of
# OpenAI's Responses and Chat APIs; a name in neither list says nothing about a status.
_STATUS_OF_NAME: Mapping[str, int] = {
    "invalid_request_error": 400,
    "invalid_request": 400,
    "bad_request": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "insufficient_credits": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "data_residency_mismatch": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "unavailable_error": 503,
    "service_unavailable": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@dataclass(frozen=True, slots=True)
class ProviderError:
    """An error as a provider worded it. Names are lower case; what was not reported is empty."""

    status: int
    """Of the HTTP answer; for an error inside a 200 the one it stands for, 502 where it names none."""
    message: str
    code: str = ""
    kind: str = ""
    """Its `type`."""
    param: str = ""
    """The body field it complains of."""
    html: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    """Lower-case names. For waits only; never printed."""
    inside_200: bool = False
    retry_delay: object = None
    """What the body says of a wait, as it stands there: the `retryDelay` of Google's RetryInfo. None without any."""

    quota: str = ""
    """The limits that were passed, as the `quotaId` of Google's QuotaFailure names them."""

    @property
    def excerpt(self) -> str:
        """The field complained of, the quota and the beginning of the message: all that patterns are looked for in."""
        return f"{self.param[:_EXCERPT]} {self.quota[:_EXCERPT]} {self.message[:_EXCERPT]}"

    @property
    def names(self) -> frozenset[str]:
        """Code and type together: providers put the telling word in either."""
        return frozenset((self.code, self.kind)) - {""}


_EXCERPT = 2_000
"""Characters. Some errors quote whole prompts, and patterns with a gap in them take time that grows with the square."""

_STATUS = re.compile(r"([45][0-9]{2})(?:\.0)?")
"""A status that is an error, as routers write it: 429, "429" or 429.0."""


def error_of(status: int, headers: Mapping[str, str], content: bytes) -> ProviderError:
    """The error in the body of an answer with an error status."""
    text = content.decode("utf-8", "replace").strip()
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return ProviderError(status, text, html=looks_like_html(headers, text), headers=headers)
    return _from_json(status, headers, body)


def error_inside(body: Mapping[str, object], headers: Mapping[str, str]) -> ProviderError | None:
    """The error object inside an answer with status 200, or None when there is none.

    It may stand at the top (`{"error": {...}}`, `{"type": "error", ...}`) or in the first choice, where a router puts
    the failure of the provider behind it.
    """
    found = body.get("error")
    if not found and body.get("object") == "error":
        found = body
    choices = body.get("choices")
    if not found and isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        found = choices[0].get("error")
    if not found or (isinstance(found, Mapping) and not any(found.values())):
        return None  # an error that says nothing, next to an answer, is no error
    error = _from_json(200, headers, {"error": found})
    return replace(error, status=_status_inside(found, error), inside_200=True)


def looks_like_html(headers: Mapping[str, str], text: str) -> bool:
    """Whether a body is a page for people."""
    return "html" in headers.get("content-type", "").lower() or text.lstrip()[:200].lower().startswith(
        ("<!doctype html", "<html", "<head", "<body")
    )


def _status_inside(found: object, error: ProviderError) -> int:
    values = [found.get("code"), found.get("status"), found.get("status_code")] if isinstance(found, Mapping) else []
    for value in values:
        status = _STATUS.fullmatch(value if isinstance(value, str) else str(value)[:8])
        if status is not None:
            return int(status[1])
    return next((_STATUS_OF_NAME[name] for name in (error.code, error.kind) if name in _STATUS_OF_NAME), 502)


def _from_json(status: int, headers: Mapping[str, str], body: object) -> ProviderError:
    if isinstance(body, list) and body:  # one provider wraps its error in a list
        body = body[0]
    error: object = body
    if isinstance(body, Mapping):
        error = body.get("error") or body.get("errors") or body.get("detail") or body
    if isinstance(error, list) and error:  # FastAPI's list of problems with the request
        error = error[0]
    if not isinstance(error, Mapping):
        return ProviderError(status, _text(error) or "no reason given", headers=headers)
    place = error.get("loc")
    param = error.get("param") or (place[-1] if isinstance(place, list) and place else None)
    message = next((_text(error[key]) for key in ("message", "msg", "error", "detail") if error.get(key)), "")
    details, metadata = error.get("details"), error.get("metadata")
    code = error.get("code")
    if isinstance(details, Mapping) and isinstance(details.get("error_code"), str):
        code = details["error_code"]  # Anthropic's stable name for the cause
    if isinstance(metadata, Mapping) and metadata.get("raw"):  # OpenRouter: the words of the provider behind it
        message = f"{message}: {_text(metadata['raw'])}"
    return ProviderError(
        status,
        message or "no reason given",
        _text(code).lower(),
        _text(error.get("type")).lower(),
        _text(param),
        headers=headers,
        retry_delay=_retry_delay(details),
        quota=_quota(details),
    )


def _retry_delay(details: object) -> object:
    """Google's errors carry a list of details, each with its type; one of them may be a RetryInfo."""
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping) and _text(detail.get("@type")).endswith("google.rpc.RetryInfo"):
            return detail.get("retryDelay")
    return None


def _quota(details: object) -> str:
    found = [
        _text(violation.get("quotaId"))
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, Mapping) and isinstance(detail.get("violations"), list)
        for violation in detail["violations"]
        if isinstance(violation, Mapping)
    ]
    return " ".join(found)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int | float):
        return str(value)
    return json.dumps(value, default=str)[:2_000]


def one_line(text: str, secret: str = "", limit: int = LIMIT) -> str:
    """`text` as one line of at most `limit` characters; `secret` and whatever looks like a key is blotted out."""
    # Keys go first: cut or broken up, they would no longer be recognised.
    blotted = _KEYS.sub("[key]", masked(text[:_LOOKED_AT], secret))
    line = "".join(map(_printable, " ".join(blotted.split())))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def masked(text: str, secret: str) -> str:
    """`text` with `[key]` in the place of the secret, whole or in any piece of PIECE characters, plain or as base64."""
    if len(secret) < PIECE:
        return text.replace(secret, "[key]") if secret else text
    pieces = _pieces(secret)
    ends = [at + PIECE for at in range(len(text) - PIECE + 1) if text[at : at + PIECE] in pieces]
    if not ends:
        return text
    parts, done = list[str](), 0
    for end in ends:
        if end - PIECE >= done:  # else it goes on with the piece before
            parts += [text[done : end - PIECE], "[key]"]
        done = end
    return "".join((*parts, text[done:]))


@lru_cache(maxsize=64)
def _pieces(secret: str) -> frozenset[str]:
    forms = [secret]
    for shift in range(3):  # what stands before it decides how its bits fall on characters
        code = b64encode(b"\0" * shift + secret.encode()).decode().rstrip("=")
        inner = code[-(-shift * 8 // 6) : -1]  # the ends hold bits of what stands around it
        forms += [inner, inner.translate(_URL_SAFE)]
    return frozenset(form[at : at + PIECE] for form in forms for at in range(len(form) - PIECE + 1))


def without_markup(html: str) -> str:
    """The words of a page."""
    return _MARKUP.sub(" ", html[:_LOOKED_AT])


def _printable(character: str) -> str:
    # Cc control, Cf format (bidirectional overrides, zero-width), Co private, Cs lone surrogates, Zl and Zp separators.
    if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
        return f"\\u{ord(character):04x}"
    return character
