"""One module a game: how it is shown. `scene_of` finds it; a test holds that every game has one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import cast

from weigh.games.values import quote
from weigh.harness.web.viewer.scene import Scene


class NoPictures(LookupError):
    """A game has no scene."""


def scene_of(game: str) -> Scene:
    """The scene of a game by its name. Raises NoPictures for a game without one."""
    name = f"weigh.harness.web.viewer.scenes.{game}"
    if not game.isidentifier() or find_spec(name) is None:
        raise NoPictures(f"there are no pictures for the game {quote(game)}")
    return cast(Scene, import_module(name))
