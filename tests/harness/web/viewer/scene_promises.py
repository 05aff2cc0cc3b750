"""What every scene promises of its beats, checked on a whole episode."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from weigh.harness.store.record import Record
from weigh.harness.web.viewer.amounts import score
from weigh.harness.web.viewer.frames import frames_of
from weigh.harness.web.viewer.nodes import HTML_TAGS, SVG_TAGS
from weigh.harness.web.viewer.scene import Beat
from weigh.harness.web.viewer.scenes import scene_of
from weigh.policies.show import escaped, one_line

HOSTILE = ("</script><b>", '"><img src=x>', "\u202eevil\u2066", "a & b <i>", "\x1b[31mred")
"""Names of entrants that would be something else than text, were they let."""


class Drawn(HTMLParser):
    """What a browser makes of a picture: its elements with their classes, and the texts within them."""

    def __init__(self, beat: Beat) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.classes: set[str] = set()
        self.labels: list[str] = []
        self.texts: list[str] = []
        self.images = 0
        self.lost: list[str] = []
        """Tables and lists within an image: nobody would hear of them."""
        self.within: list[str] = []
        self.feed(beat.picture.to_html())
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


def beats_of(record: Record) -> list[Beat]:
    return [frame.beat for frame in frames_of(record).frames]


def size(beat: Beat) -> int:
    """Characters of the JSON of a beat."""
    return len(json.dumps(beat.to_json(), separators=(",", ":")))


def elements(tree: Any, kind: str) -> list[Any]:
    """Every element of a picture's JSON that has this class."""
    if isinstance(tree, str):
        return []
    found = [tree] if kind in tree[1].get("class", "").split() else []
    return found + [each for child in tree[2:] for each in elements(child, kind)]


def texts(tree: Any) -> list[str]:
    """Every text in a picture's JSON, in order."""
    return [tree] if isinstance(tree, str) else [text for child in tree[2:] for text in texts(child)]


def pictured(beat: Beat, kind: str) -> list[list[str]]:
    """The texts of each element of this class."""
    return [texts(each) for each in elements(beat.picture.to_json(), kind)]


def headings(tree: Any) -> list[Any]:
    """Every heading of a column or a row."""
    if isinstance(tree, str):
        return []
    return ([tree] if tree[0] == "th" else []) + [each for child in tree[2:] for each in headings(child)]


def check_promises(record: Record, largest: int) -> list[Beat]:
    """Everything that holds for all beats of all games. `largest`: characters of JSON of one beat."""
    frames = frames_of(record)
    assert frames.scores is not None
    beats, names, game = [frame.beat for frame in frames.frames], frames.names, record.game
    assert beats == beats_of(record), "a scene is a pure function"
    allowed = {tag.lower() for tag in HTML_TAGS | SVG_TAGS}
    style = scene_of(game).STYLE
    for beat in beats:
        assert beat.label and all(beat.feed) and beat.feed
        assert size(beat) <= largest, (beat.label, size(beat))
        assert all(len(row) == len(names) and all(row) for _, row in beat.counts)
        drawn = Drawn(beat)
        assert drawn.tags <= allowed
        assert drawn.images == 1 and not drawn.lost, "of an image a reader is told the label alone"
        assert all("".join(texts(each)).strip() for each in headings(beat.picture.to_json())), "no heading is empty"
        assert len(drawn.labels) == 1 and drawn.labels[0].count(".") >= 1
        assert all(name.startswith(game) or re.fullmatch("seat(-[0-9]+)?", name) for name in drawn.classes)
        for text in (*drawn.texts, *drawn.labels):
            assert escaped(text) == text
        for name in names:
            assert one_line(name, 400) in "\n".join((*drawn.texts, *drawn.labels))
    assert [beat.kind for beat in beats].index("end") == len(beats) - 1
    assert beats[0].kind == "start"
    assert len({beat.label for beat in beats}) == len(beats)
    last = beats[-1]
    for name, value in zip(names, frames.scores, strict=True):
        assert any(name in line and score(value) in line for line in last.feed)
        assert any(score(value) in text for text in (*Drawn(last).texts, *Drawn(last).labels))
    assert style.count("{") == style.count("}")
    return beats
