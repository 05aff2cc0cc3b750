"""How entrants play, beyond what they score: measures of each game, computed from records alone.

Owns which game has which measures. A measure is a mean over decisions or episodes, by entrant; it describes, and does
not explain: what causes a score is found out by experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from weigh.harness.store.record import Record

Measured: TypeAlias = dict[str, dict[str, float | None]]
"""By entrant, then by measure; None where nothing was observed."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The measures of one game."""

    meanings: Mapping[str, str]
    """What each measure says, with its unit, in the order in which they are shown."""
    diagnose: Callable[[Iterable[Record]], Measured]
    """One pass over the records; those of other games are passed over."""


def diagnostics_of(game: str) -> Diagnostics:
    """The measures of a game. Raises KeyError for a game that has none. Imports that game's module only."""
    return _LOADERS[game]()


def _goofspiel() -> Diagnostics:
    from weigh.harness.audit.measures import bidding

    return Diagnostics(bidding.GOOFSPIEL_MEANINGS, bidding.diagnose_goofspiel)


def _oshi_zumo() -> Diagnostics:
    from weigh.harness.audit.measures import bidding

    return Diagnostics(bidding.OSHI_ZUMO_MEANINGS, bidding.diagnose_oshi_zumo)


def _ballast() -> Diagnostics:
    from weigh.harness.audit.measures import ballast

    return Diagnostics(ballast.MEANINGS, ballast.diagnose)


def _persistent_calibration() -> Diagnostics:
    from weigh.harness.audit.measures import persistent_calibration

    return Diagnostics(persistent_calibration.MEANINGS, persistent_calibration.diagnose)


def _half_hearted_step() -> Diagnostics:
    from weigh.harness.audit.measures import half_hearted_step

    return Diagnostics(half_hearted_step.MEANINGS, half_hearted_step.diagnose)


_LOADERS: Mapping[str, Callable[[], Diagnostics]] = MappingProxyType(
    {
        "goofspiel": _goofspiel,
        "oshi_zumo": _oshi_zumo,
        "ballast": _ballast,
        "persistent_calibration": _persistent_calibration,
        "half_hearted_step": _half_hearted_step,
    }
)
