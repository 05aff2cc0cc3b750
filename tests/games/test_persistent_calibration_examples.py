"""The worked examples of Persistent Calibration. `weigh resolve` is put to them in `tests/harness`."""

from __future__ import annotations

import pytest

from tests.games.persistent_calibration_examples import EXAMPLES, Example
from tests.games.persistent_calibration_play import after, points, settled, weighed
from weigh.games.persistent_calibration.rules import share_scores
from weigh.games.replay import StepRefused

every_example = pytest.mark.parametrize("example", list(EXAMPLES.values()), ids=list(EXAMPLES))


@every_example
def test_points_and_totals_round_by_round(example: Example) -> None:
    for played in range(1, len(example.steps) + 1):
        state = after(*example.steps[:played], **example.config)
        assert points(state) == list(example.points[played - 1])
        for scale, written in example.totals.items():
            assert "{}|{}".format(*weighed(state, scale)) == written[played - 1]


@every_example
def test_the_end_is_as_worked_out(example: Example) -> None:
    if len(example.steps) < 6:
        assert after(*example.steps, **example.config).outcome is None
        return
    outcome = settled(after(*example.steps, **example.config))
    assert outcome.scores == example.rank
    assert share_scores(example.points[-1]) == example.share
    assert outcome.measures["share_score"] == list(map(float, example.share))
    assert {name: outcome.measures[name] for name in example.measures} == example.measures


def test_C6_in_full_hands_and_sides() -> None:
    steps = EXAMPLES["C6"].steps
    assert after(*steps[:1]).hands[1] == (2, 3)
    assert after(*steps[:2]).hands == ((3,), (2,))
    assert after(*steps[:3]).hands == ((1, 2, 3), (1, 2, 3))
    sides = [event.data["sides"] for event in after(*steps[:3]).events if event.kind == "weigh"]
    assert sides == [["left", None], ["left", "right"], ["left", None]]


def test_a_bad_move_is_named_by_step_and_seat() -> None:
    with pytest.raises(StepRefused) as refused:
        after("AL1 AR3", "AL2 AR3")
    assert str(refused.value) == (
        'step 1, seat 1: {"scale": "A", "side": "right", "weight": 3, "modify": 0}: weight 3: you hold 1, 2'
    )
