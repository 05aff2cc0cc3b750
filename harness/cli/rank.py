"""`weigh rank`: the ladder of what runs hold, finished or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from harness.cli.options import number, one_of
from harness.cli.output import (
    INVALID,
    Refused,
    encoding,
    print_json,
    print_note,
    print_rich,
    print_text,
    terminal_width,
)

if TYPE_CHECKING:
    from harness.diagnostics import Measured
    from harness.standings import Ladder

FORMATS = ("table", "markdown", "csv", "json")
MAX_FALLBACK_RATE = 0.2
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
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Rank the entrants of one or several runs.

    By mean episode score, with everything beside it that says how sure that is. Runs need not be finished, and may
    still be going on. Runs with the same seed share their deals, and are not taken for independent.

      weigh rank results/demo
      weigh rank results/a results/b --format markdown
      weigh rank results/demo --measures
      weigh rank results/league --equal-weight

    Exit codes: 0 ranked; 2 not a run; 4 no finished episode.
    """
    if equal_weight and format in ("markdown", "csv"):
        raise Refused(f"--equal-weight: not with --format {format}; use --json")
    if measures and format in ("markdown", "csv"):
        raise Refused(f"--measures: not with --format {format}; `weigh export RUN FILE --table measures` writes them")
    if not show_ranking(
        runs,
        json=json,
        format=format,
        max_fallback_rate=max_fallback_rate,
        without_fallbacks=without_fallbacks,
        measures=measures,
        equal_weight=equal_weight,
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
    tell: bool = False,
) -> bool:
    """Print the ladder of `runs` on standard output. False when they hold no finished episode."""
    from harness.blend import blend, blend_lines
    from harness.measures import measure_lines, measures_json

    ladder = ladder_of(runs, max_fallback_rate=max_fallback_rate, without_fallbacks=without_fallbacks, tell=tell)
    if json or format == "json":
        document = ladder.to_json()
        if measures:
            document["measures"] = _measured(runs, measures_json)
        if equal_weight:
            document["equal_weight"] = [row.to_json() for row in blend(ladder)]
        print_json(document)
    elif format == "markdown":
        from harness.tables import markdown

        print_text(markdown(ladder).rstrip("\n"))
    elif format == "csv":
        from harness.tables import csv_text

        print_text(csv_text(ladder).rstrip("\n"))
    else:
        _print_table(ladder)
        if equal_weight:
            print_text("\n".join(blend_lines(ladder)))
        if measures:
            print_text("\n".join(_measured(runs, measure_lines)))
    if any(standing.episodes for game in ladder.games for standing in game.standings):
        return True
    print_note("weigh: no episode was finished, so nothing is ranked")
    return False


def ladder_of(
    runs: Sequence[Path],
    *,
    max_fallback_rate: float = MAX_FALLBACK_RATE,
    without_fallbacks: bool = False,
    tell: bool = False,
) -> Ladder:
    """The ladder of `runs`, whose manifests say how many episodes were planned and who takes part.

    With `tell`, how each run stands is noted on standard error, where it is not finished.
    """
    from harness.accounts import accounts_of
    from harness.display_words import shown
    from harness.ratings import rank as rank_rows
    from harness.results import load
    from harness.store import Store

    results = load([str(run) for run in runs])
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(folder, readonly=True)) for folder in results.folders]
        accounts = accounts_of(stores)
    expected: Counter[str] = Counter()
    entered: dict[str, set[str]] = {}
    for folder, manifest in zip(results.folders, results.manifests, strict=True):
        with Store.open(folder, readonly=True) as store:
            if tell and store.status != "finished":
                print_note(shown(f"{folder}: {store.status}", limit=500))
            expected.update(row.game for row in store.episodes() if row.deal_key)
        for entry in manifest.policies:
            game, _, entrant = entry.partition("/")
            entered.setdefault(game, set()).add(entrant)
    return rank_rows(
        results.seats,
        results.voids,
        max_fallback_rate=max_fallback_rate,
        exclude_fallback_episodes=without_fallbacks,
        expected_episodes=expected,
        entered=entered,
        seeds={manifest.run_id: manifest.seed for manifest in results.manifests},
        accounts=accounts,
    )


def _measured(runs: Sequence[Path], form: Callable[[Mapping[str, Measured]], T]) -> T:
    """The measures of `runs` in one of their forms."""
    from harness.measures import measures_of
    from harness.store import Store

    with ExitStack() as opened:
        return form(measures_of([opened.enter_context(Store.open(run, readonly=True)) for run in runs]))


def _print_table(ladder: Ladder) -> None:
    from harness.tables import plain_lines, renderable

    width = terminal_width()
    if width is not None:
        print_rich(renderable(ladder, width, encoding()))
    else:
        print_text("\n".join(plain_lines(ladder)))
