"""Whether the planned episodes of a run are those that its manifest orders, and as balanced as it says.

Owns what can be checked of a run before any of its records is read. Everything is made again from the manifest: config,
entrants, seed, and what was added when. Reads no records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.amendments import made_again, report_json
from harness.designs import ScheduleInvalid
from harness.kinds_of_run import kind_of
from harness.manifest import Manifest, schedule_digest, table_in
from harness.schedule import Episode
from harness.store import EpisodeRow, Store
from harness.verify_findings import Finding, agree, show


def check_schedule(store: Store) -> Iterator[Finding]:
    """What is wrong with the planned episodes of a run."""
    manifest = store.manifest
    rows = [row for row in store.episodes() if row.deal_key]
    digest = schedule_digest(rows)
    if manifest.episodes and digest != manifest.schedule:
        yield Finding("the schedule", "is not the one of the manifest", show(manifest.schedule), show(digest))
    if len(rows) != manifest.episodes:
        yield Finding("episodes", "are not as many as the manifest says", show(len(rows)), show(manifest.episodes))
    for number, amendment in enumerate(manifest.amendments):
        digest = schedule_digest(rows[: amendment.episodes])
        if digest != amendment.schedule:
            where = f"the schedule before amendments[{number}]"
            yield Finding(where, "is not the one of the manifest", show(amendment.schedule), show(digest))
    for game in dict.fromkeys(row.game for row in rows):
        yield from _check_game(manifest, game, [row for row in rows if row.game == game])


def _check_game(manifest: Manifest, game: str, rows: Sequence[EpisodeRow]) -> Iterator[Finding]:
    blocks = len({row.block for row in rows})
    first = table_in(manifest.orders[0].config, "games", game).get("blocks")
    if not isinstance(first, int):
        return
    ordered = first + sum(amendment.blocks.get(game, 0) for amendment in manifest.amendments)
    if ordered != blocks:
        yield Finding(f"the blocks of {game}", "are not as many as the config orders", show(blocks), show(ordered))
        return
    if kind_of(manifest) != "ladder":
        return  # the tables of all others are chosen in other ways
    planned = [Episode(row.key, row.game, row.block, row.entrants, row.deal_key) for row in rows]
    try:
        due = made_again(manifest, game, len(rows[0].entrants))
    except ScheduleInvalid as error:
        yield Finding(f"the schedule of {game}", f"cannot be made again: {error}")
        return
    for found, wanted in zip(planned, due, strict=False):
        if found != wanted:
            where = f"the schedule of {game}"
            seated, said = show(list(found.entrants)), show([wanted.key, *wanted.entrants])
            yield Finding(where, "is not the one that its order and the run's seed make", seated, said, found.key)
            return
    if game in manifest.schedules:
        told, true = manifest.schedules[game], report_json(manifest, planned, game)
        for key in dict.fromkeys([*true, *told]):
            if not agree(told.get(key), true.get(key)):
                what = "is not that of the planned episodes"
                yield Finding(f"schedules.{game}.{key}", what, show(told.get(key)), show(true.get(key)))
