"""What marks a row of a ladder: things that happened to an entrant and that its mean does not show.

Owns when a row is marked and with which word; `harness.caveats` says more of each below the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.warning_levels import CUT_ANSWERS, CUT_GAP, HOLLOW_ANSWERS, HOLLOW_RATE, REFUSALS_IN_A_ROW

if TYPE_CHECKING:
    from harness.standings import Standing


def flags(standing: Standing) -> tuple[str, ...]:
    """The marks of one entrant, the weightiest first."""
    traffic = standing.traffic
    found = {
        "prompts cut": traffic is not None and traffic.cut_prompt_calls > 0,
        "refused": refused_in_a_row(standing),
        "no text": hollow(standing),
        "truncated": (truncation(standing) or 0.0) >= CUT_GAP,
        "reused": traffic is not None and traffic.reused_calls > 0,
    }
    return tuple(word for word, holds in found.items() if holds)


def refused_in_a_row(standing: Standing) -> bool:
    """Whether one of its seats was refused often enough in a row to be out of the game."""
    return standing.conduct.refusal_streak >= REFUSALS_IN_A_ROW


def hollow(standing: Standing) -> bool:
    """Whether too many answers held reasoning and no text."""
    traffic = standing.traffic
    if traffic is None or traffic.reasoning_only_rate is None:
        return False
    return traffic.brought >= HOLLOW_ANSWERS and traffic.reasoning_only_rate > HOLLOW_RATE


def truncation(standing: Standing) -> float | None:
    """The share of answers cut at the token cap, where there are enough of them to tell."""
    traffic = standing.traffic
    return None if traffic is None or traffic.brought < CUT_ANSWERS else traffic.truncation_rate
