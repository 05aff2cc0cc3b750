"""What both arms play: every seat once on one deal, the same in both."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.config.blocks import planned


@given(st.integers(2, 6), st.lists(st.sampled_from("abcd"), min_size=1, max_size=5), st.integers(0, 3))
def test_the_focal_policy_sits_in_every_seat_of_a_block_once_with_the_same_others(seats, field, seed):
    for block in planned("g", seats, field, "candidate", seed, 6):
        assert [episode.entrants.index("candidate") for episode in block.episodes] == list(range(seats))
        assert {episode.deal_key for episode in block.episodes} == {episode.block for episode in block.episodes}
        assert {episode.deal_key for episode in block.episodes} == {block.key}
        assert len({tuple(sorted(episode.entrants)) for episode in block.episodes}) == 1


def test_both_arms_play_under_equal_keys_with_equal_neighbours():
    one, other = (planned("g", 4, ("a", "b", "c"), role, 7, 20) for role in ("candidate", "baseline"))
    for mine, theirs in zip(one, other, strict=True):
        for left, right in zip(mine.episodes, theirs.episodes, strict=True):
            assert (left.key, left.stream_key, left.deal_key) == (right.key, right.stream_key, right.deal_key)
            assert tuple("baseline" if name == "candidate" else name for name in left.entrants) == right.entrants


def test_fewer_blocks_are_the_beginning_of_more():
    assert planned("g", 3, ("a", "b"), "candidate", 1, 30)[:7] == planned("g", 3, ("a", "b"), "candidate", 1, 7)


def test_a_field_larger_than_the_table_takes_turns_and_everybody_sits_equally_often():
    blocks = planned("g", 2, ("a", "b", "c"), "candidate", 0, 9)
    assert Counter(name for block in blocks for name in block.episodes[0].entrants if name != "candidate") == {
        "a": 3,
        "b": 3,
        "c": 3,
    }


def test_the_seed_deals_the_order_of_the_others():
    orders = {planned("g", 4, ("a", "b", "c"), "candidate", seed, 1)[0].episodes[0].entrants for seed in range(20)}
    assert len(orders) == 6
