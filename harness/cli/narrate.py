"""Events as one line each, for a terminal. The same for every game: it knows no game's words."""

from __future__ import annotations

from collections.abc import Sequence

from games.game import Event, Json
from policies.show import one_line

_NAMES_A_SEAT = ("seat", "owner", "priority", "holder", "winner", "horizontal", "first", "next")
"""Keys whose whole number is a seat."""

_LIST_SEATS = ("winners", "seats", "elimination_candidates")
"""Keys whose list holds seats."""

NOT_BY_SEAT = ("remaining", "flips", "square", "position", *_LIST_SEATS)
"""Keys whose list is not one entry a seat, however long it is."""


def narrate(event: Event, aliases: Sequence[str]) -> str:
    """What happened, e.g. `round 0, bids Ash 5 / Elm 7, margin 2`; the event's kind is left to the caller."""
    parts = [f"{key} {_value(key, value, aliases)}" for key, value in event.data.items()]
    return one_line(", ".join(parts), 2_000)


def seats_named(key: str, value: object, aliases: Sequence[str]) -> str | None:
    """`Ash and Elm` for a list of seats under one of the keys that hold such; None for anything else."""
    if key not in _LIST_SEATS or not isinstance(value, list | tuple):
        return None
    return " and ".join(aliases[seat] for seat in value if isinstance(seat, int)) or "nobody"


def _value(key: str, value: Json, aliases: Sequence[str]) -> str:
    if key in _NAMES_A_SEAT and isinstance(value, int) and 0 <= value < len(aliases):
        return aliases[value]
    if (named := seats_named(key, value, aliases)) is not None:
        return named
    if isinstance(value, list | tuple):
        if len(value) == len(aliases) and key not in NOT_BY_SEAT:
            return " / ".join(
                f"{alias} {_value('', item, aliases)}" for alias, item in zip(aliases, value, strict=True)
            )
        rows = any(isinstance(item, list | tuple) for item in value)
        return (" | " if rows else " ").join(_value("", item, aliases) for item in value) or "none"
    if isinstance(value, dict):
        # Lists within an object are not by seat, however many items they have.
        return " ".join(f"{name}={_value('', item, ())}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)
