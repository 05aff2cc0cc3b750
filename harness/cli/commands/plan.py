"""`weigh plan`: what a ladder will cost and what it will be able to show; or what a run could show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.harness.cli.options import JsonFlag, number, whole
from weigh.harness.cli.output import print_json, print_sections
from weigh.harness.errors import Refused
from weigh.harness.stats.power import Test

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig
    from weigh.harness.config.schedule import Episode
    from weigh.harness.planning.plan import Earlier, Existing, LadderPlan, PlanSpec
    from weigh.harness.planning.power_table import PowerTable
    from weigh.harness.results.ranking.rows import GameRows

TEST = Test()
"""What is asked of the comparison, unless said otherwise."""


def plan(
    target: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml|RUN", help="A ladder to be played, or the folder of a run.")
    ],
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="Measure tokens, retries, latency and spread on this earlier run."),
    ] = None,
    output_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(1), help="Tokens of an answer, reasoning included, where expected."),
    ] = None,
    retry_share: Annotated[
        float | None,
        typer.Option(metavar="SHARE", parser=number(0, 1), help="Share of decisions with a second attempt."),
    ] = None,
    latency: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", parser=number(0, above=True), help="Of one call; 3 where nothing is measured."),
    ] = None,
    difference: Annotated[
        float,
        typer.Option(metavar="SCORE", parser=number(0, 2), help="True difference to find, in mean score."),
    ] = TEST.difference,
    alpha: Annotated[
        float,
        typer.Option(metavar="P", parser=number(0.0001, 0.5), help="Significance level."),
    ] = TEST.alpha,
    power: Annotated[
        float,
        typer.Option(metavar="P", parser=number(0.5, 0.9999), help="Chance to find it where it exists."),
    ] = TEST.power,
    extend: Annotated[
        bool, typer.Option("--extend", help="Plan what `weigh ladder --extend` would add to the run that is there.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(0), help="Instead of the config's run seed.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of the config's name for the run's folder.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Instead of the config's folder for runs.")
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Also more blocks, entrants, the schedule's balance and bounds of the time.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Estimate a ladder's cost and statistical power.

    Episodes, model calls, dollars and time, and how large a difference so many blocks can show. Calls and cost go from
    the least to the most that the rules allow: the fewest decisions, one attempt at each and the shortest answers, to
    the most decisions, two attempts at each and every answer at its cap. HTTP retries come on top. Prompts are counted
    on pilot episodes, played offline. Where the run is partly played, it is of what is left. With --from, and once
    the run has begun, decisions and attempts as played stand next to the planned ones. With the folder of a run instead
    of a config: what its blocks could show, and how many more a difference needs.

    Nothing is asked, spent or written; no key and no network are needed.

      weigh plan ladder.toml
      weigh plan ladder.toml --from results/ladder --difference 0.05
      weigh plan ladder.toml --output-tokens 300 --latency 5
      weigh plan larger.toml --name ladder --extend
      weigh plan results/ladder

    Exit codes: 0 planned, also where a limit would stop the run; 2 bad config, or not a run.
    """
    if not difference > 0:
        raise Refused("--difference: must be above 0; no number of blocks shows a difference of 0", kind="bad-value")
    test = Test(difference, alpha, power)
    if target.is_dir():
        given = {
            "from": from_,
            "output-tokens": output_tokens,
            "retry-share": retry_share,
            "latency": latency,
            "extend": extend or None,
            "seed": seed,
            "name": name,
            "results": results,
        }
        named = [f"--{name}" for name, value in given.items() if value is not None]
        if named:
            raise Refused(
                f"{', '.join(named)}: only with a config; {target} is a run, and was measured", kind="option-without"
            )
        _show_run(target, test, wide, json)
        return
    from weigh.harness.planning.plan import PlanSpec
    from weigh.harness.report.sections.plan import plan_sections

    overrides = {"seed": seed, "name": name, "results": str(results.absolute()) if results is not None else None}
    made = _planned(target, overrides, extend, from_, PlanSpec(test, latency, output_tokens, retry_share))
    if json:
        print_json(made.to_json())
    else:
        print_sections(plan_sections(made, wide))


def _planned(
    path: Path, overrides: Mapping[str, object], extend: bool, earlier: Path | None, spec: PlanSpec
) -> LadderPlan:
    import asyncio

    from weigh.harness.config.config import load_config
    from weigh.harness.planning.plan import plan_ladder
    from weigh.harness.run.opening import divisions_of, schedule_of
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    order = load_config(path, overrides)
    episodes = schedule_of(order)
    there = None
    if _is_there(order.run_folder):
        there, episodes = _existing(order, episodes, extend)
    elif extend:
        raise Refused(
            f"{order.run_folder} holds no run to extend; without --extend this config makes a new one", kind="no-run"
        )
    source = earlier
    if source is None and there is not None and there.calls and not there.differs:
        source = order.run_folder
    measures = None if source is None else _earlier(source)
    return asyncio.run(plan_ladder(order, episodes, divisions_of(order), spec, there, measures))


def _is_there(folder: Path) -> bool:
    from weigh.harness.store.store import is_run

    try:
        return is_run(folder)
    except (OSError, ValueError):
        return False  # `weigh ladder` will say what is wrong with it


def _existing(order: LadderConfig, episodes: tuple[Episode, ...], extend: bool) -> tuple[Existing, tuple[Episode, ...]]:
    """How far the ladder's own run is, and which episodes it has: more than `episodes` where it was extended, or is to
    be. Raises Refused where it cannot be extended and is to be."""
    from weigh.harness.planning.plan import Existing
    from weigh.harness.run.folder import planned_in
    from weigh.harness.run.opening import manifest_of
    from weigh.harness.run.play.extending import blocks_given, possible_extension, required_extension
    from weigh.harness.store.calls import SETTLED
    from weigh.harness.store.manifest import differences
    from weigh.harness.store.store import Store

    with Store.open(order.run_folder, readonly=True) as store:
        finished = frozenset(store.finished())
        spent = store.totals()
        manifest = manifest_of(order, episodes)
        differs = differences(store.manifest, manifest, blocks_given(order))
        if extend:
            more, differs = required_extension(order, store, manifest), []
        else:
            more = possible_extension(order, store, manifest) if differs else None
        there = Existing(
            folder=str(order.run_folder),
            finished=finished,
            differs=tuple(differs),
            extension=() if more is None else more.lines,
            calls=spent.calls,
            tokens=spent.tokens,
            usd=spent.cost_known_usd,
            paid=sum(call.fate in SETTLED and call.episode not in finished for call in store.call_facts()),
        )
        if there.differs:
            return there, episodes
        return there, (*planned_in(store), *(() if more is None else more.episodes))


def _earlier(folder: Path) -> Earlier:
    """What a run measured: its calls and its scores."""
    from weigh.harness.planning.past import past_of
    from weigh.harness.planning.plan import Earlier
    from weigh.harness.store.kinds import is_one_design
    from weigh.harness.store.manifest import table_in
    from weigh.harness.store.store import Store

    with Store.open(folder, readonly=True) as store:
        past = past_of(store, str(folder))
        games = table_in(store.manifest.config, "games")
        alike = is_one_design(store.manifest)
    configs = {name: entry.get("config") for name, entry in games.items() if isinstance(entry, Mapping)}
    return Earlier(past, _rows(folder) if alike else {}, configs)


def _rows(folder: Path) -> dict[str, GameRows]:
    """The scores of a run, by game; games without one are left out."""
    from weigh.harness.audit.verify.planned import require_as_planned
    from weigh.harness.results import load
    from weigh.harness.results.ranking.rows import split_by_game
    from weigh.harness.store.store import Store

    results = load(folder)
    with Store.open(folder, readonly=True) as store:
        require_as_planned([store])
    split = split_by_game(results.seats, results.voids, exclude_fallback_episodes=False, games={}, seeds={})
    return {rows.game: rows for rows in split if rows.names}


def _show_run(folder: Path, test: Test, wide: bool, json: bool) -> None:
    """What the blocks of a run could show."""
    from weigh.harness.planning.plan import SCHEMA
    from weigh.harness.report.sections.plan import run_sections

    tables = _run_tables(folder, test)
    if json:
        games = [{"game": game, "power": table.to_json()} for game, table in tables.items()]
        print_json({"schema_version": SCHEMA, "run": str(folder), "games": games})
    else:
        print_sections(run_sections(str(folder), tables, wide))


def _run_tables(folder: Path, test: Test) -> dict[str, PowerTable]:
    from weigh.harness.planning.estimates import Span
    from weigh.harness.planning.power_table import power_table, spread_in
    from weigh.harness.results.ranking.rows import blocks_of
    from weigh.harness.store.kinds import require_ladders
    from weigh.harness.store.store import Store
    from weigh.harness.store.usage import accounts_of

    with Store.open(folder, readonly=True) as store:
        require_ladders([(folder, store.manifest)])
        accounts = accounts_of([store]).entrants
    found: dict[str, PowerTable] = {}
    for game, rows in _rows(folder).items():
        mine = [account for account in accounts if account.game == game]
        calls = sum(account.usage.calls for account in mine)
        costs = [account.usage.cost_usd for account in mine]
        cost = None if None in costs else sum(value for value in costs if value is not None)
        spread = spread_in(rows)
        reason = "too few blocks, or blocks that all agree"
        if spread is not None:
            reason = f"from the {spread.blocks} blocks of this run, {spread.pairs} pairs of entrants"
        found[game] = power_table(
            blocks_of(rows.scored),
            int(rows.seats["seat"].max()) + 1,
            test,
            spread,
            reason,
            Span(calls, calls, calls),
            None if cost is None else Span(cost, cost, cost),
        )
    return found
