"""How long a provider asks to be left alone: the headers and body fields that say so, in all their spellings.

Owns the arithmetic, the header names, and the bound on what is believed. Whether and how the wait is kept is decided
elsewhere.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

CLOCKS_DISAGREE = 2.0
"""Seconds between the server's Date and this machine's clock from which the server's is taken for dates it names."""

LONGEST_ASKED = 86_400.0
"""Seconds; a provider that asks for more is asked again after this. One refused call a day costs nothing, and a wait of
ten years is a mistake of whoever wrote it, or of whoever reads it."""

_LONG_AGO = 1e9
"""Numbers above this are moments (seconds since 1970), not durations: nobody asks for a wait of thirty years."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

# Pairs of what is left of a ceiling and when it is whole again. OpenAI's and its imitators', OpenRouter's, Anthropic's.
_CEILINGS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
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
    nobody has to wait for.
    """
    asked = _asked(headers, limited, delay, time.time() if now is None else now)
    return None if asked is None else min(asked, LONGEST_ASKED)


def refuses_retry(headers: Mapping[str, str]) -> bool:
    """Whether the provider says that the same call should not be made again: `x-should-retry: false`."""
    return headers.get("x-should-retry", "").strip().lower() == "false"


def _asked(headers: Mapping[str, str], limited: bool, delay: object, clock: float) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after", "").strip()
    if stated:
        seconds = _number(stated)
        if seconds is not None:
            return _from_now(seconds, clock)
        moment = _http_date(stated)
        if moment is not None:
            return _until(moment, headers, clock)
    told = _delay(delay)
    if told is not None:
        return told
    return max(_resets(headers, clock), default=None) if limited else None


def _delay(value: object) -> float | None:
    """Google's duration: `37s`, `0.5s`, or the same as an object of seconds and nanos."""
    if isinstance(value, str):
        return _duration(value.strip())
    if isinstance(value, Mapping):
        parts = [_number(str(value.get(name, 0))) for name in ("seconds", "nanos")]
        if None not in parts and any(name in value for name in ("seconds", "nanos")):
            return (parts[0] or 0.0) + (parts[1] or 0.0) / 1e9
    return None


def _resets(headers: Mapping[str, str], clock: float) -> Iterable[float]:
    for left, reset in _CEILINGS:
        if reset in headers and _number(headers.get(left, "")) == 0:
            wait = _reset_wait(headers[reset].strip(), clock)
            if wait is not None:
                yield wait


def _reset_wait(text: str, clock: float) -> float | None:
    """A reset as a duration: `6m0s`, `20ms`, `1.5`, seconds or milliseconds since 1970, or an RFC 3339 date."""
    number = _number(text)
    if number is not None:
        return _from_now(number, clock)
    duration = _duration(text)
    if duration is not None:
        return duration
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return max(0.0, _aware(moment).timestamp() - clock)


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


def _until(moment: datetime, headers: Mapping[str, str], clock: float) -> float:
    """Seconds until the second that an HTTP date names is over: dates have no fractions, and early is limited again."""
    served = _http_date(headers.get("date", ""))
    if served is not None and abs(served.timestamp() - clock) > CLOCKS_DISAGREE:
        clock = served.timestamp()
    return max(0.0, moment.timestamp() + 1.0 - clock)


def _http_date(text: str) -> datetime | None:
    try:
        return _aware(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
