"""Progress as plain lines."""

from __future__ import annotations

import io
import re

import pytest

from tests.harness.run.display_events import NAMES, Clock, call, decision, plan, record, void
from weigh.harness.cli.progress.plain import PULSE, PlainDisplay
from weigh.harness.run.events import Closing, Plan


def shown(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_c14_one_line_an_event_with_its_place_and_no_escape_codes_or_carriage_returns() -> None:
    stream = io.StringIO()
    with PlainDisplay(stream, Clock()) as display:
        display.run_started(plan(finished={"goofspiel": 2}))
        display.episode_started("goofspiel/b0000/r0", NAMES)
        display.call_finished(call())
        display.episode_finished(record(decisions=[decision(0, "fallback", "empty", "empty")]))
        display.episode_started("goofspiel/b0000/r1", NAMES)
        display.episode_void(void("goofspiel/b0000/r1", "503\x1b[31m\rpast\npatience"))
        display.run_finished(Closing("interrupted", 3, 1, 8, "Ctrl-C", "weigh ladder demo.toml"))
    assert shown(stream) == [
        "demo: seed 7, 8 episodes (goofspiel 8), 2 already finished",
        "entrants: careful, long, match, hoard",
        "[3/8] goofspiel/b0000/r0: careful +0.250, long -0.100, match 0.000, hoard -0.150 "
        "(prizes-exhausted, 1 fallback)",
        r"[3/8] goofspiel/b0000/r1: void at step 3, careful (seat 0): 503\x1b[31m\rpast\npatience",
        "interrupted: 3 of 8 episodes finished, 1 void in 0:00; 1 call, 900 tokens in, 60 out, cost $0.0010",
        "Ctrl-C",
        "go on with: weigh ladder demo.toml",
    ]
    assert not re.search(r"[\x1b\r]", stream.getvalue())


def test_o23_the_seed_in_force_is_printed_and_0_is_one() -> None:
    stream = io.StringIO()
    PlainDisplay(stream).run_started(Plan("demo", 0, NAMES, {"goofspiel": 1}))
    assert shown(stream)[0] == "demo: seed 0, 1 episode (goofspiel 1)"


def test_a_long_silence_is_broken_by_a_finished_call() -> None:
    stream, clock = io.StringIO(), Clock()
    display = PlainDisplay(stream, clock)
    display.run_started(plan())
    display.episode_started("goofspiel/b0000/r0", NAMES)
    before = len(shown(stream))
    clock.now += PULSE - 1
    display.call_finished(call(cost=None))
    assert len(shown(stream)) == before
    clock.now += 1
    display.call_finished(call(fate="wait", cost=0.0))
    display.call_finished(call(fate="wait", cost=0.0))
    assert shown(stream)[before:] == [
        "[0/8] 1 in flight, 2 calls, 900 tokens in, 60 out, cost unknown, 1 retry waiting"
    ]


def test_warnings_stand_out() -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream)
    display.run_started(plan())
    display.episode_finished(record(decisions=[decision(0, "fallback", "empty", "empty")] * 10))
    assert shown(stream)[-1].startswith("WARNING: careful: 100% of 20 attempts gave no answer that could be read")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_c11_what_the_stream_cannot_write_is_escaped(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    display = PlainDisplay(stream)
    display.run_started(plan())
    display.note("dice \N{GAME DIE} → 6")
    line = raw.getvalue().decode(encoding).splitlines()[-1]
    assert line == ("dice \N{GAME DIE} → 6" if encoding == "utf-8" else r"dice \U0001f3b2 \u2192 6")


def test_a_reader_who_leaves_does_not_end_the_run() -> None:
    class Gone(io.StringIO):
        writes = 0

        def write(self, text: str) -> int:
            self.writes += 1
            raise BrokenPipeError

    stream = Gone()
    display = PlainDisplay(stream)
    display.run_started(plan())
    display.episode_finished(record())
    display.run_finished(Closing("complete", 8, 0, 8))
    assert stream.writes == 1


def test_costs_that_nobody_knows_are_said_at_the_end() -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream, Clock())
    display.run_started(plan())
    display.episode_started("goofspiel/b0000/r0", NAMES)
    display.call_finished(call(cost=1.5))
    display.call_finished(call(fate="timed_out", cost=None))
    display.run_finished(Closing("complete", 8, 0, 8))
    assert shown(stream)[-2:] == [
        "complete: 8 of 8 episodes finished in 0:00; 2 calls, >=900 tokens in, >=60 out, cost >=$1.50",
        "nobody knows the cost of 1 call",
    ]
