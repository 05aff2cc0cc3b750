"""The measures of every game that runs hold, gathered and shown.

Owns the gathering over runs and the forms for people and programs. What a measure is,
`harness.audit.measures.registry` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from weigh.games.game import Json
from weigh.games.registry import GAMES
from weigh.harness.audit.measures.registry import Measured, diagnostics_of
from weigh.harness.audit.verify.planned import require_as_planned
from weigh.harness.results.rows import Columns, Row
from weigh.harness.store.store import Store

MEASURES: Final[Columns] = {
    "run": "text",
    "game": "text",
    "entrant": "text",
    "measure": "text",
    "value": "number",
    "meaning": "text",
}
"""The columns of the table `measures`."""


def measures_of(stores: Sequence[Store]) -> dict[str, Measured]:
    """By game, then entrant, then measure: means over the records of all `stores`.

    One pass over the records for each game they hold, one record in memory at a time. Games without a record are left
    out.
    """
    held = {row.game for store in stores for row in store.episodes()}
    gathered = {
        game: diagnostics_of(game).diagnose(chain.from_iterable(store.records() for store in stores))
        for game in GAMES
        if game in held
    }
    return {game: measured for game, measured in gathered.items() if measured}


def measure_rows(store: Store) -> Iterator[Row]:
    """The rows of `MEASURES`, by game, entrant and measure; those of which nothing was observed are left out.

    Raises StoreRefused where the run does not hold what it planned: means over other episodes are claims of nothing.
    """
    require_as_planned([store])
    for game, entrants in measures_of([store]).items():
        meanings = diagnostics_of(game).meanings
        for entrant, values in entrants.items():
            for measure, value in values.items():
                if value is not None:
                    yield (store.manifest.run_id, game, entrant, measure, value, meanings[measure])


def measures_json(measured: Mapping[str, Measured]) -> dict[str, Json]:
    """`{game: {"meanings": {measure: text}, "entrants": {entrant: {measure: number or null}}}}`."""
    return {
        game: {
            "meanings": dict(diagnostics_of(game).meanings),
            "entrants": {name: dict(values) for name, values in entrants.items()},
        }
        for game, entrants in measured.items()
    }


def measure_lines(measured: Mapping[str, Measured]) -> list[str]:
    """For people: a line for each measure that anything was observed for, a column for each entrant."""
    lines: list[str] = []
    for game, entrants in measured.items():
        names = list(entrants)
        widths = [max(9, len(name)) for name in names]
        lines += ["", f"{game}: measures"]
        lines.append("  ".join(name.rjust(width) for name, width in zip(names, widths, strict=True)))
        for measure, meaning in diagnostics_of(game).meanings.items():
            values = [entrants[name][measure] for name in names]
            if any(value is not None for value in values):
                cells = ["-" if value is None else f"{value:.3f}" for value in values]
                row = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
                lines.append(f"{row}  {measure}: {meaning}")
    return lines
