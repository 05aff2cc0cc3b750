"""The ladder of a game in a report: who is ahead, drawn with its intervals, and in every number.

Owns the ladder's table and sentence, the second board and the seats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from weigh.harness.audit.collusion.audit import Settings
from weigh.harness.report.render.charts import Scale, axis, interval, scale
from weigh.harness.report.render.document import (
    LABEL,
    NOTHING,
    Block,
    Cell,
    Column,
    Folded,
    Line,
    Section,
    Table,
    Text,
    Word,
    bullets,
    cells,
    labelled,
    line,
)
from weigh.harness.report.render.text import ASCII, NARROW, Ink, drawn, given_up, limit_of, width_of
from weigh.harness.report.render.text import axis as text_axis
from weigh.harness.report.sections.ladder_table import (
    ALL,
    BLOCKS,
    FALLBACK,
    INTERVAL,
    MEAN,
    RANK,
    Field,
    fitting,
    interval_cell,
    ladder_table,
    power_lines,
    rank_cell,
    says,
)
from weigh.harness.results.ranking.elo import SHUFFLES, Board, BoardRow, disagreeing
from weigh.harness.results.ranking.standings import GameLadder, Interval, Ladder, SeatMean, Standing
from weigh.harness.store.usage import Usage
from weigh.harness.web.svg import Element
from weigh.harness.words import money, plural, score, share, shown

BARRING = "barring rare failures"
"""Said of a claim that normal theory makes and that bets, which hold for any bounded scores, do not."""

WARNINGS = 2
"""Of a ladder's, that are told before --wide tells all."""

HIGH = Settings().threshold
"""A mean collusion index that counts as high."""

OTHER_ORDER = "*"
"""Marks a board's rank that puts an entrant on another side of somebody than the mean does."""


def verdict(game: GameLadder, ladder: Ladder) -> Line:
    """What came out, in one sentence."""
    return line(Word(game.game, "strong"), ": ", *_claim(game, ladder))


def _claim(game: GameLadder, ladder: Ladder) -> Iterator[str | Word]:
    if not any(each.episodes for each in game.standings):
        yield "no finished episode"
        return
    lead = game.lead
    claims = sum(any(each.first_p_value is not None for each in other.standings) for other in ladder.games)
    leader = next((each for each in game.standings if each.first_p_value_holm is not None), None)
    p = "" if leader is None or leader.first_p_value_holm is None else f"p = {leader.first_p_value_holm:.2g}"
    p += f" (Holm, {plural(claims, 'game')})" if p and claims > 1 else ""
    uneven = next((each.text for each in game.warnings if each.kind in ("uneven_schedule", "not_linked")), None)
    if lead is None:
        yield "no clear first: fewer than two entrants are ranked"
    elif leader is not None and leader.first:
        grade = "is first" if leader.first_guaranteed else f"is first, {BARRING}"
        yield from (Word(lead.leader, "strong"), f" {grade}: {lead.difference:.3f} ahead of {lead.runner_up}")
        yield from () if lead.interval is None else (f", 95% CI {interval_cell(lead.interval)}",)
        yield f", {p}"
    elif abs(lead.difference) < 5e-4:
        yield from ("no clear first: ", Word(lead.leader, "strong"), " and ", Word(lead.runner_up, "strong"))
        yield " are level"
    elif uneven is not None:
        yield uneven
    else:
        yield from ("no clear first: ", Word(lead.leader, "strong"))
        yield f" leads {lead.runner_up} by {lead.difference:.3f}"
        yield "" if lead.interval is None else f" {interval_cell(lead.interval)}"
        if leader is not None and leader.rank_interval == (1, 1):
            yield f"; first if this were the only game, not among all: {p}"
        yield from _settled(game)
    if game.expected is not None and game.episodes + game.left_out < game.expected:
        yield f"; {game.episodes + game.left_out} of {game.expected} episodes are finished"


def _settled(game: GameLadder) -> Iterator[str]:
    """How many blocks would show a lead of this size."""
    for each in game.warnings:
        if each.kind == "not_separated" and each.case == "more_blocks":
            yield f"; about {each.values['needed']} blocks would settle it ({each.values['blocks']} played)"
        elif each.kind == "not_separated" and each.case == "too_little":
            yield "; too little to show in any run that can be paid for"


def answer_sections(ladder: Ladder, width: int | None = None, ink: Ink = ASCII) -> list[Section]:
    """What `weigh rank` says first: who leads in each game, the ranks with their intervals drawn, and a few lines.
    `width` is that of the terminal, None for none."""
    label = max((width_of(shown(game.game)) for game in ladder.games), default=0)
    made, hidden = [], 0
    for game in ladder.games:
        claim = "".join(span.text for span in line(*_claim(game, ladder)))
        blocks: list[Block] = [labelled([(game.game, claim)], max(LABEL, label))]
        if game.standings:
            table, fields = _short(game, width or NARROW, ink)
            left = [field for field in ALL if field not in fields and says(field, game.standings)]
            hidden = max(hidden, len(left) + given_up(table, width))
            blocks.append(table)
        blocks.append(bullets(f"not ranked: {s.entrant}: {s.unranked}" for s in game.standings if s.unranked))
        made.append(Section("", blocks=tuple(blocks)))
    lines = [(name, told) for name, told in _lines(ladder, hidden) if told]
    return [*made, Section("", blocks=(labelled(lines, LABEL),))] if lines else made


def _short(game: GameLadder, width: int, ink: Ink) -> tuple[Table, list[Field]]:
    """The ranks with their intervals drawn, and the fields that stand in it."""
    ends = [(each.interval.low, each.interval.high) for each in game.standings if each.interval is not None]
    limit = limit_of([*(each.mean or 0.0 for each in game.standings), *(end for pair in ends for end in pair)])
    longest = max(len(each.entrant) for each in game.standings)
    half = max(5, min(9, (width - 50 - longest) // 2))
    picture = Field(
        text_axis(limit, half), lambda each: drawn(each.mean, _pair(each.interval), limit, half, ink), right=False
    )
    fields = [field for field in (RANK, MEAN, INTERVAL, picture, BLOCKS, FALLBACK) if says(field, game.standings)]
    goes = {picture.heading: 1, FALLBACK.heading: 2, BLOCKS.heading: 3}
    return ladder_table(game.standings, fields, goes=goes), fields


def _lines(ladder: Ladder, hidden: int) -> Iterator[tuple[str, str]]:
    """Label and text of the lines at the end; no text where there is nothing to say. `hidden` columns are
    not shown."""
    several = len(ladder.games) > 1
    warned = [
        (f"{game.game}: " if several else "") + caveat.text
        for game in ladder.games
        for caveat in game.warnings
        if caveat.kind not in ("not_separated", "partial", "uneven_schedule", "not_linked", "several_games")
    ]  # the first line says the others
    yield from (("warning", text) for text in warned[:WARNINGS])
    found = [
        game.minimum_detectable_difference if any(s.interval for s in game.standings) else None for game in ladder.games
    ]
    detects = " / ".join(NOTHING if each is None else f"{each:.3f}" for each in found)
    yield "power", f"smallest true difference found in 80% of such runs: {detects}" if any(found) else ""
    yield from (("rare", text) for text in rare_lines(ladder))
    yield "trust", trust(ladder)
    indices = [s.collusion for game in ladder.games for s in game.standings if s.collusion is not None]
    high = sum(index >= HIGH for index in indices)
    yield (
        "index",
        f"mean collusion index at {HIGH:g} or above: {high} of {plural(len(indices), 'entrant')} "
        f"(highest {max(indices):.2f})"
        if indices
        else "",
    )
    spent = sum((account.usage for account in ladder.accounts.models), Usage())
    dollars = money(spent.cost_known_usd, spent.unknown_cost_calls)
    again = [
        s.reliability.retry_rate
        for game in ladder.games
        for s in game.standings
        if s.models and s.reliability.retry_rate
    ]
    retried = f"; up to {share(max(again))} of a model's moves needed a second attempt" if again else ""
    calls = plural(spent.calls, "call")
    yield "cost", f"{dollars}, {calls}{retried}" if ladder.accounts.models else ""
    more = [plural(hidden, "more column")] if hidden else []
    more += [plural(len(warned) - WARNINGS, "more warning")] if len(warned) > WARNINGS else []
    yield "more", f"{', '.join(more)}: --wide  --head-to-head  --ratings" if more else ""


def rare_lines(ladder: Ladder) -> Iterator[str]:
    """What claims with a reservation do not exclude, a line for each different loss."""
    found: dict[str, list[str]] = {}
    for game in ladder.games:
        if game.rare_loss is None or not any(s.first and not s.first_guaranteed for s in game.standings):
            continue
        loss = game.rare_loss
        text = (
            f"{plural(loss.blocks, 'block')} cannot exclude a loss of {loss.loss:.2f} in up to {loss.share:.0%} of "
            f"blocks, which would move a mean by {loss.moves:.2f}"
        )
        found.setdefault(text, []).append(game.game)
    for text, games in found.items():
        yield f"{', '.join(games)}: {text}" if len(ladder.games) > 1 else f'{text} (hence "{BARRING}")'


def trust(ladder: Ladder) -> str:
    """How much of the ranking the choice of blocks decides, game by game."""
    known = [game.split_half_reliability for game in ladder.games]
    parts = []
    if any(each is not None for each in known):
        told = " / ".join(NOTHING if each is None else f"{each:.2f}" for each in known)
        parts.append(f"split-half reliability {told}")
    deciding = [(game.blocks_deciding_first, game.blocks) for game in ladder.games]
    if any(few is not None for few, _ in deciding):
        told = " / ".join(NOTHING if few is None else f"{few} of {blocks}" for few, blocks in deciding)
        parts.append(f"{told} blocks decide first place")
    return "; ".join(parts)


def ladder_section(game: GameLadder, anchor: str) -> Section:
    """Every number of the ladder, and how to read its drawing on the first screen."""
    caption = f"{game.game}: {_count(game)}, {plural(game.blocks, 'block')}"
    table = replace(ladder_table(game.standings, fitting(game.standings), caption=caption), wide=True)
    return Section("Ladder", anchor, (Text(line(_legend(game)), "quiet"), table, bullets(power_lines(game))))


def drawn_ranks(game: GameLadder) -> Table:
    """The ranks with their intervals drawn, for the first screen of a page."""
    shown = _scale(game)
    columns = (
        Column("rank"),
        Column("entrant", numeric=False),
        Column("mean and 95% CI", numeric=False, drawn=True, axis=axis(shown, signed=True)),
        Column("mean"),
        Column("95% CI", spare=True),
        Column("blocks", spare=True),
        Column("fallback", spare=True),
    )
    rows = tuple(
        (
            Cell(rank_cell(each)),
            Cell(each.entrant, below=_about(each)),
            Cell("", _interval(shown, each)),
            Cell(score(each.mean)),
            Cell(interval_cell(each.interval)),
            Cell(str(each.blocks)),
            Cell(share(each.reliability.fallback_rate)),
        )
        for each in game.standings
    )
    return Table(f"{game.game}: who leads", columns, rows)


def _count(game: GameLadder) -> str:
    if game.expected is None or game.expected == game.episodes:
        return plural(game.episodes, "episode")
    return f"{game.episodes} of {game.expected} episodes"


def _about(each: Standing) -> str:
    called = "first" if each.first else ""
    played = "not ranked" if each.unranked else ""
    return ", ".join(filter(None, (called, played)))


def _scale(game: GameLadder) -> Scale:
    values: list[float | None] = []
    for each in game.standings:
        values += [each.mean, each.adjusted]
        if each.interval is not None:
            values += [each.interval.low, each.interval.high]
    return scale(values)


def _interval(shown: Scale, each: Standing) -> Element | None:
    if each.mean is None:
        return None
    sure = "no interval" if each.interval is None else f"95% interval {interval_cell(each.interval)}"
    words = f"{each.entrant}: mean {score(each.mean)}, {sure}, adjusted {score(each.adjusted)}"
    ends = None if each.interval is None else (each.interval.low, each.interval.high)
    return interval(shown, words, each.mean, ends, each.adjusted, ranked=each.unranked is None)


def _legend(game: GameLadder) -> str:
    parts = [
        "Dot: mean score; bar: its 95% interval; diamond: opponent-adjusted mean; heavy line: 0, the field's average."
    ]
    if any(each.mean is not None and each.interval is None for each in game.standings):
        parts.append("A ring instead of a dot has no interval.")
    if any(each.unranked for each in game.standings):
        parts.append("Broken bars belong to entrants that are listed and not ranked.")
    return " ".join(parts)


def board_sections(boards: Sequence[Board]) -> list[Section]:
    """Elo of each game, for a terminal or Markdown."""
    return [
        Section(
            f"{board.game}: a second board, {plural(board.episodes, 'episode')} in the order of the schedule",
            blocks=_board(board, ""),
        )
        for board in boards
    ]


def board_section(board: Board, anchor: str) -> Section:
    """Elo beside the mean."""
    caption = f"{board.game}: Elo, {plural(board.episodes, 'episode')} in the order of the schedule"
    return Section("Second board", anchor, _board(board, caption))


def _board(board: Board, caption: str) -> tuple[Block, ...]:
    if not board.rows:
        return (bullets(["no scored episode"]),)
    columns = (
        Column("rank"),
        Column("entrant", numeric=False, name=True),
        Column("mean"),
        Column("Elo"),
        Column("sd"),
        Column("Elo#"),
    )
    return Table(caption, columns, cells(map(_board_row, board.rows)), wide=True), bullets(_board_notes(board))


def _board_row(row: BoardRow) -> tuple[str, ...]:
    spread = row.elo_spread
    return (
        NOTHING if row.rank is None else str(row.rank),
        row.entrant,
        score(row.mean),
        f"{row.elo:.0f}",
        NOTHING if spread is None else f"{spread.sd:.0f}",
        _place(row.elo_rank, row.elo_disagrees),
    )


def _place(rank: int | None, disagrees: bool) -> str:
    return NOTHING if rank is None else f"{rank}{OTHER_ORDER if disagrees else ''}"


def _board_notes(board: Board) -> list[str]:
    lines = [f"not ranked: {row.entrant}: {row.unranked}" for row in board.rows if row.unranked]
    if board.same_order is not None:
        lines.append(
            f"order: sd is that of Elo over {SHUFFLES} random orders of the same episodes; "
            f"{share(board.same_order)} of them give the Elo ranks shown"
        )
    if disagreeing(board):
        lines.append(f"{OTHER_ORDER} another order than the mean's")
    return [
        *lines,
        "note: the mean decides; Elo depends on the order of the episodes and on the field, and counts who scored "
        "more, not by how much",
    ]


def seat_section(game: GameLadder, anchor: str) -> Section:
    """Mean score by seat, over all entrants and for each."""
    if not game.seats:
        return Section("Score by seat", anchor, (Text(line("no scored episode"), "quiet"),))
    return Section("Score by seat", anchor, (_seats(game.seats), *_seats_by_entrant(game)))


def _seats(seats: Sequence[SeatMean]) -> Table:
    values: list[float | None] = []
    for each in seats:
        values += [each.mean, *([] if each.interval is None else [each.interval.low, each.interval.high])]
    shown = scale(values)
    columns = (
        Column("seat", numeric=False),
        Column("mean and 95% interval", numeric=False, drawn=True, axis=axis(shown, signed=True)),
        Column("mean"),
        Column("95% interval"),
        Column("episodes", spare=True),
    )
    rows = tuple(
        (
            Cell(f"seat {each.seat}"),
            Cell("", interval(shown, _seat_words(each), each.mean, _pair(each.interval))),
            Cell(score(each.mean)),
            Cell(interval_cell(each.interval)),
            Cell(str(each.episodes)),
        )
        for each in seats
    )
    return Table("Mean score by seat, over all entrants: away from 0 is the game's doing", columns, rows)


def _seat_words(each: SeatMean) -> str:
    sure = "no interval" if each.interval is None else f"95% interval {interval_cell(each.interval)}"
    return f"seat {each.seat}: mean {score(each.mean)}, {sure}"


def _pair(found: Interval | None) -> tuple[float, float] | None:
    return None if found is None else (found.low, found.high)


def _seats_by_entrant(game: GameLadder) -> Iterator[Block]:
    columns = (Column("entrant", numeric=False), *(Column(f"seat {each.seat}") for each in game.seats))
    rows = tuple(
        (Cell(each.entrant), *(Cell(score(mean)) for mean in _by_seat(each, len(game.seats))))
        for each in game.standings
    )
    yield Folded("By entrant", (Table("Mean score of each entrant in each seat", columns, rows, wide=True),))


def _by_seat(each: Standing, seats: int) -> tuple[float | None, ...]:
    return (*each.seat_means, *[None] * seats)[:seats]
