"""What a call costs the client: processor time with 100 in flight, and wall time over the ideal with 400 in flight.

    python -m benches.providers      about two minutes

Compares this project's clients with the official SDKs used as their documentation shows, on both of their transports,
and with bare aiohttp as the floor. The server runs in another process and answers every request with one fixed body, at
once for the first table and after 200 ms for the second. Ratios within one run are what counts: the machine's speed is
not the client's.
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from multiprocessing.connection import Connection
from typing import Any

from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.policies.contract import Message, Request, Sampling

SYSTEM, USER = "The rules of the game, told once. " * 60, "The position now. " * 30
"""About 650 tokens, as a goofspiel prompt has."""

CHAT = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": '{"bid": 7}'}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 650, "completion_tokens": 10, "total_tokens": 660},
}
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": '{"bid": 7}'}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 650, "output_tokens": 10},
}

Ask = Callable[[], Awaitable[object]]


def serve(ready: Connection, delay: float) -> None:
    """A server that answers in both shapes, in a process of its own."""
    from aiohttp import web

    async def run() -> None:
        def answering(body: dict[str, Any]) -> Any:
            content = json.dumps(body).encode()

            async def answer(request: web.Request) -> web.Response:
                await request.read()
                if delay:
                    await asyncio.sleep(delay)
                return web.Response(body=content, content_type="application/json")

            return answer

        app = web.Application()
        app.router.add_post("/v1/chat/completions", answering(CHAT))
        app.router.add_post("/v1/messages", answering(MESSAGE))
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


@asynccontextmanager
async def bare_aiohttp(port: int, width: int) -> Any:
    """The floor: one POST, one JSON decoded, nothing else."""
    import aiohttp

    body = json.dumps(
        {
            "model": "m",
            "max_tokens": 50,
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}],
        }
    ).encode()
    headers = {"authorization": "Bearer k", "content-type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=width)) as session:

        async def ask() -> object:
            async with session.post(f"http://127.0.0.1:{port}/v1/chat/completions", data=body, headers=headers) as got:
                return json.loads(await got.read())["choices"][0]["message"]["content"]

        yield ask


def ours(name: str, transport: str) -> Any:
    @asynccontextmanager
    async def opened(port: int, width: int) -> Any:
        provider = name.partition(":")[0]
        base_url = f"http://127.0.0.1:{port}" + ("" if provider == "anthropic" else "/v1")
        settings = {"base_url": base_url, "concurrency": width, "transport": transport}
        endpoint = endpoint_for(name, {provider: settings})
        client = client_for(endpoint, {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
        asked = Request(name, (Message("system", SYSTEM), Message("user", USER)), Sampling(max_tokens=50))
        yield lambda: client.complete(asked)
        await client.aclose()

    return opened


def openai_sdk(transport: str) -> Any:
    @asynccontextmanager
    async def opened(port: int, width: int) -> Any:
        import httpx2
        import openai

        made = openai.DefaultAioHttpClient if transport == "aiohttp" else openai.DefaultAsyncHttpxClient
        limits = httpx2.Limits(max_connections=width, max_keepalive_connections=width)
        client = openai.AsyncOpenAI(
            api_key="k", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0, http_client=made(limits=limits)
        )
        turns: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]

        async def ask() -> object:
            answer = await client.chat.completions.create(model="m", messages=turns, max_tokens=50)
            return answer.choices[0].message.content

        yield ask
        await client.close()

    return opened


def anthropic_sdk(transport: str) -> Any:
    @asynccontextmanager
    async def opened(port: int, width: int) -> Any:
        import anthropic
        import httpx2

        made = anthropic.DefaultAioHttpClient if transport == "aiohttp" else anthropic.DefaultAsyncHttpxClient
        limits = httpx2.Limits(max_connections=width, max_keepalive_connections=width)
        client = anthropic.AsyncAnthropic(
            api_key="k", base_url=f"http://127.0.0.1:{port}", max_retries=0, http_client=made(limits=limits)
        )
        turns: Any = [{"role": "user", "content": USER}]

        async def ask() -> object:
            answer = await client.messages.create(model="m", system=SYSTEM, messages=turns, max_tokens=50)
            return answer.content[0]

        yield ask
        await client.close()

    return opened


CLIENTS = {
    "bare aiohttp": bare_aiohttp,
    "weigh, lean": ours("openai:m", "lean"),
    "weigh, openai": ours("openai:m", "sdk"),
    "weigh, anthropic": ours("anthropic:m", "sdk"),
    "openai SDK, aiohttp": openai_sdk("aiohttp"),
    "openai SDK, httpx2": openai_sdk("httpx2"),
    "anthropic SDK, aiohttp": anthropic_sdk("aiohttp"),
    "anthropic SDK, httpx2": anthropic_sdk("httpx2"),
}


async def load(opened: Any, port: int, width: int, each: int) -> tuple[float, float]:
    """`width` callers, each asking `each` times in turn. Returns processor and wall seconds, warm."""

    async def caller(ask: Ask, times: int) -> None:
        for _ in range(times):
            await ask()

    async with AsyncExitStack() as stack:
        ask = await stack.enter_async_context(opened(port, width))
        await asyncio.gather(*(caller(ask, 1) for _ in range(width)))
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.gather(*(caller(ask, each) for _ in range(width)))
        return time.process_time() - cpu, time.perf_counter() - wall


def against(delay: float, width: int, each: int, rounds: int) -> dict[str, tuple[float, float]]:
    """The best of `rounds` for every client, taken in turns so that a busy moment hits all alike."""
    context = multiprocessing.get_context("spawn")
    ours_end, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs, delay), daemon=True)
    server.start()
    try:
        port = ours_end.recv()
        best: dict[str, tuple[float, float]] = {}
        for _ in range(rounds):
            for name, opened in CLIENTS.items():
                cpu, wall = asyncio.run(load(opened, port, width, each))
                known = best.get(name, (cpu, wall))
                best[name] = (min(cpu, known[0]), min(wall, known[1]))
        return best
    finally:
        server.terminate()
        server.join()


def main() -> None:
    calls = 100 * 15
    print("100 in flight, answered at once: processor time of the client for one call")
    floor = 0.0
    for name, (cpu, _) in against(0.0, 100, 15, 2).items():
        floor = floor or cpu
        print(f"  {name:<24}{cpu / calls * 1000:6.2f} ms   {cpu / floor:5.1f} x bare aiohttp")
    print("400 in flight, answered after 200 ms: wall time over the ideal")
    floor = 0.0
    for name, (_, wall) in against(0.2, 400, 10, 2).items():
        floor = floor or wall
        print(f"  {name:<24}{wall / (0.2 * 10):6.2f}      {wall / floor:5.2f} x bare aiohttp")


if __name__ == "__main__":
    main()
