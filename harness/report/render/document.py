"""What people read: sections of texts, lists, tables and drawings, for a terminal, a pipe, a page and Markdown.

Owns the parts and which of them a form may leave out. Texts are other people's (names, causes, config) and stand here
as they came: whoever writes a form escapes them. Drawings are trees of elements and stand in the page only; every
number of a drawing also stands as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from weigh.harness.web.svg import Element

T = TypeVar("T")

NOTHING = "-"
"""Stands for a number that is not known or does not apply."""

Weight: TypeAlias = Literal["plain", "strong", "quiet"]


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of text."""

    text: str
    weight: Weight = "plain"


@dataclass(frozen=True, slots=True)
class Code:
    """A command or a key: shown as it would be typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A way to another place: `#anchor` in this page, or a relative address of a file beside it.

    Markdown shows only the text: a comment has no files beside it.
    """

    text: str
    target: str


Span: TypeAlias = Word | Code | Link
Line: TypeAlias = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """Spans of text; a plain string is a Word."""
    return tuple(Word(part) if isinstance(part, str) else part for part in parts)


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    spans: Line
    kind: Literal["plain", "quiet", "verdict"] = "plain"
    """`verdict`: the sentence that a hurried reader should see; `quiet`: how to read what stands above."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Line, ...]
    kind: Literal["plain", "warning"] = "plain"


def bullets(texts: Iterable[str]) -> Bullets:
    """A list of plain lines."""
    return Bullets(tuple(line(text) for text in texts))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    """Always there, also where there is a drawing: the same in words."""
    drawing: Element | None = None
    tone: str | None = None
    """Classes that colour it, of those in `colours`; the text says the same."""
    below: str = ""
    """A smaller second line."""
    strong: bool = False


def cells(rows: Iterable[Sequence[str]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows of plain texts."""
    return tuple(tuple(map(Cell, row)) for row in rows)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    numeric: bool = True
    drawn: bool = False
    """Holds drawings: Markdown leaves it out."""
    spare: bool = False
    """A narrow page leaves it out: the number also stands in another table or column."""
    name: bool = False
    """Holds names: a narrow terminal cuts them, unlike ones to unlike ones."""
    prose: bool = False
    """Holds sentences: the last column, wrapped on a terminal."""
    goes: int = 0
    """Columns that a narrow terminal gives up, 1 first; 0 never."""
    key: str | None = None
    """A class of colour whose mark stands before the title, as in a legend."""
    axis: Element | None = None
    """Drawn below the title."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; its first column that is not numeric names the row."""

    caption: str
    """Empty where the heading above says it."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    wide: bool = False
    """Scrolls sideways in a narrow page instead of breaking names."""
    matrix: bool = False
    """Rows and columns are the same entrants: where rows are cut, columns are too."""
    meanings: bool = False
    """The names of its rows stand above sentences, and get most of the room."""


Field: TypeAlias = "tuple[Column, Callable[[T], Cell | str]]"
"""A column of a table, and what stands in it for an item."""


def table_of(caption: str, items: Iterable[T], fields: Sequence[Field[T]], *, wide: bool = False) -> Table:
    """A row for each item."""
    rows = tuple(
        tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in (make(each) for _, make in fields))
        for each in items
    )
    return Table(caption, tuple(column for column, _ in fields), rows, wide=wide)


LABEL = 8
"""Columns of a label."""


def labelled(lines: Iterable[tuple[str, str]], wide: int = LABEL) -> Table:
    """A line for each label, of `wide` columns, and its value; lines without a value are left out."""
    columns = (Column("", numeric=False), Column("", numeric=False, prose=True))
    return Table("", columns, cells((f"{label:<{wide}}", text) for label, text in lines if text))


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that a reader opens."""

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = "Text | Bullets | Table | Folded"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    anchor: str = ""
    blocks: tuple[Block, ...] = ()
    parts: tuple[Section, ...] = ()
    """Sections one level down."""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    summary: tuple[Block, ...]
    """The first screen of the page."""
    brief: tuple[Block, ...]
    """The same without drawings: the whole of the Markdown."""
    sections: tuple[Section, ...]
    """In the page only, a subject each."""
    made: Line = field(default=())
    """What it was made with and from: the last line of the page."""
