"""How long a provider asks to be left alone: the headers that say so, in all their spellings.

Owns the arithmetic and the header names. Whether and how the wait is kept is decided elsewhere.
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


def asked_wait(headers: Mapping[str, str], *, limited: bool, now: float | None = None) -> float | None:
    """Seconds to wait before the next call, never less than the provider meant; None when it does not say.

    `headers` have lower-case names. `retry-after-ms` goes before `retry-after` (seconds or an HTTP date). The resets of
    rate-limit ceilings are read only for a call that was `limited`, and only of those ceilings that are used up: the
    others' resets say when they will be full again, which nobody has to wait for.
    """
    clock = time.time() if now is None else now
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after", "").strip()
    if stated:
        seconds = _number(stated)
        if seconds is not None:
            return seconds
        moment = _http_date(stated)
        if moment is not None:
            return _until(moment, headers, clock)
    return max(_resets(headers, clock), default=None) if limited else None


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
        if number < _LONG_AGO:
            return number
        return max(0.0, (number / 1000 if number > _LONG_AGO * 1000 else number) - clock)
    parts = _DURATION.findall(text)
    if parts and "".join(amount + unit for amount, unit in parts) == text:
        return sum(float(amount) * _UNITS[unit] for amount, unit in parts)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return max(0.0, _aware(moment).timestamp() - clock)


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
