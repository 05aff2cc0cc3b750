"""A seat's line with everything around it at rest."""

from __future__ import annotations

from random import Random
from typing import Any

from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange, MemoryLedger, SeatLine


def seat_line(
    shared: Exchange, ledger: MemoryLedger, seat: int = 0, brake: Brake | None = None, **more: Any
) -> SeatLine:
    more.setdefault("jitter", Random(1))
    line = SeatLine("toy/b0/r0", seat, shared, ledger, brake or Brake(), **more)
    line.open(0, 1)
    return line
