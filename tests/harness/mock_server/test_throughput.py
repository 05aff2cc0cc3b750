"""The server must never be what a measurement of a client measures."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import aiohttp
import pytest

from harness.mock_server import MockServerProcess, Options
from tests.harness.mock_server.asking import BIDS, PATHS, body

SLOTS = 400
LATENCY = 0.2
CALLS = 800
TRIES = 3


def processor_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads processor time from /proc")
def test_400_requests_in_flight_at_200_ms_leave_the_server_room() -> None:
    """2,000 requests a second are ideal then; a core must be able to answer more than that."""
    prompt = "Rules of the game. " * 150 + BIDS

    async def run(url: str) -> float:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            numbers = iter(range(CALLS))

            async def slot() -> None:
                for n in numbers:
                    async with session.post(url, json=body("chat", text=f"{n} {prompt}")) as response:
                        assert response.status == 200
                        await response.read()

            started = time.perf_counter()
            await asyncio.gather(*(slot() for _ in range(SLOTS)))
            return time.perf_counter() - started

    with MockServerProcess(Options(latency="200ms")) as server:
        costs = []
        for _ in range(TRIES):  # the best of them: what else the machine does only adds
            before = processor_seconds(server.pid)
            wall = asyncio.run(run(server.addresses.url + PATHS["chat"]))
            costs.append((processor_seconds(server.pid) - before) / CALLS)
            assert wall >= CALLS / SLOTS * LATENCY
        assert server.stats()["most_in_flight"] == SLOTS
    assert min(costs) < LATENCY / SLOTS, f"{min(costs) * 1000:.3f} ms of processor time for a request"
