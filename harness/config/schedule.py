"""The schedule: every episode of a ladder's game, who sits where, before anything is played.

Owns episodes, blocks and their keys. Knows no rules, no policies and no results: entrants are names. Deals and aliases
are drawn later, by the caller, from streams keyed by `deal_key` and `key`.

A block is one table of entrants and one deal, played once in each row of a square (`harness.config.designs`), so that
every entrant of the block plays every seat of the same deal. Blocks have deals of their own.

What holds when something is added:
- More blocks: the schedule of fewer blocks is the beginning of the schedule of more.
- Another game: the schedules of the games already there stay as they are.
- Another order of the entrants: nothing changes; the seed decides who takes which place in a design.
- Another entrant: block numbers and thus their deals stay, the tables do not, because a design for E + 1 entrants has
  other tables than one for E. `extend` and `catch_up` are for that: they keep the blocks there are, whole, and add new
  ones.

A rematch: tables of a run that are played again, each in several ways that differ in one thing.

Owns which tables are played again, the ways (arms), the keys of the episodes, and who takes the place of an entrant
that is replaced. Knows no policies, no store and no statistics: entrants are names.

The arms
- `again`: the same entrants, seats, deal and names as the first time.
- `aliases`: the same, under names dealt again.
- `without-NAME`: the same as `again`, with another entrant in NAME's seat and under NAME's alias.

In every arm players sit down afresh: models are asked again, and scripted policies draw from streams of their own. An
alias is drawn for one episode and says nothing of who plays in the next, so "the same names" are those that each seat
had in that very episode.

The episode `goofspiel/b0003/r1`, played again, is `goofspiel/b0003/r1.again`. Its block stays `goofspiel/b0003`: all
arms of a block share its deal, and are one experiment in everything that is clustered by block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final, TypeAlias

from weigh.harness.config.designs import Design, Neighbours, Rows, balance, design, needs_mirror, require_table, square
from weigh.harness.errors import ScheduleInvalid
from weigh.harness.seeds import stream


@dataclass(frozen=True, slots=True)
class Episode:
    """One game to be played."""

    key: str
    """Names the episode within its run: `goofspiel/b0003/r1`, block and row counted from 0."""
    game: str
    block: str
    """The group of episodes that share entrants and deal: `goofspiel/b0003`."""
    entrants: tuple[str, ...]
    """Who sits where, in seat order."""
    deal_key: str
    """What the deal is drawn for: episodes with equal deal keys are played on equal deals."""
    paired: bool = False
    """Whether the players' randomness and the aliases are drawn for the deal key too: for episodes that are compared,
    and differ in nothing but what one of the players meets with."""

    @property
    def stream_key(self) -> str:
        """What the players' randomness and the aliases are drawn for."""
        return self.deal_key if self.paired else self.key


def schedule(
    game: str, entrants: Sequence[str], seats: int, blocks: int, seed: int, rows: Rows = "williams"
) -> tuple[Episode, ...]:
    """The `blocks` x `seats` episodes of one game, block by block. See `episodes`."""
    return tuple(episodes(game, entrants, seats, blocks, seed, rows))


def episodes(
    game: str, entrants: Sequence[str], seats: int, blocks: int, seed: int, rows: Rows = "williams"
) -> Iterator[Episode]:
    """The episodes of `schedule`, one at a time, in memory that does not grow with `blocks`.

    A pure function of its arguments, in which the order of `entrants` plays no part. Cycles of the design follow each
    other; for each the seed deals the entrants again onto the places of the design, so that tables do not repeat. Where
    a design is not exact, each cycle is dealt so that it evens out the meetings of the cycles before. Where a square
    alone has neighbours in one order only, each block takes the square or its mirror, whichever evens out the blocks
    before; a full table then keeps its order for two blocks, one each.

    Raises ScheduleInvalid at once (not at the first episode) for blocks below 1, a name given twice, or entrants that
    do not fill a table.
    """
    names = _checked(entrants, blocks)
    plan = design(len(names), seats)
    return chain.from_iterable(islice(_designed(game, names, plan, seed, rows), blocks))


def extend(
    played: Sequence[Episode], entrants: Sequence[str], blocks: int, seed: int, rows: Rows = "williams"
) -> tuple[Episode, ...]:
    """`blocks` further blocks of one game, to be played after `played`, for the entrants as they are now.

    Blocks already there are kept whatever happens to the field. If they are what `schedule` makes for these very
    entrants, it goes on as if more blocks had been asked for at first. Else the meetings there were count: each new
    table takes those who have played least and met least, so a newcomer catches up and an entrant that left gets no
    more tables. Two extensions one after the other, for one field, equal one extension by as many blocks. Block numbers
    go on.

    Raises ScheduleInvalid as `episodes` does, and when `played` is empty or of several games or table sizes.
    """
    names = _checked(entrants, blocks)
    return tuple(chain.from_iterable(islice(_further(played, names, seed, rows), blocks)))


def catch_up(
    played: Sequence[Episode],
    entrants: Sequence[str],
    newcomers: Collection[str],
    seed: int,
    rows: Rows = "williams",
) -> tuple[Episode, ...]:
    """The further blocks of `extend`, as few as bring every newcomer up to an equal share; none without newcomers.

    Only meetings with entrants of today count. An equal share is as many as the entrants of today have on average.
    Where they fill just one table none can catch up, and the share is as many blocks as the others had on average when
    the newcomers came.
    """
    names = _checked(entrants, 1)
    full = len(names) == shape_of(played)[1]
    had: Counter[str] = Counter()
    for table in _tables_of(played).values():
        had.update(_gain(table, names, full))
    others = [had[name] for name in names if name not in newcomers]
    before = sum(others) / max(1, len(others))
    behind, added = list(newcomers), list[Episode]()
    for block in _further(played, names, seed, rows):
        share = before if full else sum(had[name] for name in names) / len(names)
        behind = [name for name in behind if not had[name] or had[name] < share]
        if not behind:
            break
        had.update(_gain(block[0].entrants, names, full))
        added += block
    return tuple(added)


def _gain(table: Sequence[str], names: Sequence[str], full: bool) -> dict[str, int]:
    """What a block adds to the count of each of `names` at its table: meetings with others of them, or itself."""
    here = [name for name in table if name in names]
    return dict.fromkeys(here, 1 if full else len(here) - 1)


def follows_design(played: Sequence[Episode], entrants: Sequence[str], seed: int, rows: Rows = "williams") -> bool:
    """Whether `played` is what `schedule` makes for these entrants, and not an extension for another field."""
    game, seats = shape_of(played)
    names = _checked(entrants, 1)
    if len(names) < seats:
        return False
    return tuple(played) == schedule(game, names, seats, len(_tables_of(played)), seed, rows)


def shape_of(episodes: Sequence[Episode]) -> tuple[str, int]:
    """The one game and the one number of seats of `episodes`. Raises ScheduleInvalid when there are none or several."""
    shapes = sorted({(episode.game, len(episode.entrants)) for episode in episodes})
    if not shapes:
        raise ScheduleInvalid("there are no episodes", kind="no-episodes")
    if len(shapes) > 1:
        found = ", ".join(f"{game} at {seats} seats" for game, seats in shapes)
        raise ScheduleInvalid(
            f"a schedule is of one game and one table size; these episodes are of {found}", kind="mixed-games"
        )
    return shapes[0]


def _tables_of(played: Sequence[Episode]) -> dict[str, tuple[str, ...]]:
    """Who sits together, by block."""
    return {episode.block: episode.entrants for episode in played}


def _designed(game: str, names: tuple[str, ...], plan: Design, seed: int, rows: Rows) -> Iterator[tuple[Episode, ...]]:
    """Blocks without end, by the design."""
    sides = _Sides(plan.seats, rows)
    twice = needs_mirror(plan.seats, rows) and len(names) == plan.seats
    for number, table in enumerate(_tables(game, names, plan, seed)):
        drawn = number - number % 2 if twice else number
        yield sides.block(game, number, _seated(game, drawn, table, seed))


def _further(played: Sequence[Episode], names: tuple[str, ...], seed: int, rows: Rows) -> Iterator[tuple[Episode, ...]]:
    """Blocks without end, to be played after `played`."""
    game, seats = shape_of(played)
    require_table(len(names), seats)
    tables = _tables_of(played)
    if follows_design(played, names, seed, rows):
        yield from islice(_designed(game, names, design(len(names), seats), seed, rows), len(tables), None)
    history = _History()
    for table in tables.values():
        history.add(table)
    sides = _Sides(seats, rows, played)
    number = 1 + max(int(block.rpartition("/b")[2]) for block in tables)
    while True:
        order = list(names)
        stream(seed, "extend", game, number).shuffle(order)
        table = history.neediest(order, seats)
        history.add(table)
        yield sides.block(game, number, _seated(game, number, table, seed))
        number += 1


class _Sides:
    """Makes the episodes of blocks, one after the other, so that neighbours come in either order equally often."""

    def __init__(self, seats: int, rows: Rows, played: Sequence[Episode] = ()) -> None:
        self._square = square(seats, rows)
        self._neighbours = Neighbours() if needs_mirror(seats, rows) else None
        for episode in played:
            self._count(episode.entrants)

    def block(self, game: str, number: int, order: Sequence[str]) -> tuple[Episode, ...]:
        """One episode for each row, of the entrants in this order."""
        seated: Sequence[tuple[str, ...]] = [tuple(order[place] for place in row) for row in self._square]
        if self._neighbours is not None:
            seated = self._neighbours.evened(seated)
        for row in seated:
            self._count(row)
        block = f"{game}/b{number:04}"
        return tuple(
            Episode(key=f"{block}/r{row}", game=game, block=block, entrants=names, deal_key=block)
            for row, names in enumerate(seated)
        )

    def _count(self, seated: tuple[str, ...]) -> None:
        if self._neighbours is not None:
            self._neighbours.add(seated)


class _History:
    """Who has played how often, and with whom."""

    def __init__(self) -> None:
        self._sat: Counter[str] = Counter()
        self._met: Counter[tuple[str, str]] = Counter()

    def add(self, table: Sequence[str]) -> None:
        self._sat.update(table)
        self._met.update((one, other) for one in table for other in table)

    def neediest(self, field: Sequence[str], seats: int) -> tuple[str, ...]:
        """The entrant that played least, then one by one those that met the table least; `field` breaks ties."""
        table = [min(field, key=lambda name: self._sat[name])]
        while len(table) < seats:
            free = [name for name in field if name not in table]
            table.append(min(free, key=lambda name: self._claim(name, table)))
        return tuple(table)

    def _claim(self, name: str, table: Sequence[str]) -> tuple[int, int, int]:
        """Smaller is a better claim to join: the one that raises the sum of squared meetings least."""
        met = [self._met[name, one] for one in table]
        return sum(met), max(met), self._sat[name]


def _checked(entrants: Sequence[str], blocks: int) -> tuple[str, ...]:
    """The names in a fixed order."""
    if blocks < 1:
        raise ScheduleInvalid(f"a schedule has at least 1 block, not {blocks}", kind="no-blocks")
    twice = sorted(name for name, count in Counter(entrants).items() if count > 1)
    if twice:
        raise ScheduleInvalid(
            f"entrant {twice[0]!r} is named twice: give each entrant a name of its own", kind="given-twice"
        )
    return tuple(sorted(entrants))


def _seated(game: str, number: int, table: Sequence[str], seed: int) -> tuple[str, ...]:
    """The table in an order drawn for the block of this number."""
    order = sorted(table)
    stream(seed, "seating", game, number).shuffle(order)
    return tuple(order)


def _tables(game: str, names: tuple[str, ...], plan: Design, seed: int) -> Iterator[tuple[str, ...]]:
    """Tables without end, cycle after cycle."""
    met = [[0] * len(names) for _ in names]
    cycle = 0
    while True:
        place = list(range(len(names)))
        stream(seed, "cycle", game, cycle).shuffle(place)
        if not plan.exact:
            _even_out(place, met, plan)
        for table in plan.tables:
            yield tuple(names[place[point]] for point in table)
        cycle += 1


def _even_out(place: list[int], met: list[list[int]], plan: Design) -> None:
    """Exchange places, as long as that evens out who met whom, then add this cycle's meetings to `met`.

    `place[point]` is the entrant at a point of the design. Each exchange lowers the sum of squared meetings, so this
    ends. Points are gone through in order, each with those before it, until none can be exchanged: with M the meetings
    so far and P those of this cycle, an exchange of p and q lowers the sum of squares by twice the sum over all other
    points y of (M[p,y] - M[q,y]) (P[p,y] - P[q,y]).
    """
    import numpy as np

    cycle = np.array(balance(plan.tables, plan.entrants, plan.seats).meetings)
    before = np.array(met)[np.ix_(place, place)]

    def first_gain(p: int, start: int) -> int | None:
        """The first point from `start` on, and before p, that is worth an exchange."""
        others = np.arange(start, p)
        gains = (before[p] - before[others]) * (cycle[p] - cycle[others])
        found = np.flatnonzero(gains.sum(axis=1) - gains[:, p] - gains[others - start, others] > 0)
        return int(others[found[0]]) if len(found) else None

    improved = True
    while improved:
        improved = False
        for p in range(plan.entrants):
            q = first_gain(p, 0)
            while q is not None:
                improved = True
                place[p], place[q] = place[q], place[p]
                before[[p, q]] = before[[q, p]]
                before[:, [p, q]] = before[:, [q, p]]
                q = first_gain(p, q + 1)
    for x, mine in enumerate(cycle.tolist()):
        for y, count in enumerate(mine):
            met[place[x]][place[y]] += count


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
    """Who of `offered` (the best first) takes an entrant's place at `tables`; None when some table has none left.

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
