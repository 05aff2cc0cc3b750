"""A ladder, shown: on a terminal, in a pipe, as Markdown, as CSV.

Owns the outer forms; the JSON form is `Ladder.to_json`. Entrant names are other people's text: they reach a terminal
without control characters and never as markup. Nothing is said by colour alone.
"""

from __future__ import annotations

import csv
import io
from textwrap import wrap
from typing import TYPE_CHECKING

from weigh.harness.report.render.aligned import aligned
from weigh.harness.report.render.markdown import harmless, list_lines, table_lines
from weigh.harness.report.sections.table_columns import GAP, grid
from weigh.harness.report.sections.table_notes import heading, notes, totals
from weigh.harness.results.ranking.standings import Ladder, ladder_rows

if TYPE_CHECKING:
    from rich.console import RenderableType

EMPTY = "no finished episode"
"""Stands in the place of a table without a row."""


def renderable(ladder: Ladder, width: int, encoding: str = "utf-8") -> RenderableType:
    """For a terminal of `width` columns: a table of as many columns as fit for each game, and the notes below it.

    What `encoding` cannot write is escaped, so that printing never fails.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    def text(line: str, style: str = "") -> Text:
        return Text(line.encode(encoding, "backslashreplace").decode(encoding), style=style)

    def below(line: str) -> Text:
        return text("\n".join(wrap(line, width, subsequent_indent="  ")))

    parts: list[RenderableType] = []
    for game in ladder.games:
        parts.append(text(heading(game, ladder), "bold"))
        if game.standings:
            cells = grid(game.standings, width, encoding)
            table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
            for column in cells.columns:
                table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=True)
            for row in cells.cells:
                table.add_row(*map(Text, row))
            parts.append(table)
        parts += [below(line) for line in notes(game)]
        parts.append(Text(""))
    if last := totals(ladder):
        parts += [*map(below, last), Text("")]
    return Group(*parts[:-1]) if parts else Text(EMPTY)


def plain_lines(ladder: Ladder, width: int | None = None) -> list[str]:
    """For a pipe or a log: the same as plain lines, with every column unless a `width` is given."""
    lines: list[str] = []
    for game in ladder.games:
        lines.append(heading(game, ladder))
        if game.standings:
            cells = grid(game.standings, width)
            lines += aligned([cells.headings, *cells.cells], cells.right, GAP)
        lines += [*notes(game), ""]
    if last := totals(ladder):
        lines += [*last, ""]
    return lines[:-1] or [EMPTY]


def markdown(ladder: Ladder) -> str:
    """For an issue or a README: a Markdown table of every column for each game, and the notes as a list."""
    lines: list[str] = []
    for game in ladder.games:
        lines += [f"### {harmless(heading(game, ladder))}", ""]
        if game.standings:
            cells = grid(game.standings, None)
            lines += [*table_lines(cells.headings, cells.cells, cells.right), ""]
        lines += [*list_lines(notes(game)), ""]
    if last := totals(ladder):
        lines += [*list_lines(last), ""]
    return "\n".join(lines) if lines else EMPTY + "\n"


def csv_text(ladder: Ladder) -> str:
    """For other programs: a row for each entrant of each game, every number unrounded, unknown ones empty.

    The columns are those of `harness.results.ranking.standings`.
    """
    columns, rows = ladder_rows(ladder)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
