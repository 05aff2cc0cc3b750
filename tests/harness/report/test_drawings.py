"""Drawings: every mark where its number is, and the number in words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree

import pytest

from weigh.harness.report.render.charts import axis, bar, interval, scale, spread, stack
from weigh.harness.report.render.text import DRAWN, limit_of
from weigh.harness.report.render.text import axis as axis_text
from weigh.harness.report.render.text import drawn as characters

ONE = scale([-1, 1])


def drawn(element):
    return tree.fromstring(element.to_html())


def of_class(element, name):
    return [each for each in drawn(element).iter() if name in (each.get("class") or "").split()]


def place(text):
    return float(text.removesuffix("%"))


def test_the_dot_the_bar_and_the_diamond_stand_at_their_numbers():
    made = interval(ONE, "ann", 0.5, (-0.5, 1.0), 0.0)
    (dot,) = of_class(made, "mean")
    (bar_,) = of_class(made, "span")
    (mark,) = of_class(made, "mark")
    assert place(dot.get("cx")) == pytest.approx(3 + 0.75 * 94)
    assert [place(bar_.get(end)) for end in ("x1", "x2")] == pytest.approx([3 + 0.25 * 94, 97])
    assert place(mark.get("x")) == pytest.approx(50)
    assert [place(cap.get("x1")) for cap in of_class(made, "cap")] == pytest.approx([3 + 0.25 * 94, 97])


def test_zero_has_a_line_of_its_own_kind():
    (zero,) = of_class(interval(ONE, "ann", 0.5, None), "zero")
    assert place(zero.get("x1")) == pytest.approx(50)
    assert len(of_class(interval(ONE, "ann", 0.5, None), "grid")) == 4


def test_a_mean_without_an_interval_does_not_look_sure():
    made = interval(ONE, "ann", 0.5, None)
    assert of_class(made, "span") == []
    assert len(of_class(made, "ring")) == 1
    assert of_class(interval(ONE, "ann", 0.5, (0.4, 0.6)), "ring") == []


def test_an_entrant_without_a_rank_has_a_broken_bar():
    assert len(of_class(interval(ONE, "ann", 0.5, (0.4, 0.6), ranked=False), "unsure")) == 1


@pytest.mark.parametrize(
    "made",
    [
        interval(ONE, "ann: mean <0.5>", 0.5, None),
        bar(ONE, "ann: mean <0.5>", 0.5),
        spread(ONE, "ann: mean <0.5>", 0.1, 0.5),
    ],
)
def test_every_drawing_is_an_image_that_says_what_it_shows(made):
    root = drawn(made)
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find("title").text == "ann: mean <0.5>"


def test_pieces_follow_each_other_and_nothing_is_drawn_for_none():
    made = stack(scale([0, 100]), "ann", [(0, 75, "own"), (1, 0, "retry"), (2, 25, "fallback")])
    pieces = of_class(made, "piece")
    assert [each.get("class") for each in pieces] == ["piece series-0", "piece series-2"]
    assert [place(each.get("x")) for each in pieces] == pytest.approx([3, 3 + 0.75 * 94])
    assert sum(place(each.get("width")) for each in pieces) == pytest.approx(94, abs=0.02)
    assert [each.find("title").text for each in pieces] == ["own", "fallback"]


def test_a_range_goes_from_the_median_over_p95_to_the_most():
    made = spread(scale([0, 4]), "ann", 1, 2, 4)
    (bar_,), (whisker,) = of_class(made, "span"), of_class(made, "whisker")
    assert [place(bar_.get(end)) for end in ("x1", "x2")] == pytest.approx([3 + 94 / 4, 50])
    assert [place(whisker.get(end)) for end in ("x1", "x2")] == pytest.approx([50, 97])


def test_an_axis_says_its_ends_and_zero_with_a_unit_once():
    texts = [each.text for each in drawn(axis(ONE, " s", signed=True)).iter() if each.tag.endswith("text")]
    assert texts == ["-1", "-0.5", "0", "+0.5", "+1 s"]
    kept = [text for text in re.findall(r"<text[^>]*>[^<]*", axis(ONE, signed=True).to_html()) if "between" not in text]
    assert [text.rpartition(">")[2] for text in kept] == ["-1", "0", "+1"]


def test_characters_draw_a_mean_and_its_interval_around_zero():
    assert axis_text(0.5, 10) == "-0.5      0      +0.5"
    assert characters(0.1, (-0.2, 0.3), 0.5, 10) == "      +-----o---+"
    assert characters(-0.5, (-0.7, -0.3), 0.5, 10) == "o---+     |"
    assert characters(0.25, None, 0.5, 10, DRAWN) == "          \u2502    \u25cf"
    assert [limit_of(values) for values in ([], [0.0], [0.11, -0.12], [1.0], [-2.1])] == pytest.approx(
        [0.1, 0.1, 0.15, 1.0, 3.0]
    )
