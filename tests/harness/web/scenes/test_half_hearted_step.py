"""Half-Hearted Step's pictures: the auction's ladder, both half-moves of a turn, and what is played for."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from tests.games.half_hearted_step_cases import BOARD, HORIZONTAL_ME, SHORTEST, TOUR, P, dealt
from tests.harness.web.episodes import chance, given, played
from tests.harness.web.scenes.promises import HOSTILE, check_promises, elements, frames_in, pictured, size, texts

ASH, ASPEN = "Ash (entrant-0)", "Aspen (entrant-1)"


def frames(rows, *, deal=None, stop=False, **config):
    deal = deal or {"board": BOARD, "priority": 0}
    before = len(rows) if stop else None
    return frames_in(played("half_hearted_step", config, deal=deal, choose=given(rows), stop=before))


def turned(turns, *, stop=True, lives=3, **start):
    """The frames of turns on the example board, where play begins at once and seat 0 is horizontal and active first."""
    return frames(turns, deal=dealt(**start), stop=stop, lives=lives)


def numbers(frame, kind):
    return "".join(text for each in pictured(frame, f"half_hearted_step-{kind}") for text in each)


def test_the_auction_is_told_round_by_round_and_its_end_is_loud():
    told = frames([(2, P), (P, 5), (P, P)], stop=True)
    assert [(frame.kind, frame.label, frame.banner) for frame in told[:4]] == [
        ("start", "the board", None),
        ("auction", "auction 1: Ash 2, Asp pass", None),
        ("auction", "auction 2: Ash pass, Asp 5", None),
        ("auction", "auction 3: Ash pass, Asp pass", "AUCTION WON: Asp holds 5"),
    ]
    assert told[2].feed == (f"Auction round 2: {ASH} passes, {ASPEN} bids 5.", f"{ASPEN}'s bid 5 stands.")
    assert told[3].feed[-1] == f"Nobody bid any more: {ASPEN} holds the threshold 5, and chooses."
    assert [row[-1] for row in map(texts, elements(told[3].picture.to_json(), "half_hearted_step-ladder"))] == ["Asp 5"]


@pytest.mark.parametrize(("priority", "who"), [(0, ASH), (1, ASPEN)])
def test_of_equal_bids_that_of_priority_stands(priority, who):
    told = frames([(3, 3)], deal={"board": BOARD, "priority": priority}, stop=True)
    assert told[1].feed[1] == f"The bids are equal: that of {who}, who has priority, stands."
    assert "3 ◂" in texts(told[1].picture.to_json())


def test_an_auction_that_nobody_opens_is_held_at_zero():
    told = frames([(P, P), (P, P)], stop=True)
    assert told[1].feed[1] == "No bid stands."
    assert told[2].feed[1:] == (
        "No bid stands.",
        f"Nobody opened the auction: {ASH} holds the threshold 0, and chooses.",
    )


def test_the_last_round_closes_the_auction():
    told = frames([(1, P), (P, 2)], stop=True, auction_rounds=2)
    assert told[2].feed[-1].startswith("That was the last round of the auction: ")


def test_a_long_auction_shows_its_latest_rounds_and_counts_the_others():
    rows = [(bid, P) for bid in range(15)]
    shown = texts(frames(rows, stop=True)[-2].picture.to_json())
    assert "7 earlier rounds are not shown" in shown
    assert [text for text in shown if text.startswith("Ash ")][1:] == [f"Ash {bid}" for bid in range(7, 15)]


def test_the_choice_says_who_is_first_and_who_goes_which_way():
    choice = frames([(2, P), (P, P), (HORIZONTAL_ME, None)], stop=True)[3]
    assert (choice.kind, choice.label) == ("event", "Ash chooses: Ash first, Ash horizontal")
    assert choice.feed == (
        f"{ASH} chooses.",
        f"{ASH} is active first. {ASH} moves left or right, {ASPEN} moves up or down.",
        f"The lead of {ASH} is 0, needed is 2: {ASPEN} would win now.",
    )


def test_both_half_moves_of_a_turn_are_drawn_in_their_seats_colours():
    # From the middle, row 3 and column 3: two to the right and one up.
    move = turned([(2, -1)])[1]
    across, down = elements(move.picture.to_json(), "half_hearted_step-half")
    assert "seat-0" in across[1]["class"] and across[1]["d"].startswith("M174 174H262")
    assert "seat-1" in down[1]["class"] and down[1]["d"].startswith("M262 174V148")  # short of the piece's ring
    assert pictured(move, "half_hearted_step-doing") == [["right 2", "+0"], ["up 1"]]
    assert move.label == "turn 1: Ash +0"
    assert move.feed[:2] == (
        f"Turn 1: {ASH}, who is active, goes right 2; {ASPEN} goes up 1. The piece lands on row 2, column 5.",
        f"A new square: {ASH} gets 0 and has 0 points.",
    )


def test_a_life_lost_is_loud_and_staying_is_told():
    stay = turned([(0, 0)])[1]
    assert (stay.label, stay.banner) == ("turn 1: Ash loses a life", "LIFE LOST: Ash has 2 left")
    assert stay.feed[0] == (f"Turn 1: {ASH}, who is active, stays; {ASPEN} stays. The piece lands on row 3, column 3.")
    assert stay.feed[1] == f"It was there before: {ASH} loses a life and has 2 lives left."
    assert elements(stay.picture.to_json(), "half_hearted_step-lost")
    assert not elements(stay.picture.to_json(), "half_hearted_step-half")
    assert dict(stay.counts) == {"points": ("0", "0"), "lives": ("2", "3"), "needs": ("lead 0", "-")}


def test_squares_carry_the_mark_of_who_took_them():
    told = turned(TOUR[:6])
    last = told[6]
    owners = pictured(last, "half_hearted_step-owner")
    taken = [text for texts_ in owners for text in texts_]
    assert (taken.count("Ash"), taken.count("Asp")) == (3, 3)
    assert len(elements(last.picture.to_json(), "half_hearted_step-stripes")) == 1
    assert last.picture.to_html().count("polyline class") == 1


def test_every_number_of_the_board_is_drawn_once():
    held = sorted(str(number).replace("-", "−") for row in BOARD for number in row if number is not None)
    for frame in turned(TOUR):
        signs = "".join(numbers(frame, kind) for kind in ("number", "minus", "spent"))
        assert sorted(signs.replace("−1", "").replace("−2", "")) == [text for text in held if "−" not in text]
        assert (signs.count("−1"), signs.count("−2")) == (2, 1)


def test_the_board_is_told_in_words_with_who_took_what_and_when():
    told = turned(TOUR[:6])[6]
    (rows,) = pictured(told, "half_hearted_step-told")
    assert len(rows) == len(BOARD)
    assert [row.count(";") for row in rows] == [len(BOARD) - 1] * len(BOARD)
    words = " ".join(rows)
    assert words.count("(the start)") == 1
    assert [words.count(f"({mark}, turn ") for mark in ("Ash", "Asp")] == [3, 3]
    assert all(f", turn {turn})" in words for turn in range(1, 7))
    row, column = 3, 3
    for across, down in TOUR[:6]:
        row, column = row + down, column + across
    here = rows[row].removeprefix(f"Row {row}: ").split("; ")[column]
    assert here.removesuffix(".").endswith(", turn 6), here is the piece")


def test_numbers_are_drawn_above_whatever_runs_through_their_squares():
    kinds = [child[1].get("class", "") for child in board_of(turned(TOUR[:6])[6])[2:]]
    numbers_at = min(place for place, kind in enumerate(kinds) if kind.endswith(("-number", "-spent", "-minus")))
    for under in ("way", "half", "stripes", "grid"):
        (at, *_) = found = [place for place, kind in enumerate(kinds) if kind.startswith(f"half_hearted_step-{under}")]
        assert at <= max(found) < numbers_at


def board_of(frame):
    (board,) = elements(frame.picture.to_json(), "half_hearted_step-board")
    return board


def test_points_add_up_over_a_tour_and_its_beats_stay_small():
    told = turned(TOUR)
    assert len(told) == 50
    points = [0, 0]
    row, column = 3, 3
    for number, (across, down) in enumerate(TOUR):
        row, column = row + down, column + across
        points[number % 2] += BOARD[row][column] or 0
        assert dict(told[number + 1].counts)["points"] == tuple(map(str, points))
    assert max(map(size, told)) < 8_500


def test_the_end_says_who_wins_by_which_lead():
    end = turned(SHORTEST, stop=False, threshold=9, holder=1)[-1]
    points = [int(text) for text in dict(end.counts)["points"]]
    lead = points[1] - points[0]
    assert lead < 9
    assert (end.kind, end.label, end.banner) == ("end", "end: lives-spent", f"{ASH} wins")
    assert end.feed == (
        "All lives are lost.",
        f"The lead of {ASPEN} is {lead}, needed was 9: {ASH} wins, {points[0]} to {points[1]} points.",
        f"Scores: {ASH} +1.0000 (+1), {ASPEN} -1.0000 (-1).",
    )


@pytest.mark.parametrize("rows", [[], [(3, P)], [(3, P), (P, P)]])
def test_a_stop_before_play_is_a_draw(rows):
    end = frames(rows, stop=True)[-1]
    assert (end.label, end.banner) == ("end: wall-clock", "A draw")
    assert end.feed == (
        "The clock stopped the game before play began.",
        "Nobody wins: a draw.",
        f"Scores: {ASH} 0.0000 (0), {ASPEN} 0.0000 (0).",
    )


def test_a_stop_in_play_is_told_and_scored():
    end = turned([(1, 1)])[-1]
    assert end.feed[0] == "The clock stopped the game."
    assert end.feed[-1].startswith(f"Scores: {ASH} +1.0000")


def modest(state, seat, step, rng):
    """By chance, but an auction rises in steps that leave room for some rounds of it."""
    if step < 6 and len(state.to_act) == 2 and "pass" in (legal := state.legal(seat)):
        low = next((bid for bid in legal if bid != "pass"), None)
        return "pass" if low is None or rng.random() < 0.3 else min(low + rng.randrange(3), legal.high)
    return chance(state, seat, step, rng)


@settings(max_examples=12)
@for_all(
    st.sampled_from([3, 5, 7, 9, 11]),
    st.integers(1, 9),
    st.sampled_from([1, 20, 999, 9999]),
    st.integers(2, 30),
    st.integers(0, 9_999),
    st.none() | st.integers(0, 30),
    st.data(),
)
def test_every_match_draws(board, lives, limit, rounds, seed, stop, data):
    entrants = tuple(data.draw(st.sampled_from(HOSTILE)) for _ in range(2))
    config = {"size": board, "lives": lives, "bid_limit": limit, "auction_rounds": rounds}
    record = played("half_hearted_step", config, seed=seed, stop=stop, entrants=entrants, choose=modest)
    told = check_promises(record, largest=8_500 if board <= 7 else 12_500)
    turns = [event for event in record.events if event["type"] == "move"]
    moved = [frame for frame in told if frame.kind == "move"]
    for row in ("points", "lives"):
        after = [tuple(map(str, turn[f"{row}_after"])) for turn in turns]
        assert [dict(frame.counts)[row] for frame in moved] == after
    assert [frame.banner is not None for frame in moved] == ["life" in turn for turn in turns]
    assert [frame.kind for frame in told].count("auction") == sum(event["type"] == "bid" for event in record.events)
