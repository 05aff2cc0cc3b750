"""Whether the planned episodes of a run are those that its manifest orders, and as balanced as it says.

Owns what can be checked of a run's plan before any of its records is read. Everything is made again from the manifest:
config, entrants, seed, and what was added when. Reads no records; that the rows are those that the manifest knows is
`harness.audit.verify.planned`.

Whether a run holds what it planned, all of it, and nothing else.

Owns the comparison of the planned rows with the digest in the manifest, and of what is kept with the planned rows, and
the refusal to rank over what differs. It is cheap enough to come before every ranking: no move is played again. Whether
the plan is the one that its order makes is the question of `harness.audit.verify.planned`, and whether a record
re-derives that of `harness.audit.verify.run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any

from weigh.harness.audit.claims.arms import ClaimsPlan, Direction, may_keep_calls
from weigh.harness.audit.verify.findings import NOTHING, Finding, agree, show
from weigh.harness.config.blocks import block_of
from weigh.harness.config.extension import made_again, report_json
from weigh.harness.config.schedule import Episode, rematch, split_key
from weigh.harness.errors import ScheduleInvalid, StoreRefused
from weigh.harness.store.kinds import ARM, EXPERIMENT, REMATCH, kind_of
from weigh.harness.store.manifest import Manifest, ScheduleDigest, blocks_planned, table_in
from weigh.harness.store.store import Store
from weigh.harness.words import plural, shown

SINGLE = "play"
"""Behind the game, the name of the one episode of `weigh play`."""


def check_schedule(store: Store) -> Iterator[Finding]:
    """What is wrong with the plan of a run."""
    manifest = store.manifest
    rows = [
        Episode(row.key, row.game, row.block, row.entrants, row.deal_key) for row in store.episodes() if row.deal_key
    ]
    if kind_of(manifest) == "unknown":
        known = "a ladder, a single episode, a rematch, an experiment or the arm of a gate"
        yield Finding(
            "config", f"is of none of the runs that can be planned again: {known}", show(sorted(manifest.config))
        )
        return
    for game in dict.fromkeys([*table_in(manifest.config, "games"), *(row.game for row in rows)]):
        yield from _check_game(manifest, game, [row for row in rows if row.game == game])


def _check_game(manifest: Manifest, game: str, rows: Sequence[Episode]) -> Iterator[Finding]:
    blocks, ordered = len({row.block for row in rows}), blocks_planned(manifest, game)
    if ordered != blocks:
        yield Finding(f"the blocks of {game}", "are not as many as the config orders", show(blocks), show(ordered))
        return
    if not rows:
        return
    where = f"the schedule of {game}"
    try:
        due = _due(manifest, game, rows)
    # Whoever edits a manifest may put anything in it.
    except (ScheduleInvalid, KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        yield Finding(where, f"cannot be made again: {show(str(error))}")
        return
    for found, wanted in zip_longest(map(_placed, rows), map(_placed, due)):
        if found != wanted:
            seated, said = (NOTHING if each is None else show(each) for each in (found, wanted))
            key = (found or wanted)[0]
            yield Finding(where, "is not the one that its order and the run's seed make", seated, said, key)
            return
    if game in manifest.schedules:
        told, true = manifest.schedules[game], report_json(manifest, rows, game)
        for key in dict.fromkeys([*true, *told]):
            if not agree(told.get(key), true.get(key)):
                what = "is not that of the planned episodes"
                yield Finding(f"schedules.{game}.{key}", what, show(told.get(key)), show(true.get(key)))


def _placed(episode: Episode) -> list[Any]:
    return [episode.key, episode.block, episode.deal_key, *episode.entrants]


def _due(manifest: Manifest, game: str, rows: Sequence[Episode]) -> Sequence[Episode]:
    """The episodes that the manifest orders of a game, of which `rows` are planned."""
    match kind_of(manifest):
        case "ladder":
            return made_again(manifest, game, len(rows[0].entrants))
        case "experiment":
            return _of_an_experiment(manifest.config[EXPERIMENT], rows)
        case "arm":
            return _of_an_arm(manifest, game, rows)
        case "rematch":
            return _of_a_rematch(manifest.config[REMATCH], rows)
        case _:
            key = f"{game}/{SINGLE}"
            return [Episode(key, game, key, rows[0].entrants, key)]


def _of_an_experiment(said: Any, rows: Sequence[Episode]) -> Sequence[Episode]:
    plan = ClaimsPlan(tuple(Direction(*each) for each in said["directions"]), said["pairs"])
    if 2 * plan.blocks != len(rows):
        raise ScheduleInvalid(f"{2 * plan.blocks} episodes are ordered, and {len(rows)} planned")
    return plan.episodes()


def _of_an_arm(manifest: Manifest, game: str, rows: Sequence[Episode]) -> Sequence[Episode]:
    """The blocks that `rows` name. Blocks may be left out: those that are void in a baseline file."""
    said: Any = manifest.config[ARM]
    blocks = list(dict.fromkeys(row.block for row in rows))
    numbers = [int(block.rpartition("/b")[2]) for block in blocks]
    if numbers != sorted(numbers):
        raise ScheduleInvalid("its blocks are out of order")
    seats = len(rows[0].entrants)
    laid = (block_of(game, seats, said["field"], said["role"], manifest.seed, number) for number in numbers)
    return [episode for block in laid for episode in block.episodes]


def _of_a_rematch(said: Any, rows: Sequence[Episode]) -> Sequence[Episode]:
    """Every table once more in each of its arms. The tables themselves are those of another run: of them the first arm
    is believed, as far as a ladder can have had them."""
    pairs = [tuple(pair) for pair in said["pairs"]]
    stand_ins = {other: [who] if isinstance(who, str) else who for other, who in said["stand_ins"].items()}
    due: list[Episode] = []
    for first, arms in groupby(rows, key=lambda row: split_key(row.key)[0]):
        again = next(arms)
        block = first.rpartition("/")[0]
        due += rematch([Episode(first, again.game, block, again.entrants, block)], pairs, stand_ins)
    return due


def require_as_planned(stores: Iterable[Store], *, whole: bool = True) -> None:
    """Raise StoreRefused, with one line, for a run that does not hold what it planned.

    Not `whole`: episodes that are missing in a run which says that it is finished are no reason, because who asks plays
    them again; nor is the plan made again, because who asks compares the order.
    """
    for store in stores:
        astray, missing = list(check_held(store)), list(check_missing(store)) if whole else []
        if whole and table_in(store.manifest.config, "games"):
            astray += check_schedule(store)
        if not astray and not missing:
            continue
        remedy = (
            "put the run back as it was, or play it anew in another folder"
            if astray
            else "the command that made the run plays what is missing"
        )
        found = [*astray, *missing]
        what = f"{store.folder} does not hold what it planned ({plural(len(found), 'finding')}; the first: {found[0]})"
        told = f"{what}, so nothing is concluded from it; {remedy} (`weigh verify` names every finding)"
        raise StoreRefused(shown(told, limit=2_000))


def check_held(store: Store) -> Iterator[Finding]:
    """Everything in the run that was not planned, and everything planned that the manifest does not know.

    Rows that were never planned: an experiment alone has some, for what it asks a listener again.
    """
    manifest = store.manifest
    digest, planned = ScheduleDigest(), 0
    before: dict[int, str] = {
        amendment.episodes: digest.hex() for amendment in manifest.amendments if not amendment.episodes
    }
    extended = {amendment.episodes for amendment in manifest.amendments}
    finished, void = frozenset(store.finished()), frozenset(void.episode for void in store.voids())
    for row in store.episodes():
        if any(score is not None for score in row.scores) and row.key not in finished:
            yield Finding("seats", "have scores, and there is no record", show(list(row.scores)), episode=row.key)
        if row.deal_key:
            try:
                digest.add(row)
            except TypeError:
                yield Finding("the schedule", "has a cell that is no text", episode=str(row.key))
            planned += 1
            if planned in extended:
                before[planned] = digest.hex()
        elif row.entrants or row.key in finished | void or not may_keep_calls(manifest, row.key):
            yield Finding("the episode", "was never planned", episode=row.key)
    if digest.hex() != manifest.schedule and (planned or manifest.episodes):
        yield Finding("the schedule", "is not the one of the manifest", show(manifest.schedule), show(digest.hex()))
    if planned != manifest.episodes:
        yield Finding("episodes", "are not as many as the manifest says", show(planned), show(manifest.episodes))
    for number, amendment in enumerate(manifest.amendments):
        if (due := before.get(amendment.episodes)) != amendment.schedule:
            where = f"the schedule before amendments[{number}]"
            yield Finding(where, "is not the one of the manifest", show(amendment.schedule), show(due))
    for key in store.misfiled():
        yield Finding("the record", "is not of the episode it is kept under", episode=key)


def check_missing(store: Store, *, finished: bool = False) -> Iterator[Finding]:
    """The planned episodes that a run has neither a record nor an outage of, where it says that it is finished, or is
    about to say so.

    An arm of a gate may be finished before its last block, when the verdict is clear: its blocks are played one after
    the other, so there what is missing lies behind everything that is there.
    """
    if not finished and store.status != "finished":
        return
    there = {*store.finished(), *(void.episode for void in store.voids())}
    behind: list[str] = []
    for row in store.episodes():
        if row.deal_key and row.key not in there:
            behind.append(row.key)
        elif row.deal_key:
            yield from map(_missing, behind)
            behind.clear()
    if kind_of(store.manifest) != "arm":
        yield from map(_missing, behind)


def _missing(key: str) -> Finding:
    return Finding(
        "the record", "is missing, and no outage took it, though the run says that it is finished", episode=key
    )
