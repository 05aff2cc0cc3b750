"""Small tables with a line above and lines below, in their two forms: aligned text and Markdown.

Owns the forms only. Cells come as text that is safe to show. Knows nothing of what stands in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from weigh.harness.report.render.aligned import aligned
from weigh.harness.report.render.markdown import harmless, list_lines, table_lines


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

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(head.title for head in self.columns)

    @property
    def right(self) -> tuple[bool, ...]:
        """Which columns are aligned to the right."""
        return tuple(head.right for head in self.columns)


def sheet_lines(sheets: Sequence[Sheet], width: int | None) -> list[str]:
    """Plain lines, an empty one before each sheet; lines below a table are wrapped to `width`, None for never."""
    lines: list[str] = []
    for sheet in sheets:
        lines += ["", *(_wrapped(sheet.heading, width) if sheet.heading else []), *_aligned(sheet)]
        for note in sheet.notes:
            lines += _wrapped(note, width)
    return lines


def _wrapped(line: str, width: int | None) -> list[str]:
    return [line] if width is None else wrap(line, max(width, 20), subsequent_indent="  ")


def _aligned(sheet: Sheet) -> list[str]:
    if not sheet.columns:
        return []
    return aligned([sheet.titles, *sheet.rows], sheet.right, sheet.gap)


def sheet_markdown(sheets: Sequence[Sheet]) -> str:
    """A heading, a table and a list for each sheet."""
    lines: list[str] = []
    for sheet in sheets:
        if sheet.heading:
            lines += [f"### {harmless(sheet.heading)}", ""]
        if sheet.columns:
            lines += [*table_lines(sheet.titles, sheet.rows, sheet.right), ""]
        if sheet.notes:
            lines += [*list_lines(sheet.notes), ""]
    return "\n".join(lines)
