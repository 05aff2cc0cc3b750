"""The second board, shown.

Owns its columns and its caption. Computes nothing: `harness.results.ranking.elo` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from weigh.harness.report.render.aligned import width_of
from weigh.harness.report.render.sheets import Head, Sheet
from weigh.harness.report.sections.table_columns import LONGEST_NAME, NOTHING, SHORTEST_NAME, distinct, rate
from weigh.harness.results.ranking.elo import SHUFFLES, Board, BoardRow, disagreeing
from weigh.harness.words import plural, score, shown

COLUMNS = (
    Head("rank"),
    Head("entrant", right=False),
    Head("mean"),
    Head("Elo"),
    Head("sd"),
    Head("Elo#"),
)
NAME = 1
"""The place of the name among them."""
GAP = 2

OTHER_ORDER = "*"
"""Marks a board's rank that puts an entrant on another side of somebody than the mean does."""


def board_sheets(boards: Sequence[Board], width: int | None, encoding: str = "utf-8") -> list[Sheet]:
    """A table for each game, with names cut to what `width` leaves (None: not cut)."""
    return [_sheet(board, width, encoding) for board in boards]


def _sheet(board: Board, width: int | None, encoding: str) -> Sheet:
    heading = f"{shown(board.game)}: a second board, {plural(board.episodes, 'episode')} in the order of the schedule"
    if not board.rows:
        return Sheet(heading, notes=("no scored episode",))
    plain = [shown(row.entrant, encoding) for row in board.rows]
    room = max(map(width_of, plain))
    if width is not None:
        cells = [tuple(head.title for head in COLUMNS), *(_cells(row, "") for row in board.rows)]
        widths = [GAP + max(map(len, texts)) for texts in zip(*cells, strict=True)]
        widths[NAME] = 0
        room = max(SHORTEST_NAME, min(LONGEST_NAME, width - sum(widths)))
    rows = tuple(_cells(row, name) for row, name in zip(board.rows, distinct(plain, room), strict=True))
    return Sheet(heading, COLUMNS, rows, tuple(_notes(board)), GAP)


def _cells(row: BoardRow, name: str) -> tuple[str, ...]:
    spread = row.elo_spread
    return (
        NOTHING if row.rank is None else str(row.rank),
        name,
        score(row.mean),
        f"{row.elo:.0f}",
        NOTHING if spread is None else f"{spread.sd:.0f}",
        _place(row.elo_rank, row.elo_disagrees),
    )


def _place(rank: int | None, disagrees: bool) -> str:
    return NOTHING if rank is None else f"{rank}{OTHER_ORDER if disagrees else ''}"


def _notes(board: Board) -> list[str]:
    lines = [f"not ranked: {shown(row.entrant)}: {row.unranked}" for row in board.rows if row.unranked]
    if board.same_order is not None:
        lines.append(
            f"order: sd is that of Elo over {SHUFFLES} random orders of the same episodes; "
            f"{rate(board.same_order)} of them give the Elo ranks shown"
        )
    if disagreeing(board):
        lines.append(f"{OTHER_ORDER} another order than the mean's")
    return [
        *lines,
        "note: the mean decides; Elo depends on the order of the episodes and on the field, and counts who scored "
        "more, not by how much",
    ]
