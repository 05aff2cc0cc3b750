"""From which shares on replies are worth a warning, while a run is on and when it is ranked.

Owns the thresholds and nothing else: who counts and who words a warning import them from here.
"""

from __future__ import annotations

from typing import Final

from weigh.policies.contract import Fault

FORMAT_FAULTS: Final[tuple[Fault, ...]] = ("unreadable", "ambiguous", "empty", "truncated")
"""Faults of form: no answer could be taken from the reply. An illegal move is a reply that could be read."""

FORMAT_RATE: Final = 0.20
FORMAT_ATTEMPTS: Final = 20
"""Warn when more than this share of at least this many attempts were faults of form."""

CUT_GAP: Final = 0.10
CUT_ANSWERS: Final = 30
"""Warn when two entrants' shares of cut answers lie at least this far apart, over at least this many answers each."""

HOLLOW_RATE: Final = 0.03
HOLLOW_ANSWERS: Final = 30
"""Warn when more than this share of at least this many answers held reasoning and no text."""

REFUSALS_IN_A_ROW: Final = 3
"""Warn when a seat was refused so many attempts one after the other: what another seat said may be the reason."""

MAX_FALLBACK_RATE = 0.2
"""An entrant for which the fallback made a larger share of the decisions is listed and not ranked, unless set
otherwise."""

COLLUSION_THRESHOLD: Final = 0.5
"""The collusion index from which an episode counts as high."""
