"""A mock server that runs: in the caller's own event loop, or as a whole process.

Owns the socket and the lifetime. `MockServer` is for tests and programs, `serve` for the command line; `child` starts
the latter as a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from aiohttp import web

from weigh.harness.providers.mock_server.app import build_app
from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.plan import Plan
from weigh.harness.providers.mock_server.serving import Serving

_PATIENCE = 0.05
"""Seconds that stopping waits for answers still on their way, before it drops them."""
_BACKLOG = 2048
"""Connections that may wait to be accepted: a batch of clients opens hundreds at one moment."""


class CannotListen(OSError):
    """The address is taken, not ours, or not allowed. The message is one line."""


class Addresses:
    """Where a server listens, in the forms its clients want."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    @property
    def url(self) -> str:
        """The root, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def openai_url(self, tag: str = "") -> str:
        """What the openai SDK takes as `base_url`. Requests sent there are counted under `tag`."""
        return f"{self.anthropic_url(tag)}/v1"

    def anthropic_url(self, tag: str = "") -> str:
        """What the anthropic SDK takes as `base_url`. Requests sent there are counted under `tag`."""
        return f"{self.url}/tag/{tag}" if tag else self.url

    def to_json(self) -> dict[str, Any]:
        """For the line that announces a server."""
        return {
            "url": self.url,
            "host": self.host,
            "port": self.port,
            "openai": self.openai_url(),
            "anthropic": self.anthropic_url(),
            "pid": os.getpid(),
        }


class MockServer:
    """A server in the running event loop: `async with MockServer(options) as server:`.

    It listens when the block begins. When the block ends, unanswered requests are dropped and the port refuses
    connections. Raises CannotListen.
    """

    def __init__(self, options: Options | None = None, clock: Callable[[], float] = time.time) -> None:
        """`clock` tells the seconds since 1970: for the fault plan, and for the dates that are announced."""
        self.options = options or Options()
        self._serving = Serving(self.options, clock)
        self._runner: web.AppRunner | None = None
        self._addresses: Addresses | None = None

    async def __aenter__(self) -> MockServer:
        app = build_app(self.options, self._serving, self._connections)
        # Without cancellation a request whose client has left would stay in flight until it is answered.
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_PATIENCE, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, self.options.host, self.options.port, backlog=_BACKLOG)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            where = f"{self.options.host} port {self.options.port}"
            raise CannotListen(f"cannot listen on {where}: {error.strerror or error}") from error
        self._serving.reset()  # the plan's clock starts now
        self._runner = runner
        # The address itself: a name such as `localhost` may stand for two, with a port each.
        self._addresses = Addresses(*runner.addresses[0][:2])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def addresses(self) -> Addresses:
        """Where it listens, or last listened."""
        if self._addresses is None:
            raise RuntimeError("the server has not been started: use it in `async with`")
        return self._addresses

    @property
    def openai_url(self) -> str:
        return self.addresses.openai_url()

    @property
    def anthropic_url(self) -> str:
        return self.addresses.anthropic_url()

    def stats(self) -> dict[str, Any]:
        """The figures of `GET /stats`, without a request."""
        return self._serving.counters.snapshot(self._connections())

    def log(self) -> Sequence[Mapping[str, Any]]:
        """The last requests, oldest first; as many as `Options.log_size`."""
        return tuple(self._serving.counters.log)

    def reset(self) -> None:
        """Statistics, log and the plan's counts and clock to zero."""
        self._serving.reset()

    def follow(self, plan: Plan) -> None:
        """Follow another fault plan from now on."""
        self._serving.follow(plan)

    def _connections(self) -> int:
        server = self._runner.server if self._runner is not None else None
        return len(server.connections) if server is not None else 0


def serve(options: Options, announce: Callable[[Addresses], None], *, with_stdin: bool = False) -> None:
    """Serve until SIGINT or SIGTERM, or with `with_stdin` until standard input ends. Blocks.

    `announce` is called once the server listens. Raises CannotListen.
    """
    asyncio.run(_serve(options, announce, with_stdin))


async def _serve(options: Options, announce: Callable[[Addresses], None], with_stdin: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with MockServer(options) as server:
        if with_stdin:
            _watch_stdin(loop, stop)
        announce(server.addresses)
        await stop.wait()


def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Set `stop` when standard input ends: when the process that holds its other end is gone, however it went."""

    def watch() -> None:
        with suppress(OSError):  # closed from the start: the same as ended
            # The bare descriptor: a reader of sys.stdin would hold a lock that the interpreter needs to exit.
            while os.read(0, 4096):
                pass
        with suppress(RuntimeError):  # a signal was faster, the loop is closed
            loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=watch, name="stdin", daemon=True).start()
