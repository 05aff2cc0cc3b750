"""What is wrong with a config file, gathered into one list of lines.

Owns where a problem stands: file, line and dotted path. Knows no key of a ladder config; the sections it checks values
against are handed in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from weigh.games.values import quote
from weigh.harness.errors import ConfigError
from weigh.harness.words import as_written, did_you_mean, in_words

KeyPath = tuple[str, ...]
"""The keys from the top of the file down to a value."""


class Section(BaseModel):
    """A table of the file: immutable, strict about types, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    retired: ClassVar[Mapping[str, str]] = {}
    """Keys that have another name now, with it."""


AnySection = TypeVar("AnySection", bound=BaseModel)


class Problems:
    """Collects what is wrong with one file."""

    def __init__(self, source: str, text: str, overridden: Iterable[KeyPath] = ()) -> None:
        """`source` is how the person called the file; `overridden` are paths whose value came from the command line."""
        self._source = source
        self._lines = line_numbers(text)
        self._overridden = frozenset(overridden)
        self._found: list[tuple[int, str]] = []
        """Line, 0 for none, and text."""

    def add(self, path: KeyPath, message: str) -> None:
        """Note a problem with the value at `path`."""
        if path in self._overridden:
            self._found.append((0, f"command line: {dotted(path)}: {message}"))
            return
        line = next((self._lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._lines), 0)
        place = f"{self._source}:{line}" if line else self._source
        self._found.append((line, f"{place}: {dotted(path)}: {message}" if path else f"{place}: {message}"))

    def check(self, section: type[AnySection], value: object, path: KeyPath) -> AnySection | None:
        """`value` as a `section`, or None after every problem with it was noted."""
        if not isinstance(value, dict):
            self.tables(value, path)
            return None
        try:
            return section.model_validate(value, strict=True)
        except ValidationError as error:
            for details in error.errors(include_url=False, include_context=True):
                if details["type"] == "default_factory_not_called":
                    continue  # follows from a problem with another field, which is in the list
                self.add((*path, *map(str, details["loc"])), in_words(details, section))
            return None

    def head(
        self, section: type[AnySection], document: Mapping[str, object], tables: Collection[str]
    ) -> AnySection | None:
        """The keys above every table as a `section`; `tables` are the other keys that a file may have."""
        known = (*section.model_fields, *tables)
        for key in document:
            if key not in known:
                self.unknown((), key, known)
        return self.check(section, {key: document[key] for key in section.model_fields if key in document}, ())

    def tables(self, value: object, path: KeyPath) -> dict[str, Any]:
        """The entries of the table at `path`; none, once the problem is noted, of what is no table."""
        if isinstance(value, dict):
            return value
        self.add(path, f"must be a table, not {as_written(value)}")
        return {}

    def unknown(self, path: KeyPath, key: str, known: Iterable[str], kind: str = "key") -> None:
        """Note a key that means nothing; `kind` says what a key is here."""
        self.add((*path, key), f"unknown {kind}{did_you_mean(key, known)}")

    def raise_if_any(self) -> None:
        """Raise ConfigError with everything noted so far, in the order of the file."""
        if self._found:
            ordered = sorted(self._found, key=lambda problem: problem[0])
            raise ConfigError(*dict.fromkeys(text for _, text in ordered))


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
    """The keys of a dotted name; the text itself where it only looks like one."""
    try:
        table = tomllib.loads(f"[{text}]")
    except tomllib.TOMLDecodeError:
        return (text,)
    keys: list[str] = []
    while table:
        ((key, table),) = table.items()
        keys.append(key)
    return tuple(keys)
