"""weigh: an honest scale for LLM agents, in games of sealed bids, bluff and simultaneous moves."""

from __future__ import annotations

from pathlib import Path as _Path

if not (_Path(__file__).parent / "games").is_dir():
    # A checkout whose links became text files (an archive, a file system without links).
    raise ImportError("weigh: the links in this checkout's weigh/ are no folders here: run `pip install .` and import that")
