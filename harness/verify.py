"""Re-deriving: whether a record, or a whole run, is what its moves and the models' replies make of it.

Owns the two questions and their answers; the parts of the check lie in the modules `verify_*`. Nothing is trusted that
can be derived: not the events, awards, scores and endings, not the counters, and in a run not the moves either, as each
is read again from the reply it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.record import Record
from harness.verify_decisions import check_decisions
from harness.verify_findings import Finding
from harness.verify_replay import check_outcome, derive
from harness.verify_run import Verdict, verify_run
from harness.verify_shape import as_record

__all__ = ["Finding", "Verdict", "verify_record", "verify_run"]


def verify_record(data: Mapping[str, Any] | Record) -> list[Finding]:
    """Everything in which a record does not re-derive; an empty list when it does.

    `data` is the record, or its JSON. Not derivable, and so not looked at: `times`; the names `key`, `block`,
    `entrants` and `aliases` (which must only differ); the digests `policies` and the names in `models`; notes, and
    which fault an attempt had. `verify_run` checks these against what the run keeps beside its records.
    """
    record = as_record(data)
    if not isinstance(record, Record):
        return record
    derived = derive(record)
    if isinstance(derived, list):
        return derived
    return [*check_outcome(record, derived), *check_decisions(record, derived)]
