"""`weigh audit`: whether entrants stood aside for each other, and the way from a flag to a replay."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.games.values import nearest, quote
from weigh.harness.audit.collusion.audit import Settings
from weigh.harness.cli.options import RunsArgument, number, one_of, runs_or_newest, whole
from weigh.harness.cli.output import print_json, print_note, print_sections, print_text
from weigh.harness.errors import INCONCLUSIVE, INTERRUPTED, WRONG, Refused

if TYPE_CHECKING:
    from weigh.harness.audit.collusion.audit import Audit
    from weigh.harness.store.manifest import Manifest

FORMATS = ("table", "markdown", "json")
SETTINGS = Settings()
"""Unless said otherwise."""


def audit(
    runs: RunsArgument = None,
    fdr: Annotated[
        float,
        typer.Option(metavar="SHARE", parser=number(0, 1, above=True), help="False discovery rate."),
    ] = SETTINGS.fdr,
    permutations: Annotated[
        int, typer.Option(metavar="N", parser=whole(99, 100_000), help="Permutations drawn for each entrant.")
    ] = SETTINGS.permutations,
    threshold: Annotated[
        float,
        typer.Option(metavar="INDEX", parser=number(0, 1, above=True), help="Collusion index that counts as high."),
    ] = SETTINGS.threshold,
    seed: Annotated[int, typer.Option(metavar="N", parser=whole(0), help="Seed of the permutations.")] = (
        SETTINGS.seed
    ),
    rounds: Annotated[int, typer.Option(metavar="N", parser=whole(0), help="Rounds listed of each flagged pair.")] = 3,
    fail_on_flag: Annotated[
        bool, typer.Option("--fail-on-flag", help="End with 1 when a pair is flagged, 3 when none could be.")
    ] = False,
    replay_shuffled: Annotated[
        Path | None,
        typer.Option(metavar="CONFIG.toml", help="Play the pairs' tables again, under other names and with stand-ins."),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="I:J", help="A pair to replay: who stands aside, and for whom. Else those flagged."),
    ] = None,
    replace_with: Annotated[
        str | None, typer.Option(metavar="NAME", help="The scripted policy that stands in when replayed.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The replay's folder.")] = None,
    wide: Annotated[bool, typer.Option("--wide", help="All pairs, and the collusion index by its parts.")] = False,
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", parser=one_of(FORMATS), help="table, markdown or json.")
    ] = "table",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Test for collusion between entrants.

    For every ordered pair: whether one bids its lowest card for high prizes more often when the other is at the table,
    by permutation over blocks; and who benefited. A flag says that what an entrant does depends on who is there, and
    that a human should look. It is no verdict. Other ways to help a partner are mostly missed: the second-lowest card,
    half bids, conceding low prizes, burning top cards. --wide has all pairs and the game's own index by its parts.

      weigh audit results/league
      weigh audit results/a results/b --fdr 0.01 --format markdown
      weigh audit results/league --fail-on-flag --json
      weigh audit results/league --replay-shuffled league.toml --pair ann:bob

    Exit codes: 0 audited, flagged or not; 1 flagged, with --fail-on-flag; 2 not a run, one that does not hold what it
    planned, or a pair that is not there; 3 nothing to audit, and with --fail-on-flag when no pair could be flagged.
    With --replay-shuffled those of the replay: 0 answered, 3 open, 4 invalid, 130 interrupted.
    """
    runs = runs_or_newest(runs)
    settings = Settings(fdr=fdr, permutations=permutations, threshold=threshold, seed=seed)
    if replay_shuffled is None:
        for given, option in ((pair, "--pair"), (replace_with, "--replace-with"), (name, "--name")):
            if given:
                raise Refused(f"{option}: only with --replay-shuffled CONFIG.toml", kind="option-without")
        found = audit_of(runs, settings, tell=True)
        _print(found, "json" if json else format, runs, rounds, wide)
        code = _verdict(found, fail_on_flag)
    else:
        code = _replay(runs, settings, replay_shuffled, pair or [], replace_with, name, json or format == "json")
    if code:
        raise typer.Exit(code)


def audit_of(runs: Sequence[Path], settings: Settings, *, tell: bool = False) -> Audit:
    """The audit of `runs`. With `tell`, how each run stands is noted on standard error, where it is not finished."""
    from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION
    from weigh.harness.audit.collusion.audit import audit as audit_records
    from weigh.harness.audit.collusion.seats import RunOf
    from weigh.harness.audit.measures.persistent_calibration import side_correlations
    from weigh.harness.audit.verify.planned import require_as_planned
    from weigh.harness.results import load
    from weigh.harness.store.kinds import require_ladders
    from weigh.harness.store.store import Store
    from weigh.harness.words import shown

    results = load([str(run) for run in runs])
    folders = results.folders
    # Tables of unlike configs are taken apart by the audit itself.
    require_ladders(list(zip(folders, results.manifests, strict=True)))
    expected: dict[str, Counter[str]] = {}
    finished: Counter[str] = Counter()
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(folder, readonly=True)) for folder in folders]
        require_as_planned(stores)
        for store in stores:
            if tell and store.status != "finished":
                print_note(shown(f"{store.folder}: {store.status}", limit=500))
            games = {row.key: row.game for row in store.episodes()}
            expected[store.manifest.run_id] = Counter(row.game for row in store.episodes() if row.deal_key)
            finished.update(games[key] for key in store.finished())
        sides = None
        if finished[PERSISTENT_CALIBRATION.name]:
            sides = side_correlations(record for store in stores for record in store.records())
        return audit_records(
            [RunOf(store.manifest.run_id, store.manifest.seed, store.records()) for store in stores],
            settings,
            expected=expected,
            finished=finished,
            side_correlations=sides,
        )


def _print(found: Audit, format: str, runs: Sequence[Path], rounds: int, wide: bool) -> None:
    from weigh.harness.report.render.document import Section
    from weigh.harness.report.render.markdown import markdown_sections
    from weigh.harness.report.sections.audit import sections

    folders = {manifest.run_id: str(folder) for manifest, folder in _manifests(runs)} if found.flagged else {}
    made = sections(found, rounds, wide, folders)
    if format == "json":
        print_json(found.to_json())
    elif format == "markdown":
        print_text(markdown_sections(made).rstrip("\n"))
    else:
        print_sections(made or [Section("no episode")])


def _manifests(runs: Sequence[Path]) -> Iterator[tuple[Manifest, Path]]:
    from weigh.harness.store.store import Store

    for run in runs:
        with Store.open(run, readonly=True) as store:
            yield store.manifest, run


def _verdict(found: Audit, fail_on_flag: bool) -> int:
    if not found.tables:
        print_note("weigh: nothing to audit: no episode of goofspiel is finished")
        return INCONCLUSIVE
    if fail_on_flag and found.flagged:
        return WRONG
    if fail_on_flag and not found.reachable:
        print_note("weigh: no pair could have been flagged, so --fail-on-flag proves nothing")
        return INCONCLUSIVE
    return 0


def _replay(
    runs: Sequence[Path],
    settings: Settings,
    config: Path,
    pairs: Sequence[str],
    replace_with: str | None,
    name: str | None,
    json: bool,
) -> int:
    from weigh.harness.cli.commands.ladder import showing
    from weigh.harness.gate.rematch import ReplaySpec, replay
    from weigh.harness.report.sections.rematch import lines
    from weigh.harness.run.signals import require_own_loop

    found = audit_of(runs, settings, tell=True)
    if not found.tables:
        raise Refused(
            "--replay-shuffled: nothing to play again: no episode of goofspiel is finished",
            code=INCONCLUSIVE,
            kind="nothing-to-replay",
        )
    known = sorted({each.entrant for table in found.tables for each in table.indices})
    if pairs:
        chosen = list(dict.fromkeys(_pair(each, known) for each in pairs))
    else:
        chosen = list(dict.fromkeys((each.by, each.toward) for each in found.flagged))
        if not chosen:
            raise Refused("--replay-shuffled: no pair is flagged; name one with --pair I:J", kind="nothing-flagged")
    require_own_loop()
    replayed = replay(ReplaySpec(runs, config, chosen, replace_with, name), showing(json), print_note, quiet=json)
    if json:
        print_json(replayed.to_json())
    else:
        print_text("\n".join(lines(replayed.answers)))
        if replayed.code != INTERRUPTED:
            place = replayed.folder
            print_note(f"kept in {place}; `weigh verify {shlex.quote(str(place))}` recomputes it")
    return replayed.code


def _pair(words: str, known: Sequence[str]) -> tuple[str, str]:
    """Two entrants out of `I:J`; names may hold colons themselves."""
    cuts = [(words[:at], words[at + 1 :]) for at, character in enumerate(words) if character == ":"]
    if not cuts:
        raise Refused(
            f"--pair {quote(words)}: must be two entrants with a colon between, who stands aside first",
            kind="not-a-pair",
        )
    fits = [(by, toward) for by, toward in cuts if by in known and toward in known]
    if len(fits) == 1:
        by, toward = fits[0]
        if by == toward:
            raise Refused(f"--pair {quote(words)}: an entrant is no pair with itself", kind="not-a-pair")
        return by, toward
    if fits:
        raise Refused(
            f"--pair {quote(words)}: can be read in {len(fits)} ways; rename the entrants", kind="ambiguous-pair"
        )
    by, toward = cuts[0]
    wrong = toward if by in known else by
    hint = nearest(wrong, known) or f" (entrants: {', '.join(known[:20])})"
    raise Refused(f"--pair {quote(words)}: no entrant {quote(wrong)} in these runs{hint}", kind="unknown-entrant")
