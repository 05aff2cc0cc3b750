"""What an audit says to people, as headings, tables and lines.

Owns the words, the choice of rows and the numbers' forms. `audit_forms` writes them as plain text or Markdown. Names
are other people's text and are made harmless here.

The sections of an audit as plain lines and as Markdown.

Owns the outer forms. Nothing is said by colour alone. A narrow terminal gets fewer columns, a pipe gets all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from textwrap import wrap
from types import MappingProxyType

from weigh.games.legal import OVERBID
from weigh.harness.audit.collusion.audit import Audit, NotAudited, TableAudit
from weigh.harness.audit.collusion.directed import FEWEST_BLOCKS, Direction, Obstacle
from weigh.harness.audit.collusion.gains import Gain, RoundAside
from weigh.harness.audit.collusion.literal_index import EntrantIndex
from weigh.harness.report.render.aligned import aligned, widths_of
from weigh.harness.report.render.markdown import harmless, list_lines, table_lines
from weigh.harness.report.sections.table_columns import GAP, NOTHING
from weigh.harness.stats.clustered import at_most
from weigh.harness.words import plural, score, shown


def plain_lines(parts: Iterable[Section], width: int | None = None) -> list[str]:
    """For a terminal of `width` columns, or for a pipe. Sentences are wrapped, tables give up columns."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Heading):
            if lines:
                lines.append("")
            lines += _wrapped(part.text, width)
        elif isinstance(part, Lines):
            for text in part.texts:
                lines += _wrapped(text, width)
        else:
            lines += _aligned(part, width)
    return lines


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrap(text, width, subsequent_indent="  ")


def _aligned(table: Table, width: int | None) -> list[str]:
    rows = (table.columns, *table.rows)
    kept = _fitting(table, widths_of(rows), width)
    return aligned([[row[place] for place in kept] for row in rows], [place >= table.names for place in kept], GAP)


def _fitting(table: Table, widths: Sequence[int], width: int | None) -> list[int]:
    """The places of the columns that fit, as far as some are spare."""
    shown = list(range(len(table.columns)))
    for heading in table.spare if width is not None else ():
        if width is None or sum(widths[place] + GAP for place in shown) - GAP <= width:
            break
        shown.remove(table.columns.index(heading))
    return shown


def markdown(parts: Iterable[Section]) -> str:
    """For an issue or a README."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Heading):
            lines += ["#" * (part.level + 2) + f" {harmless(part.text)}", ""]
        elif isinstance(part, Lines):
            lines += [*list_lines(part.texts), ""]
        else:
            right = [place >= part.names for place in range(len(part.columns))]
            lines += [*table_lines(part.columns, part.rows, right), ""]
    return "\n".join(lines)


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


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Lines:
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    """How many columns, from the left, hold text; the others are numbers."""
    spare: tuple[str, ...] = ()
    """Columns that a narrow terminal gives up, the first first."""


Section = Heading | Lines | Table


def sections(audit: Audit, rounds: int) -> Iterator[Section]:
    """Everything, game by game; at most `rounds` rounds of each flagged pair are listed."""
    for table in audit.tables:
        yield from _table(table, rounds)
    for other in audit.others:
        yield from _other(other)


def _table(table: TableAudit, rounds: int) -> Iterator[Section]:
    expected = "" if table.expected is None else f" of {table.expected}"
    yield Heading(
        f"goofspiel at {table.form}: {table.episodes}{expected} episodes, {plural(table.blocks, 'block')}", level=1
    )
    yield from _index(table)
    yield from _directions(table)
    for direction, account in zip(table.flagged, table.gains, strict=True):
        yield from _flag(table, direction, account, rounds)


def _index(table: TableAudit) -> Iterator[Section]:
    threshold = table.settings.threshold
    yield Heading("Collusion index, to the letter: it describes, and tests nothing", level=2)
    yield Table(
        ("entrant", "n", "index", f">={threshold:g}", "null", "null 95%", *PARTS, "ceiling", "in reach"),
        tuple(_index_row(each) for each in table.indices),
        spare=("fallback", "in reach", "won", "null", "forced", "aside", "ceiling"),
    )
    yield Lines(
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


def _index_row(each: EntrantIndex) -> tuple[str, ...]:
    parts, null = each.parts, each.null
    return (
        shown(each.entrant),
        str(each.episodes),
        _rate(each.mean),
        _rate(each.high_share),
        _rate(None if null is None else null.mean),
        NOTHING if null is None else f"{null.low:.3f}..{null.high:.3f}",
        *(_rate(part) for part in (parts.forced, parts.won, parts.fallback, parts.aside)),
        _rate(each.ceiling),
        _rate(each.within_reach),
    )


def _no_null(indices: Sequence[EntrantIndex]) -> list[str]:
    whys = Counter(each.no_null for each in indices if each.no_null)
    return [f"no null for {plural(number, 'entrant')}: {why}" for why, number in sorted(whys.items())]


def _directions(table: TableAudit) -> Iterator[Section]:
    high = (table.form.cards + 1) // 2 + 1
    yield Heading("Who stands aside for whom: does it depend on who is at the table?", level=2)
    tested = sorted(table.tested, key=_interest)
    listed = tested[: max(LISTED, len(table.flagged))]
    if listed:
        yield Table(
            ("entrant", "toward", "flag", "with", "without", "difference", "blocks", "p", "q", "p(league)"),
            tuple(_direction_row(each) for each in listed),
            names=3,
            spare=("blocks", "p", "without", "with"),
        )
    lines = [
        f"with, without: share of the prizes of {high} or more, while it had a choice of cards, for which the entrant "
        "bid its lowest card, with the other at the table and in its other episodes",
    ]
    if len(tested) > len(listed):
        lines.append(f"{len(tested) - len(listed)} more pairs were tested and not flagged; --json has them all")
    lines += _untestable(table)
    lines += _verdict(table)
    yield Lines(tuple(lines))


def _interest(each: Direction) -> tuple[bool, float, float, float, str, str]:
    """What sorts the flagged first, then the least likely."""
    return not each.flagged, each.p_league or 0, each.p or 0, -(each.difference or 0), each.by, each.toward


def _direction_row(each: Direction) -> tuple[str, ...]:
    return (
        shown(each.by),
        shown(each.toward),
        "look" if each.flagged else NOTHING,
        _rate(each.rate_with),
        _rate(each.rate_without),
        NOTHING if each.difference is None else score(each.difference),
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


def _flag(table: TableAudit, direction: Direction, account: Gain, rounds: int) -> Iterator[Section]:
    by, toward = shown(direction.by), shown(direction.toward)
    yield Heading(f"{by} toward {toward}: depends on who is at the table; a human should look", level=2)
    without = NOTHING if account.score_without is None else score(account.score_without)
    taken = [f"{shown(name)} {points:g}" for name, points in account.taken.items()]
    yield Lines(
        (
            *_confounded(direction),
            f"{by} bids its lowest card for {_rate(direction.rate_with)} of high prizes with {toward} there, "
            f"for {_rate(direction.rate_without)} without",
            f"{toward} scores {score(account.score_with)} with {by} at the table, {without} without",
            f"{by} stood aside in {account.rounds_aside} of {account.high_rounds} high rounds with both, worth "
            f"{plural(account.value, 'point')}: {toward} took {_rate(account.toward_share)} of them, against "
            f"{_rate(account.toward_share_otherwise)} in the other high rounds with both and "
            f"{_rate(account.toward_share_without)} at its tables without {by}",
            f"taken: {', '.join(taken)}" if taken else "taken: nothing",
        )
    )
    listed = account.rounds[:rounds]
    if listed:
        several = len({each.run for each in account.rounds}) > 1
        yield Table(
            ("episode", "taken by", "round", "prize", "bid", "lowest", "held", "margin"),
            tuple(_round_row(each, several) for each in listed),
            names=2,
            spare=("lowest", "margin", "held"),
        )
    if len(account.rounds) > len(listed):
        yield Lines((f"{len(account.rounds) - len(listed)} more rounds; --rounds shows more, --json all",))


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


def _other(other: NotAudited) -> Iterator[Section]:
    expected = "" if other.expected is None else f" of {other.expected}"
    yield Heading(f"{shown(other.game)}: {other.episodes}{expected} episodes", level=1)
    lines = [f"not applicable: {shown(other.game)}: {other.reason}"]
    closest = [item for item in other.closest if item[1].value is not None][:3]
    if closest:
        pairs = [
            f"{shown(one)} and {shown(two)} {score(found.value or 0)} in {plural(found.rounds, 'round')}"
            for (one, two), found in closest
        ]
        lines.append(f"whose left and right go together most (it describes, and tests nothing): {'; '.join(pairs)}")
    yield Lines(tuple(lines))


def _rate(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    """Never `0.0000`, and rounded up, so that no value looks smaller than a level that it is above."""
    return NOTHING if value is None else f"{ceil(value * 10_000 - 1e-9) / 10_000:.4f}"
