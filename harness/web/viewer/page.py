"""The page: one HTML file with its style, its script and its data, that asks nobody for anything.

Owns the file's shape and its safety. The policy in its head allows one style sheet and one script, by their digests,
and no request at all. Data lies in elements of the type application/json, written so that no text in them can end the
element; the script makes text nodes of it and never markup.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Final

from weigh.games.game import Json
from weigh.games.registry import GAMES
from weigh.harness.web.viewer.assets import asset
from weigh.harness.web.viewer.nodes import ATTRIBUTES, HTML_TAGS, SVG_TAGS
from weigh.harness.web.viewer.palette import palette_css
from weigh.harness.web.viewer.scenes import scene_of
from weigh.policies.show import one_line

SCRIPTS: Final = ("tree.js", "episode.js", "player.js", "address.js", "index.js", "start.js")
STYLES: Final = ("page.css", "controls.css", "paper.css")

MARK: Final = '<meta name="generator" content="weigh">'
"""In the head of every page: what has it may be written anew."""


def page(title: str, islands: Iterable[tuple[str, Json]], games: Sequence[str]) -> str:
    """The whole file. `islands` are elements of data: an id, and what it holds; `games` those whose pictures it has."""
    return "".join(page_parts(title, ((name, island(value)) for name, value in islands), games))


def page_parts(
    title: str, islands: Iterable[tuple[str, str]], games: Sequence[str], without: str = ""
) -> Iterable[str]:
    """The same in pieces, with data that `island` has written, so that a large file need not be held in memory.

    `without` is what stands there where no script runs: HTML in which every text is escaped.
    """
    style, script = _style(tuple(games)), _script()
    policy = content_policy(style, script)
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n{MARK}\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(one_line(title, 200))}</title>\n<style>{style}</style>\n</head>\n"
    )
    yield asset("body.html")
    if without:
        yield f"<noscript>{without}</noscript>\n"
    for name, text in islands:
        yield f'<script type="application/json" id="{escape(name)}">{text}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def island(value: Json) -> str:
    """JSON that may stand inside an element: ASCII, and no character that begins markup. Still JSON to a reader."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _script() -> str:
    known = {"html": sorted(HTML_TAGS), "svg": sorted(SVG_TAGS), "attributes": sorted(ATTRIBUTES)}
    parts = [f"const ALLOWED = {island(known)};", *(asset(name) for name in SCRIPTS)]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


@cache
def _style(games: tuple[str, ...]) -> str:
    shown = [name for name in GAMES if name in games]
    return "\n".join([palette_css(), *map(asset, STYLES), *(scene_of(name).STYLE for name in shown)])


def content_policy(style: str, script: str, *more: str) -> str:
    """The content security policy of a page that runs this style and this script and no other, and fetches nothing.

    `more` are directives that a served page adds.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src 'sha256-{_digest(style)}'",
            f"script-src 'sha256-{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            *more,
        )
    )


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
