"""Listening to live pages: their events one by one, and episodes to be played in front of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from weigh.games.registry import game_named, read_config
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.seeds import NAMES, stream
from weigh.harness.store.record import Record
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.server import LiveServer
from weigh.policies.scripted.registry import fallback_of, scripted

Event = tuple[str, Any]


def table(game: str = "goofspiel", key: str = "", policies: Any = None, seed: int = 5, **config: Any) -> Table:
    """An episode of scripted policies, set up."""
    rules = game_named(game)
    settled = read_config(rules, config)
    seats = rules.seat_count(settled)
    key = key or f"{game}/b0000/r0"
    return Table(
        key=key,
        block=key.rpartition("/")[0],
        game=rules,
        config=settled,
        deal=rules.deal(settled, stream(seed, "deal", key)),
        run_seed=seed,
        policies=policies or tuple(scripted(game, "random") for _ in range(seats)),
        aliases=NAMES[:seats],
        fallback=fallback_of(game),
    )


def played(feed: Feed, given: Table) -> Record:
    """The episode played to its end, with the feed told as a run tells it."""
    feed.episode_started(given.key, given.entrants)
    record = asyncio.run(play_episode(given, {}, watch=feed.watch(given)))
    assert isinstance(record, Record)
    feed.episode_finished(record)
    return record


def read(text: str) -> Event | None:
    """One event of a stream; None for a sign of life."""
    lines = text.strip("\n").split("\n")
    if lines == [":"]:
        return None
    assert [line.partition(": ")[0] for line in lines] == ["event", "data"], text
    return lines[0][7:], json.loads(lines[1][6:])


async def heard(stream: AsyncIterator[str], until: Callable[[Event], bool]) -> list[Event]:
    """The events of a stream up to the first that `until` is true of."""
    events: list[Event] = []
    async for text in stream:
        event = read(text)
        if event is not None:
            events.append(event)
            if until(event):
                break
    return events


def named(*names: str) -> Callable[[Event], bool]:
    return lambda event: event[0] in names


@contextmanager
def listening(url: str, **query: str) -> Iterator[Iterator[Event]]:
    """The events of a page's stream, over HTTP."""
    with (
        httpx2.Client(timeout=20, trust_env=False) as client,
        client.stream("GET", f"{url}events", params=query) as answer,
    ):
        assert answer.status_code == 200, answer
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[Event]:
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line)
            continue
        event = read("\n".join(block)) if block else None
        block = []
        if event is not None:
            yield event


@contextmanager
def serving(page: Any) -> Iterator[str]:
    """A page on a server of its own; gives its address."""
    with LiveServer() as server:
        yield server.add(page)
