"""Pictures as trees: what they may hold, and that text in them stays text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.web.episodes import played
from tests.harness.web.markup import Parts
from weigh.games.registry import GAMES
from weigh.harness.web.svg import LONGEST_TEXT, h, share
from weigh.harness.web.viewer.frames import frames_of
from weigh.policies.show import escaped


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
    ((tag, attributes), *others) = (parts := Parts(h("div", {"aria-label": label}, text).to_html())).tags
    assert (tag, [*attributes], others) == ("div", ["aria-label"], [])
    read = "".join(parts.texts.values())
    assert escaped(read) == read


@given(HOSTILE)
def test_the_json_form_survives_json(text):
    tree = h("g", {"class": text}, text, h("text", None, text)).to_json()
    assert json.loads(json.dumps(tree)) == tree


def test_long_text_is_cut_and_says_so():
    (child,) = h("p", None, "x" * (LONGEST_TEXT + 5)).children
    assert child == "x" * LONGEST_TEXT + "… (+5)"


def unshared(tree, shared):
    """The tree as `Element.to_json` gives it: what the page's script does."""
    if isinstance(tree, int):
        return unshared(shared[tree], shared)
    return tree if isinstance(tree, str) else [*tree[:2], *(unshared(child, shared) for child in tree[2:])]


TREES = st.recursive(
    st.text(max_size=20).map(lambda text: h("p", None, text)),
    lambda inner: st.lists(st.one_of(inner, st.text(max_size=20)), max_size=4).map(
        lambda children: h("div", {"class": "a-class-of-some-length"}, *children)
    ),
    max_leaves=12,
)


@given(st.lists(TREES, max_size=4))
def test_shared_trees_are_the_same_trees(trees):
    found = share(trees)
    assert [unshared(tree, found.shared) for tree in found.trees] == [tree.to_json() for tree in trees]
    assert json.loads(json.dumps(found.shared)) == list(found.shared)


def test_a_shared_tree_leads_to_earlier_ones_only():
    def references(tree):
        if isinstance(tree, int):
            yield tree
        elif not isinstance(tree, str):
            for child in tree[2:]:
                yield from references(child)

    found = share([frame.picture for frame in frames_of(played("goofspiel")).frames])
    assert found.shared
    for place, tree in enumerate(found.shared):
        assert all(reference < place for reference in references(tree))


@pytest.mark.parametrize("name", GAMES)
def test_sharing_saves_room(name):
    pictures = [frame.picture for frame in frames_of(played(name)).frames]
    found = share(pictures)
    whole = len(json.dumps([picture.to_json() for picture in pictures]))
    assert len(json.dumps([found.shared, found.trees])) < 0.7 * whole
