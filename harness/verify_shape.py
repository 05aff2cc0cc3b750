"""Whether something is a record at all: JSON, every field there, none unknown, of the version read here.

Owns the step from a document of unknown origin to a `Record`. Runs no rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import ValidationError

from harness.record import SCHEMA, Record
from harness.verify_findings import NOTHING, Finding, compare, show

DEEPEST: Final = 100
"""Levels of nesting; no record of ours comes near it."""


def as_record(data: object) -> Record | list[Finding]:
    """The record that `data` is, or why it is none."""
    if isinstance(data, Record):
        data = data.model_dump(mode="json")
    if not isinstance(data, Mapping):
        return [Finding("the record", "is not a JSON object", show(data))]
    try:
        if odd := list(_not_json(data, "", 0)):
            return odd
        if data.get("schema_version", SCHEMA) != SCHEMA or isinstance(data.get("schema_version"), bool):
            return [
                Finding("schema_version", "is not of this weighhouse", show(data["schema_version"]), show(SCHEMA)),
            ]
        record = Record.model_validate(data)
    except ValidationError as error:
        return [_finding(detail["type"], detail["loc"], detail["msg"], detail["input"]) for detail in error.errors()]
    # A field with a default may be left out and pass; but then the document does not say all that it should.
    complete = record.model_dump(mode="json", exclude={"times"})
    given = {key: value for key, value in data.items() if key != "times"}
    missing = [
        Finding(found.where.removeprefix("."), found.what, found.recorded, found.derived)
        for found in compare("", given, complete)
    ]
    return missing or record


def _finding(kind: str, place: tuple[int | str, ...], message: str, value: object) -> Finding:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    if kind == "extra_forbidden":
        return Finding(where, "is no field of a record", show(value))
    if kind == "missing":
        return Finding(where, "is missing")
    return Finding(where, f"is wrong ({message.replace('Input should', 'it should')})", show(value))


def _not_json(value: object, where: str, depth: int) -> Iterator[Finding]:
    place = where.removeprefix(".") or "the record"
    if depth > DEEPEST:
        yield Finding(place, f"is nested deeper than {DEEPEST} levels")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                yield Finding(place, "has a key that is not a text", NOTHING)
            else:
                yield from _not_json(item, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _not_json(item, f"{where}[{index}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Finding(place, f"is no number of JSON: {value}")
    elif value is not None and not isinstance(value, str | int | float | bool):
        yield Finding(place, f"is no JSON value: {type(value).__name__}")
