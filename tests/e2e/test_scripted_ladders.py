"""Scripted ladders: the same bytes from every process."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.e2e.ladders import Ladder, config, ended
from weigh.harness.results.export import export

GAMES = "[games.goofspiel]\nseats = 4\nblocks = 5\n[games.oshi_zumo]\nblocks = 6\n"
ENTRANTS = [("match", "match"), ("hoard", "hoard"), ("random", "random"), ("again", "random")]
PROCESS = {"run", "seconds", "started"}
"""Columns that hold the run's name and times."""


@pytest.mark.slow
def test_O22_two_processes_with_different_hash_seeds_make_byte_identical_records_and_exports(tmp_path: Path) -> None:
    ladders = [Ladder(tmp_path / seed, config(None, entrants=ENTRANTS, games=GAMES)) for seed in ("1", "2")]
    processes = [ladder.start(PYTHONHASHSEED=ladder.folder.name) for ladder in ladders]
    for process in processes:
        result = ended(process)
        assert result.code == 0, result
    first, second = ladders
    assert len(first.records) == 5 * 4 + 6 * 2
    assert first.records == second.records
    for table in ("seats", "decisions"):
        assert _rows(first, table) == _rows(second, table)


@pytest.mark.slow
def test_another_seed_makes_other_records(tmp_path: Path) -> None:
    made = []
    for seed in (5, 6):
        text = config(None, entrants=ENTRANTS, games="[games.oshi_zumo]\nblocks = 2\n", seed=seed)
        ladder = Ladder(tmp_path / str(seed), text)
        result = ladder.play()
        assert result.code == 0, result
        made.append(ladder.records)
    assert made[0] != made[1]


def _rows(ladder: Ladder, table: str) -> list[dict[str, str]]:
    out = ladder.folder / f"{table}.csv"
    assert export(ladder.run, out, "csv", dataset=table) > 0
    with out.open(newline="", encoding="utf-8-sig") as stream:
        return [{name: cell for name, cell in row.items() if name not in PROCESS} for row in csv.DictReader(stream)]
