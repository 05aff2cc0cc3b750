"""A ladder as flat rows, one for each entrant of each game: what CSV and the ladder's frame hold.

Owns the names of the columns and the types of the frame. Computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from weigh.games.game import Json
from weigh.harness.results.ranking.standings import GameLadder, Ladder, Standing

if TYPE_CHECKING:
    import pandas as pd

LadderRow: TypeAlias = dict[str, Json]

PAIRS = ("interval", "rank_interval", "adjusted_interval")
LISTS = ("models", "policies")
TEXTS = ("game", "entrant", "unranked", *LISTS)
MAY_BE_MISSING = ("traffic",)


def ladder_rows(ladder: Ladder) -> tuple[list[str], list[LadderRow]]:
    """The columns and the rows. A row has no key where a column does not apply to it.

    Columns are the keys of `Ladder.to_json`, with a point between a key and the key below it; intervals as two columns
    ending in `.low` and `.high`, seat means as `seat_means.0`, `seat_means.1` ...
    """
    rows = [_flat(game, standing) for game in ladder.games for standing in game.standings]
    return list(dict.fromkeys(column for row in rows for column in row)) or ["game", "entrant"], rows


def ladder_frame(ladder: Ladder) -> pd.DataFrame:
    """The same as a frame: counts without a gap as int64, other numbers as float64, NaN where one is not known."""
    import pandas as pd

    columns, rows = ladder_rows(ladder)
    frame = pd.DataFrame({column: pd.Series([row.get(column) for row in rows], dtype="object") for column in columns})
    for column in columns:
        if column in TEXTS:
            frame[column] = frame[column].astype("str")
        elif all(isinstance(value, bool) for value in frame[column]):
            frame[column] = frame[column].astype("bool")
        else:
            frame[column] = pd.to_numeric(frame[column])
    return frame


def _flat(game: GameLadder, standing: Standing) -> LadderRow:
    row: LadderRow = {"game": game.game}
    for key, value in standing.to_json().items():
        if key in PAIRS:
            low, high = value if isinstance(value, list) else (None, None)
            row |= {f"{key}.low": low, f"{key}.high": high}
        elif key in LISTS and isinstance(value, list):
            row[key] = " ".join(map(str, value))
        elif isinstance(value, list):
            row |= {f"{key}.{n}": item for n, item in enumerate(value)}
        elif isinstance(value, dict):
            row |= _nested(key, value)
        elif key in MAY_BE_MISSING:
            continue
        else:
            row[key] = value
    return row


def _nested(prefix: str, values: LadderRow) -> LadderRow:
    row: LadderRow = {}
    for key, value in values.items():
        row |= _nested(f"{prefix}.{key}", value) if isinstance(value, dict) else {f"{prefix}.{key}": value}
    return row
