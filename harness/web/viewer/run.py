"""Pages from a store or a record: one episode, a whole run in one file, or a run as a folder of pages.

Owns which page holds what, what a row of the index says, and the limit of what one file may hold. Finished episodes can
be opened from the index, others stand there with the reason why they cannot. Reads stores, writes no file: it hands out
names and texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weigh.games.game import GameError, Json
from weigh.harness.errors import TooLarge
from weigh.harness.store.calls import Void
from weigh.harness.store.episode_table import EpisodeRow
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.web.scenes import NoPictures
from weigh.harness.web.viewer.episode import attempts_of, episode_data
from weigh.harness.web.viewer.frames import Frames, frames_of
from weigh.harness.web.viewer.page import episode_html, island, listing_html, page_parts
from weigh.harness.words import plural
from weigh.policies.show import one_line

INDEX: Final = "index.html"
LISTING: Final = "listing-data"
FIRST: Final = "episode-0"

_NAME: Final = 200
"""Characters of a name in the index."""


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

    `drawn` is called with the number of each episode, for a display of progress.
    """
    rows: dict[str, dict[str, Json]] = {}
    islands: list[tuple[str, str]] = []
    size = 0
    for record, _, data in _episodes(store, rows, drawn):
        row, text = rows[record.key], island(data)
        size += len(text)
        if size > most:
            episodes = plural(len(store.finished()), "episode")
            raise TooLarge(
                f"{store.folder}: its {episodes} are more than {most / 1e6:g} MB in one page; write a folder of pages "
                "with -o DIR/, one episode with --episode KEY, or raise --max-mb"
            )
        row["island"] = f"episode-{len(islands)}"
        islands.append((f"episode-{len(islands)}", text))
    return _index(store, rows, islands)


def run_folder_pages(store: Store) -> Iterator[Page]:
    """A run as pages: one for each episode, then the index that leads to them."""
    rows: dict[str, dict[str, Json]] = {}
    taken = {INDEX}
    for record, shown, data in _episodes(store, rows):
        rows[record.key]["file"] = name = file_name(record.key, taken)
        taken.add(name)
        yield Page(name, _episode_page(record, shown, {**data, "back": INDEX}))
    yield Page(INDEX, _index(store, rows))


def _episodes(
    store: Store, rows: dict[str, dict[str, Json]], drawn: Callable[[int], None] = lambda number: None
) -> Iterator[tuple[Record, Frames, dict[str, Json]]]:
    """The finished episodes that can be drawn; `rows` gets a row for each finished one, with why it cannot be."""
    for record in store.records():
        drawn(len(rows) + 1)
        row = rows[record.key] = _finished_row(record)
        try:
            shown = frames_of(record)
            data = _data(store, record, shown)
        except (GameError, NoPictures) as error:
            row["cause"] = one_line(f"cannot be drawn: {error}", 600)
        else:
            yield record, shown, data


def _index(store: Store, rows: dict[str, dict[str, Json]], islands: Sequence[tuple[str, str]] = ()) -> tuple[str, ...]:
    """The page with the index of a run, and with the episodes in `islands`."""
    listed = _listing(store, rows)
    games = dict.fromkeys(str(row["game"]) for row in rows.values() if "island" in row)
    title = f"{store.folder.resolve().name} · weigh"
    return tuple(page_parts(title, [(LISTING, island(listed)), *islands], tuple(games), listing_html(listed)))


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
    voids: defaultdict[str, list[Void]] = defaultdict(list)
    for each in store.voids():
        voids[each.episode].append(each)
    status = store.status
    listed: list[Json] = []
    for row in store.episodes():
        if row.game or row.entrants or row.key in rows or row.key in voids:
            listed.append(rows.get(row.key) or _other_row(row, voids.get(row.key, ()), status))
    versions = ", ".join(f"{name} {number}" for name, number in store.manifest.versions.items())
    void = len(voids.keys() - rows.keys())
    about = f"{plural(len(rows), 'finished episode')}, {void} void, {len(listed) - len(rows) - void} unfinished. "
    return {
        "title": one_line(store.folder.resolve().name or store.manifest.run_id, 120),
        "about": one_line(f"{about}Run {store.manifest.run_id}, {status}.", 1_000),
        "versions": one_line(versions, 1_000),
        "rows": listed,
    }


def _finished_row(record: Record) -> dict[str, Json]:
    """The row of a finished episode."""
    return {
        "key": one_line(record.key, _NAME),
        "game": record.game,
        "block": one_line(record.block, _NAME),
        "seats": [
            [one_line(entrant, _NAME), score] for entrant, score in zip(record.entrants, record.scores, strict=True)
        ],
        "ending": one_line(record.ending, _NAME),
        "fallbacks": sum(record.fallbacks),
        "overbids": sum(event.get("type") == "overbid" for event in record.events),
        "faults": sum(len(decision.faults) for decision in record.decisions),
        "status": "finished",
        "cause": None,
    }


def _other_row(row: EpisodeRow, voids: Sequence[Void], status: str) -> dict[str, Json]:
    """The row of an episode that has no record: void where an outage ended it, else not finished."""
    entrants: Iterable[str] = row.entrants or (voids[-1].entrants if voids else ())
    if voids:
        times = f" ({len(voids)} times)" if len(voids) > 1 else ""
        cause = f"void at step {voids[-1].step}{times}: {voids[-1].cause}"
    else:
        cause = f"not finished; the run is {status}"
    return {
        "key": one_line(row.key, _NAME),
        "game": row.game,
        "block": one_line(row.block, _NAME),
        "seats": [[one_line(entrant, _NAME), None] for entrant in entrants],
        "ending": "void" if voids else "unfinished",
        "fallbacks": None,
        "overbids": None,
        "faults": None,
        "status": "void" if voids else "unfinished",
        "cause": one_line(cause, 600),
    }
