"""The worked examples of Ballast through `weigh resolve`, and its replies through `weigh read`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.games.ballast_cases import EXAMPLES, steps
from weigh.harness.cli.app import app


def resolve(text: str, **more: Any) -> Any:
    document = {"game": "ballast", "moves": steps(text), **more}
    return CliRunner().invoke(app, ["resolve", "-"], input=json.dumps(document))


def read(text: str, seat: int, reply: str) -> Any:
    document = {"game": "ballast", "moves": steps(text), "seat": seat, "reply": reply}
    ran = CliRunner().invoke(app, ["read", "-"], input=json.dumps(document))
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


@pytest.mark.parametrize("case", EXAMPLES)
def test_weigh_resolve_says_the_same(case: str) -> None:
    example = EXAMPLES[case]
    ran = resolve(example.play)
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert (told["over"], told["reason"], told["ending"]) == (True, "complete", "hands-empty")
    assert told["to_act"] == []
    assert told["scores"] == list(map(float, example.scores))
    assert told["measures"]["scales"] == [
        {"totals": list(totals), "counts": list(counts), "winner": winner} for totals, counts, winner in example.scales
    ]
    assert (told["measures"]["turns"], told["measures"]["decisions"]) == (example.turns, example.decisions)
    discards = [event for event in told["events"] if event["type"] == "discard"]
    assert all(set(event) == {"type", "owner", "value"} for event in discards)


def test_events_of_a_game_that_is_on_show_no_discard_and_no_true_value() -> None:
    told = json.loads(resolve("0:p5s0 1:c0 1:d2 0:p4s1a1").stdout)
    assert (told["over"], told["scores"], told["to_act"]) == (False, None, [1])
    # Who resolves moves knows them all: the measures are what they would be if the game were stopped here.
    assert told["measures"]["turns"] == 3
    assert told["events"][3:] == [
        {"type": "discard", "owner": 1},
        {"type": "place", "number": 1, "owner": 0, "scale": 1, "announced": 1},
    ]


def test_a_bad_move_is_one_line_with_step_seat_and_reason() -> None:
    ran = resolve("0:p5s0 1:c0 1:p5s0")
    assert ran.exit_code != 0
    assert 'step 2, seat 1: ["place", 5, 0, 5]: your challenge failed: discard one of 1, 2, 3, 4, 5 first' in (
        ran.output + str(ran.exception)
    )


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ('{"move": ["place", 3, 1, 5]}', ["place", 3, 1, 5]),
        ('["place", 3, 1, 5]', ["place", 3, 1, 5]),
        ('I doubt it.\n{"move": ["CHALLENGE", "0"], "notes": "it lies"}', ["challenge", 0]),
    ],
)
def test_weigh_read_reads_a_move(reply: str, move: list[Any]) -> None:
    told = read("0:p5s0", 1, reply)
    assert (told["move"], told["fault"], told["hint"]) == (move, None, None)


def test_weigh_read_hints_at_the_hand_the_scales_and_the_numbers() -> None:
    told = read("0:p5s0 1:c0", 1, '{"move": ["challenge", 0]}')
    assert told["fault"] == "illegal"
    assert 'Legal: ["discard", weight] with weight 1, 2, 3, 4, 5\n' in told["hint"]
    told = read("0:p5s0", 1, "I challenge number 0.")
    assert told["fault"] == "unreadable"
    assert 'announced 1, 2, 3, 4, 5; or ["challenge", number] with number 0\n' in told["hint"]
    assert len(told["hint"]) < 500
