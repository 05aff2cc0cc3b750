"""The embedded model: started, asked over HTTP like any other, equal answers for equal questions, always stopped."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.waiting import until
from weigh.harness.errors import LocalModelFailed
from weigh.harness.providers.client import ProviderClient, client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.local.server import LocalServer
from weigh.policies.contract import CONTEXT_FULL, Completion, Message, Request, Sampling

pytestmark = [pytest.mark.local_model, pytest.mark.slow]

RULES = "Each round every player bids one card in secret. The highest bid takes the prize. Cards are used once. " * 3
BIDS = [1, 2, 5, 9, 12]
SCHEMA = {
    "type": "object",
    "properties": {"bid": {"type": "integer", "enum": BIDS}},
    "required": ["bid"],
    "additionalProperties": False,
}


def question(table: int, rounds: int, *, schema: bool = False) -> Request:
    """A prompt of one of several growing conversations."""
    history = "\n".join(
        f"Round {n}: prize {(n * 7 + table) % 13 + 1}, you bid {(n * 5 + table) % 13 + 1}." for n in range(rounds)
    )
    text = f'You are player {table}.\n{history}\nRound {rounds}. You hold {BIDS}. Answer with JSON {{"bid": n}}.'
    return Request(
        "local:smollm2",
        (Message("system", RULES), Message("user", text)),
        Sampling(max_tokens=24, temperature=0.0, seed=1),
        SCHEMA if schema else None,
    )


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(") ")[2][0] != "Z"


def test_it_answers_over_http_with_legal_moves_counted_tokens_and_its_own_name() -> None:
    async def ask() -> list[Completion]:
        async with LocalServer(endpoint_for("local:smollm2")) as running:
            client = client_for(running, {})
            try:
                return [await client.complete(question(table, 1, schema=True)) for table in range(5)]
            finally:
                await client.aclose()

    for completion in asyncio.run(ask()):
        assert json.loads(completion.text)["bid"] in BIDS
        assert completion.stop == "end"
        assert completion.served_by == "smollm2"
        assert completion.usage.input is not None
        assert completion.usage.input > 50


def test_equal_questions_get_equal_texts_whatever_was_asked_before_or_at_the_same_time() -> None:
    questions = [question(table, rounds) for table in range(3) for rounds in range(3)]

    async def all_of(client: ProviderClient, order: Iterable[Request], width: int) -> dict[str, str]:
        room = asyncio.Semaphore(width)

        async def one(asked: Request) -> tuple[str, str]:
            async with room:
                return asked.digest, (await client.complete(asked)).text

        return dict(await asyncio.gather(*(one(asked) for asked in order)))

    async def ask() -> list[dict[str, str]]:
        async with LocalServer(endpoint_for("local:smollm2")) as running:
            client = client_for(running, {})
            try:
                shuffled = random.Random(7).sample(questions, len(questions))
                return [await all_of(client, order, width) for order, width in ((questions, 1), (shuffled, 4))]
            finally:
                await client.aclose()

    alone, crowded = asyncio.run(ask())
    assert len(set(alone.values())) > 3
    assert crowded == alone


def test_a_prompt_that_is_too_long_is_turned_down_and_never_cut() -> None:
    async def ask() -> Completion:
        endpoint = endpoint_for("local:smollm2", {"local": {"context_tokens": 256, "concurrency": 1}})
        async with LocalServer(endpoint) as running:
            client = client_for(running, {})
            try:
                return await client.complete(question(1, 60))
            finally:
                await client.aclose()

    completion = asyncio.run(ask())
    assert (completion.text, completion.stop, completion.stop_detail) == ("", "length", CONTEXT_FULL)


def test_it_ends_with_its_block_also_on_an_error_and_can_be_used_again() -> None:
    async def play() -> tuple[int, int]:
        server = LocalServer(endpoint_for("local:smollm2"))
        with pytest.raises(RuntimeError):
            async with server:
                first = server.pid
                raise RuntimeError
        assert server.pid is None
        async with server:
            second = server.pid
        assert first is not None
        assert second is not None
        return first, second

    pids = asyncio.run(play())
    until(lambda: not any(map(alive, pids)))


def test_it_ends_when_the_run_is_killed() -> None:
    code = (
        "import asyncio\n"
        "from weigh.harness.providers.endpoints.endpoints import endpoint_for\n"
        "from weigh.harness.providers.local.server import LocalServer\n"
        "async def main():\n"
        "    server = LocalServer(endpoint_for('local:smollm2'))\n"
        "    async with server:\n"
        "        print(server.pid, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        assert alive(pid)
        run.send_signal(signal.SIGKILL)
        run.wait()
    until(lambda: not alive(pid))


def test_it_prints_nothing() -> None:
    code = (
        "import asyncio\n"
        "from weigh.harness.providers.endpoints.endpoints import endpoint_for\n"
        "from weigh.harness.providers.local.server import LocalServer\n"
        "async def main():\n"
        "    async with LocalServer(endpoint_for('local:smollm2')):\n"
        "        pass\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_weights_that_cannot_be_loaded_give_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" + b"\xff" * 64)

    async def start() -> None:
        async with LocalServer(endpoint_for(f"local:{path}")):
            raise AssertionError("started")

    with pytest.raises(LocalModelFailed) as caught:
        asyncio.run(start())
    assert str(caught.value).startswith(f"the server of local:{path} ")
    assert "\n" not in str(caught.value)


def test_a_start_that_takes_too_long_is_given_up_and_cleaned_up() -> None:
    server = LocalServer(endpoint_for("local:smollm2"), start_limit=0.01)

    async def start() -> None:
        async with server:
            raise AssertionError("started")

    with pytest.raises(LocalModelFailed, match=r"was not ready within 0\.01 s"):
        asyncio.run(start())
    assert server.pid is None
