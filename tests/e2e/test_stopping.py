"""Ladders that are stopped, refused or run out of disk: the exit code, what is kept, and the way on."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.ladders import Ladder, config, ended, when
from weigh.harness.providers.mock_server import MockServerProcess, Options, Plan
from weigh.harness.providers.mock_server.rules import Respond

ENTRANTS = [
    ("ada", "plain.md@chat:mock-a"),
    ("bea", "bold.md@chat:mock-b"),
    ("cyd", "plain.md@claude:mock-c"),
    ("match", "match"),
]
SCRIPTED = [("match", "match"), ("hoard", "hoard"), ("random", "random"), ("again", "random")]
NEVER = "1h"
"""No test lasts so long: a process that waited for it would not have `ended`."""
SMALL = "[games.goofspiel]\nseats = 4\ncards = 4\nblocks = 1\n"


@pytest.mark.slow
def test_O04_one_interrupt_lets_calls_in_flight_return_keeps_them_and_resumes(tmp_path: Path) -> None:
    with MockServerProcess(Options(latency="800ms")) as server:
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits="episodes_in_flight = 2"))
        process = ladder.start()
        # In the second round of the first two tables.
        when(process, lambda: server.stats()["requests"] == 12)
        process.send_signal(signal.SIGINT)
        stopped = ended(process)
        assert stopped.code == 130, stopped
        stats = server.stats()
        assert stats["requests"] == stats["sent"]["200"] == len(ladder.calls) == 12
        assert {call.fate for call in ladder.calls} == {"answered"}
        assert ladder.status == "interrupted"
        assert f"weigh ladder {ladder.config}" in stopped.err
        resumed = ladder.play()
        assert resumed.code == 0, resumed
        # Four tables of four rounds of three seats, each asked once.
        assert server.stats()["requests"] == len(ladder.calls) == 48
        assert server.stats()["answered_again"] == 0
    assert len(ladder.records) == 4


@pytest.mark.slow
def test_O04_a_second_interrupt_stops_at_once_and_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    with MockServerProcess(Options(latency=NEVER)) as server:
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits="episodes_in_flight = 2"))
        process = ladder.start()
        when(process, lambda: server.stats()["requests"] == 6)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.7)
        process.send_signal(signal.SIGINT)
        stopped = ended(process)
        assert stopped.code == 130, stopped
        assert "Traceback" not in stopped.err
    assert [call.fate for call in ladder.calls] == ["lost"] * 6
    assert ladder.status == "interrupted"


@pytest.mark.slow
def test_an_interrupt_ends_the_wait_for_a_provider_that_asked_for_one(tmp_path: Path) -> None:
    plan = Plan(rules=(Respond(status=503, retry_after=NEVER),))
    with MockServerProcess(Options(plan=plan)) as server:
        limits = "episodes_in_flight = 2\ndecision_timeout = 1000000"
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits=limits))
        process = ladder.start()
        when(process, lambda: server.stats()["sent"].get("503") == 6)
        process.send_signal(signal.SIGINT)
        stopped = ended(process)
        assert stopped.code == 130, stopped
        assert server.stats()["requests"] == 6
    assert {call.fate for call in ladder.calls} == {"wait"}
    assert len(ladder.calls) == 6


@pytest.mark.slow
def test_a_pause_of_hours_is_told_ends_with_an_interrupt_and_the_same_command_goes_on(tmp_path: Path) -> None:
    paused = Plan(rules=(Respond(status=429, retry_after="7200s", nth="9", model="mock-c"),))
    with MockServerProcess(Options(plan=paused)) as server:
        limits = "episodes_in_flight = 2\ndecision_timeout = 60"
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits=limits))
        process = ladder.start()
        # Everything that can be asked without mock-c: the round is waited for by its other seats.
        when(process, lambda: server.stats()["sent"].get("429") == 1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        stopped = ended(process)  # waits for much less than two hours
        assert stopped.code == 130, stopped
        told = [line for line in stopped.err.splitlines() if "claude:mock-c" in line and "paused until" in line]
        # When it began, and once more at the end: until when, and why.
        assert len(told) == 2, stopped
        assert all("status 429 from " in line for line in told)
        assert ladder.voids == []
        resumed = ladder.play()
        assert resumed.code == 0, resumed
        assert server.stats()["answered_again"] == 0
        assert server.stats()["requests"] == len(ladder.calls) == 49
    assert len(ladder.records) == 4


@pytest.mark.slow
def test_a_ceiling_on_time_ends_a_pause_cleanly(tmp_path: Path) -> None:
    plan = Plan(rules=(Respond(status=503, retry_after="7200s"),))
    with MockServerProcess(Options(plan=plan)) as server:
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits="max_seconds = 4.0"))
        stopped = ladder.play()
    assert stopped.code == 4, stopped
    assert "limits.max_seconds" in ladder.status
    assert ladder.voids == []
    assert {call.fate for call in ladder.calls} <= {"wait"}  # on a busy machine the time is up before the first call


@pytest.mark.slow
def test_a_run_under_another_config_is_refused_with_what_differs(tmp_path: Path) -> None:
    text = config(None, entrants=SCRIPTED, games="[games.oshi_zumo]\nblocks = 1\n")
    ladder = Ladder(tmp_path, text)
    assert ladder.play().code == 0
    kept = ladder.records
    ladder.write(text.replace("seed = 5", "seed = 6").replace("blocks = 1", "blocks = 2"))
    refused = ladder.play()
    assert refused.code == 2, refused
    assert "seed" in refused.err
    assert "blocks" in refused.err
    assert "Traceback" not in refused.err
    assert ladder.records == kept
    ladder.write(text)
    assert ladder.play().code == 0


@pytest.mark.slow
def test_a_second_ladder_on_the_same_folder_is_refused_while_the_first_plays(tmp_path: Path) -> None:
    with MockServerProcess(Options(latency="300ms")) as server:
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=SMALL, limits="episodes_in_flight = 1"))
        first = ladder.start()
        when(first, lambda: server.stats()["requests"] > 0)
        second = ladder.play()
        assert second.code == 2, second
        assert "being written by another process" in second.err
        result = ended(first)
        assert result.code == 0, result
        assert server.stats()["requests"] == 48


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("needs the right to mount a small file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_O11_a_full_disk_stops_the_run_with_one_line_and_it_goes_on_once_there_is_room(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(24_400_000))
    text = config(None, entrants=SCRIPTED, games="[games.goofspiel]\nseats = 4\nblocks = 30\n")
    ladder = Ladder(small_disk / "ladder", text)
    full = ladder.play()
    assert full.code == 4, full
    assert "the disk is full" in full.err
    assert "Traceback" not in full.err
    assert len([line for line in full.err.splitlines() if "disk is full" in line]) == 1
    kept = ladder.records
    assert 0 < len(kept) < 120
    ballast.unlink()
    resumed = ladder.play()
    assert resumed.code == 0, resumed
    assert len(ladder.records) == 120
    assert set(kept) <= set(ladder.records)
