"""What every board view promises of its frames, checked on a whole episode."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from weigh.harness.store.record import Record
from weigh.harness.web.scene import Frame, score
from weigh.harness.web.scenes import board_view
from weigh.harness.web.svg import HTML_TAGS, SVG_TAGS
from weigh.harness.web.viewer.frames import frames_of
from weigh.policies.show import escaped, one_line

HOSTILE = ("</script><b>", '"><img src=x>', "\u202eevil\u2066", "a & b <i>", "\x1b[31mred")
"""Names of entrants that would be something else than text, were they let."""


class Drawn(HTMLParser):
    """What a browser makes of a picture: its elements with their classes, and the texts within them."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.classes: set[str] = set()
        self.labels: list[str] = []
        self.texts: list[str] = []
        self.images = 0
        self.lost: list[str] = []
        """Tables and lists within an image: nobody would hear of them."""
        self.within: list[str] = []
        self.feed(frame.picture.to_html())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        image = dict(attrs).get("role") == "img"
        self.images += image
        if "img" in self.within and tag in ("table", "dl"):
            self.lost.append(tag)
        self.within.append("img" if image else tag)
        for name, value in attrs:
            if name == "class":
                self.classes.update((value or "").split())
            if name == "aria-label":
                self.labels.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.within.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def frames_in(record: Record) -> list[Frame]:
    return list(frames_of(record).frames)


def size(frame: Frame) -> int:
    """Characters of the JSON of a frame."""
    return len(json.dumps(frame.to_json(frame.picture.to_json()), separators=(",", ":")))


def elements(tree: Any, kind: str) -> list[Any]:
    """Every element of a picture's JSON that has this class."""
    if isinstance(tree, str):
        return []
    found = [tree] if kind in tree[1].get("class", "").split() else []
    return found + [each for child in tree[2:] for each in elements(child, kind)]


def texts(tree: Any) -> list[str]:
    """Every text in a picture's JSON, in order."""
    return [tree] if isinstance(tree, str) else [text for child in tree[2:] for text in texts(child)]


def pictured(frame: Frame, kind: str) -> list[list[str]]:
    """The texts of each element of this class."""
    return [texts(each) for each in elements(frame.picture.to_json(), kind)]


def headings(tree: Any) -> list[Any]:
    """Every heading of a column or a row."""
    if isinstance(tree, str):
        return []
    return ([tree] if tree[0] == "th" else []) + [each for child in tree[2:] for each in headings(child)]


def check_promises(record: Record, largest: int) -> list[Frame]:
    """Everything that holds for all frames of all games. `largest`: characters of JSON of one frame."""
    played = frames_of(record)
    assert played.scores is not None
    frames, names, game = list(played.frames), played.names, record.game
    assert frames == frames_in(record), "a board view is a pure function"
    allowed = {tag.lower() for tag in HTML_TAGS | SVG_TAGS}
    style = board_view(game).STYLE
    for frame in frames:
        assert frame.label and all(frame.feed) and frame.feed
        assert size(frame) <= largest, (frame.label, size(frame))
        assert all(len(row) == len(names) and all(row) for _, row in frame.counts)
        drawn = Drawn(frame)
        assert drawn.tags <= allowed
        assert drawn.images == 1 and not drawn.lost, "of an image a reader is told the label alone"
        assert all("".join(texts(each)).strip() for each in headings(frame.picture.to_json())), "no heading is empty"
        assert len(drawn.labels) == 1 and drawn.labels[0].count(".") >= 1
        assert all(name.startswith(game) or re.fullmatch("seat(-[0-9]+)?", name) for name in drawn.classes)
        for text in (*drawn.texts, *drawn.labels):
            assert escaped(text) == text
        for name in names:
            assert one_line(name, 400) in "\n".join((*drawn.texts, *drawn.labels))
    assert [frame.kind for frame in frames].index("end") == len(frames) - 1
    assert frames[0].kind == "start"
    assert len({frame.label for frame in frames}) == len(frames)
    last = frames[-1]
    for name, value in zip(names, played.scores, strict=True):
        assert any(name in line and score(value) in line for line in last.feed)
        assert any(score(value) in text for text in (*Drawn(last).texts, *Drawn(last).labels))
    assert style.count("{") == style.count("}")
    return frames
