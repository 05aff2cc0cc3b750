"""The `weigh` command: its sub-commands, and how errors reach a person.

Owns the list of commands and the way from any exception to one clear line and an exit code. Imports no command before
it is asked for, so that `weigh --help` answers at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer

from weigh.harness.cli.help import Chapter, Contents, Entry
from weigh.harness.cli.output import print_note, print_text
from weigh.harness.errors import FINE, INTERRUPTED, INVALID, USAGE, WeighError, exit_code

COMMANDS = (
    Chapter(
        "Run",
        (
            Entry("demo", "ladder:demo", "Play a small ladder, check every record, and show what came of it."),
            Entry("play", "play:play", "Play one episode and show it round by round."),
            Entry("plan", "plan:plan", "Estimate a ladder's cost and statistical power."),
            Entry("ladder", "ladder:ladder", "Play a ladder, or go on where it stopped, then rank it."),
            Entry(
                "gate", "gate:gate", "Catch the policy that got worse: a verdict on a candidate against its baseline."
            ),
            Entry("compare", "compare:compare", "Compare two prompts, or any two policies, on the same deals."),
            Entry("experiment", "experiment:experiment", "Answer a question by changing one thing and playing again."),
        ),
    ),
    Chapter(
        "Analyse",
        (
            Entry("rank", "results:rank", "Rank the entrants of one or several runs."),
            Entry("report", "report:report", "Write a report about one or several runs, as one page."),
            Entry("audit", "audit:audit", "Test for collusion between entrants."),
            Entry("verify", "check:verify", "Recompute records from their moves, and say what differs."),
            Entry("run", "check:run", "Deal with the folder of a run as a whole."),
            Entry("export", "results:export", "Write a run's records or tables to a file for other tools."),
        ),
    ),
    Chapter(
        "Inspect",
        (
            Entry("view", "view:view", "Look at an episode or a whole run, in a browser or as text."),
            Entry("resolve", "check:resolve", "Play given moves through the rules and print where they lead."),
            Entry("read", "check:read", "Show how a model's reply would be read, and the hint it would get."),
            Entry("prompt", "diff_prompts:prompt", "Show exactly what a prompt sends to a model, round by round."),
            Entry(
                "diff-prompts",
                "diff_prompts:diff_prompts",
                "Show where two prompts differ in what a model is really sent.",
            ),
        ),
    ),
    Chapter(
        "Set up",
        (
            Entry("doctor", "setup:doctor", "Look for what would stop a run, and say how to fix it."),
            Entry("games", "setup:games", "List the games, with their seats and config keys."),
            Entry("policies", "setup:policies", "List the scripted policies and the built-in prompts."),
            Entry("mock-server", "setup:mock_server", "Serve a mock of the OpenAI and Anthropic APIs."),
            Entry("local", "setup:local", "Install the embedded model, which needs no key."),
        ),
    ),
)
"""Every command, in the order in which `weigh --help` shows them. A new one is a line here."""


class Weigh(Contents):
    chapters = COMMANDS


app = typer.Typer(
    name="weigh",
    cls=Weigh,
    help="""
    An honest scale for LLM agents: model against model, prompt against prompt, in games of sealed bids and bluff.

      weigh demo                                            a first ladder, no key needed
      weigh play goofspiel match hoard random random        one episode
      weigh play goofspiel PROMPT.md@openai:MODEL match     a prompt of yours against a scripted policy
      weigh ladder ladder.toml                              all entrants against each other, then ranked
    """,
    epilog="""
    An entrant is a scripted policy (match, hoard, random ...), PROMPT.md@provider:model, or @name from a config.
    Results go to standard output, progress and notes to standard error; every command has --json.

    Exit codes: 0 fine; 1 the checked thing is wrong; 2 bad usage, config or input; 3 inconclusive; 4 invalid
    (a provider failed, a limit was reached, too many void episodes, nothing was played); 130 interrupted.
    """,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print_text(f"weigh {version('weigh')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks. May stand anywhere.")] = False,
) -> None:
    """See `Typer(help=...)` above."""


def main() -> NoReturn:
    """Run the command line and exit with one of the codes of `harness.cli.output`."""
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str], caught: Callable[[Exception], None] = lambda error: None) -> int:
    """Run the command that `words` stand for; returns its exit code. No exception leaves it but SystemExit: `caught` is
    handed the one that ended the command.

    A command that plays is refused within a running event loop and outside the main thread.
    """
    debug = "--debug" in words
    try:
        return _called([word for word in words if word != "--debug"])
    except KeyboardInterrupt:
        print_note("weigh: interrupted")
        return INTERRUPTED
    except Exception as error:
        caught(error)
        if debug:
            print_note("".join(traceback.format_exception(error)).rstrip("\n"))
        lines, code = _told(error, words)
        for line in lines:
            print_note(f"weigh: {line}")
        return code


def _called(words: list[str]) -> int:
    command: Any = typer.main.get_command(app)
    if "_WEIGH_COMPLETE" in os.environ:
        command.main(words, "weigh")  # a shell asks what may come next; it exits
    try:
        if not words:
            with command.make_context("weigh", [], resilient_parsing=True) as context:
                print_note(context.get_help())
            return USAGE
        # What typer does in `main`, without its own words for errors, its exit codes and its way with broken pipes.
        with command.make_context("weigh", words, obj=tuple(words)) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return FINE


def _told(error: Exception, words: Sequence[str]) -> tuple[Sequence[str], int]:
    """The lines that tell a person of an error, and the exit code."""
    lines: Sequence[str]
    from weigh.policies.show import one_line

    code = exit_code(error)
    if isinstance(error, typer.TyperException):
        lines, code = (_about_usage(error, words),), USAGE
    elif isinstance(error, WeighError):
        lines = error.lines
    elif code is not None:
        lines = tuple(str(error).splitlines())
    elif isinstance(error, OSError) and error.filename is not None:
        lines, code = (f"{error.filename}: {error.strerror}",), USAGE if isinstance(error, _ABOUT_A_PATH) else INVALID
    else:
        said = " ".join(str(error).split())
        lines = (f"internal error: {type(error).__name__}: {said} (run again with --debug for the traceback)",)
        code = INVALID
    return [one_line(line, 2_000) for line in lines], INVALID if code is None else code


_ABOUT_A_PATH = (PermissionError, FileNotFoundError, NotADirectoryError, IsADirectoryError)
"""What a person can fix by naming another file or folder."""


def _about_usage(error: typer.TyperException, words: Sequence[str]) -> str:
    """Typer's words for a wrong command line, in one line that says where to look."""
    from weigh.games.registry import GAMES

    message = " ".join(error.format_message().split()).rstrip(".")
    where, _, rest = message.partition(": ")
    if where.startswith("Invalid value for '") and rest:
        message = f"{where.removeprefix('Invalid value for ').strip(chr(39))}: {rest}"
    else:
        message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "weigh"
    names = {*GAMES, *(entry.name for chapter in COMMANDS for entry in chapter.entries)}
    whole = next((word for word in words if " " in word and word.split()[:1] and word.split()[0] in names), None)
    quoted = "" if whole is None else f'; "{whole}" is one word to weigh: leave out its quotes'
    return f"{message}{quoted} (see `{where} --help`)"


if __name__ == "__main__":
    main()
