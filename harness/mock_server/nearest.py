"""The end of an error line that helps: the name that was probably meant, or all there are."""

from __future__ import annotations

from collections.abc import Iterable

from games.quoting import nearest


def nearest_or_all(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'nth'?` for a near miss, else `; known: every, nth`, ready to be appended to a line."""
    names = sorted(known)
    return nearest(name, names) or f"; known: {', '.join(names)}"
