"""`weigh compare`: two prompts, or any two policies, on the same deals."""

from __future__ import annotations

from typing import Annotated

import typer

from weigh.harness.cli.options import (
    BaseUrlOption,
    ConfigOption,
    JsonFlag,
    MaxCallsOption,
    MaxTokensOption,
    MaxUsdOption,
    OpponentsOption,
    ResultsOption,
    SettingOption,
    StyleOption,
    TemperatureOption,
    WideFlag,
    number,
    whole,
)
from weigh.harness.cli.output import ink, print_json, print_note, print_text, text_width
from weigh.harness.errors import FINE, INTERRUPTED


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="A", help="PROMPT.md@provider:model, match, @name ...")],
    second: Annotated[str, typer.Argument(metavar="B", help="What it is compared with, likewise.")],
    game: Annotated[str, typer.Option(metavar="GAME", help="A game; `weigh games` lists them.")],
    blocks: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(1, 1_000_000), help="Deals, each in every seat of each arm (20)."),
    ] = None,
    aa: Annotated[bool, typer.Option("--aa", help="Also play A against itself, to show the sampling error.")] = False,
    opponents: OpponentsOption = None,
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
    max_calls: MaxCallsOption = None,
    max_usd: MaxUsdOption = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The folder of the arms, below the folder for runs.")
    ] = "compare",
    results: ResultsOption = None,
    wide: WideFlag = False,
    json: JsonFlag = False,
) -> None:
    """Compare two prompts, or any two policies, on the same deals.

    Each plays one seat against the same scripted policies, on the same deals, seeds and seats. Shown is by how much B
    scores more than A, with a 95 % interval clustered by block. With --aa A plays once more, asked again: what it
    differs from itself is sampling error.

    Each arm is kept in a run below results/compare: the same command goes on after a stop, and an A that was played
    before, against whatever B, is not played again. The options from --style to --base-url are for prompts.

      weigh compare match hoard --game goofspiel
      weigh compare old.md@openai:gpt-5-mini new.md@openai:gpt-5-mini --game goofspiel --blocks 20 --aa
      weigh compare @old @new --config ladder.toml --game ballast --opponents steady,random --max-usd 2.50

    Exit codes: 0 compared, whatever the difference; 2 bad usage, config or input, or a missing key; 3 nothing can be
    said; 4 stopped by a limit or a provider, or too much is void; 130 interrupted.
    """
    from weigh.harness.cli.commands.play import settings_given
    from weigh.harness.gate.compare import CompareSpec, arms_of
    from weigh.harness.gate.compare import compare as compared
    from weigh.harness.report.sections.comparison import comparison_lines
    from weigh.harness.run.limits import Ceilings
    from weigh.harness.run.play.single import Asked
    from weigh.harness.run.signals import onward, require_own_loop

    require_own_loop()
    asked = Asked(seed, timeout, config, style, max_tokens, temperature, base_url)
    settings = settings_given(setting or [])
    spec = CompareSpec((first, second), game, asked, opponents, blocks, settings, aa, name, results)
    found = compared(arms_of(spec), Ceilings(calls=max_calls, usd=max_usd), (lambda line: None) if json else print_note)
    if json:
        print_json(found.to_json())
    else:
        print_text("\n".join(comparison_lines(found, text_width(), ink(), wide=wide)))
        if found.exit_code == INTERRUPTED:
            print_note("weigh: interrupted")
        if not found.complete:
            print_note(f"weigh: go on with: {onward(['weigh', *context.obj], found.used_up)}")
    if found.exit_code != FINE:
        raise typer.Exit(found.exit_code)
