"""The ladder as values: what is known of every entrant in every game, its JSON form, and flat rows of it.

Owns the words and keys of a ladder, and where an interval is cut. Computes nothing else:
`harness.results.ranking.ladder` makes these, `harness.report.sections.ladder_table` shows them.
`to_json` is a contract: other people's scripts read it; `docs/explanation/appendix.md` says what each number estimates.
None everywhere means: not known, or not applicable. It never stands for 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from math import isnan
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.results.ranking.warning_words import LadderWarning
from weigh.harness.stats.rare import RareLoss
from weigh.harness.store.usage import Account, Accounts, Usage

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import DataclassInstance

SCHEMA = 2
"""Raised whenever a reader of older ladders would misread a newer one."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    @classmethod
    def around(cls, middle: float, half: float, bound: float) -> Interval | None:
        """`middle` give or take `half`, cut to [-bound, bound], where such numbers lie; None for a half that is NaN."""
        return None if isnan(half) else cls(max(-bound, middle - half), min(bound, middle + half))


@dataclass(frozen=True, slots=True)
class Reliability:
    """How an entrant came by its moves, over all its finished episodes, left-out ones included."""

    decisions: int
    by_model: int
    """Legal at the first attempt."""
    by_retry: int
    by_fallback: int
    by_scripted: int
    by_human: int
    own_move_rate: float | None
    """Decisions that the entrant made itself: all but those of the fallback."""
    retry_rate: float | None
    """Decisions whose first attempt gave no legal move."""
    fallback_rate: float | None
    """Decisions at which the game's fallback policy moved instead."""
    fallback_episodes: int
    """Episodes in which that happened to this entrant."""
    faults: Mapping[str, int]
    """Attempts without a legal move, by cause; every cause is there."""
    refusal_streak: int
    """The most attempts that the model refused one after the other, at one seat of one episode."""
    voids: int
    """Starts of this entrant's episodes that an outage ended."""
    voids_own: int
    """Those in which it was this entrant's provider that failed."""
    void_rate: float | None
    """`voids` over all starts: voids and finished episodes."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What an entrant's finished episodes cost, earlier starts of them that an outage ended included."""

    calls: int
    answered: int
    input_tokens: int | None
    """All prompt tokens of calls whose usage is known, cached ones included."""
    cached_tokens: int | None
    cache_written_tokens: int | None
    output_tokens: int | None
    """All generated tokens, reasoning included."""
    reasoning_tokens: int | None
    unknown_usage_calls: int
    """Calls that nobody can count: the tokens above are lower bounds when there are any."""
    cost_usd: float | None
    """Total; None when the cost of any episode is unknown."""
    cost_known_usd: float
    """Total over the episodes whose cost is known: a lower bound of the total."""
    cost_unknown_episodes: int
    cost_per_episode_usd: float | None
    latency_mean: float | None
    """Seconds to an answer, queues left out."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One entrant in one game."""

    entrant: str
    scripted: bool
    models: tuple[str, ...]
    """`provider:model`, more than one only when a name stood for several policies."""
    policies: tuple[str, ...]
    """Policy digests, likewise."""
    rank: int | None
    """Place by mean score among the ranked; equal means share a place. None: listed, not ranked."""
    unranked: str | None
    """Why there is no rank."""
    rank_interval: tuple[int, int] | None
    """The best and the worst rank of the 95 % interval; of those by mean and by adjusted mean together where the
    schedule was not even. Nobody is called first without (1, 1)."""
    probability_first: float | None
    """Share of bootstrap draws in which the entrant is first by mean; None while any ranked entrant has no interval, or
    never met the others, directly or through others."""
    first_p_value: float | None
    """p-value of the claim that this entrant, the leader of its game, is first: twice the share of draws in which it is
    not first alone, 0.05 where the rank interval becomes (1, 1). The larger of that by mean and that by adjusted mean
    where the schedule was not even. None for everybody else, for the leader of nobody, while any ranked entrant has no
    interval, and where entrants were never linked."""
    first_p_value_holm: float | None
    """The same, corrected by Holm for the leaders of all games of the ladder; equal to it when there is one."""
    first: bool
    """Significantly first: `first_p_value_holm` is 0.05 or less; with one game, the rank interval is (1, 1) and there
    is somebody to be ahead of. By normal theory, so barring rare failures that have not shown yet."""
    first_guaranteed: bool
    """First for any distribution of bounded scores: the betting interval of its lead over every other excludes 0. Never
    without `first`, on an uneven schedule, before the run is finished, or where episodes are void or left out."""
    episodes: int
    """Scored episodes, those of the view."""
    blocks: int
    """Different blocks among them: the number of independent observations."""
    unscored: int
    """Seat-episodes without a score: counted here, in no mean."""
    mean: float | None
    interval: Interval | None
    """Of `mean`, clustered by block; None for fewer than two blocks, or fewer than five that all agree."""
    adjusted: float | None
    """Opponent-adjusted mean. May lie beyond [-1, 1]."""
    adjusted_interval: Interval | None
    """Of `adjusted`, clustered by block and not cut; None as for `interval`, and where there is no `adjusted`."""
    schedule_strength: float | None
    """Schedule strength: how much stronger than an even share of the others its opponents were."""
    opponents: int
    """Different entrants met."""
    seat_means: tuple[float | None, ...]
    """Mean score in each seat."""
    points: float | None
    """Mean of the game's own points."""
    collusion: float | None
    """Mean collusion index."""
    collusion_high: float | None
    """Share of episodes with an index of 0.5 or more."""
    reliability: Reliability
    spend: Spend
    traffic: Usage | None
    """All its calls in this game, of void and unfinished episodes too. None: it made none, or nobody counted them."""

    def to_json(self) -> dict[str, Json]:
        """As in `Ladder.to_json`."""
        return json_object(self)


@dataclass(frozen=True, slots=True)
class SeatMean:
    """One seat, over all entrants: near 0 where seats are equally good."""

    seat: int
    mean: float
    interval: Interval | None
    episodes: int


@dataclass(frozen=True, slots=True)
class Lead:
    """The first of the ranked against the second."""

    leader: str
    runner_up: str
    difference: float
    interval: Interval | None
    blocks_needed: int | None
    """Blocks of the game's schedule at which a difference of this size would show in four runs of five."""
    minimum_detectable_difference: float | None
    """The smallest true difference between these two that the blocks played show at 5 %, two-sided, in four runs of
    five; None without an interval, and where no two means can differ so much."""


@dataclass(frozen=True, slots=True)
class GameLadder:
    """The ladder of one game."""

    game: str
    episodes: int
    """Finished, those of the view."""
    expected: int | None
    """How many were ordered, None when nobody said."""
    blocks: int
    bounds: tuple[float, float]
    """The lowest and the highest score that the rules allow."""
    whole: bool
    """Everything that was ordered is finished at its first start, has its scores, and stands in the view."""
    left_out: int
    """Finished episodes that the view leaves out because the fallback moved in them."""
    voids: int
    """Starts that an outage ended."""
    standings: tuple[Standing, ...]
    """The ranked by mean, then the others."""
    seats: tuple[SeatMean, ...]
    lead: Lead | None
    """None with fewer than two ranked entrants."""
    minimum_detectable_difference: float | None
    """As in `lead`, between two typical entrants: the median over all pairs of the ranked."""
    split_half_reliability: float | None
    """Of the means of the ranked: how well they would agree with those in as many other blocks, 1 at most."""
    blocks_deciding_first: int | None
    """The fewest blocks without which another one is level or ahead, all where it takes all; None for no leader."""
    rare_loss: RareLoss | None
    """How often the leader may lose all there is to lose, and not have shown it in its blocks. None without a lead."""
    warnings: tuple[LadderWarning, ...]
    cost_frontier: tuple[str, ...] = ()
    """Entrants played by models that no other one beats on both mean and US dollars an episode, the cheapest first."""


def cost_frontier(standings: Sequence[Standing]) -> tuple[str, ...]:
    """See `GameLadder.cost_frontier`. An entrant without a mean or with an unknown cost is left out."""
    known = sorted(
        (each.spend.cost_per_episode_usd, -each.mean, each.entrant)
        for each in standings
        if not each.scripted and each.mean is not None and each.spend.cost_per_episode_usd is not None
    )
    found: list[str] = []
    best, price = float("inf"), 0.0
    for cost, below, entrant in known:
        if below < best or (below == best and cost == price):
            best, price = below, cost
            found.append(entrant)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladders of one or several games. Scores of different games are never averaged."""

    games: tuple[GameLadder, ...]
    """By name of the game."""
    max_fallback_rate: float
    """Entrants above it are listed, not ranked."""
    fallback_episodes: Literal["included", "left out"]
    """The view: with every finished episode, or only those in which no seat was moved by the fallback."""
    accounts: Accounts
    """All calls of the runs, by game, entrant and model; without rows when nobody counted them."""

    def to_json(self) -> dict[str, Json]:
        """JSON with the field names above as keys, intervals as `[low, high]`, unknown numbers as null."""
        return {"schema_version": SCHEMA, **json_object(self)}


def json_object(value: DataclassInstance) -> dict[str, Json]:
    """The field names as keys, intervals as `[low, high]`, tuples as lists. Raises TypeError for what has no JSON."""
    return {f.name: _json(getattr(value, f.name)) for f in fields(value)}


def _json(value: object) -> Json:
    if isinstance(value, Interval):
        return [value.low, value.high]
    if isinstance(value, Usage):
        return value.traffic()
    if isinstance(value, Account | LadderWarning):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return json_object(value)
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a ladder")


LadderRow: TypeAlias = dict[str, Json]

PAIRS = ("interval", "rank_interval", "adjusted_interval")
LISTS = ("models", "policies")
TEXTS = ("game", "entrant", "unranked", *LISTS)
MAY_BE_MISSING = ("traffic",)


def ladder_rows(ladder: Ladder) -> tuple[list[str], list[LadderRow]]:
    """The columns and the rows. A row has no key where a column does not apply to it.

    Columns are the keys of `Ladder.to_json`, with a point between a key and the key below it; intervals as two columns
    ending in `.low` and `.high`, seat means as `seat_means.0`, `seat_means.1` ...
    """
    rows = [_flat(game, standing) for game in ladder.games for standing in game.standings]
    return list(dict.fromkeys(column for row in rows for column in row)) or ["game", "entrant"], rows


def ladder_frame(ladder: Ladder) -> pd.DataFrame:
    """The same as a frame: counts without a gap as int64, other numbers as float64, NaN where one is not known."""
    import pandas as pd

    columns, rows = ladder_rows(ladder)
    frame = pd.DataFrame({column: pd.Series([row.get(column) for row in rows], dtype="object") for column in columns})
    for column in columns:
        if column in TEXTS:
            frame[column] = frame[column].astype("str")
        elif all(isinstance(value, bool) for value in frame[column]):
            frame[column] = frame[column].astype("bool")
        else:
            frame[column] = pd.to_numeric(frame[column])
    return frame


def _flat(game: GameLadder, standing: Standing) -> LadderRow:
    row: LadderRow = {"game": game.game}
    for key, value in standing.to_json().items():
        if key in PAIRS:
            low, high = value if isinstance(value, list) else (None, None)
            row |= {f"{key}.low": low, f"{key}.high": high}
        elif key in LISTS and isinstance(value, list):
            row[key] = " ".join(map(str, value))
        elif isinstance(value, list):
            row |= {f"{key}.{n}": item for n, item in enumerate(value)}
        elif isinstance(value, dict):
            row |= _nested(key, value)
        elif key in MAY_BE_MISSING:
            continue
        else:
            row[key] = value
    return row


def _nested(prefix: str, values: LadderRow) -> LadderRow:
    row: LadderRow = {}
    for key, value in values.items():
        row |= _nested(f"{prefix}.{key}", value) if isinstance(value, dict) else {f"{prefix}.{key}": value}
    return row
