"""`weigh gate`: catch the policy that got worse.

Owns the options, and where a verdict goes: the terminal or JSON, a JUnit file, a Markdown summary, and the job's own
summary page. A file appears whole or not at all. It says "not judged yet" from the start, so that the green file of an
earlier build never outlives a build that fails.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    given_options,
    number,
    whole,
)
from weigh.harness.cli.output import ink, print_json, print_note, print_text, text_width
from weigh.harness.cli.outputs import check_output
from weigh.harness.errors import FINE, Refused

if TYPE_CHECKING:
    from weigh.harness.gate.play import Note
    from weigh.harness.gate.spec import GateOptions
    from weigh.harness.gate.verdict import BuildVerdict

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file that GitHub Actions shows on a job's page."""

PENDING = "not judged yet: the gate is being played, or was killed"


def gate(
    context: typer.Context,
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
        typer.Option(metavar="M", parser=number(0, 2, above=True), help="Non-inferiority margin, in mean score."),
    ] = None,
    alpha: Annotated[
        float, typer.Option(metavar="P", parser=number(0.0001, 0.4999), help="Chance that a loss of the margin passes.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(metavar="P", parser=number(0.0001, 0.4999), help="Chance that an equal policy fails.")
    ] = 0.05,
    max_blocks: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(1, 1_000_000), help="The most blocks; default: a file's, or 200/seats."),
    ] = None,
    opponents: OpponentsOption = None,
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
    max_calls: MaxCallsOption = None,
    max_usd: MaxUsdOption = None,
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
    results: ResultsOption = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdict as JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdict as Markdown.")] = None,
    save_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Play the candidate and write it as a baseline file instead.")
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1, 1_000_000), help="With --save-baseline (200/seats).")
    ] = None,
    wide: WideFlag = False,
    json: JsonFlag = False,
) -> None:
    """Catch the policy that got worse: a verdict on a candidate against its baseline.

    Both play one seat against the same scripted policies, on the same deals, seeds and seats. Blocks are played until
    the difference is clear, and never more than allowed. A baseline file holds what the baseline scored, so that only
    the candidate is played. What a gate takes from its file (game, opponents, config, seed) need not be given again.

    Everything is kept below results/gate-NAME: the same command goes on after a stop, and repeats a verdict without a
    call. GITHUB_STEP_SUMMARY, when set, gets the summary too. The options from --style to --base-url are for prompts.

    A candidate whose moves the fallback made, for more than --max-fallback-rate of them, is a regression; a baseline of
    that kind is invalid. While nothing is judged, and where anything fails, the files of --junit and --summary say so.

      weigh gate --baseline match --candidate hoard --game goofspiel --margin 0.05
      weigh gate --save-baseline base.json --candidate mine.md@openai:gpt-5-mini --game goofspiel --blocks 50
      weigh gate --baseline base.json --candidate mine.md@openai:gpt-5-mini --margin 0.1 --junit gate.xml
      weigh gate gate.toml --summary gate.md

    Bounds are one-sided at 95 % each, and hold at every interim analysis (a confidence sequence).

    Exit codes: 0 pass; 1 regression; 2 bad usage, file or input, or a missing key; 3 inconclusive, which is no pass;
    4 invalid: the baseline does not fit, too much is void, a limit or a provider stopped it; 130 interrupted.
    """
    from weigh.harness.run.signals import require_own_loop

    require_own_loop()
    note: Note = (lambda line: None) if json else print_note
    if save_baseline is not None:
        require_writable("--save-baseline", save_baseline)
        if file is not None or junit is not None or summary is not None:
            raise Refused(
                "--save-baseline plays one policy and judges none: leave out GATE.toml, --junit and --summary",
                kind="option-without",
            )
        _save(_options(context), save_baseline, note, json)
        return
    inputs = [str(each) for each in (file, config, baseline, candidate) if each]
    reports = Reports(name or str(file or candidate or "gate"), junit, summary)
    reports.begin(inputs)
    with reports.failing():
        from weigh.harness.gate import gate as gates
        from weigh.harness.gate.spec import build_of

        build = gates.run_gates(build_of(_options(context)), note)
        reports.write(build)
    if json:
        print_json(build.to_json())
    else:
        from weigh.harness.report.sections.verdict import text_lines

        print_text("\n".join(text_lines(build, text_width(), ink(), wide=wide)))
    if build.exit_code != FINE:
        raise typer.Exit(build.exit_code)


def _options(context: typer.Context) -> GateOptions:
    """The options as one value, by their names."""
    from weigh.harness.cli.commands.play import settings_given
    from weigh.harness.gate.arm import TIMEOUT, require_name
    from weigh.harness.gate.spec import GateOptions
    from weigh.harness.run.play.single import Asked

    given: dict[str, Any] = dict(context.params)
    words = {key: given[key] for key in ("config", "style", "max_tokens", "temperature", "base_url")}
    found = {
        **{name: given.get(name) for name in GateOptions.model_fields if name != "max_tokens"},
        "name": None if given["name"] is None else require_name(given["name"]),
        "results": None if given["results"] is None else str(given["results"]),
        "set": settings_given(given["setting"] or []),
        "opponents": None if given["opponents"] is None else list(given["opponents"]),
        "decision_timeout": given["timeout"],
        "given": given_options(context),
        "asked": Asked(given["seed"] or 0, given["timeout"] or TIMEOUT, **words),
    }
    return GateOptions.model_validate({name: value for name, value in found.items() if value is not None})


def _save(options: GateOptions, target: Path, note: Note, json: bool) -> None:
    """Play a baseline, write its file, and tell of it."""
    from weigh.harness.gate.arm import shown_path
    from weigh.harness.gate.baseline import written
    from weigh.harness.gate.gate import played_baseline, smallest_margin
    from weigh.harness.gate.measures import rates_of
    from weigh.harness.gate.spec import baseline_arm
    from weigh.harness.results.export import write_atomically
    from weigh.harness.words import plural, share, shown

    arm = baseline_arm(options)
    saved, taken = played_baseline(arm, options.ceilings, options.max_void_rate, options.max_fallback_rate, note)
    write_atomically(target, written(saved))
    count, whole = len(saved.blocks), len(saved.whole)
    mean, margin, rates = sum(saved.means) / whole, smallest_margin(saved), rates_of(saved.measures)
    if json:
        print_json(
            {
                "schema_version": 2,
                "file": str(target),
                "digest": saved.digest,
                "blocks": count,
                "void_blocks": count - whole,
                "mean": mean,
                "smallest_margin": margin,
                "calls": taken.usage.calls,
                "cost_usd": taken.usage.cost_usd,
                "measures": saved.measures,
                "folder": shown_path(arm.folder),
            }
        )
        return
    print_text(f"{shown(str(target))}: {plural(whole, 'block')} of {shown(arm.spec.name)}, mean score {mean:+.4f}")
    print_text(f"moves by the fallback {share(rates.fallback)}; second attempts {share(rates.retry)}")
    if count > whole:
        print_text(f"{plural(count - whole, 'block')} more are void and will not be compared")
    if margin is not None:
        print_text(f"smallest useful margin with {plural(whole, 'block')}: {margin:.2g}, if pairing gains nothing")
    print_note(f"kept in {shown_path(arm.folder)}; commit {target}")


def require_writable(option: str, path: Path, inputs: Sequence[str] = ()) -> None:
    """Refuse, before anything is paid for, a file that could not be written afterwards: by making one beside it.

    Pipes and devices are refused as well: opening one may wait for ever. `inputs` are what is read: entrants and files
    in the words of the command line.
    """

    def refused(why: str, kind: str = "target") -> Refused:
        return Refused(f"{option} {path}: {why}", kind=kind)

    try:
        place = path.resolve(strict=path.is_symlink() and path.exists())
        mode = place.stat().st_mode if place.exists() else None
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links, in Python below 3.13
        raise refused(f"cannot be written: {_why(error)}") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise refused("is a folder; give the name of a file")
    if place.is_symlink():
        raise refused("cannot be written: its links lead in a circle")
    if mode is not None and not stat.S_ISREG(mode):
        raise refused("is no plain file; give the name of one")
    if not place.parent.is_dir():
        raise refused("its folder does not exist")
    check_output(option, path, [part for word in inputs for part in (word, word.partition("@")[0]) if part])
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", suffix=".part"):
            pass
    except OSError as error:
        raise refused(f"cannot be written: {_why(error)}") from error


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


@dataclass(frozen=True, slots=True)
class Reports:
    """The files of one build."""

    name: str
    """The build's, while nothing better is known."""
    junit: Path | None
    summary: Path | None

    def begin(self, inputs: Sequence[str]) -> None:
        """Make the files say that nothing is judged yet. Raises Refused where they cannot be written, are one file, or
        are among the `inputs`: entrants and files in the words of the command line."""
        from weigh.harness.gate.junit import not_judged
        from weigh.harness.report.sections.verdict import HEADING, failed_page

        files = [(option, path) for option, path in (("--junit", self.junit), ("--summary", self.summary)) if path]
        for option, path in files:
            require_writable(option, path, inputs)
        places = [path.resolve() for _, path in files]
        if len(set(places)) < len(places):
            raise Refused(f"--junit {self.junit} and --summary {self.summary}: are one file", kind="target")
        if self.junit is not None and not _empty_or(self.junit, "<"):
            raise Refused(
                f"--junit {self.junit}: holds something else than XML; remove it, or give another name", kind="target"
            )
        ours = self.summary is not None and _empty_or(self.summary, HEADING)
        self._write(not_judged(self.name, PENDING), failed_page(self.name, PENDING) if ours else None)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Whatever ends the block early is an error in the files, too."""
        try:
            yield
        except BaseException as error:
            from weigh.harness.gate.junit import not_judged
            from weigh.harness.report.sections.verdict import failed_page

            bug = "" if isinstance(error, Refused) else type(error).__name__
            reason = " ".join(f"{bug} {error}".split()) or type(error).__name__
            page = failed_page(self.name, reason)
            with suppress(Exception):  # the error itself is what is to be told
                self._write(not_judged(self.name, reason), page)
                _append(page)
            raise

    def write(self, build: BuildVerdict) -> None:
        from weigh.harness.gate.junit import junit
        from weigh.harness.report.sections.verdict import markdown

        page = markdown(build)
        self._write(junit(build) if self.junit is not None else None, page)
        _append(page)

    def _write(self, document: str | None, page: str | None) -> None:
        from weigh.harness.results.export import write_atomically

        if self.junit is not None and document is not None:
            write_atomically(self.junit, document)
        if self.summary is not None and page is not None:
            write_atomically(self.summary, page)


def _empty_or(path: Path, begins: str) -> bool:
    """Whether a file is missing, empty, or begins so: one that may be written over before there is anything to tell."""
    try:
        with path.open("rb") as stream:
            head = stream.read(200)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return not head.strip() or head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(begins.encode())


def _append(page: str) -> None:
    """Add to the job's summary page, where there is one. What is no plain file is left alone: it may never be read."""
    job = os.environ.get(STEP_SUMMARY)
    if not job:
        return
    try:
        place = Path(job)
        if place.exists() and not place.is_file():
            print_note(f"weigh: {STEP_SUMMARY} cannot be written to: it is no plain file")
            return
        with place.open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(page)
    except (OSError, ValueError) as error:
        print_note(f"weigh: {STEP_SUMMARY} cannot be written to: {_why(error)}")
