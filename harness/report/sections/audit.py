"""What an audit says to people, as sections of tables and lines.

Owns the words, the choice of rows and the numbers' forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from types import MappingProxyType

from weigh.games.legal import OVERBID
from weigh.harness.audit.collusion.audit import Audit, NotAudited, TableAudit
from weigh.harness.audit.collusion.directed import FEWEST_BLOCKS, Direction, Obstacle
from weigh.harness.audit.collusion.gains import Gain, RoundAside
from weigh.harness.audit.collusion.literal_index import EntrantIndex
from weigh.harness.report.render.document import NOTHING, Block, Column, Section, Table, bullets, cells
from weigh.harness.stats.clustered import at_most
from weigh.harness.words import interval, plural, score, share, shown

PARTS = ("forced", "won", "fallback", "aside")

OF_ALL: Mapping[Obstacle | None, str] = MappingProxyType(
    {
        "no_bid": "nobody made a bid of its own that counts",
        "never": "no two sat at one table",
        "always": "everybody sat at every table, so nothing tells what anybody does without anybody else",
        "few_blocks": f"nobody has as many as {FEWEST_BLOCKS} blocks, which are the least",
        "one_block": "every two sat together, or apart, in one block only",
    }
)
"""Why no pair can be tested, where it is the same for all."""

LISTED = 10
"""Pairs that are listed beside the flagged, and reasons why pairs cannot be tested."""


def sections(audit: Audit, rounds: int) -> list[Section]:
    """A section a game; at most `rounds` rounds of each flagged pair are listed."""
    return [*(_table(table, rounds) for table in audit.tables), *map(_other, audit.others)]


def _table(table: TableAudit, rounds: int) -> Section:
    expected = "" if table.expected is None else f" of {table.expected}"
    return Section(
        f"goofspiel at {table.form}: {table.episodes}{expected} episodes, {plural(table.blocks, 'block')}",
        parts=(
            _index(table),
            _directions(table),
            *(_flag(direction, account, rounds) for direction, account in zip(table.flagged, table.gains, strict=True)),
        ),
    )


def _made(titles: Sequence[str], rows: Iterable[Sequence[str]], names: int, gives_up: Sequence[str]) -> Table:
    """A table whose first `names` columns hold text; a narrow terminal `gives_up` columns, the first first."""
    columns = tuple(
        Column(title, numeric=n >= names, goes=gives_up.index(title) + 1 if title in gives_up else 0)
        for n, title in enumerate(titles)
    )
    return Table("", columns, cells(rows), wide=True)


def _index(table: TableAudit) -> Section:
    threshold = table.settings.threshold
    rows = _made(
        ("entrant", "n", "index", f">={threshold:g}", "null", "null 95%", *PARTS, "ceiling", "in reach"),
        map(_index_row, table.indices),
        names=1,
        gives_up=("fallback", "in reach", "won", "null", "forced", "aside", "ceiling"),
    )
    lines = bullets(
        (
            f"index: mean share of rounds with a margin of {OVERBID} or more in which it bid the lowest card it held; "
            f">={threshold:g}: share of episodes at the threshold, from which a human should look",
            "null: what it would be if what it pays for a prize had nothing to do with who is there and what they do",
            "forced (its last card), won (it took the prize itself), fallback (not its own bid) and aside add up to it",
            f"ceiling: mean share of rounds with such a margin at all; in reach: share of episodes in which that is "
            f">={threshold:g}, so that anybody could reach the threshold",
            *_no_null(table.indices),
        )
    )
    return Section("Collusion index, to the letter: it describes, and tests nothing", blocks=(rows, lines))


def _index_row(each: EntrantIndex) -> tuple[str, ...]:
    parts, null = each.parts, each.null
    return (
        shown(each.entrant),
        str(each.episodes),
        share(each.mean),
        share(each.high_share),
        share(None if null is None else null.mean),
        interval(None if null is None else (null.low, null.high), share),
        *(share(part) for part in (parts.forced, parts.won, parts.fallback, parts.aside)),
        share(each.ceiling),
        share(each.within_reach),
    )


def _no_null(indices: Sequence[EntrantIndex]) -> list[str]:
    whys = Counter(each.no_null for each in indices if each.no_null)
    return [f"no null for {plural(number, 'entrant')}: {why}" for why, number in sorted(whys.items())]


def _directions(table: TableAudit) -> Section:
    high = (table.form.cards + 1) // 2 + 1
    blocks: list[Block] = []
    tested = sorted(table.tested, key=_interest)
    listed = tested[: max(LISTED, len(table.flagged))]
    if listed:
        titles = ("entrant", "toward", "flag", "with", "without", "difference", "blocks", "p", "q", "p(league)")
        gives_up = ("blocks", "p", "without", "with")
        blocks.append(_made(titles, map(_direction_row, listed), names=3, gives_up=gives_up))
    lines = [
        f"with, without: share of the prizes of {high} or more, while it had a choice of cards, for which the entrant "
        "bid its lowest card, with the other at the table and in its other episodes",
    ]
    if len(tested) > len(listed):
        lines.append(f"{len(tested) - len(listed)} more pairs were tested and not flagged; --json has them all")
    lines += _untestable(table)
    lines += _verdict(table)
    blocks.append(bullets(lines))
    return Section("Who stands aside for whom: does it depend on who is at the table?", blocks=tuple(blocks))


def _interest(each: Direction) -> tuple[bool, float, float, float, str, str]:
    """What sorts the flagged first, then the least likely."""
    return not each.flagged, each.p_league or 0, each.p or 0, -(each.difference or 0), each.by, each.toward


def _direction_row(each: Direction) -> tuple[str, ...]:
    return (
        shown(each.by),
        shown(each.toward),
        "look" if each.flagged else NOTHING,
        share(each.rate_with),
        share(each.rate_without),
        NOTHING if each.difference is None else f"{each.difference:+.1%}",
        f"{each.blocks_with}/{each.blocks_without}",
        _p(each.p),
        _p(each.q),
        _p(each.p_league),
    )


def _untestable(table: TableAudit) -> list[str]:
    """Each reason in a line of its own, but one that keeps all pairs from being tested once for all of them."""
    untestable = [each for each in table.directions if each.untestable]
    kinds = {each.obstacle for each in untestable}
    if len(untestable) > 1 and len(untestable) == len(table.directions) and len(kinds) == 1:
        return [f"cannot be tested, any pair: {OF_ALL[kind]}" for kind in kinds]
    whys = dict.fromkeys(each.untestable for each in untestable if each.untestable)
    lines = [f"cannot be tested: {shown(why)}" for why in list(whys)[:LISTED]]
    if len(whys) > LISTED:
        lines.append(f"{len(whys) - LISTED} more reasons; --json says of each pair why it cannot be tested")
    return lines


def _verdict(table: TableAudit) -> list[str]:
    settings = table.settings
    if not table.tested:
        return [
            "no pair could be tested: nothing is known of who stands aside for whom; --replay-shuffled CONFIG.toml "
            "--pair I:J tests one by playing its tables again"
        ]
    least = min(each.p_league_least or 1 for each in table.tested)
    lines = []
    if not table.reachable:
        lines.append(
            f"no single pair could be flagged, whatever it did: the smallest p(league) in reach is {_p(least)}, and "
            f"{settings.fdr / 2:g} is called for; {_cure(table)}"
        )
    smallest, wanted = min(each.p_least or 1 for each in table.tested), settings.fdr / 2 / len(table.tested)
    if table.reachable and not at_most(smallest, wanted):
        lines.append(
            f"q can flag no single pair with so few blocks (the smallest p in reach is {smallest:.2g}, and one of "
            f"{plural(len(table.tested), 'pair')} alone needs {wanted:.2g}): p(league) decides"
        )
    flagged = plural(len(table.flagged), "pair")
    verb = "is" if len(table.flagged) == 1 else "are"
    lines.append(
        f"{flagged} of {len(table.tested)} {verb} flagged: q or p(league) at most {settings.fdr / 2:g}, so that in the "
        f"long run about {settings.fdr:.0%} of flags, or fewer, are on pairs where nothing depends on who is there"
    )
    return lines


def _cure(table: TableAudit) -> str:
    if table.too_few_permutations:
        return "--permutations must be larger"
    blocks = f"about {table.times_blocks:g} times as many" if table.times_blocks else "many more"
    return f"{blocks} blocks would do, or --replay-shuffled CONFIG.toml"


def _flag(direction: Direction, account: Gain, rounds: int) -> Section:
    by, toward = shown(direction.by), shown(direction.toward)
    without = NOTHING if account.score_without is None else score(account.score_without)
    taken = [f"{shown(name)} {points:g}" for name, points in account.taken.items()]
    told = bullets(
        (
            *_confounded(direction),
            f"{by} bids its lowest card for {share(direction.rate_with)} of high prizes with {toward} there, "
            f"for {share(direction.rate_without)} without",
            f"{toward} scores {score(account.score_with)} with {by} at the table, {without} without",
            f"{by} stood aside in {account.rounds_aside} of {account.high_rounds} high rounds with both, worth "
            f"{plural(account.value, 'point')}: {toward} took {share(account.toward_share)} of them, against "
            f"{share(account.toward_share_otherwise)} in the other high rounds with both and "
            f"{share(account.toward_share_without)} at its tables without {by}",
            f"taken: {', '.join(taken)}" if taken else "taken: nothing",
        )
    )
    blocks: list[Block] = [told]
    listed = account.rounds[:rounds]
    if listed:
        several = len({each.run for each in account.rounds}) > 1
        titles = ("episode", "taken by", "round", "prize", "bid", "lowest", "held", "margin")
        rows = (_round_row(each, several) for each in listed)
        blocks.append(_made(titles, rows, names=2, gives_up=("lowest", "margin", "held")))
    if len(account.rounds) > len(listed):
        blocks.append(bullets([f"{len(account.rounds) - len(listed)} more rounds; --rounds shows more, --json all"]))
    return Section(f"{by} toward {toward}: depends on who is at the table; a human should look", blocks=tuple(blocks))


def _confounded(direction: Direction) -> list[str]:
    if not direction.alike:
        return []
    others = " and ".join(map(shown, direction.alike))
    return [
        f"{others} sat at exactly the same tables of {shown(direction.by)} as {shown(direction.toward)}: "
        "whom of them it is about, this run cannot tell"
    ]


def _round_row(each: RoundAside, several: bool) -> tuple[str, ...]:
    where = f"{each.run} {each.episode}" if several else each.episode
    numbers = (each.round, each.prize, each.bid, each.lowest, each.held, each.margin)
    return (shown(where), ", ".join(map(shown, each.winners)), *map(str, numbers))


def _other(other: NotAudited) -> Section:
    expected = "" if other.expected is None else f" of {other.expected}"
    lines = [f"not applicable: {shown(other.game)}: {other.reason}"]
    closest = [item for item in other.closest if item[1].value is not None][:3]
    if closest:
        pairs = [
            f"{shown(one)} and {shown(two)} {score(found.value or 0)} in {plural(found.rounds, 'round')}"
            for (one, two), found in closest
        ]
        lines.append(f"whose left and right go together most (it describes, and tests nothing): {'; '.join(pairs)}")
    return Section(f"{shown(other.game)}: {other.episodes}{expected} episodes", blocks=(bullets(lines),))


def _p(value: float | None) -> str:
    """Never `0.0000`, and rounded up, so that no value looks smaller than a level that it is above."""
    return NOTHING if value is None else f"{ceil(value * 10_000 - 1e-9) / 10_000:.4f}"
