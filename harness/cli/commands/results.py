"""`weigh rank` and `weigh export`: what runs came to, finished or not, for people and for other tools."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, TypeVar

import typer

from weigh.games.game import Json
from weigh.harness.audit.measures.registry import Measured
from weigh.harness.cli.options import RunsArgument, newest, number, one_of, runs_or_newest
from weigh.harness.cli.output import forget, ink, print_json, print_note, print_sections, print_text, terminal_width
from weigh.harness.cli.outputs import check_output
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import INVALID, Refused
from weigh.harness.report.render.document import Section
from weigh.harness.report.render.latex import latex_tables
from weigh.harness.report.render.markdown import markdown_sections
from weigh.harness.report.sections.ladder import answer_sections, board_sections
from weigh.harness.report.sections.ladder_table import (
    EMPTY,
    PAPER,
    column_sections,
    csv_text,
    fields_named,
    ladder_sections,
    macro_average_section,
)
from weigh.harness.report.sections.pairs import pair_sections
from weigh.harness.results import Results, load
from weigh.harness.results.export import DATASETS, FORMATS
from weigh.harness.results.export import export as write
from weigh.harness.results.measures import measure_lines, measures_json, measures_of
from weigh.harness.results.ranking.all_games import macro_averages
from weigh.harness.results.ranking.elo import boards
from weigh.harness.results.ranking.matchups import pair_boards
from weigh.harness.results.ranking.standings import Ladder
from weigh.harness.store.schema import is_run
from weigh.harness.store.store import Store
from weigh.harness.words import plural, shown

LADDER_FORMATS = ("table", "markdown", "latex", "csv", "json")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RankOptions:
    """What a ranking is asked for with."""

    max_fallback_rate: Annotated[
        float,
        typer.Option(metavar="RATE", parser=number(0, 1), help="Entrants above it are listed, not ranked."),
    ] = MAX_FALLBACK_RATE
    without_fallbacks: Annotated[
        bool, typer.Option("--without-fallbacks", help="Leave out of the scores every episode with a fallback in it.")
    ] = False
    format: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", parser=one_of(LADDER_FORMATS), help="table, markdown, latex, csv or json."
        ),
    ] = "table"
    measures: Annotated[
        bool, typer.Option("--measures", help="Also how each entrant played: the measures of each game.")
    ] = False
    equal_weight: Annotated[
        bool,
        typer.Option(
            "--equal-weight", help="Also the macro average over games: 0 is random, 1 the strongest scripted entrant."
        ),
    ] = False
    ratings: Annotated[
        bool, typer.Option("--ratings", help="Also Elo ratings, and where they disagree with the mean.")
    ] = False
    head_to_head: Annotated[
        bool,
        typer.Option("--head-to-head", help="Also each entrant against each, intransitivity, the maximal lottery."),
    ] = False
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="These columns and no others, e.g. mean,interval,cost.")
    ] = None
    wide: Annotated[
        bool, typer.Option("--wide", help="Every column that fits, and every line: faults, costs, calls, warnings.")
    ] = False
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False

    @property
    def form(self) -> str:
        return "json" if self.json else self.format

    def require_consistent(self) -> None:
        """Raise Refused for options that do not go together."""
        if self.equal_weight and self.form in ("markdown", "latex", "csv"):
            raise Refused(f"--equal-weight: not with --format {self.format}; use --json", kind="options-conflict")
        if self.measures and self.form in ("markdown", "latex", "csv"):
            raise Refused(
                f"--measures: not with --format {self.format}; `weigh export RUN FILE --dataset measures` writes them",
                kind="options-conflict",
            )
        for option, asked in (("--ratings", self.ratings), ("--head-to-head", self.head_to_head)):
            if asked and self.form in ("csv", "latex"):
                raise Refused(
                    f"{option}: not with --format {self.format}, which has one row an entrant; use --json",
                    kind="options-conflict",
                )
        if self.columns is not None and (self.wide or self.form in ("csv", "json")):
            raise Refused(
                "--columns: for tables, and not with --wide; JSON and CSV hold every column", kind="options-conflict"
            )


def rank(options: RankOptions, runs: RunsArgument = None) -> None:
    """Rank the entrants of one or several runs.

    By mean episode score: who leads and how sure that is, a row an entrant, and what to know before it is believed.
    --wide has everything. Ranks 2-4: the data cannot order these. Mean: of episode scores in [-1, 1], 0 is the average
    of these entrants; CI: its confidence interval. Blocks: deals an entrant played. Runs need not be finished, and may
    still be going on. Runs with the same seed share their deals, and are not taken for independent.

    --columns takes rank, mean, interval, n, fallback, warnings, probability_first, adjusted, blocks, void,
    cost_per_episode, collusion, collusion_high, own_moves, retried, schedule_strength, adjusted_interval, points,
    calls, tokens_in, cached, tokens_out, reasoning, cost and latency, in any order.

      weigh rank
      weigh rank results/a results/b --format markdown
      weigh rank results/demo --measures
      weigh rank results/league --equal-weight
      weigh rank results/demo --ratings --head-to-head
      weigh rank results/demo --columns rank,mean,interval,cost --format latex

    Exit codes: 0 ranked; 2 not a run, or one that does not hold what it planned; 4 no finished episode.
    """
    options.require_consistent()
    results = load(list(map(str, runs_or_newest(runs))))
    for folder in results.folders:
        with Store.open(folder, readonly=True) as store:
            if store.status != "finished":
                print_note(shown(f"{folder}: {store.status}", limit=500))
    if not show_ranking(results, options):
        raise typer.Exit(INVALID)


def show_ranking(results: Results, options: RankOptions) -> bool:
    """Print the ladder on standard output. False when there is no finished episode."""
    ladder = results.rank(
        max_fallback_rate=options.max_fallback_rate, exclude_fallback_episodes=options.without_fallbacks
    )
    seeds = {manifest.run_id: manifest.seed for manifest in results.manifests}
    ratings = boards(results.seats, ladder, seeds=seeds) if options.ratings else ()
    met = pair_boards(results.seats, ladder, seeds=seeds) if options.head_to_head else ()
    if options.form == "json":
        document: dict[str, Json] = ladder.to_json()
        if options.measures:
            document["measures"] = _measured(results, measures_json)
        if options.equal_weight:
            document["macro_average"] = [row.to_json() for row in macro_averages(ladder)]
        if options.ratings:
            document["ratings"] = [game.to_json() for game in ratings]
        if options.head_to_head:
            document["head_to_head"] = [game.to_json() for game in met]
        print_json(document)
    elif options.form == "csv":
        print_text(csv_text(ladder).rstrip("\n"))
    else:
        sections = _ladder_sections(ladder, options)
        beside = [*board_sections(ratings), *pair_sections(met)]
        if options.form == "latex":
            print_text(latex_tables(sections))
        elif options.form == "markdown":
            print_text(markdown_sections([*sections, *beside]).rstrip("\n") or EMPTY)
        else:
            print_sections(sections or [Section(EMPTY)])
            if options.equal_weight:
                print_sections([Section(""), macro_average_section(ladder)])
            if options.measures:
                print_text("\n".join(_measured(results, measure_lines)))
            if beside:
                print_sections([Section(""), *beside])
    if any(standing.episodes for game in ladder.games for standing in game.standings):
        return True
    print_note("weigh: no episode was finished, so nothing is ranked")
    return False


def _ladder_sections(ladder: Ladder, options: RankOptions) -> Sequence[Section]:
    if options.columns is not None or options.form == "latex":
        names = PAPER if options.columns is None else options.columns.split(",")
        return column_sections(ladder, fields_named(names))
    width = terminal_width() if options.form == "table" else None
    if options.wide or options.form == "markdown":
        return ladder_sections(ladder, width)
    return answer_sections(ladder, width, ink())


def _measured(results: Results, form: Callable[[Mapping[str, Measured]], T]) -> T:
    """The measures of runs in one of their forms."""
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(Path(folder), readonly=True)) for folder in results.folders]
        return form(measures_of(stores))


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is written, and how."""

    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", parser=one_of(FORMATS), help="jsonl, json, csv or parquet; else FILE's ending."),
    ] = None
    dataset: Annotated[
        str | None, typer.Option(metavar="DATASET", parser=one_of(DATASETS), help=", ".join(DATASETS))
    ] = None
    episode: Annotated[
        str | None, typer.Option(metavar="KEY", help="The one episode that json holds; not needed where there is one.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False


def export(
    options: ExportOptions,
    run_or_file: Annotated[
        Path, typer.Argument(metavar="[RUN]", help="A run folder; left out, the newest run is exported.")
    ],
    named: Annotated[
        Path | None, typer.Argument(metavar="FILE|-", help="Where to write, - for standard output.")
    ] = None,
) -> None:
    """Write a run's records or tables to a file for other tools.

    jsonl holds whole records unless a dataset is named; json one record; csv and parquet the rows of a dataset, seats
    unless told otherwise. The file appears when it is complete, and takes the place of one that is there; it may not be
    a file that the run itself is kept in.

      weigh export seats.csv
      weigh export results/demo seats.csv
      weigh export results/demo calls.jsonl --dataset calls
      weigh export results/demo record.json --episode goofspiel/b0000/r0

    Exit codes: 0 written; 2 not a run, or formats and datasets that do not go together; 4 a disk that is full.
    """
    file = run_or_file if named is None else named
    if named is None and is_run(file):
        raise Refused(f"{file} is a run: say where to write, as in `weigh export {file} seats.csv`")
    run = newest() if named is None else run_or_file
    chosen = options.format or file.suffix.removeprefix(".").lower()
    if chosen not in FORMATS:
        what = f"{chosen} is none of {', '.join(FORMATS)}" if chosen else "it has no ending that says which format"
        raise Refused(f"{file}: {what}; name one with --format", kind="format-unknown")
    if str(file) == "-":
        with TemporaryDirectory(prefix="weigh-") as folder:  # a format may need to look back in its file
            draft = Path(folder) / f"export.{chosen}"
            rows = write(run, draft, chosen, dataset=options.dataset, episode=options.episode)
            _print_file(draft)
    else:
        check_output("FILE", file, [run])
        rows = write(run, file, chosen, dataset=options.dataset, episode=options.episode)
    if options.json and str(file) != "-":
        print_json({"file": str(file), "format": chosen, "rows": rows})
    else:
        print_note(f"weigh: {plural(rows, 'row')} in {'standard output' if str(file) == '-' else file}")


def _print_file(path: Path) -> None:
    """A file on standard output, as it is. Raises Refused when it cannot be written."""
    if sys.stdout is None:
        return
    try:
        with path.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.flush()
    except OSError as error:
        forget(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise Refused(
                f"standard output cannot be written: {error.strerror or error}", code=INVALID, kind="output-closed"
            ) from error
