"""Records of Ballast re-derive, and what was hidden during play cannot be changed in them afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from weigh.games.ballast.rules import BALLAST, BallastConfig
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.store.record import Record
from weigh.policies.scripted.registry import fallback_of, scripted


@pytest.fixture
def record() -> dict[str, Any]:
    """A game in which `bluffer` called a true claim at step 1 and chose at step 2 what to lose."""
    table = Table(
        key="ballast/b0000/r0",
        block="ballast/b0000",
        game=BALLAST,
        config=BallastConfig(),
        deal={},
        run_seed=0,
        policies=(scripted("ballast", "steady"), scripted("ballast", "bluffer")),
        aliases=("Ash", "Birch"),
        fallback=fallback_of("ballast"),
    )
    played = asyncio.run(play_episode(table, {}))
    assert isinstance(played, Record)
    kept: dict[str, Any] = json.loads(played.model_dump_json())
    assert kept["moves"][1:3] == [[None, ["challenge", 0]], [None, ["discard", 1]]]
    return kept


def places(record: dict[str, Any]) -> list[str]:
    return [finding.where for finding in verify_record(record)]


def test_a_record_re_derives_and_holds_the_discard(record: dict[str, Any]) -> None:
    assert record["fallback"] == "steady"
    assert record["events"][3] == {"type": "discard", "owner": 1, "value": 1}
    assert places(record) == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda record: record["events"][3].update(value=2), "events[3].value"),
        (lambda record: record["events"][3].pop("value"), "events[3].value"),
        (lambda record: record["events"][-1]["true_values"].__setitem__(1, 5), "events[12].true_values[1]"),
        (lambda record: record["measures"]["placed"][2].update(true=1), "measures.placed[2].true"),
        (lambda record: record["measures"].update(turns=11), "measures.turns"),
    ],
)
def test_what_was_hidden_is_compared(
    record: dict[str, Any], change: Callable[[dict[str, Any]], Any], where: str
) -> None:
    change(record)
    assert places(record) == [where]


def test_a_move_that_cannot_be_played_is_named_alone(record: dict[str, Any]) -> None:
    """The discard of the record, told with its value, does not look as if it disagreed."""
    record["moves"][-1] = [None, ["place", 1, 0, 1]]
    assert places(record) == [f"moves[{len(record['moves']) - 1}][1]"]
