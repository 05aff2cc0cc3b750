"""Ballast's pictures: scales tilt by true weights, lies are marked, and a challenge is loud."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from tests.games.ballast_cases import EXAMPLES, steps
from tests.harness.web.episodes import given, played
from tests.harness.web.scenes.promises import HOSTILE, check_promises, elements, frames_in, pictured, texts

ASH, ASPEN = "Ash (entrant-0)", "Aspen (entrant-1)"
_MARKS = ("Ash", "Asp")


def frames(text, *, stop=False, **config):
    """The frames of a game in the notation of `tests.games.ballast_cases`."""
    rows = steps(text)
    return frames_in(played("ballast", config, choose=given(rows), stop=len(rows) if stop else None))


def beam(frame, scale):
    """How much lower the left end of a beam lies than the right one."""
    line = elements(frame.picture.to_json(), "ballast-beam")[scale][1]
    return float(line["y1"]) - float(line["y2"])


def test_a_lie_is_marked_and_told_and_an_honest_claim_is_not():
    _, lie, honest, _ = frames("0:p2s0a5 1:p3s1", stop=True)
    assert pictured(lie, "ballast-lie") == [["2", "#0", "says 5", "≠"]]
    assert lie.feed[0] == f"Turn 1: {ASH} places #0 face down on scale 0 and announces 5. A lie: it is 2."
    assert honest.feed[0].endswith("announces 3. That is the truth.")
    assert [weight[0] for weight in pictured(honest, "ballast-weight")] == ["2", "3"]
    assert len(pictured(honest, "ballast-lie")) == 1
    assert dict(honest.counts)["lies told"] == ("1 of 1", "0 of 1")


def test_a_scale_tilts_by_true_totals_and_not_by_claims():
    # Scale 0: 2 (said 5) against 3 (said 1); scale 1: 4 against nothing.
    shown = frames("0:p2s0a5 1:p3s0a1 0:p4s1", stop=True)[-2]
    assert [texts(each) for each in elements(shown.picture.to_json(), "ballast-total")] == [
        *(["Ash 2"], ["Asp 3"], ["Ash 4"], ["Asp 0"], ["Ash 0"], ["Asp 0"]),
    ]
    assert beam(shown, 0) < 0 < beam(shown, 1)
    assert beam(shown, 2) == 0
    assert abs(beam(shown, 0)) < abs(beam(shown, 1))


def test_a_challenge_of_a_lie_removes_the_weight_with_a_banner():
    _, _, challenge, later, _ = frames("0:p1s0a5 1:c0 0:p5s0", stop=True)
    assert (challenge.kind, challenge.banner) == ("challenge", "CHALLENGE: the claim was false")
    assert challenge.feed[:2] == (
        f"Turn 2: {ASPEN} challenges #0 of {ASH}, announced as 5.",
        "It is 1: the claim was false, and the weight is removed from scale 0.",
    )
    assert pictured(challenge, "ballast-called")[0][0] == "1"  # still to be seen where it lay
    assert beam(challenge, 0) == 0  # and weighs nothing any more
    assert pictured(later, "ballast-out") == [["#0 removed: Ash's 1, said 5"]]
    assert [weight[1] for weight in pictured(later, "ballast-weight")] == ["#1"]
    assert dict(later.counts)["challenge"] == ("left", "used")
    assert pictured(later, "ballast-lost") == [["1"]]


def test_a_challenge_of_a_true_claim_turns_it_up_and_costs_a_weight():
    _, _, challenge, paid, _ = frames("0:p5s0 1:c0 1:d1", stop=True)
    assert challenge.banner == "CHALLENGE: the claim was true"
    assert "stays, face up" in challenge.feed[1]
    assert pictured(challenge, "ballast-up") == [["5", "#0", "face up"]]
    assert pictured(challenge, "ballast-state")[1][:1] == ["gives up a weight"]
    assert (paid.kind, paid.banner) == ("event", None)
    assert paid.feed[0].startswith(f"{ASPEN} gives up weight 1")
    assert pictured(paid, "ballast-lost") == [["1"]]


def test_the_last_weight_that_goes_by_itself_has_a_beat_of_its_own():
    told = frames(EXAMPLES["B5_the_last_weight_is_lost_by_a_challenge"].play)
    assert [frame.kind for frame in told[-3:]] == ["challenge", "event", "end"]
    assert told[-2].feed[0].startswith(f"{ASPEN} gives up weight 1")


def test_each_scale_is_won_by_its_rule():
    fewer = frames(EXAMPLES["B7_fewer_weights_go_before_the_first"].play)[-1]
    assert fewer.feed[1:4] == (
        f"Scale 0: {ASPEN} wins (equal totals of 5, fewer weights, 1 to 2).",
        f"Scale 1: {ASH} wins (equal totals of 5, as many weights, first on the scale).",
        f"Scale 2: {ASH} wins (equal totals of 5, fewer weights, 1 to 2).",
    )
    draw = frames(EXAMPLES["B8_an_empty_scale_and_a_draw"].play)[-1]
    assert draw.feed[1:5] == (
        f"Scale 0: {ASH} wins (larger total, 12 to 3).",
        f"Scale 1: {ASPEN} wins (larger total, 12 to 3).",
        "Scale 2: nobody (empty).",
        f"A draw: {ASH} won 1 scale, {ASPEN} 1.",
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_end_shows_the_worked_totals_and_scales(name):
    example = EXAMPLES[name]
    end = frames(example.play)[-1]
    shown = [text for (text,) in pictured(end, "ballast-total")]
    assert shown == [
        f"{mark} {total}" for totals, *_ in example.scales for mark, total in zip(_MARKS, totals, strict=True)
    ]
    won = [winner for *_, winner in example.scales]
    assert dict(end.counts)["scales won"] == (str(won.count(0)), str(won.count(1)))


def test_who_moves_twice_is_told_why():
    told = frames("0:p1s0a3 1:c0 0:p2s0 1:p1s0 0:p3s0 1:p2s0 1:p3s0", weights=3, scales=2)
    again = f"{ASH} has an empty hand: {ASPEN} moves again."
    assert [frame.label for frame in told if again in frame.feed] == ["turn 6: Asp puts 2 on scale 0"]


def test_the_clock_may_stop_it_before_the_first_move():
    start, end = frames("", stop=True)
    assert (start.kind, end.kind, end.label) == ("start", "end", "end: wall-clock")
    assert end.feed[0] == "The clock stopped the game; the scales are judged as they stand."
    assert end.feed[-1] == f"Scores: {ASH} 0.0000 (0), {ASPEN} 0.0000 (0)."


@settings(max_examples=15)
@for_all(st.integers(2, 7), st.integers(2, 5), st.integers(0, 9_999), st.none() | st.integers(0, 9), st.data())
@pytest.mark.slow
def test_every_game_draws(weights, scales, seed, stop, data):
    entrants = tuple(data.draw(st.sampled_from(HOSTILE)) for _ in range(2))
    record = played("ballast", {"weights": weights, "scales": scales}, seed=seed, stop=stop, entrants=entrants)
    told = check_promises(record, largest=16_000)
    challenges = [event for event in record.events if event["type"] == "challenge"]
    outcomes = {"removed": "CHALLENGE: the claim was false", "stands": "CHALLENGE: the claim was true"}
    assert [frame.banner for frame in told[:-1] if frame.banner] == [outcomes[event["outcome"]] for event in challenges]
    assert [frame.kind for frame in told].count("move") == sum(event["type"] == "place" for event in record.events)
    totals = [total for scale in record.measures["scales"] for total in scale["totals"]]
    assert [int(text.rsplit(" ", 1)[1]) for (text,) in pictured(told[-1], "ballast-total")] == totals
