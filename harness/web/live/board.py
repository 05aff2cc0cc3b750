"""How far a run is, as the live page's numbers: progress, means so far, faults, spending, what is in flight.

Owns these numbers and their words. Reads a feed whose lock the caller holds; waits for nothing.
"""

from __future__ import annotations

from weigh.games.game import Json
from weigh.harness.run.tally import Row, farewell, took
from weigh.harness.web.live.episode import LiveEpisode
from weigh.harness.web.live.feed import Feed
from weigh.harness.words import duration, fault_counts, money, plural, score, tokens
from weigh.policies.show import one_line

_NAME = 200
_LISTED = 8
"""Episodes in flight, and ended ones, that are listed."""


def board(feed: Feed) -> dict[str, Json]:
    """The whole board. Texts are neutralised; absent numbers are None."""
    tally = feed.tally
    left = tally.seconds_left()
    whole = tally.totals()
    faults = sum(whole.faults.values())
    standing = [f"{tally.done} of {plural(tally.total, 'episode')} finished", f"{tally.in_flight} in flight"]
    if tally.void:
        standing.append(f"{tally.void} void")
    if tally.waiting:
        standing.append(f"{plural(tally.waiting, 'attempt')} waiting for a provider")
    if tally.outages:
        standing.append(plural(tally.outages, "outage"))
    spending = took(whole.usage) if whole.usage.calls else []
    if whole.attempts:
        spending.append(f"{plural(faults, 'fault')} in {plural(whole.attempts, 'attempt')}")
    names = [name for name in tally.rows if name]
    return {
        "name": one_line(tally.plan.name, _NAME),
        "done": tally.done + tally.void,
        "total": tally.total,
        "elapsed": round(tally.elapsed, 1),
        "left": None if left is None else duration(left),
        "standing": [*standing],
        "spending": [*spending],
        "games": [*tally.plan.episodes],
        "rows": [_row(name, tally.rows[name]) for name in sorted(names, key=lambda name: _order(tally.rows[name]))],
        "flights": [_flight(episode) for episode in list(feed.flights.values())[-_LISTED:]],
        "recent": [_ended(episode) for episode in list(feed.recent.values())[: -_LISTED - 1 : -1]],
        "notes": [one_line(line, 600) for line in list(feed.notes)[-20:]],
        "over": None if feed.closing is None else [one_line(line, 600) for line in farewell(tally, feed.closing)],
    }


def _order(row: Row) -> float:
    """By the mean of the means of games, the highest first; who has none comes last."""
    means = [mean.value for mean in row.scores.values() if mean.n]
    return -sum(means) / len(means) if means else float("inf")


def _row(name: str, row: Row) -> Json:
    used = row.usage
    return {
        "entrant": one_line(name, _NAME),
        "means": {game: [score(mean.value), mean.n] for game, mean in row.scores.items() if mean.n},
        "faults": fault_counts(row.faults) or None,
        "attempts": row.attempts,
        "fallbacks": row.fallbacks,
        "calls": used.calls,
        "tokens": f"{tokens(used.input_tokens)} / {tokens(used.output_tokens)}" if used.calls else None,
        "cost": money(used.cost_known_usd, used.unknown_cost_calls) if used.calls else None,
    }


def _flight(episode: LiveEpisode) -> Json:
    return {
        "key": one_line(episode.key, _NAME),
        "entrants": [one_line(name, _NAME) for name in episode.table.entrants],
        "step": len(episode.steps),
    }


def _ended(episode: LiveEpisode) -> Json:
    record = episode.record
    scores = [None] * len(episode.table.policies) if record is None else [score(value) for value in record.scores]
    return {
        "key": one_line(episode.key, _NAME),
        "seats": [[one_line(name, _NAME), value] for name, value in zip(episode.table.entrants, scores, strict=True)],
        "ending": "void" if record is None else one_line(record.ending, _NAME),
    }
