"""Pictures as trees: what they may hold, and that text in them stays text."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.web.viewer.nodes import LONGEST_TEXT, h
from weigh.policies.show import escaped


class Reader(HTMLParser):
    """What a browser would make of a piece of HTML: its elements, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_a_tree_has_one_json_form_and_one_html_form():
    tree = h("div", {"class": "a b", "x": 0.3333333}, "1 < 2", h("b", None, "&"), None)
    assert tree.to_json() == ["div", {"class": "a b", "x": "0.333"}, "1 < 2", ["b", {}, "&"]]
    assert tree.to_html() == '<div class="a b" x="0.333">1 &lt; 2<b>&amp;</b></div>'


@pytest.mark.parametrize("tag", ["script", "style", "iframe", "a", "img", "foreignObject", "use", "DIV", "p onload=x"])
def test_elements_that_could_run_fetch_or_lead_away_are_refused(tag):
    with pytest.raises(ValueError, match="no element"):
        h(tag)


@pytest.mark.parametrize("name", ["style", "href", "src", "onclick", "xlink:href", "srcdoc", "formaction", 'x"'])
def test_attributes_that_could_run_fetch_or_lead_away_are_refused(name):
    with pytest.raises(ValueError, match="no attribute"):
        h("div", {name: "1"})


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["</script><script>alert(1)</script>", "<!--", "]]>", '"><img src=x onerror=a>', "\u202eevil\u2066", "\x1b[31m"]
    ),
)


@given(HOSTILE, HOSTILE)
def test_hostile_text_stays_text_in_html(text, label):
    read = Reader(h("div", {"aria-label": label}, text).to_html())
    assert read.tags == ["div"]
    assert [name for name, _ in read.attributes] == ["aria-label"]
    assert escaped(read.text) == read.text


@given(HOSTILE)
def test_the_json_form_survives_json(text):
    tree = h("g", {"class": text}, text, h("text", None, text)).to_json()
    assert json.loads(json.dumps(tree)) == tree


def test_long_text_is_cut_and_says_so():
    (child,) = h("p", None, "x" * (LONGEST_TEXT + 5)).children
    assert child == "x" * LONGEST_TEXT + "… (+5)"
