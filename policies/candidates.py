"""The objects in a reply that may be its answer, and where each of them stands.

Owns what is looked at and in which order: openings from left to right, each followed by the grammar of strict JSON to
its end or to where it breaks; the search goes on from there. So the time is linear in the text, an object within
another is never offered, and neither is one that stands in an object that broke off. Judges nothing: which object is
the answer is for `policies.reply` to say.

The grammar is that of RFC 8259 (no NaN, no control characters in strings, no comments, no trailing commas), as far as
finding ends goes. The standard decoder is not used for this step, for three reasons: an error costs it time in
proportion to the whole text, so that ten thousand broken openings take minutes; how deep it can go differs between
versions of Python and with the depth of the caller; and it reports an error inside a string, where resuming would read
quoted text as an answer. Here the work is linear, the depth has a stated cap, and a break is never reported inside a
string. In one thing it is wider than the RFC: between tokens, spaces that do not break and spaces without width are
white space too, for models write them and nobody sees them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

MAX_BROKEN = 5_000
"""Most openings of one reply that may turn out to be no complete, strict JSON."""

MAX_DEPTH = 64
"""Most objects and arrays that may be open at once."""

# Groups repeat without backtracking where that works: it is several times faster on a long array. Before Python 3.11.5
# such a repeat could end in the middle of an item that did not match; there the plain one does the same, slower.
_SOUND = re.fullmatch("(?:ab?c)*+", "a") is None
_MANY, _MAYBE = ("*+", "?+") if _SOUND else ("*", "?")

ODD_SPACES = "\u00a0\u180e\u2000-\u200f\u202f\u205f\u2060\u3000\ufeff"
"""As a character class of a pattern: white space that JSON does not know, without a width, unbroken or wide."""

_WS = rf"[ \t\n\r{ODD_SPACES}]*+"
_STRING = rf'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}})[^"\\\x00-\x1f]*+){_MANY}"'
# A string as far as its closing quote, whether or not its content is strict, or the rest of the text when unclosed.
_LOOSE_STRING = rf'"[^"\\]*+(?:\\[\s\S][^"\\]*+){_MANY}(?:"|\\?\Z)'
_NUMBER = rf"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++){_MAYBE}(?:[eE][-+]?[0-9]++){_MAYBE}"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_LOOSE_SCALAR = rf"(?:{_LOOSE_STRING}|{_NUMBER}|true|false|null)"

FLAT_OBJECT = rf'\{{{_WS}(?:{_STRING}{_WS}:{_WS}{_SCALAR}{_WS}(?:,{_WS}(?=")|(?=\}}))){_MANY}\}}'
"""Pattern of a complete object that holds no other object and no array: the usual answer, found in one step."""

_FLAT_LIST = rf"\[{_WS}{_STRING}(?:{_WS},{_WS}{_SCALAR}){_MANY}{_WS}\]"
"""Pattern of a complete array that begins with a string and holds no object and no other array."""

# Every alternative begins with a plain character: the engine then skips all others at full speed.
_OPENING = re.compile(
    rf"""{FLAT_OBJECT}()                                                    # a whole object without another in it
       | \{{ (?= {_WS} " )                                                     # the start of any other object
       | \[ (?= {_WS} [\[{{] )                                                # an array that begins with one, or deeper
       | ` (?<!``) ``+ [A-Za-z]*+ [\ \t]*+ \r?\n {_WS} (?= " )                 # a code fence, and a string next
    """,
    re.VERBOSE,
)
_LIST = re.compile(_FLAT_LIST)
STRING = re.compile(_STRING)
"""One strict JSON string, quotes included."""

_OUTSIDE = re.compile(rf"({_STRING})|[{ODD_SPACES}]+")
_ENCODED_TWICE = re.compile(rf"{_WS}({_STRING})[\s{ODD_SPACES}]*+(?:`{{3}}|\Z)")
_BLANK = re.compile(rf"[\s{ODD_SPACES}]*+")

_TURN_MARK = r"<[|｜][^<>|｜\s]{1,40}[|｜]>|\[\|\w{1,40}\|\]|<(?:/s|eos|eot|end_of_turn|turn\|)>"
"""Pattern of what a chat template puts between turns, and around some answers: no words of the model."""

_QUOTES = "\"'“”‘’«»"
_NO_MEANING = rf"[\s{ODD_SPACES}]|{_TURN_MARK}"
_NOTHING = re.compile(rf"(?:{_NO_MEANING}){_MANY}\Z", re.IGNORECASE)
_ENDING = re.compile(
    rf"""(?:[}}\]{_QUOTES}]|[`*_$]|~{{3,}}+|-{{3,}}+|={{3,}}+               # closers; fences, ticks, emphasis, rules
       |</(?:final_?)?(?:answer|final|response|output)>
       |{_NO_MEANING}){_MANY}\Z
    """,
    re.IGNORECASE | re.VERBOSE,
)


class Candidate(NamedTuple):
    """One complete, strict JSON object that no other object holds."""

    raw: str
    """Its JSON text, strict: without odd spaces between tokens."""
    start: int
    end: int
    """Where it stands in the reply; when it is encoded twice, the string that holds it."""


class TooMuch(ValueError):
    """More openings break off than a reply may have."""


@dataclass(slots=True)
class Search:
    """What a search of one reply came across."""

    candidates: list[Candidate] = field(default_factory=list)
    """Left to right."""
    broken: int | None = None
    """Where the first object opens that is not complete, strict JSON."""
    broke_at: int | None = None
    """Where the last such object or array breaks; at the end of the text when the text stops within it."""
    breaks: int = 0
    """How many openings broke off."""


def look_through(text: str) -> Search:
    """Find every candidate in `text`.

    Raises TooDeep where objects and arrays nest deeper than MAX_DEPTH, and TooMuch.
    """
    search = Search(_encoded_twice(text, 0))
    pos = search.candidates[0].end if search.candidates else 0
    while opening := _OPENING.search(text, pos):
        start, pos = opening.span()
        if opening.lastindex:
            search.candidates.append(Candidate(_strict(text[start:pos]), start, pos))
        elif text[start] == "`":
            if twice := _encoded_twice(text, pos):
                search.candidates += twice
                pos = twice[0].end
            else:
                _note_break(search, text, start)
        else:
            container = container_at(text, start)
            search.candidates += [Candidate(_strict(text[begin:end]), begin, end) for begin, end in container.objects]
            pos = container.end
            if not container.whole:
                _note_break(search, text, start)
                search.broke_at = container.end
    return search


def lists_in(text: str, key: str) -> list[Candidate]:
    """Every plain list in `text` that begins with a string, as the object that has it under `key`; left to right."""
    return [Candidate(f"{{{json.dumps(key)}: {_strict(found[0])}}}", *found.span()) for found in _LIST.finditer(text)]


def says_nothing(text: str) -> bool:
    """Whether there is nothing in `text` but white space of any kind and marks of chat templates."""
    return _NOTHING.match(text) is not None


def ends_reply(text: str, candidate: Candidate) -> bool:
    """Whether nothing with a meaning follows `candidate` in the reply.

    White space of any kind means nothing, nor do code fences and ticks, emphasis, `$$`, rules, `</answer>`, the marks
    with which chat templates end a turn, and stray closers or quotes.

    An object between quotation marks does not end the reply, nor does the last of several in an array (a comma before
    it and a `]` after it): both are more likely spoken of than meant.
    """
    before, after = text[: candidate.start], text[candidate.end :]
    quoted = before[-1:] and before[-1] in _QUOTES and after[:1] and after[0] in _QUOTES
    listed = before.rstrip().endswith(",") and after.lstrip().startswith("]")
    return not quoted and not listed and _ENDING.match(after) is not None


def _strict(raw: str) -> str:
    """JSON text with a plain space for odd ones between its tokens; strings stay as they are."""
    return raw if raw.isascii() else _OUTSIDE.sub(lambda found: found[1] or " ", raw)


def _note_break(search: Search, text: str, start: int) -> None:
    search.breaks += 1
    if search.breaks > MAX_BROKEN:
        raise TooMuch
    if search.broken is None and text[start] == "{":
        search.broken = start


def _encoded_twice(text: str, start: int) -> list[Candidate]:
    """The object in a JSON string at `start` that holds it and nothing else and fills the reply or the code fence."""
    string = _ENCODED_TWICE.match(text, start)
    if string is None:
        return []
    inner: str = json.loads(string[1])
    begin = inner.find("{")
    if begin < 0 or not _BLANK.fullmatch(inner, 0, begin):
        return []
    container = container_at(inner, begin)
    whole = container.whole and _BLANK.fullmatch(inner, container.end)
    return [Candidate(_strict(inner[begin : container.end]), *string.span(1))] if whole else []


class _Grammar(NamedTuple):
    """How one kind of container goes on. In each pattern groups 1 and 2 are its end, group 3 a container within."""

    opened: re.Pattern[str]
    """From just after its opening bracket."""
    resumed: re.Pattern[str]
    """From just after a container within it."""
    broken: re.Pattern[str]
    """Over the tokens of the member that did not go on as it should."""


def _grammar(closer: str, key: str, broken: str) -> _Grammar:
    # A run of plain members is one match: the Python below takes a step per bracket, not per token.
    run = rf"(?:{key}{_SCALAR}{_WS},{_WS}){_MANY}(?:{key}(?:{_SCALAR}{_WS}({closer})|([\[{{])))?"
    return _Grammar(
        opened=re.compile(rf"{_WS}(?:({closer})|{run})"),
        resumed=re.compile(rf"{_WS}(?:({closer})|,{_WS}{run})?"),
        broken=re.compile(broken),
    )


_GRAMMARS = {
    "{": _grammar(r"\}", rf"{_STRING}{_WS}:{_WS}", rf"(?:{_LOOSE_STRING}(?:{_WS}:{_WS}{_LOOSE_SCALAR}?)?)?"),
    "[": _grammar(r"\]", "", rf"{_LOOSE_SCALAR}?"),
}

Span: TypeAlias = tuple[int, int]
"""Start and end of a piece of text, the end excluded."""


class TooDeep(ValueError):
    """More than MAX_DEPTH objects and arrays are open at once."""


class Container(NamedTuple):
    """What opens at one place."""

    whole: bool
    """Whether it is complete, strict JSON."""
    end: int
    """Just after it; or, when it is not whole, just after the last token before the break. Always past its opening."""
    objects: list[Span]
    """The complete objects it consists of: itself when it is one; those that stand in an array, or in arrays in it.
    An object within an object is never among them. A broken array has those that were complete before the break."""


def container_at(text: str, start: int) -> Container:
    """Follow the object or array that opens at `start`, where `text` has one of `{` and `[`. Raises TooDeep."""
    objects: list[Span] = []
    stack: list[str] = []
    arrays = 0  # how many of the stack's first entries are arrays
    outermost = start  # where the outermost open object begins
    pos = start
    while True:
        if text[pos] == "{" and len(stack) == arrays:
            outermost = pos
        elif text[pos] == "[" and len(stack) == arrays:
            arrays += 1
        stack.append(text[pos])
        if len(stack) > MAX_DEPTH:
            raise TooDeep
        match = _GRAMMARS[text[pos]].opened.match(text, pos + 1)
        while match is not None and match.lastindex in (1, 2):
            stack.pop()
            if len(stack) < arrays:
                arrays -= 1
            elif len(stack) == arrays:
                objects.append((outermost, match.end()))
            if not stack:
                return Container(True, match.end(), objects)
            match = _GRAMMARS[stack[-1]].resumed.match(text, match.end())
        if match is None:
            raise RuntimeError("every pattern of the grammar matches at every place, if only nothing")
        if match.lastindex is None:
            broken = _GRAMMARS[stack[-1]].broken.match(text, match.end())
            return Container(False, broken.end() if broken else match.end(), objects)
        pos = match.end() - 1
