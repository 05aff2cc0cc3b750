"""A rematch: tables of a run that are played again, each in several ways that differ in one thing.

Owns which tables are played again, the ways (arms), the keys of the episodes, and who takes the place of an entrant
that is replaced. Knows no policies, no store and no statistics: entrants are names.

The arms
- `again`: the same entrants, seats, deal and names as the first time.
- `aliases`: the same, under names dealt anew.
- `without-NAME`: the same as `again`, with another entrant in NAME's seat and under NAME's alias.

In every arm players sit down afresh: models are asked again, and scripted policies draw from streams of their own. An
alias is drawn for one episode and says nothing of who plays in the next, so "the same names" are those that each seat
had in that very episode.

The episode `goofspiel/b0003/r1`, played again, is `goofspiel/b0003/r1.again`. Its block stays `goofspiel/b0003`: all
arms of a block share its deal, and are one experiment in everything that is clustered by block.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from harness.schedule import Episode

AGAIN: Final = "again"
ALIASES: Final = "aliases"
WITHOUT: Final = "without-"

Pair: TypeAlias = tuple[str, str]
"""Who is thought to stand aside, and for whom."""

_KEY = re.compile(rf"(?P<first>.+/r[0-9]+)\.(?P<arm>{AGAIN}|{ALIASES}|{WITHOUT}[^/]+)")


def split_key(key: str) -> tuple[str, str | None]:
    """The key of the episode that is played again, and the arm: `x/b0003/r1.again` gives (`x/b0003/r1`, `again`).

    The arm is None for an episode that is no part of a rematch.
    """
    match = _KEY.fullmatch(key)
    return (key, None) if match is None else (match["first"], match["arm"])


def names_key(key: str) -> str:
    """The episode for which the names of the episode `key` are drawn: itself, or the one whose names it keeps."""
    first, arm = split_key(key)
    return key if arm is None or arm == ALIASES else first


def meeting(tables: Sequence[Episode], pair: Pair) -> tuple[Episode, ...]:
    """The tables at which both of a pair sit."""
    return tuple(table for table in tables if set(pair) <= set(table.entrants))


def rematch(
    tables: Sequence[Episode], pairs: Sequence[Pair], stand_ins: Mapping[str, Sequence[str]]
) -> tuple[Episode, ...]:
    """Every table at which a pair sits, in each of its arms.

    `stand_ins` says who takes whose place, for the second of every pair: at each table the first who does not sit there
    already. The arms of a table follow each other, so that
    a rematch which stops early has played nearly the same tables in all of them.
    """
    return tuple(episode for table in tables for episode in _arms(table, pairs, stand_ins))


def _arms(table: Episode, pairs: Sequence[Pair], stand_ins: Mapping[str, Sequence[str]]) -> Iterator[Episode]:
    others = dict.fromkeys(pair[1] for pair in pairs if set(pair) <= set(table.entrants))
    if not others:
        return
    for arm in (AGAIN, ALIASES):
        yield replace(table, key=f"{table.key}.{arm}")
    for other in others:
        free = next(name for name in stand_ins[other] if name not in table.entrants)
        seated = tuple(free if name == other else name for name in table.entrants)
        yield replace(table, key=f"{table.key}.{WITHOUT}{other}", entrants=seated)


def choose_stand_ins(
    tables: Sequence[Episode], offered: Sequence[str], barred: Collection[str]
) -> tuple[str, ...] | None:
    """Who of `offered` (the best first) takes somebody's place at `tables`; None when some table has nobody left.

    One who sits at none of them, else as few as there can be, so that none has to sit at a table twice: one policy in
    two seats makes another game of it. At each table it is the first of them who does not sit there.
    """
    left, chosen = list(tables), []
    free = [name for name in offered if name not in barred]
    for name in sorted(free, key=lambda name: sum(name in table.entrants for table in tables)):
        if not all(name in table.entrants for table in left):
            chosen.append(name)
            left = [table for table in left if name in table.entrants]
    return None if left or not chosen else tuple(chosen)
