"""Progress as a live picture."""

from __future__ import annotations

import io
import threading
import time

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.harness.run.display_events import NAMES, Clock, call, decision, plan, record, void
from weigh.harness.cli.progress import live as display_live
from weigh.harness.cli.progress.live import LiveDisplay, Screen, picture
from weigh.harness.run.events import Closing
from weigh.harness.run.tally import Tally


@pytest.fixture(autouse=True)
def able_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich asks the process what terminal it has; these tests have one of their own, wherever they run."""
    monkeypatch.setenv("TERM", "xterm-256color")


def busy(names: tuple[str, ...] = NAMES) -> Tally:
    """Counts of a run with two games, some faults, a void and a retry that waits."""
    clock = Clock()
    tally = Tally(plan(episodes={"goofspiel": 16, "oshi_zumo": 24}, finished={"goofspiel": 2}), clock)
    for n in range(4):
        tally.episode_started(f"goofspiel/b{n}/r0", names)
        for step in range(5):
            tally.call_finished(call(f"goofspiel/b{n}/r0", 0, step=step, tokens=(90_000, 1_000)))
            tally.call_finished(call(f"goofspiel/b{n}/r0", 1, step=step, cost=None))
        clock.now += 100
        faults = [decision(0, "fallback", "truncated", "illegal"), decision(0, "model")]
        tally.episode_finished(record(f"goofspiel/b{n}/r0", names, decisions=faults))
    tally.episode_started("oshi_zumo/b0/r0", names[:2])
    tally.episode_void(void("oshi_zumo/b0/r0"))
    tally.episode_started("oshi_zumo/b1/r0", names[:2])
    tally.call_finished(call("oshi_zumo/b1/r0", 0, fate="wait", cost=0.0))
    return tally


def lines(tally: Tally, width: int, encoding: str = "utf-8") -> list[str]:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    screen = Console(file=stream, width=width, force_terminal=True, color_system=None)
    screen.print(picture(tally, width, encoding))
    stream.seek(0)
    return [line.rstrip() for line in stream.read().splitlines()]


def test_the_picture_holds_where_the_run_stands_what_it_took_and_a_line_per_entrant() -> None:
    drawn = lines(busy(), 110)
    assert drawn[0] == "demo, seed 7"
    assert drawn[1].endswith(" 7/40")
    assert drawn[2] == "6 finished · 1 in flight · 1 void · 6:40 so far · about 55:00 left"
    assert drawn[3] == (
        "41 calls · 1.8M tokens in, 21k out · cost >=$0.0200 · illegal 4, truncated 4 · 1 retry waiting"
    )
    assert drawn[4].split() == ["goofspiel", "oshi_zumo", "cost", "in/out", "calls", "faults"]
    assert drawn[5].split("  ")[0] == "careful"
    assert "+0.250 (4)" in drawn[5]
    assert drawn[5].endswith("67% illegal 4, truncated 4")
    assert "unknown" in drawn[6], "no call of this entrant has a price"
    assert drawn[7].split() == ["match", "0.000", "(4)", "-", "-", "-", "-"]


@pytest.mark.parametrize("width", [40, 41, 50, 60, 79, 80, 100, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_no_line_is_wider_than_the_terminal_and_every_entrant_has_one(width: int, encoding: str) -> None:
    drawn = lines(busy(("an-entrant-with-the-longest-name-of-all", *NAMES[1:])), width, encoding)
    assert max(map(cell_len, drawn)) <= width
    assert [line[:5].strip() for line in drawn[-5:]] == ["caref", "long", "match", "hoard", "an-en"]
    assert "goofspiel" in "\n".join(drawn)


@pytest.mark.parametrize("width", [1, 2, 5, 13, 20, 39])
def test_a_terminal_too_narrow_for_anything_is_no_error(width: int) -> None:
    assert lines(busy(), width)


def test_a_game_that_does_not_fit_is_named() -> None:
    tally = Tally(plan(episodes={"goofspiel": 1, "oshi_zumo": 1, "ballast": 1}), Clock())
    assert lines(tally, 40)[-1] == "(too narrow for ballast)"
    assert "ballast" in lines(tally, 80)[-5]


def test_a_picture_does_not_change_after_it_was_made() -> None:
    tally = busy()
    made = picture(tally, 100, "utf-8")
    tally.episode_finished(record())
    tally.call_finished(call())
    stream = io.StringIO()
    Console(file=stream, width=100).print(made)
    assert "7/40" in stream.getvalue()


def live(width: int = 80, encoding: str = "utf-8", **more: object) -> tuple[LiveDisplay, io.TextIOWrapper]:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    screen = Screen(file=stream, width=width, height=30, force_terminal=True, markup=False, highlight=False, **more)
    return LiveDisplay(console=screen), stream


def written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize(("width", "encoding"), [(40, "utf-8"), (80, "ascii"), (120, "cp1252")])
def test_a_run_is_drawn_to_its_end_and_the_cursor_comes_back(width: int, encoding: str) -> None:
    display, stream = live(width, encoding, color_system=None)
    with display:
        display.note("before [bold]the[/bold] run")
        display.run_started(plan())
        for n in range(8):
            display.episode_started(f"goofspiel/b{n}/r0", NAMES)
            display.call_finished(call(f"goofspiel/b{n}/r0"))
            display.episode_finished(record(f"goofspiel/b{n}/r0"))
        display.note("dice \N{GAME DIE} \x1b[31m")
        display.run_finished(Closing("complete", 8, 0, 8))
    text = written(stream)
    assert "before [bold]the[/bold] run" in text, "markup in a text is text"
    assert r"\x1b[31m" in text
    assert "8/8" in text
    assert text.rindex("complete: 8 of 8") > text.rindex("8/8"), "the last lines stay below the picture"
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is shown again"


def test_the_terminal_is_put_back_when_a_run_fails() -> None:
    display, stream = live()
    with pytest.raises(RuntimeError, match="a bug"), display:
        display.run_started(plan())
        raise RuntimeError("a bug")
    text = written(stream)
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    assert not [thread for thread in threading.enumerate() if thread.name == "display"]


def test_no_color_takes_the_colours_and_leaves_the_picture() -> None:
    for environ, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        stream = io.StringIO()
        display = LiveDisplay(stream, environ=environ)
        display.console._color_system = display.console._color_system or 1
        with display:
            display.run_started(plan())
            display.run_finished(Closing("stopped", 0, 0, 8, "a ceiling"))
        assert ("\x1b[1;31m" in stream.getvalue()) is coloured
        assert "\x1b[?25l" in stream.getvalue()


def test_a_terminal_that_takes_no_text_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display_live, "PATIENCE", 0.05)
    gate, stuck, written = threading.Event(), threading.Event(), threading.Event()

    class Stuck(io.StringIO):
        def write(self, text: str) -> int:
            stuck.set()
            gate.wait()
            written.set()
            return len(text)

    display = LiveDisplay(console=Screen(file=Stuck(), width=80, force_terminal=True))
    with display:
        display.run_started(plan())
        for n in range(200):
            display.episode_started(f"goofspiel/b{n}/r0", NAMES)
            display.call_finished(call(f"goofspiel/b{n}/r0"))
            display.note("a line")
            display.episode_finished(record(f"goofspiel/b{n}/r0"))
        assert stuck.wait(60)
    assert not written.is_set(), "all of it was done while the terminal took nothing"
    gate.set()


def test_a_terminal_that_is_gone_does_not_end_the_run() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with LiveDisplay(console=Screen(file=Gone(), width=80, force_terminal=True)) as display:
        display.run_started(plan())
        display.episode_started("goofspiel/b0000/r0", NAMES)
        display.episode_finished(record())
        display.note("a line")
        display.run_finished(Closing("complete", 8, 0, 8))


def test_a_bug_in_the_picture_costs_the_run_nothing_and_is_shown_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug in the picture")

    monkeypatch.setattr(display_live, "picture", broken)
    display, _ = live()
    played = 0
    with pytest.raises(ZeroDivisionError), display:
        display.run_started(plan())
        for n in range(8):
            display.episode_finished(record(f"goofspiel/b{n}/r0"))
            played += 1
    assert played == 8


def test_a_terminal_may_change_its_width_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display_live, "REFRESHES", 200)
    display, stream = live(120, color_system=None)
    with display:
        display.run_started(plan())
        for n, width in enumerate((120, 40, 20, 5, 1, 90, 200, 80)):
            display.console.width = width
            display.episode_started(f"goofspiel/b{n}/r0", NAMES)
            display.call_finished(call(f"goofspiel/b{n}/r0"))
            display.episode_finished(record(f"goofspiel/b{n}/r0"))
            display.note(f"line {n}")
            time.sleep(0.02)
        display.run_finished(Closing("complete", 8, 0, 8))
    assert "complete: 8 of 8" in written(stream)
