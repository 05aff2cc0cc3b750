"""How the words of an option become a value, with a line that says what it must be when they cannot.

Owns these readers, the options that several commands share, and the run that is taken where none is named. Strict on
purpose: `1_0`, `7.0` and `inf` are typing mistakes more often than meant. What the options of entrants mean stands in
`harness.run.play.single`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from weigh.games.values import nearest, quote
from weigh.harness.cli.output import print_note
from weigh.policies.contract import STYLES

RESULTS = Path("results")
"""Where commands keep runs, and look for the newest one."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
SettingOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A key of the game's config. May be repeated.")
]


RunsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[RUN...]", help="Run folders, as `weigh ladder` makes them; else the newest ladder."),
]


def runs_or_newest(runs: Sequence[Path] | None) -> list[Path]:
    """The runs that were named, or the newest ladder below results/, which is told."""
    return list(runs) if runs else [newest(ladder=True)]


def newest(*, ladder: bool = False) -> Path:
    """The newest run below results/, told on standard error before anything else. Raises StoreRefused where there is
    none."""
    from weigh.harness.store.kinds import newest_run

    run = newest_run(RESULTS, ladder=ladder)
    print_note(f"{run}, the newest {'ladder' if ladder else 'run'}")
    return run


def whole(low: int, high: int | None = None) -> Callable[[str | int], int]:
    """A reader of whole numbers of at least `low` and, if given, at most `high`."""
    demand = f"a whole number from {low} to {high}" if high is not None else f"a whole number of at least {low}"

    def read(given: str | int) -> int:
        value = int(given) if isinstance(given, int) or _WHOLE.fullmatch(given) else None
        if value is None or value < low or (high is not None and value > high):
            raise typer.BadParameter(f"must be {demand}, not {_said(given)}")
        return value

    return read


def number(low: float, high: float | None = None, *, above: bool = False) -> Callable[[str | float], float]:
    """A reader of finite numbers of at least `low` (with `above`, larger than it) and, if given, at most `high`."""
    demand = f"a number above {low:g}" if above else f"a number of at least {low:g}"
    if high is not None:
        demand = f"a number above {low:g}, at most {high:g}" if above else f"a number from {low:g} to {high:g}"

    def read(given: str | float) -> float:
        try:
            value = float(given) if not isinstance(given, str) or (given.isascii() and "_" not in given) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < low or (above and value == low) or (high is not None and value > high):
            endless = math.isinf(value) and value > 0
            finite = demand.replace("a number", "a finite number", 1) if endless else demand
            raise typer.BadParameter(f"must be {finite}, not {_said(given)}")
        return value

    return read


def one_of(known: Sequence[str]) -> Callable[[str], str]:
    """A reader of one of a few words."""

    def read(given: str) -> str:
        if given not in known:
            near = nearest(given, known) or f"; known: {', '.join(known)}"
            raise typer.BadParameter(f"{quote(given)} is none of its values{near}")
        return given

    return read


def _said(given: object) -> str:
    return quote(given) if isinstance(given, str) and not re.fullmatch(r"[!-~]{1,40}", given) else str(given)


def given_options(context: typer.Context) -> tuple[str, ...]:
    """The options that stand on the command line, as `--max-blocks`."""
    sources = {each: context.get_parameter_source(each.name or "") for each in context.command.params}
    given = [each for each, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    return tuple(each.opts[0] for each in given if each.param_type_name == "option")


class Names(tuple[str, ...]):
    """Names with commas between them."""


def names(given: str | Names) -> Names:
    """A reader of names with commas between them."""
    found = given if isinstance(given, Names) else Names(word.strip() for word in given.split(","))
    if not all(found):
        raise typer.BadParameter("must be names with commas between them, as match,hoard,random")
    return found


OpponentsOption = Annotated[
    Names | None,
    typer.Option(
        metavar="A,B,...",
        parser=names,
        help="Scripted policies for the other seats; default: the game's.",
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option(metavar="CONFIG.toml", help="A ladder config that defines @names and [models].")
]
StyleOption = Annotated[
    str | None,
    typer.Option(metavar="STYLE", parser=one_of(STYLES), help="How to ask: reason-then-json, json-only, schema."),
]
MaxTokensOption = Annotated[
    int | None, typer.Option(metavar="N", parser=whole(1), help="Cap on one reply, hidden reasoning included.")
]
TemperatureOption = Annotated[
    float | None, typer.Option(metavar="T", parser=number(0, 2), help="0 is sent as 0; default: the provider's.")
]
BaseUrlOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Where models are asked, e.g. http://127.0.0.1:8000/v1.")
]
ResultsOption = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder for runs, instead of results.")]
MaxCallsOption = Annotated[
    int | None, typer.Option(metavar="N", parser=whole(1), help="Stop after so many calls of all arms.")
]
MaxUsdOption = Annotated[
    float | None,
    typer.Option(metavar="USD", parser=number(0, above=True), help="Stop at so many dollars of all arms."),
]
WideFlag = Annotated[bool, typer.Option("--wide", help="Everything else there is to say.")]
