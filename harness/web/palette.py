"""The colours of the page and of all pictures, as custom properties that change with the theme.

Owns the colours, and that seats can be told apart: the first four, which is all that most tables need, are far apart
for readers with any kind of colour blindness too, and every seat has a mark besides. `--seat-N` stands out from the
paper by a contrast of at least 4.5, as does `--on-seat` from it.
"""

from __future__ import annotations

from typing import Final

PAPER: Final[dict[str, tuple[str, str]]] = {
    "paper": ("#faf8f4", "#14171c"),
    "raised": ("#f1eee7", "#1e232b"),
    "card": ("#ffffff", "#262c36"),
    "ink": ("#1d2026", "#eceae5"),
    "quiet": ("#5d6068", "#a3a9b5"),
    "line": ("#d9d4c9", "#363d49"),
    "good": ("#0a6b48", "#5fd0a0"),
    "bad": ("#b3261e", "#ff9c90"),
    "loud": ("#b8360c", "#ff9a5c"),
    "on-loud": ("#ffffff", "#1c0f06"),
    "link": ("#0b5394", "#8cc2ff"),
    "gold": ("#f2d27a", "#d9b45a"),
    "gold-edge": ("#97711a", "#7a5a10"),
    "gold-ink": ("#33260a", "#221804"),
    "on-seat": ("#ffffff", "#0f1216"),
}
"""By name: light, dark."""

SEATS: Final[tuple[tuple[str, str], ...]] = (
    ("#0b559f", "#7cb8f5"),  # blue
    ("#b8490a", "#ffa257"),  # orange
    ("#123d2c", "#8ff5cc"),  # deep green, mint
    ("#ad4579", "#f26db0"),  # rose
    ("#6b5a1e", "#b8a66e"),  # ochre
    ("#7a1fb0", "#dc9bff"),  # violet
    ("#2d704f", "#46d691"),  # green
    ("#8a1f1f", "#ff8f85"),  # red
    ("#0f6f80", "#5fd0e0"),  # teal
    ("#33280a", "#ffcf40"),  # umber, yellow
    ("#0b2545", "#cce6ff"),  # navy, pale blue
    ("#4d6b12", "#b3d35d"),  # moss
    ("#4a4f57", "#c3c8d0"),  # grey
)
"""By seat: light, dark."""


def palette_css() -> str:
    """The custom properties, and the classes `seat-0` .. that set `--seat`."""
    colours = {**PAPER, **{f"seat-{seat}": pair for seat, pair in enumerate(SEATS)}}
    properties = "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in colours.items())
    seats = "\n".join(f".seat-{seat}{{--seat:var(--seat-{seat})}}" for seat in range(len(SEATS)))
    return f":root{{{properties}}}\n{seats}"
