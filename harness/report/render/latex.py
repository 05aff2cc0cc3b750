r"""Tables as LaTeX, for a paper: `tabular` with the rules of the booktabs package.

Owns the escaping. Sentences and lists are left out: a paper has its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weigh.harness.report.render.document import Section, Table
from weigh.harness.words import shown

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def latex_tables(sections: Iterable[Section]) -> str:
    """Every table of `sections`, its caption or its section's title as a comment above it."""
    return "\n".join(
        line
        for section in sections
        for block in section.blocks
        if isinstance(block, Table)
        for line in _table(block, block.caption or section.title)
    )


def _table(table: Table, title: str) -> Iterator[str]:
    kept = [n for n, column in enumerate(table.columns) if not column.drawn]
    yield f"% {shown(title)}"
    yield rf"\begin{{tabular}}{{{''.join('r' if table.columns[n].numeric else 'l' for n in kept)}}}"
    yield r"\toprule"
    yield _row(table.columns[n].title for n in kept)
    yield r"\midrule"
    yield from (_row(row[n].text for n in kept) for row in table.rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(map(_number_or_text, cells)) + r" \\"


def _number_or_text(text: str) -> str:
    """With a minus sign where a number has a hyphen."""
    safe = "".join(_ESCAPED.get(character, character) for character in shown(text))
    numeric = text[:1] in "+-[" and any(character.isdigit() for character in text)
    return f"${safe}$" if numeric else safe
