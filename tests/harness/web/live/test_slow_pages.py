"""A page that does not listen costs the run nothing, and holds nobody up at the end."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.harness.web.live.hearing import listening, played, read, table
from tests.waiting import until
from weigh.harness.run.events import Closing, Plan
from weigh.harness.web.live import server as live_server
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.pages import SpectatorPage
from weigh.harness.web.live.server import LiveServer
from weigh.harness.web.live.streams import event, spectate

EPISODES = 40


def feed():
    told = Feed()
    told.run_started(Plan("league", 7, ("random",), {"goofspiel": EPISODES}))
    return told


def run(told, episodes=EPISODES):
    for number in range(episodes):
        played(told, table(key=f"goofspiel/b{number:04}/r0", seats=4))


def deaf(url, episode=""):
    """A page that asks for its stream and never reads a byte."""
    parts = urlsplit(url)
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.connect((parts.hostname, parts.port))
    opened.sendall(f"GET {parts.path}events{episode} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    return opened


def test_a_run_is_played_to_its_end_while_the_server_does_nothing_at_all():
    told, gate = feed(), threading.Event()
    held, passed = threading.Event(), threading.Event()

    class Stuck(SpectatorPage):
        async def stream(self, episode):
            held.set()
            gate.wait()
            passed.set()
            yield event("over", None)

    with LiveServer() as server, ExitStack() as stack:
        url = server.add(SpectatorPage(told, "league"))
        for _ in range(10):
            stack.enter_context(deaf(url))
        until(lambda: server._site.streams == 10)
        stack.enter_context(deaf(server.add(Stuck(told, "league"))))
        assert held.wait(60)
        run(told)
        assert not passed.is_set()
        gate.set()


def test_nothing_is_locked_while_a_page_takes_an_event():
    told = feed()

    async def taking():
        names = []
        async for text in spectate(told, None):
            assert not told.lock.locked(), text
            names.append(read(text)[0])
            if names[-1] == "board" and len(told.recent) < 3:
                await asyncio.to_thread(run, told, len(told.recent) + 1)
            elif names[-1] == "ended":
                told.run_finished(Closing("complete", 0, 0, 0))
        return names

    assert {"board", "episode", "ended", "over"} <= set(asyncio.run(taking()))


def test_what_a_deaf_page_is_sent_is_bounded():
    told = feed()
    with LiveServer() as server:
        url = server.add(SpectatorPage(told, "league"))
        with deaf(url):
            time.sleep(0.2)
            for number in range(20):
                played(told, table(key=f"goofspiel/b{number:04}/r0", seats=4))
                time.sleep(0.02)
            time.sleep(0.5)
            (connection,) = server.connections
            assert connection.transport.get_write_buffer_size() < 2_000_000


def test_the_end_waits_for_those_who_listen_and_not_long_for_others():
    told = feed()
    with LiveServer() as server:
        url = server.add(SpectatorPage(told, "league"))
        with deaf(url), listening(url) as events:
            assert next(events)[0] == "board"
            told.run_finished(Closing("complete", 0, 0, 0))
            names = [name for name, _ in events]
            assert names[-1] == "over"
            for number in range(EPISODES):  # so that the deaf one's connection is full
                played(told, table(key=f"goofspiel/c{number:04}/r0", seats=4))
            server.__exit__(None, None, None)
            assert not server._thread.is_alive()


@pytest.mark.timeout(60)
def test_without_pages_nothing_is_waited_for(monkeypatch):
    monkeypatch.setattr(live_server, "GRACE", 3600.0)
    with LiveServer() as server:
        server.add(SpectatorPage(feed(), "league"))
    assert not server._thread.is_alive()


def test_a_page_that_goes_away_is_let_go():
    told = feed()
    with LiveServer() as server:
        url = server.add(SpectatorPage(told, "league"))
        with listening(url) as events:
            next(events)
            assert server._site.streams == 1
        for _ in range(100):
            told.note("news")
            if server._site.streams == 0:
                break
            time.sleep(0.05)
        assert server._site.streams == 0
