"""The pages' own style sheets, scripts and markup, as files. Owns where they lie; nothing here comes from a run."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """The text of one file by its name within this package, e.g. `viewer/page.css` for viewer/assets/page.css."""
    folder, _, file = name.partition("/")
    return files(__package__).joinpath(folder, "assets", file).read_text(encoding="utf-8")
