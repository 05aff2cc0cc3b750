"""One module a game: its board view. `board_view` finds it; a test holds that every game has one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import cast

from weigh.games.values import quote
from weigh.harness.web.scene import BoardView


class NoPictures(LookupError):
    """A game has no board view."""


def board_view(game: str) -> BoardView:
    """The board view of a game by its name. Raises NoPictures for a game without one."""
    name = f"{__name__}.{game}"
    if not game.isidentifier() or find_spec(name) is None:
        raise NoPictures(f"there are no pictures for the game {quote(game)}")
    return cast(BoardView, import_module(name))
