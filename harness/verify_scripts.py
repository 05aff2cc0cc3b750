"""Whether the moves that scripted policies are said to have made are the ones they make.

Owns letting a script move again, with the randomness that the run seed gives it. Knows the baselines that are part of
weighhouse; a seat whose policy digest is none of theirs is left alone.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

from games.ballast.rules import BALLAST
from games.game import Observation
from harness.experiments.arms import ALTERATIONS, Altered
from harness.record import Record
from harness.redrawn import Redrawn
from harness.seeds import stream
from harness.verify_findings import Finding, agree, show
from harness.verify_replay import Derived
from policies.contract import Player, Policy, Reply
from policies.scripted.registry import fallback_of, scripted, scripted_names


def check_scripts(record: Record, derived: Derived, seed: int, drawn_for: str) -> Iterator[Finding]:
    """Let the fallback and the scripted entrants move again wherever the record says that they did.

    `drawn_for` is what their randomness was drawn for.
    """
    fallback = fallback_of(record.game)
    seated: dict[int, tuple[Policy, Player]] = {}
    ours = _ours(record.game)
    for seat, digest in enumerate(record.policies):
        if digest in ours and record.models[seat] is None:
            seated[seat] = ours[digest], ours[digest].sit(seat, stream(seed, "seat", drawn_for, seat), None)
    for decision in record.decisions:
        seat, step = decision.seat, decision.step
        if decision.by == "fallback":
            policy: Policy = fallback
            player: Player = fallback.sit(seat, stream(seed, "fallback", drawn_for, step, seat))
        elif decision.by == "scripted" and seat in seated:
            policy, player = seated[seat]
        else:
            continue
        move = _move(player, derived.states[step].observe(seat, record.aliases))
        played = record.moves[step][seat]
        if not agree(played, move):
            yield Finding(f"moves[{step}][{seat}]", f"is not what {policy.name} plays", show(played), show(move))


def _ours(game: str) -> dict[str, Policy]:
    """The scripted policies of a game by digest, as the arms of an experiment alter them, and redrawn."""
    plain: list[Policy] = [scripted(game, name) for name in scripted_names(game)]
    redrawn = [Redrawn(policy) for policy in plain]
    if game == BALLAST.name:
        plain += [Altered(policy, alteration) for policy in plain for alteration in ALTERATIONS]
    return {policy.digest: policy for policy in [*plain, *redrawn]}


def _move(player: Player, seen: Observation) -> object:
    """What a player answers that waits for nothing, as a scripted one does not."""
    deciding: Coroutine[Any, Any, Reply] = player.decide(seen, None)
    try:
        deciding.send(None)
    except StopIteration as done:
        reply: Reply = done.value
        return reply.move
    deciding.close()
    raise TypeError("a scripted player waited for something")
