"""The adapter of every game. One that is missing here fails the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping

from tests.games.adapters.adapter import Adapter
from tests.games.adapters.ballast import BALLAST
from tests.games.adapters.goofspiel import GOOFSPIEL
from tests.games.adapters.half_hearted_step import HALF_HEARTED_STEP
from tests.games.adapters.oshi_zumo import OSHI_ZUMO
from tests.games.adapters.persistent_calibration import PERSISTENT_CALIBRATION

ADAPTERS: Mapping[str, Adapter] = {
    "goofspiel": GOOFSPIEL,
    "oshi_zumo": OSHI_ZUMO,
    "ballast": BALLAST,
    "persistent_calibration": PERSISTENT_CALIBRATION,
    "half_hearted_step": HALF_HEARTED_STEP,
}
