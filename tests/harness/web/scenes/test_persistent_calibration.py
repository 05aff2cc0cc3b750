"""Persistent Calibration's pictures: what lies where, who scored, what was secret, and how it ends."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from tests.games.persistent_calibration_examples import EXAMPLES
from tests.games.persistent_calibration_play import moves
from tests.harness.web.episodes import given, played
from tests.harness.web.scenes.promises import HOSTILE, check_promises, elements, frames_in, pictured, texts

NAMES = ("Ash (entrant-0)", "Aspen (entrant-1)", "Beech (entrant-2)")


def frames(*rows, stop=False, **config):
    """The frames of an episode in the notation of `tests.games.persistent_calibration_play`."""
    seats = len(rows[0].split()) if rows else 2
    config = {"seats": seats, **config}
    choose, before = given(moves(rows)), len(rows) if stop else None
    return frames_in(played("persistent_calibration", config, choose=choose, stop=before))


def totals(frame):
    return [text for (text,) in pictured(frame, "persistent_calibration-total")]


def chips(frame, kind="persistent_calibration-chip"):
    return [" ".join(each) for each in pictured(frame, kind)]


@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if example.steps])
def test_points_and_totals_are_those_of_the_worked_examples(name):
    example = EXAMPLES[name]
    told = frames(*example.steps, stop=len(example.steps) < 6, **example.config)
    scored = [frame for frame in told if frame.label.endswith(": points")]
    assert [dict(frame.counts)["points"] for frame in scored] == [tuple(map(str, points)) for points in example.points]
    gains = [
        tuple(str(now - then) for now, then in zip(after, before, strict=True))
        for before, after in pairwise([(0,) * len(example.points[0]), *example.points])
    ]
    assert [dict(frame.counts)["this round"] for frame in scored] == gains
    for scale, expected in example.totals.items():
        place = 2 * "ABC".index(scale)
        assert ["|".join(totals(frame)[place : place + 2]).replace("▲ ", "") for frame in scored] == list(expected)


def test_a_round_is_its_weights_and_then_its_points():
    told = frames("AL3 AR2", "BL1 BR3", stop=True)
    assert [(frame.kind, frame.label) for frame in told] == [
        ("start", "three empty scales"),
        ("reveal", "round 1: weights"),
        ("event", "round 1: points"),
        ("reveal", "round 2: weights"),
        ("event", "round 2: points"),
        ("end", "end: wall-clock"),
    ]
    reveal, scored = told[1:3]
    assert totals(reveal) == ["3", "▲ 2", "0", "0", "0", "0"]
    assert reveal.feed[1:4] == (
        f"A left: {NAMES[0]} 3.",
        f"A right: {NAMES[1]} 2.",
        "Totals, known to all: A left 3, right 2, right is lighter; B balanced at 0; C balanced at 0.",
    )
    assert scored.feed == (
        "Round 1: the lighter sides score: A right.",
        f"Points: {NAMES[1]} 2.",
        f"Nothing for {NAMES[0]}.",
    )


def test_points_of_a_round_are_not_in_the_picture_of_its_weights():
    reveal = frames("AL3 AR2", stop=True)[1]
    assert dict(reveal.counts)["points"] == ("0", "0")
    assert pictured(reveal, "persistent_calibration-won") == [[""], [""]]


def test_the_heavier_side_hangs_lower_and_an_even_scale_is_level():
    shown = frames("AL3 AR2 BR1", stop=True)[1].picture.to_json()
    lower = [float(line[1]["y1"]) - float(line[1]["y2"]) for line in elements(shown, "persistent_calibration-beam")]
    assert lower[0] > 0 > lower[1]
    assert lower[2] == 0


def test_what_stays_is_added_up_and_what_is_new_stands_out():
    second = frames("AL3 AR1", "AL1 BR2", stop=True)[3]
    assert chips(second) == ["Ash 4", "Asp 1", "Asp 2"]
    assert chips(second, "persistent_calibration-fresh") == ["Ash 4", "Asp 2"]


def test_a_scale_that_tips_is_loud():
    told = frames("AL3 AR2", "AL1 AR3", stop=True)  # right is lighter by 1, then left by 1
    assert told[3].banner == "SCALE A TIPS"
    assert told[3].feed[-1] == "Scale A tips: now its left side is the lighter one."
    assert [frame.banner for frame in told[:-1] if frame is not told[3]] == [None] * 4


def test_nothing_put_down_loses_the_lowest_weight_and_says_so():
    told = frames("- AR2", "- AR1", "- AR3", stop=True)
    reveals = [frame for frame in told if frame.kind == "reveal"]
    lost = [line for frame in reveals for line in frame.feed if line.startswith("No move")]
    assert lost == [f"No move, so the lowest weight is lost: {NAMES[0]} (weight {weight})." for weight in (1, 2, 3)]
    assert "lost 1" in texts(reveals[0].picture.to_json())
    assert [dict(frame.counts)["hand"][0] for frame in told[:-1]] == ["1 2 3", "2 3", "2 3", "3", "3", "-", "1 2 3"]
    assert "Everybody gets the weights 1, 2, 3 anew." in told[6].feed


def test_garnets_are_shown_where_there_are_any():
    reveal = frames("AL1++ AR2", stop=True, starting_garnets=2)[1]
    assert f"A left: {NAMES[0]} 3 (weight 1, 2 garnets)." in reveal.feed
    assert dict(reveal.counts)["garnets"] == ("0", "2")
    assert " = 1+2" in texts(reveal.picture.to_json())
    assert "garnets" not in dict(frames("AL1 AR2", stop=True)[1].counts)


def test_what_the_players_knew_stands_apart_from_what_was_secret():
    groups = pictured(frames("AL1 AR2", stop=True)[1], "persistent_calibration-groups")
    assert groups == [["known to all", "secret to the end"]]


def test_the_end_names_winners_candidates_tokens_and_garnets():
    end = frames(*EXAMPLES["C5"].steps)[-1]
    assert end.feed[:3] == (
        "All 6 rounds are played.",
        f"Most points: {NAMES[0]} (4 Tokens of Life each).",
        f"Fewest points, the elimination candidates: {NAMES[1]}, {NAMES[2]}.",
    )
    assert f"{NAMES[0]} 46 points, score +1.0000 (+1)" in end.feed[3]
    assert end.feed[3].count("-0.5000 (-1/2)") == 2
    (first,) = pictured(end, "persistent_calibration-first")
    assert first == ["1.", "Ash", NAMES[0], "★ winner", "46", "3 5 6 9 11 12", "+1.0000", "+1", "4", "7"]


def test_the_clock_may_stop_it_before_the_first_round():
    start, end = frames(stop=True)
    assert start.kind == "start"
    assert end.feed[0] == "The clock stopped the game after 0 rounds."
    assert end.feed[3].count("score 0.0000 (0)") == 2


@settings(max_examples=8)
@for_all(st.integers(2, 26), st.integers(0, 3), st.integers(0, 9_999), st.none() | st.integers(0, 5), st.data())
@pytest.mark.slow
def test_every_table_draws(seats, garnets, seed, stop, data):
    entrants = tuple(data.draw(st.sampled_from(HOSTILE)) for _ in range(seats))
    config = {"seats": seats, "starting_garnets": garnets}
    record = played("persistent_calibration", config, seed=seed, stop=stop, entrants=entrants)
    told = check_promises(record, largest=7_000 + 2_400 * seats)
    weighed = [event for event in record.events if event["type"] == "weigh"]
    assert [[int(text.removeprefix("▲ ")) for text in totals(frame)] for frame in told if frame.kind == "event"] == [
        [total for pair in event["totals"].values() for total in pair] for event in weighed
    ]
    assert sum(frame.banner is not None for frame in told[:-1]) == sum(bool(event["flips"]) for event in weighed)
    by_round = record.measures["points_by_round"]
    running = list(zip(*(accumulate(points) for points in by_round), strict=True)) if weighed else []
    scored = [dict(frame.counts)["points"] for frame in told if frame.kind == "event"]
    assert scored == [tuple(map(str, points)) for points in running]
    # All that is on the scales is on the chips.
    on = sum(int(chip.rsplit(" ", 1)[1]) for chip in chips(told[-1]))
    assert on == sum(total for pair in record.measures["totals"].values() for total in pair)
