"""Tables as plain lines: columns padded to one width.

Owns the padding and how wide a text is on a terminal. Knows nothing of what stands in a table, and cuts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool], gap: int = 2) -> list[str]:
    """A line for each row, `gap` spaces between columns; `right` says which of them are aligned to the right."""
    widths = widths_of(rows)
    return [
        (" " * gap)
        .join(padded(cell, width, to_right) for cell, width, to_right in zip(row, widths, right, strict=True))
        .rstrip()
        for row in rows
    ]


def widths_of(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of each column, in terminal columns."""
    return [max(map(width_of, column)) for column in zip(*rows, strict=True)]


def padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def width_of(text: str) -> int:
    """Terminal columns: two for wide characters, none for combining marks."""
    from rich.cells import cell_len

    return cell_len(text)
