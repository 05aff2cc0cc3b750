"""The games play as their golden playthroughs say, in every process.

After a change that is meant to show there: `python -m tests.games.playthrough`, and review the difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.games.playthrough import FOLDER, PLAYTHROUGHS, transcript
from weigh.games.registry import GAMES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", list(PLAYTHROUGHS))
def test_a_playthrough_is_as_it_was(name: str) -> None:
    assert transcript(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_no_playthrough_is_left_over() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(PLAYTHROUGHS)


@pytest.mark.parametrize("game", list(GAMES))
def test_every_game_has_a_playthrough_to_the_end_and_one_that_is_stopped(game: str) -> None:
    stops = {play.stop_after is not None for play in PLAYTHROUGHS.values() if play.game == game}
    assert stops == {False, True}


def test_the_same_seed_gives_the_same_play_in_processes_that_hash_differently() -> None:
    """Deals, legal sets, samples, observations, events and outcomes, compared byte for byte."""
    printed = [
        subprocess.run(
            [sys.executable, "-m", "tests.games.playthrough", "--print"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count(b"=== outcome") == len(PLAYTHROUGHS)
