"""What was run, what to know before believing it, and how to derive it again, in words.

Owns the first and the last sections of a report.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from weigh.harness.report.contents import CHECKS, Contents, Entered, RunFacts
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Line,
    Section,
    Table,
    Text,
    Word,
    line,
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
    several = len(runs) > 1
    rows = []
    for run in runs:
        for game in run.games:
            schedule = run.schedules.get(game.game, {})
            share = f"{game.finished} of {game.planned}" if game.planned else str(game.finished)
            rows.append(
                (
                    *([Cell(run.name)] if several else []),
                    Cell(game.game),
                    Cell(share, below="" if game.finished >= game.planned else "partial"),
                    Cell(str(game.void)),
                    Cell(_known(schedule.get("seats"))),
                    Cell(_known(schedule.get("blocks"))),
                    Cell(_known(schedule.get("design"))),
                    Cell(_span(schedule.get("pair_meetings"))),
                    Cell(_span(schedule.get("seat_sittings"))),
                    Cell(_span(schedule.get("neighbours"))),
                    Cell(_yes_or_no(schedule.get("balanced"))),
                )
            )
    columns = (
        *([Column("run", numeric=False)] if several else []),
        Column("game", numeric=False),
        Column("episodes"),
        Column("void"),
        Column("seats"),
        Column("blocks"),
        Column("design", numeric=False),
        Column("blocks a pair meets in"),
        Column("episodes in one seat"),
        Column("right before one other"),
        Column("balanced", numeric=False),
    )
    return Table("Games, and how balanced their schedules are", columns, tuple(rows), wide=True)


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
    several = len(runs) > 1
    rows = [
        (
            *([Cell(run.name)] if several else []),
            Cell(each.entrant, below="left the run" if each.left else ""),
            Cell(_player(each)),
            Cell(", ".join(each.games)),
            Cell(", ".join(digest[:DIGEST] for digest in each.policies) or NOTHING),
        )
        for run in runs
        for each in run.entrants
    ]
    if rows:
        columns = (
            *([Column("run", numeric=False)] if several else []),
            Column("entrant", numeric=False),
            Column("played by", numeric=False),
            Column("games", numeric=False),
            Column("policies", numeric=False, spare=True),
        )
        yield Table("Entrants", columns, tuple(rows))


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
    for caveat in game.caveats:
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
            ": the mean episode score decides the order. Scores lie in [-1, 1] and sum to 0 at a table, so a mean is "
            "always against this field.",
        ),
        line(
            Word("95% interval", "strong"),
            ": what the mean would do if the same schedule were played again with other deals. Clustered by block: a "
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
        line(Word("-", "strong"), " stands for a number that is not known or does not apply. It is never 0."),
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
