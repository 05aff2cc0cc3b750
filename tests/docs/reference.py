"""The reference pages, made from the code: commands, config keys, games and outputs.

    python -m tests.docs.reference      writes docs/reference/{cli,config,games,output}.md (`make reference`)

The same code gives the same bytes: no terminal, time or environment has a part in them. `tests.docs.outputs` makes the
page of outputs; test_reference.py says when a page is older than the code.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import typer
from pydantic import BaseModel

from weigh.games.game import AnyGame
from weigh.games.registry import GAMES
from weigh.harness.audit.measures.registry import diagnostics_of
from weigh.harness.cli.app import app
from weigh.harness.config import sections
from weigh.harness.gate import spec as gate_file
from weigh.harness.providers.endpoints.settings import EndpointSettings, Price
from weigh.policies.scripted.registry import scripted_names

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "reference"
WIDTH = 100
"""Columns of a help page."""


def attribute_docs(kind: type) -> dict[str, str]:
    """The string below each annotated field of a class and of those it inherits from, on one line."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        except (OSError, TypeError, ValueError):  # classes that are not written in a file
            continue
        assert isinstance(tree, ast.ClassDef)
        for field, following in zip(tree.body, tree.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(following, ast.Expr)
                and isinstance(following.value, ast.Constant)
                and isinstance(following.value.value, str)
            ):
                found[field.target.id] = " ".join(following.value.value.split())
    return found


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table, with an empty line after it."""
    marks = ":--|" * len(columns)
    return [
        f"| {' | '.join(columns)} |",
        f"|{marks}",
        *(f"| {' | '.join(map(cell, row))} |" for row in rows),
        "",
    ]


def page(title: str, made_from: str, lines: Iterable[str]) -> str:
    head = [f"<!-- Written by `make reference` from {made_from}. Do not edit. -->", "", f"# {title}", ""]
    return "\n".join([*head, *lines]).rstrip("\n") + "\n"


# -- commands ----------------------------------------------------------------------------------------------------------


def help_pages(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    """The path of a command, and the help of it and of those below it."""
    yield context.command_path, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    for name in command.list_commands(context) if hasattr(command, "commands") else ():
        below = command.get_command(context, name)
        sized = {"terminal_width": WIDTH, "max_content_width": WIDTH}
        yield from help_pages(below, typer.Context(below, info_name=name, parent=context, **sized))


def cli_page() -> str:
    lines = ["What each command prints with `--help`.", ""]
    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="weigh", terminal_width=WIDTH, max_content_width=WIDTH)
    for title, text in help_pages(command, context):
        lines += [f"## {title}", "", "```text", text, "```", ""]
    return page("Commands", "the help of each command", lines)


# -- config keys -------------------------------------------------------------------------------------------------------


def kind_of(spec: Mapping[str, Any]) -> str:
    """What a value may be, from the JSON Schema of its field."""
    if "anyOf" in spec:
        return " or ".join(kind_of(one) for one in spec["anyOf"] if one.get("type") != "null")
    if "enum" in spec:
        return "one of " + ", ".join(f"`{value}`" for value in spec["enum"])
    if "const" in spec:
        return f"`{spec['const']}`"
    if "$ref" in spec:
        return "table"
    words = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
    kind = words.get(spec.get("type", ""), "table" if spec.get("type") == "object" else "value")
    if spec.get("type") == "array":
        kind = f"list of {kind_of(spec['items'])}" if spec.get("items") else "list"
    bounds = []
    for key, word in (("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"),
                      ("exclusiveMaximum", "below")):  # fmt: skip
        if key in spec:
            bounds.append(f"{word} {'2^63' if spec[key] == 2**63 else spec[key]}")
    return ", ".join([kind, *bounds])


def written(value: object) -> str:
    """A default as a config would hold it."""
    if value is None or value == {}:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def config_keys(kind: type[BaseModel]) -> list[str]:
    docs = attribute_docs(kind)
    properties = kind.model_json_schema()["properties"]
    rows = []
    for name, field in kind.model_fields.items():
        spec = properties[name]
        default = "required" if field.is_required() else written(None if field.default_factory else field.default)
        rows.append((f"`{name}`", kind_of(spec), default, docs.get(name) or field.description or ""))
    return table(("key", "value", "default", "meaning"), rows)


LADDER: Sequence[tuple[str, str, type[BaseModel]]] = (
    ("Above every table", "", sections.Head),
    ("[games.NAME]", "The game's own keys stand in the same table: [games.md](games.md).", sections._Schedule),
    ("[entrants.NAME]", "Or in short: `NAME = \"PROMPT.md@provider:model\"`, `NAME = \"POLICY\"`.", sections.Prompted),
    ('[models."PROVIDER"] and [models."PROVIDER:MODEL"]', "What is left out is what is known of the provider.",
     EndpointSettings),
    ("price in [models]", "US dollars per million tokens.", Price),
    ("[limits]", "", sections.Limits),
    ("[rank]", "", sections.Rank),
)  # fmt: skip
GATE: Sequence[tuple[str, str, type[BaseModel]]] = (
    ("Above every table", "", gate_file.GateHead),
    ("[defaults] and [gates.NAME]", "`baseline` and `checks` stand in a gate only.", gate_file.GateTable),
    ("[gates.NAME.checks]", "A table for each measure: `fallback_rate = { max_increase = 0.02 }`.",
     gate_file.Threshold),
    ("[limits]", "Of all gates together.", gate_file.GateLimits),
)  # fmt: skip


def config_page() -> str:
    lines = [
        "Every key of a ladder's file and of a gate's. Any other key is refused. An empty default: left",
        "out unless given. [examples/ladder.toml](../../examples/ladder.toml) and",
        "[examples/gate.toml](../../examples/gate.toml) show the keys in use.",
        "",
    ]
    for file, parts in (("A ladder", LADDER), ("A gate", GATE)):
        lines += [f"## {file}", ""]
        for title, words, kind in parts:
            lines += [f"### {title}", "", *([words, ""] if words else []), *config_keys(kind)]
    lines += ["A gate file may have `[entrants]` and `[models]` too, with the keys of a ladder's."]
    return page("Config keys", "the fields that a config is read into", lines)


# -- games -------------------------------------------------------------------------------------------------------------


def endings(game: AnyGame) -> dict[str, Any]:
    """What the outcome of an episode reports, from one random episode of the default config."""
    rng = Random(1)
    config = game.config_type()
    state = game.start(config, game.deal(config, rng))
    while state.to_act:
        state = state.play({seat: state.legal(seat).sample(rng) for seat in sorted(state.to_act)})
    assert state.outcome is not None
    return dict(state.outcome.measures)


def game_lines(game: AnyGame) -> list[str]:
    config = game.config_type()
    state = game.start(config, game.deal(config, Random(1)))
    seat = min(state.to_act)
    legal = state.legal(seat)
    low, high = game.seats.start, game.seats.stop - 1
    rules = "\n".join(f"> {line}".rstrip() for line in game.rulebook(config).strip().splitlines()[1:]).strip()
    facts = [
        ("name", f"`{game.name}`"),
        ("seats", str(low) if low == high else f"{low} to {high}; {game.seat_count(config)} unless set"),
        ("scripted policies", ", ".join(f"`{name}`" for name in scripted_names(game.name))),
        ("fallback", f"`{game.fallback}`"),
        ("lowest score", str(game.lowest(config))),
        ("a legal answer", f"`{legal.answer.example}`"),
        ("at the first decision", legal.describe()),
        ("in its records", ", ".join(f"`{name}`" for name in endings(game))),
    ]
    lines = [f"## {game.title}", "", *table(("", ""), facts)]
    lines += ["### The rules, with the default numbers", "", rules.removeprefix("> ").removeprefix(">").strip(), ""]
    lines += ["### Config", "", *config_keys(game.config_type)]
    meanings = diagnostics_of(game.name).meanings
    if meanings:
        lines += ["### Measures", "", *table(("measure", "meaning"), ((f"`{k}`", v) for k, v in meanings.items()))]
    return lines


def games_page() -> str:
    lines = [
        "The rules as a model reads them, filled in with the default config. What a finished record of each game holds",
        "is in [records.md](records.md).",
        "",
    ]
    for game in GAMES.values():
        lines += game_lines(game)
    return page("Games", "the rules", lines)


def pages() -> Mapping[str, Callable[[], str]]:
    """By file name."""
    from tests.docs.outputs import output_page

    return {"cli.md": cli_page, "config.md": config_page, "games.md": games_page, "output.md": output_page}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, made in pages().items():
        (FOLDER / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
