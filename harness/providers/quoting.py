"""A provider's own words in a line for people: one line, cut short, harmless on a terminal, and without keys.

Owns what is taken out. Knows no provider.
"""

from __future__ import annotations

import re
import unicodedata

LIMIT = 200
"""Most characters of a provider's text that a line quotes."""

_LOOKED_AT = 4_000
"""Characters of the text that are read at all; error pages run to hundreds of kilobytes."""

# What keys look like on both sides of an Authorization header. The client's own key is taken out by value as well.
_KEYS = re.compile(r"(?i)\b(?:bearer\s+|sk-|rk-|pk-|key-)[A-Za-z0-9._*\-]{8,}")
_MARKUP = re.compile(r"(?is)<(script|style)\b.*?(</\1\s*>|$)|<!--.*?(-->|$)|<[^>]*(>|$)")


def one_line(text: str, secret: str = "", limit: int = LIMIT) -> str:
    """`text` as one line of at most `limit` characters; `secret` and whatever looks like a key is blotted out."""
    # Keys go first: cut or broken up, they would no longer be recognised.
    blotted = text.replace(secret, "[key]") if secret else text
    blotted = _KEYS.sub("[key]", blotted[:_LOOKED_AT])
    shown = "".join(_shown(character) for character in " ".join(blotted.split()))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def without_markup(html: str) -> str:
    """The words of a page."""
    return _MARKUP.sub(" ", html[:_LOOKED_AT])


def _shown(character: str) -> str:
    # Cc control, Cf format (bidirectional overrides, zero-width), Co private, Cs lone surrogates, Zl and Zp separators.
    if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
        return f"\\u{ord(character):04x}"
    return character
