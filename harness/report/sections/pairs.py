"""Who beats whom, and who stands aside for whom, as heat maps with their numbers.

Owns the two matrices. Each number stands in its cell; where a field is too large for that, the whole is drawn without
numbers and the first of it stands below with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from weigh.harness.audit.collusion.audit import Audit, TableAudit
from weigh.harness.audit.collusion.directed import Direction
from weigh.harness.report.render.charts import squares
from weigh.harness.report.render.document import NOTHING, Block, Cell, Column, Drawing, Section, Table, Text, Word, line
from weigh.harness.report.render.html import tone
from weigh.harness.report.sections.audit import Heading, sections
from weigh.harness.report.sections.convert import audit_blocks, notes, sheet_blocks
from weigh.harness.report.sections.pair_sheets import NOT_RANKED, SURE, whole_pair_sheets
from weigh.harness.results.ranking.matchups import Pair, PairBoard
from weigh.harness.words import plural

LEGIBLE = 14
"""Entrants up to which every cell has its number."""

PART = 10
"""Entrants of a larger field that are shown with numbers."""

ITSELF = "\N{MIDDLE DOT}"
LOOK = "!"
ROUNDS = 5
"""Rounds listed of each flagged pair; `weigh audit` lists more."""


def pair_section(board: PairBoard, anchor: str) -> Section:
    """Differences of every pair, and what one number per entrant hides of them."""
    if not board.pairs:
        return Section("Who beats whom", anchor, (Text(line("No pair has a scored episode."), "quiet"),))
    values = {(pair.entrant, pair.opponent): pair for pair in board.pairs}
    names = board.entrants
    most = max(abs(pair.difference) for pair in board.pairs)
    sheets = whole_pair_sheets([board])
    blocks: list[Block] = []
    if len(names) > LEGIBLE:
        at = {name: n for n, name in enumerate(names)}
        drawn = {(at[one], at[other]): pair.difference for (one, other), pair in values.items()}
        sure = frozenset((at[one], at[other]) for (one, other), pair in values.items() if _sure(pair))
        words = f"{board.game}: mean score of each of {len(names)} entrants less that of each other, as a heat map"
        caption = "Row against column: blue scores more, orange less; a dot: the 95 % interval is without 0."
        blocks.append(Drawing(squares(names, drawn, most, words, sure), caption))
    shown = names if len(names) <= LEGIBLE else names[:PART]
    blocks.append(_differences(board, shown, values, most))
    if len(names) > len(shown):
        left = len(names) - len(shown)
        blocks.append(
            Text(
                line(
                    f"The first {len(shown)} of {len(names)} entrants stand here; {left} are left out. --json has all."
                ),
                "quiet",
            )
        )
    blocks.append(
        Text(
            line(
                "Row's mean score less the column's, where both sat; blue and +: more, orange and -: less. "
                f"{SURE}: see below."
            ),
            "quiet",
        )
    )
    blocks.append(_won(board, shown, values))
    blocks.append(notes(sheets[1].notes))
    for sheet in sheets[2:]:
        blocks += sheet_blocks(sheet, f"{board.game}: {sheet.heading}")
    return Section("Who beats whom", anchor, tuple(blocks))


def _sure(pair: Pair) -> bool:
    return pair.interval is not None and not pair.interval.low <= 0 <= pair.interval.high


def _differences(board: PairBoard, shown: Sequence[str], values: Mapping[tuple[str, str], Pair], most: float) -> Table:
    def cell(pair: Pair) -> Cell:
        text = f"{pair.difference:+.2f}" if abs(pair.difference) >= 0.005 else "0.00"
        return Cell(text + (SURE if _sure(pair) else ""), tone=tone(pair.difference, most))

    return _matrix(f"{board.game}: mean score of the row less that of the column", board.unranked, shown, values, cell)


def _won(board: PairBoard, shown: Sequence[str], values: Mapping[tuple[str, str], Pair]) -> Table:
    def cell(pair: Pair) -> Cell:
        return Cell(f"{pair.win_share:.0%}", tone=tone(pair.win_share - 0.5, 0.5))

    caption = f"{board.game}: share of episodes in which the row scored more than the column, a tie counting half"
    return _matrix(caption, board.unranked, shown, values, cell)


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


def collusion_section(audit: Audit, game: str, anchor: str) -> Section:
    """What `weigh audit` found in one game; that it does not apply, where it does not."""
    blocks: list[Block] = []
    for table in audit.tables if game == "goofspiel" else ():
        flagged = plural(len(table.flagged), "pair")
        verb = "is" if len(table.flagged) == 1 else "are"
        told = f"{flagged} of {len(table.tested)} {verb} flagged" if table.tested else "No pair could be tested"
        reason = "; a flag is a reason for a human to look, and no verdict" if table.flagged else ""
        if table.tested and not table.flagged and not table.reachable:
            reason = "; no single one could have been, so this is no sign that all is well"
        blocks.append(Text(line(Word(told, "strong"), f" at tables of {table.form}{reason}."), "verdict"))
        blocks += _aside(table)
        # Its first heading says what the section's own does.
        parts = list(islice(sections(Audit(audit.settings, (table,), ()), ROUNDS), 1, None))
        blocks += audit_blocks([part for part in parts if not isinstance(part, Heading) or part.level > 1])
    for other in audit.others:
        if other.game == game:
            for part in sections(Audit(audit.settings, (), (other,)), ROUNDS):
                blocks += audit_blocks([part]) if not isinstance(part, Heading) else ()
    return Section("Collusion audit", anchor, tuple(blocks) or (Text(line("Not applicable."), "quiet"),))


def _aside(table: TableAudit) -> Iterator[Block]:
    known = {(each.by, each.toward): each for each in table.directions if each.difference is not None}
    if not known:
        return
    names = sorted({name for pair in known for name in pair})
    most = max(0.1, *(abs(each.difference or 0.0) for each in known.values()))
    if len(names) > LEGIBLE:
        at = {name: n for n, name in enumerate(names)}
        drawn = {(at[by], at[to]): each.difference or 0.0 for (by, to), each in known.items()}
        marked = frozenset((at[each.by], at[each.toward]) for each in table.flagged)
        words = f"how much more often each of {len(names)} entrants stands aside with each other at the table"
        caption = "Row toward column: blue stands aside more often when the other is there; a dot: flagged."
        yield Drawing(squares(names, drawn, most, words, marked), caption)
    shown = _first(names, table.flagged)
    rows = tuple((Cell(by), *(_effect(by, to, known.get((by, to)), most) for to in shown)) for by in shown)
    caption = "How much more often the row stands aside on high prizes when the column is at the table"
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
