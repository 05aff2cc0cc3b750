"""One episode without a model, a store or a run: for plans, prompt comparisons and rule probes.

Its deal comes from a stream of its own: nothing is shown of a deal that a run will be played on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weigh.harness.run.episode import Line, Table, play_episode
from weigh.harness.run.runner import Division
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.record import Record
from weigh.policies.contract import Policy

PURPOSE = "plan"
"""Of every stream that a plan draws from; a run draws from none of this name."""


class PilotFailed(Exception):
    """A pilot episode was void: a bug, for it has no provider."""


async def played(
    division: Division,
    policies: Sequence[Policy],
    key: str,
    deal: int,
    seed: int,
    lines: Mapping[int, Line] | None = None,
) -> Record:
    """One offline episode; `deal` numbers the deals of a game's pilots, `key` is unlike any key of a run."""
    game = division.game
    table = Table(
        key=key,
        block=key,
        game=game,
        config=division.config,
        deal=game.deal(division.config, stream(seed, PURPOSE, "deal", game.name, deal)),
        run_seed=seed,
        policies=tuple(policies),
        aliases=deal_aliases(len(policies), stream(seed, PURPOSE, "aliases", key)),
        fallback=division.fallback,
    )
    result = await play_episode(table, lines or {})
    if not isinstance(result, Record):
        raise PilotFailed(result.cause)
    return result
