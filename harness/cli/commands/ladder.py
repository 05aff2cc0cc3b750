"""`weigh ladder` and `weigh demo`: play a config's schedule, or what is left of it, then rank."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.harness.cli.options import RESULTS, number, whole
from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.cli.serving import ServeOption, followed, served
from weigh.harness.errors import FINE, INTERRUPTED, INVALID, WRONG

if TYPE_CHECKING:
    from weigh.harness.run.events import Progress
    from weigh.harness.run.play.followers import Watching
    from weigh.harness.run.play.ladder import Follow
    from weigh.harness.web.live.server import LiveServer


@dataclass(frozen=True, slots=True)
class Overrides:
    """What stands in place of the config's values."""

    seed: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(0), help="Instead of the config's run seed.")
    ] = None
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of the config's name for the run's folder.")
    ] = None
    results: Annotated[Path | None, typer.Option(metavar="DIR", help="Instead of the config's folder for runs.")] = None
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1), help="Stop cleanly after so many calls, in all.")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1), help="Stop cleanly after so many tokens, in all.")
    ] = None
    max_usd: Annotated[
        float | None,
        typer.Option(metavar="USD", parser=number(0, above=True), help="Stop cleanly at so many dollars, in all."),
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", parser=number(0, above=True), help="Stop this invocation cleanly after so long."
        ),
    ] = None

    def by_key(self) -> dict[str, object]:
        """By dotted key of the config."""
        limits = ("max_calls", "max_tokens", "max_usd", "max_seconds")
        return {
            "seed": self.seed,
            "name": self.name,
            "results": None if self.results is None else str(self.results.absolute()),
            **{f"limits.{key}": getattr(self, key) for key in limits},
        }


def ladder(
    context: typer.Context,
    options: Overrides,
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="What is played, by whom, within which limits.")
    ],
    reuse: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Reuse cached answers of an earlier run for identical requests."),
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

    With --reuse, a request that an earlier run made in the same episode, seat, step and attempt is not made again: its
    answer counts here too, at no cost, and is marked. Failures, timeouts and refusals are asked again.

    With --extend, entrants that the config has more are added to the run, with as few new blocks as bring them to an
    equal share, or with as many as the config's larger `blocks` asks for. Every block that is there stays as it is.
    Entrants that the config has no more leave, once all that was planned with them is played.

    With --serve, a page on this machine shows the ladder and any episode as it is played, at an address that is told on
    standard error and cannot be guessed. It is there while the ladder is played; pages that are open at its end are
    told so, and keep what they show.

      weigh ladder ladder.toml
      weigh ladder ladder.toml --name second --seed 8 --max-usd 2.50
      weigh ladder changed.toml --reuse results/ladder
      weigh ladder larger.toml --name ladder --extend
      weigh ladder ladder.toml --serve

    Exit codes: 0 played and ranked; 2 bad config, or a run made under another one; 4 stopped by a limit, a key, credits
    or a provider, too many episodes void, or none finished (the same command goes on); 130 interrupted.
    """
    from weigh.harness.cli.commands.results import RankOptions, show_ranking
    from weigh.harness.results import load
    from weigh.harness.run.play.ladder import LadderSpec, play_ladder
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    spec = LadderSpec(config, options.by_key(), reuse, extend)
    with served(serve) as server:
        played = play_ladder(spec, showing(json, server), print_note, ["weigh", *context.obj], quiet=json)
    if not json:
        if reuse is not None:
            print_note(f"{played.reused} answers of earlier runs were used again")
        if played.code != INTERRUPTED:
            print_note(
                f"kept in {played.folder}; `weigh verify {shlex.quote(str(played.folder))}` recomputes every record"
            )
    shown = RankOptions(max_fallback_rate=played.order.rank.max_fallback_rate, json=json)
    ranked = show_ranking(load([str(played.folder)]), shown)
    if played.code != FINE or not ranked:
        raise typer.Exit(played.code or INVALID)


def demo(
    context: typer.Context,
    mock: Annotated[
        bool, typer.Option("--mock", help="Play on the mock server, even where the embedded model is installed.")
    ] = False,
    results: Annotated[Path, typer.Option(metavar="DIR", help="The folder for runs.")] = RESULTS,
    json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON; no progress is shown.")] = False,
) -> None:
    """Play a small ladder, check every record, and show what came of it.

    Two prompts and scripted policies at Oshi-Zumo: no key, no network, no config. The prompts are answered by the
    embedded model where it is installed (`weigh local setup`; two minutes), else by the bundled mock server, whose
    moves are drawn at random (seconds). Either shows how weigh works and says nothing about how strong prompts are. The
    same command again shows what was played.

      weigh demo
      weigh demo --mock

    Exit codes: 0 played, verified and ranked; 4 the embedded model could not be started; 130 interrupted.
    """
    from weigh.harness.audit.verify.run import verify_run
    from weigh.harness.cli.commands.check import report_run
    from weigh.harness.cli.commands.results import RankOptions, show_ranking
    from weigh.harness.cli.commands.view import run_page_written
    from weigh.harness.providers.local.weights import missing
    from weigh.harness.providers.mock_server import MockServerProcess
    from weigh.harness.results import load
    from weigh.harness.run.play.demo import demo_spec
    from weigh.harness.run.play.ladder import play_ladder
    from weigh.harness.run.signals import require_own_loop
    from weigh.harness.store.store import Store

    require_own_loop()
    why = "as asked" if mock else missing()
    if why is not None and not json:
        print_note(f"weigh: the bundled mock server answers the prompts: {why}")
    with ExitStack() as opened:
        url = None if why is None else opened.enter_context(MockServerProcess()).openai_url
        played = play_ladder(demo_spec(results, url), showing(json), print_note, ["weigh", *context.obj], quiet=True)
    if played.code != FINE:
        raise typer.Exit(played.code)
    folder = results / played.folder.name
    with Store.open(folder, readonly=True) as store:
        checked = verify_run(store)
        page = run_page_written(store)
    if json:
        made = {"run": str(folder), "page": str(page), "mock": url is not None}
        print_json({**made, "records": checked.records, "ok": checked.ok})
    else:
        show_ranking(load([str(folder)]), RankOptions())
        print_text("")
        report_run(folder, checked)
        weigh = _command()
        print_text(f"Every episode, step by step: open {page} in a browser")
        if why is not None and not mock:
            print_text(f"The same with a model on this machine: {weigh} local setup; {weigh} demo")
        print_text(f"Next: {weigh} play goofspiel match hoard random match")
    if not checked.ok:
        raise typer.Exit(WRONG)


def _command() -> str:
    """What runs weigh here, as a person would type it: the script may lie in a folder that is not on the path."""
    if which("weigh"):
        return "weigh"
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "weigh" else f"{shlex.quote(sys.executable)} -m weigh"


def showing(silent: bool, server: LiveServer | None = None) -> Follow:
    """What shows a run as it is played: progress on standard error, and a page of `server`."""

    def follow(name: str) -> AbstractContextManager[tuple[Progress, Watching]]:
        from weigh.harness.cli.progress.plain import choose_display

        return followed(choose_display(sys.stderr, os.environ, silent), server, name)

    return follow
