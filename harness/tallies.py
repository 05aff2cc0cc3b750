"""What is counted, not estimated, about each entrant: whose moves they were, faults, voids, calls, tokens, money.

Owns sums and rates over the rows of one game. Knows no intervals and no ranks.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from harness.standings import Conduct, Spend
from policies.contract import FAULTS

if TYPE_CHECKING:
    import pandas as pd

BY = ("by_model", "by_retry", "by_fallback", "by_scripted", "by_human")

TOKENS = ("input_tokens", "cached_tokens", "cache_written_tokens", "output_tokens", "reasoning_tokens")

NEEDED = (
    "decisions",
    *BY,
    *(f"fault_{fault}" for fault in FAULTS),
    "refusal_streak",
    "calls",
    "answered",
    *TOKENS,
    "unknown_usage_calls",
    "cost_usd",
    "latency_mean",
)
"""Columns of the seats frame that tallies read."""


def conduct(seats: pd.DataFrame, voids: pd.DataFrame) -> Conduct:
    """Conduct over `seats`, one entrant's rows of one game, and `voids`, its seats in starts that an outage ended."""
    by = {name: _total(seats[name]) for name in BY}
    decisions = _total(seats["decisions"])
    lost = starts_of(voids)
    return Conduct(
        decisions=decisions,
        **by,
        own_move_rate=_rate(decisions - by["by_fallback"], decisions),
        retry_rate=_rate(by["by_retry"] + by["by_fallback"], decisions),
        fallback_rate=_rate(by["by_fallback"], decisions),
        fallback_episodes=episodes_of(seats[seats["by_fallback"] > 0]),
        faults={fault: _total(seats[f"fault_{fault}"]) for fault in FAULTS},
        refusal_streak=int(seats["refusal_streak"].max()) if len(seats) else 0,
        voids=lost,
        voids_own=starts_of(voids[voids["failed"].astype(bool)]),
        void_rate=_rate(lost, lost + episodes_of(seats)),
    )


def episodes_of(rows: pd.DataFrame) -> int:
    """How many different episodes there are among `rows`."""
    return len(rows[["run", "episode"]].drop_duplicates())


def blocks_of(rows: pd.DataFrame) -> int:
    """How many different blocks. Blocks of one deal, in runs with the same seed, are one."""
    return len(rows[["deals", "block"]].drop_duplicates())


def starts_of(voids: pd.DataFrame) -> int:
    """How many different starts there are among `voids`: an episode may have been started, and lost, several times."""
    return len(voids[["run", "episode", "occurrence"]].drop_duplicates())


def spend(rows: pd.DataFrame) -> Spend:
    """What `rows` cost together. A seat that made no call cost nothing, whatever stands there."""
    calls, answered = _total(rows["calls"]), _total(rows["answered"])
    cost = _costs(rows)
    waited = float((rows["latency_mean"].astype(float) * rows["answered"]).sum())
    unknown = episodes_of(rows[cost.isna()])
    total = None if unknown else float(cost.sum())
    episodes = episodes_of(rows)
    return Spend(
        calls=calls,
        answered=answered,
        **{name: _tokens(rows[name], calls) for name in TOKENS},
        unknown_usage_calls=_total(rows["unknown_usage_calls"]),
        cost_usd=total,
        cost_known_usd=float(cost.sum()),
        cost_unknown_episodes=unknown,
        cost_per_episode_usd=None if total is None or not episodes else total / episodes,
        latency_mean=_rate(waited, answered),
    )


def score_per_dollar(scored: pd.DataFrame) -> float | None:
    """Sum of the scores over the cost of the same seat-episodes; None when that cost is unknown or 0."""
    cost = float(_costs(scored).sum(skipna=False))
    return float(scored["score"].sum()) / cost if cost > 0 else None


def _costs(rows: pd.DataFrame) -> pd.Series:
    return rows["cost_usd"].astype(float).mask(rows["calls"] == 0, 0.0)


def number(value: float) -> float | None:
    """A float, or None for NaN."""
    return None if isnan(value) else float(value)


def mean_of(values: pd.Series) -> float | None:
    """Mean of the values there are, None when there are none."""
    return number(float(values.astype(float).mean()))


def _tokens(column: pd.Series, calls: int) -> int | None:
    """The tokens that are known, None when there were calls and nothing is known of any."""
    return None if calls and column.isna().all() else _total(column)


def _total(column: pd.Series) -> int:
    return int(column.fillna(0).sum())


def _rate(part: float, whole: int) -> float | None:
    return part / whole if whole else None
