"""A mock server that runs: in the caller's own event loop, until a signal, or in a process of its own.

Owns the socket and the lifetime. `MockServer` is for tests and programs, `serve` for the command line,
`MockServerProcess` for programs whose clients may die: it outlives them, not its owner.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from types import TracebackType
from typing import Any

from aiohttp import web

from weigh.harness.providers.mock_server.app import build_app
from weigh.harness.providers.mock_server.handling import Handling
from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.rules import Plan

_DROP_AFTER = 0.05
"""Seconds that stopping waits for answers still on their way, before it drops them."""
_TIMEOUT = 10.0
"""Seconds in which a process must answer a question, and have stopped after being told to."""
_BACKLOG = 2048
"""Connections that may wait to be accepted: a batch of clients opens hundreds at one moment."""


class CannotListen(OSError):
    """The address is taken, not ours, or not allowed. The message is one line."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a server listens, in the forms its clients want."""

    host: str
    port: int

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


class _Listening:
    """A server that has addresses once it was started."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._addresses: Addresses | None = None

    @property
    def addresses(self) -> Addresses:
        """Where it listens, or last listened."""
        if self._addresses is None:
            raise RuntimeError("the server has not been started: use it in a `with` block")
        return self._addresses

    @property
    def openai_url(self) -> str:
        return self.addresses.openai_url()

    @property
    def anthropic_url(self) -> str:
        return self.addresses.anthropic_url()


class MockServer(_Listening):
    """A server in the running event loop: `async with MockServer(options) as server:`.

    It listens when the block begins. When the block ends, unanswered requests are dropped and the port refuses
    connections. Raises CannotListen.
    """

    def __init__(self, options: Options | None = None, clock: Callable[[], float] = time.time) -> None:
        """`clock` tells the seconds since 1970: for the fault plan, and for the dates that are announced."""
        super().__init__(options)
        self._handling = Handling(self.options, clock)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> MockServer:
        app = build_app(self.options, self._handling, self._connections)
        # Without cancellation a request whose client has left would stay in flight until it is answered.
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_DROP_AFTER, handler_cancellation=True)
        await runner.setup()
        try:
            await web.TCPSite(runner, self.options.host, self.options.port, backlog=_BACKLOG).start()
        except OSError as error:
            await runner.cleanup()
            where = f"{self.options.host} port {self.options.port}"
            raise CannotListen(f"cannot listen on {where}: {error.strerror or error}") from error
        self._handling.reset()  # the plan's clock starts now
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

    def stats(self) -> dict[str, Any]:
        """The figures of `GET /stats`, without a request."""
        return self._handling.counters.snapshot(self._connections())

    def log(self) -> Sequence[Mapping[str, Any]]:
        """The last requests, oldest first; as many as `Options.log_size`."""
        return tuple(self._handling.counters.log)

    def reset(self) -> None:
        """Statistics, log and the plan's counts and clock to zero."""
        self._handling.reset()

    def follow(self, plan: Plan) -> None:
        """Follow another fault plan from now on."""
        self._handling.follow(plan)

    def _connections(self) -> int:
        server = self._runner.server if self._runner is not None else None
        return len(server.connections) if server is not None else 0


def serve(options: Options, announce: Callable[[Addresses], None], *, with_stdin: bool = False) -> None:
    """Serve until SIGINT or SIGTERM, or with `with_stdin` until standard input, a pipe, ends. Blocks.

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
            # It ends when the process that holds its other end is gone, however it went.
            loop.add_reader(0, lambda: None if os.read(0, 4096) else stop.set())
        announce(server.addresses)
        await stop.wait()


class MockServerProcess(_Listening):
    """`with MockServerProcess(options) as server:`. It stops when the block ends, or when this process dies.

    Raises RuntimeError when it does not start; its own error line is on standard error.
    """

    _process: subprocess.Popen[str]

    def __enter__(self) -> MockServerProcess:
        self._process = subprocess.Popen(  # noqa: S603 - our own module, run by our own interpreter
            [
                sys.executable,
                "-m",
                "weigh.harness.providers.mock_server",
                self.options.model_dump_json(round_trip=True),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"the mock server did not start (exit code {self._stop()})")
        ready = json.loads(line)
        self._addresses = Addresses(ready["host"], ready["port"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    @property
    def pid(self) -> int:
        """Of the server's process."""
        return self._process.pid

    def stats(self) -> dict[str, Any]:
        """The figures of `GET /stats`."""
        return dict(self._ask("GET", "/stats"))

    def log(self) -> Sequence[Mapping[str, Any]]:
        """The last requests, oldest first; as many as `Options.log_size`."""
        return list(self._ask("GET", "/log"))

    def reset(self) -> None:
        """Statistics, log and the plan's counts and clock to zero."""
        self._ask("POST", "/reset")

    def follow(self, plan: Plan) -> None:
        """Follow another fault plan from now on."""
        self._ask("POST", "/plan", plan.model_dump_json())

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        connection = HTTPConnection(self.addresses.host, self.addresses.port, timeout=_TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else body.encode())
            response = connection.getresponse()
            answer = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"{method} {path} of the mock server: {answer}")
        return answer

    def _stop(self) -> int:
        """Let it end with its standard input, or end it. Its exit code."""
        process = self._process
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
        code = process.wait()
        if process.stdout:
            process.stdout.close()
        return code
