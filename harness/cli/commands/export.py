"""`weigh export`: what a run holds, in files for other tools."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from weigh.harness.cli.options import newest, one_of
from weigh.harness.cli.output import forget, print_json, print_note
from weigh.harness.cli.outputs import check_output
from weigh.harness.errors import INVALID, Refused
from weigh.harness.store.schema import is_run

FORMATS = ("jsonl", "json", "csv", "parquet")
TABLES = ("records", "seats", "decisions", "calls", "voids", "accounts", "measures")


def export(
    run_or_file: Annotated[
        Path, typer.Argument(metavar="[RUN]", help="A run folder; left out, the newest run is exported.")
    ],
    named: Annotated[
        Path | None, typer.Argument(metavar="FILE|-", help="Where to write, - for standard output.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", parser=one_of(FORMATS), help="jsonl, json, csv or parquet; else FILE's ending."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", parser=one_of(TABLES), help=", ".join(TABLES)),
    ] = None,
    episode: Annotated[
        str | None, typer.Option(metavar="KEY", help="The one episode that json holds; not needed where there is one.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write a run's records or tables to a file for other tools.

    jsonl holds whole records unless a table is named; json one record; csv and parquet the rows of a table, seats
    unless told otherwise. The file appears when it is complete, and takes the place of one that is there; it may not be
    a file that the run itself is kept in.

      weigh export seats.csv
      weigh export results/demo seats.csv
      weigh export results/demo calls.jsonl --table calls
      weigh export results/demo record.json --episode goofspiel/b0000/r0

    Exit codes: 0 written; 2 not a run, or formats and tables that do not go together; 4 a disk that is full.
    """
    file = run_or_file if named is None else named
    if named is None and is_run(file):
        raise Refused(f"{file} is a run: say where to write, as in `weigh export {file} seats.csv`")
    run = newest() if named is None else run_or_file
    chosen = format or file.suffix.removeprefix(".").lower()
    if chosen not in FORMATS:
        what = f"{chosen} is none of {', '.join(FORMATS)}" if chosen else "it has no ending that says which format"
        raise Refused(f"{file}: {what}; name one with --format", kind="format-unknown")
    if str(file) != "-":
        check_output("FILE", file, [run])
    if chosen == "json" and episode is None and table in (None, "records"):
        episode = _only_episode(run)
    if str(file) == "-":
        rows, name = _to_stdout(run, chosen, table, episode), "standard output"
    else:
        from weigh.harness.results.export import export as write

        rows, name = write(run, file, chosen, table=table, episode=episode), str(file)
    if json and str(file) != "-":
        print_json({"file": name, "format": chosen, "rows": rows})
    else:
        print_note(f"weigh: {rows} {'row' if rows == 1 else 'rows'} in {name}")


def _only_episode(run: Path) -> str:
    from weigh.harness.store.store import Store

    with Store.open(run, readonly=True) as store:
        finished = store.finished()
    if len(finished) != 1:
        raise Refused(
            f"json holds one record, and {run} has {len(finished)} finished episodes: name one with --episode, "
            + (f"as {finished[0]}" if finished else "once there is one"),
            kind="episode-missing",
        )
    return finished[0]


def _to_stdout(run: Path, format: str, table: str | None, episode: str | None) -> int:
    """The same by way of a temporary file, since a format may need to look back in it."""
    from tempfile import TemporaryDirectory

    from weigh.harness.results.export import export as write

    with TemporaryDirectory(prefix="weigh-") as folder:
        draft = Path(folder) / f"export.{format}"
        rows = write(run, draft, format, table=table, episode=episode)
        if sys.stdout is None:
            return rows
        try:
            with draft.open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)
            sys.stdout.flush()
        except OSError as error:
            forget(sys.stdout)
            if not isinstance(error, BrokenPipeError):
                raise Refused(
                    f"standard output cannot be written: {error.strerror or error}", code=INVALID, kind="output-closed"
                ) from error
    return rows
