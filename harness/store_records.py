"""Records, manifests and what was learned of models, as texts of a run's database.

Owns that a record comes back as it was kept, and that one which cannot be read is told in one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from harness.manifest import Manifest
from harness.record import Record
from harness.store_schema import StoreRefused
from policies.contract import canonical


def to_texts(record: Record) -> tuple[str, str | None]:
    """The record without its times, equal for equal records, and the times."""
    return record.comparable(), None if record.times is None else canonical(record.times.model_dump(mode="json"))


def record_from(body: str, times: str | None, path: Path) -> Record:
    """The record that `to_texts` was given. Raises StoreRefused, naming the file at `path`."""
    try:
        return Record.model_validate({**json.loads(body), "times": json.loads(times) if times else None})
    except (ValueError, TypeError) as error:
        raise StoreRefused(f"{path} holds a record that cannot be read: {_first_line(error)}") from error


def manifest_from(text: str | None, path: Path) -> Manifest:
    """The manifest kept as `text`. Raises StoreRefused, naming the file at `path`."""
    try:
        return Manifest.model_validate(json.loads(text or "null"))
    except ValueError as error:
        raise StoreRefused(f"{path} is damaged: its manifest cannot be read: {_first_line(error)}") from error


def merged(text: str | None, learned: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """What was learned of models, kept as `text`, and after it what was `learned` since: every line once, by model."""
    known: dict[str, list[str]] = json.loads(text or "{}")
    return {
        model: tuple(dict.fromkeys([*known.get(model, ()), *learned.get(model, ())]))
        for model in dict.fromkeys([*known, *learned])
    }


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}".removeprefix(": ")
    return str(error)
