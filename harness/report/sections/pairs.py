"""Who beats whom, and who concedes to whom, as matrices with their numbers.

Owns the matrices and the lines below them. Computes nothing: `harness.results.ranking.matchups` and
`harness.audit.collusion` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from weigh.harness.audit.collusion.audit import Audit, TableAudit
from weigh.harness.audit.collusion.directed import Direction
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Cell,
    Column,
    Section,
    Table,
    Text,
    Word,
    bullets,
    cells,
    line,
)
from weigh.harness.report.render.html import tone
from weigh.harness.report.sections.audit import answer, index_section, sections
from weigh.harness.results.ranking.matchups import Pair, PairBoard, Ticket
from weigh.harness.stats.power import LEVEL
from weigh.harness.words import interval, plural, share, shown

LEGIBLE = 14
"""Entrants up to which a page has the whole matrix."""

PART = 10
"""Entrants of a larger field that a page shows."""

ITSELF = "\N{MIDDLE DOT}"
SURE = "*"
GUARANTEED = "**"
NOT_RANKED = "#"
LOOK = "!"
ROUNDS = 5
"""Rounds listed of each flagged pair; `weigh audit` lists more."""

NAMED = 3
"""Pairs that a line names before it counts the rest."""


def pair_sections(boards: Sequence[PairBoard]) -> list[Section]:
    """For a terminal or Markdown: the whole matrices of each game, what there is to say of them, and the lottery."""
    made = []
    for board in boards:
        title = f"{board.game}: who beats whom"
        if not board.entrants:
            made.append(Section(title, blocks=(bullets(["no scored episode"]),)))
            continue
        blocks = (*_matrices(board, board.entrants), bullets(_notes(board)), *_lottery(board))
        made.append(Section(title, blocks=blocks))
    return made


def pair_section(board: PairBoard, anchor: str) -> Section:
    """For a report: the same with colours, and the first part of a field too large for a page."""
    if not board.pairs:
        return Section("Who beats whom", anchor, (Text(line("No pair has a scored episode."), "quiet"),))
    names = board.entrants if len(board.entrants) <= LEGIBLE else board.entrants[:PART]
    differences, won = _matrices(board, names)
    left = len(board.entrants) - len(names)
    told = (
        f"The first {len(names)} of {len(board.entrants)} entrants stand here; {left} are left out. --json has all. "
        if left
        else ""
    )
    told += (
        f"Row's mean score less the column's, where both sat; blue and +: more, orange and -: less. {SURE}: see below."
    )
    blocks = (differences, Text(line(told), "quiet"), won, bullets(_notes(board)), *_lottery(board))
    return Section("Who beats whom", anchor, blocks)


def _matrices(board: PairBoard, names: Sequence[str]) -> tuple[Table, Table]:
    values = {(pair.entrant, pair.opponent): pair for pair in board.pairs}
    most = max((abs(pair.difference) for pair in board.pairs), default=0.0)

    def difference(pair: Pair) -> Cell:
        text = f"{pair.difference:+.2f}" if abs(pair.difference) >= 0.005 else "0.00"
        return Cell(
            text + (GUARANTEED if pair.guaranteed else SURE if _sure(pair) else ""), tone=tone(pair.difference, most)
        )

    def won(pair: Pair) -> Cell:
        return Cell(f"{pair.win_share:.0%}", tone=tone(pair.win_share - 0.5, 0.5))

    return (
        _matrix(
            f"{board.game}: mean score of the row less that of the column", board.unranked, names, values, difference
        ),
        _matrix(
            f"{board.game}: share of episodes in which the row scored more than the column, a tie counting half",
            board.unranked,
            names,
            values,
            won,
        ),
    )


def _sure(pair: Pair) -> bool:
    return pair.interval is not None and not pair.interval.low <= 0 <= pair.interval.high


def _matrix(
    caption: str,
    unranked: Mapping[str, str],
    shown: Sequence[str],
    values: Mapping[tuple[str, str], Pair],
    cell: Callable[[Pair], Cell],
) -> Table:
    def label(name: str) -> str:
        return name + (f" {NOT_RANKED}" if name in unranked else "")

    rows = tuple(
        (
            Cell(label(one)),
            *(_at(one, other, values.get((one, other)), cell) for other in shown),
        )
        for one in shown
    )
    columns = (Column("", numeric=False), *(Column(label(name)) for name in shown))
    return Table(caption, columns, rows, wide=True, matrix=True)


def _at(one: str, other: str, pair: Pair | None, cell: Callable[[Pair], Cell]) -> Cell:
    if one == other:
        return Cell(ITSELF, tone="itself")
    return Cell(NOTHING) if pair is None else cell(pair)


def _notes(board: PairBoard) -> list[str]:
    lines = [f"{NOT_RANKED} not ranked: {shown(name)}: {reason}" for name, reason in board.unranked.items()]
    if board.pairs:
        episodes = _range([pair.episodes for pair in board.pairs], "episode")
        blocks = _range([pair.blocks for pair in board.pairs], "block")
        lines.append(
            f"met: each pair in {episodes}, {blocks}; {SURE} significant at 5%, barring rare failures; {GUARANTEED} "
            "significant for any bounded scores"
        )
    if board.never_met:
        lines.append(f"never met: {_named(board.never_met)}")
    lines += [*_cyclic(board), *_triples(board)]
    if board.lottery is None and len(board.entrants) - len(board.unranked) >= 2:
        lines.append("no maximal lottery: ranked entrants never met, and what they would do is not made up")
    return lines


def _range(counts: Sequence[int], what: str) -> str:
    low, high = min(counts), max(counts)
    return plural(low, what) if low == high else f"{low} to {plural(high, what)}"


def _named(pairs: Sequence[tuple[str, str]]) -> str:
    first = ", ".join(f"{shown(one)} and {shown(other)}" for one, other in pairs[:NAMED])
    return first if len(pairs) <= NAMED else f"{first}, and {plural(len(pairs) - NAMED, 'further pair')}"


def _cyclic(board: PairBoard) -> list[str]:
    found = board.intransitivity
    if board.one_table and board.triples:
        return ["intransitivity: none; with all ranked entrants at every table mean differences add up by construction"]
    if found is None:
        return []
    line = f"intransitivity {share(found.share)}: of the mean differences, what no number per entrant can give"
    if found.expected is None or found.p_value is None:
        return [f"{line}; each pair met in one block, so noise cannot be told apart from circles"]
    lines = [f"{line}; {share(found.expected)} expected by chance (p {_p(found.p_value)})"]
    if found.p_value <= LEVEL and not board.intransitive_triples:
        lines.append("note: no circle is in it: differences do not add up, as where no win can be larger than another")
    return lines


def _triples(board: PairBoard) -> list[str]:
    if not board.triples:
        return []
    seen = f"circles: {board.intransitive_triples} of {plural(board.triples, 'triple')} by win share"
    if board.intransitive_triple is None:
        return [f"{seen}; none is sure"]
    found = board.intransitive_triple
    way = " > ".join(shown(entrant) for entrant in (*found.entrants, found.entrants[0]))
    shares = ", ".join(f"{each:.0%}" for each in found.win_shares)
    return [f"{seen}; sure: {way} (win shares {shares}; corrected p {_p(found.p_value)})"]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _lottery(board: PairBoard) -> Iterator[Block]:
    if board.lottery is None:
        return
    columns = (
        Column("entrant", numeric=False, name=True),
        Column("probability"),
        Column("95% interval"),
        Column("in support"),
    )
    caption = f"{board.game}: maximal lottery: the mixture of entrants that none of them beats"
    yield Table(caption, columns, cells(map(_ticket, board.lottery)), wide=True)
    notes = ["note: a description, not a rank; the mean decides"]
    if all(ticket.interval is None for ticket in board.lottery):
        notes.insert(0, "no interval: some pairs met in fewer than five blocks")
    yield bullets(notes)


def _ticket(ticket: Ticket) -> tuple[str, ...]:
    ends = None if ticket.interval is None else (ticket.interval.low, ticket.interval.high)
    return (
        ticket.entrant,
        share(ticket.probability),
        interval(ends, share),
        share(ticket.support),
    )


def collusion_section(audit: Audit, game: str, anchor: str) -> Section:
    """What `weigh audit` found in one game; that it does not apply, where it does not."""
    blocks: list[Block] = []
    for table in audit.tables if game == "goofspiel" else ():
        told = answer(table)
        reason = "; a flag asks for a look, and proves nothing" if table.flagged else ""
        blocks.append(Text(line(Word(told[:1].upper() + told[1:], "strong"), f", at {table.form}{reason}."), "verdict"))
        blocks += _aside(table)
        blocks += _below([*sections(Audit(audit.settings, (table,), ()), ROUNDS)[1:], index_section(table)])
    for other in audit.others:
        if other.game == game:
            blocks += _below(sections(Audit(audit.settings, (), (other,)), ROUNDS))
    return Section("Collusion audit", anchor, tuple(blocks) or (Text(line("Not applicable."), "quiet"),))


def _below(found: Sequence[Section]) -> Iterator[Block]:
    """The blocks of an audit's sections; their titles become captions, for the heading is the report's own."""
    for section in found:
        first, *rest = section.blocks
        if section.title and isinstance(first, Table):
            yield replace(first, caption=section.title)
        else:
            yield from (Text(line(section.title)), first) if section.title else (first,)
        yield from rest


def _aside(table: TableAudit) -> Iterator[Block]:
    known = {(each.by, each.toward): each for each in table.directions if each.difference is not None}
    if not known:
        return
    names = sorted({name for pair in known for name in pair})
    most = max(0.1, *(abs(each.difference or 0.0) for each in known.values()))
    shown = _first(names, table.flagged)
    rows = tuple((Cell(by), *(_effect(by, to, known.get((by, to)), most) for to in shown)) for by in shown)
    caption = "How much more often the row concedes high prizes when the column is at the table"
    yield Table(caption, (Column("", numeric=False), *(Column(name) for name in shown)), rows, wide=True, matrix=True)
    less = f" {len(names) - len(shown)} entrants are left out; --json has all." if len(names) > len(shown) else ""
    yield Text(
        line(
            f"Difference of shares, from -1 to +1. {LOOK}: flagged, look at it; in brackets: it could not be "
            f"tested.{less}"
        ),
        "quiet",
    )


def _first(names: Sequence[str], flagged: Sequence[Direction]) -> list[str]:
    """The names that a legible matrix has room for: those in flagged pairs before others."""
    wanted = dict.fromkeys([*(name for each in flagged for name in (each.by, each.toward)), *names])
    return sorted(islice(wanted, LEGIBLE if len(names) <= LEGIBLE else PART))


def _effect(by: str, toward: str, found: Direction | None, most: float) -> Cell:
    if by == toward:
        return Cell(ITSELF, tone="itself")
    if found is None or found.difference is None:
        return Cell(NOTHING)
    text = f"{found.difference:+.2f}" if abs(found.difference) >= 0.005 else "0.00"
    if found.untestable is not None:
        return Cell(f"({text})")
    shade = tone(found.difference, most)
    return Cell(f"{text}{LOOK}", tone=f"{shade} flagged") if found.flagged else Cell(text, tone=shade)
