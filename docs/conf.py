"""The site that `make docs` builds of these pages, without a network: Sphinx, MyST and furo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

project = "weigh"
author = "the authors of weigh"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns: list[str] = []
html_theme = "furo"
html_title = "weigh"
smartquotes = False
html_copy_source = False
html_show_copyright = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

MENU = {
    "Start": ("tutorial", "glossary"),
    "How to": ("howto/paper", "howto/prompt", "howto/ci", "howto/models", "howto/extend", "howto/trouble"),
    "Explanation": (
        "explanation/method",
        "explanation/appendix",
        "explanation/validation",
        "explanation/guarantees",
        "explanation/comparison",
    ),
    "Reference": ("reference/cli", "reference/config", "reference/output", "reference/records", "reference/games"),
    "Project": ("contributing", "adr/README"),
}
"""The chapters of the menu. GitHub shows the same pages by the table of README.md."""


def with_menu(app: Any, page: str, source: list[str]) -> None:
    """Puts the menu behind the map, and the decisions below their list, where only Sphinx reads it."""
    if page == root_doc:
        for caption, pages in MENU.items():
            source[0] += "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(pages) + "\n```\n"
    elif page == "adr/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def with_index(app: Any, error: Exception | None) -> None:
    """The map is what a browser shows first."""
    if error is None:
        place = Path(app.outdir)
        (place / "index.html").write_bytes((place / f"{root_doc}.html").read_bytes())


def setup(app: Any) -> None:
    app.connect("source-read", with_menu)
    app.connect("build-finished", with_index)
