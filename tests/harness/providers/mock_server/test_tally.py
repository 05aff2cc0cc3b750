"""Counting in bounded memory."""

from __future__ import annotations

from weigh.harness.providers.mock_server.tally import OTHER, NamedTally, RecentTally


def test_a_recent_tally_forgets_what_was_counted_longest_ago() -> None:
    tally = RecentTally(most=2)
    assert [tally.add(key) for key in "aabacb"] == [1, 2, 1, 3, 1, 1]  # c drives out b, then b drives out a
    assert tally.add("c") == 2
    assert tally.add("a") == 1


def test_a_named_tally_counts_names_beyond_its_bound_together() -> None:
    tally = NamedTally(most=2)
    for name in ("a", "b", "c", "d", "a"):
        tally.add(name)
    tally.add("c", 5)
    assert tally.counts == {"a": 2, "b": 1, OTHER: 7}
