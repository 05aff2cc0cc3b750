"""`docs/reference/records.md` names every field, table and column there is, and its queries run."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from tests.harness.audit.verify.verify_cases import new_run
from weigh.games.game import AnyGame, State
from weigh.games.registry import GAMES, game_named
from weigh.games.replay import replay
from weigh.harness.store.calls import Fate
from weigh.harness.store.manifest import Amendment, Manifest
from weigh.harness.store.record import Decision, Record, Times
from weigh.harness.store.schema import APPLICATION_ID, VERSION
from weigh.policies.contract import Billing

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "records.md").read_text(encoding="utf-8")


def named(section: str) -> set[str]:
    """Every name in code type between the heading `section` and the next one of its rank."""
    body = PAGE.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"`([A-Za-z_0-9]+)`", body))


def test_every_field_of_a_record_is_described() -> None:
    for model in (Record, Decision, Times):
        assert set(model.model_fields) <= named("The record") | {"detail"}, model


def test_every_event_and_measure_of_the_bidding_games_is_described(tmp_path: Path) -> None:
    words = named("The record")
    with new_run(tmp_path / "run", "goofspiel", "oshi_zumo", blocks=3) as store:
        for record in store.records():
            assert set(record.measures) <= words
            for event in record.events:
                assert set(event) - {"type"} <= words, event
                assert event["type"] in words


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
@pytest.mark.parametrize("stopped", [False, True])
def test_every_event_measure_and_ending_of_every_game_is_described(game: AnyGame, stopped: bool) -> None:
    body = PAGE.split("\n## The record\n", 1)[1].split("\n## ", 1)[0]
    words = set(re.findall(r"`([A-Za-z_0-9-]+)`", body))
    assert game.name in words
    rng = Random(1)
    config = game.config_type()
    state: State = game.start(config, game.deal(config, rng))
    for _ in range(3 if stopped else game.longest(config)):
        if state.to_act:
            state = state.play({seat: state.legal(seat).sample(rng) for seat in sorted(state.to_act)})
    if stopped:
        state = state.stop()
    assert state.outcome is not None
    assert {state.outcome.ending, state.outcome.reason, *state.outcome.measures} <= words
    for event in state.events:
        assert {event.kind, *event.data} <= words, event


def test_every_table_and_column_is_described(tmp_path: Path) -> None:
    words = named("The run folder")
    with new_run(tmp_path / "run", "oshi_zumo", chained=True) as store:
        tables = [row[0] for row in store._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            assert table in words
            columns = {row[1] for row in store._db.execute(f"PRAGMA table_info({table})")}
            assert columns <= words, table
    assert {*Manifest.model_fields, *Amendment.model_fields} <= words | {"schema_version"}
    assert f"0x{APPLICATION_ID:x}" in PAGE
    assert f"the format version, {VERSION}." in PAGE


def test_every_fate_and_billing_of_a_call_is_described() -> None:
    assert {*get_args(Fate), *get_args(Billing)} <= named("The run folder")


def test_the_queries_run_and_find_something(tmp_path: Path) -> None:
    new_run(tmp_path / "run", "goofspiel", "oshi_zumo", blocks=2).close()
    queries = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    assert len(queries) == 3
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as db:
        for query in queries:
            assert db.execute(query).fetchall(), query
        total = sum(row[2] * row[3] for row in db.execute(queries[0]))
    db.close()
    assert abs(total) < 1e-9


def test_the_python_of_the_page_runs(tmp_path: Path) -> None:
    new_run(tmp_path / "demo", "goofspiel").close()
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        mine = code.replace('"results/demo"', repr(str(tmp_path / "demo")))
        exec(compile(mine, "docs/reference/records.md", "exec"), {"print": lambda *values: None})


def test_the_example_worked_by_hand_is_right() -> None:
    game = game_named("goofspiel")
    config = game.config_type(seats=2, cards=4)
    state = replay(game, config, {"prize_order": [3, 4, 1, 2]}, [[4, 2], [1, 4], [2, 3], [3, 1]])
    assert state.outcome is not None
    assert list(state.outcome.scores) == [0, 0]
    assert state.outcome.measures["points"] == [5.0, 5.0]
