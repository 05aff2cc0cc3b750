"""`weigh view`: an episode or a run to look at, as a page that needs nothing but a browser, or as text."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from weigh.games.values import nearest, quote
from weigh.harness.audit.verify.record import as_record, verify_record
from weigh.harness.cli.commands.check import load
from weigh.harness.cli.options import newest, number
from weigh.harness.cli.output import encoding, print_json, print_note, print_text
from weigh.harness.cli.outputs import check_ending, check_folder, check_output, check_page
from weigh.harness.cli.tell import playthrough
from weigh.harness.cli.wait import counting
from weigh.harness.errors import INCONCLUSIVE, Refused, TooLarge
from weigh.harness.results.export import is_of_a_run, write_atomically
from weigh.harness.run.folder import require_room
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.web.scenes import NoPictures
from weigh.harness.web.viewer.run import INDEX, episode_page, file_name, record_page, run_folder_pages, run_page
from weigh.harness.words import plural, shown

LARGEST_PAGE: Final = 50.0
"""Megabytes."""
PAGE: Final = "view.html"
"""Of a whole run, in its folder."""

Pages: TypeAlias = Iterable[tuple[Path, Iterable[str]]]
"""Texts in pieces, and where they go."""


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What is shown of a run or a record, and where."""

    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE|DIR/", help="The page (- prints it); DIR/ for a page an episode and an index."
        ),
    ] = None
    episode: Annotated[str | None, typer.Option(metavar="KEY", help="The one episode of a run to show.")] = None
    text: Annotated[bool, typer.Option("--text", help="Tell it in the terminal, and write no page.")] = False
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False
    max_mb: Annotated[
        float,
        typer.Option(metavar="MB", parser=number(0, above=True), help="The most that one page of a run may hold."),
    ] = LARGEST_PAGE
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False


def view(
    options: ViewOptions,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[RECORD|RUN]",
            help="A record as JSON (- for standard input), or a run folder; else the newest.",
        ),
    ] = None,
) -> None:
    """Look at an episode or a whole run, in a browser or as text.

    The page is one HTML file: pictures of every step, what each seat said and did, and, from a run, every reply with
    its tokens and its cost. It asks no server for anything, and shows both sides of the table: hand it to no player.
    Without -o it lies beside the record (NAME.view.html) or in the run (view.html), and opens in a browser where there
    is a display. A page that is there already is replaced, what is read or belongs to a run itself never is.
    DIR/ must be new, empty, or hold nothing but earlier pages. Links may end in #step=17 (of the record), #frame=23
    (pictures of the page; both are counted from 0) or, in a run, #episode=KEY&step=17.

      weigh view record.json
      weigh view results/demo -o demo.html
      weigh view results/demo -o pages/
      weigh view record.json -o -
      weigh view results/demo --episode goofspiel/b0000/r0 --text

    Exit codes: 0 written or told; 2 no record or run, an episode that is not there, or a run too large for one page; 3
    nothing to tell (--text): no episode is finished; 4 a disk that is full.
    """
    if options.text and options.out is not None:
        raise Refused("--text writes no page: leave out -o, or --text", kind="options-conflict")
    if options.out == "-" and options.json:
        raise Refused(
            "-o - prints the page, and --json what was written: leave out one of the two", kind="options-conflict"
        )
    target = str(newest()) if target is None else target
    try:
        folder = _run_of(target)
        if folder is None:
            _view_record(target, options)
        else:
            with Store.open(folder, readonly=True) as store:
                _view_run(store, options)
    except NoPictures as error:
        raise Refused(f"{target}: {error}", kind="unusable-target") from None


def _run_of(target: str) -> Path | None:
    """The run's folder where it, or one of its files, was named."""
    path = Path(target)
    if target == "-":
        return None
    if path.is_file() and is_of_a_run(path):
        return path.parent
    return path if path.is_dir() else None


def _view_record(target: str, options: ViewOptions) -> None:
    if options.episode is not None:
        raise Refused(f"--episode {options.episode}: {target} is no run folder", kind="not-a-run")
    record = _record(target)
    if options.text:
        _tell([record], target, options.json)
        return
    if options.out is None and target == "-":
        raise Refused("a record from standard input needs a place for its page: -o FILE.html", kind="target-missing")
    parts = record_page(record)
    _warn(record, target)
    path = _file_for(options.out, Path(target).with_suffix(".view.html"), record.key)
    check_output("-o", path, [] if target == "-" else [target])
    _keep([(path, parts)], path, 1, options)


def _record(target: str) -> Record:
    if target.endswith(".jsonl"):
        raise Refused(
            f"{target}: holds a record on each line; view the run, or one record (weigh export --episode KEY)",
            kind="several-records",
        )
    found = as_record(load(target))
    if not isinstance(found, Record):
        name = "standard input" if target == "-" else target
        raise Refused(
            f"{name}: not a record: {found[0] if found else 'nothing in it can be read'}", kind="not-a-record"
        )
    return found


def _warn(record: Record, name: str) -> None:
    """Say that a record is not what its moves come to. It is shown all the same: as it was played."""
    found = verify_record(record)
    if found:
        said = f"weigh: {name} does not reproduce ({plural(len(found), 'finding')}; the first: {found[0]})"
        print_note(shown(said, encoding(), limit=2_000))


def _view_run(store: Store, options: ViewOptions) -> None:
    out, key = options.out, options.episode
    if options.text:
        _tell(store.records() if key is None else [_episode_of(store, key)], str(store.folder), options.json)
    elif key is not None:
        record = _episode_of(store, key)
        path = _file_for(out, store.folder / f"view-{file_name(key)}", key)
        check_output("-o", path, [store.folder])
        parts = episode_page(store, record)
        _warn(record, key)
        _keep([(path, parts)], path, 1, options)
    elif out is not None and _is_folder(out):
        _view_run_in_folder(store, Path(out), options)
    else:
        path = store.folder / PAGE if out is None else _file_for(out, Path(), "")
        check_output("-o", path, [store.folder])
        _keep([(path, _run_parts(store, options.max_mb))], path, len(store.finished()), options)


def _episode_of(store: Store, key: str) -> Record:
    record = store.record(key)
    if record is not None:
        return record
    void = next((void for void in store.voids() if void.episode == key), None)
    if void is not None:
        raise Refused(f"--episode {key}: it is void ({void.cause}) and has no record", kind="episode-void")
    if store.episode(key) is not None:
        raise Refused(f"--episode {key}: it is not finished yet", kind="episode-unfinished")
    finished = store.finished()
    raise Refused(f"{store.folder} has no episode {quote(key)}{nearest(key, finished)}", kind="no-episode")


def run_page_written(store: Store) -> Path:
    """The page of a whole run, written into its folder."""
    path = store.folder / PAGE
    write_atomically(path, "".join(_run_parts(store, LARGEST_PAGE)))
    return path


def _run_parts(store: Store, max_mb: float) -> tuple[str, ...]:
    try:
        with counting("drawing", len(store.finished())) as drawn:
            return run_page(store, int(max_mb * 1e6), drawn)
    except TooLarge as large:
        raise Refused(str(large), kind=large.kind) from None


def _view_run_in_folder(store: Store, folder: Path, options: ViewOptions) -> None:
    require_room(folder)
    check_folder("-o", folder)
    folder.mkdir(parents=True, exist_ok=True)
    episodes = len(store.finished())
    with counting("drawing", episodes) as drawn:

        def placed() -> Iterator[tuple[Path, Iterable[str]]]:
            for count, page in enumerate(run_folder_pages(store), start=1):
                yield folder / page.name, page.parts
                drawn(count)

        _keep(placed(), folder / INDEX, episodes, options)


def _is_folder(out: str) -> bool:
    return out.endswith(("/", os.sep)) or Path(out).is_dir()


def _file_for(out: str | None, otherwise: Path, key: str) -> Path:
    """Where one page goes. Raises Refused for a name that says it is something else than a page."""
    if out is None:
        return otherwise
    if out == "-":
        return _STDOUT
    if not _is_folder(out):
        check_ending("-o", Path(out), (".html", ".htm"))
        return Path(out)
    Path(out).mkdir(parents=True, exist_ok=True)
    path = Path(out) / file_name(key)
    check_page("-o", path)
    return path


_STDOUT = Path("-")
"""Stands for standard output. `./-` is a file."""


def _keep(pages: Pages, first: Path, episodes: int, options: ViewOptions) -> None:
    """Write the pages, say where the first to be looked at is, and open it if a person may see it."""
    written = size = 0
    for path, parts in pages:
        text = "".join(parts)
        if path is _STDOUT:
            print_text(text.rstrip("\n"))
            return
        write_atomically(path, text)
        written, size = written + 1, size + len(text.encode())
    opened = options.out is None and not options.no_open and _may_browse() and _browse(first)
    if options.json:
        print_json({"file": str(first), "pages": written, "episodes": episodes, "bytes": size, "opened": opened})
        return
    print_text(str(first))
    print_note(f"weigh: {plural(written, 'page')}, {size / 1e6:.1f} MB; open it in any browser")


def _may_browse() -> bool:
    """Whether somebody is there to look: a terminal, and a display for a browser."""
    if sys.stdout is None or not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _browse(path: Path) -> bool:
    try:
        return webbrowser.open(path.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False


def _tell(records: Iterable[Record], source: str, json: bool) -> None:
    told = []
    for place, record in enumerate(records):
        lines = list(playthrough(record, encoding()))
        if json:
            told.append({"key": record.key, "lines": lines})
        else:
            print_text("\n".join([*([""] if place else []), *lines]))
            told.append({})
    if not told:
        raise Refused(f"{source}: nothing to tell, no episode is finished", code=INCONCLUSIVE, kind="nothing-finished")
    if json:
        print_json(told)
