"""`weigh doctor`: what would stop a run, before it costs anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weigh.harness.cli.options import JsonFlag, number
from weigh.harness.cli.output import print_json, print_note, print_sections, print_text
from weigh.harness.errors import WRONG


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
    """Look for what would stop a run, and say how to mend it.

    The machine and the installation; with a config, also its keys, addresses, proxies and prices, and one tiny request
    for each way its entrants ask a model, schemas included.

      weigh doctor
      weigh doctor ladder.toml
      weigh doctor ladder.toml --no-calls

    Exit codes: 0 nothing would stop a run; 1 something would, and is named; 2 bad config.
    """
    import asyncio

    from weigh.harness.cli.preflight import look_around, look_at_keys
    from weigh.harness.cli.probes import ask_models
    from weigh.harness.config.config import load_config
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    order = None if config is None else load_config(config)
    findings = list(look_around(order))
    if order is not None:
        found, reachable = look_at_keys(order)
        findings += found
        if calls:
            findings += asyncio.run(ask_models(order, reachable, timeout, print_note))
    failed = sum(finding.level == "fail" for finding in findings)
    if json:
        print_json({"ok": not failed, "checks": [finding.to_json() for finding in findings]})
    else:
        from weigh.harness.report.render.document import Column, Section, Table, cells

        columns = (Column("", numeric=False), Column("", numeric=False), Column("", numeric=False, prose=True))
        rows = cells((finding.level, finding.what, finding.told()) for finding in findings)
        print_sections([Section("", blocks=(Table("", columns, rows),))])
        print_text(_summary(failed, len(findings), asked=order is not None))
    if failed:
        raise typer.Exit(WRONG)


def _summary(failed: int, checks: int, *, asked: bool) -> str:
    if failed:
        return f"\n{failed} of {checks} checks failed: mend these first"
    more = "" if asked else "; `weigh doctor CONFIG.toml` looks at its models too"
    return f"\nnothing found that would stop a run{more}"
