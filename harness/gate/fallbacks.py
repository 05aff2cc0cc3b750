"""Whose moves were judged: the policy's own, or those of the fallback that moves for it after two faults.

Owns the one rule on it. A policy that never answers plays as the fallback does, often as well as its baseline: its
score says nothing of it. Knows rates only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_FALLBACK_RATE: Final = 0.2
"""The largest share of moves that the fallback may make, unless said otherwise."""

CHECK: Final = "own_moves"
"""What the rule is called among the checks of a verdict. No measure has this name."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of an arm's moves, 0 to 1; None where they are not known."""

    fallback: float | None = None
    """Made by the fallback after two faults."""
    retry: float | None = None
    """Made at the second attempt, or by the fallback."""


def rates_of(conduct: Mapping[str, float | None]) -> Rates:
    """The rates among an arm's measures."""
    return Rates(conduct.get("fallback_rate"), conduct.get("retry_rate"))


def played_by_fallback(rates: Rates, most: float) -> str | None:
    """Why an arm's score is not its policy's, in words that follow "the arm"; None where it is, or nothing is known.

    An arm without a move of its own never counts, whatever `most` allows.
    """
    if rates.fallback is None or (rates.fallback <= most and rates.fallback < 1):
        return None
    return f"the fallback made {per_cent(rates.fallback)} of its moves (max_fallback_rate {most:g})"


def per_cent(share: float | None) -> str:
    """A share as it is told: `12.5 %`; never 0 or 100 for what is only near it."""
    if share is None:
        return "-"
    for digits in (3, 4, 6, 9):
        text = f"{100 * share:.{digits}g}"
        if float(text) not in (0.0, 100.0) or share in (0.0, 1.0):
            return f"{text} %"
    return f"{100 * share!r} %"
