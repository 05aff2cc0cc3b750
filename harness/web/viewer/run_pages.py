"""Pages from a store or a record: one episode, a whole run in one file, or a run as a folder of pages.

Owns which page holds what, and the limit of what one file may hold. Reads stores, writes no file: it hands out names
and texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from weigh.games.game import GameError, Json
from weigh.harness.errors import TooLarge
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.web.viewer.conduct import attempts_of
from weigh.harness.web.viewer.episode_data import episode_data
from weigh.harness.web.viewer.frames import Frames, frames_of
from weigh.harness.web.viewer.listing import finished_row, other_row, voids_by_episode
from weigh.harness.web.viewer.page import island, page_parts
from weigh.harness.web.viewer.scenes import NoPictures
from weigh.harness.web.viewer.without_script import episode_html, listing_html
from weigh.harness.words import plural
from weigh.policies.show import one_line

INDEX: Final = "index.html"
LISTING: Final = "listing-data"
FIRST: Final = "episode-0"


@dataclass(frozen=True, slots=True)
class Page:
    """One file to be written."""

    name: str
    """Its name within the folder of pages."""
    parts: tuple[str, ...]
    """Its text, in pieces."""


def record_page(record: Record) -> tuple[str, ...]:
    """The page of a record without its run. Raises GameError for a record that cannot be played."""
    shown = frames_of(record)
    return _episode_page(record, shown, episode_data(record, frames=shown))


def episode_page(store: Store, record: Record) -> tuple[str, ...]:
    """The page of one episode of a run, with its calls. Raises like `record_page`."""
    shown = frames_of(record)
    return _episode_page(record, shown, _data(store, record, shown))


def run_page(store: Store, most: int, drawn: Callable[[int], None] = lambda number: None) -> tuple[str, ...]:
    """A run as one page: an index, and every episode in it. Raises TooLarge beyond `most` bytes of data.

    `drawn` is told after each episode how many there were, for those who wait.
    """
    rows: dict[str, dict[str, Json]] = {}
    islands: list[tuple[str, str]] = []
    size = 0
    for record in store.records():
        drawn(len(rows) + 1)
        row = rows[record.key] = finished_row(record)
        try:
            text = island(_data(store, record, frames_of(record)))
        except (GameError, NoPictures) as error:
            row["cause"] = _undrawn(error)
            continue
        size += len(text)
        if size > most:
            episodes = plural(len(store.finished()), "episode")
            raise TooLarge(
                f"{store.folder}: its {episodes} are more than {most / 1e6:g} MB in one page; write a folder of pages "
                "with -o DIR/, one episode with --episode KEY, or raise --max-mb"
            )
        row["island"] = f"episode-{len(islands)}"
        islands.append((f"episode-{len(islands)}", text))
    listed = _listing(store, rows)
    listing = island(listed)
    return tuple(page_parts(_title(store), [(LISTING, listing), *islands], _games(rows), listing_html(listed)))


def run_folder_pages(store: Store) -> Iterator[Page]:
    """A run as pages: one for each episode, then the index that leads to them."""
    rows: dict[str, dict[str, Json]] = {}
    taken = {INDEX}
    for record in store.records():
        row = rows[record.key] = finished_row(record)
        try:
            shown = frames_of(record)
            data = {**_data(store, record, shown), "back": INDEX}
        except (GameError, NoPictures) as error:
            row["cause"] = _undrawn(error)
            continue
        row["file"] = name = file_name(record.key, taken)
        taken.add(name)
        yield Page(name, _episode_page(record, shown, data))
    listed = _listing(store, rows)
    yield Page(INDEX, tuple(page_parts(_title(store), [(LISTING, island(listed))], (), listing_html(listed))))


def file_name(key: str, taken: set[str] | frozenset[str] = frozenset()) -> str:
    """A file name for an episode: `goofspiel-b0003-r1.html`; with a number behind it where that is taken."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", key)[:120].strip("-.") or "episode"
    name, number = f"{stem}.html", 1
    while name.lower() in taken or name in taken:
        number += 1
        name = f"{stem}-{number}.html"
    return name


def _episode_page(record: Record, shown: Frames, data: dict[str, Json]) -> tuple[str, ...]:
    title, without = f"{record.key} · weigh", episode_html(record, shown)
    return tuple(page_parts(title, [(FIRST, island(data))], (record.game,), without))


def _data(store: Store, record: Record, shown: Frames) -> dict[str, Json]:
    return episode_data(
        record,
        attempts_of(store.calls(record.key)),
        frames=shown,
        run=f"{store.manifest.run_id} ({store.status})",
        versions=store.manifest.versions,
    )


def _listing(store: Store, rows: dict[str, dict[str, Json]]) -> dict[str, Json]:
    voids, status = voids_by_episode(store.voids()), store.status
    listed: list[Json] = []
    for row in store.episodes():
        if row.game or row.entrants or row.key in rows or row.key in voids:
            listed.append(rows.get(row.key) or other_row(row, voids.get(row.key, ()), status))
    versions = ", ".join(f"{name} {number}" for name, number in store.manifest.versions.items())
    void = sum(key not in rows for key in voids)
    about = f"{plural(len(rows), 'finished episode')}, {void} void, {len(listed) - len(rows) - void} unfinished. "
    return {
        "title": one_line(store.folder.resolve().name or store.manifest.run_id, 120),
        "about": one_line(f"{about}Run {store.manifest.run_id}, {status}.", 1_000),
        "versions": one_line(versions, 1_000),
        "rows": listed,
    }


def _title(store: Store) -> str:
    return f"{store.folder.resolve().name} · weigh"


def _games(rows: dict[str, dict[str, Json]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(row["game"]) for row in rows.values() if "island" in row))


def _undrawn(error: Exception) -> str:
    return one_line(f"cannot be drawn: {error}", 600)
