"""Durations and spans as people write them: `200ms`, `1.5s`, `10m`, `50-400ms`, `0-20s`, `3-`.

Owns their grammar. Knows nothing of what they are used for; every refusal is a ValueError of one line.
"""

from __future__ import annotations

import math
import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*", re.ASCII)
_NUMBER = r"\d+(?:\.\d+)?\s*(?:ms|s|m|h)?"
_SPAN = re.compile(rf"\s*({_NUMBER})?\s*-\s*({_NUMBER})?\s*", re.ASCII)
_UNIT_AT_END = re.compile(r"[a-z]+$")


def parse_seconds(value: object) -> float:
    """Seconds from a number of seconds, or from text with a unit (`ms`, `s`, `m`, `h`; none means seconds)."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"{value} is not a duration: write seconds, 0 or more")
        return float(value)
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a duration: write e.g. 200ms, 1.5s or 10m")
    return float(match[1]) * _UNITS[match[2] or "s"]


def parse_span(value: object) -> tuple[float, float | None]:
    """(from, to) in seconds, from `0-20s`, `20s-` (no end), `-20s`, or a list of two numbers or texts.

    In `50-400ms` the unit stands for both ends. Raises ValueError when the end comes before the start.
    """
    if isinstance(value, str) and (match := _SPAN.fullmatch(value)) and (match[1] or match[2]):
        first, last = match[1], match[2]
        if first and last and not _UNIT_AT_END.search(first) and (unit := _UNIT_AT_END.search(last)):
            first += unit[0]
        ends: tuple[object, object] = (first or 0.0, last)
    elif isinstance(value, (list, tuple)) and len(value) == 2:
        ends = (value[0], value[1])
    else:
        raise ValueError(f"{value!r} is not a span of time: write e.g. 0-20s or 20s-")
    start = parse_seconds(ends[0])
    end = None if ends[1] is None else parse_seconds(ends[1])
    if end is not None and end < start:
        raise ValueError(f"{value!r} ends before it starts")
    return start, end
