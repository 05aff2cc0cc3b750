"""Whether the model calls kept with a run bear out what a record says of its moves.

Owns the reading again of every reply at the position it was given for. Knows the record, its positions and its calls;
whoever calls has made sure that the record itself re-derives.

Whether the moves that scripted policies are said to have made are the ones they make.

Owns letting a script move again, with the randomness that the run seed gives it. Knows the baselines that are part of
weigh; a seat whose policy digest is none of theirs is left alone.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any

from weigh.games.ballast.rules import BALLAST
from weigh.games.game import Legal, Observation
from weigh.harness.audit.claims.arms import ALTERATIONS, Alteration, Altered, played
from weigh.harness.audit.verify.findings import Finding, agree, show
from weigh.harness.audit.verify.record import FAULTS_BEFORE, Derived
from weigh.harness.seeds import stream
from weigh.harness.store.calls import SETTLED
from weigh.harness.store.record import Decision, Record
from weigh.harness.store.store import StoredCall
from weigh.policies.contract import Player, Policy, Reply
from weigh.policies.replicate import Redrawn
from weigh.policies.reply import Reading, read_reply
from weigh.policies.scripted.registry import fallback_of, scripted, scripted_names


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


Attempts = Mapping[tuple[int, int, int], StoredCall | None]
"""By (seat, step, attempt): the call that settled it, None when only others were made."""


def check_evidence(
    record: Record,
    derived: Derived,
    calls: Iterable[StoredCall],
    alterations: Mapping[int, Alteration] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Compare the decisions of a record with its calls, which come by seat, step, attempt and number.

    `alterations` are those that an experiment put around the seats' policies.
    """
    attempts: dict[tuple[int, int, int], StoredCall | None] = {}
    for place, made in groupby(calls, key=_place):
        kept = list(made)
        yield from _check_calls(record, derived, place, kept)
        settling = [each for each in kept if each.call.fate in SETTLED]
        attempts[place] = settling[-1] if settling else None
    notes: dict[int, str] = {}
    # Some styles of asking keep no notes, whatever a reply holds.
    keeping = {decision.seat for decision in record.decisions if decision.notes is not None}
    for index, decision in enumerate(record.decisions):
        seat = decision.seat
        if record.models[seat] is not None:
            legal = derived.states[decision.step].legal(seat)
            kept_notes, altered = notes if seat in keeping else None, alterations.get(seat)
            yield from _check_decision(record, index, decision, legal, attempts, kept_notes, altered)
            if decision.notes is not None:
                # Goes on from what the record says, so that one wrong note is one finding.
                notes[seat] = decision.notes


def _check_calls(
    record: Record, derived: Derived, place: tuple[int, int, int], kept: list[StoredCall]
) -> Iterator[Finding]:
    """What must hold for the calls of one attempt, whatever came of them."""
    seat, step, attempt = place
    where = f"calls of step {step}, seat {seat}, attempt {attempt}"
    model = record.models[seat] if 0 <= seat < derived.seats else None
    if model is None:
        yield Finding(where, "were made for a seat that no model plays")
        return
    if step >= len(record.moves) or seat not in derived.states[step].to_act:
        yield Finding(where, "were made where the record asks for no move")
    if [each.call.number for each in kept] != list(range(len(kept))):
        yield Finding(where, "are not all there", show([each.call.number for each in kept]), show(len(kept)))
    for each in kept:
        request = each.call.request
        if request.model != model:
            yield Finding(where, "went to another model", show(request.model), show(model))
        if request.digest != each.digest:
            yield Finding(where, "do not match the digest of what was sent", show(each.digest), show(request.digest))
        if (each.call.fate == "reused") != (each.call.reused_from is not None):
            yield Finding(where, "name no run whose answer is used again", show(each.call.fate))


def _check_decision(
    record: Record,
    index: int,
    decision: Decision,
    legal: Legal,
    attempts: Attempts,
    notes: Mapping[int, str] | None,
    altered: Alteration | None,
) -> Iterator[Finding]:
    """Read the replies behind one decision again. `notes` holds each seat's notes before it; None: it keeps none."""
    where = f"decisions[{index}]"
    seat, step = decision.seat, decision.step
    due = min(FAULTS_BEFORE[decision.by] + 1, 2)
    for attempt in range(1, due + 1):
        settled = attempts.get((seat, step, attempt))
        if settled is None:
            yield Finding(where, f"has no answered call for attempt {attempt} at step {step}, seat {seat}")
            return
        reading = _read(settled, legal)
        if attempt > len(decision.faults):
            move = record.moves[step][seat]
            if reading.fault is not None:
                yield Finding(where, "claims a move from a reply that has none", show(move), show(reading.fault))
            elif not agree(move, due_move := played(reading.move, altered)):
                yield Finding(f"moves[{step}][{seat}]", "is not what the model replied", show(move), show(due_move))
            if notes is not None:
                yield from _check_notes(where, decision, reading.notes, notes)
        elif reading.fault != decision.faults[attempt - 1].fault:
            noted = decision.faults[attempt - 1].fault
            yield Finding(f"{where}.faults[{attempt - 1}]", "is not what was wrong", show(noted), show(reading.fault))
    if due == 1 and attempts.get((seat, step, 2)) is not None:
        yield Finding(where, f"hides that step {step}, seat {seat} was asked a second time", show(decision.by))
    if decision.by == "fallback" and decision.notes is not None:
        yield Finding(f"{where}.notes", "changed without a reply that was read", show(decision.notes), show(None))


def _check_notes(where: str, decision: Decision, said: str | None, notes: Mapping[int, str]) -> Iterator[Finding]:
    """A decision records the notes of its reply where they are new."""
    known = notes.get(decision.seat)
    new = said if said is not None and said != known else None
    if decision.notes != new:
        yield Finding(f"{where}.notes", "are not those of the reply", show(decision.notes), show(new))


def _read(settled: StoredCall, legal: Legal) -> Reading:
    completion = settled.call.completion
    if completion is None:
        return Reading(fault="timed_out")
    return read_reply(completion.text, completion.stop, legal)


def _place(kept: StoredCall) -> tuple[int, int, int]:
    return kept.call.key.seat, kept.call.key.step, kept.call.key.attempt
