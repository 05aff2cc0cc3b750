r"""Where two texts of a prompt differ, by lines or by words, with nothing hidden in it.

Owns the difference of two texts, and how a character that the eye cannot tell is written in it. Knows no prompt files,
no games and no terminal. Unlike `policies.show`, which makes any text harmless, this is about telling two texts apart:

- Blanks at the end of a line, and blanks that are no plain space, are written as escapes (`\x20`, `\t`, `\u00a0`), as
  is everything that `policies.show` holds for unsafe.
- So are letters of other scripts that look like ASCII letters, in a word that has ASCII letters too.
- Where what went and what came look alike (typographic quotes and dashes, composed and decomposed letters, a word of
  lookalikes), every character beyond ASCII is.
- Where the two would still be written alike, both stand as JSON strings.

So two lines that differ never look the same.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from weigh.policies.show import escaped

Kind: TypeAlias = Literal["same", "gone", "new", "place"]
"""In both texts; only in the first; only in the second; or a line that says where the following stands."""

CONTEXT = 3
"""Lines shown around a change."""

MANY = 3_000
"""Pieces of a text beyond which those that come very often are not used to find what is equal: it would take minutes on
texts that repeat one word."""

_PAIRS = (
    "a\u0430\u0251 c\u0441\u03f2 d\u0501 e\u0435 h\u04bb i\u0456\u0131\u03b9 j\u0458 l\u04cf "
    "o\u043e\u03bf\u0585 p\u0440\u03c1 q\u051b s\u0455 u\u03c5\u057d v\u03bd\u0475 w\u051d x\u0445 "
    "y\u0443 A\u0410\u0391 B\u0412\u0392 C\u0421 E\u0415\u0395 H\u041d\u0397 I\u0406\u0399\u04c0 "
    "J\u0408 K\u041a\u039a M\u041c\u039c N\u039d O\u041e\u039f P\u0420\u03a1 S\u0405 T\u0422\u03a4 "
    "X\u0425\u03a7 Y\u03a5\u04ae Z\u0396"
)
_LETTERS = {word[0]: word[1:] for word in _PAIRS.split()}
"""ASCII letters, and Cyrillic, Greek, Armenian and Latin ones that most fonts draw alike."""

_SIGNS = {
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    "'": "\u2018\u2019\u201a\u201b\u02bc\u2032",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "/": "\u2044\u2215",
    ":": "\u2236\ua789",
    "*": "\u2217",
    "x": "\u00d7",
    "`": "\u02cb",
    "|": "\u2223\u01c0",
}
_ALIKE = {ord(other): ascii_ for ascii_, others in [*_LETTERS.items(), *_SIGNS.items()] for other in others}
_LOOKALIKE = re.compile(f"[{''.join(_LETTERS.values())}\uff01-\uff5e]")
_MIXED = re.compile(r"\S*[A-Za-z]\S*")
_ODD_BLANK = re.compile("[\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_TRAILING = re.compile(r" +$")
_BEYOND = re.compile(r"[^\x20-\x7e]")
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|t)")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"[^ \t\n]+")
"""Plain blanks part words; any other belongs to a word, where a change of it shows."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of one kind, safe to be shown on one line."""

    kind: Kind
    text: str


Line: TypeAlias = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A character that had to be escaped where the texts differ."""

    character: str
    first: int
    """How often it stands in what went from the first text."""
    second: int
    """In what came with the second."""

    @property
    def named(self) -> str:
        """`U+00A0 NO-BREAK SPACE`; a plain space is hidden at the end of a line only."""
        code = f"U+{ord(self.character):04X}"
        if self.character == " ":
            return f"{code} SPACE at the end of a line"
        names = {"\t": "TAB", "\r": "CARRIAGE RETURN"}
        return f"{code} {names.get(self.character) or unicodedata.name(self.character, 'without a name')}"


@dataclass(frozen=True, slots=True)
class TextDiff:
    """What differs between two texts; without lines they are equal."""

    lines: tuple[Line, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    respaced: bool = False
    """Whether only blanks and line breaks differ, and no word."""


def by_lines(first: str, second: str) -> TextDiff:
    """Changed lines whole, with CONTEXT unchanged ones around them, as `diff -u` writes them."""
    if first == second:
        return TextDiff()
    old, new = first.split("\n"), second.split("\n")
    told = _Told()
    lines: list[Line] = []
    for group in _matcher(old, new).get_grouped_opcodes(CONTEXT):
        lines.append((Piece("place", _place(group)),))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [(Piece("same", " " + visible(line)),) for line in old[i1:i2]]
                continue
            gone, came = told.apart(old[i1:i2], new[j1:j2])
            lines += [(Piece("gone", "-" + line),) for line in gone]
            lines += [(Piece("new", "+" + line),) for line in came]
    return TextDiff(tuple(lines), told.hidden(), _WORD.findall(first) == _WORD.findall(second))


def by_words(first: str, second: str) -> TextDiff:
    """Changed words within the lines of the second text. A line without a change is left out, CONTEXT of them aside. A
    change of blanks between words that stay does not show; where there is no other, it is `by_lines`."""
    if first == second:
        return TextDiff()
    old, new = _WORD.findall(first), _WORD.findall(second)
    if old == new:
        return by_lines(first, second)
    told = _Told()
    lines: list[list[Piece]] = [[]]
    breaks = _breaks_before(second)
    for tag, i1, i2, j1, j2 in _matcher(old, new).get_opcodes():
        gone, came = (old[i1:i2], new[j1:j2]) if tag != "equal" else ((), ())
        went, arrived = told.apart(gone, came)
        if went:
            lines[-1].append(Piece("gone", " ".join(went)))
        shown = arrived if tag != "equal" else [visible(word) for word in new[j1:j2]]
        for word, number in zip(shown, range(j1, j2), strict=True):
            lines += [[] for _ in range(breaks[number])]
            _append(lines[-1], "new" if tag != "equal" else "same", word)
    return TextDiff(tuple(_near_changes(lines)), told.hidden())


def visible(line: str) -> str:
    """One line of a prompt with what the eye cannot tell written as escapes; the first two rules above."""
    line = _MIXED.sub(lambda word: _LOOKALIKE.sub(_code, word[0]), line)
    line = _ODD_BLANK.sub(_code, line)
    line = _TRAILING.sub(lambda blanks: "\\x20" * len(blanks[0]), line)
    return escaped(line.replace("\r", "\\x0d")).replace("\n", "\\n")


def skeleton(text: str) -> str:
    """What a reader takes a text for: compatibility forms and lookalikes as ASCII, blanks as one space, nothing that
    cannot be seen. Texts that look alike have the same; the reverse holds for most."""
    plain = _ESCAPE.sub("", escaped(unicodedata.normalize("NFKC", text).translate(_ALIKE)).replace("\t", " "))
    return _BLANKS.sub(" ", plain).strip()


class _Told:
    """Writes what went and what came so that they can be told apart, and remembers what it escaped for that."""

    def __init__(self) -> None:
        self._first: Counter[str] = Counter()
        self._second: Counter[str] = Counter()

    def apart(self, gone: Sequence[str], came: Sequence[str]) -> tuple[list[str], list[str]]:
        form = self._form(gone, came)
        for lines, counts in ((gone, self._first), (came, self._second)):
            for line in lines:
                counts.update(_escaped_in(line, everything=form is not visible))
        return [form(line) for line in gone], [form(line) for line in came]

    @staticmethod
    def _form(gone: Sequence[str], came: Sequence[str]) -> Callable[[str], str]:
        alike = skeleton("\n".join(gone)) == skeleton("\n".join(came))
        form = _in_ascii if alike else visible
        same = [form(line) for line in gone] == [form(line) for line in came]
        return json.dumps if same and list(gone) != list(came) else form

    def hidden(self) -> tuple[Hidden, ...]:
        """The characters whose counts differ; where none does, all that were escaped."""
        both = [Hidden(one, self._first[one], self._second[one]) for one in sorted({*self._first, *self._second})]
        return tuple([one for one in both if one.first != one.second] or both)


def _in_ascii(line: str) -> str:
    line = _TRAILING.sub(lambda blanks: "\\x20" * len(blanks[0]), line)
    return _BEYOND.sub(_code, line)


def _escaped_in(line: str, *, everything: bool) -> Iterator[str]:
    """The characters of a line that its form does not show as themselves."""
    trailing = _TRAILING.search(line)
    yield from trailing[0] if trailing else ""
    for word in _MIXED.findall(line):
        yield from _LOOKALIKE.findall(word)
    bare = _MIXED.sub(lambda word: _LOOKALIKE.sub("", word[0]), line)
    for character in bare:
        hidden = _ODD_BLANK.match(character) or escaped(character) != character or character == "\r"
        if hidden or (everything and _BEYOND.match(character)):
            yield character


def _code(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\t":
        return "\\t"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _matcher(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > MANY)


def _place(group: Sequence[tuple[str, int, int, int, int]]) -> str:
    """The numbers of the first line and of lines, from 1, as `diff -u` writes them."""
    old = (group[0][1], group[-1][2])
    new = (group[0][3], group[-1][4])
    spans = [f"{start + (end > start)},{end - start}" for start, end in (old, new)]
    return f"@@ -{spans[0]} +{spans[1]} @@"


def _breaks_before(text: str) -> list[int]:
    """For each word, the line breaks between it and the one before; 0 for the first."""
    found: list[int] = []
    end = 0
    for match in _WORD.finditer(text):
        found.append(text.count("\n", end, match.start()) if found else 0)
        end = match.end()
    return found


def _append(line: list[Piece], kind: Kind, word: str) -> None:
    """A word at the end of a line, joined to the piece before where that is of the same kind."""
    if line and line[-1].kind == kind:
        line[-1] = Piece(kind, f"{line[-1].text} {word}")
    else:
        line.append(Piece(kind, word))


def _near_changes(lines: Sequence[Sequence[Piece]]) -> Iterator[Line]:
    changed = [number for number, line in enumerate(lines) if any(piece.kind != "same" for piece in line)]
    kept = sorted({near for number in changed for near in range(number - CONTEXT, number + CONTEXT + 1)})
    before = -2
    for number in kept:
        if 0 <= number < len(lines):
            if number != before + 1:
                yield (Piece("place", f"@@ line {number + 1} @@"),)
            yield tuple(lines[number])
            before = number
