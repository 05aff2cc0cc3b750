"""A digest of what has none: the rules of a game and the code of its scripted policies.

Owns the probes it is taken of. A baseline file holds one to tell another version of weigh's scores from its own, and
an arm's run is named for one, so that episodes played under other rules are never taken for today's.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from weigh.policies.contract import canonical
from weigh.policies.scripted.registry import fallback_of, scripted, yardsticks

if TYPE_CHECKING:
    from pydantic import BaseModel

    from weigh.games.game import AnyGame

PROBES: Final = 3
"""Episodes at least that the digest is taken of; as many more as it takes to seat everybody."""


def rules_digest(game: AnyGame, config: BaseModel, names: Sequence[str]) -> str:
    """SHA-256, hex, over the rulebook and over episodes of the scripted policies `names`, of all that measure something
    and of the fallback: code has no digest of its own that lasts, but another dealing, another move or another score
    shows in it."""
    from weigh.harness.run.offline import played
    from weigh.harness.run.runner import Division

    division = Division(game, config, {}, fallback_of(game.name))
    seats = game.seat_count(config)
    players = [scripted(game.name, name) for name in dict.fromkeys([*names, *yardsticks(game.name)])]
    players.append(fallback_of(game.name))
    count = max(PROBES, -(-len(players) // seats))

    async def probe(number: int) -> list[Any]:
        seated = [players[(number * seats + seat) % len(players)] for seat in range(seats)]
        record = await played(division, seated, f"gate/{game.name}/{number}", number, 0)
        return [record.deal, record.aliases, record.moves, record.scores, record.measures]

    async def probes() -> list[Any]:
        return [await probe(number) for number in range(count)]

    return hashlib.sha256(canonical([game.rulebook(config), asyncio.run(probes())]).encode()).hexdigest()
