"""The episodes of a run as the rows of an index: finished ones to be opened, others with the reason why they cannot.

Owns what a row says. Reads a store, plays nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weigh.games.game import Json
from weigh.harness.store.calls import Void
from weigh.harness.store.episode_table import EpisodeRow
from weigh.harness.store.record import Record
from weigh.policies.show import one_line

_NAME = 200


def finished_row(record: Record) -> dict[str, Json]:
    """The row of a finished episode."""
    return {
        "key": one_line(record.key, _NAME),
        "game": record.game,
        "block": one_line(record.block, _NAME),
        "seats": [
            [one_line(entrant, _NAME), score] for entrant, score in zip(record.entrants, record.scores, strict=True)
        ],
        "ending": one_line(record.ending, _NAME),
        "fallbacks": sum(record.fallbacks),
        "overbids": sum(event.get("type") == "overbid" for event in record.events),
        "faults": sum(len(decision.faults) for decision in record.decisions),
        "status": "finished",
        "cause": None,
    }


def other_row(row: EpisodeRow, voids: Sequence[Void], status: str) -> dict[str, Json]:
    """The row of an episode that has no record: void where an outage ended it, else not finished."""
    entrants: Iterable[str] = row.entrants or (voids[-1].entrants if voids else ())
    if voids:
        times = f" ({len(voids)} times)" if len(voids) > 1 else ""
        cause = f"void at step {voids[-1].step}{times}: {voids[-1].cause}"
    else:
        cause = f"not finished; the run is {status}"
    return {
        "key": one_line(row.key, _NAME),
        "game": row.game,
        "block": one_line(row.block, _NAME),
        "seats": [[one_line(entrant, _NAME), None] for entrant in entrants],
        "ending": "void" if voids else "unfinished",
        "fallbacks": None,
        "overbids": None,
        "faults": None,
        "status": "void" if voids else "unfinished",
        "cause": one_line(cause, 600),
    }


def voids_by_episode(voids: Iterable[Void]) -> Mapping[str, list[Void]]:
    """The voids of each episode, in the order in which they happened."""
    found: dict[str, list[Void]] = {}
    for void in voids:
        found.setdefault(void.episode, []).append(void)
    return found
