"""Who beats whom, shown: the matrices, the cyclic share, the circle and the lottery.

Owns columns and wording. Computes nothing: `harness.results.ranking.matchups` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weigh.harness.report.render.aligned import width_of
from weigh.harness.report.render.sheets import Head, Sheet
from weigh.harness.report.sections.table_columns import NOTHING, SHORTEST_NAME, distinct, rate
from weigh.harness.results.ranking.matchups import Pair, PairBoard, Ticket
from weigh.harness.stats.power import LEVEL
from weigh.harness.words import plural, shown

NARROW = 80
"""Columns for which matrices are made where no terminal says otherwise: wider ones go on below."""

LONGEST_NAME = 20
"""Of a row of a matrix; where nothing is cut, names stay whole."""

ITSELF = "."
SURE = "*"
NOT_RANKED = "#"

NAMED = 3
"""Pairs that a line names before it counts the rest."""


def pair_sheets(boards: Sequence[PairBoard], width: int | None, encoding: str = "utf-8") -> list[Sheet]:
    """The tables of each game, matrices in as many parts as `width` (None: 80) asks for; None cuts no names."""
    return [sheet for board in boards for sheet in _sheets(board, width, encoding, split=True)]


def whole_pair_sheets(boards: Sequence[PairBoard]) -> list[Sheet]:
    """The same with each matrix in one piece, for Markdown."""
    return [sheet for board in boards for sheet in _sheets(board, None, "utf-8", split=False)]


def _sheets(board: PairBoard, width: int | None, encoding: str, split: bool) -> list[Sheet]:
    heading = f"{shown(board.game)}: who beats whom"
    if not board.entrants:
        return [Sheet(heading, notes=("no scored episode",))]
    plain = [shown(name, encoding) for name in board.entrants]
    room = max(map(width_of, plain)) if width is None else max(SHORTEST_NAME, min(LONGEST_NAME, width // 3))
    names = distinct(plain, room)
    at = (width or NARROW) if split else None
    known = {(pair.entrant, pair.opponent): pair for pair in board.pairs}
    sheets = [
        *_matrix(board, names, known, _difference, at, f"{heading}, mean score of the row less that of the column"),
        *_matrix(board, names, known, _won, at, "win share of the row against the column, ties counting half"),
    ]
    last = sheets[-1]
    sheets[-1] = Sheet(last.heading, last.columns, last.rows, tuple(_notes(board)), last.gap)
    return [*sheets, *_lottery(board, dict(zip(board.entrants, names, strict=True)))]


def letters(number: int) -> str:
    """a to z, then aa, ab ..."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def _difference(pair: Pair) -> str:
    sure = pair.interval is not None and not pair.interval.low <= 0 <= pair.interval.high
    text = f"{pair.difference:+.2f}"
    return (" 0.00" if float(text) == 0 else text) + (SURE if sure else " ")


def _won(pair: Pair) -> str:
    return f"{pair.win_share:.0%}"


def _matrix(
    board: PairBoard,
    names: Sequence[str],
    known: Mapping[tuple[str, str], Pair],
    cell: Callable[[Pair], str],
    width: int | None,
    heading: str,
) -> list[Sheet]:
    """The matrix, in parts that fit `width`."""
    entrants = board.entrants
    labels = [letters(n) + (NOT_RANKED if name in board.unranked else "") for n, name in enumerate(entrants)]
    cells = [[_at(known, one, other, cell) for other in entrants] for one in entrants]
    beside = max(map(width_of, labels)) + 1 + max(map(width_of, names))
    wide = 1 + max(len(text) for row in [labels, *cells] for text in row)
    at_once = len(entrants) if width is None else max(1, (width - beside) // wide)
    parts = []
    for start in range(0, len(entrants), at_once):
        shown_here = slice(start, start + at_once)
        heads = (Head("", right=False), Head("", right=False), *map(Head, labels[shown_here]))
        rows = tuple((label, name, *row[shown_here]) for label, name, row in zip(labels, names, cells, strict=True))
        parts.append(Sheet("" if start else heading, heads, rows, gap=1))
    return parts


def _at(known: Mapping[tuple[str, str], Pair], one: str, other: str, cell: Callable[[Pair], str]) -> str:
    if one == other:
        return ITSELF
    pair = known.get((one, other))
    return NOTHING if pair is None else cell(pair)


def _notes(board: PairBoard) -> list[str]:
    lines = [f"{NOT_RANKED} not ranked: {shown(name)}: {reason}" for name, reason in board.unranked.items()]
    if board.pairs:
        episodes = _range([pair.episodes for pair in board.pairs], "episode")
        blocks = _range([pair.blocks for pair in board.pairs], "block")
        lines.append(
            f"met: each pair in {episodes}, {blocks}; {SURE}: the 95 % interval of the difference is without 0"
        )
    if board.never_met:
        lines.append(f"never met: {_named(board.never_met)}")
    lines += [*_cyclic(board), *_circle(board)]
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
    found = board.cyclic
    if board.one_table and board.triples:
        return ["cyclic share: none; with all ranked entrants at every table mean differences add up by construction"]
    if found is None:
        return []
    line = f"cyclic share: {rate(found.share)} of the mean differences is what no number per entrant can give"
    if found.expected is None or found.p_value is None:
        return [f"{line}; each pair met in one block, so noise cannot be told apart from circles"]
    lines = [f"{line}; noise alone would give {rate(found.expected)} (p {_p(found.p_value)})"]
    if found.p_value <= LEVEL and not board.circular_triples:
        lines.append("note: no circle is in it: differences do not add up, as where no win can be larger than another")
    return lines


def _circle(board: PairBoard) -> list[str]:
    if not board.triples:
        return []
    seen = f"circles: {board.circular_triples} of {plural(board.triples, 'triple')} by win share"
    if board.circle is None:
        return [f"{seen}; none is sure"]
    sides = board.circle.sides
    way = " > ".join(shown(side.entrant) for side in (*sides, sides[0]))
    shares = ", ".join(f"{side.win_share:.0%}" for side in sides)
    return [f"{seen}; sure: {way} (win shares {shares}; corrected p {_p(board.circle.p_value)})"]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _lottery(board: PairBoard, names: Mapping[str, str]) -> list[Sheet]:
    if board.lottery is None:
        return []
    heads = (Head("entrant", right=False), Head("probability"), Head("95% interval"), Head("in support"))
    rows = tuple(_ticket(ticket, names[ticket.entrant]) for ticket in board.lottery)
    notes = ["note: a description, not a rank; the mean decides"]
    if all(ticket.interval is None for ticket in board.lottery):
        notes.insert(0, "how sure: not said; some pair met in fewer than five blocks")
    return [Sheet("maximal lottery: the mixture of entrants that none of them beats", heads, rows, tuple(notes))]


def _ticket(ticket: Ticket, name: str) -> tuple[str, ...]:
    interval = NOTHING if ticket.interval is None else f"{ticket.interval.low:.3f}..{ticket.interval.high:.3f}"
    return name, f"{ticket.probability:.3f}", interval, rate(ticket.support)
