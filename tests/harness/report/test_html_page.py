"""The page: it runs nothing, asks nobody, and holds texts as texts."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser

import pytest

from tests.harness.report.small_runs import HOSTILE
from weigh.harness.report.render.charts import bar, scale
from weigh.harness.report.render.document import Cell, Code, Column, Document, Link, Section, Table, Text, Word, line
from weigh.harness.report.render.html import html_page


class Tags(HTMLParser):
    """Every start tag with its attributes, in order; that they close in order."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


def page(*blocks, title="Report: x"):
    return html_page(Document(title, (Text(line("about")),), (), (Section("Part", "part", blocks),), line()))


def test_the_policy_allows_the_one_style_sheet_and_nothing_else():
    text = page()
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [
        meta["content"] for meta in Tags(text).of("meta") if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_there_is_no_script_no_style_attribute_and_no_address_outside():
    shown = Table("c", (Column("a", numeric=False),), ((Cell(HOSTILE, bar(scale([1]), HOSTILE, 1)),),))
    tags = Tags(page(Text(line(HOSTILE, Code(HOSTILE), Word(HOSTILE, "strong"))), shown, title=HOSTILE))
    assert not {tag for tag, _ in tags.found} & {"script", "img", "iframe", "object", "form", "base", "image", "use"}
    for _, attributes in tags.found:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcset")]
        assert not attributes.get("href", "#").startswith(("http", "//", "/", "javascript"))
    assert tags.open == []


def test_hidden_and_reversing_characters_become_visible():
    text = page(title=HOSTILE)
    assert "\u202e" not in text
    assert "\\u202e" in text


@pytest.mark.parametrize(
    "target", ["javascript:x", "https://x.test", "//x.test", "/etc/passwd", "a b", 'x"y', "data:,x"]
)
def test_no_link_leads_elsewhere(target):
    with pytest.raises(ValueError, match="may not lead"):
        page(Text(line(Link("x", target))))


@pytest.mark.parametrize("target", ["#part", "replays/a.html#step=3", "../replays/a%20b.html", "a.html#frame=3&x=y"])
def test_relative_links_are_kept(target):
    assert target in [link["href"] for link in Tags(page(Text(line(Link("x", target))))).of("a")]


def test_tables_have_captions_scopes_and_named_rows():
    columns = (Column("rank"), Column("entrant", numeric=False), Column("mean"))
    tags = Tags(page(Table("who leads", columns, ((Cell("1"), Cell("ann"), Cell("+0.1")),))))
    assert [each["scope"] for each in tags.of("th")] == ["col", "col", "col", "row"]
    assert len(tags.of("caption")) == len(tags.of("table")) == 1


def test_every_section_has_a_heading_and_a_place_in_the_contents():
    text = html_page(
        Document("t", (), (), (Section("One", "one", (), (Section("Two", "two"),)), Section("Three", "three")), line())
    )
    tags = Tags(text)
    assert {link["href"] for link in tags.of("a")} == {"#main", "#one", "#two", "#three"}
    assert [each["id"] for each in tags.of("h2")] == ["one-title", "three-title"]
    assert [each["id"] for each in tags.of("h3")] == ["two-title"]
