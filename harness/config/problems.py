"""What is wrong with a config file, gathered into one list of lines.

Owns how a problem reads: file, line, dotted path, the value found, the bound, the nearest known key. Knows no key of a
ladder config; the sections it checks values against are handed in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from weigh.games.values import quote
from weigh.harness.errors import ConfigError
from weigh.harness.words import did_you_mean

KeyPath = tuple[str, ...]
"""The keys from the top of the file down to a value."""


class Section(BaseModel):
    """A table of the file: immutable, strict about types, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


AnySection = TypeVar("AnySection", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class _Problem:
    line: int | None
    text: str


class Problems:
    """Collects what is wrong with one file."""

    def __init__(self, source: str, text: str, overridden: Iterable[KeyPath] = ()) -> None:
        """`source` is how the person called the file; `overridden` are paths whose value came from the command line."""
        self._source = source
        self._lines = line_numbers(text)
        self._overridden = frozenset(overridden)
        self._found: list[_Problem] = []

    def add(self, path: KeyPath, message: str) -> None:
        """Note a problem with the value at `path`."""
        if path in self._overridden:
            self._found.append(_Problem(None, f"command line: {dotted(path)}: {message}"))
            return
        line = next((self._lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._lines), None)
        place = self._source if line is None else f"{self._source}:{line}"
        self._found.append(_Problem(line, f"{place}: {dotted(path)}: {message}" if path else f"{place}: {message}"))

    def check(self, section: type[AnySection], value: object, path: KeyPath) -> AnySection | None:
        """`value` as a `section`, or None after every problem with it was noted."""
        if not isinstance(value, dict):
            self.add(path, f"must be a table, not {said(value)}")
            return None
        try:
            return section.model_validate(value, strict=True)
        except ValidationError as error:
            for details in error.errors(include_url=False, include_context=True):
                if details["type"] == "default_factory_not_called":
                    continue  # follows from a problem with another field, which is in the list
                self.add((*path, *map(str, details["loc"])), in_words(details, section))
            return None

    def unknown(self, path: KeyPath, key: str, known: Iterable[str], kind: str = "key") -> None:
        """Note a key that means nothing; `kind` says what a key is here."""
        self.add((*path, key), f"unknown {kind}{did_you_mean(key, known)}")

    def raise_if_any(self) -> None:
        """Raise ConfigError with everything noted so far, in the order of the file."""
        if self._found:
            ordered = sorted(self._found, key=lambda problem: problem.line or 0)
            raise ConfigError(*dict.fromkeys(problem.text for problem in ordered))


def in_words(details: ErrorDetails, section: type[BaseModel]) -> str:
    """One pydantic error as a person would say it."""
    kind, value, bounds = details["type"], details["input"], details.get("ctx", {})
    match kind:
        case "extra_forbidden":
            return f"unknown key{did_you_mean(str(details['loc'][-1]), _table_of(details, section).model_fields)}"
        case "missing":
            field = _table_of(details, section).model_fields.get(str(details["loc"][-1]))
            return f"missing: {field.description}" if field is not None and field.description else "missing"
        case "int_type" | "int_from_float":
            return f"must be a whole number, not {said(value)}"
        case "float_type":
            return f"must be a number, not {said(value)}"
        case "finite_number":
            return f"must be a finite number, not {said(value)}"
        case "string_type":
            remedy = "; put it in quotes" if isinstance(value, int | float | date | time) else ""
            return f"must be text, not {said(value)}{remedy}"
        case "bool_type":
            return f"must be true or false, not {said(value)}"
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"must be a table, not {said(value)}"
        case "greater_than_equal":
            return f"must be at least {bounds['ge']}, not {said(value)}"
        case "greater_than":
            return f"must be above {bounds['gt']}, not {said(value)}"
        case "less_than_equal":
            return f"must be at most {bounds['le']}, not {said(value)}"
        case "less_than":
            return f"must be below {bounds['lt']}, not {said(value)}"
        case "literal_error":
            known = [word.strip("' ") for word in re.split(r",| or ", str(bounds["expected"]))]
            near = did_you_mean(value, known) if isinstance(value, str) else f"; known: {', '.join(known)}"
            return f"{said(value)} is no choice{near}"
        case "value_error":
            return str(bounds["error"]).removeprefix("it ") + (
                f", not {said(value)}" if isinstance(value, int | float) else ""
            )
        case _:
            return f"{details['msg'][:1].lower()}{details['msg'][1:]}, not {said(value)}"


def _table_of(details: ErrorDetails, section: type[BaseModel]) -> type[BaseModel]:
    """The section, below `section`, that the last key of an error's path belongs to."""
    for key in details["loc"][:-1]:
        field = section.model_fields.get(str(key))
        kinds = (field.annotation, *get_args(field.annotation)) if field is not None else ()
        section = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), section)
    return section


def said(value: object) -> str:
    """A TOML value in a message: its kind where the text alone would mislead."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return quote(value) if isinstance(value, int) else repr(value)
        case str():
            return f"the text {quote(value)}"
        case Mapping():
            return "a table"
        case list():
            return f"the list {quote(value)}"
        case datetime() | date() | time():
            return f"the date or time {value.isoformat()}"
        case _:
            return quote(value)


def dotted(path: KeyPath) -> str:
    """A path as it would be written in TOML."""
    return ".".join(key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quote(key) for key in path)


_KEY = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_PAIR = re.compile(rf"\s*({_DOTTED})\s*=")


def line_numbers(text: str) -> Mapping[KeyPath, int]:
    """The line, from 1, on which each key of a TOML text stands.

    tomllib keeps no positions, so the lines are looked through for headers and keys. Good enough to point at a line:
    keys inside an inline table are found at the table's own line.
    """
    found: dict[KeyPath, int] = {}
    header: KeyPath = ()
    closing: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if closing is not None:  # inside a text of several lines
            closing = None if closing in line else closing
            continue
        if match := _HEADER.match(line):
            header = _keys(match[1])
            found.setdefault(header, number)
        elif match := _PAIR.match(line):
            keys = _keys(match[1])
            for depth in range(1, len(keys) + 1):
                found.setdefault((*header, *keys[:depth]), number)
            closing = next((quotes for quotes in ('"""', "'''") if line.count(quotes) == 1), None)
    return found


def _keys(text: str) -> KeyPath:
    keys = re.findall(_KEY, text)
    return tuple(_bare(key) for key in keys)


def _bare(key: str) -> str:
    if key[0] not in "\"'":
        return key
    try:
        parsed: dict[str, Any] = tomllib.loads(f"key = {key}")
    except tomllib.TOMLDecodeError:
        return key[1:-1]
    return str(parsed["key"])
