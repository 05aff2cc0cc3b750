"""Leagues whose circles are known, for the tests of the second board and of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from tests.harness.results.ladder_frames import Score, planned, seats
from weigh.harness.config.schedule import Episode
from weigh.harness.results.ranking.elo import Board, boards
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.matchups import Pair, PairBoard, pair_boards

CIRCLE = (("rock", "scissors"), ("scissors", "paper"), ("paper", "rock"))
"""Who beats whom."""


def episodes(*tables: Sequence[str], each: int = 1, game: str = "g") -> list[Episode]:
    """One block for each table, in this order, of so many episodes, with the seats as they stand."""
    return [
        Episode(f"{game}/b{n:04}/r{r}", game, f"{game}/b{n:04}", tuple(table), f"{game}/b{n:04}")
        for n, table in enumerate(tables)
        for r in range(each)
    ]


def by_list(*scores: Sequence[float]) -> Score:
    """Scores of the seats, block by block."""
    return lambda episode, seat: scores[int(episode.block[-4:])][seat]


def by_beating(beats: Sequence[tuple[str, str]]) -> Score:
    """Two seats; who beats the other gets 1, and 0 for both where nobody does."""

    def score(episode: Episode, seat: int) -> float:
        one, other = episode.entrants[seat], episode.entrants[1 - seat]
        return float((one, other) in beats) - float((other, one) in beats)

    return score


def rock_paper_scissors(blocks: int = 30) -> pd.DataFrame:
    return seats(planned(["rock", "paper", "scissors"], 2, blocks), by_beating(CIRCLE))


def board(frame: pd.DataFrame, **options: object) -> Board:
    """Of the frame's one game."""
    (found,) = boards(frame, rank(frame, **options))  # type: ignore[arg-type]
    return found


def pairs(frame: pd.DataFrame, **options: object) -> PairBoard:
    """Of the frame's one game."""
    (found,) = pair_boards(frame, rank(frame, **options))  # type: ignore[arg-type]
    return found


def pair(found: PairBoard, entrant: str, opponent: str) -> Pair:
    (only,) = (pair for pair in found.pairs if (pair.entrant, pair.opponent) == (entrant, opponent))
    return only


def chances(found: PairBoard) -> Mapping[str, float]:
    assert found.lottery is not None
    return {ticket.entrant: ticket.probability for ticket in found.lottery}
