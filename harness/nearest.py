"""The end of an error line that helps: the name that was probably meant, or all there are.

Owns its wording, for messages only: nothing is ever looked up by likeness. The measure is `games.values`'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from games.values import nearest


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'match'?` for a near miss, else `; known: hoard, match`; empty when nothing is known."""
    words = sorted(known)
    return nearest(word, words) or (f"; known: {', '.join(words)}" if words else "")
