"""Help pages, and the list of commands that is looked through without importing a single one of them.

Owns how `weigh --help` and `weigh COMMAND --help` look: plain text, quick to make and easy to pipe. In a command's
docstring an indented block is kept as it is (examples); other paragraphs are wrapped.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from weigh.harness.cli.output import print_text


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is imported when it is asked for."""

    name: str
    home: str
    """`module:function`, below this package; or `module:app` for a group of commands."""
    line: str
    """What it does: the first line of its docstring, so that the list can be shown without it."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """Commands that are listed under one heading."""

    heading: str
    entries: tuple[Entry, ...]


def _show_help(ctx: Any, param: Any, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        print_text(ctx.get_help())
        raise typer.Exit


class _Plain:
    """Help that is printed as everything else is."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.callback = _show_help
        return option


class Page(_Plain, TyperCommand):
    """A command with a plain help page."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        lone = {name for param in self.params if str(param.metavar).startswith("[") for name in param.opts}
        return super().parse_args(ctx, with_values(args, lone))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *(_metavar(param) for param in self.params if param.param_type_name == "argument")]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        write_paragraphs(formatter, self.help or "")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            if isinstance(param, typer.core.TyperArgument):
                arguments.append((_metavar(param), param.help or ""))
            elif (record := param.get_help_record(ctx)) is not None:
                name, _, kind = record[0].partition(" <")
                options.append((name if kind == "bool>" else record[0], record[1]))
        for heading, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def with_values(words: Sequence[str], lone: set[str]) -> list[str]:
    """`words` with a 0 after each option of `lone` that no whole number follows: such an option may stand alone."""
    written: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return [*written, *words[place:]]
        written.append(word)
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in lone and not (following.isascii() and following.isdigit()):
            written.append("0")
    return written


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


class Shelf(dict[str, Any]):
    """Commands by name. One of a chapter is imported and built when it is asked for."""

    def get(self, name: str, default: Any = None) -> Any:
        found = super().get(name, default)
        if isinstance(found, Entry):
            found = self[name] = built(found)
        return found


def built(entry: Entry) -> Any:
    """The command of an entry."""
    module, _, name = entry.home.partition(":")
    target = getattr(import_module(f"weigh.harness.cli.commands.{module}"), name)
    if isinstance(target, typer.Typer):
        group = typer.main.get_command(target)
        group.name = entry.name
        return group
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(entry.name, cls=Page)(with_options(target))
    return typer.main.get_command(single)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """`command` as Typer takes it: where its parameter `options` is a dataclass, each field is a parameter of Typer's.

    So the options of a command stand in one list, and are handed on as one value.
    """
    model = get_type_hints(command, include_extras=True).get("options")
    if model is None:
        return command
    hints = get_type_hints(model, include_extras=True)
    own = [each for each in inspect.signature(command, eval_str=True).parameters.values() if each.name != "options"]
    given = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(model)
    ]

    @wraps(command)
    def called(**values: Any) -> None:
        command(**{each.name: values.pop(each.name) for each in own}, options=model(**values))

    called.__signature__ = inspect.Signature([*own, *given])  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in (*own, *given)}
    return called


class Group(_Plain, TyperGroup):
    """A group of commands with a plain help page."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        write_paragraphs(formatter, self.help or "")


class Contents(Group):
    """The root command: a list of chapters."""

    chapters: tuple[Chapter, ...] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Shelf({entry.name: entry for chapter in self.chapters for entry in chapter.entries})

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        wide = max(len(name) for name in self.commands)
        for chapter in self.chapters:
            with formatter.section(chapter.heading):
                formatter.write_dl([(f"{entry.name:<{wide}}", entry.line) for entry in chapter.entries])
        rows = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([(row[0].removesuffix(" <bool>"), row[1]) for row in rows if row is not None])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_paragraphs(formatter, inspect.cleandoc(self.epilog or ""))


def write_paragraphs(formatter: Any, text: str) -> None:
    """A text without a common margin: its paragraphs wrapped, its indented blocks as they stand."""
    for paragraph in text.split("\n\n"):
        formatter.write_paragraph()
        lines = paragraph.split("\n")
        if all(line.startswith("  ") for line in lines):
            formatter.write("\n".join(lines) + "\n")
        else:
            formatter.write_text(" ".join(lines))
