"""From numbers to places on a line: a scale with round ticks.

Owns this arithmetic. Places are shares of the width in per cent, so that a drawing has the width of the page it is in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

EDGE = 3.0
"""Per cent kept free at each end, for marks that stand at the end of the scale."""

TICKS = 4
"""About so many steps between ticks."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A line from `low` to `high`."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """The place of a value, in per cent; values beyond the ends stand at the ends."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return EDGE + share * (100 - 2 * EDGE)


def scale(values: Iterable[float | None], *, zero: bool = True) -> Scale:
    """A scale with room for all `values`, and for 0 where `zero`; ticks are round numbers (1, 2, 2.5 or 5 times a power
    of ten), and the scale begins and ends with one."""
    known = [value for value in values if value is not None and isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-9:
        low, high = (low - 1, high + 1) if low or not zero else (low, 1.0)
    step = _step((high - low) / TICKS)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return Scale(first * step, last * step, tuple(n * step for n in range(first, last + 1)))


def _step(wanted: float) -> float:
    power = 10.0 ** floor(log10(wanted))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= wanted * (1 - 1e-9))


def tick_text(value: float, signed: bool = False) -> str:
    """A tick as short as it is exact: `0.25`, `+0.5`, `-1`, `0`."""
    text = f"{round(value, 9):{'+' if signed else ''}.6g}"
    return "0" if float(text) == 0 else text
