"""Short writing for episodes of Persistent Calibration, as its worked examples have it.

`AL3` is the weight 3 on the left of scale A, with a `+` or `-` behind it for each garnet; `-` alone is a submission
that never came. A step has one for each seat, in seat order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from weigh.games.game import Outcome
from weigh.games.persistent_calibration.rules import (
    PERSISTENT_CALIBRATION,
    PersistentCalibrationConfig,
    PersistentCalibrationState,
)
from weigh.games.registry import read_config
from weigh.games.replay import replay

_WRITTEN = re.compile(r"([ABC])([LR])([0-9]+)(\+*|-*)")


def move(written: str) -> dict[str, Any] | None:
    if written == "-":
        return None
    match = _WRITTEN.fullmatch(written)
    assert match, written
    scale, side, weight, garnets = match.groups()
    return {
        "scale": scale,
        "side": {"L": "left", "R": "right"}[side],
        "weight": int(weight),
        "modify": garnets.count("+") - garnets.count("-"),
    }


def moves(steps: Sequence[str]) -> list[list[dict[str, Any] | None]]:
    return [[move(written) for written in step.split()] for step in steps]


def after(*steps: str, stop: bool = False, **fields: Any) -> PersistentCalibrationState:
    """The state after these steps, at a table as wide as the first of them."""
    if steps:
        fields.setdefault("seats", len(steps[0].split()))
    config = read_config(PERSISTENT_CALIBRATION, fields)
    assert isinstance(config, PersistentCalibrationConfig)
    state = replay(PERSISTENT_CALIBRATION, config, {}, list(moves(steps)), stop)
    assert isinstance(state, PersistentCalibrationState)
    return state


def settled(state: PersistentCalibrationState) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def points(state: PersistentCalibrationState) -> list[int]:
    """Each seat's points so far."""
    return list(map(sum, state.points_by_round))


def weighed(state: PersistentCalibrationState, scale: str) -> tuple[int, int]:
    """What lies on the left and the right of a scale."""
    event = next(event for event in reversed(state.events) if event.kind == "weigh")
    totals: Any = event.data["totals"]
    return totals[scale][0], totals[scale][1]
