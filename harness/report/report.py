"""A report put together: contents in, document out.

Owns the order of its sections. Pure: equal contents give equal documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weigh.harness.report.render.document import Code, Document, Line, Section, Text, line
from weigh.harness.report.sections.contents import Contents
from weigh.harness.report.sections.ladder import board_section, ladder_section, seat_section, verdict
from weigh.harness.report.sections.pairs import collusion_section, pair_section
from weigh.harness.report.sections.play import (
    conduct_section,
    cost_section,
    latency_section,
    measure_section,
    notable_section,
)
from weigh.harness.report.sections.run import caveats, method, what_was_run
from weigh.harness.results.ranking.standings import GameLadder


def document(
    contents: Contents,
    *,
    replays: Mapping[tuple[str, str], str] | None = None,
    options: Sequence[str] = (),
) -> Document:
    """The report on `contents`. `replays` are relative addresses by run id and episode; `options` are the words that
    the report was asked with, for the commands that derive it again."""
    runs = contents.runs
    names = ", ".join(run.name for run in runs)
    games = tuple(_game(contents, game, replays or {}) for game in contents.ladder.games)
    return Document(
        title=f"Report: {names}",
        subtitle=_subtitle(contents),
        verdicts=tuple(verdict(game, contents.ladder) for game in contents.ladder.games)
        or (line("No episode was planned."),),
        sections=(what_was_run(contents), caveats(contents.ladder), *games, method(contents, options)),
        made=line("Made from the runs' records alone. ", Code("-"), " is a number that is not known."),
    )


def _subtitle(contents: Contents) -> Line:
    finished, planned = contents.finished, sum(run.planned for run in contents.runs)
    share = f"{finished} episodes" if finished == planned else f"{finished} of {planned} episodes: partial"
    entrants = len({each.entrant for run in contents.runs for each in run.entrants})
    view = contents.ladder.fallback_episodes
    parts = [share, f"{entrants} entrants", f"{len(contents.ladder.games)} games"]
    if view == "left out":
        parts.append("episodes with a fallback move left out of scores")
    return line(", ".join(parts))


def _game(contents: Contents, game: GameLadder, replays: Mapping[tuple[str, str], str]) -> Section:
    anchor = f"game-{game.game}"
    if not any(each.episodes for each in game.standings):
        return Section(game.game, anchor, (Text(verdict(game, contents.ladder), "verdict"),))
    return Section(game.game, anchor, (), tuple(_parts(contents, game, anchor, replays)))


def _parts(
    contents: Contents, game: GameLadder, anchor: str, replays: Mapping[tuple[str, str], str]
) -> Iterator[Section]:
    folders = {run.run_id: run.given for run in contents.runs}
    yield ladder_section(game, f"{anchor}-ladder", contents.ladder)
    yield from (board_section(board, f"{anchor}-board") for board in contents.boards if board.game == game.game)
    yield from (pair_section(board, f"{anchor}-pairs") for board in contents.pairs if board.game == game.game)
    yield seat_section(game, f"{anchor}-seats")
    yield conduct_section(game, f"{anchor}-faults")
    yield cost_section(game, f"{anchor}-cost")
    yield latency_section(game, f"{anchor}-latency")
    yield collusion_section(contents.audit, game.game, f"{anchor}-collusion")
    order = [each.entrant for each in game.standings]
    yield measure_section(game.game, contents.measures.get(game.game), order, f"{anchor}-measures")
    yield notable_section(contents.notable.get(game.game, ()), folders, replays, f"{anchor}-replays")
