"""The drawing of the board of Half-Hearted Step: its numbers, who took which, the way of the piece, and the last turn.

Owns how it looks. Kept small, for an episode has many turns: all numbers of a kind are one element, and so are all
squares of a seat, and the whole way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from weigh.games.game import Seat
from weigh.games.half_hearted_step.play import Position, Square, Turn, middle
from weigh.games.half_hearted_step.rules import AuctionState, ChoiceState, PlayState
from weigh.harness.web.scene import Names, seat_class
from weigh.harness.web.svg import Element, drawing, h, part

AnyState: TypeAlias = AuctionState | ChoiceState | PlayState

_CELL: Final = 44
_EDGE: Final = 20
"""Room for the numbers of rows and columns."""
_RING: Final = 18
_NAME: Final = "half_hearted_step"


def turns_of(state: AnyState) -> Sequence[Turn]:
    """The turns so far; none before play."""
    return state.turns if isinstance(state, PlayState) else ()


@dataclass(frozen=True)
class Squares:
    """What is drawn."""

    marks: Names
    state: AnyState
    origin: Position | None
    """Where the picture is about the last turn: the position in which it began."""

    @property
    def size(self) -> int:
        return len(self.state.table.board)

    @cached_property
    def way(self) -> tuple[Square, ...]:
        """Every square the piece was on, in order; it stands on the last."""
        return (middle(self.size), *(turn.square for turn in turns_of(self.state)))

    def taken(self, seat: Seat) -> list[Square]:
        """The squares whose number the seat got."""
        turns = turns_of(self.state)
        return [turn.square for turn in turns if turn.number is not None and turn.active == seat]

    def draw(self) -> Element:
        """The board, square by square from the top left."""
        side, (x, y) = self.size * _CELL, _centre(self.way[-1])
        return drawing(
            f"{_NAME}-board",
            side + _EDGE,
            side + _EDGE,
            part("rect", f"{_NAME}-field", x=_EDGE, y=_EDGE, width=side, height=side),
            _squares(self.way[:1], f"{_NAME}-start"),
            *(_squares(self.taken(seat), f"{_NAME}-taken {seat_class(seat)}") for seat in (0, 1)),
            # Stripes on the squares of seat 1, which so differ in more than colour.
            _squares(self.taken(1), f"{_NAME}-stripes {seat_class(1)}"),
            _grid(self.size),
            _rulers(self.size),
            self._way(),
            *(self._last_turn(self.origin) if self.origin else ()),
            # Numbers and marks last: whatever runs through a square, they can be read.
            *self._numbers(),
            *(self._owners(seat) for seat in (0, 1)),
            *(part("circle", f"{_NAME}-{each}", cx=x, cy=y, r=_RING) for each in ("piece", "gilt")),
        )

    def in_words(self) -> Element:
        """The board for those who do not see it, a row a line: every number, and who took it when."""
        rows = ("; ".join(self._words((row, column)) for column in range(self.size)) for row in range(self.size))
        lines = (h("li", None, f"Row {row}: {line}.") for row, line in enumerate(rows))
        return part("ul", f"{_NAME}-told", *lines)

    def _words(self, square: Square) -> str:
        number = self.state.table.board[square[0]][square[1]]
        words = "no number" if number is None else _signed(number)
        if square in self.way:
            turn = self.way.index(square)
            owner = next((seat for seat in (0, 1) if square in self.taken(seat)), None)
            by = "" if owner is None else f"{self.marks[owner]}, "
            words = f"{words} ({by}turn {turn})" if turn else f"{words} (the start)"
        return f"{words}, here is the piece" if square == self.way[-1] else words

    def _numbers(self) -> Iterator[Element]:
        visited = set(self.way)
        kinds: dict[str, list[tuple[int, int, str]]] = {"number": [], "minus": [], "spent": []}
        for row, numbers in enumerate(self.state.table.board):
            for column, number in enumerate(numbers):
                if number is not None:
                    kind = "spent" if (row, column) in visited else "minus" if number < 0 else "number"
                    x, y = _centre((row, column))
                    kinds[kind].append((x, y + 7, _signed(number)))
        for kind, texts in kinds.items():
            if texts:
                yield part("g", f"{_NAME}-{kind}", *_written(texts))

    def _owners(self, seat: Seat) -> Element | None:
        """The mark of a seat in the corner of each square it took."""
        corner = _CELL // 2 - 3
        places = map(_centre, self.taken(seat))
        texts = [(x - corner, y - corner + 9, self.marks[seat]) for x, y in places]
        return part("g", f"{_NAME}-owner {seat_class(seat)}", *_written(texts)) if texts else None

    def _way(self) -> Element | None:
        points = " ".join(f"{x},{y}" for x, y in map(_centre, self.way))
        return part("polyline", f"{_NAME}-way", points=points) if len(self.way) > 1 else None

    def _last_turn(self, before: Position) -> Iterator[Element]:
        """The half-move along the row, then the one along the column, each in its seat's colour with a head."""
        turn, (x, y) = turns_of(self.state)[-1], _centre(before.square)
        horizontal, across, down = before.horizontal, turn.moves[before.horizontal], turn.moves[1 - before.horizontal]
        yield part("circle", f"{_NAME}-origin", cx=x, cy=y, r=6)
        corner = x + across * _CELL
        if across:
            way = 1 if across > 0 else -1
            tip = corner if down else corner - way * _RING
            yield _arrow(horizontal, f"M{x} {y}H{tip}m{-way * 8} -7l{way * 8} 7l{-way * 8} 7")
        if down:
            way = 1 if down > 0 else -1
            tip = y + down * _CELL - way * _RING
            yield _arrow(1 - horizontal, f"M{corner} {y}V{tip}m-7 {-way * 8}l7 {way * 8}l7 {-way * 8}")
        if turn.number is None:
            at_x, at_y = _centre(turn.square)
            yield part("path", f"{_NAME}-lost", d=f"M{at_x - 9} {at_y - 9}l18 18m0 -18l-18 18")


def _centre(square: Square) -> tuple[int, int]:
    row, column = square
    return _EDGE + column * _CELL + _CELL // 2, _EDGE + row * _CELL + _CELL // 2


def _signed(number: int) -> str:
    return str(number).replace("-", "−")


def _arrow(seat: Seat, d: str) -> Element:
    return part("path", f"{_NAME}-half {seat_class(seat)}", d=d)


def _squares(squares: Sequence[Square], kind: str) -> Element | None:
    """Squares as strokes along their rows, as wide as a square by their class; neighbours are one stroke."""
    strokes: list[tuple[Square, int]] = []
    for row, column in sorted(squares):
        (first, length) = strokes[-1] if strokes else ((-1, -1), 0)
        if first[0] == row and first[1] + length == column:
            strokes[-1] = (first, length + 1)
        else:
            strokes.append(((row, column), 1))
    places = ((*_centre(first), length) for first, length in strokes)
    lines = "".join(f"M{x - _CELL // 2} {y}h{length * _CELL}" for x, y, length in places)
    return part("path", kind, d=lines) if squares else None


@lru_cache(maxsize=64)
def _grid(size: int) -> Element:
    side, steps = size * _CELL, [_EDGE + place * _CELL for place in range(size + 1)]
    return part("path", f"{_NAME}-grid", d="".join(f"M{_EDGE} {at}h{side}M{at} {_EDGE}v{side}" for at in steps))


@lru_cache(maxsize=64)
def _rulers(size: int) -> Element:
    """The numbers of columns on top and of rows at the left."""
    columns = [(_centre((0, place))[0], 14, str(place)) for place in range(size)]
    rows = [(8, _centre((place, 0))[1] + 4, str(place)) for place in range(size)]
    return part("g", f"{_NAME}-ruler", *_written([*columns, *rows]))


def _written(texts: Sequence[tuple[int, int, str]]) -> Iterator[Element]:
    """Texts at their places. Single characters share one element, which holds a place for each of them."""
    single = [each for each in texts if len(each[2]) == 1]
    if single:
        xs, ys = (" ".join(str(each[part]) for each in single) for part in (0, 1))
        yield h("text", {"x": xs, "y": ys}, "".join(text for *_, text in single))
    for x, y, text in texts:
        if len(text) > 1:
            yield h("text", {"x": x, "y": y}, text)
