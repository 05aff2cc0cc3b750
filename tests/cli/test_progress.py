"""The line for a person who waits: on a terminal only, after a while, and gone at the end."""

from __future__ import annotations

import io
import sys

import pytest

from tests.cli.runner import weigh
from tests.harness.web.runs import make_run
from weigh.harness.cli.wait import counting


def said(monkeypatch, terminal, times):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("weigh.harness.cli.output.moves_cursor", lambda stream, environ: terminal)
    ticks = iter(times)
    with counting("drawing", 550, clock=lambda: next(ticks)) as tell:
        for number in (1, 2, 3):
            tell(number)
    return stream.getvalue()


def test_a_terminal_is_told_after_a_second_and_the_line_is_taken_back(monkeypatch):
    # Asked for: the start, then at each number whether it is due, and once more where it is shown.
    told = said(monkeypatch, True, [0.0, 0.5, 1.5, 1.5, 1.6])
    assert told == "\r\x1b[Kweigh: drawing 2 of 550 episodes\r\x1b[K"


@pytest.mark.parametrize(("terminal", "times"), [(False, [0.0] * 9), (True, [0.0, 0.1, 0.2, 0.3])])
def test_nobody_is_told_of_what_is_quick_or_goes_to_a_file(monkeypatch, terminal, times):
    assert said(monkeypatch, terminal, times) == ""


def test_a_terminal_is_told_while_pages_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr("weigh.harness.cli.output.moves_cursor", lambda stream, environ: True)
    monkeypatch.setattr("weigh.harness.cli.wait.PATIENCE", 0.0)
    monkeypatch.setattr("weigh.harness.cli.wait.PAUSE", 0.0)
    run = make_run(tmp_path / "run")
    for words in (("view", run), ("view", run, "-o", f"{tmp_path}/pages/")):
        assert "weigh: drawing 4 of 4 episodes" in weigh(*words).err
    assert "drawing 4 of 4" in weigh("report", run, "-o", tmp_path / "r.html", "--replays", tmp_path / "more").err
