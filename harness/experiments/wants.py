"""What a claimer would have announced where its announcements were made true.

Owns that count. Nothing of it is kept in the run: a script is led through its moves again, and a model's replies are
read again, so the answer is what the policy said and not what somebody wrote down of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.ballast.moves import PLACE
from harness.diagnostics.ballast import states_of
from harness.experiments.redrive import Kept, Redriven
from harness.record import Record
from harness.seeds import stream
from policies.contract import Policy


@dataclass(frozen=True, slots=True)
class Wants:
    """Placements in the arm `force-truth`, those of the fallback left out."""

    placements: int
    lies: int
    """Those that the claimer wanted to announce as something else."""


async def wants(records: Sequence[tuple[Record, str]], fielded: str, policy: Policy, seed: int, kept: Kept) -> Wants:
    """What `policy` wanted in these records, in which it is `fielded` under the name of its arm; each record comes with
    what its streams are drawn for. Raises NotKept where a reply is missing from the run."""
    placements = lies = 0
    for record, deal_key in records:
        seat = record.entrants.index(fielded)
        again = Redriven(policy, record, states_of(record), seat, stream(seed, "seat", deal_key, seat), kept)
        async for decision, reply in again.decisions():
            if decision.by != "fallback" and isinstance(reply.move, list) and reply.move[0] == PLACE:
                placements += 1
                lies += reply.move[1] != reply.move[3]
    return Wants(placements, lies)
