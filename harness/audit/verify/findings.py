"""What a check found, and how two JSON values are compared place by place.

Owns the words for a difference. Knows neither records nor rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from weigh.policies.contract import canonical

SHOWN: Final = 100
"""The most characters of one value that a finding shows."""
NOTHING: Final = "nothing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be. As text, one line."""

    where: str
    """The place in the record, e.g. `events[12].margin`, `moves[3][1]`; `calls` for what the run keeps beside it."""
    what: str
    """What is wrong there, as the end of a sentence that begins with the place."""
    recorded: str = NOTHING
    """What stands there, as JSON, cut where it is long."""
    derived: str = NOTHING
    """What should stand there by the rules or by the evidence, where that can be said."""
    episode: str = ""
    """The key of the record, where several are checked."""

    def __str__(self) -> str:
        place = f"{self.episode}: {self.where}" if self.episode else self.where
        if self.recorded == self.derived == NOTHING:
            return f"{place} {self.what}"
        return f"{place} {self.what}: {self.recorded} in the record, {self.derived} derived"

    def to_json(self) -> dict[str, str]:
        return {
            "episode": self.episode,
            "where": self.where,
            "what": self.what,
            "recorded": self.recorded,
            "derived": self.derived,
        }


def show(value: object) -> str:
    """A value as JSON, cut where it is long."""
    try:
        text = canonical(value)
    except (TypeError, ValueError, RecursionError):
        text = ascii(type(value).__name__)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def agree(recorded: object, derived: object) -> bool:
    """Whether a recorded JSON value is the derived one.

    A whole number may stand for an equal float, as some writers of JSON drop `.0`; `7.0` or `true` for 7 may not.
    """
    if isinstance(derived, float):
        return type(recorded) in (int, float) and recorded == derived
    if isinstance(derived, Mapping):
        return (
            isinstance(recorded, Mapping)
            and recorded.keys() == derived.keys()
            and all(agree(recorded[key], value) for key, value in derived.items())
        )
    if isinstance(derived, list | tuple):
        return (
            isinstance(recorded, list | tuple)
            and len(recorded) == len(derived)
            and all(agree(one, other) for one, other in zip(recorded, derived, strict=True))
        )
    return type(recorded) is type(derived) and recorded == derived


def compare(where: str, recorded: object, derived: object) -> Iterator[Finding]:
    """A finding for each place below `where` in which the two differ."""
    if agree(recorded, derived):
        return
    if isinstance(recorded, Mapping) and isinstance(derived, Mapping):
        for key in derived:
            if key not in recorded:
                yield Finding(f"{where}.{key}", "is missing", NOTHING, show(derived[key]))
            else:
                yield from compare(f"{where}.{key}", recorded[key], derived[key])
        for key in recorded:
            if key not in derived:
                yield Finding(f"{where}.{key}", "should not be there", show(recorded[key]))
    elif isinstance(recorded, list | tuple) and isinstance(derived, list | tuple) and len(recorded) == len(derived):
        for index, (one, other) in enumerate(zip(recorded, derived, strict=True)):
            yield from compare(f"{where}[{index}]", one, other)
    else:
        yield Finding(where, "does not follow from the moves", show(recorded), show(derived))


def compare_events(
    recorded: Sequence[Mapping[str, object]], derived: Sequence[Mapping[str, object]]
) -> Iterator[Finding]:
    """Events that are missing, too many, out of order or altered, each by its index in the record."""
    start = _same(recorded, derived)
    end = _same(recorded[start:][::-1], derived[start:][::-1])
    ours, theirs = recorded[start : len(recorded) - end], derived[start : len(derived) - end]
    if len(ours) == len(theirs) > 1 and Counter(map(canonical, ours)) == Counter(map(canonical, theirs)):
        yield Finding(f"events[{start}]", "is out of order", show(ours[0]), show(theirs[0]))
    elif len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True), start):
            if one.get("type") == other["type"]:
                yield from compare(f"events[{index}]", one, other)
            else:
                yield Finding(f"events[{index}]", "did not happen here", show(one), show(other))
    elif not ours:
        for index, event in enumerate(theirs, start):
            yield Finding(f"events[{index}]", "is missing", NOTHING, show(event))
    elif not theirs:
        for index, event in enumerate(ours, start):
            yield Finding(f"events[{index}]", "did not happen", show(event))
    else:
        for index, (mine, other_one) in enumerate(zip_longest(ours, theirs), start):
            if mine is None or other_one is None or not agree(mine, other_one):
                yield Finding(f"events[{index}]", "did not happen here", _or_nothing(mine), _or_nothing(other_one))


def _same(recorded: Sequence[Mapping[str, object]], derived: Sequence[Mapping[str, object]]) -> int:
    """How many events from the first on agree."""
    count = 0
    for one, other in zip(recorded, derived, strict=False):
        if not agree(one, other):
            break
        count += 1
    return count


def _or_nothing(value: object) -> str:
    return NOTHING if value is None else show(value)
