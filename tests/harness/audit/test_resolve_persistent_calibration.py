"""The worked examples of Persistent Calibration through `weigh resolve`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.games.persistent_calibration_examples import EXAMPLES, Example
from tests.games.persistent_calibration_play import moves
from weigh.harness.cli.app import app


@pytest.mark.parametrize("example", list(EXAMPLES.values()), ids=list(EXAMPLES))
def test_weigh_resolve_says_the_same(example: Example) -> None:
    seats = len(example.steps[0].split())
    document = {
        "game": "persistent_calibration",
        "config": {"seats": seats, **example.config},
        "moves": moves(example.steps),
        "stop": len(example.steps) < 6,
    }
    ran = CliRunner().invoke(app, ["resolve", "-"], input=json.dumps(document))
    assert ran.exit_code == 0, ran.output
    told: dict[str, Any] = json.loads(ran.stdout)
    assert (told["over"], told["to_act"]) == (True, [])
    assert told["measures"]["points"] == list(example.points[-1])
    if example.rank:
        assert (told["reason"], told["ending"]) == ("complete", "rounds-played")
        assert told["scores"] == list(map(float, example.rank))
    else:
        assert (told["reason"], told["ending"]) == ("deadline", "wall-clock")
    rounds = [event for event in told["events"] if event["type"] == "weigh"]
    for scale, written in example.totals.items():
        assert ["{}|{}".format(*event["totals"][scale]) for event in rounds] == list(written)
