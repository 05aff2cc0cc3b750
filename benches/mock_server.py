"""What a request costs the mock server, which must never be what a measurement of a client measures.

    python -m benches mock_server      about ten seconds

400 requests in flight, each answered after 200 ms, are 2,000 a second at best. The processor time of one is told beside
that of a bare aiohttp server which answers everything with one fixed body, and as the share of a core that 2,000 a
second would take. What else the machine does only adds: each figure is the best of several tries, taken in turns.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from pathlib import Path

import aiohttp

from benches.providers import SYSTEM, USER, serve
from weigh.harness.providers.mock_server import MockServerProcess, Options

SLOTS = 400
LATENCY = 0.2
CALLS = 2_000
TRIES = 3


def processor_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(url: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        numbers = iter(range(CALLS))

        async def slot() -> None:
            for n in numbers:
                turns = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{n} {USER}"}]
                async with session.post(url, json={"model": "m", "messages": turns}) as response:
                    response.raise_for_status()
                    await response.read()

        await asyncio.gather(*(slot() for _ in range(SLOTS)))


def cost(pid: int, url: str) -> float:
    """Seconds of the server's processor for one request."""
    before = processor_seconds(pid)
    asyncio.run(load(url))
    return (processor_seconds(pid) - before) / CALLS


def main() -> None:
    context = multiprocessing.get_context("spawn")
    ours_end, theirs = context.Pipe()
    bare = context.Process(target=serve, args=(theirs, LATENCY), daemon=True)
    bare.start()
    try:
        floor_url = f"http://127.0.0.1:{ours_end.recv()}/v1/chat/completions"
        with MockServerProcess(Options(latency=f"{LATENCY}s")) as server:
            costs, floors = [], []
            for _ in range(TRIES):
                costs.append(cost(server.pid, f"{server.openai_url}/chat/completions"))
                floors.append(cost(bare.pid or 0, floor_url))
    finally:
        bare.terminate()
        bare.join()
    ours, floor = min(costs), min(floors)
    print(f"{SLOTS} in flight, answered after {LATENCY * 1000:.0f} ms: processor time of the server for one request")
    print(f"  bare aiohttp  {floor * 1000:6.3f} ms")
    print(f"  mock server   {ours * 1000:6.3f} ms   {ours / floor:5.2f} x bare aiohttp")
    print(f"  {ours * SLOTS / LATENCY:.0%} of a core at {SLOTS / LATENCY:,.0f} requests a second")


if __name__ == "__main__":
    main()
