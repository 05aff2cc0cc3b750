"""A report put together: contents in, document out.

Owns the order of its subjects. Pure: equal contents give equal documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from weigh.harness.report.contents import Contents
from weigh.harness.report.render.document import Code, Document, Section, line
from weigh.harness.report.sections.ladder import board_section, ladder_section, seat_section
from weigh.harness.report.sections.pairs import collusion_section, pair_section
from weigh.harness.report.sections.play import (
    Ways,
    conduct_section,
    cost_section,
    latency_section,
    measure_section,
    notable_section,
)
from weigh.harness.report.sections.run import caveats, method, what_was_run
from weigh.harness.report.sections.summary import summary, title_of
from weigh.harness.results.ranking.standings import GameLadder

NONE = Section("")
"""Of a game that a subject has nothing on."""


def document(
    contents: Contents,
    *,
    replays: Mapping[tuple[str, str], str] | None = None,
    options: Sequence[str] = (),
) -> Document:
    """The report on `contents`. `replays` are relative addresses by run id and episode; `options` are the words that
    the report was asked with, for the commands that derive it again."""
    folders = {run.run_id: run.given for run in contents.runs}
    ways = Ways(folders, replays or {})
    return Document(
        title=title_of(contents),
        summary=summary(contents, ways, drawn=True),
        brief=summary(contents, Ways(folders), drawn=False),
        sections=(
            caveats(contents.ladder),
            *_subjects(contents, ways),
            what_was_run(contents),
            method(contents, options),
        ),
        made=line("Made from the runs' records alone. ", Code("-"), " is a number that is not known."),
    )


def _subjects(contents: Contents, ways: Ways) -> list[Section]:
    """A section for each subject, and in it a part for each game that has finished episodes."""

    def boards(game: GameLadder, anchor: str) -> Section:
        return next((board_section(each, anchor) for each in contents.boards if each.game == game.game), NONE)

    def pairs(game: GameLadder, anchor: str) -> Section:
        return next((pair_section(each, anchor) for each in contents.pairs if each.game == game.game), NONE)

    def collusion(game: GameLadder, anchor: str) -> Section:
        return collusion_section(contents.audit, game.game, anchor)

    def measures(game: GameLadder, anchor: str) -> Section:
        order = [each.entrant for each in game.standings]
        return measure_section(game.game, contents.measures.get(game.game), order, anchor)

    def looks(game: GameLadder, anchor: str) -> Section:
        return notable_section(contents.notable.get(game.game, ()), ways, anchor)

    subjects: tuple[tuple[str, str, Callable[[GameLadder, str], Section]], ...] = (
        ("Ladder", "ladder", ladder_section),
        ("Head-to-head", "pairs", pairs),
        ("Reliability", "faults", conduct_section),
        ("Cost", "cost", cost_section),
        ("Latency", "latency", latency_section),
        ("Collusion audit", "collusion", collusion),
        ("Behaviour metrics", "measures", measures),
        ("Score by seat", "seats", seat_section),
        ("Elo ratings", "board", boards),
        ("Episodes worth a look", "replays", looks),
    )
    games = [game for game in contents.ladder.games if any(each.episodes for each in game.standings)]
    found = []
    for title, name, make in subjects:
        made = [replace(make(game, f"game-{game.game}-{name}"), title=game.game) for game in games]
        parts = tuple(part for part in made if part.blocks)
        if parts:
            found.append(Section(title, name, (), parts))
    return found
