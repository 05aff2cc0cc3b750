"""`weigh experiment`: a question about a game, answered by changing one thing and playing again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.harness.cli.help import Group, Page
from weigh.harness.cli.options import JsonFlag, number, whole
from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.errors import FINE, INCONCLUSIVE, INTERRUPTED, Refused

if TYPE_CHECKING:
    from weigh.harness.audit.claims.arms import ClaimsPlan, Direction
    from weigh.harness.config.config import LadderConfig, LadderGame
    from weigh.harness.config.entrants import EntrantSpec
    from weigh.harness.run.runner import Division
    from weigh.harness.store.manifest import Manifest

PAIRS = 100
"""Pairs of games an arm, unless said otherwise: a difference of 0.3 standard deviations shows in four runs of five."""
MARGIN = 0.1
"""In mean score."""
FREE_LISTENING = 200
"""Decisions of a scripted listener that are asked again, unless said otherwise."""

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
    pairs: Annotated[
        int, typer.Option(metavar="N", parser=whole(2, 100_000), help="Pairs of games in every arm.")
    ] = PAIRS,
    margin: Annotated[
        float,
        typer.Option(
            metavar="M", parser=number(0, above=True), help="In mean score: less than this is as good as none."
        ),
    ] = MARGIN,
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
      weigh experiment ballast-claims ballast.toml --pairs 400 --margin 0.05 --listening 100

    Exit codes: 0 every arm differs or is equal within the margin; 2 bad config, or a run made under another one; 3 not
    enough evidence for some; 4 stopped by a limit or a provider, or too much is void; 130 interrupted.
    """
    from weigh.harness.audit.claims.answer import report
    from weigh.harness.cli.commands.ladder import showing
    from weigh.harness.config.config import load_config
    from weigh.harness.gate.experiment_play import ListeningTo, asked_of
    from weigh.harness.run.folder import run_in
    from weigh.harness.run.opening import require_ready, versions
    from weigh.harness.run.play.ladder import Sitting, play_out
    from weigh.harness.run.play.opening_lines import require_prices, unsent
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    overrides = {"seed": seed, "name": name, "results": str(results.absolute()) if results is not None else None}
    given = load_config(config, overrides)
    if claimer is not None and listener is not None:
        directions = _named(given, claimer, listener)
    elif claimer is None and listener is None:
        directions = _both_ways(given, config, overrides)
    else:
        raise Refused("--claimer and --listener go together: one without the other leaves a part open")
    order, plan = _ordered(given, directions, pairs, named=name is not None)
    divisions = _divisions(order, plan)
    episodes = plan.episodes()
    manifest = _manifest(order, plan, divisions)
    require_ready(order.endpoints, order.entrants)
    require_prices(order)
    with run_in(order.run_folder, manifest, episodes, "a name of its own (--name)", note=print_note) as store:
        if not json:
            print_note(", ".join(f"{package} {found}" for package, found in versions().items()))
            for line in (*unsent(order), *_opening(order, plan, listening)):
                print_note(line)
        hearing = ListeningTo(
            store, plan, divisions, order, {spec.name: _wanted(spec, listening) for spec in order.entrants}
        )
        sitting = Sitting(order, store, store, episodes, ["weigh", *context.obj], divisions, hearing)
        code = play_out(sitting, showing(json))[1]
        document = report(store, plan, margin, asked_of(store, plan, divisions, hearing))
    _show(document, json)
    if not json and code != INTERRUPTED:
        folder = order.run_folder
        print_note(f"kept in {folder}; `weigh verify {shlex.quote(str(folder))}` re-derives every record")
    code = code or _verdict(document)
    if code != FINE:
        raise typer.Exit(code)


def _verdict(document: Mapping[str, object]) -> int:
    from weigh.harness.audit.claims.answer import settled

    return FINE if settled(document) else INCONCLUSIVE


def _show(document: Mapping[str, object], json: bool) -> None:
    if json:
        print_json(document)
        return
    from weigh.harness.report.sections.claims import lines

    print_text("\n".join(lines(document)))


def _field(given: LadderConfig) -> dict[str, EntrantSpec]:
    """Who can be named: the config's entrants that play Ballast, and every scripted policy of it."""
    from weigh.harness.config.entrants import EntrantSpec
    from weigh.policies.scripted.registry import scripted_names

    scripts = {name: EntrantSpec(name, scripted=name) for name in scripted_names("ballast")}
    listed = {spec.name: spec for spec in given.playing("ballast")}
    return listed | {name: spec for name, spec in scripts.items() if name not in listed}


def _named(given: LadderConfig, claimer: str, listener: str) -> tuple[Direction, ...]:
    """One direction. Raises Refused, saying who could be named."""
    from weigh.games.values import quote
    from weigh.harness.audit.claims.arms import Direction

    field = _field(given)
    for option, who in (("--claimer", claimer), ("--listener", listener)):
        if who not in field:
            raise Refused(f"{option}: no entrant {quote(who)} plays ballast in {given.source}: {', '.join(field)} do")
    if claimer == listener:
        raise Refused(f"{claimer} cannot be told apart from itself: give the policy a second name in [entrants]")
    return (Direction(claimer, listener),)


def _both_ways(given: LadderConfig, config: Path, overrides: Mapping[str, object]) -> tuple[Direction, ...]:
    """Both parts for the two entrants that the file lists. Raises Refused when these are not two."""
    from weigh.harness.audit.claims.arms import Direction
    from weigh.harness.config.config import load_config
    from weigh.harness.errors import ConfigError

    try:
        listed = load_config(config, {**overrides, "baselines": False}).playing("ballast")
    except ConfigError:  # too few for a table
        listed = ()
    if len(listed) != 2:
        raise Refused(
            f"{given.source} does not list exactly two entrants that play ballast: say with --claimer and --listener "
            f"which two are meant, of {', '.join(_field(given))}"
        )
    one, other = (spec.name for spec in listed)
    return Direction(one, other), Direction(other, one)


def _ordered(
    given: LadderConfig, directions: tuple[Direction, ...], pairs: int, named: bool
) -> tuple[LadderConfig, ClaimsPlan]:
    """The config cut down to what is played, in a folder of its own, and the plan."""
    from weigh.harness.audit.claims.arms import ClaimsPlan
    from weigh.harness.config.sections import safe_name

    plan = ClaimsPlan(directions, pairs)
    field = _field(given)
    entrants = tuple(field[who] for who in plan.names)
    models = {spec.model for spec in entrants}
    order = replace(
        given,
        name=given.name if named else safe_name(f"{given.name}-claims"),
        games=(replace(_ballast(given), blocks=plan.blocks),),
        entrants=entrants,
        endpoints={model: endpoint for model, endpoint in given.endpoints.items() if model in models},
    )
    return order, plan


def _ballast(given: LadderConfig) -> LadderGame:
    found = next((entry for entry in given.games if entry.game.name == "ballast"), None)
    if found is None:
        names = ", ".join(entry.game.name for entry in given.games)
        raise Refused(f"{given.source}: ballast is not among its games ({names}): add a table [games.ballast]")
    return found


def _divisions(order: LadderConfig, plan: ClaimsPlan) -> dict[str, Division]:
    from weigh.harness.run.opening import divisions_of

    (plain,) = divisions_of(order).values()
    return {plain.game.name: replace(plain, policies=plan.policies(plain.policies))}


def _manifest(order: LadderConfig, plan: ClaimsPlan, divisions: Mapping[str, Division]) -> Manifest:
    """What the run is ordered with. Margin and listening are not of it: they say how it is read, and may change."""
    from weigh.harness.audit.claims.arms import with_alterations
    from weigh.harness.run.opening import ordered
    from weigh.harness.store.kinds import EXPERIMENT

    config = order.to_json()
    # Not under `entrants`: the schedule is not that of a ladder.
    described = {
        "kind": "ballast-claims",
        "pairs": plan.pairs,
        "directions": [[each.claimer, each.listener] for each in plan.directions],
        "entrants": config.pop("entrants"),
    }
    manifest = ordered(order.seed, {**config, EXPERIMENT: described}, divisions, plan.episodes())
    (division,) = divisions.values()
    return with_alterations(manifest, division.game.name, division.policies)


def _wanted(spec: EntrantSpec, listening: int | None) -> int:
    if listening is not None:
        return listening
    return FREE_LISTENING if spec.model is None else 0


def _opening(order: LadderConfig, plan: ClaimsPlan, listening: int | None) -> list[str]:
    """How much is played, and what it may take of models."""
    episodes = len(plan.episodes())
    parts = "; ".join(f"{each.claimer} claims, {each.listener} listens" for each in plan.directions)
    lines = [
        f"ballast: {episodes} episodes, {plan.pairs} pairs of games in {episodes // (2 * plan.pairs)} arms: {parts}"
    ]
    models = [spec for spec in order.entrants if spec.model is not None]
    if models:
        entry = _ballast(order)
        asked = sum(
            _wanted(each, listening) for each in models if any(each.name == d.listener for d in plan.directions)
        )
        most = len(models) * episodes * entry.game.longest(entry.config) // 2
        lines.append(f"about {most + 2 * asked:,} decisions are asked of models, each once or twice")
    return lines
