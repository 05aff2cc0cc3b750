"""The page's own style sheets and scripts, as files. Owns where they lie; nothing here comes from a run."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """The text of one file of this folder, e.g. `page.css`."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
