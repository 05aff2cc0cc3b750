"""Oshi-Zumo's pictures: what stands in them is what the rules make of the moves."""

from __future__ import annotations

import json

from hypothesis import given as for_all
from hypothesis import strategies as st

from tests.harness.web.episodes import given, played
from weigh.harness.web.viewer.frames import frames_of


def frames(rows, config, **changes):
    record = played("oshi_zumo", config, choose=given(rows), **changes)
    return list(frames_of(record).frames)


def test_a_round_is_its_bids_and_then_the_push():
    told = frames([(2, 1), (1, 1), (1, 2)], {"coins": 4, "size": 2})
    assert [(frame.kind, frame.label) for frame in told] == [
        ("start", "the token in the middle"),
        *(("reveal", "round 1: bids"), ("move", "round 1: push")),
        *(("reveal", "round 2: bids"), ("move", "round 2: no push")),
        *(("reveal", "round 3: bids"), ("move", "round 3: push")),
        ("end", "end: coins-exhausted"),
    ]
    assert told[2].feed == ("Ash (entrant-0) pushes the token up to cell 3.",)
    assert told[4].feed == ("The bids are equal: the token stays on cell 3.",)
    assert told[-1].feed[1] == "A draw: the token stands in the middle, on cell 2."


def test_purses_and_pushes_run_along():
    told = frames([(2, 1), (1, 1), (1, 2)], {"coins": 4, "size": 2})
    assert dict(told[0].counts) == {"coins left": ("4", "4"), "spent": ("0", "0"), "pushes needed": ("3", "3")}
    assert dict(told[1].counts)["pushes needed"] == ("3", "3"), "the token moves a frame later"
    assert dict(told[2].counts) == {"coins left": ("2", "3"), "spent": ("2", "1"), "pushes needed": ("2", "4")}


def test_a_pushout_is_told_with_its_winner():
    told = frames([(1, 2), (1, 2)], {"coins": 4, "size": 1})
    assert told[-2].feed == ("Aspen (entrant-1) pushes the token down off the field.",)
    assert told[-1].label == "end: pushout"
    assert told[-1].feed[1:] == (
        "Aspen (entrant-1) wins.",
        "Scores: Ash (entrant-0) -1.0000 (-1), Aspen (entrant-1) +1.0000 (+1).",
    )


def test_an_overbid_is_loud_and_comes_before_the_push():
    told = frames([(2, 9), (1, 1)], {"coins": 10}, stop=2)
    assert [frame.kind for frame in told[1:4]] == ["reveal", "overbid", "move"]
    assert told[2].banner == "OVERBID by 7"
    assert "paid 9 where 3 was enough: 7 above Ash (entrant-0)'s 2." in told[2].feed[0]


def test_the_clocks_end_is_told_as_such():
    assert frames([], {}, stop=0)[-1].feed[0] == "The clock stopped the match."


@for_all(st.integers(4, 50), st.integers(1, 5), st.integers(0, 2), st.integers(0, 999))
def test_every_field_draws_and_stays_small(coins, size, least, seed):
    record = played("oshi_zumo", {"coins": coins, "size": size, "min_bid": least}, seed=seed)
    told = frames_of(record)
    assert all(len(json.dumps(frame.picture.to_json())) < 30_000 for frame in told.frames)
    assert f"{record.ending}" in told.frames[-1].label
