"""Differences of two arms as a picture in text: one mark for each block, sorted, around a line at zero.

Owns where a mark stands and how the rows look. Knows no runs and no terminal: width and characters are handed in.

                           A better  0  B better
    b0000  -0.400  o-----------------|
    b0002   0.000                    o
    b0001  +0.200                    |--------o
    mean   -0.067      [----------*--|----]
                   -0.4              0              +0.4

A row is one block; where there are more than rows, neighbours in the order share one, and each still has its mark (a
digit where several fall on one column, + for ten or more). The scale is the same to both sides of the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

MOST_ROWS = 40
"""Of blocks."""

NARROWEST = 40
WIDEST = 100
"""Columns of a picture, whatever the terminal has."""

_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of a scale, times a power of ten."""

_MANY = 10


@dataclass(frozen=True, slots=True)
class Ink:
    """The characters of a picture."""

    mark: str
    bar: str
    zero: str
    mean: str
    low: str
    high: str


ASCII = Ink(mark="o", bar="-", zero="|", mean="*", low="[", high="]")
DRAWN = Ink(mark="\u25cf", bar="\u2500", zero="\u2502", mean="\u25c6", low="\u251c", high="\u2524")
"""For terminals that have them."""


@dataclass(frozen=True, slots=True)
class Span:
    """A mean with its interval, on a row of its own below the blocks."""

    label: str
    mean: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Scale:
    """From differences to columns 0 .. 2 * half, zero in the middle."""

    limit: float
    """The difference at either end."""
    half: int

    def column(self, difference: float) -> int:
        """Where a difference stands: rounded to the nearest column, halves away from zero, cut at the ends."""
        away = min(self.half, floor(abs(difference) / self.limit * self.half + 0.5 + 1e-9))
        return self.half + (away if difference > 0 else -away)


def scale_for(values: Sequence[float], columns: int) -> Scale:
    """The least round scale that holds all of `values`, on an odd number of at most `columns` columns.

    Its end is 1, 1.5, 2, 3, 4, 5, 6, 8 or 10 times a power of ten; 0.1 where every value is 0.
    """
    largest = max((abs(value) for value in values), default=0.0)
    if largest < 1e-9:
        return Scale(0.1, (columns - 1) // 2)
    power = 10.0 ** floor(log10(largest))
    end = next((step for step in _STEPS if step * power >= largest * (1 - 1e-9)), 10.0)
    return Scale(end * power, (columns - 1) // 2)


def plot(
    differences: Sequence[tuple[str, float]],
    spans: Sequence[Span],
    sides: tuple[str, str],
    width: int = 80,
    ink: Ink = ASCII,
) -> list[str]:
    """The picture's lines, none longer than `width` (at least NARROWEST).

    `differences` are labelled and may come in any order; `sides` says what the left and the right half stand for. Empty
    without differences. Labels are expected to be safe to show. Raises ValueError for a difference that is no number.
    """
    if not differences:
        return []
    if not all(isfinite(value) for _, value in differences):
        raise ValueError("a difference that is no number has no place")
    rows = _rows(sorted(differences, key=lambda pair: (pair[1], pair[0])))
    width = max(NARROWEST, min(width, WIDEST))
    margin = max(len(label) for label in [*(label for label, _ in rows), *(span.label for span in spans)])
    margin = min(margin, width // 4)
    told = [end for span in spans for end in (*(span.interval or ()), *([] if span.mean is None else [span.mean]))]
    scale = scale_for([*(value for _, value in differences), *told], width - margin - len("  +0.000  "))
    lines = [_heading(sides, scale, margin)]
    for label, values in rows:
        number = f"{values[0]:+.3f}" if len(values) == 1 else ""
        lines.append(_line(label, _plain(number), _marks(values, scale, ink), margin))
    for span in spans:
        number = "-" if span.mean is None else f"{span.mean:+.3f}"
        lines.append(_line(span.label, _plain(number), _interval(span, scale, ink), margin))
    lines.append(_axis(scale, margin))
    return lines


def _rows(ordered: Sequence[tuple[str, float]]) -> list[tuple[str, list[float]]]:
    """The marks of each row: one, or as many neighbours as it takes."""
    each = ceil(len(ordered) / MOST_ROWS)
    if each == 1:
        return [(label, [value]) for label, value in ordered]
    parts = [ordered[start : start + each] for start in range(0, len(ordered), each)]
    return [(f"{len(part)} blocks" if len(part) > 1 else part[0][0], [value for _, value in part]) for part in parts]


def _marks(values: Sequence[float], scale: Scale, ink: Ink) -> str:
    row = [" "] * (2 * scale.half + 1)
    columns = Counter(scale.column(value) for value in values)
    reach = [scale.half, *columns]
    for column in range(min(reach), max(reach) + 1):
        row[column] = ink.bar
    row[scale.half] = ink.zero
    for column, number in columns.items():
        row[column] = ink.mark if number == 1 else str(number) if number < _MANY else "+"
    return "".join(row).rstrip()


def _interval(span: Span, scale: Scale, ink: Ink) -> str:
    row = [" "] * (2 * scale.half + 1)
    row[scale.half] = ink.zero
    if span.interval is not None:
        low, high = map(scale.column, span.interval)
        for column in range(low, high + 1):
            row[column] = ink.bar if column != scale.half else ink.zero
        row[low], row[high] = ink.low, ink.high
    if span.mean is not None:
        row[scale.column(span.mean)] = ink.mean
    return "".join(row).rstrip()


def _heading(sides: tuple[str, str], scale: Scale, margin: int) -> str:
    room = max(0, scale.half - 2)
    left, right = (side[:room] for side in sides)
    return _line("", "", f"{left:>{room}}  0  {right}", margin)


def _axis(scale: Scale, margin: int) -> str:
    end = f"{scale.limit:g}"
    left = f"-{end}"
    between = 2 * scale.half + 1 - len(left) - len(end) - 1
    zero = scale.half - len(left)
    return _line("", "", f"{left}{'0':>{zero + 1}}{f'+{end}':>{between - zero + len(end)}}", margin)


def _line(label: str, number: str, picture: str, margin: int) -> str:
    return f"{label[:margin]:<{margin}}  {number:>6}  {picture}".rstrip()


def _plain(number: str) -> str:
    """Without a sign where it is 0 to three digits."""
    return " 0.000" if number in ("+0.000", "-0.000") else number
