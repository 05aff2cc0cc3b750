"""Everything a report says, as values: gathered from open runs by the modules that compute it.

Owns the gathering and the JSON form: what was run, the numbers, and which episodes are worth a look. Reads records,
plays nothing, and looks at no clock: equal runs give equal contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.results.ranking.warning_words import WORDS
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store

if TYPE_CHECKING:
    from weigh.harness.audit.collusion.audit import Audit
    from weigh.harness.audit.measures.registry import Measured
    from weigh.harness.results import Results
    from weigh.harness.results.ranking.elo import Board
    from weigh.harness.results.ranking.matchups import PairBoard
    from weigh.harness.results.ranking.standings import Ladder


SCHEMA = 1

CHECKS = len({name.partition(".")[0] for name in WORDS})
"""Kinds of warnings that a ladder is checked for."""


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
        """`ladder` as of `weigh rank --json` (with `ratings`, `head_to_head`, `measures` beside it), `audit` as of
        `weigh audit --json`; what is not known is null."""
        from weigh.harness.results.measures import measures_json

        return {
            "schema_version": SCHEMA,
            "runs": [run.to_json() for run in self.runs],
            "ladder": self.ladder.to_json(),
            "ratings": [board.to_json() for board in self.boards],
            "head_to_head": [board.to_json() for board in self.pairs],
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


@dataclass(frozen=True, slots=True)
class Entered:
    """An entrant as a run knows it."""

    entrant: str
    models: tuple[str, ...]
    """`provider:model`, by game where they differ; empty for a scripted policy."""
    games: tuple[str, ...]
    policies: tuple[str, ...]
    """Policy digests, one for each game it plays otherwise."""
    left: bool
    """Was taken out of the config of the run."""

    @property
    def scripted(self) -> bool:
        return not self.models


@dataclass(frozen=True, slots=True)
class Played:
    """How much of a game is played."""

    game: str
    finished: int
    planned: int
    void: int
    """Episodes without a record that an outage ended at least once."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run."""

    given: str
    """Its folder, as it was named on the command line."""
    name: str
    run_id: str
    created: str
    """UTC, ISO 8601, from the manifest."""
    seed: int
    status: str
    versions: Mapping[str, str]
    games: tuple[Played, ...]
    """By name."""
    entrants: tuple[Entered, ...]
    """By name."""
    schedules: Mapping[str, Mapping[str, Json]]
    """By game: `ScheduleReport.to_json`. Runs of earlier versions have none."""
    amendments: int
    """How often it was extended."""

    @property
    def finished(self) -> int:
        return sum(game.finished for game in self.games)

    @property
    def planned(self) -> int:
        return sum(game.planned for game in self.games)

    def to_json(self) -> dict[str, Json]:
        return {
            "folder": self.given,
            **{name: value for name, value in asdict(self).items() if name not in ("given", "name")},
            "finished": self.finished,
            "planned": self.planned,
            "games": [asdict(each) for each in self.games],
            "entrants": [asdict(each) | {"scripted": each.scripted} for each in self.entrants],
        }


def run_facts(store: Store, given: str) -> RunFacts:
    """The facts of an open run. `given` is how its folder was named."""
    manifest = store.manifest
    finished = frozenset(store.finished())
    void = {each.episode for each in store.voids()} - finished
    done: Counter[str] = Counter()
    planned: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for row in store.episodes():
        if row.deal_key or row.key in finished:
            planned[row.game] += 1
        done[row.game] += row.key in finished
        lost[row.game] += row.key in void
    return RunFacts(
        given=given,
        name=store.folder.resolve().name or manifest.run_id,
        run_id=manifest.run_id,
        created=manifest.created,
        seed=manifest.seed,
        status=store.status,
        versions=dict(manifest.versions),
        games=tuple(Played(game, done[game], planned[game], lost[game]) for game in sorted(planned)),
        entrants=_entered(store),
        schedules=dict(manifest.schedules),
        amendments=len(manifest.amendments),
    )


def _entered(store: Store) -> tuple[Entered, ...]:
    manifest = store.manifest
    keys = dict.fromkeys(key for order in reversed(manifest.orders) for key in order.policies)
    plays: dict[str, dict[str, Mapping[str, Json]]] = {}
    for key in sorted(keys):
        game, _, entrant = key.partition("/")
        policy = manifest.policy(game, entrant)
        if entrant and policy is not None:
            plays.setdefault(entrant, {})[game] = policy
    return tuple(
        Entered(
            entrant=entrant,
            models=tuple(dict.fromkeys(str(policy["model"]) for policy in games.values() if policy.get("model"))),
            games=tuple(games),
            policies=tuple(dict.fromkeys(str(policy.get("digest", "")) for policy in games.values())),
            left=not any(f"{game}/{entrant}" in manifest.policies for game in games),
        )
        for entrant, games in sorted(plays.items())
    )


Why: TypeAlias = Literal["overbid", "upset", "closest", "faults"]
ORDER: tuple[Why, ...] = ("upset", "closest", "overbid", "faults")
_Told: TypeAlias = "Callable[[Why, int | None, float, tuple[str, ...]], Notable]"


@dataclass(frozen=True, slots=True)
class Notable:
    """One episode, and why."""

    why: Why
    game: str
    run: str
    """Run id."""
    episode: str
    step: int | None
    """The step to look at; None for the whole episode."""
    entrants: tuple[str, ...]
    """By seat."""
    scores: tuple[float, ...]
    """By seat."""
    size: float
    """overbid: its margin; upset: places between the two; closest: the first two scores apart; faults: how many."""
    who: tuple[str, ...]
    """overbid: who bid; upset: who beat whom; closest: the first two; faults: who had them, the most first."""

    def to_json(self) -> dict[str, Json]:
        return {**asdict(self), "entrants": list(self.entrants), "scores": list(self.scores), "who": list(self.who)}


def notable(
    records: Iterable[tuple[str, Record]], ranks: Mapping[str, Mapping[str, int]]
) -> dict[str, tuple[Notable, ...]]:
    """By game, at most one episode for each reason of ORDER. `records` come with their run's id; `ranks` are places by
    game and entrant, of the ranked."""
    best: dict[tuple[str, Why], tuple[tuple[float, ...], Notable]] = {}
    widest: dict[str, float] = {}
    for run, record in records:
        for weight, found in _candidates(run, record, ranks.get(record.game, {})):
            place = record.game, found.why
            if found.why == "closest":
                widest[record.game] = max(widest.get(record.game, found.size), found.size)
            if place not in best or weight > best[place][0]:
                best[place] = (weight, found)
    for game, apart in widest.items():
        if best[game, "closest"][1].size >= apart:
            del best[game, "closest"]  # all are alike: where every game is won outright, none is close
    games = dict.fromkeys(game for game, _ in best)
    return {game: tuple(best[game, why][1] for why in ORDER if (game, why) in best) for game in sorted(games)}


def _candidates(run: str, record: Record, ranks: Mapping[str, int]) -> Iterable[tuple[tuple[float, ...], Notable]]:
    def told(why: Why, step: int | None, size: float, who: tuple[str, ...]) -> Notable:
        return Notable(why, record.game, run, record.key, step, record.entrants, record.scores, size, who)

    yield from _overbids(record, told)
    scored = sorted(zip(record.scores, record.entrants, strict=True), key=lambda pair: -pair[0])
    if len(scored) > 1 and scored[0][1] != scored[1][1]:
        apart = scored[0][0] - scored[1][0]
        yield (-apart, -(scored[0][0] - scored[-1][0])), told("closest", None, apart, (scored[0][1], scored[1][1]))
    for above, winner in scored:
        for below, loser in scored:
            places = ranks.get(winner, 0) - ranks.get(loser, 0) if winner in ranks and loser in ranks else 0
            if above > below and places > 0:
                yield (places, above - below), told("upset", None, places, (winner, loser))
    faults = {seat: 0 for seat in range(len(record.entrants))}
    for decision in record.decisions:
        faults[decision.seat] = faults.get(decision.seat, 0) + len(decision.faults)
    if total := sum(faults.values()):
        most = sorted((-number, seat) for seat, number in faults.items() if number)
        yield (total,), told("faults", None, total, tuple(record.entrants[seat] for _, seat in most))


def _overbids(record: Record, told: _Told) -> Iterable[tuple[tuple[float, ...], Notable]]:
    step = 0
    for event in record.events:
        number, margin, seat = event.get("round"), event.get("margin"), event.get("seat")
        if isinstance(number, int):
            step = number
        if event.get("type") == "overbid" and isinstance(margin, int) and isinstance(seat, int):
            yield (margin,), told("overbid", step, margin, (record.entrants[seat],))
