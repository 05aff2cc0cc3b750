"""A mock server in a process of its own, for programs whose clients may die: it outlives them, not its owner.

Owns starting, asking and stopping that process. Knows the server by its command line and its HTTP only.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from types import TracebackType
from typing import Any

from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.plan import Plan
from weigh.harness.providers.mock_server.plan_file import plan_document
from weigh.harness.providers.mock_server.running import Addresses

_PATIENCE = 10.0
"""Seconds in which it must answer a question, and have stopped after being told to."""


class MockServerProcess:
    """`with MockServerProcess(options) as server:`. It stops when the block ends, or when this process dies.

    Raises RuntimeError when it does not start; its own error line is on standard error.
    """

    def __init__(self, options: Options | None = None) -> None:
        self._options = options or Options()
        self._process: subprocess.Popen[str] | None = None
        self._addresses: Addresses | None = None

    def __enter__(self) -> MockServerProcess:
        command = [
            sys.executable,
            "-m",
            "weigh.harness.providers.mock_server",
            "--options",
            json.dumps(self._options.to_json()),
        ]
        process = subprocess.Popen(  # noqa: S603 - our own module, run by our own interpreter
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._process = process
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            code = _stop(process)
            raise RuntimeError(f"the mock server did not start (exit code {code})")
        ready = json.loads(line)
        self._addresses = Addresses(ready["host"], ready["port"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            _stop(self._process)

    @property
    def addresses(self) -> Addresses:
        """Where it listens, or last listened."""
        if self._addresses is None:
            raise RuntimeError("the server has not been started: use it in `with`")
        return self._addresses

    @property
    def openai_url(self) -> str:
        return self.addresses.openai_url()

    @property
    def anthropic_url(self) -> str:
        return self.addresses.anthropic_url()

    @property
    def pid(self) -> int:
        """Of the server's process."""
        if self._process is None:
            raise RuntimeError("the server has not been started: use it in `with`")
        return self._process.pid

    def stats(self) -> dict[str, Any]:
        """The figures of `GET /stats`."""
        found: dict[str, Any] = self._ask("GET", "/stats")
        return found

    def log(self) -> Sequence[Mapping[str, Any]]:
        """The last requests, oldest first; as many as `Options.log_size`."""
        found: list[dict[str, Any]] = self._ask("GET", "/log")
        return found

    def reset(self) -> None:
        """Statistics, log and the plan's counts and clock to zero."""
        self._ask("POST", "/reset")

    def follow(self, plan: Plan) -> None:
        """Follow another fault plan from now on."""
        self._ask("POST", "/plan", json.dumps(plan_document(plan)))

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        connection = HTTPConnection(self.addresses.host, self.addresses.port, timeout=_PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body)
            response = connection.getresponse()
            answer = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"{method} {path} of the mock server: {answer}")
        return answer


def _stop(process: subprocess.Popen[str]) -> int:
    """Let it end with its standard input, or end it. Its exit code."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
    code = process.wait()
    if process.stdout:
        process.stdout.close()
    return code
