"""The colours of a report, as custom properties for light, dark and paper.

Owns them. The page's own colours are the viewer's, so that both look alike. Cells of heat maps have nine tones: blue
for above, orange for below, which colour-blind readers tell apart, and `--ink` stands out from every tone by a contrast
of at least 4.5. Series (causes, kinds of move) differ in lightness from their neighbours, and are named beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.viewer.palette import PAPER

STEPS: Final = 4
"""Tones on each side of the middle one."""

TONES: Final[Mapping[str, tuple[str, str]]] = {
    "below-4": ("#f59e4c", "#8a4300"),
    "below-3": ("#f9bd83", "#703a09"),
    "below-2": ("#fcd8b4", "#573210"),
    "below-1": ("#fdeedd", "#3f2c1a"),
    "level": ("#ece8df", "#2e343e"),
    "above-1": ("#e2eef8", "#1f3449"),
    "above-2": ("#bfdcf2", "#1b4265"),
    "above-3": ("#95c6ea", "#165182"),
    "above-4": ("#67acdf", "#0f609f"),
}
"""By tone: light, dark."""

SERIES: Final[tuple[tuple[str, str], ...]] = (
    ("#0b559f", "#7cb8f5"),
    ("#f0a04b", "#b8640f"),
    ("#0b6e58", "#52c7a5"),
    ("#e39bd0", "#a04f8c"),
    ("#6b4e00", "#e0c04a"),
    ("#8fb3d9", "#4a6f99"),
    ("#8c1c13", "#ff8f85"),
)
"""By place: light, dark. One more than there are kinds of anything that is drawn so."""

MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "span": ("#9db8d3", "#476a8d"),
    "span-quiet": ("#cfc9bd", "#4a515c"),
    "mean": ("#0b4a8f", "#a9d2ff"),
    "adjusted": ("#a3470a", "#ffb272"),
    "grid": ("#e6e1d6", "#2c323c"),
    "zero": ("#8b8778", "#77808e"),
}
"""Of the interval pictures: light, dark."""


def tone(value: float | None, most: float) -> str | None:
    """The tone of a value on a scale from -most to most; None for no value."""
    if value is None:
        return None
    step = 0 if most <= 0 else min(STEPS, round(abs(value) / most * STEPS))
    if step == 0:
        return "level"
    return f"{'above' if value > 0 else 'below'}-{step}"


def colours_css() -> str:
    """Custom properties for every theme, and a class for every tone and series."""
    light, dark = (_properties(theme) for theme in (0, 1))
    rules = [
        f":root{{{light}}}",
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}",
        f"@media print{{:root{{{light}}}}}",
    ]
    rules += [f".{name}{{background:var(--{name});fill:var(--{name})}}" for name in TONES]
    rules += [f".series-{n}{{background:var(--series-{n});fill:var(--series-{n})}}" for n in range(len(SERIES))]
    return "\n".join(rules)


def _properties(theme: int) -> str:
    return "".join(f"--{name}:{pair[theme]};" for name, pair in _named())


def _named() -> Iterator[tuple[str, tuple[str, str]]]:
    yield from PAPER.items()
    yield from MARKS.items()
    yield from TONES.items()
    for n, pair in enumerate(SERIES):
        yield f"series-{n}", pair
