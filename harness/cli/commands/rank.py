"""`weigh rank`: the ladder of what runs hold, finished or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from weigh.harness.cli.options import RunsArgument, number, one_of, runs_or_newest
from weigh.harness.cli.output import ink, print_json, print_note, print_sections, print_text, terminal_width
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import INVALID, Refused

if TYPE_CHECKING:
    from weigh.games.game import Json
    from weigh.harness.audit.measures.registry import Measured
    from weigh.harness.report.render.document import Section
    from weigh.harness.results import Results
    from weigh.harness.results.ranking.standings import Ladder

FORMATS = ("table", "markdown", "latex", "csv", "json")
T = TypeVar("T")


def rank(
    runs: RunsArgument = None,
    max_fallback_rate: Annotated[
        float,
        typer.Option(metavar="RATE", parser=number(0, 1), help="Entrants above it are listed, not ranked."),
    ] = MAX_FALLBACK_RATE,
    without_fallbacks: Annotated[
        bool, typer.Option("--without-fallbacks", help="Leave out of the scores every episode with a fallback in it.")
    ] = False,
    format: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", parser=one_of(FORMATS), help="table, markdown, latex, csv or json."),
    ] = "table",
    measures: Annotated[
        bool, typer.Option("--measures", help="Also how each entrant played: the measures of each game.")
    ] = False,
    equal_weight: Annotated[
        bool, typer.Option("--equal-weight", help="Also one number over all games, each with the same weight.")
    ] = False,
    boards: Annotated[bool, typer.Option("--boards", help="Also a second board: Elo, and where it disagrees.")] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also who beats whom: each pair, circles, and the maximal lottery.")
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="Every column that fits, and every line: faults, costs, calls, warnings.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Rank the entrants of one or several runs.

    By mean episode score: who leads and how sure that is, a row an entrant, and what to know before it is believed.
    --wide has everything. Ranks 2-4: the data cannot order these. Mean: of episode scores in [-1, 1], 0 is the average
    of these entrants; CI: its confidence interval. Blocks: deals an entrant played. Runs need not be finished, and may
    still be going on. Runs with the same seed share their deals, and are not taken for independent.

      weigh rank
      weigh rank results/a results/b --format markdown
      weigh rank results/demo --measures
      weigh rank results/league --equal-weight
      weigh rank results/demo --boards --pairs

    Exit codes: 0 ranked; 2 not a run, or one that does not hold what it planned; 4 no finished episode.
    """
    if equal_weight and format in ("markdown", "latex", "csv"):
        raise Refused(f"--equal-weight: not with --format {format}; use --json", kind="options-conflict")
    if measures and format in ("markdown", "latex", "csv"):
        raise Refused(
            f"--measures: not with --format {format}; `weigh export RUN FILE --table measures` writes them",
            kind="options-conflict",
        )
    for option, asked in (("--boards", boards), ("--pairs", pairs)):
        if asked and format in ("csv", "latex") and not json:
            raise Refused(
                f"{option}: not with --format {format}, which has one row an entrant; use --json",
                kind="options-conflict",
            )
    if not show_ranking(
        runs_or_newest(runs),
        json=json,
        format=format,
        max_fallback_rate=max_fallback_rate,
        without_fallbacks=without_fallbacks,
        measures=measures,
        equal_weight=equal_weight,
        boards=boards,
        pairs=pairs,
        wide=wide,
        tell=True,
    ):
        raise typer.Exit(INVALID)


def show_ranking(
    runs: Sequence[Path],
    *,
    json: bool = False,
    format: str = "table",
    max_fallback_rate: float = MAX_FALLBACK_RATE,
    without_fallbacks: bool = False,
    measures: bool = False,
    equal_weight: bool = False,
    boards: bool = False,
    pairs: bool = False,
    wide: bool = False,
    tell: bool = False,
) -> bool:
    """Print the ladder of `runs` on standard output. False when they hold no finished episode."""
    from weigh.harness.report.render.document import Section
    from weigh.harness.report.render.latex import latex_tables
    from weigh.harness.report.render.markdown import markdown_sections
    from weigh.harness.report.render.text import NARROW
    from weigh.harness.report.sections.ladder import answer_sections, paper_sections
    from weigh.harness.report.sections.ladder_table import EMPTY, csv_text, equal_weight_section, ladder_sections
    from weigh.harness.results.measures import measure_lines, measures_json
    from weigh.harness.results.ranking.all_games import blend

    results = _load(runs, tell=tell)
    ladder = results.rank(max_fallback_rate=max_fallback_rate, exclude_fallback_episodes=without_fallbacks)
    beside = _Beside(results, ladder, boards=boards, pairs=pairs)
    if json or format == "json":
        document = ladder.to_json()
        if measures:
            document["measures"] = _measured(runs, measures_json)
        if equal_weight:
            document["equal_weight"] = [row.to_json() for row in blend(ladder)]
        print_json(document | beside.to_json())
    elif format == "markdown":
        print_text(markdown_sections([*ladder_sections(ladder), *beside.sections()]).rstrip("\n") or EMPTY)
    elif format == "latex":
        print_text(latex_tables(paper_sections(ladder)))
    elif format == "csv":
        print_text(csv_text(ladder).rstrip("\n"))
    else:
        width = terminal_width()
        short = answer_sections(ladder, width or NARROW, ink())
        print_sections((ladder_sections(ladder, width) if wide else short) or [Section(EMPTY)])
        if equal_weight:
            print_sections([Section(""), equal_weight_section(ladder)])
        if measures:
            print_text("\n".join(_measured(runs, measure_lines)))
        if added := beside.sections():
            print_sections([Section(""), *added])
    if any(standing.episodes for game in ladder.games for standing in game.standings):
        return True
    print_note("weigh: no episode was finished, so nothing is ranked")
    return False


def _load(runs: Sequence[Path], *, tell: bool) -> Results:
    """The results of `runs`. With `tell`, how each run stands is noted on standard error, where it is not finished."""
    from weigh.harness.results import load
    from weigh.harness.store.store import Store
    from weigh.harness.words import shown

    results = load([str(run) for run in runs])
    for folder in results.folders if tell else ():
        with Store.open(folder, readonly=True) as store:
            if store.status != "finished":
                print_note(shown(f"{folder}: {store.status}", limit=500))
    return results


class _Beside:
    """What `--boards` and `--pairs` add to a ladder, in each of its forms; nothing where they were not given."""

    def __init__(self, results: Results, ladder: Ladder, *, boards: bool, pairs: bool) -> None:
        from weigh.harness.results.ranking.elo import boards as second_boards
        from weigh.harness.results.ranking.matchups import pair_boards

        seeds = {manifest.run_id: manifest.seed for manifest in results.manifests}
        self._boards = second_boards(results.seats, ladder, seeds=seeds) if boards else None
        self._pairs = pair_boards(results.seats, ladder, seeds=seeds) if pairs else None

    def to_json(self) -> dict[str, Json]:
        found = {"boards": self._boards, "pairs": self._pairs}
        return {key: [game.to_json() for game in games] for key, games in found.items() if games is not None}

    def sections(self) -> list[Section]:
        from weigh.harness.report.sections.ladder import board_sections
        from weigh.harness.report.sections.pairs import pair_sections

        return [*board_sections(self._boards or ()), *pair_sections(self._pairs or ())]


def _measured(runs: Sequence[Path], form: Callable[[Mapping[str, Measured]], T]) -> T:
    """The measures of `runs` in one of their forms."""
    from weigh.harness.results.measures import measures_of
    from weigh.harness.store.store import Store

    with ExitStack() as opened:
        return form(measures_of([opened.enter_context(Store.open(run, readonly=True)) for run in runs]))
