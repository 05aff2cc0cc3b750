"""How the plan of a ladder is put together: pilots, an earlier run's measures and the schedule.

Owns what is made of what. Knows no words for people and opens no run: episodes, divisions and measures are handed in.

The plan of a ladder as one value, and its JSON form.

Owns what a plan holds and the keys it has in JSON, which are a contract: `docs/reference/output.md` lists them.
Computes nothing but sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.config.balance import ScheduleReport, describe
from weigh.harness.config.schedule import follows_design
from weigh.harness.planning.ceilings import Ceiling, ceilings
from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN, Estimate, Rates, estimate, plain, total
from weigh.harness.planning.past import Past
from weigh.harness.planning.pilots import Pilot, Sizes, play_pilots, sizes_of
from weigh.harness.planning.sight import Price, Sight, sight
from weigh.harness.planning.spread import Spread, scripted_spread, spread_in
from weigh.harness.planning.wall import Traffic, Wall, chain_seconds, seat_seconds, wall
from weigh.harness.stats.power import Test
from weigh.policies.layout import keeps_notes

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig, LadderGame
    from weigh.harness.config.schedule import Episode
    from weigh.harness.results.ranking.rows import GameRows
    from weigh.harness.run.runner import Division


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks and gives. None: not given."""

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
    """Spent by its sittings, here and below."""
    tokens: int = 0
    usd: float = 0.0
    paid: int = 0
    """Answered calls of unfinished episodes, which will not be made again."""


@dataclass(frozen=True, slots=True)
class EntrantPlan:
    """One entrant in one game."""

    name: str
    model: str | None
    sizes: Sizes | None
    """None for a scripted entrant."""
    rates: Rates
    whole: Estimate
    """Of the whole schedule."""
    left: Estimate
    """Of what is not played yet."""

    def to_json(self) -> dict[str, Json]:
        sizes, rates = self.sizes, self.rates
        document: dict[str, Json] = {"entrant": self.name, "model": self.model, **self.left.to_json()}
        document["per_call"] = None
        if sizes is not None:
            document["per_call"] = {
                "prompt_characters": plain(sizes.characters),
                "retry_prompt_characters": plain(sizes.retry_characters),
                "shortest_answer_characters": plain(sizes.answer_characters),
                "decisions_per_episode": {
                    "mean": plain(sizes.decisions),
                    "fewest": sizes.fewest,
                    "most": sizes.most,
                },
                "pilot_seat_episodes": sizes.seats,
                "decisions": plain(sizes.decisions if rates.decisions is None else rates.decisions),
                "decisions_from": rates.decisions_from,
                "characters_per_token": plain(rates.characters_per_token),
                "characters_per_token_from": rates.calibrated,
                "output_tokens": plain(rates.output),
                "output_tokens_from": rates.output_from,
                "retry_share": plain(rates.retry_share),
                "retry_share_from": rates.retry_from,
                "latency_seconds": plain(rates.latency),
                "latency_from": rates.latency_from,
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
    entrants: tuple[EntrantPlan, ...]
    bound: int
    """No seat makes more decisions in an episode."""
    sight: Sight

    @property
    def left(self) -> Estimate:
        return total(entrant.left for entrant in self.entrants)

    @property
    def exact(self) -> bool:
        """Whether every episode has the same number of decisions, so that they are counted and not estimated."""
        counted = [entrant.sizes for entrant in self.entrants if entrant.sizes is not None]
        return all(sizes.fewest == sizes.most == self.bound for sizes in counted)

    def to_json(self) -> dict[str, Json]:
        return {
            "game": self.game,
            "seats": self.report.seats,
            "blocks": self.report.blocks,
            "blocks_left": self.left_blocks,
            "episodes": self.report.episodes,
            "episodes_left": self.left_episodes,
            "schedule": self.report.to_json(),
            "pilot_episodes": self.pilots,
            "decisions_exact": self.exact,
            "decisions_per_episode_bound": self.bound,
            "entrants": [entrant.to_json() for entrant in self.entrants],
            "total": self.left.to_json(),
            "power": self.sight.to_json(),
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
    wall: Wall
    ceilings: tuple[Ceiling, ...]
    caps: tuple[int, ...]
    """Every `max_tokens` there is, ascending."""

    @property
    def left(self) -> Estimate:
        return total(self.models.values())

    @property
    def rates(self) -> tuple[Rates, ...]:
        """Of the prompted entrants."""
        return tuple(entrant.rates for game in self.games for entrant in game.entrants if entrant.model is not None)

    def to_json(self) -> dict[str, Json]:
        there = self.existing
        return {
            "schema_version": 1,
            "config": self.config,
            "folder": self.folder,
            "existing": None
            if there is None
            else {
                "finished": len(there.finished),
                "differs": list(there.differs),
                "extension": list(there.extension),
                "calls": there.calls,
                "tokens": there.tokens,
                "cost_known_usd": plain(there.usd),
                "paid_calls_of_unfinished": there.paid,
            },
            "from": self.source,
            "episodes": sum(game.report.episodes for game in self.games),
            "episodes_left": sum(game.left_episodes for game in self.games),
            "games": [game.to_json() for game in self.games],
            "models": [{"model": model, **sums.to_json()} for model, sums in self.models.items()],
            "total": self.left.to_json(),
            "cost_at": [
                {"output_tokens": tokens, "cost_usd": None if self.left.unpriced else plain(self.left.cost_at(tokens))}
                for tokens in lengths(self)
            ],
            "wall": self.wall.to_json(),
            "ceilings": [ceiling.to_json() for ceiling in self.ceilings],
        }


def lengths(plan: LadderPlan) -> list[int]:
    """The lengths of an answer, in tokens, at which the cost is told where none is expected. Up to the smallest cap."""
    if not plan.caps or plan.left.output_tokens.expected is not None:
        return []
    if not plan.left.unpriced and not plan.left.per_output_token:
        return []  # nobody charges for them
    return [*(n for n in (50, 200, 500, 1000, 2000, 5000) if n < plan.caps[0]), plan.caps[0]]


ASSUMED_LATENCY = 3.0
"""Seconds of a call, where nothing was measured or given."""

Told: TypeAlias = Literal["latency", "output", "retry_share", "characters_per_token", "decisions"]


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
class _Ordered:
    """One game of the ladder, and all that its plan is made of."""

    config: LadderConfig
    entry: LadderGame
    field: Division
    mine: Sequence[Episode]
    """Its episodes."""
    left: Sequence[Episode]
    """Those that are not played yet."""
    wanted: Wanted
    earlier: Earlier | None

    @property
    def name(self) -> str:
        return self.entry.game.name


async def plan_ladder(
    config: LadderConfig,
    episodes: Sequence[Episode],
    divisions: Mapping[str, Division],
    wanted: Wanted,
    existing: Existing | None = None,
    earlier: Earlier | None = None,
) -> LadderPlan:
    """Plan what is left of a ladder's schedule. Plays pilots; asks nobody, writes nothing."""
    finished = existing.finished if existing is not None and not existing.differs else frozenset()
    games: list[GamePlan] = []
    chains: list[float] = []
    for entry in config.games:
        mine = [episode for episode in episodes if episode.game == entry.game.name]
        left = [episode for episode in mine if episode.key not in finished]
        game = _Ordered(config, entry, divisions[entry.game.name], mine, left, wanted, earlier)
        pilots = await play_pilots(game.field, mine, config.seed)
        entrants = _entrants(game, pilots)
        games.append(await _game(game, entrants, len(pilots)))
        chains += _chains(entrants, pilots, left)
    models = {
        model: total(entrant.left for game in games for entrant in game.entrants if entrant.model == model)
        for model in config.endpoints
    }
    least = wall(chains, config.limits.episodes_in_flight, _traffic(config, games, models))
    spent = existing if existing is not None and not existing.differs else Existing("")
    return LadderPlan(
        config=str(config.source),
        folder=str(config.run_folder),
        existing=existing,
        source=None if earlier is None else earlier.past.source,
        games=tuple(games),
        models=models,
        wall=least,
        ceilings=tuple(
            ceilings(config.limits, total(models.values()), least.seconds, spent.calls, spent.tokens, spent.usd)
        ),
        caps=tuple(sorted({spec.sampling.max_tokens for spec in config.entrants if spec.model is not None})),
    )


def _entrants(game: _Ordered, pilots: Sequence[Pilot]) -> tuple[EntrantPlan, ...]:
    found = []
    for spec in game.config.playing(game.name):
        model, file = spec.model, spec.prompt_for(game.name)
        sizes = sizes_of(spec.name, pilots)
        if model is None or file is None or sizes is None:  # scripted, or never at a table
            found.append(EntrantPlan(spec.name, model, None, Rates(), Estimate(), Estimate()))
            continue
        rates = _rates(game, spec.name, model)
        notes = keeps_notes(spec.style_with(file))
        whole, rest = (
            estimate(
                sizes,
                rates,
                game.config.endpoints[model],
                sum(spec.name in episode.entrants for episode in some),
                spec.sampling.max_tokens,
                notes,
            )
            for some in (game.mine, game.left)
        )
        found.append(EntrantPlan(spec.name, model, sizes, rates, whole, rest))
    return tuple(found)


def _rates(game: _Ordered, entrant: str, model: str) -> Rates:
    """What is given counts; else what was measured; else what is assumed, if anything may be."""
    wanted, earlier = game.wanted, game.earlier

    def told(what: Told, given: float | None = None) -> tuple[float | None, str | None]:
        if given is not None:
            return given, "given"
        if earlier is None:
            return None, None
        return earlier.past.find(what, game.name, entrant, game.field.policies[entrant].digest, model)

    ratio, calibrated = told("characters_per_token")
    output, output_from = told("output", wanted.output)
    share, retry_from = told("retry_share", wanted.retry_share)
    latency, latency_from = told("latency", wanted.latency)
    # Only under the same config were its games as long as these will be.
    same = earlier is not None and earlier.played(game.entry)
    decisions, decisions_from = told("decisions") if same else (None, None)
    return Rates(
        characters_per_token=CHARACTERS_PER_TOKEN if ratio is None else ratio,
        output=output,
        retry_share=0.0 if share is None else min(1.0, share),
        latency=ASSUMED_LATENCY if latency is None else latency,
        calibrated=calibrated,
        output_from=output_from,
        retry_from=retry_from,
        decisions=decisions,
        decisions_from=decisions_from,
        latency_from=latency_from,
    )


async def _game(game: _Ordered, entrants: tuple[EntrantPlan, ...], pilots: int) -> GamePlan:
    entry, left = game.entry, game.left
    spread, reason = await _spread(game, entrants)
    whole = total(entrant.whole for entrant in entrants)
    names = [entrant.name for entrant in entrants]
    report = describe(game.mine, names, follows_design(game.mine, names, game.config.seed, entry.rows))

    def price(blocks: int) -> Price:
        scaled = whole.times(blocks / report.blocks)
        return Price(scaled.calls, None if scaled.unpriced else scaled.cost)

    return GamePlan(
        game=game.name,
        report=report,
        left_episodes=len(left),
        left_blocks=len({episode.block for episode in left}),
        pilots=pilots,
        entrants=entrants,
        bound=entry.game.longest(entry.config),
        sight=sight(report.blocks, entry.seats, game.wanted.test, spread, reason, price),
    )


async def _spread(game: _Ordered, entrants: Sequence[EntrantPlan]) -> tuple[Spread | None, str]:
    """From the earlier run where it played this very game, else from scripted policies; and one line on that."""
    entry, earlier, why = game.entry, game.earlier, ""
    if earlier is not None:
        rows = earlier.rows.get(game.name)
        source = earlier.past.source
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
    spread = await scripted_spread(game.field, entry.seats, game.config.seed, entry.rows)
    if spread is None:
        return None, f"{why}scripted policies in these places play every block alike"
    if all(entrant.model is None for entrant in entrants):
        return spread, f"{why}from {spread.blocks} blocks of these policies, played now on other deals"
    return spread, (
        f"{why}from {spread.blocks} blocks played now by SCRIPTED policies in the models' places: "
        "models may vary more or less"
    )


def _chains(entrants: Sequence[EntrantPlan], pilots: Sequence[Pilot], left: Sequence[Episode]) -> list[float]:
    """The seconds that each of the episodes takes at the least."""
    models = {entrant.name: entrant.model for entrant in entrants}
    latency = {entrant.name: entrant.rates.latency for entrant in entrants}
    retries = {entrant.name: entrant.rates.retry_share for entrant in entrants}
    known: dict[tuple[float, ...], float] = {}
    chains = []
    for episode in left:
        seconds = seat_seconds(episode.entrants, models, latency, retries)
        if seconds not in known:
            known[seconds] = chain_seconds(pilots, seconds)
        chains.append(known[seconds])
    return chains


def _traffic(config: LadderConfig, games: Sequence[GamePlan], models: Mapping[str, Estimate]) -> list[Traffic]:
    found = []
    for model, sums in models.items():
        mine = [entrant for game in games for entrant in game.entrants if entrant.model == model]
        seconds = sum((entrant.left.calls.expected or 0.0) * entrant.rates.latency for entrant in mine)
        found.append(Traffic(config.endpoints[model], sums.calls.expected or 0.0, seconds, sums.at_cap))
    return found
