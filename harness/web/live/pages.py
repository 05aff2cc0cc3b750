"""The two live pages as files: a spectator's and a seat's.

Owns how they are put together: the replay page's body, style and scripts with a section and a script of their own in
front. Each asks its own server for its stream, and nobody for anything else; the policy that goes with it says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Final

from weigh.games.game import Json
from weigh.games.registry import GAMES
from weigh.harness.web.live.assets import asset
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.seat import Closed, SeatRoom
from weigh.harness.web.live.streams import Boards, spectate
from weigh.harness.web.viewer.assets import asset as viewer_asset
from weigh.harness.web.viewer.nodes import ATTRIBUTES, HTML_TAGS, SVG_TAGS
from weigh.harness.web.viewer.page import STYLES, content_policy, island
from weigh.harness.web.viewer.palette import palette_css
from weigh.harness.web.viewer.scenes import scene_of
from weigh.policies.show import one_line

_PLAYER: Final = ("tree.js", "episode.js", "player.js")
_MAIN: Final = '<main id="main" tabindex="-1">\n'


@dataclass(frozen=True, slots=True)
class SpectatorPage:
    """Everything about a run, for whoever plays in none of it."""

    feed: Feed
    name: str
    single: bool = False
    """Whether there is one episode and no ladder."""
    boards: Boards = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "boards", Boards(self.feed))

    def html(self) -> tuple[str, str]:
        return _file("live", f"{self.name} · live", {"name": one_line(self.name, 200), "single": self.single})

    def stream(self, episode: str | None) -> AsyncIterator[str]:
        return spectate(self.feed, episode, self.boards)

    def answer(self, number: int, line: str) -> str | None:
        raise Closed


@dataclass(frozen=True, slots=True)
class SeatPage:
    """What one person may see, and where they move."""

    room: SeatRoom

    def html(self) -> tuple[str, str]:
        return _file("seat", f"{self.room.about['alias']} · {self.room.about['title']}", self.room.about)

    def stream(self, episode: str | None) -> AsyncIterator[str]:
        return self.room.stream()

    def answer(self, number: int, line: str) -> str | None:
        return self.room.answer(number, line)


def _file(kind: str, title: str, data: dict[str, Json]) -> tuple[str, str]:
    """A page and its policy."""
    style, script = _style(), _script(kind)
    policy = content_policy(style, script, "connect-src 'self'", "frame-ancestors 'none'")
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(one_line(title, 200))}</title>\n<style>{style}</style>\n</head>\n{_body(kind)}"
        f'<script type="application/json" id="live-data">{island(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    return text, policy


@cache
def _body(kind: str) -> str:
    body = viewer_asset("body.html")
    before, main, after = body.partition(_MAIN)
    if not main:
        raise ValueError("the replay page's body has no place for the live section")
    return before + main + asset(f"{kind}.html") + after


@cache
def _script(kind: str) -> str:
    known = {"html": sorted(HTML_TAGS), "svg": sorted(SVG_TAGS), "attributes": sorted(ATTRIBUTES)}
    parts = [f"const ALLOWED = {island(known)};", *(viewer_asset(name) for name in _PLAYER)]
    parts += [asset("watch.js"), asset(f"{kind}.js")]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


@cache
def _style() -> str:
    scenes = (scene_of(name).STYLE for name in GAMES)
    return "\n".join([palette_css(), *map(viewer_asset, STYLES), *scenes, asset("live.css")])
