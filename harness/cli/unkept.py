"""Where the calls of an episode go that nobody asked to keep: they last as long as the process."""

from __future__ import annotations

from harness.calls import Void
from harness.line import MemoryLedger
from harness.record import Record


class Unkept(MemoryLedger):
    """A `harness.run.Keeper` without a folder. Who wants the record is told of it as an onlooker."""

    def add_record(self, record: Record) -> None:
        return

    def add_void(self, void: Void) -> None:
        return
