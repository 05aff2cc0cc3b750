"""Places on a line: round ticks, and everything on it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.report.render.charts import EDGE, scale, tick_text

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([-0.13, 0.21], (-0.2, -0.1, 0, 0.1, 0.2, 0.3)),
        ([-1, 1], (-1, -0.5, 0, 0.5, 1)),
        ([0.4, 0.9], (0, 0.25, 0.5, 0.75, 1.0)),
        ([0, 100], (0, 25, 50, 75, 100)),
        ([0.0012], (0, 0.0005, 0.001, 0.0015)),
        ([], (0, 0.25, 0.5, 0.75, 1)),
        ([None, float("nan")], (0, 0.25, 0.5, 0.75, 1)),
    ],
)
def test_ticks_are_round_and_hold_zero(values, ticks):
    assert scale(values).ticks == pytest.approx(ticks)


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_everything_has_a_place_within_and_in_order(values):
    made = scale(values)
    assert made.low <= min(*values, 0) + 1e-9 * (made.high - made.low)
    assert made.high >= max(*values, 0) - 1e-9 * (made.high - made.low)
    assert (made.ticks[0], made.ticks[-1]) == pytest.approx((made.low, made.high))
    assert any(abs(tick) < 1e-9 * (made.high - made.low) for tick in made.ticks)
    assert 2 <= len(made.ticks) <= 8
    places = [made.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(EDGE - 1e-6 <= place <= 100 - EDGE + 1e-6 for place in places)


def test_the_middle_of_a_scale_is_in_the_middle():
    assert scale([-1, 1]).at(0) == pytest.approx(50)
    assert scale([-1, 1]).at(7) == pytest.approx(100 - EDGE)


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [(0.25, False, "0.25"), (0.5, True, "+0.5"), (-1, True, "-1"), (-0.0, True, "0"), (0.1 + 0.2, False, "0.3")],
)
def test_a_tick_is_as_short_as_it_is_exact(value, signed, text):
    assert tick_text(value, signed) == text
