"""All five games on one ladder, end to end, with the embedded model at a seat of each."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.local_model.command import weigh
from weigh.games.registry import GAMES
from weigh.harness.store.store import Store

pytestmark = [pytest.mark.local_model, pytest.mark.slow, pytest.mark.timeout(900)]

LEAGUE = """
name = "league"
seed = 5
baselines = false
[games.goofspiel]
seats = 2
cards = 4
blocks = 1
[games.oshi_zumo]
coins = 4
size = 1
blocks = 1
[games.ballast]
blocks = 1
[games.persistent_calibration]
seats = 2
blocks = 1
[games.half_hearted_step]
lives = 1
auction_rounds = 2
blocks = 1
[entrants]
random = "random"
[entrants.plain]
model = "local:smollm2"
style = "schema"
max_tokens = 48
temperature = 0
[entrants.plain.prompt]
goofspiel = "goofspiel/plain.md"
oshi_zumo = "oshi_zumo/plain.md"
ballast = "ballast/plain.md"
persistent_calibration = "persistent_calibration/plain.md"
half_hearted_step = "half_hearted_step/plain.md"
[models."local:smollm2"]
exact = false
"""


def test_the_embedded_model_plays_all_five_games_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text(LEAGUE, encoding="utf-8")
    done = weigh(tmp_path, "ladder", "league.toml", "--json")
    assert done.returncode == 0, done.stderr
    ranked = json.loads(done.stdout)
    assert {game["game"] for game in ranked["games"]} == set(GAMES)
    made: Counter[str] = Counter()
    with Store.open(tmp_path / "results" / "league", readonly=True) as store:
        records = list(store.records())
    for record in records:
        assert record.reason == "complete"
        seat = record.entrants.index("plain")
        own = [decision.by for decision in record.decisions if decision.seat == seat]
        made[record.game] += sum(by in ("model", "retry") for by in own)
    assert len(records) == 2 * len(GAMES)
    assert all(made[game] > 0 for game in GAMES), made
    checked = weigh(tmp_path, "verify", "results/league", "--json")
    assert checked.returncode == 0, checked.stdout
