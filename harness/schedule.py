"""The schedule: every episode of a ladder, who sits where, before anything is played.

Owns episodes, blocks and their keys. Knows no rules, no policies and no results: entrants are names. Deals and aliases
are drawn later, by the caller, from streams keyed by `deal_key` and `key`.

A block is one table of entrants and one deal, played once in each rotation of the seats, so that every entrant of the
block plays every seat of the same deal. Blocks have deals of their own.

What holds when something is added:
- More blocks: the schedule of fewer blocks is the beginning of the schedule of more.
- Another game: the schedules of the games already there stay as they are.
- Another order of the entrants: nothing changes; the seed decides who takes which place in a design.
- Another entrant: block numbers and thus their deals stay, the tables do not, because a design for E + 1 entrants has
  other tables than one for E. `extend` is for that: it keeps the blocks there are, whole, and adds new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from harness.designs import Design, ScheduleInvalid, balance, design, require_table
from harness.seeds import stream


@dataclass(frozen=True, slots=True)
class Episode:
    """One game to be played."""

    key: str
    """Names the episode within its run: `goofspiel/b0003/r1`, block and rotation counted from 0."""
    game: str
    block: str
    """The group of episodes that share entrants and deal: `goofspiel/b0003`."""
    entrants: tuple[str, ...]
    """Who sits where, in seat order."""
    deal_key: str
    """What the deal is drawn for: episodes with equal deal keys are played on equal deals."""


def schedule(game: str, entrants: Sequence[str], seats: int, blocks: int, seed: int) -> tuple[Episode, ...]:
    """The `blocks` x `seats` episodes of one game, block by block. See `episodes`."""
    return tuple(episodes(game, entrants, seats, blocks, seed))


def episodes(game: str, entrants: Sequence[str], seats: int, blocks: int, seed: int) -> Iterator[Episode]:
    """The episodes of `schedule`, one at a time, in memory that does not grow with `blocks`.

    A pure function of its arguments, in which the order of `entrants` plays no part. Cycles of the design follow each
    other; for each the seed deals the entrants anew onto the places of the design, so that tables do not repeat. Where
    a design is not exact, each cycle is dealt so that it evens out the meetings of the cycles before.

    Raises ScheduleInvalid at once (not at the first episode) for blocks below 1, a name given twice, or entrants that
    do not fill a table.
    """
    names = _checked(entrants, blocks)
    plan = design(len(names), seats)
    return chain.from_iterable(
        _block(game, number, _seated(game, number, table, seed))
        for number, table in zip(range(blocks), _tables(game, names, plan, seed), strict=False)
    )


def extend(played: Sequence[Episode], entrants: Sequence[str], blocks: int, seed: int) -> tuple[Episode, ...]:
    """`blocks` further blocks of one game, to be played after `played`, for the entrants as they are now.

    Blocks already there are kept whatever happens to the field, and their meetings count: each new table takes those
    who have played least and met least, so a newcomer catches up and an entrant that left gets no more tables. Two
    extensions one after the other equal one extension by as many blocks. Block numbers go on.

    Raises ScheduleInvalid as `episodes` does, and when `played` is empty or of several games or table sizes.
    """
    game, seats = shape_of(played)
    names = _checked(entrants, blocks)
    require_table(len(names), seats)
    history = _History()
    for table in {episode.block: episode.entrants for episode in played}.values():
        history.add(table)
    first = 1 + max(int(episode.block.rpartition("/b")[2]) for episode in played)
    added: list[Episode] = []
    for number in range(first, first + blocks):
        order = list(names)
        stream(seed, "extend", game, number).shuffle(order)
        table = history.neediest(order, seats)
        history.add(table)
        added += _block(game, number, _seated(game, number, table, seed))
    return tuple(added)


def shape_of(episodes: Sequence[Episode]) -> tuple[str, int]:
    """The one game and the one number of seats of `episodes`. Raises ScheduleInvalid when there are none or several."""
    shapes = sorted({(episode.game, len(episode.entrants)) for episode in episodes})
    if not shapes:
        raise ScheduleInvalid("there are no episodes")
    if len(shapes) > 1:
        found = ", ".join(f"{game} at {seats} seats" for game, seats in shapes)
        raise ScheduleInvalid(f"a schedule is of one game and one table size; these episodes are of {found}")
    return shapes[0]


class _History:
    """Who has played how often, and with whom."""

    def __init__(self) -> None:
        self._sat: Counter[str] = Counter()
        self._met: Counter[tuple[str, str]] = Counter()

    def add(self, table: Sequence[str]) -> None:
        self._sat.update(table)
        self._met.update((one, other) for one in table for other in table)

    def neediest(self, field: Sequence[str], seats: int) -> tuple[str, ...]:
        """Whoever has played least, then again and again whoever has met the table least; the order of `field` breaks
        ties."""
        table = [min(field, key=lambda name: self._sat[name])]
        while len(table) < seats:
            free = [name for name in field if name not in table]
            table.append(min(free, key=lambda name: self._claim(name, table)))
        return tuple(table)

    def _claim(self, name: str, table: Sequence[str]) -> tuple[int, int, int]:
        """Smaller is a better claim to join. The pair that met most decides: newcomers are not always put together."""
        met = [self._met[name, one] for one in table]
        return max(met), sum(met), self._sat[name]


def _checked(entrants: Sequence[str], blocks: int) -> tuple[str, ...]:
    """The names in a fixed order."""
    if blocks < 1:
        raise ScheduleInvalid(f"a schedule has at least 1 block, not {blocks}")
    twice = sorted(name for name, count in Counter(entrants).items() if count > 1)
    if twice:
        raise ScheduleInvalid(f"entrant {twice[0]!r} is named twice: give each entrant a name of its own")
    return tuple(sorted(entrants))


def _block(game: str, number: int, table: Sequence[str]) -> Iterator[Episode]:
    """One episode for each rotation: in rotation r, seat s is taken by the entrant r places further on."""
    block = f"{game}/b{number:04}"
    for rotation in range(len(table)):
        seated = (*table[rotation:], *table[:rotation])
        yield Episode(key=f"{block}/r{rotation}", game=game, block=block, entrants=seated, deal_key=block)


def _seated(game: str, number: int, table: Sequence[str], seed: int) -> tuple[str, ...]:
    """The table in an order drawn for this block: who sits beside whom is left to the seed."""
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
    ends.
    """
    pairs = balance(plan.tables, plan.entrants, plan.seats).meetings
    points = range(plan.entrants)

    def uneven(p: int, q: int) -> int:
        """The part of the sum of squares that an exchange of p and q can change."""
        return sum((met[place[x]][place[y]] + pairs[x][y]) ** 2 for x in (p, q) for y in points if y not in (p, q))

    improved = True
    while improved:
        improved = False
        for p in points:
            for q in range(p):
                before = uneven(p, q)
                place[p], place[q] = place[q], place[p]
                if uneven(p, q) < before:
                    improved = True
                else:
                    place[p], place[q] = place[q], place[p]
    for x in points:
        for y in points:
            met[place[x]][place[y]] += pairs[x][y]
