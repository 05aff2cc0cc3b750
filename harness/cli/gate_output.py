"""Where a verdict goes: the terminal or JSON, a JUnit file, a Markdown summary, and the job's own summary page.

Owns the writing. A file appears whole or not at all, and is written whatever the verdict.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import Refused, print_json, print_note, print_text

if TYPE_CHECKING:
    from harness.gate.verdict import BuildVerdict

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file that GitHub Actions shows on a job's page."""


def require_writable(option: str, path: Path | None) -> None:
    """Refuse, before anything is paid for, a file that could not be written afterwards."""
    if path is None:
        return
    if path.is_dir():
        raise Refused(f"{option} {path}: is a folder; give the name of a file")
    if not path.absolute().parent.is_dir():
        raise Refused(f"{option} {path}: its folder does not exist")
    from harness.cli.run_folder import require_room

    require_room(path.absolute().parent)


def show(build: BuildVerdict, json: bool, junit: Path | None, summary: Path | None) -> None:
    """Write the files, then print."""
    from harness.export import write_atomically
    from harness.gate.verdict_text import markdown, text_lines

    if junit is not None:
        from harness.gate.junit import junit as junit_xml

        write_atomically(junit, junit_xml(build))
    page = markdown(build)
    if summary is not None:
        write_atomically(summary, page)
    job = os.environ.get(STEP_SUMMARY)
    if job:
        try:
            with Path(job).open("a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(page)
        except OSError as error:
            print_note(f"weigh: {STEP_SUMMARY} cannot be written to: {error.strerror or error}")
    if json:
        print_json(build.to_json())
    else:
        print_text("\n".join(text_lines(build)))
