"""Which display a run gets."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from tests.harness.run.display_events import NAMES, call, plan, record, void
from weigh.harness.cli.progress.live import LiveDisplay
from weigh.harness.cli.progress.plain import PlainDisplay, choose_display
from weigh.harness.run.events import Closing, SilentDisplay
from weigh.harness.words import count, duration, money, plural, score, shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_live_picture() -> None:
    assert isinstance(choose_display(Terminal(), {"TERM": "xterm"}, json=False), LiveDisplay)
    assert isinstance(choose_display(Terminal(), {}, json=False), LiveDisplay), "Windows sets no TERM"


@pytest.mark.parametrize("environ", [{"CI": "true"}, {"CI": "1"}, {"TERM": "dumb"}, {"TERM": "unknown"}])
def test_c14_ci_and_dumb_terminals_get_plain_lines(environ: dict[str, str]) -> None:
    assert isinstance(choose_display(Terminal(), environ, json=False), PlainDisplay)


@pytest.mark.parametrize("environ", [{"CI": ""}, {"CI": "false"}, {"CI": "0"}])
def test_ci_set_to_nothing_or_false_is_no_ci(environ: dict[str, str]) -> None:
    assert isinstance(choose_display(Terminal(), environ, json=False), LiveDisplay)


def test_c14_a_pipe_gets_plain_lines_whatever_asks_for_colour() -> None:
    assert isinstance(choose_display(io.StringIO(), {"FORCE_COLOR": "1", "TERM": "xterm"}, json=False), PlainDisplay)
    closed = io.StringIO()
    closed.close()
    assert isinstance(choose_display(closed, {}, json=False), PlainDisplay)


def test_c14_no_color_keeps_the_picture_without_its_colours() -> None:
    display = choose_display(Terminal(), {"NO_COLOR": "1"}, json=False)
    assert isinstance(display, LiveDisplay)
    assert display.console.no_color
    display = choose_display(Terminal(), {"NO_COLOR": ""}, json=False)
    assert isinstance(display, LiveDisplay)
    assert not display.console.no_color


def test_json_gets_silence(capsys: pytest.CaptureFixture[str]) -> None:
    with choose_display(sys.stderr, {}, json=True) as display:
        assert isinstance(display, SilentDisplay)
        display.run_started(plan())
        display.episode_started("goofspiel/b0000/r0", NAMES)
        display.call_finished(call())
        display.episode_finished(record())
        display.episode_void(void())
        display.note("a line")
        display.run_finished(Closing("complete", 1, 0, 1))
    assert capsys.readouterr() == ("", "")


def test_choosing_plain_lines_loads_no_rich() -> None:
    code = (
        "import io, sys\n"
        "from weigh.harness.cli.progress.plain import choose_display; choose_display(io.StringIO(), {}, json=False);"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *(
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (9_949, "9.9k"),
            (9_950, "10k"),
            (812_345, "812k"),
            (999_499, "999k"),
        ),
        *((999_500, "1.0M"), (1_234_567, "1.2M"), (45_600_000, "46M")),
    ],
)
def test_counts_are_short(number: int, text: str) -> None:
    assert count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0:00"), (59.9, "0:59"), (725, "12:05"), (11_279, "3:07:59"), (184_500, "2d 03:15")]
)
def test_durations_are_clocks(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_money_says_what_it_does_not_know() -> None:
    assert money(0) == "$0.00"
    assert money(0.00234) == "$0.0023"
    assert money(12.345) == "$12.35"
    assert money(0.5, unpriced=3) == ">=$0.5000"
    assert money(0, unpriced=3) == "unknown"


def test_scores_carry_their_sign_and_zero_none() -> None:
    assert [score(value) for value in (0.25, -1.0, 0.0, -0.0001)] == ["+0.250", "-1.000", "0.000", "0.000"]


def test_words_agree_in_number() -> None:
    assert [plural(1, "call"), plural(2, "call"), plural(2, "retry", "retries")] == ["1 call", "2 calls", "2 retries"]


def test_foreign_text_is_shown_on_one_line_without_what_moves_cursors() -> None:
    assert shown("a\x1b[2Jb\u202ec\nd") == r"a\x1b[2Jb\u202ec\nd"
    assert shown("é→", "latin-1") == "é\\u2192"
    assert shown("\ud800") == r"\ud800"
    assert len(shown("x" * 5000, limit=100)) < 120
