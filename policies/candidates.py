"""The objects in a reply that may be its answer, and where each of them stands.

Owns what is looked at and in which order: openings from left to right, each followed by the grammar of strict JSON to
its end or to where it breaks; the search goes on from there. So the time is linear in the text, an object within
another is never offered, and neither is one that stands in an object that broke off. Judges nothing: which object is
the answer is for `policies.reply` to say.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from policies.strict_json import FLAT_LIST, FLAT_OBJECT, STRING, container_at

MAX_BROKEN = 5_000
"""Most openings of one reply that may turn out to be no complete, strict JSON."""

# Every alternative begins with a plain character: the engine then skips all others at full speed.
_OPENING = re.compile(
    rf"""{FLAT_OBJECT}()                                                    # a whole object without another in it
       | \{{ (?= [\ \t\n\r]*+ " )                                           # the start of any other object
       | \[ (?= [\ \t\n\r]*+ [\[{{] )                                       # an array that begins with one, or deeper
       | ` (?<!``) ``+ [A-Za-z]*+ [\ \t]*+ \r?\n [\ \t\n\r]*+ (?= " )       # a code fence, and a string next
    """,
    re.VERBOSE,
)
_LIST = re.compile(FLAT_LIST)
_AFTER_STRING = re.compile(r"\s*+(?:`{3}|\Z)")

_QUOTES = "\"'“”‘’«»"
_CLOSERS = "}]" + _QUOTES


class Candidate(NamedTuple):
    """One complete, strict JSON object that no other object holds."""

    raw: str
    """Its JSON text."""
    start: int
    end: int
    """Where it stands in the reply; when it is encoded twice, the string that holds it."""


class TooMuch(ValueError):
    """More openings break off than a reply may have."""


@dataclass(slots=True)
class Sighting:
    """What a search of one reply came across."""

    candidates: list[Candidate] = field(default_factory=list)
    """Left to right."""
    broken: int | None = None
    """Where the first object opens that is not complete, strict JSON."""
    broke_at: int | None = None
    """Where the last such object or array breaks; at the end of the text when the text stops within it."""
    breaks: int = 0
    """How many openings broke off."""


def look_through(text: str) -> Sighting:
    """Find every candidate in `text`.

    Raises TooDeep where objects and arrays nest deeper than `policies.strict_json.MAX_DEPTH`, and TooMuch.
    """
    seen = Sighting(_encoded_twice(text, 0))
    pos = seen.candidates[0].end if seen.candidates else 0
    while opening := _OPENING.search(text, pos):
        start, pos = opening.span()
        if opening.lastindex:
            seen.candidates.append(Candidate(text[start:pos], start, pos))
        elif text[start] == "`":
            if twice := _encoded_twice(text, pos):
                seen.candidates += twice
                pos = twice[0].end
            else:
                _note_break(seen, text, start)
        else:
            container = container_at(text, start)
            seen.candidates += [Candidate(text[begin:end], begin, end) for begin, end in container.objects]
            pos = container.end
            if not container.whole:
                _note_break(seen, text, start)
                seen.broke_at = container.end
    return seen


def lists_in(text: str, key: str) -> list[Candidate]:
    """Every plain list in `text` that begins with a string, as the object that has it under `key`; left to right."""
    return [Candidate(f"{{{json.dumps(key)}: {found[0]}}}", *found.span()) for found in _LIST.finditer(text)]


def ends_reply(text: str, candidate: Candidate) -> bool:
    """Whether nothing follows `candidate` in the reply but white space, code fences and stray closers or quotes.

    An object between quotation marks does not end the reply, nor does the last of several in an array (a comma before
    it and a `]` after it): both are more likely spoken of than meant.
    """
    before, after = text[: candidate.start], text[candidate.end :]
    quoted = before[-1:] and before[-1] in _QUOTES and after[:1] and after[0] in _QUOTES
    listed = before.rstrip().endswith(",") and after.lstrip().startswith("]")
    rest = "".join(after.split()).replace("```", "")
    return not quoted and not listed and not rest.strip(_CLOSERS)


def _note_break(seen: Sighting, text: str, start: int) -> None:
    seen.breaks += 1
    if seen.breaks > MAX_BROKEN:
        raise TooMuch
    if seen.broken is None and text[start] == "{":
        seen.broken = start


def _encoded_twice(text: str, start: int) -> list[Candidate]:
    """The object in a JSON string at `start` that holds it and nothing else and fills the reply or the code fence."""
    string = STRING.match(text, start)
    if string is None or not _AFTER_STRING.match(text, string.end()):
        return []
    inner = json.loads(string[0]).strip()
    if not inner.startswith("{"):
        return []
    container = container_at(inner, 0)
    whole = container.whole and container.end == len(inner)
    return [Candidate(inner, start, string.end())] if whole else []
