"""How a set of legal moves is written on one line of a prompt, and read back from that line.

    line   = list | lists | forms
    list   = item ", " item ...                1, 2, 5, 9      "pass", 4 to 999      {"direction": "stay"}
    lists  = name " " list "; " ...            scale A, B; side left, right; weight 1, 3
    forms  = form "; or " form ...             ["place", weight, scale] with weight 1, 3; scale 0, 1
    item   = FIRST " to " LAST (whole numbers, both included) | JSON value | word
    bound  = value " (" name " " list "), " ...     1 (modify 0 to 2), 3 (modify -2 to 2)

A list of `lists` may be a bound one: with each of its values go those of the other name in brackets, and no others.

Of `lists` every combination is legal; a form is a list that begins with its word, with one value of each named list
after it. The games write such lines (`Legal.describe`; a list by `games.values.commas`), the mock server plays from
them. Knows no game.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import Any

_RUN = re.compile(r"(-?\d{1,9}) to (-?\d{1,9})", re.ASCII)
_WORD = re.compile(r"[A-Za-z][\w-]{0,30}")
_BOUND = re.compile(r"([\w-]+) \((\w+) ([^()]+)\)", re.ASCII)
_FORM = re.compile(r'\["([A-Za-z][\w-]{0,30})", (\w+(?:, \w+)*)\] with (.+)')
_DECODER = json.JSONDecoder()
_MOST_LISTS = 100_000
"""The most moves of one form that are read."""


def run(values: Sequence[int]) -> str:
    """`4 to 999`: an unbroken run by its ends; a single value by itself."""
    first, last = values[0], values[-1]
    return f"{first} to {last}" if first < last else str(first)


def lists(by_name: Mapping[str, str]) -> str:
    """`scale A, B; weight 1, 3`, of lists that are written already."""
    return "; ".join(f"{name} {values}" for name, values in by_name.items())


def bound(value: object, name: str, values: str) -> str:
    """`1 (modify 0 to 2)`: a value in a list, with the list of what may go with it."""
    return f"{value} ({name} {values})"


def forms(by_word: Mapping[str, Mapping[str, str]]) -> str:
    """`["place", weight, scale] with weight 1, 3; scale 0, 1; or ["challenge", number] with number 3`."""
    return "; or ".join(f'["{word}", {", ".join(by_name)}] with {lists(by_name)}' for word, by_name in by_word.items())


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves that a list or forms stand for, in the order in which they stand, without writing out long runs."""

    runs: tuple[Sequence[Any], ...]

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.runs)

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def __getitem__(self, index: int) -> Any:
        for values in self.runs:
            if index < len(values):
                return values[index]
            index -= len(values)
        raise IndexError(index)


def read(line: str, names: Collection[str]) -> Moves | dict[str, Moves] | None:
    """What a line says: moves, or by name what may stand there, for two or more of `names`.

    What a bound list says stands as objects of both names, `{"weight": 1, "modify": 0}`. None for a line that says
    anything else; nothing is guessed at.
    """
    text = line.strip().rstrip(".;")
    by_name = _read_lists(text, names)
    if by_name is not None and len(by_name) > 1 and by_name.keys() <= set(names):
        return by_name
    return _read_forms(text) or _read_list(text)


def _read_list(text: str) -> Moves | None:
    runs: list[Sequence[Any]] = []
    end = 0
    while True:
        if match := _RUN.match(text, end):
            values: Sequence[Any] = range(int(match[1]), int(match[2]) + 1)
            end = match.end()
        elif match := _WORD.match(text, end):
            values, end = (match[0],), match.end()
        else:
            try:
                value, end = _DECODER.raw_decode(text, end)
            except (ValueError, RecursionError):
                return None
            values = (value,)
        if not values:
            return None
        runs.append(values)
        if end == len(text):
            return Moves(tuple(runs))
        if not text.startswith(", ", end):
            return None
        end += 2


def _read_lists(text: str, names: Collection[str] = ()) -> dict[str, Moves] | None:
    found: dict[str, Moves] = {}
    for part in text.split("; "):
        name, _, values = part.partition(" ")
        moves = _read_bound(name, values, names) if values.endswith(")") else _read_list(values)
        if moves is None or name in found:
            return None
        found[name] = moves
    return found


def _read_bound(name: str, text: str, names: Collection[str]) -> Moves | None:
    found: list[Sequence[Any]] = []
    for item in text.split("), "):
        match = _BOUND.fullmatch(item.removesuffix(")") + ")")
        value, others = (_read_list(match[1]), _read_list(match[3])) if match else (None, None)
        if match is None or match[2] not in names or value is None or others is None or len(others) > _MOST_LISTS:
            return None
        found.append([{name: value[0], match[2]: other} for other in others])
    return Moves(tuple(found))


def _read_forms(text: str) -> Moves | None:
    found: list[Sequence[Any]] = []
    for part in text.split("; or "):
        match = _FORM.fullmatch(part)
        by_name = _read_lists(match[3]) if match else None
        if match is None or by_name is None or list(by_name) != match[2].split(", "):
            return None
        if prod(map(len, by_name.values())) > _MOST_LISTS:
            return None
        found.append([[match[1], *values] for values in product(*by_name.values())])
    return Moves(tuple(found))
