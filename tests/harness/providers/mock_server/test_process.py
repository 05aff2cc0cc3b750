"""The server as a process of its own: how it starts and ends, and that it answers alike in every process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.harness.providers.mock_server.asking import PATHS, WIRES, Client, body, with_server
from weigh.harness.providers.mock_server import MockServerProcess, Options, Plan
from weigh.harness.providers.mock_server.rules import Respond

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "weigh.harness.providers.mock_server"]
OPTIONS = Options(seed=3, faults="illegal=0.2,empty=0.1,refused=0.1", notes_share=0.5)


def post(port: int, path: str, sent: object) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", path, json.dumps(sent), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def start(settings: str = "{}", **environment: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    process = subprocess.Popen(
        [*COMMAND, settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    return process, json.loads(line) if line else {}


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for its end, closing our side of its standard input. Exit code and what it said on standard error."""
    _, said = process.communicate(timeout=10)
    return process.returncode, said


def questions() -> list[tuple[str, dict[str, Any]]]:
    return [
        (wire, body(wire, text=f'Turn {n}. Legal bids: 1 to 20. Answer {{"bid": 3}}'))
        for n in range(8)
        for wire in WIRES
    ]


def test_answers_depend_on_seed_and_request_alone() -> None:
    """Not on the process, PYTHONHASHSEED, the order of arrival, or what was asked before."""

    async def here(client: Client) -> list[bytes]:
        got = await asyncio.gather(*(client.ask(wire, sent) for wire, sent in questions()))
        return [one.raw for one in got]

    expected = with_server(OPTIONS, here)
    assert len(set(expected)) == len(expected)
    for hash_seed in ("1", "2"):
        process, ready = start(OPTIONS.model_dump_json(round_trip=True), PYTHONHASHSEED=hash_seed)
        found = [post(ready["port"], PATHS[wire], sent)[1] for wire, sent in reversed(questions())]
        assert end(process) == (0, "")
        assert found[::-1] == expected


def test_another_seed_gives_other_answers_and_the_order_of_keys_does_not() -> None:
    async def use(client: Client) -> list[bytes]:
        return [(await client.ask("chat", sent)).raw for wire, sent in questions() if wire == "chat"]

    async def use_reordered(client: Client) -> list[bytes]:
        return [
            (await client.ask("chat", dict(reversed(sent.items())))).raw for wire, sent in questions() if wire == "chat"
        ]

    answers = with_server(Options(seed=3), use)
    assert with_server(Options(seed=4), use) != answers
    assert with_server(Options(seed=3), use_reordered) == answers


def test_known_answers_stay_what_they_are() -> None:
    """Pinned: a rehearsal that is resumed after an update must meet the same model."""

    async def use(client: Client) -> list[str | None]:
        return [(await client.ask(wire)).text(wire) for wire in WIRES]

    found = with_server(Options(seed=1, answer_style="json-only", notes_share=0), use)
    assert found == PINNED


PINNED = ['{"bid": 2}', '{"bid": 5}', '{"bid": 5}']


def test_it_announces_itself_and_stops_on_sigterm() -> None:
    process, ready = start('{"models": ["a"], "only_listed": true}')
    assert ready["openai"] == f"http://127.0.0.1:{ready['port']}/v1"
    assert (ready["anthropic"], ready["pid"]) == (f"http://127.0.0.1:{ready['port']}", process.pid)
    assert post(ready["port"], PATHS["chat"], body("chat", model="a"))[0] == 200
    assert post(ready["port"], PATHS["chat"], body("chat", model="b"))[0] == 404
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert end(process) == (0, "")


def test_it_stops_when_its_standard_input_ends_even_while_requests_hang() -> None:
    process, ready = start('{"faults": "timed_out=1"}')
    asked = json.dumps(body("chat")).encode()
    with socket.create_connection(("127.0.0.1", ready["port"])) as hanging:
        hanging.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(asked) + asked
        )
        assert end(process) == (0, "")


@pytest.mark.parametrize("settings", ['{"latency": "soon"}', '{"sede": 1}', "{"])
def test_a_wrong_setting_ends_it_with_one_line_and_code_2(settings: str) -> None:
    process, ready = start(settings)
    code, said = end(process)
    assert (ready, code) == ({}, 2)
    assert said.startswith("mock server: ") and said.count("\n") == 1


def test_the_runner_asks_resets_and_changes_plans() -> None:
    options = Options(log_size=4, plan=Plan(rules=(Respond(status=503, nth=1),)))
    with MockServerProcess(options) as server:
        port = server.addresses.port
        assert [post(port, PATHS["chat"], body("chat"))[0] for _ in range(2)] == [503, 200]
        stats = server.stats()
        assert (stats["requests"], stats["sent"], stats["connections"]) == (2, {"503": 1, "200": 1}, 0)
        assert [entry["sent"] for entry in server.log()] == ["503", "200"]
        server.follow(Plan(rules=(Respond(status=529),)))
        assert post(port, PATHS["messages"], body("messages"))[0] == 529
        server.reset()
        assert server.stats()["requests"] == 0
        assert server.pid != os.getpid()
    with pytest.raises(ConnectionRefusedError):
        post(port, PATHS["chat"], body("chat"))


def test_it_outlives_a_client_that_is_killed_and_counts_it_as_gone() -> None:
    with MockServerProcess(Options(latency="30s")) as server:
        code = (
            "import json, sys; from http.client import HTTPConnection\n"
            f"c = HTTPConnection('127.0.0.1', {server.addresses.port})\n"
            f"c.request('POST', '/v1/chat/completions', json.dumps({body('chat')!r}))\n"
            "print('asked', flush=True); c.getresponse()"
        )
        client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert client.stdout is not None and client.stdout.readline() == "asked\n"
        while server.stats()["in_flight"] != 1:
            pass
        client.kill()
        client.communicate()
        while server.stats()["in_flight"]:
            pass
        assert server.stats()["sent"] == {"gone": 1}


def test_it_dies_with_the_process_that_started_it() -> None:
    code = (
        "from weigh.harness.providers.mock_server import MockServerProcess\n"
        "import os, signal\n"
        "server = MockServerProcess().__enter__()\n"
        "print(server.addresses.port, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert found.returncode == -signal.SIGKILL
    # The pipes it inherited are closed only at its end, so that it has ended when `run` returns.
    with pytest.raises(ConnectionRefusedError):
        post(int(found.stdout), PATHS["chat"], body("chat"))


def test_a_server_that_cannot_start_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = Options(port=taken.getsockname()[1])
        with pytest.raises(RuntimeError, match=r"did not start \(exit code 2\)"):
            MockServerProcess(options).__enter__()
