"""Where a JSON object or array that opens inside a longer text ends, or where it breaks.

Owns the grammar of strict JSON (RFC 8259: no NaN, no control characters in strings, no comments, no trailing commas)
as far as finding ends goes. Decodes nothing and knows nothing of answers.

The standard decoder is not used for this step, for three reasons: an error costs it time in proportion to the whole
text, so that ten thousand broken openings take minutes; how deep it can go differs between versions of Python and with
the depth of the caller; and it reports an error inside a string, where resuming would read quoted text as an answer.
Here the work is linear in the text, the depth has a stated cap, and a break is never reported inside a string.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

MAX_DEPTH = 64
"""Most objects and arrays that may be open at once."""

# Groups repeat without backtracking where that works: it is several times faster on a long array. Before Python 3.11.5
# such a repeat could end in the middle of an item that did not match; there the plain one does the same, slower.
_SOUND = re.fullmatch("(?:ab?c)*+", "a") is None
_MANY, _MAYBE = ("*+", "?+") if _SOUND else ("*", "?")

_WS = r"[ \t\n\r]*+"
_STRING = rf'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}})[^"\\\x00-\x1f]*+){_MANY}"'
# A string as far as its closing quote, whether or not its content is strict, or the rest of the text when unclosed.
_LOOSE_STRING = rf'"[^"\\]*+(?:\\[\s\S][^"\\]*+){_MANY}(?:"|\\?\Z)'
_NUMBER = rf"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++){_MAYBE}(?:[eE][-+]?[0-9]++){_MAYBE}"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_LOOSE_SCALAR = rf"(?:{_LOOSE_STRING}|{_NUMBER}|true|false|null)"

STRING = re.compile(_STRING)
"""One strict JSON string, quotes included."""

FLAT_OBJECT = rf'\{{{_WS}(?:{_STRING}{_WS}:{_WS}{_SCALAR}{_WS}(?:,{_WS}(?=")|(?=\}}))){_MANY}\}}'
"""Pattern of a complete object that holds no other object and no array: the usual answer, found in one step."""

FLAT_LIST = rf"\[{_WS}{_STRING}(?:{_WS},{_WS}{_SCALAR}){_MANY}{_WS}\]"
"""Pattern of a complete array that begins with a string and holds no object and no other array."""


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
