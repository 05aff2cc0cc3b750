"""What it takes to write a model call down: once before it leaves, and once more when it has returned.

    python -m benches ledger      a few seconds

Microseconds, on the disk of the temporary folder: medians, and means, in which the waits of a checkpoint for the disk
are spread over all calls. What the hash chain takes comes with a record, for all calls of its episode at once: it is
told by the call too, with its ratio to the other writes. Prompts and replies have the size of a game's, each new to the
run; the rules stay the same.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median

from benches.orchestration import new_store, planned
from weigh.harness.store.calls import Call, CallKey
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage

CALLS = 4_000
RULES = Message("system", "Each round a prize is shown and all seats bid a card for it. " * 40)
SITUATION = "The prize is 7. You hold 1 2 3 4 5. The others have bid 3, 9 and 11. " * 9
REPLY = "The prize is worth a middling card, and the others have spent theirs. " * 6 + '{"bid": 4}'


def made(number: int) -> Call:
    request = Request("bench:m", (RULES, Message("user", f"Round {number}. {SITUATION}")), Sampling())
    completion = Completion(f"{number} {REPLY}", "end", usage=Usage(900, 600, 120))
    key = CallKey("goofspiel/b0000/r0", 0, number, 1)
    return Call(key, 0, request, "answered", completion, None, "known", 0.001, "2026-01-01T00:00:00.000+00:00", 0.5)


def took(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1e6 * (time.perf_counter() - start)


def write_down(store: Store) -> dict[str, list[float]]:
    """Microseconds of each step of each call."""
    steps: dict[str, list[float]] = {"look for an answer": [], "before it leaves": [], "when it returned": []}
    for number in range(CALLS):
        call = made(number)
        for name, work in (
            ("look for an answer", lambda call=call: store.paid(call.key, call.request)),
            ("before it leaves", lambda call=call: store.begin_call(call.key, call.request, call.started)),
            ("when it returned", lambda call=call: store.end_call(call)),
        ):
            steps[name].append(took(work))
    steps["both writes"] = [sum(two) for two in zip(steps["before it leaves"], steps["when it returned"], strict=True)]
    return steps


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "run", planned(4)) as store:
        steps = write_down(store)
        chain = took(lambda: store.set_status("finished")) / CALLS
    print(f"{'microseconds a call':<24}{'median':>8}{'mean':>8}")
    for name, times in steps.items():
        print(f"{name:<24}{median(times):>8.0f}{fmean(times):>8.0f}")
    print(
        f"{'to enter the hash chain':<24}{'':>8}{chain:>8.0f}{chain / fmean(steps['both writes']):>8.0%} of both writes"
    )


if __name__ == "__main__":
    main()
