"""`weigh report`: what came out of runs, as one page for people who were not there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from weigh.harness.cli.options import RunsArgument, number, one_of, runs_or_newest
from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.cli.outputs import check_ending, check_folder, check_output
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import INVALID, Refused

if TYPE_CHECKING:
    from weigh.harness.report.contents import Contents
    from weigh.harness.results import Results

FORMATS = ("html", "markdown")
SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


def report(
    runs: RunsArgument = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where to; FILE.md is Markdown, - is standard output."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", parser=one_of(FORMATS), help="html or markdown.")
    ] = None,
    replays: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the replays of all episodes there, and link to them.")
    ] = None,
    max_fallback_rate: Annotated[
        float,
        typer.Option(metavar="RATE", parser=number(0, 1), help="Entrants above it are listed, not ranked."),
    ] = MAX_FALLBACK_RATE,
    without_fallbacks: Annotated[
        bool, typer.Option("--without-fallbacks", help="Leave out of the scores every episode with a fallback in it.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report's data as JSON; a file is written only with -o.")
    ] = False,
) -> None:
    """Write a report about one or several runs, as one page.

    Who leads and how sure that is, what to know before believing it, and for each game the ladder, pairs, seats,
    faults, cost, latency, the collusion audit, measures and episodes worth a look. The page is one HTML file that asks
    nobody for anything and holds no script; --format markdown is the same as text, short enough for a pull request.
    Without -o it lies in the run, as report.html or report.md. What is there already is replaced, but for a run's own
    files. --replays wants a folder that is new, empty or holds nothing but earlier pages, which are replaced.

      weigh report results/demo
      weigh report results/demo -o report.html --replays replays
      weigh report results/a results/b -o report.md
      weigh report results/demo --format markdown -o -

    Exit codes: 0 written; 2 not a run, one that does not hold what it planned, or a file that cannot be written there;
    4 no finished episode (the report says so), or a disk that is full.
    """
    form = _form(out, format)
    runs = runs_or_newest(runs)
    target = _target(out, form, runs, needed=not json)
    if target is not None:
        check_ending("-o", target, [name for name, named in SUFFIXES.items() if named == form])
        check_output("-o", target, runs)
    if replays is not None and (target is None or form != "html"):
        raise Refused(
            "--replays: only with an HTML report that is written to a file, which links to them", kind="option-without"
        )
    contents, results = _contents(runs, max_fallback_rate, without_fallbacks)
    options = _options(max_fallback_rate, without_fallbacks)
    if out == "-" and not json:
        print_text(_text(contents, form, {}, options).rstrip("\n"))
    elif target is not None:
        links = {} if replays is None else _replays(results, replays, target)
        _keep(target, _text(contents, form, links, options), tell=not json)
    if json:
        print_json(contents.to_json())
    if not contents.finished:
        print_note("weigh: no episode was finished, so nothing is ranked")
        raise typer.Exit(INVALID)


def _form(out: str | None, given: str | None) -> str:
    """The format that was asked for, or that the file's name asks for."""
    named = SUFFIXES.get(Path(out).suffix.lower()) if out not in (None, "-") and out is not None else None
    if given is not None and named is not None and given != named:
        raise Refused(f"--format {given}: {out} is named like {named}; give one of the two", kind="options-conflict")
    return given or named or ("markdown" if out == "-" else "html")


def _target(out: str | None, form: str, runs: Sequence[Path], *, needed: bool) -> Path | None:
    """Where the file goes; None where none is written."""
    if out == "-":
        return None
    if out is not None:
        return Path(out)
    if not needed:
        return None
    if len(runs) > 1:
        raise Refused(
            "several runs have no folder in common: say where the report goes, with -o FILE", kind="target-missing"
        )
    return runs[0] / ("report.html" if form == "html" else "report.md")


def _contents(runs: Sequence[Path], max_fallback_rate: float, without_fallbacks: bool) -> tuple[Contents, Results]:
    from weigh.harness.audit.collusion.audit import Settings
    from weigh.harness.cli.commands.audit import audit_of
    from weigh.harness.report.contents import gather
    from weigh.harness.results import load

    results = load([str(run) for run in runs])
    audit = audit_of(runs, Settings())
    return (
        gather(results, audit, max_fallback_rate=max_fallback_rate, without_fallbacks=without_fallbacks),
        results,
    )


def _options(max_fallback_rate: float, without_fallbacks: bool) -> list[str]:
    given = [] if max_fallback_rate == MAX_FALLBACK_RATE else [f"--max-fallback-rate {max_fallback_rate:g}"]
    return [*given, *(["--without-fallbacks"] if without_fallbacks else [])]


def _text(contents: Contents, form: str, links: Mapping[tuple[str, str], str], options: Sequence[str]) -> str:
    from weigh.harness.report.render.html import html_page
    from weigh.harness.report.render.markdown import markdown_page
    from weigh.harness.report.report import document

    made = document(contents, replays=links, options=options)
    return html_page(made) if form == "html" else markdown_page(made)


def _keep(target: Path, text: str, *, tell: bool) -> None:
    from weigh.harness.results.export import write_atomically

    write_atomically(target, text)
    if tell:
        print_text(str(target))
        print_note(f"weigh: {len(text.encode()) / 1e3:.0f} kB written")


def _replays(results: Results, folder: Path, report: Path) -> dict[tuple[str, str], str]:
    """Write the replays of every run; their addresses from the report's place, by run id and episode.

    One run's lie in `folder`, those of several each in a folder of its own below.
    """
    from weigh.harness.cli.wait import counting
    from weigh.harness.report.contents import replay_names
    from weigh.harness.results.export import write_atomically
    from weigh.harness.run.folder import require_room
    from weigh.harness.store.store import Store
    from weigh.harness.web.viewer.run import run_folder_pages

    found: dict[tuple[str, str], str] = {}
    for place in results.folders:
        with Store.open(place, readonly=True) as store:
            run = store.manifest.run_id
            home = folder / run if len(results.folders) > 1 else folder
            require_room(home)
            check_folder("--replays", home)
            home.mkdir(parents=True, exist_ok=True)
            written: set[str] = set()
            with counting("drawing", len(store.finished())) as tell:
                for page in run_folder_pages(store):
                    write_atomically(home / page.name, "".join(page.parts))
                    written.add(page.name)
                    tell(len(written))
            way = Path(os.path.relpath(home.resolve(), report.resolve().parent)).as_posix()
            for key, name in replay_names(store.finished(), frozenset(written)).items():
                found[run, key] = quote(f"{way}/{name}", safe="/~")
    return found
