"""`weigh experiment`: a question about a game, answered by changing one thing and playing again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from weigh.harness.cli.help import Group, Page
from weigh.harness.cli.options import JsonFlag, WideFlag, number, whole
from weigh.harness.cli.output import print_json, print_note, print_text, text_width
from weigh.harness.errors import FINE, INTERRUPTED

experiment = typer.Typer(
    help="""
    Answer a question by changing one thing and playing again.

    Exit codes: see `weigh experiment ballast-claims --help`.
    """,
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@experiment.callback()
def _experiment() -> None:
    """A group with one command would otherwise lose its name."""


@experiment.command("ballast-claims", cls=Page)
def ballast_claims(
    context: typer.Context,
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="A ladder config with ballast among its games.")
    ],
    claimer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose claims are altered: an entrant, or a scripted policy.")
    ] = None,
    listener: Annotated[str | None, typer.Option(metavar="NAME", help="The opponent who hears them, likewise.")] = None,
    blocks: Annotated[
        int, typer.Option(metavar="N", parser=whole(2, 100_000), help="Blocks of two games in every arm.")
    ] = 100,
    margin: Annotated[
        float, typer.Option(metavar="M", parser=number(0, above=True), help="Equivalence margin, in mean score.")
    ] = 0.1,
    listening: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole(0),
            help="Decisions of a listener that are asked again, two calls each (200; of a model, none).",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(0), help="Instead of the config's run seed.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The run's folder, instead of the config's name with -claims.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Instead of the config's folder for runs.")
    ] = None,
    wide: WideFlag = False,
    json: JsonFlag = False,
) -> None:
    """Ask whether claims in Ballast are read, or decoration.

    Two entrants play in four arms, which share all their randomness: as the rules are (normal); with the claimer's
    claims hidden from the listener (mute); with random claims in their place (scramble); with every weight of the
    claimer announced as what it is (force-truth). What the claimer's score loses from arm to arm, its claims are worth.
    Without --claimer and --listener, the config's two entrants play both parts. Scripted policies need not be listed:
    deaf, who hears nothing, and feint, whose lies mislead, are there to compare with.

    Everything is kept like a ladder, within the config's [limits]; Ctrl-C stops, and the same command goes on.

      weigh experiment ballast-claims ballast.toml --claimer feint --listener steady
      weigh experiment ballast-claims ballast.toml --blocks 400 --margin 0.05 --listening 100

    Exit codes: 0 every arm differs or is equal within the margin; 2 bad config, or a run made under another one; 3 not
    enough evidence for some; 4 stopped by a limit or a provider, or too much is void; 130 interrupted.
    """
    from weigh.harness.cli.commands.ladder import showing
    from weigh.harness.gate.experiment import ExperimentSpec, run_experiment
    from weigh.harness.report.sections.claims import lines
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    overrides = {"seed": seed, "name": name, "results": str(results.absolute()) if results is not None else None}
    spec = ExperimentSpec(config, overrides, claimer, listener, blocks, margin, listening)
    played = run_experiment(spec, showing(json), print_note, ["weigh", *context.obj], quiet=json)
    if json:
        print_json(played.document)
    else:
        print_text("\n".join(lines(played.document, played.code, text_width(), wide=wide)))
        if played.played != INTERRUPTED:
            place = played.folder
            print_note(f"kept in {place}; `weigh verify {shlex.quote(str(place))}` recomputes every record")
    if played.code != FINE:
        raise typer.Exit(played.code)
