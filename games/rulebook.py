"""The rulebooks: one text a game, with the numbers of a config filled in.

Owns where the texts lie and how they are filled. Knows no rules. The texts are package data, read once when first
asked for.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


def rulebook_text(name: str, **blanks: str | int) -> str:
    """The rulebook `name` with every `$blank` filled. A blank without a value, or a value without one, is an error."""
    template = _template(name)
    unused = set(blanks) - set(template.get_identifiers())
    if unused:
        raise KeyError(f"rulebook {name} has no blank for {', '.join(sorted(unused))}")
    return template.substitute(blanks)


@cache
def _template(name: str) -> Template:
    text = files("games").joinpath("rulebooks", f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())
