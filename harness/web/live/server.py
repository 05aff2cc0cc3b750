"""The server of live pages: a thread with an event loop of its own, on 127.0.0.1 and nowhere else.

Owns its start and its end. What plays has its own loop and never waits for this one; at the end pages have a moment to
hear of it, and whoever does not listen is cut off.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from types import TracebackType
from typing import Final, Self

import uvicorn

from weigh.harness.web.live.connections import Connection, accepting
from weigh.harness.web.live.doors import Page, Site

ADDRESS: Final = "127.0.0.1"

GRACE: Final = 1.0
"""Seconds that open pages have to hear of the end."""


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

    def add(self, page: Page) -> str:
        """Serve a page; returns its whole address, with its token."""
        return f"http://{ADDRESS}:{self.port}{self._site.add(page)}"

    def __enter__(self) -> Self:
        app = self._site.app(hosts(self.port))
        config = uvicorn.Config(
            app,
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
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="weigh-live", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is None or self._thread is None:
            self._socket.close()
            return
        # A second Ctrl-C ends the block with an exception: nobody waits then.
        until = time.monotonic() + (GRACE if kind is None else 0.2)
        while self._site.streams and time.monotonic() < until:
            time.sleep(0.02)
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(timeout=5)

    def _serve(self) -> None:
        asyncio.run(self._serving(self._server))

    async def _serving(self, server: uvicorn.Server | None) -> None:
        if server is None:
            return
        loop = asyncio.get_running_loop()
        # A connection that breaks is no news, and must not be written over what is played.
        loop.set_exception_handler(lambda loop, context: None)
        self._socket.setblocking(False)
        self._socket.listen(1_024)  # who waits here has no descriptor of this process yet
        known = server.server_state.connections

        def made() -> Connection:
            return Connection(config=server.config, server_state=server.server_state, app_state={}, _loop=loop)

        taking = asyncio.create_task(accepting(self._socket, made, known))
        await server.serve(sockets=[])
        taking.cancel()
        await asyncio.wait((taking,))
        self._socket.close()
        for connection in list(known):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()
        await asyncio.sleep(0)
