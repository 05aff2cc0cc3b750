"""How commands speak: results on standard output, everything else on standard error.

Owns every write to the two streams. A reader that has gone (`weigh ... | head`) is no error: what is left to say goes
nowhere, and the command ends as it would have, so that nothing paid for is lost to it. Characters that a terminal
cannot show are escaped.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TextIO

from weigh.harness.errors import INVALID, Refused

if TYPE_CHECKING:
    from rich.console import RenderableType

    from weigh.harness.report.render.document import Section
    from weigh.harness.report.render.text import Ink

UNBOUNDED: Final = 10_000
"""Columns of what is no terminal: nothing is wrapped that another program reads."""


def print_json(value: object) -> None:
    """One JSON document on standard output, in ASCII, so that no terminal's encoding can spoil it."""
    print_text(json.dumps(value, indent=2, allow_nan=False))


def print_text(text: str) -> None:
    """A line or more on standard output. Raises Refused when it cannot be written: a full disk, say."""
    failure = _write(sys.stdout, text + "\n")
    if failure is not None:
        raise Refused(f"standard output cannot be written: {failure}", code=INVALID, kind="output-closed")


def print_note(text: str) -> None:
    """A line or more on standard error. Never fails: no run ends because nobody can be told about it."""
    _write(sys.stderr, text + "\n")


def print_over(text: str) -> None:
    """A line on standard error that the next one takes the place of, for a terminal that moves its cursor. Never
    fails."""
    _write(sys.stderr, f"\r\x1b[K{text}")


def rendered(parts: Iterable[RenderableType], width: int, coloured: bool) -> str:
    """Rich renderables as text of at most `width` columns, with escape codes where it is `coloured`.

    Texts are shown as they are, never read as markup. Rich writes nothing itself: it has its own ideas about broken
    pipes and encodings.
    """
    from io import StringIO

    from rich.console import Console

    drawn = StringIO()
    screen = Console(
        file=drawn,
        width=width,
        force_terminal=coloured,
        color_system="auto" if coloured else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        screen.print(part)
    return "\n".join(line.rstrip() for line in drawn.getvalue().rstrip("\n").split("\n"))


def print_rich(*parts: RenderableType) -> None:
    """Rich renderables on standard output: coloured where a terminal takes colours, else plain and as wide as they
    are."""
    print_text(rendered(parts, terminal_width() or UNBOUNDED, takes_colours(os.environ)))


def print_sections(sections: Iterable[Section]) -> None:
    """Sections on standard output: in the width of a terminal, whole for everything else."""
    from weigh.harness.report.render.text import plain_lines, renderable

    width = terminal_width()
    if width is None:
        print_text("\n".join(plain_lines(sections)))
    else:
        print_rich(renderable(sections, width, encoding()))


def terminal_width() -> int | None:
    """The columns of standard output, None when it is no terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return max(20, get_terminal_size().columns)


def text_width() -> int:
    """The columns of lines that are wrapped: a terminal's, at most 100; 80 for everything else."""
    return min(terminal_width() or 80, 100)


def takes_colours(environ: Mapping[str, str]) -> bool:
    """Whether standard output is a terminal whose owner has nothing against escape codes."""
    return sys.stdout is not None and not environ.get("NO_COLOR") and moves_cursor(sys.stdout, environ)


def encoding() -> str:
    """What standard output can be written in."""
    return (sys.stdout.encoding if sys.stdout is not None else None) or "utf-8"


def ink() -> Ink:
    """Drawn characters for a terminal that can show them, ASCII for everything else."""
    from dataclasses import astuple

    from weigh.harness.report.render.text import ASCII, DRAWN

    if terminal_width() is None or os.environ.get("TERM", "").lower() == "dumb":
        return ASCII
    try:
        "".join(astuple(DRAWN)).encode(encoding())
    except UnicodeEncodeError:
        return ASCII
    return DRAWN


def _write(stream: TextIO | None, text: str) -> str | None:
    """Write and flush. None when it is written or nobody reads it, else why it cannot be."""
    if stream is None:  # closed before we were started (`>&-`)
        return None
    form = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(form, "backslashreplace").decode(form))
        stream.flush()
    except OSError as error:
        forget(stream)
        return None if isinstance(error, BrokenPipeError) else error.strerror or str(error)
    return None


def forget(stream: TextIO | None) -> None:
    """Let all further text for `stream` go nowhere, what Python still holds of it included."""
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)


def moves_cursor(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a picture may be redrawn in place on `stream`."""
    if environ.get("CI", "").lower() not in ("", "0", "false"):
        return False
    if environ.get("TERM", "").lower() in ("dumb", "unknown"):
        return False
    try:
        return stream.isatty()
    except ValueError:  # a closed stream
        return False
