"""HTML as a browser's parser splits it."""

from __future__ import annotations

from html.parser import HTMLParser


class Parts(HTMLParser):
    """The elements of a page, as a browser's parser splits them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.open = -1
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open = len(self.tags) - 1

    def handle_endtag(self, tag):
        self.open = -1

    def handle_data(self, data):
        self.texts[self.open] = self.texts.get(self.open, "") + data

    def all(self, tag):
        return [
            (attributes, self.texts.get(place, "")) for place, (each, attributes) in enumerate(self.tags) if each == tag
        ]
