"""What a page shows where no script runs: an episode's last picture and all that happened, or a run's episodes.

Owns this HTML, in which every text is escaped. It stands in the page's `noscript`, so nobody else sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from weigh.games.game import Json
from weigh.harness.store.record import Record
from weigh.harness.web.viewer.amounts import score
from weigh.harness.web.viewer.frames import Frames
from weigh.policies.show import one_line

_PAGE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.html")


def episode_html(record: Record, shown: Frames) -> str:
    """The end of an episode, its scores, and every line of its feed."""
    return "".join(_episode(record, shown))


def _episode(record: Record, shown: Frames) -> Iterator[str]:
    last = shown.frames[-1].beat
    title = shown.game.title.split(":")[0]
    yield f'<section class="plain"><h1>{_text(title)} <small>{_text(record.key)}</small></h1>\n'
    if last.banner:
        yield f'<p class="caption banner ended">{_text(last.banner)}</p>\n'
    yield f"{last.picture.to_html()}\n<h2>Scores</h2><ul>"
    for seat, name in enumerate(shown.names):
        value = score(shown.scores[seat]) if shown.scores else "-"
        yield f"<li>{_text(name)}: {value}</li>"
    yield "</ul>\n<h2>What happened</h2><ol>\n"
    for frame in shown.frames:
        lines = "".join(f"<p>{_text(line)}</p>" for line in frame.beat.feed)
        yield f"<li><b>{_text(frame.beat.label)}</b>{lines}</li>\n"
    yield "</ol></section>"


def listing_html(listing: Mapping[str, Any]) -> str:
    """The episodes of a run, `listing` being the data of its index; with links where each has a page of its own."""
    return "".join(_listing(listing))


def _listing(listing: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section class="plain"><h1>{_text(listing["title"])}</h1><p>{_text(listing["about"])}</p>\n'
    yield '<table><thead><tr><th scope="col">episode</th><th scope="col">scores</th>'
    yield '<th scope="col">ending</th></tr></thead><tbody>\n'
    for row in listing["rows"]:
        scores = ", ".join(f"{name} {'-' if value is None else score(value)}" for name, value in row["seats"])
        yield f'<tr><th scope="row">{_link(row)}</th><td>{_text(scores)}</td><td>{_text(row["ending"])}</td></tr>\n'
    yield "</tbody></table></section>"


def _link(row: Mapping[str, Json]) -> str:
    key, file = _text(str(row["key"])), row.get("file")
    return f'<a href="{escape(file)}">{key}</a>' if isinstance(file, str) and _PAGE_NAME.fullmatch(file) else key


def _text(text: str) -> str:
    return escape(one_line(text, 4_000))
