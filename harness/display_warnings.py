"""What a run should be warned about while there is still money to save.

Owns the words of the warnings, each given once per entrant; the thresholds are in `harness.warning_levels`. Reads
counts; shows nothing.
"""

from __future__ import annotations

from harness.display_tally import Row, Tally
from harness.display_words import fault_counts
from harness.warning_levels import (
    CUT_ANSWERS,
    CUT_GAP,
    FORMAT_ATTEMPTS,
    FORMAT_FAULTS,
    FORMAT_RATE,
    HOLLOW_ANSWERS,
    HOLLOW_RATE,
)
from policies.contract import Fault

_CURES: dict[Fault, str] = {
    "truncated": "raise its max_tokens",
    "empty": "look at a reply in the record; a reasoning model may need more max_tokens",
    "unreadable": 'look at a reply in the record; style = "schema" makes the provider enforce the answer',
    "ambiguous": "look at a reply in the record; the prompt should ask for one JSON object, at the end",
}


class Watch:
    """Remembers what has been said, so that it is said once."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._said: set[tuple[str, str]] = set()

    def after_call(self, entrant: str | None) -> list[str]:
        """Warnings that one more counted call of `entrant` gives rise to."""
        row = self._tally.rows.get(entrant) if entrant else None
        if entrant is None or row is None:
            return []
        return [line for line in (self._cut(entrant, row), self._hollow(entrant, row)) if line]

    def after_episode(self, entrants: tuple[str, ...]) -> list[str]:
        """Warnings that one more counted episode of `entrants` gives rise to."""
        lines = (self._format(name, self._tally.rows[name]) for name in dict.fromkeys(entrants))
        return [line for line in lines if line]

    def _first(self, kind: str, entrant: str) -> bool:
        if (kind, entrant) in self._said:
            return False
        self._said.add((kind, entrant))
        return True

    def _format(self, entrant: str, row: Row) -> str | None:
        kinds = {kind: row.faults[kind] for kind in FORMAT_FAULTS if kind in row.faults}
        number = sum(kinds.values())
        if row.attempts < FORMAT_ATTEMPTS or number <= FORMAT_RATE * row.attempts or not self._first("form", entrant):
            return None
        worst = max(kinds, key=lambda kind: kinds[kind])
        return (
            f"{entrant}: {number / row.attempts:.0%} of {row.attempts} attempts gave no answer that could be read "
            f"({fault_counts(kinds)}); {_CURES[worst]}"
        )

    def _cut(self, entrant: str, row: Row) -> str | None:
        if row.cut == 0 or row.answers < CUT_ANSWERS:
            return None
        others = [
            (r.cut / r.answers, name) for name, r in self._tally.rows.items() if name and r.answers >= CUT_ANSWERS
        ]
        rate, (least, name) = row.cut / row.answers, min(others)
        if rate - least < CUT_GAP or not self._first("cut", entrant):
            return None
        other = self._tally.rows[name]
        return (
            f"{entrant}: {rate:.0%} of its answers are cut at its cap of {row.max_tokens} tokens, "
            f"{name}: {least:.0%} at {other.max_tokens}; that is no fair race: raise the max_tokens of {entrant}"
        )

    def _hollow(self, entrant: str, row: Row) -> str | None:
        if (
            row.answers < HOLLOW_ANSWERS
            or row.hollow <= HOLLOW_RATE * row.answers
            or not self._first("hollow", entrant)
        ):
            return None
        return (
            f"{entrant}: {row.hollow} of {row.answers} answers are empty with reasoning beside them; "
            "look at the server's reasoning parser: it may take the answer for reasoning"
        )
