"""How a refusal says when to come back: `Retry-After` in seconds, as an HTTP date, or `retry-after-ms`.

Owns the spelling in plans (`2s`, `300ms`, `date+1.8s`) and in headers. Reads no clock: the moment is passed in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from email.utils import formatdate
from typing import Literal

from weigh.harness.providers.mock_server.durations import parse_seconds

_DATE = "date+"


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """A promise to serve again after some time."""

    form: Literal["seconds", "ms", "date"]
    seconds: float

    def until(self, now: float) -> float:
        """The moment (Unix seconds) the header will name: for a date the next whole second, as dates have no less."""
        end = now + self.seconds
        return float(math.ceil(end)) if self.form == "date" else end

    def headers(self, now: float, until: float) -> dict[str, str]:
        """The header for the time left until `until`, never rounded down."""
        left = max(until - now, 0.0)
        if self.form == "date":
            return {"Retry-After": formatdate(until, usegmt=True)}
        if self.form == "ms":
            return {"retry-after-ms": str(math.ceil(left * 1000))}
        thousandths = math.ceil(round(left * 1000, 6))
        return {"Retry-After": f"{thousandths / 1000:g}"}


def parse_retry_after(value: object) -> RetryAfter:
    """Read `2`, `2s` (seconds), `300ms` (the -ms header) or `date+3s` (an HTTP date). Raises ValueError."""
    if not isinstance(value, str):
        return RetryAfter("seconds", parse_seconds(value))
    text = value.strip()
    if text.startswith(_DATE):
        return RetryAfter("date", parse_seconds(text.removeprefix(_DATE)))
    return RetryAfter("ms" if text.endswith("ms") else "seconds", parse_seconds(text))
