"""A report as one HTML file that asks nobody for anything and runs nothing.

Owns the file's shape and its safety: a policy in its head that allows one style sheet, by its digest, and nothing else;
every text escaped; every address checked. Knows no run.

The colours of a report, as custom properties for light, dark and paper.

Owns them. The page's own colours are the viewer's, so that both look alike. Cells of heat maps have nine tones: blue
for above, orange for below, which colour-blind readers tell apart, and `--ink` stands out from every tone by a contrast
of at least 4.5. Series (causes, kinds of move) differ in lightness from their neighbours, and are named beside them.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from weigh.harness.report.render.document import (
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    Folded,
    Line,
    Link,
    Section,
    Span,
    Table,
    Text,
    Word,
)
from weigh.harness.web.palette import PAPER
from weigh.harness.web.svg import LONGEST_TEXT
from weigh.harness.web.viewer.page import MARK
from weigh.policies.show import one_line

_ADDRESS = re.compile(r"#[A-Za-z0-9._~%-]+|(?!/)[A-Za-z0-9._~%/-]+(?:#[A-Za-z0-9._~%=&-]*)?")
"""An anchor, or a relative path with or without one: no scheme and no host."""

NAME_ROOM = (6, 9, 12, 15, 18, 22)
"""Characters that a name of a row may take before it is broken; classes of the style sheet."""

_BRAND = (
    '<svg viewBox="0 0 32 24" width="32" height="24" aria-hidden="true">'
    '<path d="M16 3v17M10 21h12M5 6l11-2 11 2M5 6l-4 8h8zM27 6l-4 8h8z"/></svg>'
)


def html_page(document: Document) -> str:
    """The whole file. Raises ValueError for a link that leads out of it and is no relative path."""
    return "".join(_page(document))


def html_fragment(sections: Iterable[Section]) -> str:
    """Sections as they stand in a page, without its style: for a notebook's cell."""
    parts = []
    for section in sections:
        parts.append(f"<h4>{_text(section.title)}</h4>\n" if section.title else "")
        parts += _blocks(section.blocks)
    return "".join(parts)


def _page(document: Document) -> Iterator[str]:
    style = _style()
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n{MARK}\n<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{_text(document.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header class="masthead"><p class="brand">{_BRAND}weigh</p></header>\n'
        '<main id="main" tabindex="-1">\n'
        f"<h1>{_text(document.title)}</h1>\n"
    )
    yield '<div class="summary">\n'
    yield from _blocks(document.summary)
    yield "</div>\n"
    yield from _contents(document)
    for section in document.sections:
        yield from _section(section, 2)
    yield f"</main>\n<footer><p>{_spans(document.made)}</p></footer>\n</body>\n</html>\n"


def _contents(document: Document) -> Iterator[str]:
    yield '<nav aria-label="Contents"><ul>'
    for section in document.sections:
        yield f'<li><a href="#{escape(section.anchor)}">{_text(section.title)}</a>'
        if section.parts:
            yield "<ul>"
            yield from (f'<li><a href="#{escape(part.anchor)}">{_text(part.title)}</a></li>' for part in section.parts)
            yield "</ul>"
        yield "</li>"
    yield "</ul></nav>\n"


def _section(section: Section, level: int) -> Iterator[str]:
    name = escape(section.anchor)
    # Parts have the same titles in every game, and landmarks must not: only whole sections are some.
    named = f' aria-labelledby="{name}-title"' if level == 2 else ""
    yield f'<section id="{name}" class="depth-{level}"{named}>\n'
    yield f'<h{level} id="{name}-title">{_text(section.title)}</h{level}>\n'
    yield from _blocks(section.blocks)
    for part in section.parts:
        yield from _section(part, level + 1)
    yield "</section>\n"


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Text():
                yield f'<p class="{block.kind}">{_spans(block.spans)}</p>\n'
            case Bullets():
                items = "".join(f"<li>{_spans(item)}</li>" for item in block.items)
                yield f'<ul class="{block.kind}">{items}</ul>\n'
            case Table():
                yield from _table(block)
            case Folded():
                yield f"<details><summary>{_text(block.title)}</summary>\n"
                yield from _blocks(block.blocks)
                yield "</details>\n"


def _table(table: Table) -> Iterator[str]:
    kinds = [
        kind for kind, holds in (("matrix", table.matrix), ("wide", table.wide), ("meanings", table.meanings)) if holds
    ]
    kinds.append(_names_class(table))
    caption = _text(table.caption)
    named = f' role="group" aria-label="{caption}"' if caption else ""
    yield f'<div class="scroll" tabindex="0"{named}><table class="{" ".join(kinds)}">'
    yield f"<caption><span>{caption}</span></caption>\n" if caption else "\n"
    if any(column.title for column in table.columns):
        yield f"<thead><tr>{''.join(map(_heading, table.columns))}</tr></thead>\n"
    yield "<tbody>\n"
    first = _named(table)
    for row in table.rows:
        yield "<tr>"
        for n, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
            yield _cell(column, cell, n == first)
        yield "</tr>\n"
    yield "</tbody></table></div>\n"


def _names_class(table: Table) -> str:
    """How much room the names of the rows ask for: names are broken only where that is not enough."""
    named = _named(table)
    longest = 0 if named is None else max((len(row[named].text) for row in table.rows), default=0)
    return f"names-{next((room for room in NAME_ROOM if longest <= room), NAME_ROOM[-1])}"


def _named(table: Table) -> int | None:
    """The column that names the rows."""
    return next((n for n, column in enumerate(table.columns) if not column.numeric and not column.drawn), None)


def _heading(column: Column) -> str:
    key = f'<i class="key {escape(column.key)}"></i>' if column.key else ""
    drawn = column.axis.to_html() if column.axis else ""
    if not column.title and not drawn:
        return "<td></td>"
    return f'<th scope="col"{_classes(column)}>{key}{_text(column.title)}{drawn}</th>'


def _cell(column: Column, cell: Cell, names_the_row: bool) -> str:
    tag = "th" if names_the_row else "td"
    scope = ' scope="row"' if names_the_row else ""
    below = f"<small>{_text(cell.below)}</small>" if cell.below else ""
    inside = cell.drawing.to_html() if cell.drawing is not None else _text(cell.text)
    inside = f"<b>{inside}</b>" if cell.strong else inside
    return f"<{tag}{scope}{_classes(column, cell.tone)}>{inside}{below}</{tag}>"


def _classes(column: Column, tone: str | None = None) -> str:
    held = (
        ("figure", column.numeric),
        ("keyed", column.key is not None),
        ("drawn", column.drawn),
        ("spare", column.spare),
        (tone or "", bool(tone)),
    )
    found = [name for name, holds in held if holds]
    return f' class="{escape(" ".join(found))}"' if found else ""


def _spans(spans: Line) -> str:
    return "".join(map(_span, spans))


def _span(span: Span) -> str:
    match span:
        case Link():
            if not _ADDRESS.fullmatch(span.target):
                raise ValueError(f"a report may not lead to {span.target!r}")
            return f'<a href="{escape(span.target)}">{_text(span.text)}</a>'
        case Code():
            return f"<code>{_text(span.text)}</code>"
        case Word(weight="strong"):
            return f"<b>{_text(span.text)}</b>"
        case Word(weight="quiet"):
            return f'<span class="quiet">{_text(span.text)}</span>'
        case Word():
            return _text(span.text)


def _text(text: str) -> str:
    return escape(one_line(text, LONGEST_TEXT))


@cache
def _style() -> str:
    sheet = files("weigh.harness.report.render").joinpath("report.css").read_text(encoding="utf-8")
    return f"{colours_css()}\n{sheet}"


STEPS: Final = 4
"""Tones on each side of the middle one."""

TONES: Final[Mapping[str, tuple[str, str]]] = {
    "below-4": ("#f59e4c", "#8a4300"),
    "below-3": ("#f9bd83", "#703a09"),
    "below-2": ("#fcd8b4", "#573210"),
    "below-1": ("#fdeedd", "#3f2c1a"),
    "level": ("#ece8df", "#2e343e"),
    "above-1": ("#e2eef8", "#1f3449"),
    "above-2": ("#bfdcf2", "#1b4265"),
    "above-3": ("#95c6ea", "#165182"),
    "above-4": ("#67acdf", "#0f609f"),
}
"""By tone: light, dark."""

SERIES: Final[tuple[tuple[str, str], ...]] = (
    ("#0b559f", "#7cb8f5"),
    ("#f0a04b", "#b8640f"),
    ("#0b6e58", "#52c7a5"),
    ("#e39bd0", "#a04f8c"),
    ("#6b4e00", "#e0c04a"),
    ("#8fb3d9", "#4a6f99"),
    ("#8c1c13", "#ff8f85"),
)
"""By place: light, dark. One more than there are kinds of anything that is drawn so."""

MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "span": ("#9db8d3", "#476a8d"),
    "span-quiet": ("#cfc9bd", "#4a515c"),
    "mean": ("#0b4a8f", "#a9d2ff"),
    "adjusted": ("#a3470a", "#ffb272"),
    "grid": ("#e6e1d6", "#2c323c"),
    "zero": ("#8b8778", "#77808e"),
}
"""Of the interval pictures: light, dark."""


def tone(value: float | None, most: float) -> str | None:
    """The tone of a value on a scale from -most to most; None for no value."""
    if value is None:
        return None
    step = 0 if most <= 0 else min(STEPS, round(abs(value) / most * STEPS))
    if step == 0:
        return "level"
    return f"{'above' if value > 0 else 'below'}-{step}"


def colours_css() -> str:
    """Custom properties for every theme, and a class for every tone and series."""
    light, dark = (_properties(theme) for theme in (0, 1))
    rules = [
        f":root{{{light}}}",
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}",
        f"@media print{{:root{{{light}}}}}",
    ]
    rules += [f".{name}{{background:var(--{name});fill:var(--{name})}}" for name in TONES]
    rules += [f".series-{n}{{background:var(--series-{n});fill:var(--series-{n})}}" for n in range(len(SERIES))]
    return "\n".join(rules)


def _properties(theme: int) -> str:
    return "".join(f"--{name}:{pair[theme]};" for name, pair in _named_colours())


def _named_colours() -> Iterator[tuple[str, tuple[str, str]]]:
    yield from PAPER.items()
    yield from MARKS.items()
    yield from TONES.items()
    for n, pair in enumerate(SERIES):
        yield f"series-{n}", pair
