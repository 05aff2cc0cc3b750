"""`weigh demo`: a ladder on any machine, checked, ranked, and with a page to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import Said, weigh
from weigh.harness.config.config import load_config
from weigh.harness.results import load
from weigh.harness.run.play.demo import demo_spec


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Said]:
    results = tmp_path_factory.mktemp("demo") / "runs"
    return results, weigh("demo", "--mock", "--results", results)


def test_the_demo_ends_with_the_ranking_a_page_that_is_there_and_the_next_command(played: tuple[Path, Said]) -> None:
    results, said = played
    assert said.code == 0, said.err
    run = results / "demo-mock"
    page = run / "view.html"
    heading, *_, verified, replay, following = said.out.splitlines()
    assert heading.startswith("oshi_zumo")
    assert all(entrant in said.out for entrant in ("plain", "tempo", "match", "hoard", "random"))
    assert verified.startswith(f"{run}: OK, 60 records")
    assert str(page) in replay
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert following.startswith("Next: ")


def test_the_demo_is_a_good_example(played: tuple[Path, Said]) -> None:
    results, said = played
    assert not [line for line in said.out.splitlines() if line.startswith("warning")]
    assert "warning" not in said.err.lower()
    (game,) = load(results / "demo-mock").rank().games
    assert all(row.reliability.fallback_rate == 0 for row in game.standings)
    assert all(row.interval is not None and row.blocks >= 4 for row in game.standings)
    assert sum(row.first for row in game.standings) == 1


@pytest.mark.slow
def test_the_demo_again_plays_nothing_and_shows_the_same(played: tuple[Path, Said]) -> None:
    results, _ = played
    before = (results / "demo-mock" / "run.sqlite").read_bytes()
    said = weigh("demo", "--mock", "--results", results, "--json")
    assert said.code == 0, said.err
    assert said.json["records"] == 60
    assert said.json["ok"] is said.json["mock"] is True
    assert (results / "demo-mock" / "run.sqlite").read_bytes() == before


def test_the_demo_on_the_embedded_model_asks_both_prompts_by_schema(tmp_path: Path) -> None:
    spec = demo_spec(tmp_path, None)
    order = load_config(spec.config, spec.overrides)
    assert order.run_folder == tmp_path / "demo"
    assert set(order.endpoints) == {"local:smollm2"}
    prompted = [each for each in order.entrants if each.model is not None]
    assert [each.style for each in prompted] == ["schema", "schema"]
    assert not order.warnings
