"""How the plan of a ladder is put together: pilots, an earlier run's measures and the schedule.

Owns what is made of what. Knows no words for people and opens no run: episodes, divisions and measures are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.planning.ceilings import ceilings
from harness.planning.estimates import CHARACTERS_PER_TOKEN, Estimate, Rates, estimate, total
from harness.planning.past import Past
from harness.planning.pilots import Pilot, play_pilots, sizes_of
from harness.planning.planned import EntrantPlan, Existing, GamePlan, LadderPlan, Wanted
from harness.planning.sight import Price, sight
from harness.planning.spread import Spread, scripted_spread, spread_in
from harness.planning.wall import Traffic, chain_seconds, seat_seconds, wall
from harness.schedule import follows_design
from harness.schedule_report import describe
from policies.layout import keeps_notes

if TYPE_CHECKING:
    from harness.config import LadderConfig, LadderGame
    from harness.rating_rows import GameRows
    from harness.run import Division
    from harness.schedule import Episode

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
