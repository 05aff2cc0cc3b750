"""`weigh compare`: two prompts, or any two policies, on the same deals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.harness.cli.options import (
    BaseUrlOption,
    ConfigOption,
    JsonFlag,
    MaxTokensOption,
    SettingOption,
    StyleOption,
    TemperatureOption,
    number,
    whole,
)
from weigh.harness.cli.output import ink, print_json, print_note, print_text, terminal_width
from weigh.harness.errors import FINE, INTERRUPTED

if TYPE_CHECKING:
    from weigh.harness.gate.comparison import ArmComparison

PLAIN_WIDTH = 80
"""Columns where standard output is no terminal."""


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="A", help="PROMPT.md@provider:model, match, @name ...")],
    second: Annotated[str, typer.Argument(metavar="B", help="What it is compared with, likewise.")],
    game: Annotated[str, typer.Option(metavar="GAME", help="A game; `weigh games` lists them.")],
    pairs: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(1, 1_000_000), help="Pairs of episodes, in whole blocks (20 blocks)."),
    ] = None,
    null: Annotated[bool, typer.Option("--null", help="Also play A once more, to show how much is noise.")] = False,
    field: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Scripted policies for the other seats; default: the game's.")
    ] = None,
    setting: SettingOption = None,
    seed: Annotated[
        int, typer.Option(metavar="N", parser=whole(0), help="Deals, seating and scripted chance follow from it.")
    ] = 0,
    config: ConfigOption = None,
    style: StyleOption = None,
    max_tokens: MaxTokensOption = None,
    temperature: TemperatureOption = None,
    base_url: BaseUrlOption = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", parser=number(0, above=True), help="For one attempt at one decision.")
    ] = 60.0,
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1), help="Stop after so many calls of all arms.")
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(metavar="USD", parser=number(0, above=True), help="Stop at so many dollars of all arms."),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The folder of the arms, below the folder for runs.")
    ] = "compare",
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for runs, instead of results.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Compare two prompts, or any two policies, on the same deals.

    Each plays one seat against the same scripted policies, on the same deals, seeds and seats. Shown is by how much B
    scores more than A, with a 95 % interval clustered by block, and a picture with a mark for each block. With --null A
    plays once more, asked afresh: what it differs from itself is noise.

    Each arm is kept in a run below results/compare: the same command goes on after a stop, and an A that was played
    before, against whatever B, is not played again. The options from --style to --base-url are for prompts.

      weigh compare match hoard --game goofspiel
      weigh compare old.md@openai:gpt-5-mini new.md@openai:gpt-5-mini --game goofspiel --pairs 80 --null
      weigh compare @old @new --config ladder.toml --game ballast --field steady,random --max-usd 2.50

    Exit codes: 0 compared, whatever the difference; 2 bad usage, config or input, or a missing key; 3 nothing can be
    said; 4 stopped by a limit or a provider, or too much is void; 130 interrupted.
    """
    from weigh.harness.cli.commands.play import settings_given
    from weigh.harness.cli.compare_play import Wanted, order_of, played
    from weigh.harness.run.limits import Ceilings
    from weigh.harness.run.play.single import Asked
    from weigh.harness.run.signals import onward, require_own_loop

    require_own_loop()
    asked = Asked(seed, timeout, config, style, max_tokens, temperature, base_url)
    wanted = Wanted(
        words=(first, second),
        game=game,
        asked=asked,
        field=field,
        pairs=pairs,
        settings=settings_given(setting or []),
        null=null,
        name=name,
        results=results,
    )
    order = order_of(wanted)
    told = played(order, Ceilings(calls=max_calls, usd=max_usd), (lambda line: None) if json else print_note)
    _show(told, json)
    if not json:
        if told.exit_code == INTERRUPTED:
            print_note("weigh: interrupted")
        if told.complete and told.answer == "nothing":
            print_note("weigh: more blocks may tell: give more --pairs; those that are played stay")
        if not told.complete:
            print_note(f"weigh: go on with: {onward(['weigh', *context.obj], told.used_up)}")
        print_note(f"kept in {', '.join(arm.run for arm in told.arms)}")
    if told.exit_code != FINE:
        raise typer.Exit(told.exit_code)


def _show(told: ArmComparison, json: bool) -> None:
    if json:
        print_json(told.to_json())
        return
    from weigh.harness.report.sections.comparison import comparison_lines

    width = min(terminal_width() or PLAIN_WIDTH, 100)
    print_text("\n".join(comparison_lines(told, width, ink())))
