"""How long an answer takes, as a distribution read from one word on the command line.

Owns the distributions and their spelling. Draws nothing itself: a latency is a pure function of a number in [0, 1),
so the caller decides what it depends on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist
from typing import Literal

from weigh.harness.providers.mock_server.durations import parse_seconds, parse_span
from weigh.harness.words import did_you_mean

_STANDARD = NormalDist()
_KINDS = ("uniform", "lognormal")
_SIGMA = re.compile(r"\s*\d(?:\.\d+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Latency:
    """A distribution of seconds."""

    kind: Literal["constant", "uniform", "lognormal"]
    first: float
    """Seconds: the constant, the lower end, or the median."""
    second: float = 0.0
    """Seconds for the upper end; the standard deviation of the logarithm for a lognormal; unused for a constant."""

    def seconds(self, quantile: float) -> float:
        """The latency at `quantile` in [0, 1): the inverse of the distribution function."""
        if self.kind == "uniform":
            return self.first + (self.second - self.first) * quantile
        if self.kind == "lognormal":
            # The ends are infinite; a draw of exactly 0 is moved off them.
            return exp(log(self.first) + self.second * _STANDARD.inv_cdf(max(quantile, 2**-53)))
        return self.first


def parse_latency(text: str) -> Latency:
    """Read `200ms`, `uniform:50-400ms` or `lognormal:MEDIAN,SIGMA` (e.g. `lognormal:300ms,0.5`).

    Raises ValueError with one line saying what is wrong.
    """
    try:
        return _parse(text)
    except ValueError as error:
        raise ValueError(f"latency {text!r}: {error}") from None


def _parse(text: str) -> Latency:
    kind, colon, rest = text.partition(":")
    kind = kind.strip()
    if not colon:
        return Latency("constant", parse_seconds(text))
    if kind == "uniform":
        start, end = parse_span(rest)
        if end is None:
            raise ValueError("write both ends, e.g. uniform:50-400ms")
        return Latency("uniform", start, end)
    if kind == "lognormal":
        median_text, _, sigma_text = rest.partition(",")
        median = parse_seconds(median_text)
        if median <= 0 or not _SIGMA.fullmatch(sigma_text):
            raise ValueError("write a median above 0 and a sigma, e.g. lognormal:300ms,0.5")
        return Latency("lognormal", median, float(sigma_text))
    raise ValueError(f"no distribution is called {kind!r}{did_you_mean(kind, _KINDS)}")
