r"""Model text made fit to be shown: on a terminal, in a page, in a record's detail line or in a later prompt.

Owns which characters are unsafe to show and how they are written instead. Knows nothing of where the text goes: HTML is
still to be escaped by its writer.

Text from a model may hold terminal commands, marks that reverse the order of what follows, and characters that cannot
be seen at all. Each becomes a visible escape (`\x1b`, `\u202e`), so that a reader sees what was there and nothing acts
on it. The table is spelled out instead of asked from `unicodedata`, whose answers change with the Python version. The
variation selector of emoji (U+FE0F) is left alone, and so is every character with a shape of its own.
"""

from __future__ import annotations

import re

_UNSAFE_RANGES = (
    (0x0000, 0x0008),  # control characters; tab and line feed are dealt with by the caller
    (0x000B, 0x001F),
    (0x007F, 0x009F),
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors and separator
    (0x200B, 0x200F),  # zero width, left-to-right and right-to-left marks
    (0x2028, 0x202E),  # line and paragraph separators, bidi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, bidi isolates
    (0x3164, 0x3164),  # Hangul filler
    (0xD800, 0xDFFF),  # lone surrogates: no encoding can write them
    (0xFE00, 0xFE0E),  # variation selectors but that of emoji
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFFB),  # interlinear annotation
    (0xFFFE, 0xFFFF),
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags and further variation selectors
)

_UNSAFE = "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in _UNSAFE_RANGES)
_IN_TEXT = re.compile(f"[{_UNSAFE}]")
_IN_LINE = re.compile(f"[{_UNSAFE}\t\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def escaped(text: str) -> str:
    """`text` with every unsafe character written as an escape; tabs and line breaks stay."""
    return _IN_TEXT.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 80) -> str:
    r"""The start of `text` on one line, line breaks as `\n`: at most `limit` code points, then how many are missing.

    >>> one_line("a\nb")
    'a\\nb'
    >>> one_line("x" * 100, 10)
    'xxxxxxxxxx… (+90)'

    The work is bounded by `limit`, whatever the length of `text`.
    """
    kept = text[:limit]
    line = _IN_LINE.sub(_escape, kept)
    if len(line) > limit:
        # Escapes are longer than what they stand for: give up whole characters until the line fits.
        kept, line = _fitting(kept, limit)
    missing = len(text) - len(kept)
    return f"{line}… (+{missing})" if missing else line


def encodable(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fitting(text: str, limit: int) -> tuple[str, str]:
    pieces: list[str] = []
    room = limit
    for character in text:
        piece = _IN_LINE.sub(_escape, character)
        if len(piece) > room:
            break
        pieces.append(piece)
        room -= len(piece)
    return text[: len(pieces)], "".join(pieces)
