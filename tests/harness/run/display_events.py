"""Events of a run, made up for the tests of its displays."""

from __future__ import annotations

from collections.abc import Sequence

from weigh.harness.run.events import Plan
from weigh.harness.store.calls import Call, CallKey, Fate, Void
from weigh.harness.store.record import By, Decision, FaultNote, Record
from weigh.policies.contract import Billing, Completion, Fault, Message, Request, Sampling, Stop, Usage

NAMES = ("careful", "long", "match", "hoard")


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def plan(episodes: dict[str, int] | None = None, **more: object) -> Plan:
    return Plan("demo", 7, NAMES, episodes or {"goofspiel": 8}, **more)


def call(
    episode: str = "goofspiel/b0000/r0",
    seat: int = 0,
    *,
    step: int = 0,
    attempt: int = 1,
    fate: Fate = "answered",
    stop: Stop = "end",
    text: str = '{"bid": 3}',
    reasoning: str | None = None,
    cost: float | None = 0.001,
    max_tokens: int = 512,
    tokens: tuple[int, int] = (900, 60),
) -> Call:
    request = Request("mock:one", (Message("user", "bid"),), Sampling(max_tokens=max_tokens))
    answered = fate == "answered"
    billing: Billing = "unknown" if cost is None else "known" if answered else "none"
    return Call(
        key=CallKey(episode, seat, step, attempt),
        number=0,
        request=request,
        fate=fate,
        completion=Completion(text, stop, reasoning, Usage(input=tokens[0], output=tokens[1])) if answered else None,
        error=None if answered else "it failed",
        billing=billing,
        cost=cost,
        started="2026-01-01T00:00:00Z",
        latency=0.2,
    )


def decision(seat: int, by: By, *faults: Fault) -> Decision:
    return Decision(step=0, seat=seat, by=by, faults=tuple(FaultNote(fault=fault, detail="") for fault in faults))


def record(
    key: str = "goofspiel/b0000/r0",
    entrants: Sequence[str] = NAMES,
    scores: Sequence[float] = (0.25, -0.1, 0.0, -0.15),
    decisions: Sequence[Decision] = (),
) -> Record:
    n = len(entrants)
    return Record(
        key=key,
        block=key.rpartition("/")[0],
        game=key.partition("/")[0],
        config={},
        deal={},
        entrants=tuple(entrants),
        policies=("0",) * n,
        models=(None,) * n,
        aliases=tuple("ABCDEFGHIJ"[:n]),
        fallback="match",
        moves=(),
        decisions=tuple(decisions),
        events=(),
        reason="complete",
        ending="prizes-exhausted",
        scores=tuple(scores),
        measures={},
        fallbacks=tuple(sum(d.seat == seat and d.by == "fallback" for d in decisions) for seat in range(n)),
    )


def void(key: str = "goofspiel/b0000/r0", cause: str = "mock:one: 503 past patience") -> Void:
    return Void(key, key.rpartition("/")[0], key.partition("/")[0], NAMES, 3, (0,), cause)
