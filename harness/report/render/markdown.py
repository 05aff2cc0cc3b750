"""Documents and sections as Markdown; a report short enough for a comment on a pull request.

A report's Markdown is its first screen: everything else stands in the page. Its tables and lists are cut, and say how
many rows are left out. Drawings are left out; their numbers stand in the tables. Owns the escaping of other people's
text, the only one there is: what is no markup of ours goes through `harmless`, so that no name becomes markup, a
mention, a reference or a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from weigh.harness.report.render.document import (
    Block,
    Bullets,
    Cell,
    Code,
    Document,
    Folded,
    Line,
    Link,
    Section,
    Table,
    Text,
    Word,
)
from weigh.harness.words import plural
from weigh.policies.show import one_line

LONGEST: Final = 2_000
"""Characters of one text."""

_BREAK = "&#8203;"
"""A zero-width space: keeps what stands around it from being read as one word."""

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {mark: f"\\{mark}" for mark in "\\`*_{}[]#|~$!"})


def harmless(text: str) -> str:
    """`text` on one line with nothing in it that Markdown, its tables, HTML or GitHub acts on: no markup, no
    `@mention`, no `#12`, no address that becomes a link."""
    safe = one_line(text, LONGEST).translate(_ENTITIES)
    safe = safe.replace("@", f"@{_BREAK}").replace("://", f":{_BREAK}//")
    safe = re.sub(r"\\#(?=\d)", lambda found: found[0] + _BREAK, safe)
    safe = re.sub(r"(?i)\bgh-(?=\d)", lambda found: found[0] + _BREAK, safe)
    return re.sub(r"(?i)\bwww(?=\.)", lambda found: found[0] + _BREAK, safe)


def at_line_start(text: str) -> str:
    """Harmless text that is no list, rule or heading either where it begins a line or an item."""
    return re.sub(r"^(\s*)([-+](?=\s|$|-)|=|\d{1,9}[.)](?=\s|$))", rf"\1{_BREAK}\2", harmless(text))


def code(text: str) -> str:
    """A command as code, to be copied as it is: in a fence that is longer than any row of backticks in it."""
    shown = one_line(text, LONGEST)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


MOST_BYTES: Final = 59_000
"""A comment on GitHub holds 65,536 characters; this leaves room for what others write around it."""

ROWS: Final = 20
"""Rows of a report's tables and lists."""


def markdown_page(document: Document) -> str:
    """The text, of at most MOST_BYTES bytes."""
    return _cut("\n".join([f"## {harmless(document.title)}", "", *_blocks(document.brief, ROWS)]).rstrip("\n") + "\n")


def markdown_sections(sections: Iterable[Section], level: int = 3) -> str:
    """Sections by themselves, whole, for an issue or a README."""
    return "\n".join(_whole(sections, level))


def _whole(sections: Iterable[Section], level: int) -> Iterator[str]:
    for section in sections:
        if section.title:
            yield from (f"{'#' * level} {harmless(section.title)}", "")
        yield from _blocks(section.blocks, None)
        yield from _whole(section.parts, level + 1)


def _blocks(blocks: Iterable[Block], rows: int | None) -> Iterator[str]:
    for block in blocks:
        match block:
            case Text():
                yield from (_spans(block.spans), "")
            case Bullets():
                yield from _bullets(block, rows)
            case Table():
                yield from _table(block, rows)
            case Folded():
                yield from (f"<details><summary>{harmless(block.title)}</summary>", "")
                yield from _blocks(block.blocks, rows)
                yield from ("</details>", "")


def _bullets(block: Bullets, rows: int | None) -> Iterator[str]:
    yield from (f"- {_spans(item)}" for item in block.items[:rows])
    if rows is not None and len(block.items) > rows:
        yield f"- {plural(len(block.items) - rows, 'line')} left out"
    yield ""


def _table(table: Table, rows: int | None) -> Iterator[str]:
    kept = [n for n, column in enumerate(table.columns) if not column.drawn]
    columns = [table.columns[n] for n in kept]
    if table.caption:
        yield from (f"**{harmless(table.caption)}**", "")
    yield _row(harmless(column.title) for column in columns)
    yield "|" + "|".join("--:" if column.numeric else ":--" for column in columns) + "|"
    yield from (_row(_cell(row[n]) for n in kept) for row in table.rows[:rows])
    yield ""
    if rows is not None and len(table.rows) > rows:
        yield from (f"_{plural(len(table.rows) - rows, 'row')} left out; report.html and `--json` have all._", "")


def _cell(cell: Cell) -> str:
    text = harmless(f"{cell.text} ({cell.below})" if cell.below else cell.text)
    return f"**{text}**" if cell.strong else text


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _spans(spans: Line) -> str:
    parts = []
    for span in spans:
        match span:
            case Code():
                parts.append(code(span.text))
            case Link():
                parts.append(harmless(span.text))
            case Word(weight="strong"):
                parts.append(f"**{harmless(span.text)}**")
            case Word():
                parts.append(harmless(span.text) if parts else at_line_start(span.text))
    return "".join(parts)


def _cut(text: str) -> str:
    """`text`, or as many whole lines of it as fit, and that it is cut."""
    if len(text.encode()) <= MOST_BYTES:
        return text
    note = "\n\n_Cut here: the report is longer than a comment may be; report.html has all._\n"
    room = MOST_BYTES - len(note.encode())
    head = text.encode()[:room].decode(errors="ignore")
    return head.rpartition("\n")[0] + note
