"""Small tables with a line above and lines below, in their two forms: aligned text and Markdown.

Owns the forms only. Cells come as text that is safe to show. Knows nothing of what stands in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from harness.table_columns import width_of
from harness.table_notes import escape_markdown


@dataclass(frozen=True, slots=True)
class Head:
    """One column."""

    title: str
    right: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of text cells; without columns only its lines."""

    heading: str
    """Empty for a table that goes on with the one before it."""
    columns: tuple[Head, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    gap: int = 2
    """Spaces between columns."""


def sheet_lines(sheets: Sequence[Sheet], width: int | None) -> list[str]:
    """Plain lines, an empty one before each sheet; lines below a table are wrapped to `width`, None for never."""
    lines: list[str] = []
    for sheet in sheets:
        lines += ["", *([sheet.heading] if sheet.heading else []), *_aligned(sheet)]
        for note in sheet.notes:
            lines += [note] if width is None else wrap(note, max(width, 20), subsequent_indent="  ")
    return lines


def _aligned(sheet: Sheet) -> list[str]:
    if not sheet.columns:
        return []
    cells = [tuple(head.title for head in sheet.columns), *sheet.rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = []
        for text, head, width in zip(row, sheet.columns, widths, strict=True):
            space = " " * (width - width_of(text))
            padded.append(space + text if head.right else text + space)
        lines.append((" " * sheet.gap).join(padded).rstrip())
    return lines


def sheet_markdown(sheets: Sequence[Sheet]) -> str:
    """A heading, a table and a list for each sheet."""
    lines: list[str] = []
    for sheet in sheets:
        if sheet.heading:
            lines += [f"### {escape_markdown(sheet.heading)}", ""]
        if sheet.columns:
            lines.append(_row([head.title for head in sheet.columns]))
            lines.append("|" + "|".join("--:" if head.right else ":--" for head in sheet.columns) + "|")
            lines += [*map(_row, sheet.rows), ""]
        if sheet.notes:
            lines += [*(f"- {escape_markdown(note)}" for note in sheet.notes), ""]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escape_markdown, cells)) + " |"
