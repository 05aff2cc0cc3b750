"""The sections of an audit as plain lines and as Markdown.

Owns the outer forms. Nothing is said by colour alone. A narrow terminal gets fewer columns, a pipe gets all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from harness.aligned import aligned, widths_of
from harness.audits.audit_sections import Heading, Lines, Section, Table
from harness.markdown import harmless, list_lines, table_lines
from harness.table_columns import GAP


def plain_lines(parts: Iterable[Section], width: int | None = None) -> list[str]:
    """For a terminal of `width` columns, or for a pipe. Sentences are wrapped, tables give up columns."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Heading):
            if lines:
                lines.append("")
            lines += _wrapped(part.text, width)
        elif isinstance(part, Lines):
            for text in part.texts:
                lines += _wrapped(text, width)
        else:
            lines += _aligned(part, width)
    return lines


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrap(text, width, subsequent_indent="  ")


def _aligned(table: Table, width: int | None) -> list[str]:
    rows = (table.columns, *table.rows)
    kept = _fitting(table, widths_of(rows), width)
    return aligned([[row[place] for place in kept] for row in rows], [place >= table.names for place in kept], GAP)


def _fitting(table: Table, widths: Sequence[int], width: int | None) -> list[int]:
    """The places of the columns that fit, as far as some are spare."""
    shown = list(range(len(table.columns)))
    for heading in table.spare if width is not None else ():
        if width is None or sum(widths[place] + GAP for place in shown) - GAP <= width:
            break
        shown.remove(table.columns.index(heading))
    return shown


def markdown(parts: Iterable[Section]) -> str:
    """For an issue or a README."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Heading):
            lines += ["#" * (part.level + 2) + f" {harmless(part.text)}", ""]
        elif isinstance(part, Lines):
            lines += [*list_lines(part.texts), ""]
        else:
            right = [place >= part.names for place in range(len(part.columns))]
            lines += [*table_lines(part.columns, part.rows, right), ""]
    return "\n".join(lines)
