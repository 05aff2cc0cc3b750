"""The picture of paired differences: every mark where the arithmetic puts it."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.report.render import paired_plot
from weigh.harness.report.render.paired_plot import DRAWN, MOST_ROWS, NARROWEST, Scale, Span, plot, scale_for

SIDES = ("A better", "B better")


def test_columns_worked_by_hand():
    scale = Scale(limit=0.5, half=20)
    # 0.25 / 0.5 * 20 = 10 columns from the middle, at 20; 0.0125 / 0.5 * 20 = 0.5, which is rounded away from zero.
    assert [scale.column(x) for x in (-0.5, -0.25, -0.0125, -0.01, 0, 0.01, 0.0125, 0.25, 0.5)] == (
        [0, 10, 19, 20, 20, 20, 21, 30, 40]
    )
    assert scale.column(0.7) == 40
    assert scale.column(-0.7) == 0


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ([0.3, -0.1], 0.3),
        ([0.31], 0.4),
        ([-0.62], 0.8),
        ([0.9], 1.0),
        ([1.2], 1.5),
        ([-2.0], 2.0),
        ([0.011], 0.015),
        ([0.0, 0.0], 0.1),
        ([], 0.1),
        ([0.1 + 0.2], 0.3),
    ],
)
def test_the_scale_ends_at_the_next_round_number(values, limit):
    assert scale_for(values, 41) == Scale(pytest.approx(limit), 20)


def test_the_whole_picture_worked_by_hand():
    # Width 52: 5 for the label, 10 for the number, 37 columns, 18 to each side of zero, which stand for 0.4. So 0.2
    # stands 9 columns to the right of it, -0.4 18 to the left, 0.1 at 4.5, rounded to 5.
    lines = plot(
        [("b0001", 0.2), ("b0000", -0.4), ("b0002", 0.0)],
        [Span("mean", -1 / 15, (-0.3, 0.1)), Span("null", 0.0, None)],
        SIDES,
        width=52,
    )
    middle = 5 + 10 + 18
    assert lines == [
        " " * (middle - 10) + "A better  0  B better",
        "b0000  -0.400  o" + "-" * 17 + "|",
        "b0002   0.000  " + " " * 18 + "o",
        "b0001  +0.200  " + " " * 18 + "|" + "-" * 8 + "o",
        # -0.3 / 0.4 * 18 = -13.5, so 14 to the left; -1/15 / 0.4 * 18 = -3; 0.1 is 4.5, so 5 to the right.
        "mean   -0.067  " + " " * 4 + "[" + "-" * 10 + "*" + "--|----]",
        "null    0.000  " + " " * 18 + "*",
        "               -0.4" + " " * 14 + "0" + " " * 14 + "+0.4",
    ]


def test_the_picture_in_the_modules_own_words_is_one_that_it_draws():
    values = [("b0000", -0.4), ("b0001", 0.2), ("b0002", 0.0)]
    lines = plot(values, [Span("mean", -1 / 15, (-0.3, 0.1))], SIDES, width=52)
    assert "\n".join(f"    {line}" for line in lines) in (paired_plot.__doc__ or "")


def test_it_is_ascii_unless_a_terminal_has_more():
    values = [("b0000", -0.4), ("b0001", 0.2)]
    spans = [Span("mean", -0.1, (-0.3, 0.1))]
    assert "\n".join(plot(values, spans, SIDES)).isascii()
    drawn = plot(values, spans, SIDES, ink=DRAWN)
    assert list(map(len, drawn)) == list(map(len, plot(values, spans, SIDES)))
    assert drawn != plot(values, spans, SIDES)


@pytest.mark.parametrize("number", [1, MOST_ROWS, MOST_ROWS + 1, 100, 250])
def test_every_block_has_one_mark_however_many_there_are(number):
    values = [(f"b{n:04}", math.sin(n)) for n in range(number)]
    lines = plot(values, [], SIDES)
    assert len(lines) <= MOST_ROWS + 2
    assert sum(1 if line.startswith("b") else int(line.split()[0]) for line in lines[1:-1]) == number
    pictures = [re.sub(r"^(b\d+ +[-+ ]\d\.\d{3}|\d+ blocks)", "", line) for line in lines[1:-1]]
    marks = [mark for picture in pictures for mark in picture if mark == "o" or mark.isdigit()]
    assert sum(1 if mark == "o" else int(mark) for mark in marks) == number


def test_marks_on_one_column_are_counted():
    lines = plot([(f"b{n:04}", 0.5) for n in range(3 * MOST_ROWS)], [], SIDES)
    assert all(line.endswith("-3") for line in lines[1:-1])
    lines = plot([(f"b{n:04}", 0.5) for n in range(10 * MOST_ROWS)], [], SIDES)
    assert all(line.endswith("-+") for line in lines[1:-1])


def test_nothing_to_show_is_no_picture_and_no_number_is_refused():
    assert plot([], [Span("mean", None, None)], SIDES) == []
    with pytest.raises(ValueError, match="no place"):
        plot([("b0000", math.nan)], [], SIDES)


@given(
    st.lists(st.floats(-2, 2), min_size=1, max_size=90),
    st.integers(10, 200),
    st.sampled_from(["b", "a-block-with-quite-a-name"]),
)
def test_no_line_is_wider_than_asked_and_rows_are_sorted(values, width, label):
    lines = plot([(label, value) for value in values], [Span("mean", sum(values) / len(values), None)], SIDES, width)
    assert max(map(len, lines)) <= max(width, NARROWEST)
    if len(values) <= MOST_ROWS:
        told = [float(line.split()[1]) for line in lines[1:-2]]
        assert told == sorted(told)
        assert told == pytest.approx(sorted(values), abs=0.0005001)
