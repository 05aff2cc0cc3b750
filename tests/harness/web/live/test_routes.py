"""Who is let in: tokens, host names, origins, and what every answer says of itself. Over HTTP, at a real server."""

from __future__ import annotations

import socket

import httpx2
import pytest

from tests.harness.web.live.hearing import listening, named, played, table
from weigh.harness.run.events import Plan
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.pages import SeatPage, SpectatorPage
from weigh.harness.web.live.routes import STREAMS
from weigh.harness.web.live.seat import SeatRoom
from weigh.harness.web.live.server import LiveServer


@pytest.fixture(scope="module")
def feed():
    told = Feed()
    told.run_started(Plan("league <b>", 7, ("random",), {"goofspiel": 9}))
    played(told, table(seats=2, cards=4))
    return told


@pytest.fixture(scope="module")
def server(feed):
    with LiveServer() as going:
        going.page = going.add(SpectatorPage(feed, "league <b>"))
        going.seat = going.add(SeatPage(SeatRoom("Ash", "Goofspiel", "The rules.")))
        yield going


@pytest.fixture
def client():
    with httpx2.Client(timeout=10, trust_env=False) as opened:
        yield opened


def test_it_listens_on_this_machine_alone(server):
    assert server.page.startswith(f"http://127.0.0.1:{server.port}/")
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"} - {a for a in addresses if a.startswith("127.")}:
        with pytest.raises(OSError):
            socket.create_connection((address, server.port), timeout=2).close()


def test_the_page_is_one_file_under_a_strict_policy(server, client):
    answer = client.get(server.page)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "league <b>" not in answer.text
    assert "league \\u003cb\\u003e" in answer.text
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "server" not in answer.headers


def test_tokens_are_long_and_each_page_has_its_own(server):
    tokens = [url.rstrip("/").rpartition("/")[2] for url in (server.page, server.seat)]
    assert len(set(tokens)) == 2
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize(
    "path",
    [
        "",
        "x/",
        "x/events",
        "live",
        "events",
        "favicon.ico",
        "%00/",
        "%ff%fe/",
        "../",
        "é/events",
        "docs",
        "openapi.json",
    ],
)
def test_without_the_token_there_is_nothing_here(server, client, path):
    answer = client.get(f"http://127.0.0.1:{server.port}/{path}")
    assert (answer.status_code, answer.text) == (404, "there is nothing here\n")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_token_cut_short_or_made_longer_opens_nothing(server, client):
    for url in (server.page[:-2] + "/", server.page[:-1] + "x/", server.page[:-1]):
        assert client.get(url).status_code == 404
    assert client.post(server.page).status_code == 404
    assert client.options(f"{server.page}events", headers={"Origin": "http://evil.test"}).status_code == 404


@pytest.mark.parametrize("host", ["evil.test", "evil.test:80", "127.0.0.1", "127.0.0.1:1", "0.0.0.0", "[::1]", ""])
def test_a_name_that_was_made_to_lead_here_is_refused(server, client, host):
    answer = client.get(server.page, headers={"Host": host})
    assert answer.status_code in ((400, 403) if not host else (403,))
    assert "league" not in answer.text


def test_localhost_with_the_port_is_this_machine(server, client):
    assert client.get(server.page.replace("127.0.0.1", "localhost")).status_code == 200


def test_a_stream_is_told_over_http(server):
    with listening(server.page) as events:
        name, board = next(events)
        assert name == "board"
        assert board["done"] == 1
        name, episode = next(events)
        assert (name, episode["game"]) == ("episode", "goofspiel")
        assert next(events)[0] == "ended"


def test_a_stream_shows_the_episode_asked_for(server, feed):
    played(feed, table(key="goofspiel/b0001/r0", seats=2, cards=4))
    with listening(server.page, episode="goofspiel/b0000/r0") as events:
        for event in events:
            if named("episode")(event):
                assert event[1]["key"] == "goofspiel/b0000/r0"
                break


def test_so_many_streams_and_no_more(server, feed):
    with LiveServer() as other:
        url = other.add(SpectatorPage(feed, "x"))
        with httpx2.Client(timeout=10, trust_env=False, limits=httpx2.Limits(max_connections=100)) as many:
            opened = [many.send(many.build_request("GET", f"{url}events"), stream=True) for _ in range(STREAMS + 1)]
            assert [answer.status_code for answer in opened] == [*([200] * STREAMS), 503]
            for answer in opened:
                answer.close()


def post(client, url, content=b'{"question": 1, "line": "7"}', **headers):
    given = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return client.post(f"{url}move", content=content, headers=given)


def test_a_move_is_taken_from_the_page_itself_alone(server, client):
    assert post(client, server.seat).status_code == 409, "let in: no question is open"
    for headers in (
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ):
        assert post(client, server.seat, **headers).status_code == 404, headers
    own = f"http://127.0.0.1:{server.port}"
    assert post(client, server.seat, Origin=own, Sec_Fetch_Site="same-origin").status_code == 409
    assert client.get(f"{server.seat}move").status_code == 404


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"7", b"{}", b'{"question": "1", "line": "7"}', b'{"question": 1, "line": 7}', b"[" * 9_000, b"\xff"],
)
def test_what_is_no_answer_is_refused(server, client, content):
    assert post(client, server.seat, content).status_code == 400


def test_a_long_answer_is_not_read_to_its_end(server, client):
    assert post(client, server.seat, b'{"line": "' + b"x" * 50_000).status_code == 413


def test_a_spectator_cannot_move(server, client):
    assert post(client, server.page).status_code == 409


def test_a_port_that_is_taken_cannot_be_had(server):
    with pytest.raises(OSError):
        LiveServer(server.port)


def test_nothing_is_left_when_it_ends(feed):
    with LiveServer() as server:
        url = server.add(SpectatorPage(feed, "x"))
        port = server.port
        with httpx2.Client(trust_env=False) as client:
            assert client.get(url).status_code == 200
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
