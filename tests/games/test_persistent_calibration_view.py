"""What a seat of Persistent Calibration is shown, and what it is not."""

from __future__ import annotations

import json
from itertools import permutations
from random import Random
from typing import Any

import pytest

from tests.games.persistent_calibration_play import after, move
from weigh.games.game import Observation
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION, PersistentCalibrationState
from weigh.policies.layout import first_attempt, system_text

NAMES = ("Ash", "Birch", "Cedar")
STEPS = ("AL3 AR1 BL1", "AR2 - BL2", "CL1 AR3 BR3", "AL1 CR1 CL2")


def seen(state: PersistentCalibrationState, seat: int, names: tuple[str, ...] = NAMES) -> Observation:
    return state.observe(seat, names)


def test_the_situation_in_full() -> None:
    assert seen(after(*STEPS), 0).situation == "\n".join(
        [
            "Round 5 of 6.",
            "Scale A: left 4 (yours 4), right 6 (yours 2). Left is lighter by 2.",
            "Scale B: left 3, right 3. Balanced.",
            "Scale C: left 3 (yours 1), right 1. Right is lighter by 2.",
            "Your points: 7. If the scales stayed like this, this round would give you 4.",
            "Your hand: 2, 3.",
            "Your legal moves: scale A, B, C; side left, right; weight 2, 3.",
        ]
    )


def test_the_situation_tells_when_new_weights_come() -> None:
    lines = [seen(after(*STEPS[:played], seats=3), 2).situation.splitlines()[5] for played in range(5)]
    assert lines == [
        "Your hand: 1, 2, 3. Before round 4 you get 1, 2, 3 anew.",
        "Your hand: 2, 3. Before round 4 you get 1, 2, 3 anew.",
        "Your hand: 3. Before round 4 you get 1, 2, 3 anew.",
        "Your hand: 1, 2, 3.",
        "Your hand: 1, 3.",
    ]


def test_the_history_is_told_from_the_own_side() -> None:
    state = after(*STEPS)
    public = [
        "Round 1: A left 3, right 1; B left 1, right 0; C left 0, right 0. Left: Ash, Cedar. Right: Birch.",
        "Round 2: A left 3, right 3; B left 3, right 0; C left 0, right 0. Left: Cedar. Right: Ash. No move: Birch.",
        "Round 3: A left 3, right 6; B left 3, right 3; C left 1, right 0. Left: Ash. Right: Birch, Cedar.",
        "Round 4: A left 4, right 6; B left 3, right 3; C left 3, right 1. Left: Ash, Cedar. Right: Birch.",
    ]
    own = {
        0: ["You put 3 on A left and scored 0.", "You put 2 on A right and scored 0."],
        1: ["You put 1 on A right and scored 1.", "You put down nothing and scored 0."],
    }
    own[0] += ["You put 1 on C left and scored 3.", "You put 1 on A left and scored 4."]
    own[1] += ["You put 3 on A right and scored 0.", "You put 1 on C right and scored 1."]
    for seat, lines in own.items():
        assert list(seen(state, seat).history) == [f"{one} {two}" for one, two in zip(public, lines, strict=True)]


def test_the_facts_in_full() -> None:
    facts = seen(after("AL2+ AR3- BL1", "- AR1 CL2", starting_garnets=2), 0).facts
    assert json.loads(json.dumps(facts)) == facts
    assert facts == {
        "seat": 0,
        "names": ["Ash", "Birch", "Cedar"],
        "your_alias": "Ash",
        "round": 2,
        "rounds_total": 6,
        "rounds_left": 4,
        "deal_rounds": [0, 3],
        "hand": [3],
        "garnets": 1,
        "max_garnets_per_round": 2,
        "totals": {
            "A": {"left": 3, "right": 3},
            "B": {"left": 1, "right": 0},
            "C": {"left": 2, "right": 0},
        },
        "lighter": {"B": "right", "C": "right"},
        "history": [
            {
                "totals": {
                    "A": {"left": 3, "right": 2},
                    "B": {"left": 1, "right": 0},
                    "C": {"left": 0, "right": 0},
                },
                "sides": ["left", "right", "left"],
            },
            {
                "totals": {
                    "A": {"left": 3, "right": 3},
                    "B": {"left": 1, "right": 0},
                    "C": {"left": 2, "right": 0},
                },
                "sides": [None, "right", "left"],
            },
        ],
        "placements": [{"round": 0, "scale": "A", "side": "left", "value": 3}],
        "own": {
            "A": {"left": 3, "right": 0},
            "B": {"left": 0, "right": 0},
            "C": {"left": 0, "right": 0},
        },
        "points": 0,
        "points_by_round": [0, 0],
        "scoring_now": 0,
    }


def test_garnets_are_spoken_of_where_the_rules_speak_of_them() -> None:
    def lines(seat: int, **fields: Any) -> list[str]:
        situation = seen(after("AL1++ AR3 AR3", seats=3, **fields), seat).situation
        return [line for line in situation.splitlines() if "garnet" in line]

    assert lines(0, starting_garnets=[3, 0, 0]) == ["Your garnets: 1. You may spend 1 now."]
    assert lines(1, starting_garnets=[3, 0, 0]) == ["Your garnets: 0. You may spend none now."]
    assert lines(2, starting_garnets=9) == ["Your garnets: 9. You may spend 2 now."]
    without: list[dict[str, Any]] = [{}, {"starting_garnets": 9, "max_garnets_per_round": 0}]
    for fields in without:
        situation = seen(after("AL1 AR3 AR3", **fields), 0).situation
        assert "garnet" not in situation
        assert "modify" not in situation


# What stays secret


def prompt(state: PersistentCalibrationState, seat: int) -> str:
    system, user = first_attempt(
        system_text(PERSISTENT_CALIBRATION.rulebook(PERSISTENT_CALIBRATION.config_type()), "json-only", "Play."),
        seen(state, seat),
        "json-only",
        None,
    )
    return f"{system.text}\n{user.text}"


@pytest.mark.parametrize(
    ("one", "other", "fields"),
    [
        (["AL3 AR3 BR1"], ["AL3 BR1 AR3"], {}),
        (["AL3 CL1 CL2"], ["AL3 CL2 CL1"], {}),
        (["AL3 CL2+ BR3"], ["AL3 CL3 BR3"], {"starting_garnets": 1}),
        (["AL3 CL3- BR3"], ["AL3 CL2 BR3"], {"starting_garnets": 1}),
        (["AL1 - -", "AL2 BL2 BL3"], ["AL1 - -", "AL2 BL3 BL2"], {}),
        (["AL1 AR1 CL1", "CL2 BL2 BL3"], ["AL1 AR1 CL1", "CL2 BL3 BL2"], {}),
    ],
    ids=["scales", "weights", "plus", "minus", "after a missed round", "later weights"],
)
def test_a_seat_cannot_tell_what_others_put_where(one: list[str], other: list[str], fields: dict[str, Any]) -> None:
    first, second = after(*one, **fields), after(*other, **fields)
    assert first != second
    assert first.events == second.events
    assert seen(first, 0) == seen(second, 0)
    assert prompt(first, 0) == prompt(second, 0)
    assert seen(first, 1) != seen(second, 1) or seen(first, 2) != seen(second, 2)


def test_a_seat_cannot_tell_what_garnets_others_hold() -> None:
    poor, rich = after(*STEPS, starting_garnets=[1, 0, 0]), after(*STEPS, starting_garnets=[1, 5, 99])
    assert seen(poor, 0) == seen(rich, 0)
    assert prompt(poor, 0) == prompt(rich, 0)
    rules = {
        PERSISTENT_CALIBRATION.rulebook(PERSISTENT_CALIBRATION.config_type(seats=3, starting_garnets=(1, *others)))
        for others in permutations((0, 5))
    }
    assert len(rules) == 1


def test_a_seat_cannot_tell_who_of_two_others_scores() -> None:
    one, other = after("CL1 AL3 AL1 AR3 AR3"), after("CL1 AL1 AL3 AR3 AR3")
    assert one.points_by_round == [[0], [3], [1], [0], [0]]
    assert other.points_by_round == [[0], [1], [3], [0], [0]]
    names = (*NAMES, "Dune", "Elm")
    assert one.observe(0, names) == other.observe(0, names)
    assert one.events == other.events


def test_what_is_public_is_in_facts_and_text() -> None:
    state, rng = after(seats=3), Random(4)
    for _ in range(5):
        state = state.play({seat: state.legal(seat).sample(rng) if rng.random() < 0.8 else None for seat in range(3)})
    weighed = [event.data for event in state.events if event.kind == "weigh"]
    for seat in range(3):
        observation = seen(state, seat)
        facts: Any = observation.facts
        for data, told, line in zip(weighed, facts["history"], observation.history, strict=True):
            totals: Any = data["totals"]
            assert {scale: list(sides.values()) for scale, sides in told["totals"].items()} == totals
            assert told["sides"] == data["sides"]
            for scale, (left, right) in totals.items():
                assert f"{scale} left {left}, right {right}" in line


def test_moves_in_facts_are_those_of_the_seat_alone() -> None:
    state = after("AL3 AR1 BL1")
    for seat, put in enumerate([move("AL3"), move("AR1"), move("BL1")]):
        assert put is not None
        placements: Any = seen(state, seat).facts["placements"]
        assert [(told["scale"], told["side"], told["value"]) for told in placements] == [
            (put["scale"], put["side"], put["weight"])
        ]
