"""An experiment on claims in Ballast: read, played in its arms, and answered.

Owns the cut of a config to what is played, the manifest of the run, and the lines on which a listener is asked again
within the run's limits, and which answers the run holds already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from weigh.games.game import Seat
from weigh.games.values import quote
from weigh.harness.audit.claims.answer import Asked, records_of, report, settled
from weigh.harness.audit.claims.arms import ClaimsPlan, Direction, with_alterations
from weigh.harness.audit.claims.listening import (
    Heard,
    KeptLine,
    Line,
    NotKept,
    Sample,
    ask_again,
    listening,
    samples,
    wants,
)
from weigh.harness.config.config import LadderConfig, LadderGame, load_config
from weigh.harness.config.entrants import EntrantSpec
from weigh.harness.config.sections import safe_name
from weigh.harness.errors import INCONCLUSIVE, ConfigError, Refused
from weigh.harness.run.events import Progress
from weigh.harness.run.folder import run_in
from weigh.harness.run.limits import Brake, Stopping
from weigh.harness.run.model_calls import Exchange, SeatLine
from weigh.harness.run.opening import divisions_of, ordered, require_ready, versions
from weigh.harness.run.play.ladder import Follow, Sitting, play_out
from weigh.harness.run.play.opening_lines import require_prices, unsent
from weigh.harness.run.runner import Division
from weigh.harness.store.kinds import EXPERIMENT
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.store import Store
from weigh.policies.contract import Fatal, Policy
from weigh.policies.scripted.registry import scripted_names

BLOCKS: Final = 100
"""Blocks of two games in every arm, unless said otherwise: a difference of 0.3 standard deviations is found with 80 %
power."""
MARGIN: Final = 0.1
"""The equivalence margin, in mean score."""
FREE_LISTENING: Final = 200
"""Decisions of a scripted listener that are asked again, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class ExperimentSpec:
    """What an experiment is asked for with."""

    config: Path
    overrides: Mapping[str, object]
    """By dotted key of the config, as in `harness.config.config.load_config`."""
    claimer: str | None = None
    listener: str | None = None
    blocks: int = BLOCKS
    margin: float = MARGIN
    listening: int | None = None
    """Decisions of a listener that are asked again; None is FREE_LISTENING of a script, and none of a model."""


@dataclass(frozen=True, slots=True)
class ExperimentPlayed:
    """How an experiment ended."""

    document: Mapping[str, Any]
    """Of `harness.audit.claims.answer`."""
    folder: Path
    played: int
    """The exit code of the playing."""

    @property
    def code(self) -> int:
        return self.played or (0 if settled(self.document) else INCONCLUSIVE)


def run_experiment(
    spec: ExperimentSpec, follow: Follow, note: Callable[[str], None], again: Sequence[str], *, quiet: bool = False
) -> ExperimentPlayed:
    """Play an experiment, or go on where it stopped, and answer it from what is kept.

    `again` is the command that goes on with it; with `quiet` nothing is noted before the first episode. Raises Refused,
    ConfigError or StoreRefused before anything is made or paid for.
    """
    given = load_config(spec.config, spec.overrides)
    order, plan = _ordered(given, _directions(given, spec), spec)
    (plain,) = divisions_of(order).values()
    division = replace(plain, policies=plan.policies(plain.policies))
    require_ready(order.endpoints, order.entrants)
    require_prices(order)
    episodes, manifest = plan.episodes(), _manifest(order, plan, division)
    with run_in(order.run_folder, manifest, episodes, "a name of its own (--name)", note=note) as store:
        if not quiet:
            note(", ".join(f"{package} {found}" for package, found in versions().items()))
            for line in (*unsent(order), *_opening(order, plan, spec)):
                note(line)
        wanted = {entrant.name: _wanted(entrant, spec.listening) for entrant in order.entrants}
        hearing = ListeningTo(store, plan, division.policies, order, wanted)
        divisions = {division.game.name: division}
        _, code = play_out(Sitting(order, store, store, episodes, again, divisions, hearing), follow)
        return ExperimentPlayed(report(store, plan, spec.margin, hearing.asked()), order.run_folder, code)


def _field(given: LadderConfig) -> dict[str, EntrantSpec]:
    """Who can be named: the config's entrants that play Ballast, and every scripted policy of it."""
    listed = {spec.name: spec for spec in given.playing("ballast")}
    return listed | {name: EntrantSpec(name, scripted=name) for name in scripted_names("ballast") if name not in listed}


def _directions(given: LadderConfig, spec: ExperimentSpec) -> tuple[Direction, ...]:
    """Who claims and who listens; both parts for the two entrants that the config lists, where none are named."""
    field = _field(given)
    if spec.claimer is not None and spec.listener is not None:
        for option, who in (("--claimer", spec.claimer), ("--listener", spec.listener)):
            if who not in field:
                raise Refused(
                    f"{option}: no entrant {quote(who)} plays ballast in {given.source}: {', '.join(field)} do",
                    kind="unknown-entrant",
                )
        if spec.claimer == spec.listener:
            raise Refused(
                f"{spec.claimer} cannot be told apart from itself: give the policy a second name in [entrants]",
                kind="one-entrant",
            )
        return (Direction(spec.claimer, spec.listener),)
    if spec.claimer is not None or spec.listener is not None:
        raise Refused(
            "--claimer and --listener go together: one without the other leaves a part open", kind="option-without"
        )
    try:
        listed = load_config(spec.config, {**spec.overrides, "baselines": False}).playing("ballast")
    except ConfigError:  # too few for a table
        listed = ()
    if len(listed) != 2:
        raise Refused(
            f"{given.source} does not list exactly two entrants that play ballast: say with --claimer and --listener "
            f"which two are meant, of {', '.join(field)}",
            kind="not-two-entrants",
        )
    one, other = (entrant.name for entrant in listed)
    return Direction(one, other), Direction(other, one)


def _ordered(
    given: LadderConfig, directions: tuple[Direction, ...], spec: ExperimentSpec
) -> tuple[LadderConfig, ClaimsPlan]:
    """The config cut down to what is played, in a folder of its own, and the plan."""
    plan = ClaimsPlan(directions, spec.blocks)
    field = _field(given)
    entrants = tuple(field[who] for who in plan.names)
    models = {entrant.model for entrant in entrants}
    order = replace(
        given,
        name=given.name if spec.overrides.get("name") is not None else safe_name(f"{given.name}-claims"),
        games=(replace(_ballast(given), blocks=plan.blocks),),
        entrants=entrants,
        endpoints={model: endpoint for model, endpoint in given.endpoints.items() if model in models},
    )
    return order, plan


def _ballast(given: LadderConfig) -> LadderGame:
    found = next((entry for entry in given.games if entry.game.name == "ballast"), None)
    if found is None:
        names = ", ".join(entry.game.name for entry in given.games)
        raise Refused(
            f"{given.source}: ballast is not among its games ({names}): add a table [games.ballast]", kind="no-ballast"
        )
    return found


def _manifest(order: LadderConfig, plan: ClaimsPlan, division: Division) -> Manifest:
    """What the run is ordered with. Margin and listening are not of it: they say how it is read, and may change."""
    config = order.to_json()
    # Not under `entrants`: the schedule is not that of a ladder.
    described = {
        "kind": "ballast-claims",
        "pairs": plan.pairs,
        "directions": [[each.claimer, each.listener] for each in plan.directions],
        "entrants": config.pop("entrants"),
    }
    name = division.game.name
    manifest = ordered(order.seed, {**config, EXPERIMENT: described}, {name: division}, plan.episodes())
    return with_alterations(manifest, name, division.policies)


def _wanted(spec: EntrantSpec, listening: int | None) -> int:
    if listening is not None:
        return listening
    return FREE_LISTENING if spec.model is None else 0


def _opening(order: LadderConfig, plan: ClaimsPlan, spec: ExperimentSpec) -> list[str]:
    """How much is played, and what it may take of models."""
    episodes = len(plan.episodes())
    parts = "; ".join(f"{each.claimer} claims, {each.listener} listens" for each in plan.directions)
    arms = episodes // (2 * plan.pairs)
    lines = [f"ballast: {episodes} episodes, {plan.pairs} blocks of two games in {arms} arms: {parts}"]
    models = [entrant for entrant in order.entrants if entrant.model is not None]
    if models:
        entry = _ballast(order)
        listeners = {direction.listener for direction in plan.directions}
        asked = sum(_wanted(each, spec.listening) for each in models if each.name in listeners)
        most = len(models) * episodes * entry.game.longest(entry.config) // 2
        lines.append(f"about {most + 2 * asked:,} decisions are asked of models, each once or twice")
    return lines


@dataclass(frozen=True, slots=True)
class ListeningTo:
    """The listeners of an experiment, asked again. Implements `harness.run.play.ladder.Afterwards`."""

    store: Store
    plan: ClaimsPlan
    policies: Mapping[str, Policy]
    order: LadderConfig
    wanted: Mapping[str, int]
    """How many decisions of each entrant are asked again, where it listens."""

    async def due(self) -> bool:
        """Whether a model is to be asked; a script is led through its decisions when the report is made."""
        for direction in self.plan.directions:
            if self.wanted[direction.listener] and self.policies[direction.listener].model is not None:
                try:
                    await self.kept(direction)
                except NotKept:
                    return True
        return False

    async def ask(self, exchanges: Mapping[str, Exchange], brake: Brake, display: Progress) -> None:
        for direction in self.plan.directions:
            policy = self.policies[direction.listener]
            # A model that nothing is left to ask of has no exchange.
            exchange = exchanges.get(policy.model or "")
            if exchange is None or not self.wanted[direction.listener]:
                continue

            def line_for(episode: str, seat: Seat, exchange: Exchange = exchange) -> Line:
                return SeatLine(episode, seat, exchange, self.store, brake, on_call=display.call_finished)

            chosen = self.samples(direction)
            display.note(f"{direction.listener}: {len(chosen)} decisions are asked again, to hear how it listens")
            try:
                await ask_again(
                    chosen,
                    policy,
                    self.order.seed,
                    self.store,
                    line_for,
                    self.order.limits.episodes_in_flight,
                    lambda: brake.pulled is None,
                )
            except Stopping:
                return
            except Fatal as fatal:
                brake.pull("fatal", str(fatal))
                return

    def samples(self, direction: Direction) -> list[Sample]:
        """The decisions of a direction's listener that are asked again, of the episodes that are finished."""
        normal = list(records_of(self.store, self.plan, None, direction))
        return samples(normal, direction.listener, self.wanted[direction.listener], self.order.seed)

    async def kept(self, direction: Direction) -> list[Heard | None]:
        """What a listener answered, from the run alone. Raises NotKept when something is missing."""
        policy = self.policies[direction.listener]
        line_for = None if policy.model is None else partial(KeptLine, self.store)
        return await ask_again(self.samples(direction), policy, self.order.seed, self.store, line_for)

    def asked(self) -> dict[Direction, Asked]:
        """What the players said beyond the records, as far as the run holds it."""
        return {direction: asyncio.run(self._asked(direction)) for direction in self.plan.directions}

    async def _asked(self, direction: Direction) -> Asked:
        fielded, _ = direction.fielded("force-truth")
        forced = list(records_of(self.store, self.plan, "force-truth", direction))
        wanted = await wants(forced, fielded, self.policies[direction.claimer], self.order.seed, self.store)
        try:
            heard = await self.kept(direction)
        except NotKept:
            return Asked(None, wanted)
        return Asked(listening(heard) if heard else None, wanted)
