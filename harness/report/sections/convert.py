"""Tables and lines that other modules made for terminals, as parts of a report.

Owns the conversion. Words and numbers stay theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weigh.harness.report.render.document import Block, Bullets, Cell, Column, Table, Text, line
from weigh.harness.report.render.sheets import Sheet
from weigh.harness.report.sections.audit import Heading
from weigh.harness.report.sections.audit import Section as AuditSection
from weigh.harness.report.sections.audit import Table as AuditTable


def sheet_blocks(sheet: Sheet, caption: str) -> Iterator[Block]:
    """A sheet's table, and its notes as a list."""
    if sheet.columns:
        yield Table(
            caption,
            tuple(Column(head.title, numeric=head.right) for head in sheet.columns),
            tuple(tuple(map(Cell, row)) for row in sheet.rows),
            wide=True,
        )
    if sheet.notes:
        yield notes(sheet.notes)


def notes(texts: Iterable[str]) -> Bullets:
    """Lines as a list."""
    return Bullets(tuple(line(text) for text in texts))


def audit_blocks(parts: Sequence[AuditSection]) -> Iterator[Block]:
    """The sections of an audit; their first heading is the report's own and is left out."""
    caption = ""
    for part in parts:
        if isinstance(part, Heading):
            caption = part.text
        elif isinstance(part, AuditTable):
            yield Table(
                caption,
                tuple(Column(title, numeric=n >= part.names) for n, title in enumerate(part.columns)),
                tuple(tuple(map(Cell, row)) for row in part.rows),
                wide=True,
            )
            caption = ""
        elif part.texts:
            if caption:
                yield Text(line(caption), kind="plain")
                caption = ""
            yield notes(part.texts)
