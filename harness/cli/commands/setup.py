"""`weigh games`, `policies`, `doctor`, `mock-server` and `local setup`: what there is, and what playing needs."""

from __future__ import annotations

import json as json_module
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from weigh.games.game import AnyGame
from weigh.games.registry import GAMES
from weigh.harness.cli.help import Group, Page
from weigh.harness.cli.options import JsonFlag, number, one_of, whole
from weigh.harness.cli.output import print_json, print_note, print_sections, print_text
from weigh.harness.config.entrants import packaged_prompts
from weigh.harness.errors import WRONG, Refused
from weigh.harness.providers.local.weights import local_setup
from weigh.harness.report.render.document import Column, Section, Table, bullets, cells
from weigh.harness.run.signals import require_own_loop
from weigh.policies.scripted.registry import scripted_names


def games(json: JsonFlag = False) -> None:
    """List the games, with their seats and config keys.

    A config key is set with `weigh play --set KEY=VALUE`, or under [games.NAME] in a ladder's config. The fallback is
    the scripted policy that moves for a seat whose two attempts gave no legal move.

      weigh games
      weigh games --json

    Exit codes: 0 fine.
    """
    if json:
        print_json(
            [
                {
                    "game": game.name,
                    "title": game.title,
                    "seats": [game.seats.start, game.seats.stop - 1],
                    "fallback": game.fallback,
                    "config": _config_keys(game),
                }
                for game in GAMES.values()
            ]
        )
        return
    rows = []
    for game in GAMES.values():
        low, high = game.seats.start, game.seats.stop - 1
        seats = str(low) if low == high else f"{low}-{high}"
        defaults = {key: spec["default"] for key, spec in _config_keys(game).items()}
        keys = ", ".join(key if default is None else f"{key} ({default})" for key, default in defaults.items())
        rows.append((game.name, game.title, seats, game.fallback, keys))
    _print_table(("game", "what it is", "seats", "fallback", "config keys (default)"), rows)


def _config_keys(game: AnyGame) -> dict[str, dict[str, object]]:
    """A game's config keys with default and bounds, from its JSON Schema."""
    told = ("default", "minimum", "maximum", "description")
    properties = game.config_type.model_json_schema().get("properties", {})
    return {name: {key: spec.get(key) for key in told} for name, spec in properties.items()}


def policies(json: JsonFlag = False) -> None:
    """List the scripted policies and the built-in prompts.

    A scripted policy is an entrant by its name alone. A prompt is one with a model behind it:

      weigh policies
      weigh play goofspiel goofspiel/tempo.md@local:smollm2 match

    Exit codes: 0 fine.
    """
    rows: list[dict[str, object]] = []
    for game in GAMES.values():
        for name in scripted_names(game.name):
            rows.append({"policy": name, "kind": "scripted", "game": game.name, "fallback": name == game.fallback})
    for word, prompt in packaged_prompts():
        for game_name in prompt.games or tuple(GAMES):
            rows.append({"policy": word, "kind": "prompt", "game": game_name, "description": prompt.description})
    if json:
        print_json(rows)
        return
    told = [
        (
            *(str(row[key]) for key in ("policy", "kind", "game")),
            "the fallback" if row.get("fallback") else str(row.get("description") or ""),
        )
        for row in rows
    ]
    _print_table(("policy", "kind", "game", ""), told)
    how = "A prompt plays with a model behind it: PROMPT.md@provider:model, e.g. goofspiel/tempo.md@local:smollm2"
    print_sections([Section(""), Section("", blocks=(bullets([how]),))])


def _print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns of words, the last of them of sentences."""
    columns = [Column(title, numeric=False, prose=n == len(titles) - 1) for n, title in enumerate(titles)]
    print_sections([Section("", blocks=(Table("", tuple(columns), cells(rows)),))])


def doctor(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.toml]", help="A ladder config whose models are asked too.")
    ] = None,
    calls: Annotated[
        bool, typer.Option("--calls/--no-calls", help="Whether to send tiny requests to each model.")
    ] = True,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", parser=number(0, above=True), help="For an answer; a loading model is awaited."
        ),
    ] = 60.0,
    json: JsonFlag = False,
) -> None:
    """Look for what would stop a run, and say how to fix it.

    The machine and the installation; with a config, also its keys, addresses, proxies and prices, and one tiny request
    for each way its entrants ask a model, schemas included.

      weigh doctor
      weigh doctor ladder.toml
      weigh doctor ladder.toml --no-calls

    Exit codes: 0 nothing would stop a run; 1 something would, and is named; 2 bad config.
    """
    from weigh.harness.config.config import load_config
    from weigh.harness.run.play.doctor import examine  # the providers' clients

    require_own_loop()
    order = None if config is None else load_config(config)
    findings = examine(order, ask=calls, within=timeout, note=print_note)
    failed = sum(finding.level == "fail" for finding in findings)
    if json:
        print_json({"ok": not failed, "checks": [finding.to_json() for finding in findings]})
    else:
        _print_table(("", "", ""), ((finding.level, finding.what, finding.told()) for finding in findings))
        more = "" if order is not None else "; `weigh doctor CONFIG.toml` looks at its models too"
        print_text(
            f"\n{failed} of {len(findings)} checks failed: fix these first"
            if failed
            else f"\nnothing found that would stop a run{more}"
        )
    if failed:
        raise typer.Exit(WRONG)


@dataclass(frozen=True, slots=True)
class MockOptions:
    """The settings of a mock server, by the names that `read_options` knows them by."""

    port: Annotated[int, typer.Option(metavar="N", parser=whole(0, 65535), help="0 takes a free one.")] = 8000
    host: Annotated[str, typer.Option(metavar="HOST", help="The address to listen on.")] = "127.0.0.1"
    seed: Annotated[
        int, typer.Option(metavar="N", parser=whole(0), help="Answers are a function of it and of the request.")
    ] = 0
    latency: Annotated[
        str,
        typer.Option(metavar="LATENCY", help="Of every answer: 200ms, uniform:50-400ms or lognormal:200ms,0.5."),
    ] = "0ms"
    faults: Annotated[
        str, typer.Option(metavar="SHARES", help="Of faulty replies, as illegal=0.1,empty=0.02,429=0.05.")
    ] = ""
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Scripted faults, TOML or JSON: which requests meet what.")
    ] = None
    requests_per_minute: Annotated[
        float | None,
        typer.Option(metavar="N", parser=number(0, above=True), help="Answer what comes beyond with 429."),
    ] = None
    models: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="NAME", help="A model to list; any other is served too. May be repeated."),
    ] = None
    only_listed: Annotated[bool, typer.Option("--only-listed", help="Answer 404 for models that are not listed.")] = (
        False
    )
    answer_style: Annotated[
        str | None,
        typer.Option(
            metavar="STYLE", parser=one_of(("reason-then-json", "json-only")), help="reason-then-json or json-only."
        ),
    ] = None
    log_size: Annotated[
        int, typer.Option(metavar="N", parser=whole(0), help="How many of the last requests GET /log shows.")
    ] = 0


UNTIL = "until Ctrl-C; GET /stats tells what was asked"


def mock_server(
    options: MockOptions,
    json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as one JSON line on standard output.")
    ] = False,
) -> None:
    """Serve a mock of the OpenAI and Anthropic APIs.

    It answers with legal moves, the same for the same request and seed, to rehearse a ladder for nothing: with
    latencies, rate limits and faults as providers have them.

      weigh mock-server --port 8000 --latency uniform:50-400ms --faults illegal=0.1
      weigh play goofspiel goofspiel/plain.md@mock:mock-small match --base-url http://127.0.0.1:8000/v1

    Exit codes: 0 stopped with Ctrl-C or SIGTERM, which is how it ends; 2 bad usage, or an address that is taken.
    """
    from weigh.harness.providers.mock_server import Addresses, CannotListen, load_plan, read_options, serve  # aiohttp

    def announce(addresses: Addresses) -> None:
        if json:
            print_text(json_module.dumps(addresses.to_json()))
            return
        print_note(f"weigh: serving on {addresses.url} {UNTIL}. In a config:")
        print_note(f'  [models."mock:mock-small"]\n  base_url = "{addresses.openai_url()}"')

    given = {name: value for name, value in asdict(options).items() if value is not None and value != []}
    try:
        if options.plan is not None:
            given["plan"] = load_plan(options.plan)
        serve(read_options(given), announce)
    except ValueError as error:
        raise Refused(" ".join(str(error).split()), kind="fault-plan") from error
    except CannotListen as error:
        raise Refused(f"{error}; choose another with --port", kind="port-taken") from error


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
    done = local_setup(_run)
    if json:
        print_json({"installed": list(done)})
    else:
        print_text(f"installed: {', '.join(done)}" if done else "everything is installed: play with local:smollm2")


def _run(command: Sequence[str]) -> int:
    """Run an installer; what it prints is progress, and goes to standard error."""
    print_note(f"weigh: running {' '.join(command)}")
    try:
        return subprocess.run(command, check=False, stdout=sys.stderr).returncode  # noqa: S603 - made by weights
    except OSError as error:
        raise Refused(f"could not run {command[0]}: {error.strerror or error}", kind="cannot-run") from error
