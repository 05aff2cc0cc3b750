"""What live pages cost the run they show: wall time of a batch of scripted episodes with pages open, over that without.

    python -m benches live_pages      some seconds

A page that reads takes processor time for what it is told; one that never reads must cost no more. Each time is the
best of several, and what counts are the ratios within one run.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

from weigh.games.registry import game_named
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.run.events import Plan
from weigh.harness.seeds import NAMES, stream
from weigh.harness.store.record import Record
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.pages import SpectatorPage
from weigh.harness.web.live.server import LiveServer
from weigh.policies.scripted.registry import fallback_of, scripted

EPISODES = 100
PAGES = 10
TRIES = 5
SEATS = 4


def played(feed: Feed) -> float:
    """Wall seconds of a run of goofspiel."""
    game = game_named("goofspiel")
    config = game.config_type(seats=SEATS)
    policies = tuple(scripted("goofspiel", "random") for _ in range(SEATS))
    fallback = fallback_of("goofspiel")
    began = time.perf_counter()
    for number in range(EPISODES):
        key, block = f"goofspiel/b{number:04}/r0", f"goofspiel/b{number:04}"
        deal = game.deal(config, stream(1, "deal", key))
        given = Table(
            key=key,
            block=block,
            game=game,
            config=config,
            deal=deal,
            run_seed=1,
            policies=policies,
            aliases=NAMES[:SEATS],
            fallback=fallback,
        )
        feed.episode_started(key, given.entrants)
        record = asyncio.run(play_episode(given, {}, watch=feed.watch(given)))
        assert isinstance(record, Record)
        feed.episode_finished(record)
    return time.perf_counter() - began


def opened(url: str, stack: ExitStack, reading: bool) -> None:
    """A page on its stream, which reads all it is told or not a byte."""
    parts = urlsplit(url)
    page = stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
    page.sendall(f"GET {parts.path}events HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    if reading:
        threading.Thread(target=_read, args=(page,), daemon=True).start()


def _read(page: socket.socket) -> None:
    try:
        while page.recv(1 << 20):
            pass
    except OSError:
        return


def beside(pages: int, reading: bool) -> float:
    feed = Feed()
    feed.run_started(Plan("bench", 1, ("random",), {"goofspiel": EPISODES}))
    with LiveServer() as server, ExitStack() as stack:
        url = server.add(SpectatorPage(feed, "bench"))
        for _ in range(pages):
            opened(url, stack, reading)
        played(feed)
        return min(played(feed) for _ in range(TRIES))


def main() -> None:
    alone = beside(0, False)
    print(f"{EPISODES} episodes of goofspiel at {SEATS} seats, and {PAGES} pages that follow them")
    print(f"  no page               {alone * 1000:7.1f} ms")
    for name, reading in (("pages that read", True), ("pages that never read", False)):
        took = beside(PAGES, reading)
        print(f"  {name:<22}{took * 1000:7.1f} ms   {took / alone:5.2f} x no page")


if __name__ == "__main__":
    main()
