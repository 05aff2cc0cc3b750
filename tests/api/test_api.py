"""`import weigh`: four functions, in a plain process and within a running event loop, whose values show themselves."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.cli.runner import config, environment
from tests.cli.runner import weigh as command
from weigh.api import Episode, LadderRun, Ranking, _html_table
from weigh.harness.errors import ConfigError, Refused, StoreRefused
from weigh.harness.results import Results
from weigh.harness.run.limits import Brake, Stopping
from weigh.harness.run.signals import apart, require_own_loop, stopping_on_signals


def alone(code: str, folder: Path) -> str:
    """What a fresh interpreter prints for `code`."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def timeless(episode: Episode) -> dict[str, Any]:
    return episode.record.model_dump(mode="json", exclude={"times"})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    return weigh.ladder(config(folder), results=folder, name="a", quiet=True).folder


def test_the_public_names_are_these_and_no_others() -> None:
    assert weigh.__all__ == ["ladder", "load", "play", "rank"]
    assert set(weigh.__all__) <= set(dir(weigh))
    assert all((getattr(weigh, name).__doc__ or "").strip() for name in weigh.__all__)
    with pytest.raises(AttributeError):
        weigh.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_importing_loads_neither_pandas_nor_an_sdk_nor_the_command_line(tmp_path: Path) -> None:
    loaded = json.loads(alone("import json, sys, weigh; print(json.dumps(sorted(sys.modules)))", tmp_path))
    heavy = {"pandas", "numpy", "scipy", "pydantic", "typer", "rich", "openai", "anthropic", "aiohttp"}
    assert not heavy & {name.partition(".")[0] for name in loaded}
    assert not any(name.startswith("weigh.") for name in loaded)


def test_a_function_asked_for_loads_no_pandas(tmp_path: Path) -> None:
    loaded = json.loads(alone("import json, sys, weigh; weigh.load; print(json.dumps(sorted(sys.modules)))", tmp_path))
    assert not {"pandas", "scipy", "rich"} & set(loaded)


def test_play_gives_the_record_of_the_command() -> None:
    told = command("play", "goofspiel", "match", "hoard", "--seed", 7, "--set", "cards=5", "--json").json
    episode = weigh.play("goofspiel", ["match", "hoard"], seed=7, settings={"cards": 5})
    assert timeless(episode) == {key: value for key, value in told.items() if key != "times"}
    assert episode.scores == dict(enumerate(told["scores"]))


def test_ladder_plays_what_the_command_plays_and_goes_on_with_it(tmp_path: Path, run: Path) -> None:
    there = config(tmp_path)
    assert command("ladder", there, "--results", tmp_path, "--name", "b", "--json").code == 0
    ours, theirs = weigh.load(run).seats, weigh.load(tmp_path / "b").seats
    kept = ["episode", "seat", "entrant", "score"]
    assert ours[kept].equals(theirs[kept])
    again = weigh.ladder(there, results=tmp_path, name="b", quiet=True)
    assert (again.closing.ended, again.closing.finished, again.closing.total) == ("complete", 6, 6)


def test_rank_is_the_ranking_of_the_command(run: Path) -> None:
    ranking = weigh.rank(run)
    assert ranking.to_json() == command("rank", run, "--json").json
    assert list(ranking.frame.entrant) == [row.entrant for row in ranking.ladder.games[0].standings]


def test_limits_stand_in_place_of_the_configs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        weigh.ladder(config(tmp_path), results=tmp_path, limits={"max_nothing": 1})


def test_all_four_work_within_a_running_loop(tmp_path: Path, run: Path) -> None:
    async def cell() -> tuple[Episode, LadderRun, Ranking, Results]:
        return (
            weigh.play("goofspiel", ["match", "hoard"], seed=7),
            weigh.ladder(config(tmp_path), results=tmp_path, name="c", quiet=True),
            weigh.rank(run),
            weigh.load(run),
        )

    episode, ladder, ranking, results = asyncio.run(cell())
    assert timeless(episode) == timeless(weigh.play("goofspiel", ["match", "hoard"], seed=7))
    assert ladder.ranking.ladder.games[0].standings == ranking.ladder.games[0].standings
    assert results == weigh.load(run)


def test_errors_come_out_of_the_thread_as_they_are(tmp_path: Path) -> None:
    async def cell() -> None:
        weigh.play("goofspiel", ["human", "match"])

    with pytest.raises(Refused) as caught:
        asyncio.run(cell())
    assert caught.value.kind == "no-people"
    with pytest.raises(StoreRefused):
        weigh.rank(tmp_path)


def test_values_show_themselves_as_text_and_as_html(run: Path) -> None:
    for value in (
        weigh.play("goofspiel", ["match", "hoard", "random"]),
        weigh.rank(run),
        weigh.load(run),
        weigh.ladder(run.parent / "s.toml", results=run.parent, name="a", quiet=True),
    ):
        text, page = repr(value), value._repr_html_()  # type: ignore[attr-defined]
        assert "goofspiel" in text
        assert "goofspiel" in page
        assert "<table>" in page
        assert max(map(len, text.splitlines()[:4])) < 200


def test_html_shows_other_peoples_text_as_text() -> None:
    assert "<td>&lt;b&gt;x</td>" in _html_table(("name",), [("<b>x",)])


def test_a_command_within_a_loop_is_refused_and_names_the_functions() -> None:
    async def cell() -> None:
        require_own_loop()

    with pytest.raises(Refused) as caught:
        asyncio.run(cell())
    assert caught.value.kind == "no-process"
    assert "weigh.ladder" in str(caught.value)


def interrupted_in_a_cell(times: int) -> tuple[str | None, bool]:
    """What stopped work that is played in a cell whose thread is interrupted so often; whether it was cancelled."""
    brake, going, pause = Brake(), threading.Event(), threading.Event()

    async def work() -> bool:
        with stopping_on_signals(brake, lambda line: None):
            going.set()
            try:
                if times > 1:
                    await asyncio.Event().wait()
                async with brake.waiting():
                    await asyncio.Event().wait()
            except asyncio.CancelledError:
                return True
            except Stopping:
                return False
            raise AssertionError("nothing stopped it")

    def interrupt() -> None:
        going.wait()
        for _ in range(times):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            while brake.pulled is None:
                pause.wait(0.01)

    async def cell() -> bool:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as within a notebook's cell
        try:
            sender = threading.Thread(target=interrupt)
            sender.start()
            return apart(lambda: asyncio.run(work()))
        finally:
            sender.join()
            signal.signal(signal.SIGINT, before)

    cancelled = asyncio.run(cell())
    return brake.pulled, cancelled


def test_the_first_interrupt_of_a_cell_stops_and_the_second_cancels() -> None:
    assert interrupted_in_a_cell(1) == ("interrupted", False)
    assert interrupted_in_a_cell(2) == ("interrupted", True)


def test_an_interrupt_that_nothing_hears_is_raised_at_the_end() -> None:
    begun = threading.Event()

    def work() -> None:
        begun.set()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        threading.Event().wait(0.2)

    async def cell() -> None:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            apart(work)
        finally:
            signal.signal(signal.SIGINT, before)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(cell())
    assert begun.is_set()
