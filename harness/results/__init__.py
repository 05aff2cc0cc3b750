"""Finished runs as pandas frames: `load("results/demo").seats.groupby("entrant").score.mean()`.

Owns how the rows of `harness.results.rows` become frames, and how several runs are read as one. Frames are made when
they are first asked for. pandas is imported only then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weigh.games.registry import GAMES, read_config
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import StoreRefused
from weigh.harness.results import rows as result_rows
from weigh.harness.results.measures import MEASURES, measure_rows
from weigh.harness.results.rows import Cell, Columns, Kind, Row
from weigh.harness.store.kinds import game_configs, require_one_ladder
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.store import Store
from weigh.harness.words import plural, shown

if TYPE_CHECKING:
    import pandas as pd

    from weigh.harness.results.ranking.standings import Ladder

DTYPES: Final[dict[Kind, str]] = {
    "text": "str",
    "count": "int64",
    "whole": "Int64",
    "number": "float64",
    "flag": "bool",
}


@dataclass(frozen=True, repr=False)
class Results:
    """One or several runs, finished or not. Each frame holds what is kept at the moment it is first asked for."""

    folders: tuple[Path, ...]
    manifests: tuple[Manifest, ...]
    """By run, in the order of `folders`."""

    def __repr__(self) -> str:
        return "\n".join([f"results of {plural(len(self.folders), 'run')}", *map("  ".join, self._described())])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._described())
        return f"<p>Results of {plural(len(self.folders), 'run')}</p><table>{rows}</table>"

    def _described(self) -> Iterator[tuple[str, ...]]:
        """A row for each run: its folder, its games, its seed."""
        for folder, manifest in zip(self.folders, self.manifests, strict=True):
            games = dict.fromkeys(entry.partition("/")[0] for entry in manifest.policies)
            yield shown(str(folder)), ", ".join(games), f"seed {manifest.seed}"

    @property
    def manifest(self) -> Manifest:
        """Of the only run. Raises ValueError when there are several."""
        (manifest,) = self.manifests
        return manifest

    @cached_property
    def seats(self) -> pd.DataFrame:
        """One row for each seat of each finished episode: the columns of `result_rows.SEATS`."""
        return self._frame(result_rows.SEATS, result_rows.seat_rows)

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """One row for each decision of each finished episode: the columns of `result_rows.DECISIONS`."""
        return self._frame(result_rows.DECISIONS, result_rows.decision_rows)

    @cached_property
    def calls(self) -> pd.DataFrame:
        """One row for each model call, without its texts: the columns of `result_rows.CALLS`."""
        return self._frame(result_rows.CALLS, result_rows.call_rows)

    @cached_property
    def voids(self) -> pd.DataFrame:
        """One row for each seat of each void episode: the columns of `result_rows.VOIDS`."""
        return self._frame(result_rows.VOIDS, result_rows.void_rows)

    @cached_property
    def accounts(self) -> pd.DataFrame:
        """One row for each entrant and model in each game, of all calls: the columns of `result_rows.ACCOUNTS`."""
        return self._frame(result_rows.ACCOUNTS, result_rows.account_rows)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """One row for each measure of each entrant in each game, run by run: the columns of `measures.MEASURES`."""
        return self._frame(MEASURES, measure_rows)

    @cached_property
    def ladder(self) -> pd.DataFrame:
        """One row for each entrant in each game: the columns of `weigh rank --format csv`."""
        from weigh.harness.results.ranking.standings import ladder_frame

        return ladder_frame(self.rank())

    def rank(self, *, max_fallback_rate: float = MAX_FALLBACK_RATE, exclude_fallback_episodes: bool = False) -> Ladder:
        """The ladder of these runs, as `weigh rank` has it. For the options see `harness.results.ranking.ladder.rank`.

        Raises StoreRefused where they are no ladder, or no one ladder (see `harness.store.kinds`), and where one does
        not hold what it planned (see `harness.audit.verify.planned`).
        """
        from weigh.harness.audit.verify.planned import require_as_planned
        from weigh.harness.results.ranking.ladder import rank
        from weigh.harness.results.ranking.rows import Ordered
        from weigh.harness.store.usage import accounts_of

        require_one_ladder(list(zip(self.folders, self.manifests, strict=True)))
        expected: Counter[str] = Counter()
        entered: dict[str, set[str]] = {}
        with ExitStack() as opened:
            stores = [opened.enter_context(Store.open(folder, readonly=True)) for folder in self.folders]
            require_as_planned(stores)
            accounts = accounts_of(stores)
            for store in stores:
                expected.update(row.game for row in store.episodes() if row.deal_key)
        for manifest in self.manifests:
            for entry in manifest.policies:
                game, _, entrant = entry.partition("/")
                entered.setdefault(game, set()).add(entrant)
        lowest = self._lowest()
        ordered = {
            game: Ordered(expected[game], frozenset(entered.get(game, ())), lowest.get(game, -1.0))
            for game in {*expected, *entered}
        }
        return rank(
            self.seats,
            self.voids,
            max_fallback_rate=max_fallback_rate,
            exclude_fallback_episodes=exclude_fallback_episodes,
            ordered=ordered,
            seeds={manifest.run_id: manifest.seed for manifest in self.manifests},
            accounts=accounts,
        )

    def _lowest(self) -> dict[str, float]:
        """By game: the lowest score that its rules allow, under the config that all runs share."""
        found = {}
        for manifest in self.manifests:
            for name, config in game_configs(manifest).items():
                if name in GAMES:
                    found[name] = float(GAMES[name].lowest(read_config(GAMES[name], config)))
        return found

    def _frame(self, columns: Columns, rows: Callable[[Store], Iterator[Row]]) -> pd.DataFrame:
        import pandas as pd

        table: list[list[Cell]] = [[] for _ in columns]
        for folder in self.folders:
            with Store.open(folder, readonly=True) as store:
                for row in rows(store):
                    for column, cell in zip(table, row, strict=True):
                        column.append(cell)
        return pd.DataFrame(
            {
                # Typed by the column's kind, so that a column of nothing but gaps has the type of any other.
                name: pd.Series(column, dtype=DTYPES[kind])
                for (name, kind), column in zip(columns.items(), table, strict=True)
            }
        )


def load(run: str | Path | Sequence[str | Path]) -> Results:
    """Read one run's folder, or several as one table, told apart by the column `run`.

    Raises StoreRefused for a folder that is no run, and for two folders with the same run in them, whose episodes would
    count twice.
    """
    given = [run] if isinstance(run, str | Path) else list(run)
    if not given:
        raise StoreRefused("no run was given to load", kind="no-run")
    folders = tuple(Path(folder) for folder in given)
    manifests: list[Manifest] = []
    home: dict[str, Path] = {}
    for folder in folders:
        with Store.open(folder, readonly=True) as store:
            manifest = store.manifest
        if manifest.run_id in home:
            raise StoreRefused(
                f"{home[manifest.run_id]} and {folder} hold the same run {manifest.run_id}; give it once",
                kind="given-twice",
            )
        home[manifest.run_id] = folder
        manifests.append(manifest)
    return Results(folders, tuple(manifests))
