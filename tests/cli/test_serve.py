"""`--serve` of `weigh ladder` and `weigh play`, as processes: what a page is told while something is played."""

from __future__ import annotations

import json
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from tests.cli.runner import config, documents, environment, started, weigh
from tests.harness.web.live.hearing import listening
from tests.waiting import until
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan
from weigh.harness.store.store import Store

ORDER = """\
seed = 3
[games.goofspiel]
seats = 2
cards = 4
blocks = 2
[entrants]
quick = "goofspiel/plain.md@mock:mock-quick"
slow = "goofspiel/plain.md@mock:mock-slow"
[models.mock]
base_url = "{url}"
"""

SECRET = "the quick seat has already said this"


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(latency="150ms")) as going:
        yield going


@pytest.fixture(autouse=True)
def clean(server):
    server.follow(read_plan({"rules": []}))
    server.reset()


def order(folder, server):
    return config(folder, ORDER.format(url=server.openai_url), "m.toml")


@contextmanager
def held_back(text):
    """A model that says `text`, but nothing before a gate is opened: its address, and the gate."""
    gate = threading.Event()
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    reply = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    class Model(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            gate.wait(60)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(reply.encode())

        def log_message(self, *words):
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as going:
        threading.Thread(target=going.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{going.server_port}/v1", gate
        finally:
            gate.set()
            going.shutdown()


@contextmanager
def watched(*words, cwd, limit=None, **environ):
    """A command that serves: the process, the address it told, and its further lines of standard error. `limit` is the
    most file descriptors it may have."""
    with started(*words, cwd=cwd, **environ) as going:
        if limit is not None:
            resource.prlimit(going.pid, resource.RLIMIT_NOFILE, (limit, limit))
        lines = []
        url = None
        for raw in going.stderr:
            lines.append(raw.decode())
            if found := re.search(r"(http://127\.0\.0\.1:\d+/[\w-]{32,}/)", lines[-1]):
                url = found[1]
                break
        assert url is not None, lines
        rest = threading.Thread(target=lambda: lines.extend(raw.decode() for raw in going.stderr))
        rest.start()
        yield going, url, lines
        going.wait(30)
        rest.join(10)


@pytest.mark.slow
def test_a_ladder_is_shown_while_it_is_played_and_told_when_it_is_over(server, tmp_path):
    order(tmp_path, server)
    with watched("ladder", "m.toml", "--serve", cwd=tmp_path) as (going, url, lines), listening(url) as events:
        heard = list(events)
        out, _ = going.stdout.read(), going.wait(20)
    assert going.returncode == 0, lines
    assert b"rank" in out
    names = [name for name, _ in heard]
    assert names[-1] == "over"
    boards = [value for name, value in heard if name == "board"]
    assert boards[-1]["over"][0].startswith("complete: 4 of 4 episodes finished")
    assert boards[-1]["done"] == 4
    assert any(0 < board["done"] < 4 for board in boards) or any(board["flights"] for board in boards)
    assert {"quick", "slow"} <= {row["entrant"] for row in boards[-1]["rows"]}
    # Whether a step is sealed while the stream looks on is chance here; the next test holds a round open for it.
    assert "episode" in names
    assert not any(url in line for line in lines[:-1] if not line.startswith("live: "))


@pytest.mark.slow
def test_nothing_of_an_open_round_is_sent_before_it_is_sealed(server, tmp_path):
    quick = {"model": "mock-quick", "do": "reply", "text": f'{SECRET} {{"bid": 1}}', "nth": "1"}
    server.follow(read_plan({"rules": [quick]}))
    game = ("goofspiel", "@quick", "@slow", "--config", "m.toml", "--set", "cards=4")
    with held_back('{"bid": 2}') as (slow, gate):
        text = ORDER.replace("mock:mock-slow", "held:mock-slow") + f'[models.held]\nbase_url = "{slow}"\n'
        config(tmp_path, text.format(url=server.openai_url), "m.toml")
        with watched("play", *game, "--serve", cwd=tmp_path) as (_, url, _), listening(url) as events:
            until(lambda: server.stats()["sent"] == {"200": 1})
            threading.Timer(0.7, gate.set).start()  # more than two boards' worth of time
            for name, value in events:
                sealed = not gate.is_set()
                if SECRET in str(value):
                    break
                # Nothing is counted either: the spending of a round is told with the round.
                if name == "board" and sealed:
                    assert value["spending"] == [], value
            assert name == "frames"
            assert not sealed
        moves = value["steps"][0]
        assert {move["seat"]: move["move"] for move in moves} == {0: "1", 1: "2"}
        assert moves[0]["calls"][0]["reply"][0].startswith(SECRET)


def test_the_address_is_told_on_standard_error_and_json_stays_json(tmp_path):
    said = weigh("play", "goofspiel", "match", "random", "--set", "cards=4", "--json", "--serve")
    assert said.code == 0
    assert said.json["game"] == "goofspiel"
    assert re.fullmatch(r"live: http://127\.0\.0\.1:\d+/[\w-]{32}/\n", said.err)


def test_records_are_the_same_with_and_without_a_page(tmp_path):
    words = ("play", "goofspiel", "random", "random", "--json", "--seed", "4")
    one, other = weigh(*words).json, weigh(*words, "--serve").json
    one.pop("times")
    other.pop("times")
    assert one == other
    assert weigh("ladder", config(tmp_path), "--results", tmp_path / "a", "--serve").code == 0
    assert weigh("ladder", config(tmp_path), "--results", tmp_path / "b").code == 0
    with Store.open(tmp_path / "a/s", readonly=True) as a, Store.open(tmp_path / "b/s", readonly=True) as b:
        assert [r.model_copy(update={"times": None}) for r in a.records()] == [
            r.model_copy(update={"times": None}) for r in b.records()
        ]


def test_the_port_may_be_given_and_may_be_left_out():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    game = ("goofspiel", "match", "match", "--set", "cards=4", "--json")
    assert f"http://127.0.0.1:{port}/" in weigh("play", *game, "--serve", port).err
    assert f"http://127.0.0.1:{port}/" in weigh("play", *game, f"--serve={port}").err
    # What follows is no port, so it is what it is elsewhere.
    assert weigh("play", "--serve", *game).code == 0


def test_a_port_that_is_taken_is_refused_before_anything_is_made(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        path = config(tmp_path)
        weigh("ladder", path, "--results", tmp_path / "r", "--serve", port).refused(
            f"--serve {port}: Address already in use"
        )
        weigh("play", "goofspiel", "match", "match", "--save", tmp_path / "k", "--serve", port).refused("--serve")
    assert documents(tmp_path) == [path]


def test_a_port_out_of_range_is_refused():
    weigh("play", "goofspiel", "match", "match", "--serve", "70000").refused("--serve", "from 0 to 65535")


def test_a_word_that_is_no_port_is_refused_by_the_option_s_name():
    weigh("play", "goofspiel", "match", "match", "--serve", "abc").refused("--serve abc: PORT is a whole number", "abc")
    weigh("play", "--serve", "abc", "goofspiel", "match", "match").refused("--serve abc: ", "there is no game")
    weigh("play", "goofspiel", "match", "match", "--serve=abc").refused("--serve: ", "from 0 to 65535, not abc")
    line = weigh("play", "--serve", "goofspiel", "match", "nobody").refused('"nobody" is no policy')
    assert "--serve" not in line


@pytest.mark.slow
def test_a_thousand_silent_connections_leave_the_ladder_its_file_descriptors(server, tmp_path):
    order(tmp_path, server)
    crowd = []
    with watched("ladder", "m.toml", "--serve", cwd=tmp_path, limit=256) as (going, url, lines):
        address = ("127.0.0.1", int(url.split("/")[2].partition(":")[2]))
        for _ in range(600):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(address)
            crowd.append(one)
        assert httpx2.get(url, trust_env=False, timeout=5).status_code == 200
        descriptors = len(list(Path(f"/proc/{going.pid}/fd").iterdir()))
        going.wait(30)
    for one in crowd:
        one.close()
    assert going.returncode == 0, lines
    assert descriptors < 150
    assert not any("Traceback" in line or "accept" in line for line in lines), lines[-5:]


@pytest.mark.slow
def test_ctrl_c_ends_a_served_ladder_as_any_other(server, tmp_path):
    order(tmp_path, server)
    with watched("ladder", "m.toml", "--serve", cwd=tmp_path) as (going, url, lines):
        with listening(url) as events:
            assert next(events)[0] == "board"
            time.sleep(0.3)
            going.send_signal(signal.SIGINT)
            last = list(events)
        going.wait(20)
    assert going.returncode == 130, lines
    assert last[-1][0] == "over"
    board = [value for name, value in last if name == "board"][-1]
    assert board["over"][0].startswith("interrupted: ")
    assert any(line.startswith("go on with: weigh ladder m.toml") for line in board["over"])
    with pytest.raises(httpx2.TransportError):
        httpx2.get(url, trust_env=False)


@pytest.mark.slow
def test_a_page_that_never_reads_does_not_hold_up_the_ladder(server, tmp_path):
    order(tmp_path, server)
    with watched("ladder", "m.toml", "--serve", cwd=tmp_path) as (going, url, lines):
        opened = []
        host = url.split("/")[2]
        for _ in range(5):
            deaf = socket.create_connection(("127.0.0.1", int(host.partition(":")[2])))
            deaf.sendall(f"GET /{url.split('/')[3]}/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            opened.append(deaf)
        going.wait(30)
        for deaf in opened:
            deaf.close()
    assert going.returncode == 0, lines


def test_serving_is_loaded_only_where_it_is_asked_for(tmp_path):
    watch = (
        "import sys; from weigh.harness.cli.app import run; run(['play', 'goofspiel', 'match', 'match', '--json'])\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules} & {'starlette', 'uvicorn', 'anyio', 'click'}),"
        "file=sys.stderr)"
    )
    told = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, env=environment(), timeout=60)
    assert told.stderr.strip() == "[]"


def test_a_person_sits_at_no_ladder(tmp_path):
    text = '[games.goofspiel]\nseats = 2\n[entrants]\nme = "human"\n'
    weigh("ladder", config(tmp_path, text)).refused("me", "human is a person at a seat of `weigh play`")
