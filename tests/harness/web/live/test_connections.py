"""How many connections there may be at once, and for how long they may be silent."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.harness.web.live.hearing import listening
from weigh.harness.run.events import Plan
from weigh.harness.web.live import server as live_server
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.pages import SpectatorPage
from weigh.harness.web.live.server import MOST, LiveServer, hosts

pytestmark = pytest.mark.slow


def page(server):
    told = Feed()
    told.run_started(Plan("league", 7, ("random",), {"goofspiel": 9}))
    return server.add(SpectatorPage(told, "league"))


def silent(url, sent=b""):
    """A connection on which no whole request comes."""
    parts = urlsplit(url)
    opened = socket.create_connection((parts.hostname, parts.port), timeout=5)
    opened.sendall(sent)
    return opened


def closed(one, seconds):
    """Whether the other side closes it within these seconds."""
    one.settimeout(seconds)
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127"])
def test_the_owner_gets_in_whoever_is_silent(sent):
    with LiveServer() as server, ExitStack() as stack:
        url = page(server)
        crowd = [stack.enter_context(silent(url, sent)) for _ in range(3 * MOST)]
        with httpx2.Client(trust_env=False, timeout=5) as client:
            assert client.get(url).status_code == 200
        assert len(server.connections) <= MOST
        assert closed(crowd[0], 1), "the longest silent went first"
        with listening(url) as events:
            assert next(events)[0] == "board"


def test_pages_that_are_told_something_stay_when_a_crowd_comes():
    with LiveServer() as server, ExitStack() as stack:
        url = page(server)
        events = stack.enter_context(listening(url))
        assert next(events)[0] == "board"
        for _ in range(3 * MOST):
            stack.enter_context(silent(url))
        assert server._site.streams == 1
        assert next(events)[0] == "board", "it is still told"


def test_who_asks_for_nothing_is_let_go(monkeypatch):
    monkeypatch.setattr(live_server, "SILENCE", 0.3)
    with LiveServer() as server:
        url = page(server)
        with silent(url) as one, silent(url, b"GET /x/ HT") as begun, silent(url) as kept, listening(url) as events:
            kept.sendall(b"GET /x/ HTTP/1.1\r\nHost: x\r\n\r\n")
            assert kept.recv(12) == b"HTTP/1.1 403"
            assert closed(one, 2)
            assert closed(begun, 2)
            kept.settimeout(2)
            while kept.recv(65536):
                pass
            assert next(events)[0] == "board"
            time.sleep(0.5)
            assert len(server.connections) == 1, "the stream"


def test_the_port_of_http_is_left_out_by_browsers():
    assert hosts(8000) == ("127.0.0.1:8000", "localhost:8000")
    assert set(hosts(80)) == {"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"}
