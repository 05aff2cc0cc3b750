"""`weigh ladder`: play a config's schedule, or what is left of it, then rank."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from weigh.harness.cli.options import number, whole
from weigh.harness.cli.output import print_note
from weigh.harness.cli.serving import ServeOption, followed, served
from weigh.harness.errors import FINE, INTERRUPTED, INVALID

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weigh.harness.config.config import LadderConfig
    from weigh.harness.config.schedule import Episode
    from weigh.harness.run.episode import Table, Watch
    from weigh.harness.run.events import Closing, Plan, Progress
    from weigh.harness.run.limits import Brake
    from weigh.harness.run.model_calls import Exchange
    from weigh.harness.run.runner import Division, Keeper, Summary
    from weigh.harness.store.store import Store
    from weigh.harness.web.live.server import LiveServer


def ladder(
    context: typer.Context,
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="What is played, by whom, within which limits.")
    ],
    seed: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(0), help="Instead of the config's run seed.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of the config's name for the run's folder.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Instead of the config's folder for runs.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1), help="Stop cleanly after so many calls, in all.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1), help="Stop cleanly after so many tokens, in all.")
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(metavar="USD", parser=number(0, above=True), help="Stop cleanly at so many dollars, in all."),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", parser=number(0, above=True), help="Stop this sitting cleanly after so long."),
    ] = None,
    reuse: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Use again what this earlier run was answered to the very same questions."),
    ] = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Add the config's new entrants and blocks to the run that is there.")
    ] = False,
    serve: ServeOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the ranking as JSON; no progress is shown.")] = False,
) -> None:
    """Play a ladder, or go on where it stopped, then rank it.

    Everything is kept in results/NAME as it happens. Ctrl-C lets calls in flight return and stops; the same command
    goes on from there, and nothing that was paid for is asked again. A second Ctrl-C stops at once.

    With --reuse, a question that an earlier run asked in the same episode, seat, step and attempt is not asked again:
    its answer counts here too, at no cost, and is marked. Failures, timeouts and refusals are asked anew.

    With --extend, entrants that the config has more are added to the run, with as few new blocks as bring them to an
    equal share, or with as many as the config's larger `blocks` asks for. Every block that is there stays as it is.
    Entrants that the config has no more leave, once all that was planned with them is played.

    With --serve, a page on this machine shows the ladder and any episode as it is played, at an address that is told on
    standard error and that nobody can guess. It is there while the ladder is played; pages that are open at its end are
    told so, and keep what they show.

      weigh ladder ladder.toml
      weigh ladder ladder.toml --name second --seed 8 --max-usd 2.50
      weigh ladder changed.toml --reuse results/ladder
      weigh ladder larger.toml --name ladder --extend
      weigh ladder ladder.toml --serve

    Exit codes: 0 played and ranked; 2 bad config, or a run made under another one; 4 stopped by a limit, a key, credits
    or a provider, too many episodes void, or none finished (the same command goes on); 130 interrupted.
    """
    from weigh.harness.cli.extending import advice, blocks_given, extended_run
    from weigh.harness.cli.opening import opening_lines, require_prices
    from weigh.harness.config.config import load_config
    from weigh.harness.run.folder import planned_in, run_in
    from weigh.harness.run.opening import manifest_of, require_ready, schedule_of
    from weigh.harness.run.reuse import Reusing, earlier_run
    from weigh.harness.run.signals import require_own_loop

    overrides = {
        "seed": seed,
        "name": name,
        "results": str(results.absolute()) if results is not None else None,
        "limits.max_calls": max_calls,
        "limits.max_tokens": max_tokens,
        "limits.max_usd": max_usd,
        "limits.max_seconds": max_seconds,
    }
    require_own_loop()
    order = load_config(config, overrides)
    require_ready(order.endpoints, order.entrants)
    require_prices(order)
    episodes = schedule_of(order)
    manifest = manifest_of(order, episodes)
    folder = order.run_folder
    with ExitStack() as opened:
        # Before the run's folder is made: what is refused leaves nothing behind.
        server = opened.enter_context(served(serve))
        earlier = None if reuse is None else opened.enter_context(earlier_run(reuse, manifest, folder))
        another = "a name of its own (--name)"
        store = opened.enter_context(
            extended_run(order, manifest)
            if extend
            else run_in(
                folder,
                manifest,
                episodes,
                another,
                lambda there: advice(order, there, manifest),
                blocks_given(order),
                note=print_note,
            )
        )
        if store.manifest.amendments:
            episodes = planned_in(store)
        for warning in order.warnings:
            print_note(f"weigh: {warning}")
        if not json:
            for line in opening_lines(order, manifest.versions, episodes):
                print_note(line)
        for model in earlier.otherwise if earlier is not None else ():
            print_note(f"weigh: {model} is asked elsewhere or in another way than in {reuse}; its answers are not used")
        keeper = store if earlier is None else Reusing(store, earlier)
        again = shlex.join(["weigh", *context.obj])
        code = play_out(order, store, keeper, episodes, again, json, server=server)
        if reuse is not None and not json:
            print_note(f"{store.totals().reused} answers of earlier runs were used again")
    from weigh.harness.cli.commands.rank import show_ranking

    if not json and code != INTERRUPTED:
        print_note(f"kept in {folder}; `weigh verify {shlex.quote(str(folder))}` re-derives every record")
    ranked = show_ranking([folder], json=json, max_fallback_rate=order.rank.max_fallback_rate, wide=True)
    if code != FINE or not ranked:
        raise typer.Exit(code or INVALID)


class Afterwards(Protocol):
    """What is asked of models once every episode is played, within the same limits."""

    async def due(self) -> bool:
        """Whether there is a question that the run holds no answer to."""

    async def ask(self, exchanges: Mapping[str, Exchange], brake: Brake, display: Progress) -> None:
        """Ask. Returns when all is asked or the brake is pulled."""


def play_out(
    order: LadderConfig,
    store: Store,
    keeper: Keeper,
    episodes: tuple[Episode, ...],
    resume: str,
    silent: bool,
    divisions: Mapping[str, Division] | None = None,
    afterwards: Afterwards | None = None,
    server: LiveServer | None = None,
) -> int:
    """Play what is left, showing it, on a page of `server` too; returns the exit code.

    `divisions` are the policies that play, where they are others than the config's entrants.
    """
    from weigh.harness.cli.progress.plain import choose_display
    from weigh.harness.errors import StoreFailed
    from weigh.harness.run.limits import Brake
    from weigh.harness.run.opening import ceilings_of
    from weigh.harness.words import plural

    spent = store.totals()
    brake = Brake(ceilings_of(order.limits), calls=spent.calls, tokens=spent.tokens, usd=spent.cost)
    finished = frozenset(store.finished())
    with followed(choose_display(sys.stderr, os.environ, silent), server, order.name) as (display, watch):
        display.run_started(_plan(order, store, episodes, finished))
        if spent.lost:
            display.note(f"lost in earlier sittings, and perhaps charged for: {plural(spent.lost, 'call')}")
        store.set_status("running")
        try:
            summary = asyncio.run(
                _sitting(order, store, keeper, episodes, finished, brake, display, divisions, afterwards, watch)
            )
        except (KeyboardInterrupt, asyncio.CancelledError):
            # The second Ctrl-C: nothing more is waited for. What was kept stays kept.
            brake.pull("interrupted", "stopped at once")
            summary = None
        except BaseException as error:
            with suppress(StoreFailed):  # the store itself may be what failed
                store.set_status(f"stopped: {type(error).__name__}")
            raise
        closing, code = _close(order, store, episodes, summary, brake, resume)
        display.run_finished(closing)
    return code


async def _sitting(
    order: LadderConfig,
    store: Store,
    keeper: Keeper,
    episodes: tuple[Episode, ...],
    finished: frozenset[str],
    brake: Brake,
    display: Progress,
    divisions: Mapping[str, Division] | None,
    afterwards: Afterwards | None,
    watch: Callable[[Table], Watch | None],
) -> Summary:
    from weigh.harness.run.opening import Learning, calls_at_once, closing_notes, divisions_of, open_exchanges, pace_of
    from weigh.harness.run.runner import Run
    from weigh.harness.run.signals import stopping_on_signals

    with stopping_on_signals(brake, display.note):
        # A run with nothing left to play starts no model.
        due = len(finished) < len(episodes) or (afterwards is not None and await afterwards.due())
        endpoints = order.endpoints if due else {}
        timeout, most = order.limits.decision_timeout, calls_at_once(order)
        async with open_exchanges(endpoints, timeout, most, display.note) as exchanges:
            learning = Learning(keeper, store, exchanges)
            fielded = divisions or divisions_of(order)
            run = Run(order.seed, fielded, learning, exchanges, brake, display, pace_of(order.limits), watch)
            try:
                summary = await run.play(episodes, finished)
                if afterwards is not None and not brake.pulled:
                    await afterwards.ask(exchanges, brake, display)
                return summary
            finally:
                for line in closing_notes(exchanges):
                    display.note(line)


def _plan(order: LadderConfig, store: Store, episodes: tuple[Episode, ...], finished: frozenset[str]) -> Plan:
    from weigh.harness.run.events import Plan

    sums: dict[tuple[str, str], tuple[int, float]] = {}
    for row in store.episodes():
        for entrant, score in zip(row.entrants, row.scores, strict=True):
            if score is not None:
                count, total = sums.get((row.game, entrant), (0, 0.0))
                sums[row.game, entrant] = (count + 1, total + score)
    return Plan(
        name=order.name,
        seed=order.seed,
        entrants=tuple(spec.name for spec in order.entrants),
        episodes=Counter(episode.game for episode in episodes),
        finished=Counter(episode.game for episode in episodes if episode.key in finished),
        scores=sums,
    )


def _close(
    order: LadderConfig,
    store: Store,
    episodes: tuple[Episode, ...],
    summary: Summary | None,
    brake: Brake,
    resume: str,
) -> tuple[Closing, int]:
    """How the sitting ended, kept and told, and its exit code."""
    from weigh.harness.run.events import Closing
    from weigh.harness.run.signals import onward

    finished = len(store.finished())
    void = summary.void if summary is not None else 0
    left = len(episodes) - finished
    again = onward(shlex.split(resume), brake.used_up, order.source) if left else None
    if brake.pulled == "interrupted":
        store.set_status("interrupted")
        return Closing("interrupted", finished, void, len(episodes), brake.reason, again), INTERRUPTED
    if brake.pulled is not None:
        store.set_status(f"stopped: {brake.reason}")
        return Closing("stopped", finished, void, len(episodes), brake.reason, again), INVALID
    store.set_status("finished" if not left else f"stopped: {left} episodes are void")
    detail = "" if not left else f"{left} of {len(episodes)} episodes are void: a provider failed"
    too_many = left > order.rank.max_void_rate * len(episodes)
    return Closing("complete", finished, void, len(episodes), detail, again), INVALID if too_many else FINE
