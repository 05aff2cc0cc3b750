"""The functions of `import weigh`, and the values they give back, which show themselves.

Owns no rule, number or file: each function calls what the command of the same name calls. Where an event loop is
running (a notebook's cell), what plays does so in a thread of its own; the first interrupt lets calls in flight return,
the second stops at once, there as in a plain process. Everything raised for a person is a `harness.errors.WeighError`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from weigh.games.game import Json
from weigh.harness.cli.output import print_note
from weigh.harness.cli.progress.plain import choose_display
from weigh.harness.cli.serving import followed
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import INTERRUPTED, Refused
from weigh.harness.results import Results, load
from weigh.harness.results.ranking.standings import Ladder
from weigh.harness.run.events import Closing, Progress
from weigh.harness.run.play.followers import Watching
from weigh.harness.run.play.ladder import LadderSpec, play_ladder
from weigh.harness.run.play.single import Asked, Following, play_single, prepare
from weigh.harness.run.signals import apart
from weigh.harness.store.record import Record
from weigh.harness.words import shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Episode", "LadderRun", "PromptOptions", "Ranking", "ladder", "load", "play", "rank"]

WIDTH = 100
"""Columns that a ranking shown as text may take."""


class PromptOptions(TypedDict, total=False):
    """How entrants PROMPT.md@provider:model play; the options of `weigh play` with the same names."""

    style: str | None
    max_tokens: int | None
    temperature: float | None
    base_url: str | None


@dataclass(frozen=True, repr=False)
class Episode:
    """An episode that was played to its end."""

    record: Record

    @property
    def scores(self) -> dict[int, float]:
        """By seat, each in [-1, 1]."""
        return dict(enumerate(self.record.scores))

    def __repr__(self) -> str:
        return "\n".join([self._heading(), *("  ".join(row) for row in self._rows())])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._heading())}</p>{_html_table(('seat', 'alias', 'entrant', 'score'), self._rows())}"

    def _heading(self) -> str:
        return f"{self.record.game}, {self.record.reason}: {self.record.ending}"

    def _rows(self) -> list[tuple[str, ...]]:
        record = self.record
        return [
            (str(seat), record.aliases[seat], shown(record.entrants[seat]), f"{score:+.4f}")
            for seat, score in enumerate(record.scores)
        ]


@dataclass(frozen=True, repr=False)
class Ranking:
    """The ladder of one run or several, as `weigh rank` prints it."""

    ladder: Ladder

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each entrant in each game: the columns of `weigh rank --format csv`."""
        from weigh.harness.results.ranking.standings import ladder_frame  # pandas

        return ladder_frame(self.ladder)

    def to_json(self) -> dict[str, Json]:
        """What `weigh rank --json` prints."""
        return self.ladder.to_json()

    def __repr__(self) -> str:
        from weigh.harness.report.render.text import plain_lines
        from weigh.harness.report.sections.ladder import answer_sections

        return "\n".join(plain_lines(answer_sections(self.ladder, WIDTH), WIDTH))

    def _repr_html_(self) -> str:
        from weigh.harness.report.render.document import Section, Text
        from weigh.harness.report.render.html import html_fragment
        from weigh.harness.report.sections.ladder import verdict
        from weigh.harness.report.sections.ladder_table import ladder_sections

        answers = tuple(Text(verdict(game, self.ladder)) for game in self.ladder.games)
        return html_fragment([Section("", blocks=answers), *ladder_sections(self.ladder, WIDTH)])


@dataclass(frozen=True, repr=False)
class LadderRun:
    """A ladder as a call of `ladder` left it."""

    folder: Path
    """Where the run is kept."""
    closing: Closing
    """How this call ended: `ended` is `complete` or `stopped`, `detail` says why, `resume` is the command that goes
    on."""
    max_fallback_rate: float
    """Entrants above it are listed and not ranked, by the config."""

    @property
    def results(self) -> Results:
        """What the run holds, as frames."""
        return load(self.folder)

    @cached_property
    def ranking(self) -> Ranking:
        """Of what was played by the time it is first asked for."""
        return rank(self.folder, max_fallback_rate=self.max_fallback_rate)

    def __repr__(self) -> str:
        return f"{self._heading()}\n{self.ranking!r}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._heading())}</p>{self.ranking._repr_html_()}"

    def _heading(self) -> str:
        closing = self.closing
        why = f": {closing.detail}" if closing.detail else ""
        return f"{self.folder}: {closing.ended}, {closing.finished} of {closing.total} episodes finished{why}"


def play(
    game: str,
    entrants: Sequence[str],
    *,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    save: str | Path | None = None,
    timeout: float = 60.0,
    **prompts: Unpack[PromptOptions],
) -> Episode:
    """Play one episode of `game`, one entrant a seat: `weigh.play("goofspiel", ["match", "hoard"], seed=7)`.

    An entrant is a scripted policy, PROMPT.md@provider:model, or @name of the file `config`. `settings` are keys of the
    game's config. With `save`, the episode and every model call are kept in that run folder, and the same call goes on
    from there. `timeout` is seconds for one attempt at one decision.
    Raises a WeighError when it cannot be played or is void (a provider failed);
    KeyboardInterrupt when it was interrupted.
    """
    asked = Asked(seed, timeout, None if config is None else Path(config), **prompts)
    again = f"the same call of weigh.play, with save={str(save)!r}"

    def played() -> Episode:
        single = prepare(game, list(entrants), settings or {}, asked)
        kept = play_single(single, None if save is None else Path(save), Following(), print_note, again)
        return Episode(kept.record)

    try:
        return apart(played)
    except Refused as error:
        if error.code == INTERRUPTED:
            raise KeyboardInterrupt(str(error)) from None
        raise


def ladder(
    config: str | Path,
    *,
    seed: int | None = None,
    name: str | None = None,
    results: str | Path | None = None,
    limits: Mapping[str, float] | None = None,
    reuse: str | Path | None = None,
    extend: bool = False,
    quiet: bool = False,
) -> LadderRun:
    """Play a config's ladder, or go on where it stopped: `weigh.ladder("ladder.toml", limits={"max_usd": 2})`.

    `seed`, `name`, `results` and `limits` (keys of [limits]) stand in place of the config's; `reuse` and `extend` are
    those of `weigh ladder`. Progress goes to standard error; with `quiet` only warnings do.
    Returns also when a limit or a provider stopped it: see `LadderRun.closing`. Raises a WeighError when it cannot be
    played, KeyboardInterrupt when it was interrupted; what was played is kept, and the same call goes on.
    """
    overrides: dict[str, object] = {
        "seed": seed,
        "name": name,
        "results": None if results is None else str(Path(results).absolute()),
        **{f"limits.{key}": value for key, value in (limits or {}).items()},
    }
    spec = LadderSpec(Path(config), overrides, None if reuse is None else Path(reuse), extend)

    def follow(run: str) -> AbstractContextManager[tuple[Progress, Watching]]:
        return followed(choose_display(sys.stderr, os.environ, quiet), None, run)

    played = apart(lambda: play_ladder(spec, follow, print_note, _command(spec), quiet=quiet))
    if played.code == INTERRUPTED:
        raise KeyboardInterrupt(f"kept in {played.folder}; go on with: {shlex.join(_command(spec))}")
    return LadderRun(played.folder, played.closing, played.order.rank.max_fallback_rate)


def rank(
    run: str | Path | Sequence[str | Path],
    *,
    max_fallback_rate: float = MAX_FALLBACK_RATE,
    without_fallbacks: bool = False,
) -> Ranking:
    """The ranking of one run, or of several together. The options are those of `weigh rank`.

    Raises StoreRefused for what is no run, or no ladder, or does not hold what it planned.
    """
    found = load(run)
    return Ranking(found.rank(max_fallback_rate=max_fallback_rate, exclude_fallback_episodes=without_fallbacks))


def _command(spec: LadderSpec) -> list[str]:
    """The command line that goes on with a ladder."""
    words = ["weigh", "ladder", str(spec.config)]
    for key, value in spec.overrides.items():
        if value is not None:
            words += [f"--{key.removeprefix('limits.').replace('_', '-')}", str(value)]
    if spec.reuse is not None:
        words += ["--reuse", str(spec.reuse)]
    return [*words, *(["--extend"] if spec.extend else [])]


def _html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
