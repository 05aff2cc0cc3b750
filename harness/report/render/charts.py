"""Drawings for the cells of tables: intervals, ranges, bars and axes, on a scale that a whole column shares.

Owns how a number is drawn. Everything is SVG without a script, as wide as its cell; each drawing says in words what it
shows, so nobody needs to see it. Colours are classes (`colours`), and no two marks differ by colour alone. Places are
shares of the width in per cent, so that a drawing has the width of the page it is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import TypeAlias

from weigh.harness.web.svg import Element, h

Attributes: TypeAlias = dict[str, str | int | float]

HEIGHT = 34
"""Pixels of a row's drawing."""

MIDDLE = HEIGHT // 2
BAR = 14
"""Pixels of a bar's height."""

ROOMY = 25
"""Per cent from an end within which a narrow page has no room for the word at 0."""

LAST_TICKS = 7
"""More ticks than this are written every second one."""


def axis(scale: Scale, unit: str = "", signed: bool = False) -> Element:
    """The ticks of a column, for its heading."""
    every = 2 if len(scale.ticks) > LAST_TICKS else 1
    shown = [tick for n, tick in enumerate(scale.ticks) if n % every == 0 or tick == 0]
    marks: list[Element] = []
    for n, tick in enumerate(shown):
        side = "start" if n == 0 else "end" if n == len(shown) - 1 else "middle"
        text = tick_text(tick, signed) + (unit if n == len(shown) - 1 else "")
        shift = {"start": -6, "middle": 0, "end": 6}[side]
        place: Attributes = {"x": _at(scale, tick), "y": 11, "dx": shift, "text-anchor": side}
        kept = side != "middle" or (tick == 0 and ROOMY < scale.at(tick) < 100 - ROOMY)
        marks.append(h("text", place if kept else {**place, "class": "between"}, text))
        marks.append(h("line", {"class": "tick", "x1": _at(scale, tick), "x2": _at(scale, tick), "y1": 15, "y2": 20}))
    return h("svg", {"class": "axis", "width": "100%", "height": 20, "aria-hidden": "true"}, *marks)


def interval(
    scale: Scale,
    words: str,
    mean: float,
    ends: tuple[float, float] | None,
    second: float | None = None,
    ranked: bool = True,
) -> Element:
    """A dot for a mean, a bar for its interval, and a diamond around the dot or beside it for a `second` estimate.

    A mean without an interval is a ring, so that it does not look sure.
    """
    marks = [*_grid(scale)]
    if ends is not None:
        low, high = (_at(scale, end) for end in ends)
        bar = "span" if ranked else "span unsure"
        marks.append(h("line", {"class": bar, "x1": low, "x2": high, "y1": MIDDLE, "y2": MIDDLE}))
        marks += [
            h("line", {"class": "cap", "x1": x, "x2": x, "y1": MIDDLE - 6, "y2": MIDDLE + 6}) for x in (low, high)
        ]
    if second is not None:
        diamond = h("path", {"class": "second", "d": "M-8.5 0L0-8.5 8.5 0 0 8.5z"})
        marks.append(h("svg", {"class": "mark", "x": _at(scale, second), "y": MIDDLE}, diamond))
    dot = "mean" if ends is not None else "mean ring"
    marks.append(h("circle", {"class": dot, "cx": _at(scale, mean), "cy": MIDDLE, "r": 4.5}))
    return _drawing(words, marks)


def spread(scale: Scale, words: str, middle: float, high: float, most: float | None = None) -> Element:
    """A range from a dot to a bar's end, e.g. median and 95th percentile, and a thin line on to the `most`."""
    start, end = _at(scale, middle), _at(scale, high)
    marks = [*_grid(scale)]
    if most is not None:
        last = _at(scale, most)
        marks.append(h("line", {"class": "whisker", "x1": end, "x2": last, "y1": MIDDLE, "y2": MIDDLE}))
        marks.append(h("line", {"class": "cap", "x1": last, "x2": last, "y1": MIDDLE - 4, "y2": MIDDLE + 4}))
    marks.append(h("line", {"class": "span", "x1": start, "x2": end, "y1": MIDDLE, "y2": MIDDLE}))
    marks.append(h("line", {"class": "cap strong", "x1": end, "x2": end, "y1": MIDDLE - 7, "y2": MIDDLE + 7}))
    marks.append(h("circle", {"class": "mean", "cx": start, "cy": MIDDLE, "r": 4.5}))
    return _drawing(words, marks)


def bar(scale: Scale, words: str, value: float) -> Element:
    """A bar from 0."""
    return stack(scale, words, [(0, value, words)])


def stack(scale: Scale, words: str, pieces: Sequence[tuple[int, float, str]]) -> Element:
    """Pieces one after the other from 0: the place of each in `colours.SERIES`, its size, and what it is."""
    marks = [*_grid(scale)]
    start = 0.0
    for series, size, meaning in pieces:
        if size > 0:
            left, right = scale.at(start), scale.at(start + size)
            marks.append(
                h(
                    "rect",
                    {
                        "class": f"piece series-{series}",
                        "x": f"{left:.2f}%",
                        "width": f"{right - left:.2f}%",
                        "y": MIDDLE - BAR // 2,
                        "height": BAR,
                    },
                    h("title", {}, meaning),
                )
            )
        start += size
    return _drawing(words, marks)


def _grid(scale: Scale) -> list[Element]:
    return [
        h(
            "line",
            {
                "class": "zero" if tick == 0 else "grid",
                "x1": _at(scale, tick),
                "x2": _at(scale, tick),
                "y1": 0,
                "y2": HEIGHT,
            },
        )
        for tick in scale.ticks
    ]


def _drawing(words: str, marks: Sequence[Element]) -> Element:
    frame: Attributes = {"class": "drawing", "role": "img", "aria-label": words, "width": "100%", "height": HEIGHT}
    return h("svg", frame, h("title", {}, words), *marks)


def _at(scale: Scale, value: float) -> str:
    return f"{scale.at(value):.2f}%"


EDGE = 3.0
"""Per cent kept free at each end, for marks that stand at the end of the scale."""

TICKS = 4
"""About so many steps between ticks."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A line from `low` to `high`."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """The place of a value, in per cent; values beyond the ends stand at the ends."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return EDGE + share * (100 - 2 * EDGE)


def scale(values: Iterable[float | None], *, zero: bool = True) -> Scale:
    """A scale with room for all `values`, and for 0 where `zero`; ticks are round numbers (1, 2, 2.5 or 5 times a power
    of ten), and the scale begins and ends with one."""
    known = [value for value in values if value is not None and isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-9:
        low, high = (low - 1, high + 1) if low or not zero else (low, 1.0)
    step = _step((high - low) / TICKS)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return Scale(first * step, last * step, tuple(n * step for n in range(first, last + 1)))


def _step(wanted: float) -> float:
    power = 10.0 ** floor(log10(wanted))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= wanted * (1 - 1e-9))


def tick_text(value: float, signed: bool = False) -> str:
    """A tick as short as it is exact: `0.25`, `+0.5`, `-1`, `0`."""
    text = f"{round(value, 9):{'+' if signed else ''}.6g}"
    return "0" if float(text) == 0 else text
