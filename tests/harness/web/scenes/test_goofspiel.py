"""Goofspiel's pictures: what stands in them is what the rules make of the moves."""

from __future__ import annotations

import json

from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from tests.harness.web.episodes import given, played
from weigh.harness.web.viewer.frames import frames_of

DECK = {"prize_order": [4, 1, 3, 2]}
ROWS = [(4, 4, 1), (1, 2, 3), (3, 1, 2), (2, 3, 4)]
"""Three seats: 4 is shared by two; 1 to the third; 3 to the first; 2 to the third."""


def frames(**changes):
    record = played("goofspiel", {"seats": 3, "cards": 4}, deal=DECK, choose=given(ROWS), **changes)
    return list(frames_of(record).frames)


def test_a_round_is_its_prize_and_then_its_bids():
    assert [frame.label for frame in frames()] == [
        *("round 1: prize 4", "round 1: bids", "round 2: prize 1", "round 2: bids"),
        *("round 3: prize 3", "round 3: bids", "round 4: prize 2", "round 4: bids", "end: prizes-exhausted"),
    ]
    assert [frame.kind for frame in frames()] == [
        "start",
        "reveal",
        "prize",
        "reveal",
        "prize",
        "reveal",
        "prize",
        "reveal",
        "end",
    ]


def test_a_tie_is_split_as_an_exact_fraction():
    rows = [(4, 4, 4), (1, 2, 3), (3, 1, 2), (2, 3, 1)]
    record = played("goofspiel", {"seats": 3, "cards": 4}, deal=DECK, choose=given(rows))
    reveal = frames_of(record).frames[1]
    assert "4/3" not in str(reveal.feed)
    assert "tie at 4 and share 4: 1 1/3 each" in reveal.feed[1]
    assert reveal.counts[0] == ("points", ("1 1/3", "1 1/3", "1 1/3"))
    assert str(reveal.picture.to_json()).count("'shares 1 1/3'") == 3


def test_points_cards_and_budgets_run_along():
    end = frames()[-1]
    assert dict(end.counts) == {
        "points": ("5", "2", "3"),
        "cards left": ("0", "0", "0"),
        "budget left": ("0 of 10", "0 of 10", "0 of 10"),
    }
    assert dict(frames()[1].counts)["budget left"] == ("6 of 10", "6 of 10", "9 of 10")


def test_the_end_ranks_by_exact_scores():
    # (3 * 5 - 10) / (2 * 10) = 1/4, (6 - 10) / 20 = -1/5, (9 - 10) / 20 = -1/20
    (standing,) = (line for line in frames()[-1].feed if line.startswith("Final standing"))
    assert [part.rsplit("score ", 1)[1].rstrip(".") for part in standing.split("; ")] == [
        *("+0.2500 (+1/4)", "-0.0500 (-1/20)", "-0.2000 (-1/5)"),
    ]


def test_prizes_to_come_lie_face_down():
    first = json.dumps(frames()[0].picture.to_json())
    assert first.count('"?"') == 3


def test_bids_are_not_in_the_picture_of_the_prize():
    other = [(3, 1, 2), *ROWS[1:2], (4, 4, 1), (2, 3, 4)]
    record = played("goofspiel", {"seats": 3, "cards": 4}, deal=DECK, choose=given(other))
    assert frames_of(record).frames[0] == frames()[0]


def test_an_overbid_is_loud_and_says_what_was_enough():
    deck = {"prize_order": list(range(1, 9))}
    rows = [(8, 2), (1, 1), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)]
    record = played("goofspiel", {"seats": 2, "cards": 8}, deal=deck, choose=given(rows))
    loud = [frame for frame in frames_of(record).frames if frame.kind == "overbid"]
    assert [frame.banner for frame in loud] == ["OVERBID by 6"]
    assert loud[0].feed == ("OVERBID: Ash (entrant-0) paid 8 where 3 was enough: 6 above the next bid, 2.",)


def test_the_clocks_end_is_told_as_such():
    assert frames(stop=2)[-1].feed[0] == "The clock stopped the game after 2 of 4 rounds."
    assert frames(stop=0)[-1].label == "end: wall-clock"


@settings(max_examples=15)
@for_all(st.integers(2, 10), st.integers(4, 13), st.integers(0, 999), st.data())
def test_every_table_draws_and_stays_small(seats, cards, seed, data):
    config = {"seats": seats, "cards": cards, "max_rounds": data.draw(st.integers(1, cards))}
    told = frames_of(played("goofspiel", config, seed=seed))
    assert all(len(json.dumps(frame.picture.to_json())) < 45_000 for frame in told.frames)
    assert sum(told.scores) == 0
