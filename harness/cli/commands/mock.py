"""`weigh mock-server`: a stand-in for providers, on the command line."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from weigh.harness.cli.options import number, one_of, whole
from weigh.harness.cli.output import print_note, print_text
from weigh.harness.errors import Refused

STYLES = ("reason-then-json", "json-only")
UNTIL = "until Ctrl-C; GET /stats tells what was asked"


def mock_server(
    port: Annotated[int, typer.Option(metavar="N", parser=whole(0, 65535), help="0 takes a free one.")] = 8000,
    host: Annotated[str, typer.Option(metavar="HOST", help="The address to listen on.")] = "127.0.0.1",
    seed: Annotated[
        int, typer.Option(metavar="N", parser=whole(0), help="Answers are a function of it and of the request.")
    ] = 0,
    latency: Annotated[
        str,
        typer.Option(metavar="LATENCY", help="Of every answer: 200ms, uniform:50-400ms or lognormal:200ms,0.5."),
    ] = "0ms",
    faults: Annotated[
        str, typer.Option(metavar="SHARES", help="Of faulty replies, as illegal=0.1,empty=0.02,429=0.05.")
    ] = "",
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Scripted faults, TOML or JSON: which requests meet what.")
    ] = None,
    requests_per_minute: Annotated[
        float | None,
        typer.Option(metavar="N", parser=number(0, above=True), help="Answer what comes beyond with 429."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A model to list; any other is served too. May be repeated."),
    ] = None,
    only_listed: Annotated[
        bool, typer.Option("--only-listed", help="Answer 404 for models that are not listed.")
    ] = False,
    answer_style: Annotated[
        str | None, typer.Option(metavar="STYLE", parser=one_of(STYLES), help="reason-then-json or json-only.")
    ] = None,
    log_size: Annotated[
        int, typer.Option(metavar="N", parser=whole(0), help="How many of the last requests GET /log shows.")
    ] = 0,
    json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as one JSON line on standard output.")
    ] = False,
) -> None:
    """Serve a stand-in for the OpenAI and Anthropic APIs.

    It answers with legal moves, the same for the same request and seed, to rehearse a ladder for nothing: with
    latencies, rate limits and faults as providers have them.

      weigh mock-server --port 8000 --latency uniform:50-400ms --faults illegal=0.1
      weigh play goofspiel goofspiel/plain.md@mock:mock-small match --base-url http://127.0.0.1:8000/v1

    Exit codes: 0 stopped with Ctrl-C or SIGTERM, which is how it ends; 2 bad usage, or an address that is taken.
    """
    from weigh.harness.providers.mock_server import Addresses, CannotListen, load_plan, read_options, serve

    def announce(addresses: Addresses) -> None:
        if json:
            print_text(json_module.dumps(addresses.to_json()))
            return
        print_note(f"weigh: serving on {addresses.url} {UNTIL}. In a config:")
        print_note(f'  [models."mock:mock-small"]\n  base_url = "{addresses.openai_url()}"')

    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "seed": seed,
        "latency": latency,
        "faults": faults,
        "requests_per_minute": requests_per_minute,
        "models": model or None,
        "only_listed": only_listed,
        "answer_style": answer_style,
        "log_size": log_size,
    }
    try:
        given["plan"] = None if plan is None else load_plan(plan)
        serve(read_options({name: value for name, value in given.items() if value is not None}), announce)
    except ValueError as error:
        raise Refused(" ".join(str(error).split()), kind="fault-plan") from error
    except CannotListen as error:
        raise Refused(f"{error}; choose another with --port", kind="port-taken") from error
