"""The two live pages as files: a spectator's and a seat's.

Owns how they are put together: the replay page's body, style and scripts with a section and a script of their own in
front. Each fetches its stream from its own server and nothing else; the policy that goes with it says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cache

from weigh.games.game import Json
from weigh.games.registry import GAMES
from weigh.harness.web.assets import asset
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.seat import Closed, SeatRoom
from weigh.harness.web.live.streams import Boards, spectate
from weigh.harness.web.viewer.page import content_policy, head, island, script_of, style_of
from weigh.policies.show import one_line

_MAIN = '<main id="main" tabindex="-1">\n'


@dataclass(frozen=True, slots=True)
class SpectatorPage:
    """Everything about a run, for people who play in none of it."""

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
        f'{head(title, style)}{_body(kind)}<script type="application/json" id="live-data">{island(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    return text, policy


@cache
def _body(kind: str) -> str:
    before, main, after = asset("viewer/body.html").partition(_MAIN)
    if not main:
        raise ValueError("the replay page's body has no place for the live section")
    return before + main + asset(f"live/{kind}.html") + after


@cache
def _script(kind: str) -> str:
    return script_of("viewer/tree", "viewer/episode", "viewer/player", "live/watch", f"live/{kind}")


@cache
def _style() -> str:
    return style_of(GAMES, "live/live")
