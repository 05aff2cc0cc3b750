"""The adapter of every game. One that is missing here fails the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping

from tests.games.adapters.adapter import Adapter
from tests.games.adapters.goofspiel import GOOFSPIEL
from tests.games.adapters.oshi_zumo import OSHI_ZUMO

ADAPTERS: Mapping[str, Adapter] = {"goofspiel": GOOFSPIEL, "oshi_zumo": OSHI_ZUMO}
