"""Frames of seat-episodes and voids for the tests of ratings and tables, and how to look something up in a ladder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.results import DTYPES
from weigh.harness.results.ranking.standings import GameLadder, Ladder, Standing
from weigh.harness.results.rows import SEATS, VOIDS

FOUR = {"ann": 0.3, "bob": 0.1, "cy": -0.1, "dan": -0.3}
"""Strengths of four entrants that are easily told apart."""

Score = Callable[[Episode, int], float]
"""The score of one seat of one episode."""


def seats(
    episodes: Sequence[Episode],
    score: Score,
    *,
    run: str = "run-1",
    scripted: Sequence[str] = (),
    changes: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """A seats frame as `harness.results` makes it; `changes` by entrant overrides columns."""
    rows = []
    for episode in episodes:
        for seat, entrant in enumerate(episode.entrants):
            rows.append(
                {name: 0 if kind == "count" else None for name, kind in SEATS.items()}
                | {
                    "run": run,
                    "game": episode.game,
                    "block": episode.block,
                    "episode": episode.key,
                    "seat": seat,
                    "entrant": entrant,
                    "policy": f"digest of {entrant}",
                    "score": score(episode, seat),
                    "decisions": 10,
                    "reason": "complete",
                    "ending": "over",
                    "seconds": 1.0,
                }
                | (_scripted() if entrant in scripted else _prompted(entrant))
                | (changes or {}).get(entrant, {})
            )
    return typed(rows, SEATS)


def _scripted() -> dict[str, Any]:
    return {"by_scripted": 10, "cost_usd": 0.0}


def _prompted(entrant: str) -> dict[str, Any]:
    return {
        "by_model": 10,
        "model": f"mock:{entrant}",
        "calls": 10,
        "answered": 10,
        "input_tokens": 1000,
        "cached_tokens": 400,
        "output_tokens": 200,
        "reasoning_tokens": 50,
        "cost_usd": 0.01,
        "latency_mean": 0.5,
    }


def voids(lost: Sequence[tuple[Episode, Sequence[int]]], *, run: str = "run-1") -> pd.DataFrame:
    """A voids frame: each pair is a start that an outage ended and the seats whose provider failed."""
    rows = []
    for occurrence, (episode, failed) in enumerate(lost):
        for seat, entrant in enumerate(episode.entrants):
            rows.append(
                {
                    "run": run,
                    "game": episode.game,
                    "block": episode.block,
                    "episode": episode.key,
                    "occurrence": occurrence,
                    "seat": seat,
                    "entrant": entrant,
                    "step": 3,
                    "failed": seat in failed,
                    "cause": "503" if seat in failed else None,
                    "finished": False,
                }
            )
    return typed(rows, VOIDS)


def typed(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> pd.DataFrame:
    """The rows with the columns and types of `harness.results`."""
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=DTYPES[kind]) for name, kind in columns.items()}
    )


def planned(entrants: Sequence[str], seats: int = 2, blocks: int = 4, game: str = "g") -> tuple[Episode, ...]:
    """A schedule under seed 1."""
    return schedule(game, entrants, seats, blocks, 1)


def by_strength(strengths: Mapping[str, float], ripple: float = 0.05) -> Score:
    """Zero-sum scores: strength less the table's mean strength, plus a ripple that differs from block to block."""

    def score(episode: Episode, seat: int) -> float:
        wave = [ripple * (sum(map(ord, episode.block + name)) * 7 % 11 - 5) / 5 for name in episode.entrants]
        raw = [strengths[name] + extra for name, extra in zip(episode.entrants, wave, strict=True)]
        return raw[seat] - sum(raw) / len(raw)

    return score


def four(**options: Any) -> pd.DataFrame:
    """FOUR at full tables of a game "g", six blocks; dan is scripted."""
    return seats(planned(list(FOUR), seats=4, blocks=6), by_strength(FOUR), scripted=["dan"], **options)


def game_of(ladder: Ladder) -> GameLadder:
    """The only game."""
    (game,) = ladder.games
    return game


def row(ladder: Ladder, entrant: str) -> Standing:
    """An entrant's standing in the only game."""
    (found,) = (standing for standing in game_of(ladder).standings if standing.entrant == entrant)
    return found


def kinds(ladder: Ladder) -> list[str]:
    """Of the caveats of the only game."""
    return [caveat.kind for caveat in game_of(ladder).warnings]


def text(ladder: Ladder, kind: str) -> str:
    """The only caveat of this kind."""
    (found,) = (caveat.text for caveat in game_of(ladder).warnings if caveat.kind == kind)
    return found
