"""Streams of server-sent events: what a page is sent, as fast as it takes it and never faster.

Owns the form of an event and the pace. A stream looks at what there is, sends what is new, and looks again when the
page has taken it: a slow page gets fewer boards on the way, every frame, and the last board. Nothing is queued for a
page, so none can fill a memory or hold up a run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from weigh.games.game import Json
from weigh.harness.web.live.board import board
from weigh.harness.web.live.episode import Subscription
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.scenes import NoPictures

LOOK: Final = 0.1
"""Seconds between two looks at what there is."""

BOARD: Final = 0.3
"""Seconds between two boards, at least; and with nothing new a board comes every `QUIET` seconds, for its clocks."""

QUIET: Final = 5.0
"""Seconds of silence after which something is said: a page that is gone is noticed by it."""


def event(name: str, value: Json) -> str:
    """One event. The data are ASCII JSON on one line, whatever texts they hold."""
    return f"event: {name}\ndata: {json.dumps(value, separators=(',', ':'), allow_nan=False)}\n\n"


class Boards:
    """The board as an event, written once for all pages that ask at about the same time."""

    def __init__(self, feed: Feed, clock: Callable[[], float] = time.monotonic) -> None:
        self._feed = feed
        self._clock = clock
        self._text = ""
        self._version = -1
        self._written = 0.0

    def latest(self, final: bool) -> tuple[str, float]:
        """The board, and when it was written. With `final`, it is the last one: written again if anything changed."""
        age = self._clock() - self._written
        changed = self._version != self._feed.version
        if not self._text or age >= QUIET or (changed and (final or age >= BOARD)):
            with self._feed.lock:
                self._version = self._feed.version
                now = board(self._feed)
            self._text, self._written = event("board", now), self._clock()
        return self._text, self._written


async def spectate(feed: Feed, wanted: str | None, boards: Boards | None = None) -> AsyncIterator[str]:
    """A spectator's stream: the board, and one episode: `wanted`, or the newest there is. `boards` is what the streams
    of a feed share.

    Events: `board`; `episode` (opened at what is sealed of it), `frames` (what came since), `ended` (its record),
    `gone` (it is not remembered any more); `over` once, at the end.
    """
    watching, opened = wanted, None
    boards = boards or Boards(feed)
    shown = -1.0
    while True:
        with feed.lock:
            over = feed.closing is not None
            if watching is None:
                watching = feed.newest()
            episode = None if watching is None else feed.episode(watching)
        text, written = boards.latest(over)
        if written != shown:
            shown = written
            yield text
        if opened is None and watching is not None:
            if episode is None:
                yield event("gone", watching)
                watching = None
            else:
                try:
                    opened = Subscription(episode)
                except NoPictures as error:
                    yield event("gone", str(error))
                    watching = None
                    await asyncio.sleep(QUIET)
                else:
                    yield event("episode", opened.opening())
        if opened is not None:
            news = opened.news()
            if news is not None:
                yield event("frames", news)
            ending = opened.ending()
            if ending is not None:
                yield event("ended", ending)
        if over:
            yield event("over", None)
            return
        await asyncio.sleep(LOOK)
