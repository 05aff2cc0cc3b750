"""weigh: an honest scale for LLM agents, in games of sealed bids, bluff and simultaneous moves.

The public API, in a script as in a notebook; `help(weigh.ladder)` and so on say more:

    weigh.play(game, entrants, ...)    one episode
    weigh.ladder(config, ...)          a ladder, played or gone on with
    weigh.rank(run)                    the ranking of one run or several
    weigh.load(run)                    what runs hold, as pandas frames

All else is internal: it may change from one version to the next.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from weigh.api import ladder, load, play, rank

__all__ = ["ladder", "load", "play", "rank"]

if not (_Path(__file__).parent / "games").is_dir():
    # A checkout whose links became text files (an archive, a file system without links).
    _line = (
        "weigh: the links in this checkout's weigh/ are no folders here: run `pip install .` and use what it installs"
    )
    raise SystemExit(_line) if _sys.orig_argv[1:3] == ["-m", "weigh"] else ImportError(_line)


def __getattr__(name: str) -> object:
    """The public functions, imported when one is first asked for: `import weigh` itself costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'weigh' has no attribute {name!r}")
    return getattr(_import_module("weigh.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
