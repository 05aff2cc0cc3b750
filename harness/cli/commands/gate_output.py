"""Where a verdict goes: the terminal or JSON, a JUnit file, a Markdown summary, and the job's own summary page.

Owns the writing. A file appears whole or not at all. It says "not judged yet" from the start, so that the green file of
an earlier build never outlives a build that fails.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.cli.outputs import check_output
from weigh.harness.errors import Refused

if TYPE_CHECKING:
    from weigh.harness.gate.verdict import BuildVerdict

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file that GitHub Actions shows on a job's page."""

PENDING = "not judged yet: the gate is being played, or was killed"


def require_writable(option: str, path: Path | None, inputs: Sequence[str] = ()) -> None:
    """Refuse, before anything is paid for, a file that could not be written afterwards: by making one beside it.

    Pipes and devices are refused as well: opening one may wait for ever. `inputs` are what is read: entrants and files
    in the words of the command line.
    """
    import tempfile

    if path is None:
        return
    try:
        place = path.resolve(strict=path.is_symlink() and path.exists())
        mode = place.stat().st_mode if place.exists() else None
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links, in Python below 3.13
        raise Refused(f"{option} {path}: cannot be written: {_why(error)}") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise Refused(f"{option} {path}: is a folder; give the name of a file")
    if place.is_symlink():
        raise Refused(f"{option} {path}: cannot be written: its links lead in a circle")
    if mode is not None and not stat.S_ISREG(mode):
        raise Refused(f"{option} {path}: is no plain file; give the name of one")
    if not place.parent.is_dir():
        raise Refused(f"{option} {path}: its folder does not exist")
    check_output(option, path, [part for word in inputs for part in (word, word.partition("@")[0]) if part])
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", suffix=".part"):
            pass
    except OSError as error:
        raise Refused(f"{option} {path}: cannot be written: {_why(error)}") from error


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


@dataclass(frozen=True, slots=True)
class Reports:
    """The files of one build."""

    name: str
    """The build's, while nothing better is known."""
    junit: Path | None
    summary: Path | None

    def begin(self, inputs: Sequence[str]) -> None:
        """Make the files say that nothing is judged yet. Raises Refused where they cannot be written, are one file, or
        are among the `inputs`: entrants and files in the words of the command line."""
        files = [(option, path) for option, path in (("--junit", self.junit), ("--summary", self.summary)) if path]
        for option, path in files:
            require_writable(option, path, inputs)
        places = [path.resolve() for _, path in files]
        if len(set(places)) < len(places):
            raise Refused(f"--junit {self.junit} and --summary {self.summary}: are one file")
        from weigh.harness.gate.junit import not_judged
        from weigh.harness.report.sections.verdict import HEADING, failed_page

        if self.junit is not None and not _empty_or(self.junit, "<"):
            raise Refused(f"--junit {self.junit}: holds something else than XML; remove it, or give another name")
        self._write(not_judged(self.name, PENDING), None)
        if self.summary is not None and _empty_or(self.summary, HEADING):
            self._write(None, failed_page(self.name, PENDING))

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Whatever ends the block early is an error in the files, too."""
        try:
            yield
        except BaseException as error:
            from weigh.harness.gate.junit import not_judged
            from weigh.harness.report.sections.verdict import failed_page

            reason = " ".join(f"{type(error).__name__} {error}".split() if _is_bug(error) else str(error).split())
            page = failed_page(self.name, reason or type(error).__name__)
            with suppress(Exception):  # the error itself is what is to be told
                self._write(not_judged(self.name, reason or type(error).__name__), page)
                _append(page)
            raise

    def show(self, build: BuildVerdict, json: bool) -> None:
        """Write the files, then print."""
        from weigh.harness.gate.junit import junit
        from weigh.harness.report.sections.verdict import markdown, text_lines

        page = markdown(build)
        self._write(junit(build) if self.junit is not None else None, page)
        _append(page)
        if json:
            print_json(build.to_json())
        else:
            print_text("\n".join(text_lines(build)))

    def _write(self, document: str | None, page: str | None) -> None:
        from weigh.harness.results.export import write_atomically

        if self.junit is not None and document is not None:
            write_atomically(self.junit, document)
        if self.summary is not None and page is not None:
            write_atomically(self.summary, page)


def _is_bug(error: BaseException) -> bool:
    return not isinstance(error, Refused)


def _empty_or(path: Path, begins: str) -> bool:
    """Whether a file is missing, empty, or begins so: one that may be written over before there is anything to tell."""
    try:
        with path.open("rb") as stream:
            head = stream.read(200)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return not head.strip() or head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(begins.encode())


def _append(page: str) -> None:
    """Add to the job's summary page, where there is one. What is no plain file is left alone: it may never be read."""
    job = os.environ.get(STEP_SUMMARY)
    if not job:
        return
    try:
        place = Path(job)
        if place.exists() and not place.is_file():
            print_note(f"weigh: {STEP_SUMMARY} cannot be written to: it is no plain file")
            return
        with place.open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(page)
    except (OSError, ValueError) as error:
        print_note(f"weigh: {STEP_SUMMARY} cannot be written to: {_why(error)}")
