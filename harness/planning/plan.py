"""The plan of a ladder: made of pilots, an earlier run's measures and the schedule; and its JSON form.

Owns what is made of what, and the keys, which are a contract that the documentation lists. Knows no words for people
and opens no run: episodes, divisions and measures are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

from weigh.games.game import Json
from weigh.harness.config.balance import ScheduleReport, describe
from weigh.harness.config.schedule import follows_design
from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN, Estimate, Rates, estimate, plain, total
from weigh.harness.planning.limits import Bound, Check, Load, chain_seconds, least_time, limit_checks
from weigh.harness.planning.past import Mean, Measured, Past
from weigh.harness.planning.pilots import Length, Pilot, Sizes, length_of, play_pilots, sizes_of
from weigh.harness.planning.power_table import PowerTable, Spread, power_table, scripted_spread, spread_in
from weigh.harness.stats.power import Test
from weigh.policies.layout import keeps_notes

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig, LadderGame
    from weigh.harness.config.schedule import Episode
    from weigh.harness.results.ranking.rows import GameRows
    from weigh.harness.run.runner import Division

SCHEMA = 2

ASSUMED_LATENCY = 3.0
"""Seconds of a call, where nothing was measured or given."""

LENGTHS = (50, 200, 500, 1000, 2000, 5000)
"""Tokens of an answer at which the cost is told where none is expected."""


@dataclass(frozen=True, slots=True)
class PlanSpec:
    """What is asked, and what is given instead of measured. None: not given."""

    test: Test = field(default_factory=Test)
    latency: float | None = None
    output: float | None = None
    retry_share: float | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """The run that lies in the ladder's folder already."""

    folder: str
    finished: frozenset[str] = frozenset()
    """Keys of its finished episodes."""
    differs: tuple[str, ...] = ()
    """Why it cannot be gone on with; then nothing of it counts."""
    extension: tuple[str, ...] = ()
    """What --extend adds to it, a line each, and is planned here; what it would add where it `differs`."""
    calls: int = 0
    """Spent by its invocations, here and below."""
    tokens: int = 0
    usd: float = 0.0
    paid: int = 0
    """Answered calls of unfinished episodes, which will not be made again."""

    def to_json(self) -> dict[str, Json]:
        return {
            "finished": len(self.finished),
            "differs": list(self.differs),
            "extension": list(self.extension),
            "calls": self.calls,
            "tokens": self.tokens,
            "cost_known_usd": plain(self.usd),
            "paid_calls_of_unfinished": self.paid,
        }


@dataclass(frozen=True, slots=True)
class Earlier:
    """The run that measures are taken from."""

    past: Past
    rows: Mapping[str, GameRows] = field(default_factory=dict)
    """Its scores, by game."""
    configs: Mapping[str, object] = field(default_factory=dict)
    """The games' configs in it, as manifests hold them."""

    def played(self, entry: LadderGame) -> bool:
        """Whether it played a game under the same config."""
        return self.configs.get(entry.game.name) == entry.config.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class EntrantPlan:
    """One entrant in one game."""

    name: str
    model: str | None
    sizes: Sizes | None = None
    """None for a scripted entrant."""
    rates: Rates = field(default_factory=Rates)
    whole: Estimate = field(default_factory=Estimate)
    """Of the whole schedule."""
    left: Estimate = field(default_factory=Estimate)
    """Of what is not played yet."""
    played: Measured | None = None
    """What an earlier run of this game took; None without one."""

    def to_json(self, length: Length | None) -> dict[str, Json]:
        document: dict[str, Json] = {"entrant": self.name, "model": self.model, **self.left.to_json()}
        sizes, rates = self.sizes, self.rates
        document["per_call"] = None
        document["played"] = None
        if sizes is not None and length is not None:
            document["per_call"] = {
                "prompt_characters": plain(sizes.characters),
                "retry_prompt_characters": plain(sizes.retry_characters),
                "shortest_answer_characters": plain(sizes.answer_characters),
                **{key: plain(value) if isinstance(value, float) else value for key, value in asdict(rates).items()},
                "decisions": plain(length.expected if rates.decisions is None else rates.decisions),
            }
            if self.played is not None:
                seats = self.played.seats
                document["played"] = {
                    "seat_episodes": seats,
                    "decisions": self.played.decided,
                    "planned_decisions": plain(length.expected * seats),
                    "attempts": self.played.attempts,
                    "planned_attempts_least": length.fewest * seats,
                    "planned_attempts_most": 2 * length.most * seats,
                }
        return document


@dataclass(frozen=True, slots=True)
class GamePlan:
    """One game of the ladder."""

    game: str
    report: ScheduleReport
    left_episodes: int
    left_blocks: int
    """Blocks with an episode that is not played yet."""
    pilots: int
    length: Length | None
    """None where no model plays."""
    entrants: tuple[EntrantPlan, ...]
    power: PowerTable

    @property
    def left(self) -> Estimate:
        return total(entrant.left for entrant in self.entrants)

    def to_json(self) -> dict[str, Json]:
        length = self.length
        return {
            "game": self.game,
            "seats": self.report.seats,
            "blocks": self.report.blocks,
            "blocks_left": self.left_blocks,
            "episodes": self.report.episodes,
            "episodes_left": self.left_episodes,
            "schedule": self.report.to_json(),
            "pilot_episodes": self.pilots,
            "decisions_per_episode": None
            if length is None
            else {
                "least": length.fewest,
                "expected": plain(length.expected),
                "standard_error": plain(length.error),
                "most": length.most,
                "pilot_seat_episodes": length.seats,
            },
            "entrants": [entrant.to_json(length) for entrant in self.entrants],
            "total": self.left.to_json(),
            "power": self.power.to_json(),
        }


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """Everything."""

    config: str
    folder: str
    existing: Existing | None
    source: str | None
    """The run that measures were taken from."""
    games: tuple[GamePlan, ...]
    models: Mapping[str, Estimate]
    """By model, over all games."""
    bounds: tuple[Bound, ...]
    """Of the time, from below; the largest first."""
    limits: tuple[Check, ...]
    caps: tuple[int, ...]
    """Every `max_tokens` there is, ascending."""

    @property
    def left(self) -> Estimate:
        return total(self.models.values())

    @property
    def seconds(self) -> float:
        """The least time."""
        return self.bounds[0].seconds if self.bounds else 0.0

    @property
    def rates(self) -> tuple[Rates, ...]:
        """Of the prompted entrants."""
        return tuple(entrant.rates for game in self.games for entrant in game.entrants if entrant.model is not None)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Those of LENGTHS below the smallest cap, and it; none where a length is expected, or nobody charges."""
        free = not self.left.unpriced and not self.left.per_output_token
        if not self.caps or self.left.output_tokens.expected is not None or free:
            return ()
        return (*(n for n in LENGTHS if n < self.caps[0]), self.caps[0])

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": SCHEMA,
            "config": self.config,
            "folder": self.folder,
            "existing": None if self.existing is None else self.existing.to_json(),
            "from": self.source,
            "episodes": sum(game.report.episodes for game in self.games),
            "episodes_left": sum(game.left_episodes for game in self.games),
            "games": [game.to_json() for game in self.games],
            "models": [{"model": model, **sums.to_json()} for model, sums in self.models.items()],
            "total": self.left.to_json(),
            "cost_at": [
                {"output_tokens": tokens, "cost_usd": None if self.left.unpriced else plain(self.left.cost_at(tokens))}
                for tokens in self.lengths
            ],
            "time": {"least_seconds": plain(self.seconds), "bounds": [bound.to_json() for bound in self.bounds]},
            "limits": [check.to_json() for check in self.limits],
        }


@dataclass(frozen=True, slots=True)
class _Game:
    """One game of the ladder, and all that its plan is made of."""

    config: LadderConfig
    entry: LadderGame
    division: Division
    episodes: Sequence[Episode]
    """Its own."""
    left: Sequence[Episode]
    """Those that are not played yet."""
    spec: PlanSpec
    earlier: Earlier | None

    @property
    def name(self) -> str:
        return self.entry.game.name


async def plan_ladder(
    config: LadderConfig,
    episodes: Sequence[Episode],
    divisions: Mapping[str, Division],
    spec: PlanSpec,
    existing: Existing | None = None,
    earlier: Earlier | None = None,
) -> LadderPlan:
    """Plan what is left of a ladder's schedule. Plays pilots; asks nobody, writes nothing."""
    counted = existing if existing is not None and not existing.differs else Existing("")
    games: list[GamePlan] = []
    chains: list[float] = []
    for entry in config.games:
        mine = [episode for episode in episodes if episode.game == entry.game.name]
        left = [episode for episode in mine if episode.key not in counted.finished]
        game = _Game(config, entry, divisions[entry.game.name], mine, left, spec, earlier)
        pilots = await play_pilots(game.division, mine, config.seed)
        planned = await _planned(game, pilots)
        games.append(planned)
        chains += _chains(planned.entrants, pilots, left)
    models = {
        model: total(entrant.left for game in games for entrant in game.entrants if entrant.model == model)
        for model in config.endpoints
    }
    bounds = least_time(chains, config.limits.episodes_in_flight, _loads(config, games, models))
    left_of_all = total(models.values())
    least = bounds[0].seconds if bounds else 0.0
    return LadderPlan(
        config=str(config.source),
        folder=str(config.run_folder),
        existing=existing,
        source=None if earlier is None else earlier.past.source,
        games=tuple(games),
        models=models,
        bounds=bounds,
        limits=tuple(limit_checks(config.limits, left_of_all, least, counted.calls, counted.tokens, counted.usd)),
        caps=tuple(sorted({spec.sampling.max_tokens for spec in config.entrants if spec.model is not None})),
    )


async def _planned(game: _Game, pilots: Sequence[Pilot]) -> GamePlan:
    entry, left = game.entry, game.left
    length = length_of(pilots, entry.game.decisions(entry.config))
    entrants = tuple(_entrants(game, pilots, length))
    spread, reason = await _spread(game, entrants)
    names = [entrant.name for entrant in entrants]
    report = describe(game.episodes, names, follows_design(game.episodes, names, game.config.seed, entry.rows))
    whole = total(entrant.whole for entrant in entrants)
    cost = None if whole.unpriced else whole.cost
    return GamePlan(
        game=game.name,
        report=report,
        left_episodes=len(left),
        left_blocks=len({episode.block for episode in left}),
        pilots=len(pilots),
        length=length,
        entrants=entrants,
        power=power_table(report.blocks, entry.seats, game.spec.test, spread, reason, whole.calls, cost),
    )


def _entrants(game: _Game, pilots: Sequence[Pilot], length: Length | None) -> list[EntrantPlan]:
    found = []
    same = game.earlier is not None and game.earlier.played(game.entry)
    for spec in game.config.playing(game.name):
        model, file = spec.model, spec.prompt_for(game.name)
        sizes = sizes_of(spec.name, pilots)
        seated = any(spec.name in episode.entrants for episode in game.episodes)
        if model is None or file is None or sizes is None or length is None or not seated:
            found.append(EntrantPlan(spec.name, model))
            continue
        rates, notes = _rates(game, spec.name, model, same), keeps_notes(spec.style_with(file))
        endpoint, cap = game.config.endpoints[model], spec.sampling.max_tokens
        whole, rest = (
            estimate(length, sizes, rates, endpoint, sum(spec.name in each.entrants for each in some), cap, notes)
            for some in (game.episodes, game.left)
        )
        played = game.earlier.past.played(game.name, spec.name, model) if same and game.earlier is not None else None
        found.append(EntrantPlan(spec.name, model, sizes, rates, whole, rest, played))
    return found


def _rates(game: _Game, entrant: str, model: str, same: bool) -> Rates:
    """What is given counts; else what was measured; else what is assumed, if anything may be. Decisions are measured
    only under the same config, for else the games were not as long as these will be."""
    spec, earlier = game.spec, game.earlier

    def find(what: Mean, given: float | None = None) -> tuple[float | None, str | None]:
        if given is not None:
            return given, "given"
        if earlier is None:
            return None, None
        return earlier.past.find(what, game.name, entrant, game.division.policies[entrant].digest, model)

    ratio, ratio_from = find("characters_per_token")
    output, output_from = find("output", spec.output)
    share, share_from = find("retry_share", spec.retry_share)
    latency, latency_from = find("latency", spec.latency)
    return Rates(
        *(find("decisions") if same else (None, None)),
        CHARACTERS_PER_TOKEN if ratio is None else ratio,
        ratio_from,
        output,
        output_from,
        0.0 if share is None else min(1.0, share),
        share_from,
        ASSUMED_LATENCY if latency is None else latency,
        latency_from,
    )


async def _spread(game: _Game, entrants: Sequence[EntrantPlan]) -> tuple[Spread | None, str]:
    """From the earlier run where it played this very game, else from scripted policies; and one line on that."""
    entry, earlier, why = game.entry, game.earlier, ""
    if earlier is not None:
        rows, source = earlier.rows.get(game.name), earlier.past.source
        if rows is None:
            why = f"{source} has no scores of it; "
        elif not earlier.played(entry):
            why = f"{source} played it under another config; "
        else:
            spread = spread_in(rows)
            if spread is not None:
                scaled = spread.at(sqrt(len(entrants) / len(rows.names)))
                return scaled, f"from {spread.blocks} blocks of {source}, {spread.pairs} pairs of entrants"
            why = f"{source} has too few blocks of it, or blocks that all agree; "
    spread = await scripted_spread(game.division, entry.seats, game.config.seed, entry.rows)
    if spread is None:
        return None, f"{why}scripted policies in these places play every block alike"
    if all(entrant.model is None for entrant in entrants):
        return spread, f"{why}from {spread.blocks} blocks of these policies, played now on other deals"
    return spread, f"{why}from {spread.blocks} blocks of scripted policies in the models' places, which may differ"


def _chains(entrants: Sequence[EntrantPlan], pilots: Sequence[Pilot], left: Sequence[Episode]) -> list[float]:
    """The seconds that each of the episodes takes at the least."""
    seconds = {
        entrant.name: entrant.rates.latency_seconds * (1.0 + entrant.rates.retry_share)
        for entrant in entrants
        if entrant.model is not None
    }
    known: dict[tuple[float, ...], float] = {}
    chains = []
    for episode in left:
        by_seat = tuple(seconds.get(name, 0.0) for name in episode.entrants)
        if by_seat not in known:
            known[by_seat] = chain_seconds(pilots, by_seat)
        chains.append(known[by_seat])
    return chains


def _loads(config: LadderConfig, games: Sequence[GamePlan], models: Mapping[str, Estimate]) -> list[Load]:
    found = []
    for model, sums in models.items():
        mine = [entrant for game in games for entrant in game.entrants if entrant.model == model]
        seconds = sum((entrant.left.calls.expected or 0.0) * entrant.rates.latency_seconds for entrant in mine)
        found.append(Load(config.endpoints[model], sums.calls.expected or 0.0, seconds, sums.at_cap))
    return found
