"""examples/run: a finished run that every command and every page of the documentation may be shown with."""

from __future__ import annotations

import pytest

from tests.cli.runner import ROOT, weigh
from weigh.harness.config.config import load_config
from weigh.harness.results import load
from weigh.harness.run.opening import manifest_of, schedule_of
from weigh.harness.store.manifest import differences
from weigh.harness.store.store import Store

RUN = ROOT / "examples" / "run"


def test_the_run_in_examples_verifies_and_is_under_a_megabyte() -> None:
    said = weigh("verify", RUN, "--json")
    assert said.code == 0, said.err
    assert (said.json["ok"], said.json["records"]) == (True, said.json["planned"])
    assert (RUN / "run.sqlite").stat().st_size < 1_000_000


def test_the_run_in_examples_is_the_one_that_its_config_orders() -> None:
    order = load_config(ROOT / "examples" / "run.toml")
    assert order.run_folder == RUN
    with Store.open(RUN, readonly=True) as store:
        assert differences(store.manifest, manifest_of(order, schedule_of(order))) == []
        assert store.status == "finished"


def test_the_run_in_examples_has_something_for_every_output() -> None:
    games = load(RUN).rank().games
    assert [game.game for game in games] == ["goofspiel", "oshi_zumo"]
    assert sorted(any(row.first for row in game.standings) for game in games) == [False, True]
    for game in games:
        assert game.blocks >= 12
        assert len(game.standings) == 5
        prompted = [row for row in game.standings if row.models]
        assert len(prompted) == 2
        assert all(row.conduct.retry_rate and row.conduct.fallback_rate for row in prompted)
        assert all(row.spend.cost_usd for row in prompted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("rank", RUN, "--wide"),
        ("rank", RUN, "--ratings", "--head-to-head", "--measures"),
        ("view", RUN, "--text", "--episode", "goofspiel/b0000/r0"),
        ("report", RUN, "--format", "markdown", "-o", "-"),
        ("audit", RUN),
        ("export", RUN, "-", "--format", "csv", "--dataset", "calls"),
    ],
    ids=lambda words: " ".join(map(str, words)).replace(str(RUN), "RUN"),
)
def test_every_command_can_be_shown_with_the_run_in_examples(words: tuple[object, ...]) -> None:
    before = {path.name for path in RUN.iterdir() if path.suffix == ".html" or path.suffix == ".md"}
    said = weigh(*words)
    assert said.code == 0, said.err
    assert len(said.out.splitlines()) > 10
    assert {path.name for path in RUN.iterdir() if path.suffix == ".html" or path.suffix == ".md"} == before
