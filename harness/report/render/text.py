"""Sections as plain lines: for a pipe, a log, or, with rich, a terminal.

Owns widths: sentences are wrapped, names are cut, columns are given up in the order that a table names, and a matrix
too wide for its place goes on below; and intervals drawn with characters. Nothing is said by colour alone. Texts are
other people's: control characters are escaped here, and so is what an encoding cannot write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.harness.report.render.document import Block, Bullets, Column, Folded, Line, Section, Table, Text
from weigh.harness.words import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

GAP = 2
"""Spaces between columns; one between those of a matrix."""

NARROW = 80
"""Columns for which a matrix is broken where no terminal says otherwise."""

SHORTEST_NAME = 8
LONGEST_LABEL = 20
"""Terminal columns of a name: the least that one is cut to, and the most at the side of a matrix on a terminal."""

LONGEST = 2_000
"""Characters of one text."""

CUT = "..."
"""Stands for what was cut from a name; ASCII, so that every terminal has it."""

Part: TypeAlias = tuple[Literal["heading", "table", "text", "space"], str]
"""A line of output, and what it is: headings, and the first line of a table, are bold on a terminal."""


def plain_lines(sections: Iterable[Section], width: int | None = None, encoding: str = "utf-8") -> list[str]:
    """Lines for a place of `width` columns; None: nothing is wrapped, cut or given up."""
    return [text for _, text in _sections(sections, width, encoding)]


def renderable(sections: Iterable[Section], width: int, encoding: str = "utf-8") -> RenderableType:
    """The same for a terminal, with headings in bold."""
    from rich.text import Text as Styled

    lines = [
        Styled(text, style="bold" if kind == "heading" else "", no_wrap=True)
        for kind, text in _sections(sections, width, encoding)
    ]
    return Styled("\n").join(lines)


def _sections(sections: Iterable[Section], width: int | None, encoding: str) -> Iterator[Part]:
    for n, section in enumerate(sections):
        if n:
            yield "space", ""
        if section.title:
            yield from (("heading", text) for text in _wrapped(section.title, width, encoding))
        below = False
        for block in section.blocks:
            if below and isinstance(block, Table):
                yield "space", ""
            yield from _block(block, width, encoding)
            below = True
        if section.parts:
            yield "space", ""
            yield from _sections(section.parts, width, encoding)


def _block(block: Block, width: int | None, encoding: str) -> Iterator[Part]:
    match block:
        case Text():
            yield from (("text", text) for text in _wrapped(_words(block.spans), width, encoding))
        case Bullets():
            for item in block.items:
                yield from (("text", text) for text in _wrapped(_words(item), width, encoding))
        case Table():
            if block.caption:
                yield from (("heading", text) for text in _wrapped(block.caption, width, encoding))
            lines = _matrix(block, width, encoding) if block.matrix else _table(block, width, encoding)
            yield from (("heading" if n == 0 and text else "table", text) for n, text in enumerate(lines))
        case Folded():
            for each in block.blocks:
                yield from _block(each, width, encoding)


def _words(spans: Line) -> str:
    return "".join(span.text for span in spans)


def _wrapped(text: str, width: int | None, encoding: str) -> list[str]:
    safe = shown(text, encoding, LONGEST)
    return [safe] if width is None else wrap(safe, max(width, 20), subsequent_indent="  ")


def _table(table: Table, width: int | None, encoding: str) -> list[str]:
    kept = [n for n, column in enumerate(table.columns) if not column.drawn]
    columns = [table.columns[n] for n in kept]
    rows = [[shown(row[n].text, encoding) for n in kept] for row in table.rows]
    columns, rows = _fitting(columns, rows, width)
    titles = [column.title for column in columns]
    rows = [titles, *rows] if any(titles) else rows
    if width is not None and columns[-1].prose:
        rows = _folded(rows, width)
    return aligned(rows, [column.numeric for column in columns])


def _folded(rows: list[list[str]], width: int) -> list[list[str]]:
    """Rows whose last cell goes on in further rows where it is longer than what is left beside the others."""
    room = max(20, width - sum(size + GAP for size in widths_of(rows)[:-1]))
    folded = []
    for *cells, last in rows:
        first, *more = wrap(last, room) or [""]
        folded += [[*cells, first], *([*[""] * len(cells), text] for text in more)]
    return folded


def _fitting(columns: list[Column], rows: list[list[str]], width: int | None) -> tuple[list[Column], list[list[str]]]:
    """The columns that fit, and names cut to what they leave."""
    if width is None:
        return columns, rows

    def room() -> int:
        """What the names may take in all."""
        wide = widths_of([[column.title for column in columns], *rows])
        fixed = [size for size, column in zip(wide, columns, strict=True) if not column.name]
        return width - sum(fixed) - GAP * (len(columns) - 1)

    for place in sorted((column.goes, n) for n, column in enumerate(columns) if column.goes):
        if room() >= sum(SHORTEST_NAME for column in columns if column.name):
            break
        gone = next(n for n, column in enumerate(columns) if column.goes == place[0])
        columns = columns[:gone] + columns[gone + 1 :]
        rows = [row[:gone] + row[gone + 1 :] for row in rows]
    names = [n for n, column in enumerate(columns) if column.name]
    for n in names:
        cells = distinct([row[n] for row in rows], max(SHORTEST_NAME, len(columns[n].title), room() // len(names)))
        rows = [[*row[:n], cell, *row[n + 1 :]] for row, cell in zip(rows, cells, strict=True)]
    return columns, rows


def given_up(table: Table, width: int | None) -> int:
    """How many of its columns a place of `width` columns has no room for."""
    rows = [[shown(cell.text) for cell in row] for row in table.rows]
    return len(table.columns) - len(_fitting(list(table.columns), rows, width)[0])


def _matrix(table: Table, width: int | None, encoding: str) -> list[str]:
    """Rows and columns named by letters, in parts that fit."""
    names = [shown(row[0].text, encoding) for row in table.rows]
    if width is not None:
        names = distinct(names, max(SHORTEST_NAME, min(LONGEST_LABEL, width // 3)))
    labels = [letters(n) for n in range(len(names))]
    cells = [[shown(cell.text, encoding) for cell in row[1:]] for row in table.rows]
    beside = max(map(width_of, labels)) + 1 + max(map(width_of, names))
    wide = 1 + max(map(width_of, [*labels, *(text for row in cells for text in row)]))
    at_once = max(1, ((width or NARROW) - beside) // wide)
    lines: list[str] = []
    for start in range(0, len(names), at_once):
        part = slice(start, start + at_once)
        rows = [[label, name, *row[part]] for label, name, row in zip(labels, names, cells, strict=True)]
        head = ["", "", *labels[part]]
        lines += [*([""] if start else []), *aligned([head, *rows], [False, False, *[True] * (len(head) - 2)], gap=1)]
    return lines


@dataclass(frozen=True, slots=True)
class Ink:
    """The characters of an interval."""

    mark: str
    bar: str
    zero: str
    low: str
    high: str
    margin: str


ASCII = Ink(mark="o", bar="-", zero="|", low="+", high="+", margin=":")
DRAWN = Ink(mark="\u25cf", bar="\u2500", zero="\u2502", low="\u251c", high="\u2524", margin="\u250a")
"""For terminals that have them."""

_ENDS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of a scale, times a power of ten."""


def limit_of(values: Iterable[float]) -> float:
    """The least round end of a scale around 0 that holds all of `values`; 0.1 where every value is 0."""
    largest = max(map(abs, values), default=0.0)
    if largest < 1e-9:
        return 0.1
    power = 10.0 ** floor(log10(largest))
    return power * next((end for end in _ENDS if end * power >= largest * (1 - 1e-9)), 10.0)


def drawn(mean: float | None, ends: Sequence[float] | None, limit: float, half: int, ink: Ink = ASCII) -> str:
    """A mean and its interval on 2 * half + 1 columns from -limit to limit, 0 in the middle."""

    def column(value: float) -> int:
        away = min(half, floor(abs(value) / limit * half + 0.5 + 1e-9))
        return half + (away if value > 0 else -away)

    row = [" "] * (2 * half + 1)
    row[half] = ink.zero
    if ends is not None:
        low, high = map(column, ends)
        row[low : high + 1] = ink.bar * (high + 1 - low)
        row[low], row[high] = ink.low, ink.high
    if mean is not None:
        row[column(mean)] = ink.mark
    return "".join(row).rstrip()


def axis(limit: float, half: int) -> str:
    """What stands above or below such drawings: both ends, and 0 in the middle."""
    left, right = f"-{limit:g}", f"+{limit:g}"
    return f"{left}{'0':>{half + 1 - len(left)}}{right:>{half}}"


def letters(number: int) -> str:
    """a to z, then aa, ab ..."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool], gap: int = GAP) -> list[str]:
    """A line for each row, `gap` spaces between columns; `right` says which of them are aligned to the right."""
    widths = widths_of(rows)
    return [
        (" " * gap)
        .join(
            " " * (width - width_of(cell)) + cell if to_right else cell + " " * (width - width_of(cell))
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        .rstrip()
        for row in rows
    ]


def widths_of(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of each column, in terminal columns."""
    return [max(map(width_of, column)) for column in zip(*rows, strict=True)]


def width_of(text: str) -> int:
    """Terminal columns: two for wide characters, none for combining marks."""
    from rich.cells import cell_len

    return cell_len(text)


def distinct(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` terminal columns, unlike where they are: cut at the end, else in the middle, else
    numbered."""
    unlike = list(dict.fromkeys(names))
    for cut in (_head, _head_and_tail):
        short = {name: name if width_of(name) <= width else cut(name, width) for name in unlike}
        if len(set(short.values())) == len(unlike):
            return [short[name] for name in names]
    digits = len(str(len(unlike)))
    numbered = {name: f"{_take(name, width - digits - 1)}~{n:0{digits}}" for n, name in enumerate(unlike, start=1)}
    return [numbered[name] for name in names]


def _head(name: str, width: int) -> str:
    return _take(name, width - len(CUT)) + CUT


def _head_and_tail(name: str, width: int) -> str:
    tail = _take(name[::-1], (width - len(CUT)) // 2)[::-1]
    return _take(name, width - len(CUT) - width_of(tail)) + CUT + tail


def _take(text: str, width: int) -> str:
    """The longest beginning of `text` that fits."""
    while width_of(text) > width:
        text = text[:-1]
    return text
