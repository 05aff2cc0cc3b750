"""The embedded model: llama.cpp's server in a process of its own, behind the same door as every other endpoint.

Owns the server's life: found, started, waited for, stopped. A crash or a hang of native code ends that process and not
the run, and what it prints stays out of the terminal. The process ends with this one, however this one ends.

Equal requests get equal texts at temperature 0, whatever was asked before or is asked at the same time, unless the
endpoint's `exact` is off: see `harness.providers.local.llama_process`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from weigh.harness.errors import LocalModelFailed
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.errors.reading import one_line
from weigh.harness.providers.local.weights import local_setup, require_server, weights_of

__all__ = ["LocalModelFailed", "LocalServer", "local_setup", "weights_of"]

START_LIMIT = 120.0
"""Seconds for loading the weights; a large file on a slow disk takes its time."""

_STOP_LIMIT = 5.0
_SCRIPT = Path(__file__).with_name("llama_process.py")


class LocalServer:
    """`async with LocalServer(endpoint) as running`: `running` is the endpoint with an address, for `client_for`.

    Entering raises LocalModelFailed with what to do: weights or server not installed, no GGUF file, or the server's own
    last words.
    """

    def __init__(self, endpoint: Endpoint, *, start_limit: float = START_LIMIT) -> None:
        self._endpoint = endpoint
        self._start_limit = start_limit
        self._process: asyncio.subprocess.Process | None = None
        self._noise: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Of the server's process while it runs."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def __aenter__(self) -> Endpoint:
        weights = weights_of(self._endpoint.model)
        require_server()
        settings = {
            "weights": str(weights),
            "alias": self._endpoint.model if self._endpoint.model != str(weights) else weights.name,
            "slots": self._endpoint.concurrency,
            "context_tokens": self._endpoint.context_tokens,
            "threads": self._endpoint.threads,
            "exact": self._endpoint.exact,
        }
        # A file rather than a pipe: the server goes on though it is never emptied.
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - closed in _stop
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                str(_SCRIPT),
                json.dumps(settings),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=self._noise,
                start_new_session=True,  # Ctrl-C is for the run, which finishes the calls in flight
            )
            async with asyncio.timeout(self._start_limit):
                base_url = await self._address(self._process)
                await self._healthy(base_url)
        except TimeoutError:
            await self._stop()
            raise self._failed(f"was not ready within {self._start_limit:g} s") from None
        except BaseException:
            await self._stop()
            raise
        return self._endpoint.at(f"{base_url}/v1")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def _address(self, process: asyncio.subprocess.Process) -> str:
        """The address that the process reports once the weights are loaded."""
        if process.stdout is None:
            raise AssertionError("the process was started without a pipe")
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            raise self._failed(f"ended while it was starting (exit code {code}){self._last_words()}")
        reported: dict[str, Any] = json.loads(line)
        if "error" in reported:
            raise self._failed(f"{one_line(str(reported['error']))}{self._last_words()}")
        return str(reported["base_url"]).rstrip("/")

    async def _healthy(self, base_url: str) -> None:
        """Wait until the server says that it can answer; it says 503 while it is loading."""
        import aiohttp

        async with aiohttp.ClientSession() as session:
            while True:
                try:
                    async with session.get(f"{base_url}/health") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    if self.pid is None:
                        raise self._failed(f"ended while it was starting{self._last_words()}") from None
                await asyncio.sleep(0.05)

    async def _stop(self) -> None:
        """Close its input, which ends it; kill it where that is not enough. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                async with asyncio.timeout(_STOP_LIMIT):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
            except asyncio.CancelledError:
                process.kill()
                raise
        if self._noise is not None:
            self._noise.close()
            self._noise = None

    def _failed(self, what: str) -> LocalModelFailed:
        return LocalModelFailed(f"the server of {self._endpoint.name} {what}")

    def _last_words(self) -> str:
        if self._noise is None:
            return ""
        self._noise.seek(0)
        lines = self._noise.read()[-4_000:].decode("utf-8", "replace").strip().splitlines()
        return f": {one_line(lines[-1])}" if lines else ""
