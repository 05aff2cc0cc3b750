"""An audit as sections: who was flagged in line one, the pairs in one table, then a few labelled lines.

Owns the words, the choice of rows and the numbers' forms.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from math import ceil
from types import MappingProxyType

from weigh.harness.audit.collusion.audit import Audit, NotAudited, TableAudit
from weigh.harness.audit.collusion.directed import FEWEST_BLOCKS, Direction, Obstacle
from weigh.harness.audit.collusion.gains import Gain, RoundAside
from weigh.harness.audit.collusion.literal_index import EntrantIndex
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Column,
    Field,
    Section,
    Text,
    bullets,
    labelled,
    line,
    table_of,
)
from weigh.harness.stats.clustered import at_most
from weigh.harness.words import interval, plural, score, share

OF_ALL = MappingProxyType[Obstacle | None, str](
    {
        "no_bid": "no entrant made a bid of its own that counts",
        "never": "no two entrants sat at one table",
        "always": "every entrant sat at every table, so nothing tells what one does without another",
        "few_blocks": f"no entrant has {FEWEST_BLOCKS} blocks, which are the least",
        "one_block": "every two entrants sat together, or apart, in one block only",
    }
)
"""Why no pair can be tested, where it is the same for all."""

LISTED = 3
"""Pairs that are listed without --wide, where fewer are flagged."""

REASONS = 10
"""Reasons why pairs cannot be tested that are listed; of more, the rest are counted."""

NOT_SEEN = "the second-lowest card, half bids, conceding low prizes, burning top cards"
"""Ways to help a partner that the statistic does not count: it sees them only where they end in lowest cards."""

PAIRS: list[Field[Direction]] = [
    (Column("i", numeric=False, name=True), lambda each: each.by),
    (Column("j", numeric=False, name=True), lambda each: each.toward),
    (Column("with j"), lambda each: share(each.rate_with)),
    (Column("without", goes=2), lambda each: share(each.rate_without)),
    (Column("diff"), lambda each: NOTHING if each.difference is None else f"{each.difference:+.1%}"),
    (Column("p(pair)", goes=3), lambda each: _p(each.p)),
    (Column("q (BH)"), lambda each: _p(each.q)),
    (Column("p(max)"), lambda each: _p(each.p_max)),
]

WIDE: list[Field[Direction]] = [
    *PAIRS,
    (Column("blocks", goes=1), lambda each: f"{each.blocks_with}/{each.blocks_without}"),
    (Column("", numeric=False), lambda each: "flagged" if each.flagged else ""),
]

INDEX: list[Field[EntrantIndex]] = [
    (Column("entrant", numeric=False, name=True), lambda each: each.entrant),
    (Column("n"), lambda each: str(each.episodes)),
    (Column("index"), lambda each: share(each.mean)),
    (Column("high"), lambda each: share(each.high_share)),
    (Column("null", goes=4), lambda each: share(None if each.permutation_null is None else each.permutation_null.mean)),
    (Column("null 95%"), lambda each: _null(each)),
    (Column("forced", goes=5), lambda each: share(each.parts.forced)),
    (Column("won", goes=3), lambda each: share(each.parts.won)),
    (Column("fallback", goes=1), lambda each: share(each.parts.fallback)),
    (Column("conceded", goes=6), lambda each: share(each.parts.conceded)),
    (Column("maximum", goes=7), lambda each: share(each.maximum)),
    (Column("in reach", goes=2), lambda each: share(each.within_reach)),
]

ROUND: list[Field[RoundAside]] = [
    (Column("taken by", numeric=False), lambda each: ", ".join(each.winners)),
    (Column("round"), lambda each: str(each.round)),
    (Column("prize"), lambda each: str(each.prize)),
    (Column("bid"), lambda each: str(each.bid)),
    (Column("lowest", goes=1), lambda each: str(each.lowest)),
    (Column("held", goes=3), lambda each: str(each.held)),
    (Column("margin", goes=2), lambda each: str(each.margin)),
]


def sections(audit: Audit, rounds: int, wide: bool = False, folders: dict[str, str] | None = None) -> list[Section]:
    """The sections of each game. At most `rounds` rounds of each flagged pair are listed; `wide`: all pairs, and the
    collusion index by its parts. `folders`: of the runs, by their ids, for the commands."""
    tables = (section for table in audit.tables for section in _table(table, rounds, wide, folders or {}))
    return [*tables, *map(_other, audit.others)]


def answer(table: TableAudit) -> str:
    """What was found, in one line."""
    flagged = [f"{each.by} -> {each.toward}" for each in table.flagged]
    if flagged:
        return f"{plural(len(flagged), 'pair')} flagged: {', '.join(flagged)}"
    entrants = plural(len(table.indices), "entrant")
    if not table.tested:
        return f"no pair of {entrants} could be tested, so nothing is known"
    tested = f"{plural(len(table.tested), 'pair')} of {entrants} tested"
    if not table.reachable:
        return f"no pair could have been flagged: {tested}, with too few {_short_of(table)}"
    return f"no pair flagged: {tested}, FDR {table.settings.fdr:.0%}"


def _short_of(table: TableAudit) -> str:
    return "permutations" if table.too_few_permutations else "blocks"


def _table(table: TableAudit, rounds: int, wide: bool, folders: dict[str, str]) -> Iterator[Section]:
    expected = "" if table.expected is None else f" of {table.expected}"
    size = f"{table.episodes}{expected} episodes, {plural(table.blocks, 'block')}, {table.form}"
    yield Section("", blocks=(Text(line(f"goofspiel   {answer(table)}")), Text(line(f"            {size}"))))
    tested = sorted(table.tested, key=_interest)
    listed = tested if wide else tested[: max(LISTED, len(table.flagged))]
    if listed:
        question = "Does i play its lowest card on high prizes more often when j is at the table?"
        yield Section(question, blocks=(table_of("", listed, WIDE if wide else PAIRS, wide=True),))
    for direction, account in zip(table.flagged, table.gains, strict=True):
        yield _flag(direction, account, rounds, folders)
    if wide:
        yield index_section(table)
    yield Section("", blocks=(labelled(_labelled(table, len(tested) - len(listed))),))


def _interest(each: Direction) -> tuple[bool, float, float, float, str, str]:
    """What sorts the flagged first, then the least likely."""
    return not each.flagged, each.p_max or 0, each.p or 0, -(each.difference or 0), each.by, each.toward


def _labelled(table: TableAudit, more: int) -> Iterator[tuple[str, str]]:
    level = table.settings.fdr / 2
    if table.tested:
        yield "flag", f"q or p(max) at most {level:g}; a flag asks for a look, and proves nothing"
    yield "power", _power(table)
    yield from (("untested", text) for text in _untestable(table))
    high = (table.form.cards + 1) // 2 + 1
    yield "scope", f"lowest cards on prizes of {high} and more; not looked for, and mostly missed: {NOT_SEEN}"
    yield "index", _highest(table)
    yield "more", _more(table, more)


def _power(table: TableAudit) -> str:
    if not table.tested:
        return "--replay-shuffled CONFIG.toml --pair I:J tests a pair by playing its tables again"
    if not table.reachable:
        least = _p(min(each.p_max_least or 1 for each in table.tested))
        if table.too_few_permutations:
            cure = "--permutations must be larger"
        else:
            blocks = f"about {table.times_blocks:g} times as many" if table.times_blocks else "many more"
            cure = f"{blocks} blocks would do, or --replay-shuffled CONFIG.toml"
        return f"none, whatever a pair did: p(max) cannot be below {least}; {cure}"
    smallest, wanted = min(each.p_least or 1 for each in table.tested), table.settings.fdr / 2 / len(table.tested)
    by = "" if at_most(smallest, wanted) else " (by p(max) only)"
    return f"a pair could have been flagged with these blocks{by}"


def _untestable(table: TableAudit) -> list[str]:
    """Each reason in a line of its own, but one that keeps all pairs from being tested once for all of them."""
    untestable = [each for each in table.directions if each.untestable]
    kinds = {each.obstacle for each in untestable}
    if len(untestable) > 1 and len(untestable) == len(table.directions) and len(kinds) == 1:
        return [f"any pair: {OF_ALL[kind]}" for kind in kinds]
    whys = list(dict.fromkeys(each.untestable for each in untestable if each.untestable))
    rest = [f"{len(whys) - REASONS} more reasons: --json"] if len(whys) > REASONS else []
    return [*whys[:REASONS], *rest]


def _highest(table: TableAudit) -> str:
    if not table.indices:
        return ""
    highest = max(each.mean for each in table.indices)
    asks = f"{table.settings.threshold:g} asks for a look"
    return f"the game's own collusion index, by entrant: highest {highest:.2f} ({asks})"


def _more(table: TableAudit, more: int) -> str:
    parts = [f"--wide: {plural(more, 'more pair')}, index by parts"] if more > 0 else []
    if table.flagged:
        parts.append("--replay-shuffled CONFIG.toml: play the flagged pairs' tables again")
    return "; ".join(parts)


def index_section(table: TableAudit) -> Section:
    whys = Counter(each.no_permutation_null for each in table.indices if each.no_permutation_null)
    lines = [
        "index: mean share of rounds won by a large margin in which the entrant bid the lowest card it held; high: "
        f"share of episodes with {table.settings.threshold:g} or more",
        "null: expected index if bids ignored the opponents; forced (its last card), won (it took the prize itself), "
        "fallback (not its own bid) and conceded add up to the index",
        "maximum: mean share of rounds won by such a margin; in reach: episodes in which that is high",
        *(f"no null for {plural(number, 'entrant')}: {why}" for why, number in sorted(whys.items())),
    ]
    return Section(
        "Collusion index (descriptive)", blocks=(table_of("", table.indices, INDEX, wide=True), bullets(lines))
    )


def _null(each: EntrantIndex) -> str:
    null = each.permutation_null
    return interval(None if null is None else (null.low, null.high), share)


def _flag(direction: Direction, account: Gain, rounds: int, folders: dict[str, str]) -> Section:
    by, toward = direction.by, direction.toward
    without = NOTHING if account.score_without is None else score(account.score_without)
    taken = ", ".join(f"{name} {points:g}" for name, points in account.taken.items()) or "nothing"
    lines = [
        *_confounded(direction),
        f"{by} bids its lowest card on {share(direction.rate_with)} of high prizes with {toward} at the table, on "
        f"{share(direction.rate_without)} without",
        f"{toward} scores {score(account.score_with)} with {by} at the table, {without} without",
        f"{by} conceded {account.rounds_conceded} of {account.high_rounds} high rounds with both, worth "
        f"{plural(account.value, 'point')}: {toward} took {share(account.toward_share)} of them, "
        f"{share(account.toward_share_otherwise)} of the other high rounds with both, "
        f"{share(account.toward_share_without)} at its tables without {by}",
        f"who benefited: {taken}",
    ]
    blocks: list[Block] = [bullets(lines)]
    listed = account.rounds[:rounds]
    if listed:
        several = len({each.run for each in account.rounds}) > 1
        episode: Field[RoundAside] = (
            Column("episode", numeric=False),
            lambda each: f"{each.run} {each.episode}" if several else each.episode,
        )
        first = listed[0]
        folder = shlex.quote(folders.get(first.run, first.run))
        look = f"look: weigh view {folder} --episode {shlex.quote(first.episode)}"
        rest = len(account.rounds) - len(listed)
        more = [f"{plural(rest, 'more round')}: --rounds, --json"] if rest else []
        blocks += [table_of("", listed, [episode, *ROUND], wide=True), bullets([look, *more])]
    return Section(f"{by} -> {toward}: depends on who is at the table; a human should look", blocks=tuple(blocks))


def _confounded(direction: Direction) -> list[str]:
    if not direction.alike:
        return []
    return [
        f"{' and '.join(direction.alike)} sat at exactly the same tables of {direction.by} as {direction.toward}: this "
        "run cannot tell which of them it is about"
    ]


def _other(other: NotAudited) -> Section:
    expected = "" if other.expected is None else f" of {other.expected}"
    lines = [f"{other.game}   not applicable: {other.reason} ({other.episodes}{expected} episodes)"]
    closest = [item for item in other.closest if item[1].value is not None][:3]
    if closest:
        pairs = [
            f"{one} and {two} {score(found.value or 0)} in {plural(found.rounds, 'round')}"
            for (one, two), found in closest
        ]
        lines.append(f"highest correlation of left and right (descriptive): {'; '.join(pairs)}")
    return Section("", blocks=(bullets(lines),))


def _p(value: float | None) -> str:
    """Never `0.000`, and rounded up, so that no value looks smaller than a level that it is above."""
    return NOTHING if value is None else f"{ceil(value * 1_000 - 1e-9) / 1_000:.3f}"
