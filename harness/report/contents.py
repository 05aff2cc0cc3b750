"""Everything a report says, as values: gathered from open runs by the modules that compute it.

Owns the gathering and the JSON form. Reads records, plays nothing, and looks at no clock: equal runs give equal
contents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from games.game import Json
from harness.report.notable import Notable, notable
from harness.report.run_facts import RunFacts, run_facts

if TYPE_CHECKING:
    from harness.audits.collusion import Audit
    from harness.diagnostics import Measured
    from harness.league_board import Board
    from harness.pairs import PairBoard
    from harness.results import Results
    from harness.standings import Ladder

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Contents:
    """What is known of one or several runs."""

    runs: tuple[RunFacts, ...]
    ladder: Ladder
    boards: tuple[Board, ...]
    pairs: tuple[PairBoard, ...]
    audit: Audit
    measures: Mapping[str, Measured]
    """By game."""
    notable: Mapping[str, tuple[Notable, ...]]
    """By game."""

    @property
    def finished(self) -> int:
        return sum(run.finished for run in self.runs)

    def to_json(self) -> dict[str, Json]:
        """`ladder` as of `weigh rank --json` (with `boards`, `pairs`, `measures` beside it), `audit` as of `weigh audit
        --json`; what is not known is null."""
        from harness.measures import measures_json

        return {
            "schema_version": SCHEMA,
            "runs": [run.to_json() for run in self.runs],
            "ladder": self.ladder.to_json(),
            "boards": [board.to_json() for board in self.boards],
            "pairs": [board.to_json() for board in self.pairs],
            "audit": self.audit.to_json(),
            "measures": measures_json(self.measures),
            "notable": {game: [each.to_json() for each in found] for game, found in self.notable.items()},
        }


def gather(
    results: Results,
    audit: Audit,
    *,
    max_fallback_rate: float = 0.2,
    without_fallbacks: bool = False,
) -> Contents:
    """The contents of a report on these runs, finished or not. `audit` is of the same runs."""
    from harness.league_board import boards
    from harness.measures import measures_of
    from harness.pairs import pair_boards
    from harness.store import Store

    ladder = results.rank(max_fallback_rate=max_fallback_rate, exclude_fallback_episodes=without_fallbacks)
    seeds = {manifest.run_id: manifest.seed for manifest in results.manifests}
    ranks = {
        game.game: {each.entrant: each.rank for each in game.standings if each.rank is not None}
        for game in ladder.games
    }
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(folder, readonly=True)) for folder in results.folders]
        facts = tuple(run_facts(store, str(folder)) for store, folder in zip(stores, results.folders, strict=True))
        found = notable(((store.manifest.run_id, record) for store in stores for record in store.records()), ranks)
        measured = measures_of(stores)
    return Contents(
        runs=facts,
        ladder=ladder,
        boards=boards(results.seats, ladder, seeds=seeds),
        pairs=pair_boards(results.seats, ladder, seeds=seeds),
        audit=audit,
        measures=measured,
        notable=found,
    )


def replay_names(keys: Sequence[str], written: frozenset[str]) -> dict[str, str]:
    """By episode, the name of its page among those `written` by `harness.viewer.run_pages.run_folder_pages`."""
    from harness.viewer.run_pages import INDEX, file_name

    taken = {INDEX}
    found = {}
    for key in keys:
        name = file_name(key, taken)
        if name in written:
            found[key] = name
            taken.add(name)
    return found
