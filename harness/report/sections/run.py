"""What was run, what to know before believing it, and how to derive it again, in words.

Owns the first and the last sections of a report.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

from weigh.harness.report.contents import CHECKS, Contents, Entered, Played, RunFacts
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Field,
    Line,
    Section,
    Table,
    Text,
    Word,
    line,
    table_of,
)
from weigh.harness.results.ranking.standings import GameLadder, Ladder
from weigh.harness.words import plural

DIGEST = 10
"""Characters of a policy digest that are shown: enough to tell policies apart."""


def what_was_run(contents: Contents) -> Section:
    """Runs, games and entrants."""
    blocks: list[Block] = [_runs(contents.runs), _games(contents.runs), *_entrants(contents.runs)]
    return Section("What was run", "run", tuple(blocks))


def _runs(runs: Sequence[RunFacts]) -> Table:
    """A row for each fact where there is one run, else a row for each run."""
    facts = ("run", "status", "episodes", "seed", "begun", "versions")
    rows = tuple(
        (
            Cell(run.name, below=run.run_id),
            Cell(run.status, below=_extended(run)),
            Cell(f"{run.finished} of {run.planned}", below="" if run.finished >= run.planned else "partial"),
            Cell(str(run.seed)),
            Cell(run.created.replace("T", " ").replace("+00:00", " UTC")),
            Cell(_versions(run)),
        )
        for run in runs
    )
    if len(rows) == 1:
        told = tuple((Cell(fact), cell) for fact, cell in zip(facts, rows[0], strict=True))
        return Table("The run", (Column("", numeric=False), Column("", numeric=False)), told)
    columns = tuple(Column(title, numeric=title in ("episodes", "seed")) for title in facts)
    return Table("Runs", columns, rows, wide=True)


def _extended(run: RunFacts) -> str:
    return f"extended {plural(run.amendments, 'time')}" if run.amendments else ""


def _versions(run: RunFacts) -> str:
    own = run.versions.get("weigh")
    rest = [f"{name} {number}" for name, number in run.versions.items() if name != "weigh"]
    return ", ".join([*([f"weigh {own}"] if own else []), *rest]) or NOTHING


def _games(runs: Sequence[RunFacts]) -> Table:
    def of(key: str, form: Callable[[object], str]) -> Callable[[tuple[RunFacts, Played]], str]:
        return lambda each: form(each[0].schedules.get(each[1].game, {}).get(key))

    def episodes(each: tuple[RunFacts, Played]) -> Cell:
        game = each[1]
        told = f"{game.finished} of {game.planned}" if game.planned else str(game.finished)
        return Cell(told, below="" if game.finished >= game.planned else "partial")

    fields: list[Field[tuple[RunFacts, Played]]] = [
        (Column("run", numeric=False), lambda each: each[0].name),
        (Column("game", numeric=False), lambda each: each[1].game),
        (Column("episodes"), episodes),
        (Column("void"), lambda each: str(each[1].void)),
        (Column("seats"), of("seats", _known)),
        (Column("blocks"), of("blocks", _known)),
        (Column("design", numeric=False), of("design", _known)),
        (Column("blocks a pair meets in"), of("pair_meetings", _span)),
        (Column("episodes in one seat"), of("episodes_by_seat", _span)),
        (Column("right before one other"), of("neighbours", _span)),
        (Column("balanced", numeric=False), of("balanced", _yes_or_no)),
    ]
    items = [(run, game) for run in runs for game in run.games]
    return table_of("Games, and how balanced their schedules are", items, fields[len(runs) == 1 :], wide=True)


def _yes_or_no(value: object) -> str:
    return NOTHING if not isinstance(value, bool) else "yes" if value else "no"


def _known(value: object) -> str:
    return NOTHING if value is None else str(value)


def _span(value: object) -> str:
    if not isinstance(value, dict) or "fewest" not in value or "most" not in value:
        return NOTHING
    low, high = value["fewest"], value["most"]
    return str(low) if low == high else f"{low} to {high}"


def _entrants(runs: Sequence[RunFacts]) -> Iterator[Table]:
    fields: list[Field[tuple[RunFacts, Entered]]] = [
        (Column("run", numeric=False), lambda each: each[0].name),
        (
            Column("entrant", numeric=False),
            lambda each: Cell(each[1].entrant, below="left the run" if each[1].left else ""),
        ),
        (Column("played by", numeric=False), lambda each: _player(each[1])),
        (Column("games", numeric=False), lambda each: ", ".join(each[1].games)),
        (
            Column("policies", numeric=False, spare=True),
            lambda each: ", ".join(digest[:DIGEST] for digest in each[1].policies) or NOTHING,
        ),
    ]
    items = [(run, each) for run in runs for each in run.entrants]
    if items:
        yield table_of("Entrants", items, fields[len(runs) == 1 :])


def _player(each: Entered) -> str:
    return "scripted" if each.scripted else ", ".join(each.models)


def caveats(ladder: Ladder) -> Section:
    """Every caveat of every game in full, and who is listed without a rank."""
    parts = []
    several = len(ladder.games) > 1
    for game in ladder.games:
        items = tuple(_caveats(game))
        if items:
            heading = (Text(line(Word(game.game, "strong"))),) if several else ()
            parts += [*heading, Bullets(items, "warning")]
    if not parts:
        parts = [Text(line(f"None of {CHECKS} checks."))]
    return Section("Warnings", "warnings", tuple(parts))


def _caveats(game: GameLadder) -> Iterator[Line]:
    for caveat in game.warnings:
        yield line(caveat.text)
    for standing in game.standings:
        if standing.unranked:
            yield line("not ranked: ", Word(standing.entrant, "strong"), f": {standing.unranked}")


def method(contents: Contents, options: Sequence[str]) -> Section:
    """What the numbers are, and the commands that derive them again. `options` are those the report was asked with."""
    runs = [shlex.quote(run.given) for run in contents.runs]
    rank = " ".join(["weigh rank", *runs, *options, "--json --ratings --head-to-head --measures"])
    notes = (
        line(
            Word("Mean", "strong"),
            ": of episode scores in [-1, 1]; they sum to 0 at a table, so 0 is the average of these entrants. "
            "It decides the rank.",
        ),
        line(
            Word("95% CI", "strong"),
            ": what the mean would do if the same schedule were played again with other deals, clustered by block: a "
            "block is one deal, played once from every seat.",
        ),
        line(
            Word("Adjusted", "strong"),
            ": the mean expected if all tables had been equally common; it is the mean where the schedule is balanced.",
        ),
        line(
            Word("Rank 1-3", "strong"),
            ": the data cannot order ranks 1 to 3. First is only who leads in at least 97.5% of the replicates of a "
            "wild cluster bootstrap over blocks, corrected for the number of games.",
        ),
        line(
            Word("Fallback", "strong"),
            ": after two replies without a legal move the game's scripted baseline moved. A provider's failure is no "
            "fault: the episode is void, replayed, and never rated.",
        ),
        line(Word("-", "strong"), ": a number that is not known or does not apply. It is never 0."),
    )
    again = (
        line(
            "Replay every record through the rules and compare all that was computed: ",
            *_commands("weigh verify", runs),
        ),
        line("Every number of this report, unrounded: ", Code(" ".join(["weigh report", *runs, *options, "--json"]))),
        line("The ladder alone: ", Code(rank)),
        line("Pairs that stand aside for each other: ", Code(" ".join(["weigh audit", *runs, "--json"]))),
    )
    return Section("How to read it, and how to recompute it", "method", (Bullets(notes), Bullets(again)))


def _commands(command: str, runs: Sequence[str]) -> Iterator[Code | Word]:
    for n, run in enumerate(runs):
        if n:
            yield Word(", ")
        yield Code(f"{command} {run}")
