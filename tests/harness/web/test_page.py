"""The page as a file: its policy, its data, its size, and what its script may make."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh.harness.web
from tests.harness.web.episodes import played
from tests.harness.web.markup import Parts
from tests.harness.web.runs import MODELS, VOID, make_run
from weigh.games.registry import GAMES
from weigh.harness.errors import TooLarge
from weigh.harness.store.store import Store
from weigh.harness.web.svg import ATTRIBUTES, HTML_TAGS, SVG_TAGS
from weigh.harness.web.viewer.episode import LONGEST, legible, text
from weigh.harness.web.viewer.page import island, page_parts
from weigh.harness.web.viewer.run import episode_page, file_name, record_page, run_folder_pages, run_page
from weigh.policies.show import escaped

SCRIPTS = [*Path(weigh.harness.web.__file__).parent.glob("viewer/assets/*.js")]


def digest(text):
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.fixture(scope="module")
def small():
    return "".join(record_page(played("goofspiel", {"seats": 3, "cards": 4})))


def test_the_policy_allows_its_own_style_and_script_and_no_request(small):
    parts = Parts(small)
    (policy,) = [
        each["content"] for each, _ in parts.all("meta") if each.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    (style,) = parts.all("style")
    (script,) = [text for attributes, text in parts.all("script") if "type" not in attributes]
    assert rules == {
        "default-src": "'none'",
        "style-src": digest(style[1]),
        "script-src": digest(script),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert small.index("Content-Security-Policy") < small.index("<style>") < small.index("<script")


def test_nothing_is_fetched_from_anywhere(small):
    parts = Parts(small)
    assert [attributes["href"] for attributes, _ in parts.all("link")] == ["data:,"]
    assert {attributes["href"] for attributes, _ in parts.all("a")} == {"#", "#main"}
    assert not parts.all("img")
    assert not [attributes for _, attributes in parts.tags if "src" in attributes or "style" in attributes]
    assert not [name for _, attributes in parts.tags for name in attributes if name.startswith("on")]
    assert "url(" not in parts.all("style")[0][1]


def test_the_script_makes_no_markup_of_text():
    ways = (
        "innerHTML outerHTML insertAdjacent document.write eval( Function( DOMParser fetch( XMLHttpRequest localStorage"
    )
    assert len(SCRIPTS) == 6
    for path in SCRIPTS:
        assert [way for way in ways.split() if way in path.read_text(encoding="utf-8")] == [], path.name


def test_the_script_makes_the_elements_of_pictures_and_no_others(small):
    (known,) = re.findall(r"^const ALLOWED = (\{.*\});$", small, re.MULTILINE)
    assert {key: frozenset(names) for key, names in json.loads(known).items()} == {
        "html": HTML_TAGS,
        "svg": SVG_TAGS,
        "attributes": ATTRIBUTES,
    }


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=10,
)


@given(JSON)
def test_data_in_a_page_is_what_was_put_there_and_no_markup(value):
    text = island(value)
    assert json.loads(text) == value
    assert not set("<>&") & set(text)
    assert text.isascii()


@given(st.sampled_from(["</script>", "<!--<script>", "]]>", "\u2028", "\ud800", "--><b>"]), st.text(max_size=20))
def test_no_text_ends_its_element(hostile, more):
    def written(title, value):
        return "".join(page_parts(title, [("episode-0", island(value))], []))

    html = written(hostile, {"a": hostile + more})
    (data,) = [text for attributes, text in Parts(html).all("script") if attributes.get("id") == "episode-0"]
    assert json.loads(data) == {"a": hostile + more}
    assert len(Parts(html).tags) == len(Parts(written("x", {})).tags)


@pytest.mark.parametrize("name", GAMES)
def test_a_page_is_small_beyond_its_data(name):
    """Its data are what stands in its elements of the type application/json: pictures, feed, moves, replies."""
    html = "".join(record_page(played(name)))
    (data,) = [text for attributes, text in Parts(html).all("script") if "type" in attributes]
    assert len(html.encode()) - len(data.encode()) < 150_000
    assert len(data) < 500_000


def test_pages_are_the_same_each_time(tmp_path):
    record = played("oshi_zumo")
    assert record_page(record) == record_page(record)
    make_run(tmp_path / "run")
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert run_page(store, 10_000_000) == run_page(store, 10_000_000)


def listing(parts):
    (text,) = [text for attributes, text in parts.all("script") if attributes.get("id") == "listing-data"]
    return json.loads(text)


def test_a_runs_page_holds_each_episode_in_an_element_of_its_own(tmp_path):
    make_run(tmp_path / "run")
    with Store.open(tmp_path / "run", readonly=True) as store:
        parts = Parts("".join(run_page(store, 10_000_000)))
        records = {record.key: record for record in store.records()}
    rows = {row["key"]: row for row in listing(parts)["rows"]}
    data = {attributes["id"]: json.loads(text) for attributes, text in parts.all("script") if "id" in attributes}
    for key, record in records.items():
        assert data[rows[key]["island"]]["key"] == key
        assert [score for _, score in rows[key]["seats"]] == list(record.scores)
        assert rows[key]["overbids"] == sum(event["type"] == "overbid" for event in record.events)
    assert rows[MODELS]["fallbacks"] == 1
    assert rows[MODELS]["faults"] == 3
    assert "island" not in rows[VOID]
    assert rows[VOID]["cause"] == "void at step 2: 502 from the <b>gateway</b>"


def test_a_page_that_would_be_too_large_is_refused_with_what_to_do(tmp_path):
    make_run(tmp_path / "run")
    with Store.open(tmp_path / "run", readonly=True) as store, pytest.raises(TooLarge, match=r"0\.03 MB .* -o DIR/"):
        run_page(store, 30_000)


def test_an_episode_that_cannot_be_drawn_stands_in_the_index_with_why(tmp_path):
    make_run(tmp_path / "run")
    with Store.open(tmp_path / "run") as store:
        record = store.record("oshi_zumo/b0000/r0")
        store.add_record(record.model_copy(update={"key": "oshi_zumo/b0009/r0", "moves": ((99, 99),)}))
        rows = {row["key"]: row for row in listing(Parts("".join(run_page(store, 10_000_000))))["rows"]}
        names = [each.name for each in run_folder_pages(store)]
    assert rows["oshi_zumo/b0009/r0"]["cause"].startswith("cannot be drawn: step 0, seat 0: 99 is not a legal bid")
    assert names == [
        *("goofspiel-b0000-r0.html", "goofspiel-b0000-r1.html", "oshi_zumo-b0000-r0.html", "oshi_zumo-b0000-r1.html"),
        "index.html",
    ]


def test_file_names_are_harmless_and_differ():
    taken = {"index.html"}
    for key in ("../../etc/passwd", "a/b", "a-b", "a b", "", "index", "x" * 500, "\u202e"):
        name = file_name(key, taken)
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*\.html", name), name
        assert name not in taken
        assert len(name) < 140
        taken.add(name)


@given(st.sampled_from(["a", "\x1b", "\U000e0041", "\u202e", "\n"]), st.integers(0, 60_000))
def test_a_text_says_exactly_how_much_of_it_is_left_out(character, length):
    kept, left, whole = text(character * length)
    assert whole == length
    assert escaped(character) * (length - left) == kept
    assert len(kept) <= 2 * LONGEST
    assert left == 0 or length > LONGEST // 5


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("3 cards, 123456789012 coins", "3 cards, 123456789012 coins"),
        ("seed 12345678901234567", "seed 1.235e16"),
        (f"cost ${10**300}.00 · 2.25 s", "cost $1.000e300 · 2.25 s"),
    ],
)
def test_numbers_that_nobody_can_read_say_their_magnitude(line, told):
    assert legible(line) == told


def test_calls_are_told_with_tokens_time_and_cost_and_texts_are_cut(tmp_path):
    make_run(tmp_path / "run", reply="\x1b" + "x" * 50_000)
    with Store.open(tmp_path / "run", readonly=True) as store:
        html = "".join(episode_page(store, store.record(MODELS)))
    (data,) = [json.loads(text) for attributes, text in Parts(html).all("script") if "id" in attributes]
    first, second, third = data["steps"][0]
    assert first["fallback"] == "match"
    assert [fault["fault"] for fault in first["faults"]] == ["illegal", "empty"]
    assert second["calls"][0]["reply"] is None
    told = second["calls"][2]
    assert told["title"] == "attempt 2: answered"
    assert told["facts"] == "served-by-7 · 321 tokens in (40 cached) · 123 out (45 reasoning) · 2.25 s · $0.0125"
    assert told["reply"][0].startswith("\\x1bxxx")
    assert told["reply"][1:] == [30_001, 50_001]
    assert third["calls"] == []
    facts = dict(data["facts"])
    assert facts["calls"] == "5 calls, 621 tokens in, 183 out, $0.7625"
    assert facts["moves"] == f"{len(data['steps']) * 3 - 2} by the model, 1 by a retry, 1 by the fallback"
    assert facts["run"].startswith("20260501-142233-s7-1f0a9c3e")
