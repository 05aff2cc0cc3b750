"""Where a command may write: never over what it reads, never over a run's own files, and no page over another's file.

Owns these refusals, made before any work is done. What a run keeps in its folder is the store's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from weigh.harness.errors import Refused

_HEAD = 2_000
"""Bytes of a page that hold its mark."""


def check_output(option: str, target: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a file to be written that is one of `inputs` (or a file of a run folder among them), by whatever name or
    link, or that is one of a run's own files."""
    from weigh.harness.results.export import is_of_a_run

    if is_of_a_run(target):
        raise Refused(
            f"{option} {target}: this is where a run keeps what was played; give another name", kind="target-is-runs"
        )
    for name in inputs:
        source = Path(name)
        kept = [each for each in source.iterdir() if is_of_a_run(each)] if source.is_dir() else [source]
        if any(_same(target, each) for each in kept):
            raise Refused(
                f"{option} {target}: this is what is read; it would be lost; give another name", kind="target-is-input"
            )


def check_ending(option: str, target: Path, endings: Sequence[str]) -> None:
    """Refuse a file whose name says that it is something else than what is written. None at all is fine."""
    if target.suffix and target.suffix.lower() not in endings:
        raise Refused(
            f"{option} {target}: what is written is no {target.suffix} file; end it in {' or '.join(endings)}",
            kind="wrong-ending",
        )


def check_page(option: str, target: Path) -> None:
    """Refuse to write a page that nobody named over a file that is no such page."""
    if target.exists() and not _is_page(target):
        raise Refused(
            f"{option}: {target} is there and is no page of weigh; give another folder, or move it away",
            kind="target-is-foreign",
        )


def check_folder(option: str, folder: Path) -> None:
    """Refuse a folder for many pages that holds anything but earlier ones. Files whose names begin with a dot do not
    count."""
    if not folder.is_dir():
        return
    foreign = sorted(each.name for each in folder.iterdir() if not each.name.startswith(".") and not _is_page(each))
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise Refused(
            f"{option} {folder}: it holds what is no page of weigh ({foreign[0]}{more}), which pages might replace; "
            f"give a folder of its own, e.g. {option} {folder / 'pages'}/",
            kind="target-is-foreign",
        )


def _is_page(path: Path) -> bool:
    from weigh.harness.web.viewer.page import MARK

    try:
        with path.open("rb") as stream:
            return MARK.encode() in stream.read(_HEAD)
    except OSError:
        return False


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
