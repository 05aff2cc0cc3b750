"""Files beside a run: copies among exported records, and a baseline file that its run does not give."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runner import config, weigh
from weigh.harness.gate.baseline import digest_of, read_baseline, written


def test_an_equal_episode_under_another_key_is_found_in_lines(tmp_path: Path) -> None:
    assert weigh("ladder", config(tmp_path)).code == 0
    run = tmp_path / "results" / "s"
    path = tmp_path / "all.jsonl"
    weigh("export", run, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    for changes in ({"key": "goofspiel/b0009/r0", "block": "goofspiel/b0009"}, {"key": "goofspiel/b0000/r9"}):
        copy = json.dumps(json.loads(lines[0]) | changes)
        path.write_text("\n".join([*lines, copy, ""]), encoding="utf-8")
        said = weigh("verify", path)
        assert said.code == 1
        assert said.out.startswith(f'{changes["key"]}: the record is the same play as that of "goofspiel/b0000/r0"')


def test_equal_play_at_another_time_is_no_copy(tmp_path: Path) -> None:
    """Without chance equal players play the same twice, and few names are drawn twice in sixty blocks."""
    order = config(
        tmp_path, 'baselines = false\n[games.oshi_zumo]\ncoins = 6\nblocks = 60\n[entrants]\na = "match"\nb = "hoard"\n'
    )
    assert weigh("ladder", order).code == 0
    path = tmp_path / "all.jsonl"
    weigh("export", tmp_path / "results" / "s", path)
    played = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    bare = {
        json.dumps({key: record[key] for key in record if key not in ("key", "block", "times")}) for record in played
    }
    assert len(bare) < len(played)
    assert weigh("verify", path).code == 0


SAVED = ("gate", "--candidate", "match", "--game", "goofspiel", "--set", "cards=4", "--blocks", "6")
GATED = ("gate", "--baseline", "base.json", "--candidate", "match", "--margin", "0.9")


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A saved baseline, and the run it was saved from."""
    monkeypatch.chdir(tmp_path)
    assert weigh(*SAVED, "--save-baseline", "base.json").code == 0
    (run,) = (tmp_path / "results" / "gate-goofspiel-match").iterdir()
    return tmp_path / "base.json", run


def signed(path: Path, how: Callable[[dict[str, object]], object]) -> None:
    """Another baseline file, with the digest that it then has."""
    data = json.loads(path.read_text(encoding="utf-8"))
    how(data)
    found = read_baseline(json.dumps(data), "")
    path.write_text(written(found.model_copy(update={"digest": digest_of(found)})), encoding="utf-8")


def test_a_baseline_file_is_compared_with_its_run(baseline: tuple[Path, Path]) -> None:
    path, run = baseline
    said = weigh("verify", path, "--run", run)
    assert (said.code, said.err) == (0, "")
    weigh("verify", path).refused("--run RUN", kind="run-missing")


@pytest.mark.parametrize(
    ("how", "named"),
    [
        (lambda data: data["blocks"][1].update(scores=[-1.0] * 4), "goofspiel/b0001: scores are not those of the run"),
        (lambda data: data["blocks"][1].update(scores=[None] * 4), "goofspiel/b0001: scores are not those of the run"),
        (lambda data: data["blocks"].pop(0), "blocks are not those of the run"),
        (lambda data: data["measures"].update(fallback_rate=0.5), "measures.fallback_rate is not that of the run"),
        (lambda data: data["policy"].update(digest="0" * 64), "policy is not that of the run"),
        (lambda data: data["conditions"].update(seed=9), "seed is not that of the run"),
    ],
)
def test_a_baseline_file_that_its_run_does_not_give_is_found(
    baseline: tuple[Path, Path], how: Callable[[dict[str, object]], object], named: str
) -> None:
    path, run = baseline
    signed(path, how)
    said = weigh("verify", path, "--run", run)
    assert said.code == 1
    assert named in said.out


def test_a_gate_does_not_judge_by_scores_that_the_run_of_its_baseline_does_not_give(
    baseline: tuple[Path, Path],
) -> None:
    path, run = baseline
    assert weigh(*GATED).code in (0, 3)
    signed(path, lambda data: data["blocks"][1].update(scores=[-1.0] * 4))  # type: ignore[index]
    said = weigh(*GATED)
    assert said.code == 4
    assert f"its scores are not those of {run.relative_to(path.parent)}" in " ".join(said.out.split())
