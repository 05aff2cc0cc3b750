"""The page: one HTML file with its style, its script and its data, that fetches nothing.

Owns the file's shape and its safety, for the offline page and the live ones. The policy in its head allows one style
sheet and one script, by their digests, and no request at all. Data lies in elements of the type application/json,
written so that no text in them can end the element; the script makes text nodes of it and never markup. Owns also what
stands in the page's `noscript` for those without a script: an episode's last picture and all that happened, or a run's
episodes, every text escaped.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, Final

from weigh.games.game import Json
from weigh.games.registry import GAMES
from weigh.harness.store.record import Record
from weigh.harness.web.assets import asset
from weigh.harness.web.palette import palette_css
from weigh.harness.web.scene import score
from weigh.harness.web.scenes import board_view
from weigh.harness.web.svg import ATTRIBUTES, HTML_TAGS, SVG_TAGS
from weigh.harness.web.viewer.frames import Frames
from weigh.policies.show import one_line

_SCRIPTS: Final = ("tree", "episode", "player", "address", "index", "start")
_STYLES: Final = ("page", "controls", "paper")
_PAGE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.html")

MARK: Final = '<meta name="generator" content="weigh">'
"""In the head of every page: a file that has it may be written again."""


def page_parts(
    title: str, islands: Iterable[tuple[str, str]], games: Sequence[str], without: str = ""
) -> Iterable[str]:
    """The file in pieces, so that a large one need not be held in memory.

    `islands` are elements of data: an id, and what `island` has written; `games` those whose pictures it has. `without`
    is what stands there where no script runs: HTML in which every text is escaped.
    """
    style, script = _page_style(tuple(games)), _page_script()
    policy = content_policy(style, script)
    first = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield head(title, style, first, f'<meta name="referrer" content="no-referrer">\n{MARK}\n')
    yield asset("viewer/body.html")
    if without:
        yield f"<noscript>{without}</noscript>\n"
    for name, text in islands:
        yield f'<script type="application/json" id="{escape(name)}">{text}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def head(title: str, style: str, first: str = "", last: str = "") -> str:
    """The beginning of a page, up to its body. `first` and `last` are elements to stand at the ends of its own."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{first}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{last}'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(one_line(title, 200))}</title>\n<style>{style}</style>\n</head>\n"
    )


def island(value: Json) -> str:
    """JSON that may stand inside an element: ASCII, and no character that begins markup. Still JSON to a reader."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script_of(*names: str) -> str:
    """The one script of a page, from assets by their names; they share one scope, and what pictures may hold."""
    known = {"html": sorted(HTML_TAGS), "svg": sorted(SVG_TAGS), "attributes": sorted(ATTRIBUTES)}
    parts = [f"const ALLOWED = {island(known)};", *(asset(f"{name}.js") for name in names)]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def style_of(games: Iterable[str], *more: str) -> str:
    """The one style sheet of a page with pictures of these games, and with `more` assets by their names."""
    own = (asset(f"viewer/{name}.css") for name in _STYLES)
    views = (board_view(name).STYLE for name in games)
    return "\n".join([palette_css(), *own, *views, *(asset(f"{name}.css") for name in more)])


@cache
def _page_script() -> str:
    return script_of(*(f"viewer/{name}" for name in _SCRIPTS))


@cache
def _page_style(games: tuple[str, ...]) -> str:
    return style_of(name for name in GAMES if name in games)


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


# -- where no script runs ----------------------------------------------------------------------------------------------


def episode_html(record: Record, shown: Frames) -> str:
    """The end of an episode, its scores, and every line of its feed."""
    return "".join(_episode(record, shown))


def _episode(record: Record, shown: Frames) -> Iterator[str]:
    last = shown.frames[-1]
    title = shown.game.title.split(":")[0]
    yield f'<section class="plain"><h1>{_text(title)} <small>{_text(record.key)}</small></h1>\n'
    if last.banner:
        yield f'<p class="caption banner ended">{_text(last.banner)}</p>\n'
    yield f"{last.picture.to_html()}\n<h2>Scores</h2><ul>"
    for seat, name in enumerate(shown.names):
        yield f"<li>{_text(name)}: {score(shown.scores[seat]) if shown.scores else '-'}</li>"
    yield "</ul>\n<h2>What happened</h2><ol>\n"
    for frame in shown.frames:
        lines = "".join(f"<p>{_text(line)}</p>" for line in frame.feed)
        yield f"<li><b>{_text(frame.label)}</b>{lines}</li>\n"
    yield "</ol></section>"


def listing_html(listing: Mapping[str, Any]) -> str:
    """The episodes of a run, `listing` being the data of its index; with links where each has a page of its own."""
    rows = []
    for row in listing["rows"]:
        scores = ", ".join(f"{name} {'-' if value is None else score(value)}" for name, value in row["seats"])
        cells = f"<td>{_text(scores)}</td><td>{_text(row['ending'])}</td>"
        rows.append(f'<tr><th scope="row">{_link(row)}</th>{cells}</tr>\n')
    return (
        f'<section class="plain"><h1>{_text(listing["title"])}</h1><p>{_text(listing["about"])}</p>\n'
        '<table><thead><tr><th scope="col">episode</th><th scope="col">scores</th>'
        f'<th scope="col">ending</th></tr></thead><tbody>\n{"".join(rows)}</tbody></table></section>'
    )


def _link(row: Mapping[str, Json]) -> str:
    key, file = _text(str(row["key"])), row.get("file")
    return f'<a href="{escape(file)}">{key}</a>' if isinstance(file, str) and _PAGE_NAME.fullmatch(file) else key


def _text(text: str) -> str:
    return escape(one_line(text, 4_000))
