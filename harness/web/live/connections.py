"""Connections to the live pages: how many at once, and for how long one may be silent.

Owns the accepting. A connection is a file descriptor of the process that plays, so there are few of them whoever asks;
the longest silent one makes room for a new one, and one on which no request comes is closed. Knows no page: whether a
request is answered is `harness.web.live.doors`'.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST: Final = 64
"""Connections at once, over all pages."""

SILENCE: Final = 4.0
"""Seconds that a connection may take for its first request, or for its next one."""

_RETRY: Final = 0.2
"""Seconds until the next try where the process has no file descriptor left."""


class Connection(H11Protocol):
    """One connection, with the time since when no request of it is being answered."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self._silent_since = self.loop.time()
        self._look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look = self.loop.call_later(SILENCE, self._end_silence)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._silent_since = self.loop.time()
        super().on_response_complete()

    @property
    def silent_since(self) -> float | None:
        """On the loop's clock; None while a request is answered. A request that has begun and does not end is none."""
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        return self._silent_since if cycle is None or cycle.response_complete else None

    def drop(self) -> None:
        """Close it at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _end_silence(self) -> None:
        since, now = self.silent_since, self.loop.time()
        if since is not None and now - since >= SILENCE:
            self.drop()
            return
        self._look = self.loop.call_at((now if since is None else since) + SILENCE, self._end_silence)


async def accepting(listener: socket.socket, made: Callable[[], Connection], open_now: set[Any]) -> None:
    """Take connections, one at a time, until cancelled. `open_now` is kept by the connections themselves."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            taken, _ = await loop.sock_accept(listener)
        except OSError:  # no descriptor is left: what plays has the first claim on the next one
            _make_room(open_now, 0)
            await asyncio.sleep(_RETRY)
            continue
        if not _make_room(open_now, MOST - 1):
            taken.close()
            await asyncio.sleep(0)  # an accept that need not wait gives nobody else a turn
            continue
        try:
            await loop.connect_accepted_socket(made, taken)
        except OSError:  # it went away meanwhile
            taken.close()


def _make_room(open_now: set[Any], most: int) -> bool:
    """Drop silent connections, the longest silent first, until `most` are open; whether that is so now."""
    if len(open_now) > most:
        silent = [(one.silent_since, one) for one in open_now if one.silent_since is not None]
        for _, one in sorted(silent, key=lambda pair: pair[0])[: len(open_now) - most]:
            one.drop()
    return len(open_now) <= most
