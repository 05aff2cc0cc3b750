"""Pictures as trees of elements: made in Python, shown by a page that can build nothing else from them.

Owns the elements a picture may use, and the forms of a tree: JSON, from which the page's script makes elements and text
nodes one by one; JSON of many trees that keeps what they have in common once; and HTML for pages without a script. Text
stays text in all of them: a tree holds no markup, so nothing that a model, an entrant's name or a config wrote can
become any.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    """One element. Made by `h` or `part`, which check it."""

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


def part(tag: str, kind: str | None, *children: Child | None, **attributes: str | int | float | None) -> Element:
    """An element with the class `kind` (None: without one), made like `h`. Attributes that are None are left out, and
    an underscore in a name stands for a hyphen.

    >>> part("text", "total", "7", x=3, text_anchor="end").to_html()
    '<text class="total" x="3" text-anchor="end">7</text>'
    """
    given = {"class": kind, **{name.replace("_", "-"): value for name, value in attributes.items()}}
    return h(tag, {name: value for name, value in given.items() if value is not None}, *children)


def drawing(kind: str | None, wide: float, high: float, *children: Child | None, stretched: bool = False) -> Element:
    """An SVG of this size that a screen reader passes over: what it shows is said next to it. `stretched`: it fills
    whatever space it gets."""
    aspect = "none" if stretched else None
    box = f"0 0 {wide:g} {high:g}"
    return part("svg", kind, *children, viewBox=box, preserveAspectRatio=aspect, aria_hidden="true")


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


_WORTH: Final = 16
"""Characters of JSON from which a repeated subtree is kept once."""


@dataclass(frozen=True, slots=True)
class SharedTrees:
    """Trees in the order they were given, and the subtrees they share.

    A whole number in the place of a child, or of a tree itself, stands for a shared subtree, which refers to earlier
    ones only.
    """

    shared: tuple[Json, ...]
    trees: tuple[Json, ...]


@dataclass(slots=True)
class _Pool:
    """Every different subtree once, by number; a text is its own number's node."""

    numbers: dict[object, int] = field(default_factory=dict)
    nodes: list[tuple[str, tuple[tuple[str, str], ...], tuple[int | str, ...]]] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)
    known: dict[int, tuple[Element, int]] = field(default_factory=dict)
    """By identity, what was added before: small parts are drawn once for all pictures. Holds on to them, so
    that an identity stays one."""

    def add(self, element: Element) -> int:
        before = self.known.get(id(element))
        if before is not None:
            return before[1]
        number = self._number(element)
        self.known[id(element)] = element, number
        return number

    def _number(self, element: Element) -> int:
        children = tuple(child if isinstance(child, str) else self.add(child) for child in element.children)
        node = (element.tag, tuple(element.attributes.items()), children)
        number = self.numbers.get(node)
        if number is None:
            number = self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.uses.append(0)
            for part in children:
                if not isinstance(part, str):
                    self.uses[part] += 1
        return number


def share(trees: Sequence[Element]) -> SharedTrees:
    """The trees with their common parts taken out."""
    pool = _Pool()
    roots = [pool.add(tree) for tree in trees]
    for root in roots:
        pool.uses[root] += 1
    written: list[Json] = []
    shared: list[Json] = []
    # Children have smaller numbers than what they stand in, so each is written before it is needed.
    for (tag, attributes, children), uses in zip(pool.nodes, pool.uses, strict=True):
        tree: Json = [tag, dict(attributes), *(c if isinstance(c, str) else written[c] for c in children)]
        if uses > 1 and len(json.dumps(tree)) >= _WORTH:
            shared.append(tree)
            tree = len(shared) - 1
        written.append(tree)
    return SharedTrees(tuple(shared), tuple(written[root] for root in roots))
