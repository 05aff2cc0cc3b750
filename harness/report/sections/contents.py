"""Everything a report says, as values: gathered from open runs by the modules that compute it.

Owns the gathering and the JSON form. Reads records, plays nothing, and looks at no clock: equal runs give equal
contents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weigh.games.game import Json
from weigh.harness.report.sections.notable import Notable, notable
from weigh.harness.report.sections.run_facts import RunFacts, run_facts

if TYPE_CHECKING:
    from weigh.harness.audit.collusion.audit import Audit
    from weigh.harness.audit.measures.registry import Measured
    from weigh.harness.results import Results
    from weigh.harness.results.ranking.elo import Board
    from weigh.harness.results.ranking.matchups import PairBoard
    from weigh.harness.results.ranking.standings import Ladder

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
        from weigh.harness.results.measures import measures_json

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
    from weigh.harness.results.measures import measures_of
    from weigh.harness.results.ranking.elo import boards
    from weigh.harness.results.ranking.matchups import pair_boards
    from weigh.harness.store.store import Store

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
    """By episode, the name of its page among those `written` by `harness.web.viewer.run.run_folder_pages`."""
    from weigh.harness.web.viewer.run import INDEX, file_name

    taken = {INDEX}
    found = {}
    for key in keys:
        name = file_name(key, taken)
        if name in written:
            found[key] = name
            taken.add(name)
    return found
