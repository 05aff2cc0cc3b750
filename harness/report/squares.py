"""A heat map without numbers, for fields too large to write one into every cell.

Owns its picture: a square for each ordered pair, and the entrants' numbers at both edges. Numbers of the largest part
of it stand in a table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.report.colours import tone
from harness.viewer.nodes import Element, h

SIDE = 18
"""Units of a square."""

ABOVE = 26
"""Units for the numbers above."""

LEFT = 150
"""Units for names and numbers at the left."""

LONGEST = 22
"""Characters of a name; its number tells those apart that begin alike."""


def squares(
    names: Sequence[str],
    values: Mapping[tuple[int, int], float],
    most: float,
    words: str,
    marked: frozenset[tuple[int, int]] = frozenset(),
) -> Element:
    """Rows and columns in the order of `names`; a pair without a value stays empty, a `marked` one has a dot.

    Tones run from -most to most; `words` say what the picture shows.
    """
    marks: list[Element] = []
    for n, name in enumerate(names):
        middle = n * SIDE + SIDE / 2
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
        side: dict[str, str | int | float] = {
            "x": LEFT - 5,
            "y": ABOVE + middle,
            "text-anchor": "end",
            "dominant-baseline": "central",
        }
        marks.append(h("text", side, f"{short} {n + 1}"))
        marks.append(h("text", {"x": LEFT + middle, "y": ABOVE - 7, "text-anchor": "middle"}, f"{n + 1}"))
        marks.append(h("rect", {"class": "itself", **_place(n, n)}))
    for (row, column), value in sorted(values.items()):
        said = f"{names[row]} against {names[column]}: {value:+.2f}"
        marks.append(h("rect", {"class": tone(value, most) or "level", **_place(row, column)}, h("title", {}, said)))
        if (row, column) in marked:
            x, y = LEFT + column * SIDE + SIDE / 2, ABOVE + row * SIDE + SIDE / 2
            marks.append(h("circle", {"class": "sure", "cx": x, "cy": y, "r": 2.6}))
    size = len(names) * SIDE + 1
    frame = {"class": "squares", "role": "img", "aria-label": words, "viewBox": f"0 0 {LEFT + size} {ABOVE + size}"}
    return h("svg", frame, *marks)


def _place(row: int, column: int) -> dict[str, str | int | float]:
    return {"x": LEFT + column * SIDE, "y": ABOVE + row * SIDE, "width": SIDE - 1, "height": SIDE - 1}
