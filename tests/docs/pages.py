"""The pages of the documentation, and what stands in them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.runner import ROOT

DOCS = ROOT / "docs"
GENERATED = frozenset(DOCS / "reference" / name for name in ("cli.md", "config.md", "games.md", "output.md"))
ALL = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
WRITTEN = tuple(page for page in ALL if page not in GENERATED and page.parent.name != "adr")
"""Those that people write; decision records, which are history, left out."""

BLOCK = re.compile(r"^```(\w*) *(.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block of code: its language, what stands behind that, and the text."""


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """The page without blocks of code and comments."""
    return re.sub(r"<!--.*?-->", "", BLOCK.sub("", text(page)), flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The fragments that a link may name, as GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", BLOCK.sub("", text(page)), re.MULTILINE):
        bare = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).replace("`", "").replace("*", "").lower()
        found.add(re.sub(r"[^\w\- ]", "", bare).replace(" ", "-"))
    return found
