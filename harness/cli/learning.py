"""Keeping what a run's clients learn of their models, as soon as they have learned it.

Owns when that is written down: after the call that taught it, so that no killed process takes it along.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.calls import Call, CallKey, Void
from harness.cli.compose import learned
from harness.line import Exchange
from harness.record import Record
from harness.run import Keeper
from harness.store import Store
from policies.contract import Request


class Learning:
    """A keeper that also keeps what was learned. Implements `harness.run.Keeper`."""

    def __init__(self, keeper: Keeper, store: Store, exchanges: Mapping[str, Exchange]) -> None:
        """`keeper` keeps the run in `store`, perhaps with answers of an earlier run."""
        self._keeper = keeper
        self._store = store
        self._exchanges = exchanges
        self._known: dict[str, tuple[str, ...]] = {}

    def keep_learned(self) -> None:
        """Write down what is known of the models by now, if that is more than before."""
        now = learned(self._exchanges)
        if now != self._known:
            self._store.add_adaptations(now)
            self._known = now

    def paid(self, key: CallKey, request: Request) -> Call | None:
        return self._keeper.paid(key, request)

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None) -> int:
        return self._keeper.begin_call(key, request, started, cost)

    def end_call(self, call: Call) -> None:
        self._keeper.end_call(call)
        self.keep_learned()

    def add_record(self, record: Record) -> None:
        self._keeper.add_record(record)

    def add_void(self, void: Void) -> None:
        self._keeper.add_void(void)
