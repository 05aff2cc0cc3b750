"""What an experiment on claims asks the players beyond its episodes.

Owns the lines on which a listener is asked again, and which answers the run holds already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from weigh.harness.audit.claims.answer import Asked, records_of
from weigh.harness.audit.claims.listening import (
    Heard,
    Sample,
    ask_again,
    listening,
    samples,
    wants,
)
from weigh.harness.audit.redriven import KeptLine, Line, NotKept
from weigh.policies.contract import Fatal

if TYPE_CHECKING:
    from weigh.games.game import Seat
    from weigh.harness.audit.claims.arms import ClaimsPlan, Direction
    from weigh.harness.config.config import LadderConfig
    from weigh.harness.run.events import Progress
    from weigh.harness.run.limits import Brake
    from weigh.harness.run.model_calls import Exchange
    from weigh.harness.run.runner import Division
    from weigh.harness.store.store import Store
    from weigh.policies.contract import Policy


class ListeningTo:
    """The listeners of an experiment, asked again. Implements `harness.cli.commands.ladder.Afterwards`."""

    def __init__(
        self,
        store: Store,
        plan: ClaimsPlan,
        divisions: Mapping[str, Division],
        order: LadderConfig,
        wanted: Mapping[str, int],
    ) -> None:
        """`wanted` says how many decisions of each entrant are asked again, where it listens."""
        (division,) = divisions.values()
        self._store = store
        self._plan = plan
        self._policies = division.policies
        self._order = order
        self._wanted = wanted

    async def due(self) -> bool:
        """Whether a model is to be asked; a script is led through its decisions when the report is made."""
        for direction in self._plan.directions:
            if self._wanted[direction.listener] and self._policies[direction.listener].model is not None:
                try:
                    await self.kept(direction)
                except NotKept:
                    return True
        return False

    async def ask(self, exchanges: Mapping[str, Exchange], brake: Brake, display: Progress) -> None:
        from weigh.harness.run.limits import Stopping
        from weigh.harness.run.model_calls import SeatLine

        for direction in self._plan.directions:
            policy = self._policies[direction.listener]
            # A model that nothing is left to ask of has no exchange.
            exchange = exchanges.get(policy.model or "")
            if exchange is None or not self._wanted[direction.listener]:
                continue

            def line_for(episode: str, seat: Seat, exchange: Exchange = exchange) -> Line:
                return SeatLine(episode, seat, exchange, self._store, brake, on_call=display.call_finished)

            chosen = self.samples(direction)
            display.note(f"{direction.listener}: {len(chosen)} decisions are asked again, to hear how it listens")
            try:
                await ask_again(
                    chosen,
                    policy,
                    self._order.seed,
                    self._store,
                    line_for,
                    self._order.limits.episodes_in_flight,
                    lambda: brake.pulled is None,
                )
            except Stopping:
                return
            except Fatal as fatal:
                brake.pull("fatal", str(fatal))
                return

    def samples(self, direction: Direction) -> list[Sample]:
        """The decisions of a direction's listener that are asked again, of the episodes that are finished."""
        normal = list(records_of(self._store, self._plan, None, direction))
        return samples(normal, direction.listener, self._wanted[direction.listener], self._order.seed)

    async def kept(self, direction: Direction) -> list[Heard | None]:
        """What a listener answered, from the run alone. Raises NotKept when something is missing."""
        policy = self._policies[direction.listener]
        line_for: Callable[[str, Seat], Line] | None = None
        if policy.model is not None:
            line_for = self._kept_line
        return await ask_again(self.samples(direction), policy, self._order.seed, self._store, line_for)

    def _kept_line(self, episode: str, seat: Seat) -> Line:
        return KeptLine(self._store, episode, seat)


def asked_of(
    store: Store, plan: ClaimsPlan, divisions: Mapping[str, Division], hearing: ListeningTo
) -> dict[Direction, Asked]:
    """What the players said beyond the records, as far as the run holds it."""
    (division,) = divisions.values()
    return {
        direction: asyncio.run(_asked(store, plan, direction, division.policies, hearing))
        for direction in plan.directions
    }


async def _asked(
    store: Store, plan: ClaimsPlan, direction: Direction, policies: Mapping[str, Policy], hearing: ListeningTo
) -> Asked:
    fielded, _ = direction.fielded("force-truth")
    forced = list(records_of(store, plan, "force-truth", direction))
    seed = store.manifest.seed
    wanted = await wants(forced, fielded, policies[direction.claimer], seed, store)
    try:
        heard = await hearing.kept(direction)
    except NotKept:
        return Asked(None, wanted)
    return Asked(listening(heard) if heard else None, wanted)
