"""Texts of a run, each kept once however often it was sent or received.

Owns how a text lies in the file. Knows nothing of calls. Texts are arbitrary: lone surrogates and NUL characters, which
models do send, come back as they went in.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

PLAIN: Final = 200
"""Bytes up to which a text is kept as plain TEXT; longer ones are compressed."""
LEVEL: Final = 1
"""Of zlib. Higher ones cost more time than the space they save is worth: prompts shrink to a third at once."""
REMEMBERED: Final = 512
"""Texts whose place is remembered, so that a system message or an early turn is not looked up at every call."""
REMEMBERED_SIZE: Final = 32_768
"""Characters above which a text is not remembered; with `REMEMBERED` it bounds the memory."""


class Texts:
    """The table `texts` of one open database. Errors are SQLite's own: the store around it translates them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._places: OrderedDict[str, int] = OrderedDict()

    def put(self, text: str) -> int:
        """The place of `text`, which is added if it is new. Must be called inside a transaction."""
        place = self._places.get(text)
        if place is not None:
            self._places.move_to_end(text)
            return place
        digest = text_digest(text)
        row = self._db.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            cursor = self._db.execute("INSERT INTO texts(digest, body) VALUES (?, ?)", (digest, pack(text)))
            place = cursor.lastrowid
        else:
            place = row[0]
        if place is None:
            raise AssertionError("SQLite gives every inserted row a number")
        if len(text) <= REMEMBERED_SIZE:
            self._places[text] = place
            if len(self._places) > REMEMBERED:
                self._places.popitem(last=False)
        return place

    def get(self, place: int) -> str:
        """The text at a place that `put` gave. Raises ValueError where there is none, or none that can be read."""
        row = self._db.execute("SELECT body FROM texts WHERE id = ?", (place,)).fetchone()
        if row is None:
            raise ValueError(f"text {place} is missing")
        return unpack(row[0])

    def altered(self) -> Iterator[int]:
        """The places of texts that are not those of their digests. Reads all."""
        for place, digest, body in self._db.execute("SELECT id, digest, body FROM texts"):
            try:
                sound = text_digest(unpack(body)) == digest
            except ValueError:
                sound = False
            if not sound:
                yield place

    def forget(self) -> None:
        """After a transaction was undone: places given out in it are no more."""
        self._places.clear()


def text_digest(text: str) -> bytes:
    """SHA-256 over the text in UTF-8, surrogates passed through."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def pack(text: str) -> str | bytes:
    """A short text as it is; a long one, or one with lone surrogates, as zlib over UTF-8, surrogates passed through."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= PLAIN and is_unicode(text):
        return text
    return zlib.compress(raw, LEVEL)


def unpack(body: str | bytes) -> str:
    """What `pack` was given. Raises ValueError for a body that `pack` did not make."""
    if isinstance(body, str):
        return body
    try:
        return zlib.decompress(body).decode("utf-8", "surrogatepass")
    except zlib.error as error:
        raise ValueError(f"a text cannot be unpacked: {error}") from error


def is_unicode(text: str) -> bool:
    """Whether SQLite takes it as TEXT: no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """The same text with lone surrogates spelled out, for lines that only people read."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def column(text: str | None) -> str | bytes | None:
    """A short free text for a TEXT column: as it is, or as bytes where it holds lone surrogates."""
    if text is None or is_unicode(text):
        return text
    return text.encode("utf-8", "surrogatepass")


def uncolumn(value: str | bytes | None) -> str | None:
    """What `column` was given."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
