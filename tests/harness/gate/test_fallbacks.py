"""Whose moves were judged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.gate.conduct import Rates, per_cent, played_by_fallback


@pytest.mark.parametrize(
    ("rate", "most", "refused"),
    [
        (0.2, 0.2, False),
        (0.201, 0.2, True),
        (0.0, 0.0, False),
        (1.0, 1.0, True),
        (0.99, 1.0, False),
        (None, 0.0, False),
    ],
)
def test_a_policy_with_no_move_of_its_own_never_counts_and_others_up_to_the_limit(rate, most, refused):
    assert (played_by_fallback(Rates(rate), most) is not None) == refused


@given(st.floats(0, 1))
def test_a_share_is_never_told_as_none_or_all_unless_it_is(share):
    text = per_cent(share)
    assert (text == "0 %") == (share == 0)
    assert (text == "100 %") == (share == 1)
    assert float(text.removesuffix(" %")) == pytest.approx(100 * share, rel=0.006)


def test_a_share_that_nobody_knows_is_a_dash():
    assert per_cent(None) == "-"
