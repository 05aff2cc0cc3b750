"""`weigh view`: an episode or a run to look at, as a page that needs nothing but a browser, or as text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.harness.cli.options import newest, number
from weigh.harness.cli.output import encoding, print_json, print_note, print_text
from weigh.harness.cli.outputs import check_ending, check_folder, check_output, check_page
from weigh.harness.cli.wait import counting
from weigh.harness.errors import Refused

if TYPE_CHECKING:
    from weigh.harness.store.record import Record
    from weigh.harness.store.store import Store


LARGEST_PAGE = 50.0
"""Megabytes."""
PAGE = "view.html"
"""Of a whole run, in its folder."""


def view(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[RECORD|RUN]",
            help="A record as JSON (- for standard input), or a run folder; else the newest.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE|DIR/", help="The page (- prints it); DIR/ for a page an episode and an index."
        ),
    ] = None,
    episode: Annotated[str | None, typer.Option(metavar="KEY", help="The one episode of a run to show.")] = None,
    text: Annotated[bool, typer.Option("--text", help="Tell it in the terminal, and write no page.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False,
    max_mb: Annotated[
        float,
        typer.Option(metavar="MB", parser=number(0, above=True), help="The most that one page of a run may hold."),
    ] = LARGEST_PAGE,
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Look at an episode or a whole run, in a browser or as text.

    The page is one HTML file: pictures of every step, what everybody said and did, and, from a run, every reply with
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
    if text and out is not None:
        raise Refused("--text writes no page: leave out -o, or --text", kind="options-conflict")
    if out == "-" and json:
        raise Refused(
            "-o - prints the page, and --json what was written: leave out one of the two", kind="options-conflict"
        )
    from weigh.harness.web.scenes import NoPictures

    target = str(newest()) if target is None else target
    try:
        _view(_run_of(target), out, episode, text, max_mb, no_open, json)
    except NoPictures as error:
        raise Refused(f"{target}: {error}", kind="unusable-target") from None


def _run_of(target: str) -> str:
    """The run's folder where one of its files was named."""
    from weigh.harness.results.export import is_of_a_run

    path = Path(target)
    return str(path.parent) if target != "-" and is_of_a_run(path) and path.is_file() else target


def _view(
    target: str, out: str | None, episode: str | None, text: bool, max_mb: float, no_open: bool, json: bool
) -> None:
    if target != "-" and Path(target).is_dir():
        from weigh.harness.store.store import Store

        with Store.open(Path(target), readonly=True) as store:
            if text:
                _tell([_episode_of(store, episode)] if episode is not None else store.records(), target, json)
            elif episode is not None:
                _write_episode(store, episode, out, no_open, json)
            else:
                _write_run(store, out, max_mb, no_open, json)
        return
    if episode is not None:
        raise Refused(f"--episode {episode}: {target} is no run folder", kind="not-a-run")
    record = _record(target)
    if text:
        _tell([record], target, json)
        return
    from weigh.harness.web.viewer.run import record_page

    if out is None and target == "-":
        raise Refused("a record from standard input needs a place for its page: -o FILE.html", kind="target-missing")
    parts = record_page(record)
    _warn(record, target)
    path = _file_for(out, Path(target).with_suffix(".view.html"), record.key)
    check_output("-o", path, [] if target == "-" else [target])
    _keep({path: parts}, path, 1, out is None and not no_open, json)


def _record(target: str) -> Record:
    from weigh.harness.audit.verify.record import as_record
    from weigh.harness.cli.commands.check import load
    from weigh.harness.store.record import Record

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
    from weigh.harness.audit.verify.record import verify_record
    from weigh.harness.words import plural, shown

    found = verify_record(record)
    if found:
        said = f"weigh: {name} does not re-derive ({plural(len(found), 'finding')}; the first: {found[0]})"
        print_note(shown(said, encoding(), limit=2_000))


def _episode_of(store: Store, key: str) -> Record:
    from weigh.games.values import nearest, quote

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


def _write_episode(store: Store, key: str, out: str | None, no_open: bool, json: bool) -> None:
    from weigh.harness.web.viewer.run import episode_page, file_name

    record = _episode_of(store, key)
    path = _file_for(out, store.folder / f"view-{file_name(key)}", key)
    check_output("-o", path, [store.folder])
    parts = episode_page(store, record)
    _warn(record, key)
    _keep({path: parts}, path, 1, out is None and not no_open, json)


def _write_run(store: Store, out: str | None, max_mb: float, no_open: bool, json: bool) -> None:
    episodes = len(store.finished())
    if out is not None and _is_folder(out):
        _write_folder(store, Path(out), episodes, json)
        return
    path = store.folder / PAGE if out is None else _file_for(out, Path(), "")
    check_output("-o", path, [store.folder])
    _keep({path: _run_parts(store, max_mb)}, path, episodes, out is None and not no_open, json)


def run_page_written(store: Store) -> Path:
    """The page of a whole run, written into its folder."""
    from weigh.harness.results.export import write_atomically

    path = store.folder / PAGE
    write_atomically(path, "".join(_run_parts(store, LARGEST_PAGE)))
    return path


def _run_parts(store: Store, max_mb: float) -> tuple[str, ...]:
    from weigh.harness.errors import TooLarge
    from weigh.harness.web.viewer.run import run_page

    try:
        with counting("drawing", len(store.finished())) as drawn:
            return run_page(store, int(max_mb * 1e6), drawn)
    except TooLarge as large:
        raise Refused(str(large), kind=large.kind) from None


def _write_folder(store: Store, folder: Path, episodes: int, json: bool) -> None:
    from weigh.harness.run.folder import require_room
    from weigh.harness.web.viewer.run import INDEX, run_folder_pages

    require_room(folder)
    check_folder("-o", folder)
    folder.mkdir(parents=True, exist_ok=True)
    with counting("drawing", episodes) as drawn:

        def placed() -> Iterator[tuple[Path, Iterable[str]]]:
            for number, page in enumerate(run_folder_pages(store), start=1):
                yield folder / page.name, page.parts
                drawn(number)

        written, size = _written(placed())
    _tell_of(folder / INDEX, written, size, episodes, False, json)


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
    from weigh.harness.web.viewer.run import file_name

    Path(out).mkdir(parents=True, exist_ok=True)
    path = Path(out) / file_name(key)
    check_page("-o", path)
    return path


_STDOUT = Path("-")
"""Stands for standard output. `./-` is a file."""


def _keep(pages: Mapping[Path, Iterable[str]], first: Path, episodes: int, browse: bool, json: bool) -> None:
    """Write the pages, say where the first to be looked at is, and open it if a person may see it."""
    if first is _STDOUT:
        print_text("".join(pages[first]).rstrip("\n"))
        return
    written, size = _written(pages.items())
    _tell_of(first, written, size, episodes, browse, json)


def _written(pages: Iterable[tuple[Path, Iterable[str]]]) -> tuple[int, int]:
    """How many pages were written, and their bytes."""
    from weigh.harness.results.export import write_atomically

    written = size = 0
    for path, parts in pages:
        text = "".join(parts)
        write_atomically(path, text)
        written, size = written + 1, size + len(text.encode())
    return written, size


def _tell_of(first: Path, written: int, size: int, episodes: int, browse: bool, json: bool) -> None:
    opened = browse and _may_browse() and _browse(first)
    if json:
        print_json({"file": str(first), "pages": written, "episodes": episodes, "bytes": size, "opened": opened})
        return
    print_text(str(first))
    print_note(f"weigh: {written} {'page' if written == 1 else 'pages'}, {size / 1e6:.1f} MB; open it in any browser")


def _may_browse() -> bool:
    """Whether somebody is there to look: a terminal, and a display for a browser."""
    if sys.stdout is None or not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _browse(path: Path) -> bool:
    import webbrowser

    try:
        return webbrowser.open(path.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False


def _tell(records: Iterable[Record], source: str, json: bool) -> None:
    from weigh.harness.cli.tell import playthrough
    from weigh.harness.errors import INCONCLUSIVE

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
