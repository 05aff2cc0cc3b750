"""The judgements of a candidate, in a file beside its run.

Owns the file. What stands in it is `harness.gate.judgements`'.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from weigh.harness.gate.judgements import Judgement, read, written
from weigh.harness.results.export import write_atomically

FILE: Final = "judged.jsonl"
LARGEST: Final = 1_000_000
"""Bytes that are read of it."""


def kept_in(folder: Path) -> list[Judgement]:
    """Every judgement so far, the oldest first; none where the file is missing or no file."""
    place = folder / FILE
    if not place.is_file():
        return []
    with place.open("rb") as stream:
        return read(stream.read(LARGEST).decode("utf-8", "replace"))


def keep(folder: Path, judgement: Judgement) -> None:
    """Add one. What stands there already is not written again, so that a repeated verdict changes nothing."""
    kept = kept_in(folder)
    if judgement.to_json() not in [each.to_json() for each in kept]:
        write_atomically(folder / FILE, written([*kept, judgement]))
