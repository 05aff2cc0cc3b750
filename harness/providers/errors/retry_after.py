"""How long a provider asks to be left alone: the headers and body fields that say so, in all their spellings.

Owns the arithmetic, the header names, and the bound on what is believed. Whether and how the wait is kept is decided
elsewhere.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

CLOCKS_DISAGREE = 2.0
"""Seconds between the server's Date and this machine's clock from which the server's is taken for dates it names."""

LONGEST_ASKED = 86_400.0
"""Seconds; a provider that asks for more is asked again after this. One refused call a day costs nothing, and a wait of
ten years is a mistake of its writer or of its reader."""

_LONG_AGO = 1e9
"""Numbers above this are moments (seconds since 1970), not durations: no provider asks for a wait of thirty years."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

# What is left of a ceiling; when it is whole again stands in a header with `reset` for `remaining`. OpenAI's and its
# imitators', OpenRouter's, Anthropic's.
_CEILINGS = (
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-remaining",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-output-tokens-remaining",
)


def asked_wait(
    headers: Mapping[str, str], *, limited: bool, delay: object = None, now: float | None = None
) -> float | None:
    """Seconds to wait before the next call, 0 to `LONGEST_ASKED`; None when the provider does not say.

    Up to that bound it is never less than the provider meant. A negative wait is none at all; what is no finite number
    and no date says nothing. `headers` have lower-case names. `retry-after-ms` goes before `retry-after` (seconds, a
    moment in seconds since 1970, or an HTTP date), and that before `delay`, the `retryDelay` of the body (see
    `harness.providers.errors.reading`). The resets of rate-limit ceilings are read only for a call that was
    `limited`, and only of those ceilings that are used up: the others' resets say when they will be full again, which
    no call has to wait for.
    """
    clock = time.time() if now is None else now
    asked = _header(headers, clock)
    if asked is None:
        asked = _delay(delay)
    if asked is None and limited:
        resets = (headers.get(left.replace("remaining", "reset"), "") for left in _CEILINGS if _used_up(headers, left))
        asked = max((wait for text in resets if (wait := _reset(text.strip(), clock)) is not None), default=None)
    return None if asked is None else min(asked, LONGEST_ASKED)


def refuses_retry(headers: Mapping[str, str]) -> bool:
    """Whether the provider says that the same call should not be made again: `x-should-retry: false`."""
    return headers.get("x-should-retry", "").strip().lower() == "false"


def _header(headers: Mapping[str, str], clock: float) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    seconds = _number(text)
    if seconds is not None:
        return _from_now(seconds, clock)
    moment = _http_date(text)
    if moment is None:
        return None
    served = _http_date(headers.get("date", ""))
    if served is not None and abs(served - clock) > CLOCKS_DISAGREE:
        clock = served
    # Until the second that the date names is over: dates have no fractions, and early is limited again.
    return max(0.0, moment + 1.0 - clock)


def _delay(value: object) -> float | None:
    """Google's duration: `37s`, `0.5s`, or the same as an object of seconds and nanos."""
    if isinstance(value, str):
        return _duration(value.strip())
    if isinstance(value, Mapping) and ("seconds" in value or "nanos" in value):
        seconds, nanos = (_number(str(value.get(name, 0))) for name in ("seconds", "nanos"))
        return None if seconds is None or nanos is None else seconds + nanos / 1e9
    return None


def _used_up(headers: Mapping[str, str], left: str) -> bool:
    return _number(headers.get(left, "")) == 0


def _reset(text: str, clock: float) -> float | None:
    """A reset as a duration: `6m0s`, `20ms`, `1.5`, seconds or milliseconds since 1970, or an RFC 3339 date."""
    number = _number(text)
    if number is not None:
        return _from_now(number, clock)
    duration = _duration(text)
    if duration is not None:
        return duration
    try:
        return max(0.0, _timestamp(datetime.fromisoformat(text)) - clock)
    except ValueError:
        return None


def _from_now(number: float, clock: float) -> float:
    """A number as seconds from now: a duration, or a moment in seconds or milliseconds since 1970."""
    if number < _LONG_AGO:
        return number
    return max(0.0, (number / 1000 if number > _LONG_AGO * 1000 else number) - clock)


def _duration(text: str) -> float | None:
    """`6m0s`, `20ms`, `37.5s`; None for anything else. Of more than 40 characters none is meant."""
    parts = _DURATION.findall(text) if len(text) <= 40 else []
    if parts and "".join(amount + unit for amount, unit in parts) == text:
        return sum(float(amount) * _UNITS[unit] for amount, unit in parts)
    return None


def _http_date(text: str) -> float | None:
    """Seconds since 1970."""
    try:
        return _timestamp(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _timestamp(moment: datetime) -> float:
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
