"""How a seat is told from the others in a picture: by a colour, and always by a mark of one to three letters as well.

Owns the marks and the small badge that carries one. The page defines the classes used here: `seat` is the badge,
`seat-0` .. `seat-12` set the custom property `--seat` to a colour that colour-blind readers tell from its neighbours,
for whatever stands inside the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from weigh.games.game import Seat
from weigh.harness.web.viewer.nodes import Element, h

COLOURS = 13
"""Different seat colours; from seat 13 on they come again, and the marks tell who is who."""

_LONGEST = 3


def seat_class(seat: Seat) -> str:
    """The class that gives an element, and everything in it, the colour of `seat`."""
    return f"seat-{seat % COLOURS}"


def marks(names: Sequence[str]) -> tuple[str, ...]:
    """A mark for each name: its first letter, or as many more as tell it apart; numbers where three do not.

    >>> marks(["Ash", "Elm", "Elder"])
    ('A', 'Elm', 'Eld')
    """
    found = []
    for seat, name in enumerate(names):
        others = [other for place, other in enumerate(names) if place != seat]
        heads = (name[:length] for length in range(1, _LONGEST + 1))
        mark = next((head for head in heads if not any(other.startswith(head) for other in others)), "")
        found.append(mark if mark.isalnum() else str(seat))
    return tuple(found) if len(set(found)) == len(found) else tuple(map(str, range(len(names))))


def short(name: str) -> str:
    """The alias alone, of a name that holds the entrant as well (`Ash (mine)`): for where there is little room."""
    return name.partition(" (")[0]


@lru_cache(maxsize=4_096)
def badge(seat: Seat, mark: str) -> Element:
    """The badge of a seat, for a picture made of HTML."""
    return h("span", {"class": f"seat {seat_class(seat)}"}, mark)
