"""The command line, called in this process and as a process, for the tests of its commands."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import typer

from weigh.harness.cli.app import app, run
from weigh.harness.errors import kind_of

ROOT = Path(__file__).resolve().parents[2]
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY")
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in (*KEYS, "NO_COLOR", "COLUMNS", "CI", "FORCE_COLOR") and not name.lower().endswith("_proxy")
}
"""Without anything that a developer's own shell might put in between."""


@dataclass(frozen=True)
class Said:
    """What a command said, and the exit code it ended with."""

    code: int
    out: str
    err: str
    kind: str | None = None
    """Of the error that ended it (`harness.errors.kind_of`); `usage` for a command line that cannot be read."""

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self, *parts: str, kind: str | None = None) -> str:
        """The one line of a refusal of this `kind`, which must hold `parts` (values, not words: words stand in
        tests/cli/refusals/): exit code 2, no result, nobody's traceback."""
        assert self.code == 2, self
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("weigh: "), line
        assert self.kind is not None, line
        if kind is not None:
            assert self.kind == kind, line
        for part in parts:
            assert part in line, line
        return line


def weigh(*words: object, stdin: str | bytes = b"", environ: Mapping[str, str] | None = None) -> Said:
    """Run a command in this process. The streams are UTF-8 and no terminal."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2)]
    errors: list[Exception] = []
    fed = stdin.encode("utf-8", "surrogatepass") if isinstance(stdin, str) else stdin
    with (
        mock.patch.multiple(
            sys, stdin=io.TextIOWrapper(io.BytesIO(fed), "utf-8"), stdout=streams[0], stderr=streams[1]
        ),
        mock.patch.dict(os.environ, {**ENVIRONMENT, **(environ or {})}, clear=True),
    ):
        code = run([str(word) for word in words], errors.append)
    out, err = (stream.buffer.getvalue().decode("utf-8") for stream in streams)  # type: ignore[attr-defined]
    kinds = ["usage" if isinstance(error, typer.TyperException) else kind_of(error) for error in errors]
    return Said(code, out, err, kinds[0] if kinds else None)


def parsed(words: Iterable[str]) -> dict[str, Any]:
    """The parameters that a command line is read to; nothing is run."""
    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="weigh")
    left = list(words)
    while hasattr(command, "commands"):
        name = left.pop(0)
        command = command.get_command(context, name)
        assert command is not None, name
        context = command.make_context(name, left if not hasattr(command, "commands") else [left[0]], parent=context)
    return dict(context.params)


def command(*words: object) -> list[str]:
    """The same as a process's arguments."""
    return [sys.executable, "-m", "weigh.harness.cli.app", *map(str, words)]


def environment(**more: str) -> dict[str, str]:
    """A process's environment in which this project is found from any folder."""
    return {**ENVIRONMENT, "PYTHONPATH": str(ROOT), **more}


def process(*words: object, cwd: Path, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a process of its own."""
    return subprocess.run(
        command(*words), input=stdin, capture_output=True, cwd=cwd, env=environment(**environ), timeout=120
    )


@contextmanager
def started(*words: object, cwd: Path, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that is going on, killed at the end of the block if it still does."""
    with subprocess.Popen(
        command(*words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment(**environ),
    ) as going:
        try:
            yield going
        finally:
            going.kill()


SCRIPTED = """\
seed = 3
[games.goofspiel]
seats = 3
cards = 4
blocks = 2
"""
"""A ladder of the three baselines: six episodes, over in no time."""


def config(folder: Path, text: str = SCRIPTED, name: str = "s.toml") -> Path:
    """A config file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def documents(folder: Path) -> list[Path]:
    """Every file below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
