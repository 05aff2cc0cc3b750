"""A page that does not listen costs the run nothing, and holds nobody up at the end."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

from harness.display import Closing, Plan
from harness.live.feed import Feed
from harness.live.pages import SpectatorPage
from harness.live.server import GRACE, LiveServer
from tests.harness.live.hearing import listening, played, table

EPISODES = 40


def feed():
    told = Feed()
    told.run_started(Plan("league", 7, ("random",), {"goofspiel": EPISODES}))
    return told


def run(told):
    """Seconds of a run of many episodes."""
    began = time.perf_counter()
    for number in range(EPISODES):
        played(told, table(key=f"goofspiel/b{number:04}/r0", seats=4))
    return time.perf_counter() - began


def deaf(url, episode=""):
    """A page that asks for its stream and never reads a byte."""
    parts = urlsplit(url)
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.connect((parts.hostname, parts.port))
    opened.sendall(f"GET {parts.path}events{episode} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    return opened


def test_pages_that_never_read_do_not_slow_the_run():
    told = feed()
    with LiveServer() as server, ExitStack() as stack:
        url = server.add(SpectatorPage(told, "league"))
        run(told)
        alone = min(run(told) for _ in range(3))
        for _ in range(10):
            stack.enter_context(deaf(url))
        # Each is drawn its one episode, which takes processor time once, as it does for a page that reads.
        while server._site.streams < 10:
            time.sleep(0.02)
        time.sleep(1.5)
        beside = min(run(told) for _ in range(5))
    # If a step waited for any of them, this would take seconds, or for ever; the bound allows for a busy machine.
    assert beside < 2 * alone + 0.1, (alone, beside)


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
            (connection,) = server._server.server_state.connections
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
            began = time.perf_counter()
            server.__exit__(None, None, None)
            assert time.perf_counter() - began < GRACE + 2.5


def test_without_pages_nothing_is_waited_for():
    with LiveServer() as server:
        server.add(SpectatorPage(feed(), "league"))
        began = time.perf_counter()
    assert time.perf_counter() - began < 0.8


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
