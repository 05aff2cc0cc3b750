"""Whose moves were judged."""

from __future__ import annotations

import pytest

from weigh.harness.gate.measures import Rates, played_by_fallback


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
