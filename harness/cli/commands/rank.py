"""`weigh rank`: the ladder of what runs hold, finished or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from weigh.harness.cli.options import number, one_of
from weigh.harness.cli.output import encoding, print_json, print_note, print_rich, print_text, terminal_width
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import INVALID, Refused

if TYPE_CHECKING:
    from weigh.games.game import Json
    from weigh.harness.audit.measures.registry import Measured
    from weigh.harness.results import Results
    from weigh.harness.results.ranking.standings import Ladder

FORMATS = ("table", "markdown", "csv", "json")
T = TypeVar("T")


def rank(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders, as `weigh ladder` makes them.")],
    max_fallback_rate: Annotated[
        float,
        typer.Option(metavar="RATE", parser=number(0, 1), help="Entrants above it are listed, not ranked."),
    ] = MAX_FALLBACK_RATE,
    without_fallbacks: Annotated[
        bool, typer.Option("--without-fallbacks", help="Leave out of the scores every episode with a fallback in it.")
    ] = False,
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", parser=one_of(FORMATS), help="table, markdown, csv or json.")
    ] = "table",
    measures: Annotated[
        bool, typer.Option("--measures", help="Also how each entrant played: the measures of each game.")
    ] = False,
    equal_weight: Annotated[
        bool, typer.Option("--equal-weight", help="Also one number over all games, each with the same weight.")
    ] = False,
    boards: Annotated[
        bool, typer.Option("--boards", help="Also a second board: Elo and OpenSkill, and where they disagree.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also who beats whom: each pair, circles, and the maximal lottery.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Rank the entrants of one or several runs.

    By mean episode score, with everything beside it that says how sure that is. Runs need not be finished, and may
    still be going on. Runs with the same seed share their deals, and are not taken for independent.

      weigh rank results/demo
      weigh rank results/a results/b --format markdown
      weigh rank results/demo --measures
      weigh rank results/league --equal-weight
      weigh rank results/demo --boards --pairs

    Exit codes: 0 ranked; 2 not a run, or one that does not hold what it planned; 4 no finished episode.
    """
    if equal_weight and format in ("markdown", "csv"):
        raise Refused(f"--equal-weight: not with --format {format}; use --json", kind="options-conflict")
    if measures and format in ("markdown", "csv"):
        raise Refused(
            f"--measures: not with --format {format}; `weigh export RUN FILE --table measures` writes them",
            kind="options-conflict",
        )
    for option, asked in (("--boards", boards), ("--pairs", pairs)):
        if asked and format == "csv" and not json:
            raise Refused(
                f"{option}: not with --format csv, which has one row an entrant; use --json", kind="options-conflict"
            )
    if not show_ranking(
        runs,
        json=json,
        format=format,
        max_fallback_rate=max_fallback_rate,
        without_fallbacks=without_fallbacks,
        measures=measures,
        equal_weight=equal_weight,
        boards=boards,
        pairs=pairs,
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
    tell: bool = False,
) -> bool:
    """Print the ladder of `runs` on standard output. False when they hold no finished episode."""
    from weigh.harness.results.measures import measure_lines, measures_json
    from weigh.harness.results.ranking.all_games import blend, blend_lines

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
        from weigh.harness.report.sections.tables import markdown

        print_text("\n\n".join([markdown(ladder).rstrip("\n"), *beside.markdown()]))
    elif format == "csv":
        from weigh.harness.report.sections.tables import csv_text

        print_text(csv_text(ladder).rstrip("\n"))
    else:
        _print_table(ladder)
        if equal_weight:
            print_text("\n".join(blend_lines(ladder)))
        if measures:
            print_text("\n".join(_measured(runs, measure_lines)))
        if lines := beside.lines(terminal_width()):
            print_text("\n".join(lines))
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

    def lines(self, width: int | None) -> list[str]:
        from weigh.harness.report.render.sheets import sheet_lines
        from weigh.harness.report.sections.board_sheets import board_sheets
        from weigh.harness.report.sections.pair_sheets import pair_sheets

        written = encoding()
        sheets = [*board_sheets(self._boards or (), width, written), *pair_sheets(self._pairs or (), width, written)]
        return sheet_lines(sheets, width)

    def markdown(self) -> list[str]:
        from weigh.harness.report.render.sheets import sheet_markdown
        from weigh.harness.report.sections.board_sheets import board_sheets
        from weigh.harness.report.sections.pair_sheets import whole_pair_sheets

        sheets = [*board_sheets(self._boards or (), None), *whole_pair_sheets(self._pairs or ())]
        return [sheet_markdown(sheets).rstrip("\n")] if sheets else []


def _measured(runs: Sequence[Path], form: Callable[[Mapping[str, Measured]], T]) -> T:
    """The measures of `runs` in one of their forms."""
    from weigh.harness.results.measures import measures_of
    from weigh.harness.store.store import Store

    with ExitStack() as opened:
        return form(measures_of([opened.enter_context(Store.open(run, readonly=True)) for run in runs]))


def _print_table(ladder: Ladder) -> None:
    from weigh.harness.report.sections.tables import plain_lines, renderable

    width = terminal_width()
    if width is not None:
        print_rich(renderable(ladder, width, encoding()))
    else:
        print_text("\n".join(plain_lines(ladder)))
