"""Other people's text in Markdown, and the few forms of it that are written: tables and lists.

Owns the escaping, the only one there is: wherever Markdown is written, what is no markup of ours goes through here, so
that no name becomes markup, a mention, a reference or a link. Knows nothing of what is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from policies.show import one_line

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


def table_lines(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """A table of plain texts; `right` says which columns are aligned to the right."""
    yield _row(headings)
    yield "|" + "|".join("--:" if numeric else ":--" for numeric in right) + "|"
    yield from map(_row, rows)


def list_lines(texts: Iterable[str]) -> Iterator[str]:
    """A list of plain texts."""
    return (f"- {at_line_start(text)}" for text in texts)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(harmless, cells)) + " |"
