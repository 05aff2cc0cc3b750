"""Whether the policies of a run make what a record says of its moves, and its calls bear them out.

Owns running every seat again at the positions of the record: a script with the randomness that the run seed gives it, a
prompted policy with the replies that are kept, which are read again. So each request that a model was sent is made
again too, and compared with the one that is kept. Knows the record, its positions and its calls; whoever calls has made
sure that the record itself recomputes.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, TypeVar

from weigh.harness.audit.redriven import NotKept, Redriven
from weigh.harness.audit.verify.calls import Place, check_calls, where_of
from weigh.harness.audit.verify.findings import Finding, agree, show
from weigh.harness.audit.verify.policies import Cast
from weigh.harness.audit.verify.record import Derived
from weigh.harness.seeds import stream
from weigh.harness.store.calls import SETTLED, Call, CallKey
from weigh.harness.store.record import By, Decision, Record
from weigh.harness.store.store import StoredCall
from weigh.policies.contract import Message, Policy, Reply, Request
from weigh.policies.scripted.registry import fallback_of

Result = TypeVar("Result")
AROUND: Final = 20
"""Characters of a prompt shown before the first one in which it differs."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A record whose seats are run again."""

    record: Record
    derived: Derived
    seed: int
    drawn_for: str
    """What the seats' randomness was drawn for."""

    def check(self, made: Mapping[Place, Sequence[StoredCall]], casts: Sequence[Cast]) -> Iterator[Finding]:
        """Run every seat again. `casts` are those of the seats, `made` the calls of the episode."""
        evidence = Evidence(made)
        models = dict(enumerate(self.record.models))
        asked = {(decision.seat, decision.step) for decision in self.record.decisions}
        yield from check_calls(evidence.made, models, asked)
        for seat, cast in enumerate(casts):
            mine = [(index, each) for index, each in enumerate(self.record.decisions) if each.seat == seat]
            if cast.policy is None:
                yield from _check_person(mine, cast)
                continue
            evidence.compares = cast.prompts
            rng = stream(self.seed, "seat", self.drawn_for, seat)
            again = Redriven(cast.policy, self.record, self.derived.states, seat, rng, evidence)
            yield from self._check_seat(mine, cast.policy, again, evidence)
        yield from evidence.findings

    def _check_seat(
        self, mine: Sequence[tuple[int, Decision]], policy: Policy, again: Redriven, evidence: Evidence
    ) -> Iterator[Finding]:
        """One seat's decisions, each with its index, led through again."""
        notes: str | None = None
        for index, decision in mine:
            seat, step, where = decision.seat, decision.step, f"decisions[{index}]"
            try:
                replies = led(again.attempts(step))
            except NotKept:
                yield Finding(where, f"has no answered call for attempt {evidence.attempt} at step {step}, seat {seat}")
                return  # what the player remembers from here on is not known
            except ValueError as error:  # a script that finds no legal move, in a position that no such seat is shown
                yield Finding(where, f"cannot be led to again: {show(str(error))}")
                return
            last, by = replies[-1], _by(policy.model, replies)
            mover = policy.name
            if by == "fallback":
                last, mover = self._fallback(step, seat), fallback_of(self.record.game).name
            due = [{"fault": reply.fault, "detail": reply.detail} for reply in replies if reply.fault is not None]
            said = [note.model_dump(mode="json") for note in decision.faults]
            if not evidence.compares:  # the words for a fault may be those of another version
                due, said = [[{**each, "detail": ""} for each in faults] for faults in (due, said)]
            if decision.by != by:
                yield Finding(f"{where}.by", "is not who moved, by the replies", show(decision.by), show(by))
            elif said != due:
                yield Finding(f"{where}.faults", "are not what was wrong", show(said), show(due))
            if not agree(played := self.record.moves[step][seat], last.move):
                yield Finding(f"moves[{step}][{seat}]", f"is not what {mover} plays", show(played), show(last.move))
            now = notes if by == "fallback" else last.notes
            new = now if now != notes else None
            if decision.notes != new:
                yield Finding(f"{where}.notes", "are not those of the reply", show(decision.notes), show(new))
            notes = now
            if (seat, step, len(replies) + 1) in evidence.made:
                yield Finding(where, f"hides that step {step}, seat {seat} was asked a second time", show(decision.by))

    def _fallback(self, step: int, seat: int) -> Reply:
        rng = stream(self.seed, "fallback", self.drawn_for, step, seat)
        player = fallback_of(self.record.game).sit(seat, rng)
        return led(player.decide(self.derived.states[step].observe(seat, self.record.aliases)))


def _check_person(mine: Sequence[tuple[int, Decision]], cast: Cast) -> Iterator[Finding]:
    due = "human" if cast.person else "scripted"
    for index, decision in mine:
        if decision.by != due:
            yield Finding(f"decisions[{index}].by", "is not who plays the seat", show(decision.by), show(due))


def _by(model: str | None, replies: Sequence[Reply]) -> By:
    if replies[-1].fault is not None:
        return "fallback"
    if model is None:
        return "scripted"
    return "model" if len(replies) == 1 else "retry"


def led(waiting: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine comes to that waits for nothing, as a player does that scripts or kept answers lead."""
    try:
        waiting.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    waiting.close()
    raise TypeError("a player that is led through its episode waited for something")


class Evidence:
    """The calls of one episode, for its seats to be led by. Implements `harness.audit.redriven.Kept`."""

    def __init__(self, made: Mapping[Place, Sequence[StoredCall]]) -> None:
        self.made = made
        self.compares = True
        """Whether what a seat asks now must be what was asked then."""
        self.attempt = 1
        """The one that was looked for last."""
        self.findings: list[Finding] = []

    def paid(self, key: CallKey, request: Request) -> Call | None:
        """What settled an attempt, whatever was asked; that it was something else is a finding."""
        self.attempt = key.attempt
        kept = self.made.get((key.seat, key.step, key.attempt), [])
        for each in kept:
            if self.compares and each.call.request.digest != request.digest:
                self.findings.append(_difference(key, each.call.request, request))
                break
        settled = [each.call for each in kept if each.call.fate in SETTLED]
        return settled[-1] if settled else None


def _difference(key: CallKey, asked: Request, due: Request) -> Finding:
    """How a request differs from the one that the record and the manifest make."""
    where = where_of(key.seat, key.step, key.attempt)
    for name, one, other in (
        ("model", asked.model, due.model),
        ("settings", asked.sampling.to_json(), due.sampling.to_json()),
        ("schema", asked.schema, due.schema),
    ):
        if one != other:
            return Finding(where, f"went with another {name} than ordered", show(one), show(other))
    for number, (mine, wanted) in enumerate(zip_longest(asked.messages, due.messages)):
        if mine != wanted:
            one, other = _unlike(mine, wanted)
            return Finding(where, f"asked something else in message {number}", one, other)
    raise AssertionError("two requests with unequal digests are equal")


def _unlike(one: Message | None, other: Message | None) -> tuple[str, str]:
    """Two texts from a little before the first character in which they differ."""
    texts = ["" if each is None else each.text for each in (one, other)]
    same = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, same - AROUND)
    mine, theirs = (show(text[start:]) for text in texts)
    return mine, theirs
