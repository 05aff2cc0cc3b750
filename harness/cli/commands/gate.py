"""`weigh gate`: catch the policy that got worse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from weigh.harness.cli.output import print_note
from weigh.harness.errors import FINE, Refused

if TYPE_CHECKING:
    from weigh.harness.cli.commands.gate_words import Words
    from weigh.harness.gate.verdict import BuildVerdict
    from weigh.harness.run.limits import Ceilings


def gate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[GATE.toml]", help="Several gates in one file; then no other gate options."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="BASE", help="A baseline file, or a policy that is played now as well.")
    ] = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="POLICY", help="What is tested: PROMPT.md@provider:model, match, @name.")
    ] = None,
    game: Annotated[str | None, typer.Option(metavar="GAME", help="A game; `weigh games` lists them.")] = None,
    margin: Annotated[
        float | None,
        typer.Option(metavar="M", parser=number(0, 2, above=True), help="The loss of mean score that must not pass."),
    ] = None,
    alpha: Annotated[
        float, typer.Option(metavar="P", parser=number(0.0001, 0.4999), help="Chance that a loss of the margin passes.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(metavar="P", parser=number(0.0001, 0.4999), help="Chance that an equal policy fails.")
    ] = 0.05,
    max_pairs: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=whole(2, 1_000_000), help="The most pairs of episodes; default: a file's, or 200."
        ),
    ] = None,
    field: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Scripted policies for the other seats; default: the game's.")
    ] = None,
    setting: SettingOption = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(0), help="Deals, seating and scripted chance follow from it."),
    ] = None,
    config: ConfigOption = None,
    style: StyleOption = None,
    max_tokens: MaxTokensOption = None,
    temperature: TemperatureOption = None,
    base_url: BaseUrlOption = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", parser=number(0, above=True), help="For one attempt at one decision (60)."),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1), help="Stop as invalid after so many calls, in all.")
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(metavar="USD", parser=number(0, above=True), help="Stop as invalid at so many dollars, in all."),
    ] = None,
    max_void_rate: Annotated[
        float, typer.Option(metavar="SHARE", parser=number(0, 0.5), help="Blocks that outages may take before invalid.")
    ] = 0.1,
    max_fallback_rate: Annotated[
        float,
        typer.Option(metavar="SHARE", parser=number(0, 1), help="Moves the fallback may make; more is no pass."),
    ] = 0.2,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The gate's, and of its folder; default: game and candidate.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for runs, instead of results.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdict as JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdict as Markdown.")] = None,
    save_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Play the candidate and write it as a baseline file instead.")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(2, 1_000_000), help="With --save-baseline: episodes (200).")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Catch the policy that got worse: a verdict on a candidate against its baseline.

    Both play one seat against the same scripted policies, on the same deals, seeds and seats. Blocks are played until
    the difference is clear, and never more than allowed. A baseline file holds what the baseline scored, so that only
    the candidate is played. What a gate takes from its file (game, field, config, seed) need not be given again.

    Everything is kept below results/gate-NAME: the same command goes on after a stop, and repeats a verdict without a
    call. GITHUB_STEP_SUMMARY, when set, gets the summary too. The options from --style to --base-url are for prompts.

    A candidate whose moves the fallback made, for more than --max-fallback-rate of them, is a regression; a baseline of
    that kind is invalid. While nothing is judged, and where anything fails, the files of --junit and --summary say so.

      weigh gate --baseline match --candidate hoard --game goofspiel --margin 0.05
      weigh gate --save-baseline base.json --candidate mine.md@openai:gpt-5-mini --game goofspiel --pairs 200
      weigh gate --baseline base.json --candidate mine.md@openai:gpt-5-mini --margin 0.1 --junit gate.xml
      weigh gate gate.toml --summary gate.md

    Exit codes: 0 pass; 1 regression; 2 bad usage, file or input, or a missing key; 3 inconclusive, which is no pass;
    4 invalid: the baseline does not fit, too much is void, a limit or a provider stopped it; 130 interrupted.
    """
    from weigh.harness.cli.commands.gate_output import Reports, require_writable
    from weigh.harness.cli.commands.gate_words import Words
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    words = Words(
        baseline=baseline,
        candidate=candidate,
        game=game,
        margin=margin,
        alpha=alpha,
        beta=beta,
        max_pairs=max_pairs,
        field=field,
        settings=tuple(setting or ()),
        seed=seed,
        config=config,
        style=style,
        max_tokens=max_tokens,
        temperature=temperature,
        base_url=base_url,
        timeout=timeout,
        max_void_rate=max_void_rate,
        max_fallback_rate=max_fallback_rate,
        name=name,
        results=results,
        pairs=pairs,
    )
    ceilings = _ceilings(max_calls, max_usd)
    note = (lambda line: None) if json else print_note
    if save_baseline is not None:
        require_writable("--save-baseline", save_baseline)
        if file is not None or junit is not None or summary is not None:
            raise Refused(
                "--save-baseline plays one policy and judges none: leave out GATE.toml, --junit and --summary"
            )
        from weigh.harness.cli.commands.gate_save import save

        save(words, save_baseline, ceilings, note, json)
        return
    inputs = [str(each) for each in (file, config) if each is not None] + [
        each for each in (baseline, candidate) if each
    ]
    reports = Reports(name or str(file or candidate or "gate"), junit, summary)
    reports.begin(inputs)
    with reports.failing():
        build = _build(words, file, results, ceilings, note)
        reports.show(build, json)
    if build.exit_code != FINE:
        raise typer.Exit(build.exit_code)


def _build(words: Words, file: Path | None, results: Path | None, ceilings: Ceilings, note: Any) -> BuildVerdict:
    """Play what is asked for."""
    if words.pairs is not None:
        raise Refused("--pairs is for --save-baseline; a gate takes --max-pairs")
    from weigh.harness.gate.play import run_gates

    beta = words.beta
    if file is not None:
        from weigh.harness.cli.commands.gate_words import of_file

        given = [option for option in words.given() if option not in ("--results",)]
        if given or ceilings.calls is not None or ceilings.usd is not None:
            limits = [
                name
                for name, value in (("--max-calls", ceilings.calls), ("--max-usd", ceilings.usd))
                if value is not None
            ]
            raise Refused(f"{', '.join([*given, *limits])}: stands in {file}, not beside it")
        title, orders, ceilings, beta = of_file(file, results)
    else:
        title, orders = words.gate()
    return run_gates(title, orders, ceilings, beta, note)


def _ceilings(calls: int | None, usd: float | None) -> Ceilings:
    from weigh.harness.run.limits import Ceilings

    return Ceilings(calls=calls, usd=usd)
