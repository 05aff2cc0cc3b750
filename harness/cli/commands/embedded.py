"""`weigh local setup`: the embedded model, installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import typer

from weigh.harness.cli.help import Group, Page
from weigh.harness.cli.options import JsonFlag
from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.errors import Refused

local = typer.Typer(
    help="""
    Install the embedded model, which needs no key.

    Exit codes: see `weigh local setup --help`.
    """,
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@local.callback()
def _local() -> None:
    """A group with one command would otherwise lose its name."""


@local.command("setup", cls=Page)
def setup(json: JsonFlag = False) -> None:
    """Install the embedded model: its server, and its weights.

    About 130 MB, into the Python that runs this. Afterwards local:smollm2 can be played with, without a key or a
    network; it is a very small model, and says nothing about how strong others are.

      weigh local setup
      weigh play oshi_zumo oshi_zumo/plain.md@local:smollm2 match --style schema --max-tokens 32

    Exit codes: 0 installed, or there already; 4 it could not be installed.
    """
    from weigh.harness.providers.local.server import local_setup

    done = local_setup(_run)
    if json:
        print_json({"installed": list(done)})
    elif done:
        print_text(f"installed: {', '.join(done)}")
    else:
        print_text("everything is installed: play with local:smollm2")


def _run(command: Sequence[str]) -> int:
    """Run an installer; what it prints is progress, and goes to standard error."""
    print_note(f"weigh: running {' '.join(command)}")
    try:
        return subprocess.run(command, check=False, stdout=sys.stderr).returncode  # noqa: S603 - made by weights
    except OSError as error:
        raise Refused(f"could not run {command[0]}: {error.strerror or error}", kind="cannot-run") from error
