"""Pictures as trees of elements: made in Python, shown by a page that can build nothing else from them.

Owns the elements a picture may use, and the two forms of a tree: JSON, from which the page's script makes elements and
text nodes one by one, and HTML for pages without a script. Text stays text in both: a tree holds no markup, so nothing
that a model, an entrant's name or a config wrote can become any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from weigh.games.game import Json
from weigh.policies.show import one_line

# fmt: off
HTML_TAGS: Final = frozenset((
    "article", "b", "caption", "code", "dd", "details", "div", "dl", "dt", "em", "figcaption", "figure", "h2", "h3",
    "h4", "li", "ol", "p", "pre", "section", "small", "span", "strong", "summary", "table", "tbody", "td", "th",
    "thead", "tr", "ul",
))
SVG_TAGS: Final = frozenset((
    "circle", "desc", "ellipse", "g", "line", "path", "polygon", "polyline", "rect", "svg", "text", "title", "tspan",
))
ATTRIBUTES: Final = frozenset((
    "aria-hidden", "aria-label", "class", "colspan", "cx", "cy", "d", "dominant-baseline", "dx", "dy", "height", "id",
    "open", "points", "preserveAspectRatio", "r", "role", "rowspan", "rx", "ry", "scope", "tabindex", "text-anchor",
    "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
))
# fmt: on
"""No `style`, no `href`, no `on...`, no `src`: a picture cannot run, fetch or lead anywhere. Colours are classes."""

LONGEST_TEXT: Final = 2_000
"""Characters of one text in a picture. What a model wrote at length is data of the page, and in no picture."""

Child: TypeAlias = "Element | str"


@dataclass(frozen=True, slots=True)
class Element:
    """One element. Made by `h`, which checks it."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple[Child, ...]

    def to_json(self) -> Json:
        """`[tag, {attribute: value}, child, ...]`; a text child is a string."""
        return [
            self.tag,
            dict(self.attributes),
            *(child if isinstance(child, str) else child.to_json() for child in self.children),
        ]

    def to_html(self) -> str:
        """The same as HTML, with every text escaped. SVG elements stand in HTML as they are."""
        return "".join(_html(self))


def h(tag: str, attributes: Mapping[str, str | int | float] | None = None, *children: Child | None) -> Element:
    """An element. None as a child is left out; numbers are written short (`12`, `0.333`).

    Texts are cut at LONGEST_TEXT and lose control and bidirectional characters. Raises ValueError for a tag or an
    attribute that pictures may not use.
    """
    if tag not in HTML_TAGS and tag not in SVG_TAGS:
        raise ValueError(f"a picture has no element {tag!r}")
    given = attributes or {}
    for name in given:
        if name not in ATTRIBUTES:
            raise ValueError(f"an element of a picture has no attribute {name!r}")
    return Element(
        tag,
        {name: _written(value) for name, value in given.items()},
        tuple(_safe(child) if isinstance(child, str) else child for child in children if child is not None),
    )


def _safe(text: str) -> str:
    # Pictures are made of tens of thousands of texts, and most are a few plain characters.
    plain = len(text) <= LONGEST_TEXT and text.isascii() and text.isprintable()
    return text if plain else one_line(text, LONGEST_TEXT)


def _written(value: str | int | float) -> str:
    if isinstance(value, str):
        return _safe(value)
    return str(value) if isinstance(value, int) else f"{round(value, 3):g}"


def _html(element: Element) -> Iterator[str]:
    yield f"<{element.tag}"
    for name, value in element.attributes.items():
        yield f' {name}="{escape(value)}"'
    yield ">"
    for child in element.children:
        if isinstance(child, str):
            yield escape(child)
        else:
            yield from _html(child)
    yield f"</{element.tag}>"
