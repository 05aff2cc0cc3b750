"""Pictures with what they have in common kept once: boards that follow each other differ in a few elements.

Owns the form in which a page holds many trees: a list of shared subtrees, and trees in which a whole number in the
place of a child (or of the tree itself) stands for one of them. Shared subtrees refer to earlier ones only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from weigh.games.game import Json
from weigh.harness.web.viewer.nodes import Element

_WORTH = 16
"""Characters of JSON from which a repeated subtree is kept once."""


@dataclass(frozen=True, slots=True)
class SharedTrees:
    """Trees in the order they were given, and what they share."""

    shared: tuple[Json, ...]
    trees: tuple[Json, ...]


@dataclass(slots=True)
class _Pool:
    """Every different subtree once, by number; a text is its own number's node."""

    numbers: dict[object, int] = field(default_factory=dict)
    nodes: list[tuple[str, tuple[tuple[str, str], ...], tuple[int | str, ...]]] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)
    known: dict[int, tuple[Element, int]] = field(default_factory=dict)
    """By identity, what was added before: scenes draw small parts once for all their pictures. Holds on to them, so
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


def unshared(tree: Json, shared: Sequence[Json]) -> Json:
    """The tree as `Element.to_json` gives it. What the page's script does, for readers in Python."""
    if isinstance(tree, int):
        return unshared(shared[tree], shared)
    if isinstance(tree, str) or not isinstance(tree, Sequence):
        return tree
    tag, attributes, *children = tree
    return [tag, attributes, *(unshared(child, shared) for child in children)]
