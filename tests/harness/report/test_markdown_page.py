"""The Markdown twin: nothing in it acts, and it is short enough for a comment."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.report.small_runs import HOSTILE
from weigh.harness.report.render.document import (
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    Folded,
    Link,
    Section,
    Table,
    Text,
    line,
)
from weigh.harness.report.render.markdown import MOST_BYTES, at_line_start, code, harmless, markdown_page
from weigh.harness.web.svg import h


def page(*blocks, title="Report: x"):
    return markdown_page(Document(title, (), blocks, (Section("Part", "part"),), line()))


def table(rows, columns=2, **changes):
    heads = (Column("entrant", numeric=False), *(Column(f"n{n}") for n in range(columns - 1)))
    cells = tuple((Cell(f"row {n}"), *(Cell(str(n)) for _ in range(columns - 1))) for n in range(rows))
    return Table("caption", heads, cells, **changes)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", "a\\|b"),
        ("`x`", "\\`x\\`"),
        ("<b>", "&lt;b&gt;"),
        ("a&amp;b", "a&amp;amp;b"),
        ("@root", "@&#8203;root"),
        ("#12", "\\#&#8203;12"),
        ("GH-7", "GH-&#8203;7"),
        ("https://x.test", "https:&#8203;//x.test"),
        ("WWW.x.test", "WWW&#8203;.x.test"),
        ("[a](b)", "\\[a\\](b)"),
        ("a\nb", "a\\\\nb"),
        ("\u202ex", "\\\\u202ex"),
        ("-0.5", "-0.5"),
        ("3 of 4", "3 of 4"),
    ],
)
def test_names_are_text(text, written):
    assert harmless(text) == written


@pytest.mark.parametrize("text", ["- x", "+ x", "1. x", "12) x", "---", "=== x"])
def test_nothing_begins_a_list_a_rule_or_a_heading(text):
    assert at_line_start(text) != harmless(text)
    assert unescape(at_line_start(text)).replace("\u200b", "") == text


@pytest.mark.parametrize("text", ["-0.5", "0.17 s", "+3", "1 of 2"])
def test_numbers_stay_as_they_are(text):
    assert at_line_start(text) == text


@given(st.text(max_size=60))
def test_no_text_leaves_its_cell(text):
    written = harmless(text)
    assert "\n" not in written
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]<>]", written)
    assert not re.search(r"@\w", written)
    assert "://" not in written


@given(st.text(alphabet="`ab| -", min_size=1, max_size=20))
def test_code_is_closed_by_its_own_fence_only(text):
    written = code(text)
    fence = re.match(r"`+", written)[0]
    inside = written[len(fence) : -len(fence)]
    assert written.endswith(fence)
    assert all(len(run) < len(fence) for run in re.findall(r"`+", inside))
    assert inside.strip() == text.strip()


def test_a_table_is_cut_and_says_how_many_are_left_out():
    text = page(table(25))
    assert text.count("\n| row ") == 20
    assert "_5 rows left out; report.html and `--json` have all._" in text


def test_a_list_is_cut_and_says_how_many_are_left_out():
    items = tuple(line(f"item {n}") for n in range(40))
    assert page(Bullets(items)).count("- item ") == 20
    assert "- 20 lines left out" in page(Bullets(items))


def test_folded_parts_open_where_they_stand():
    assert "<details><summary>More</summary>\n\n- a\n\n</details>" in page(Folded("More", (Bullets((line("a"),)),)))


def test_what_is_strong_is_so_in_its_cell():
    shown = Table("c", (Column("a", numeric=False),), ((Cell("x", strong=True),),))
    assert "| **x** |" in page(shown)


def test_drawings_are_left_out():
    drawn = Table("c", (Column("a", numeric=False), Column("picture", drawn=True)), ((Cell("x"), Cell("", h("svg"))),))
    text = page(drawn)
    assert "| a |" in text
    assert not any(word in text for word in ("picture", "svg"))


def test_a_replay_is_named_and_not_linked():
    text = page(Text(line("see ", Link("replay of x/1", "replays/x.html"), " or ", Code("weigh view x"))))
    assert "see replay of x/1 or `weigh view x`" in text


@pytest.mark.parametrize("parts", [12, 60, 400])
def test_the_whole_is_short_enough_whatever_is_in_it(parts):
    blocks = [table(40, 12) for _ in range(parts)]
    text = page(*blocks)
    assert len(text.encode()) <= MOST_BYTES
    assert "left out" in text
    if parts == 400:
        assert text.rstrip().endswith("report.html has all._")


def test_a_hostile_title_is_text():
    text = page(title=HOSTILE)
    assert "<img" not in text
    assert "@`" not in text
    assert "\u202e" not in text
