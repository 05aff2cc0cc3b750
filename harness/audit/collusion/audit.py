"""The collusion audit of runs: index, directed test, who gained, and what could not be looked at.

Owns what is put together and its JSON form. Pure: equal records give equal audits, whatever their order. A flag is a
reason for a human to look, never a verdict: an honest entrant may answer to who is at the table too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

from weigh.games.game import Json
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION
from weigh.games.registry import GAMES
from weigh.harness.audit.collusion.directed import Direction, blocks_wanted, directions
from weigh.harness.audit.collusion.gains import Gain, gain
from weigh.harness.audit.collusion.literal_index import EntrantIndex, entrant_indices
from weigh.harness.audit.collusion.seats import Played, RunOf, TableForm, observations, played
from weigh.harness.audit.measures.persistent_calibration import ENOUGH, Correlation
from weigh.harness.config.thresholds import COLLUSION_THRESHOLD

SCHEMA = 2

_TWO_SEATS = "two-player game"

NO_INDEX: Mapping[str, str] = MappingProxyType(
    {
        "oshi_zumo": _TWO_SEATS,
        "ballast": _TWO_SEATS,
        "half_hearted_step": _TWO_SEATS,
        "persistent_calibration": "it has no bids and no prizes to let go",
    }
)
"""Why the audit does not apply, by game."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an audit was asked for."""

    fdr: float = 0.05
    """The share of false flags among all flags that is put up with."""
    permutations: int = 4_999
    threshold: float = COLLUSION_THRESHOLD
    """The index from which an episode counts as high."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TableAudit:
    """Goofspiel at tables of one form."""

    form: TableForm
    episodes: int
    expected: int | None
    """How many were ordered; None where nobody knows."""
    blocks: int
    indices: tuple[EntrantIndex, ...]
    directions: tuple[Direction, ...]
    gains: tuple[Gain, ...]
    """Of the flagged, the largest difference first."""
    settings: Settings

    @property
    def tested(self) -> tuple[Direction, ...]:
        return tuple(each for each in self.directions if each.untestable is None)

    @property
    def flagged(self) -> tuple[Direction, ...]:
        """The largest difference first."""
        return _flagged(self.directions)

    @property
    def reachable(self) -> bool:
        """Whether any pair could have been flagged on its own."""
        return any(each.reachable for each in self.directions)

    @property
    def too_few_permutations(self) -> bool:
        """Whether the draws alone keep `p_max` above what is called for."""
        return 1 / (1 + self.settings.permutations) > self.settings.fdr / 2

    @property
    def times_blocks(self) -> float | None:
        """By how much the blocks must be multiplied before a pair can be flagged alone; None when one can be, when none
        was tested, or when nobody can say."""
        if self.reachable or self.too_few_permutations:
            return None
        wanted = (blocks_wanted(each, self.settings.fdr) for each in self.tested)
        return min((times for times in wanted if times is not None), default=None)

    def to_json(self) -> dict[str, Json]:
        gains = {(each.by, each.toward): each for each in self.gains}
        flagged: list[Json] = [{**asdict(each), "gain": gains[each.by, each.toward].to_json()} for each in self.flagged]
        return {
            "game": GOOFSPIEL.name,
            "table": self.form._asdict(),
            "not_applicable": None,
            "episodes": self.episodes,
            "expected": self.expected,
            "blocks": self.blocks,
            "index": [each.to_json() for each in self.indices],
            "directions": [asdict(each) for each in self.directions],
            "tested": len(self.tested),
            "reachable": self.reachable,
            "times_blocks": self.times_blocks,
            "flagged": flagged,
            "side_correlations": None,
        }


@dataclass(frozen=True, slots=True)
class NotAudited:
    """A game the audit does not apply to, or of which no episode is finished."""

    game: str
    reason: str
    episodes: int
    expected: int | None
    side_correlations: Mapping[tuple[str, str], Correlation] | None = None
    """Persistent Calibration only: how the left and right of two entrants went together. It describes, and tests
    nothing."""

    @property
    def closest(self) -> list[tuple[tuple[str, str], Correlation]]:
        """The pairs that played enough together, the highest correlation first."""
        known = [(pair, each) for pair, each in (self.side_correlations or {}).items() if each.rounds >= ENOUGH]
        return sorted(known, key=lambda item: (-(-2 if item[1].value is None else item[1].value), item[0]))

    def to_json(self) -> dict[str, Json]:
        missing = dict.fromkeys(("blocks", "index", "directions", "tested", "reachable", "times_blocks", "flagged"))
        return {
            "game": self.game,
            "table": None,
            "not_applicable": self.reason,
            "episodes": self.episodes,
            "expected": self.expected,
            **missing,
            "side_correlations": None if self.side_correlations is None else [*map(_correlation, self.closest)],
        }


def _correlation(item: tuple[tuple[str, str], Correlation]) -> Json:
    (one, other), found = item
    return {"one": one, "other": other, "rounds": found.rounds, "correlation": found.value}


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything `weigh audit` says."""

    settings: Settings
    tables: tuple[TableAudit, ...]
    others: tuple[NotAudited, ...]

    @property
    def flagged(self) -> tuple[Direction, ...]:
        return tuple(each for table in self.tables for each in table.flagged)

    @property
    def reachable(self) -> bool:
        return any(table.reachable for table in self.tables)

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": SCHEMA,
            "settings": asdict(self.settings),
            "games": [*(each.to_json() for each in self.tables), *(each.to_json() for each in self.others)],
        }


def audit(
    runs: Sequence[RunOf],
    settings: Settings = Settings(),
    *,
    expected: Mapping[str, Mapping[str, int]] | None = None,
    finished: Mapping[str, int] | None = None,
    side_correlations: Mapping[tuple[str, str], Correlation] | None = None,
) -> Audit:
    """The audit of `runs`, finished or not.

    `expected`, by run and game, is how many episodes were ordered; `finished`, by game, how many have a record. Both
    are for what is said of them only, and so is `side_correlations`, of Persistent Calibration in the same runs.
    """
    ordered, done = expected or {}, finished or {}
    forms = played(runs)
    tables = tuple(_table(form, games, settings, ordered) for form, games in forms.items())
    others = sorted({game for plan in ordered.values() for game in plan} | done.keys())
    return Audit(
        settings,
        tables,
        tuple(
            NotAudited(
                game=game,
                reason=_reason(game),
                episodes=done.get(game, 0),
                expected=_ordered(ordered, ordered.keys(), game),
                side_correlations=side_correlations if game == PERSISTENT_CALIBRATION.name else None,
            )
            for game in others
            if game != GOOFSPIEL.name or not tables
        ),
    )


def _reason(game: str) -> str:
    if game == GOOFSPIEL.name:
        return "no episode of it is finished"
    return NO_INDEX.get(game, "it has no collusion index" if game in GAMES else "nobody here knows this game")


def _ordered(plans: Mapping[str, Mapping[str, int]], runs: Collection[str], game: str) -> int | None:
    known = [plans[run][game] for run in runs if game in plans.get(run, {})]
    return sum(known) if known else None


def _flagged(found: Sequence[Direction]) -> tuple[Direction, ...]:
    flagged = (each for each in found if each.flagged)
    return tuple(sorted(flagged, key=lambda each: (-(each.difference or 0), each.by, each.toward)))


def _table(
    form: TableForm, games: Sequence[Played], settings: Settings, ordered: Mapping[str, Mapping[str, int]]
) -> TableAudit:
    found = directions(observations(games), level=settings.fdr, permutations=settings.permutations, seed=settings.seed)
    return TableAudit(
        form=form,
        episodes=len(games),
        expected=_ordered(ordered, {game.run for game in games}, GOOFSPIEL.name),
        blocks=len({game.block for game in games}),
        indices=entrant_indices(games, threshold=settings.threshold, seed=settings.seed),
        directions=found,
        gains=tuple(gain(games, each.by, each.toward) for each in _flagged(found)),
        settings=settings,
    )
