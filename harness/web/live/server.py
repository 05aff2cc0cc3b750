"""The server of live pages: a thread with an event loop of its own, on 127.0.0.1 and nowhere else.

Owns its start, its end and its connections. What plays has its own loop and never waits for this one; at the end pages
have a moment to hear of it, and those that do not listen are cut off. A connection is a file descriptor of the process
that plays, so there are few of them at once; whether a request is answered is `harness.web.live.routes`'.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from types import TracebackType
from typing import Any, Final, Self

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from weigh.harness.web.live.routes import Page, Site

ADDRESS: Final = "127.0.0.1"

MOST: Final = 64
"""Connections at once, over all pages."""

SILENCE: Final = 4
"""Seconds that a connection may take for its first request, or for its next one."""

GRACE: Final = 1.0
"""Seconds that open pages have to hear of the end."""

_AT_ONCE: Final = 16
"""Connections that are accepted in one turn of the loop, so many may there be beyond MOST for a moment."""

_WAITING: Final = 1_024
"""Connections that wait in the kernel to be accepted. They take no descriptor of this process."""


class Connection(H11Protocol):
    """One connection, closed when no request comes on it, also the first one or one that begins and does not end.

    uvicorn has such a clock, but starts it after an answer and stops it at any byte; and its `limit_concurrency`
    answers 503 to the owner of the page while connections on which nothing comes take all the room. Here the longest
    silent one makes room for a new one.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.since = self.loop.time()
        """Since when no request of it is being answered, on the loop's clock, if none is."""

    @property
    def silent(self) -> bool:
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        return cycle is None or cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        open_now: set[Any] = self.connections
        quiet = sorted((one for one in open_now if one.silent), key=lambda one: one.since)
        for one in quiet[: max(0, len(open_now) - MOST)]:
            open_now.discard(one)
            one.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()

    def _wait(self) -> None:
        if self.silent and self.timeout_keep_alive_task is None and not self.transport.is_closing():
            end = self.since + self.timeout_keep_alive
            self.timeout_keep_alive_task = self.loop.call_at(end, self.timeout_keep_alive_handler)


def hosts(port: int) -> tuple[str, ...]:
    """What a browser calls this server in a request. The port that is HTTP's own is left out."""
    names = (ADDRESS, "localhost")
    return (*(f"{name}:{port}" for name in names), *(names if port == 80 else ()))


class LiveServer:
    """Serves pages from the beginning of its block to the end of it."""

    def __init__(self, port: int = 0) -> None:
        """Take the port; 0 is any free one. Raises OSError when it cannot be had."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((ADDRESS, port))
        except BaseException:
            self._socket.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self._site = Site()
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None

    @property
    def connections(self) -> set[Any]:
        """Those that are open now."""
        return set() if self._server is None else self._server.server_state.connections

    def add(self, page: Page) -> str:
        """Serve a page; returns its whole address, with its token."""
        return f"http://{ADDRESS}:{self.port}{self._site.add(page)}"

    def __enter__(self) -> Self:
        config = uvicorn.Config(
            self._site.app(hosts(self.port)),
            log_config=None,
            # Addresses hold tokens, so none is logged; and a page that goes away is no news.
            log_level="critical",
            access_log=False,
            loop="asyncio",
            http=Connection,
            ws="none",
            lifespan="off",
            proxy_headers=False,
            server_header=False,
            backlog=_AT_ONCE,
            timeout_keep_alive=SILENCE,
            timeout_graceful_shutdown=0,
        )
        self._server = server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(server)), name="weigh-live", daemon=True)
        self._thread.start()
        while not server.started and self._thread.is_alive():
            time.sleep(0.005)
        self._socket.listen(_WAITING)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is None or self._thread is None:
            self._socket.close()
            return
        # A second Ctrl-C ends the block with an exception: pages are not waited for then.
        until = time.monotonic() + (GRACE if kind is None else 0.2)
        while self._site.streams and time.monotonic() < until:
            time.sleep(0.02)
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(timeout=5)

    async def _serve(self, server: uvicorn.Server) -> None:
        # A connection that breaks is no news, nor that no descriptor is left to accept one (asyncio tries again in a
        # second): neither may be written over what is played.
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        await server.serve(sockets=[self._socket])
        for connection in list(self.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
