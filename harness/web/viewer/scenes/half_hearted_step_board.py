"""The drawing of the board of Half-Hearted Step: its numbers, who took which, the way of the piece, and the last turn.

Owns how it looks, knows no rule: `Shown` holds everything that is drawn. Kept small, for an episode has many turns: all
numbers of a kind are one element, and so are all squares of a seat, and the whole way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weigh.games.game import Seat
from weigh.games.half_hearted_step.play import Board, Square
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.seat_marks import seat_class


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The two half-moves that led to the piece's square. Signed: left and up are negative."""

    origin: Square
    across: int
    down: int
    horizontal: Seat
    """Whose the movement along the row is; the other one's is along the column."""
    lost: bool
    """Whether the square had been visited."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is drawn."""

    marks: tuple[str, ...]
    board: Board
    square: Square
    """Where the piece stands."""
    way: tuple[Square, ...]
    """Every square it was on, in order, the first one first."""
    taken: tuple[tuple[Square, Seat], ...]
    """The squares whose number somebody got."""
    last: LastTurn | None


CELL: Final = 44
_EDGE: Final = 20
"""Room for the numbers of rows and columns."""
_RING: Final = 18
_NAME: Final = "half_hearted_step"


def draw(shown: Shown) -> Element:
    """The board, square by square from the top left."""
    size = len(shown.board)
    side = size * CELL
    return h(
        "svg",
        {"class": f"{_NAME}-board", "viewBox": f"0 0 {side + _EDGE} {side + _EDGE}", "aria-hidden": "true"},
        h("rect", {"class": f"{_NAME}-field", "x": _EDGE, "y": _EDGE, "width": side, "height": side}),
        _squares([shown.way[0]], f"{_NAME}-start"),
        *(
            _squares([square for square, owner in shown.taken if owner == seat], f"{_NAME}-taken {seat_class(seat)}")
            for seat in (0, 1)
        ),
        # Stripes on the squares of seat 1, which so differ in more than colour.
        _squares([square for square, owner in shown.taken if owner == 1], f"{_NAME}-stripes {seat_class(1)}"),
        _grid(size),
        _rulers(size),
        _way(shown.way),
        *_last(shown.last, shown.square),
        # Numbers and marks last: whatever runs through a square, they can be read.
        *_numbers(shown),
        *(_owners(shown, seat) for seat in (0, 1)),
        *(
            h("circle", {"class": f"{_NAME}-{part}", "cx": _x(shown.square), "cy": _y(shown.square), "r": _RING})
            for part in ("piece", "gilt")
        ),
    )


def told(shown: Shown) -> Element:
    """The board in words for those who do not see it, a row a line: every number, and who took it when."""
    size = len(shown.board)
    rows = ("; ".join(_told(shown, (row, column)) for column in range(size)) for row in range(size))
    return h("ul", {"class": f"{_NAME}-told"}, *(h("li", None, f"Row {row}: {line}.") for row, line in enumerate(rows)))


def _told(shown: Shown, square: Square) -> str:
    number = shown.board[square[0]][square[1]]
    words = "no number" if number is None else str(number).replace("-", "−")
    if square in shown.way:
        turn = shown.way.index(square)
        owner = next((seat for taken, seat in shown.taken if taken == square), None)
        by = "" if owner is None else f"{shown.marks[owner]}, "
        words = f"{words} ({by}turn {turn})" if turn else f"{words} (the start)"
    return f"{words}, here is the piece" if square == shown.square else words


def _x(square: Square) -> int:
    return _EDGE + square[1] * CELL + CELL // 2


def _y(square: Square) -> int:
    return _EDGE + square[0] * CELL + CELL // 2


def _squares(squares: Sequence[Square], kind: str) -> Element | None:
    """Squares as strokes along their rows, as wide as a square by their class; neighbours are one stroke."""
    if not squares:
        return None
    strokes: list[tuple[Square, int]] = []
    for row, column in sorted(squares):
        (first, length) = strokes[-1] if strokes else ((-1, -1), 0)
        if first[0] == row and first[1] + length == column:
            strokes[-1] = (first, length + 1)
        else:
            strokes.append(((row, column), 1))
    lines = "".join(f"M{_x(first) - CELL // 2} {_y(first)}h{length * CELL}" for first, length in strokes)
    return h("path", {"class": kind, "d": lines})


@lru_cache(maxsize=64)
def _grid(size: int) -> Element:
    side = size * CELL
    lines = "".join(
        f"M{_EDGE} {_EDGE + place * CELL}h{side}M{_EDGE + place * CELL} {_EDGE}v{side}" for place in range(size + 1)
    )
    return h("path", {"class": f"{_NAME}-grid", "d": lines})


@lru_cache(maxsize=64)
def _rulers(size: int) -> Element:
    """The numbers of columns on top and of rows at the left."""
    columns = [(_x((0, place)), 14, str(place)) for place in range(size)]
    rows = [(8, _y((place, 0)) + 4, str(place)) for place in range(size)]
    return h("g", {"class": f"{_NAME}-ruler"}, *_written([*columns, *rows]))


def _written(texts: Sequence[tuple[int, int, str]]) -> Iterator[Element]:
    """Texts at their places. Single characters share one element, which holds a place for each of them."""
    single = [each for each in texts if len(each[2]) == 1]
    if single:
        xs, ys = (" ".join(str(each[part]) for each in single) for part in (0, 1))
        yield h("text", {"x": xs, "y": ys}, "".join(text for *_, text in single))
    for x, y, text in texts:
        if len(text) > 1:
            yield h("text", {"x": x, "y": y}, text)


def _numbers(shown: Shown) -> Iterator[Element]:
    visited = set(shown.way)
    kinds: dict[str, list[tuple[int, int, str]]] = {"number": [], "minus": [], "spent": []}
    for row, numbers in enumerate(shown.board):
        for column, number in enumerate(numbers):
            if number is not None:
                kind = "spent" if (row, column) in visited else "minus" if number < 0 else "number"
                text = str(number).replace("-", "−")
                kinds[kind].append((_x((row, column)), _y((row, column)) + 7, text))
    for kind, texts in kinds.items():
        if texts:
            yield h("g", {"class": f"{_NAME}-{kind}"}, *_written(texts))


def _owners(shown: Shown, seat: Seat) -> Element | None:
    """The mark of a seat in the corner of each square it took."""
    squares = [square for square, owner in shown.taken if owner == seat]
    if not squares:
        return None
    corner = CELL // 2 - 3
    texts = [(_x(each) - corner, _y(each) - corner + 9, shown.marks[seat]) for each in squares]
    return h("g", {"class": f"{_NAME}-owner {seat_class(seat)}"}, *_written(texts))


def _way(way: Sequence[Square]) -> Element | None:
    if len(way) < 2:
        return None
    return h("polyline", {"class": f"{_NAME}-way", "points": " ".join(f"{_x(each)},{_y(each)}" for each in way)})


def _last(last: LastTurn | None, square: Square) -> Iterator[Element]:
    """The half-move along the row, then the one along the column, each in its seat's colour with a head."""
    if last is None:
        return
    x, y = _x(last.origin), _y(last.origin)
    yield h("circle", {"class": f"{_NAME}-origin", "cx": x, "cy": y, "r": 6})
    corner = x + last.across * CELL
    if last.across:
        way = 1 if last.across > 0 else -1
        tip = corner if last.down else corner - way * _RING
        yield _arrow(last.horizontal, f"M{x} {y}H{tip}m{-way * 8} -7l{way * 8} 7l{-way * 8} 7")
    if last.down:
        way = 1 if last.down > 0 else -1
        tip = y + last.down * CELL - way * _RING
        yield _arrow(1 - last.horizontal, f"M{corner} {y}V{tip}m-7 {-way * 8}l7 {way * 8}l7 {-way * 8}")
    if last.lost:
        d = f"M{_x(square) - 9} {_y(square) - 9}l18 18m0 -18l-18 18"
        yield h("path", {"class": f"{_NAME}-lost", "d": d})


def _arrow(seat: Seat, d: str) -> Element:
    return h("path", {"class": f"{_NAME}-half {seat_class(seat)}", "d": d})
