"""A person at a seat of `weigh play` in a terminal: asking, Ctrl-C, the end of input, and two at one keyboard."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from tests.cli.runner import command, environment, process
from tests.waiting import until
from weigh.harness.providers.mock_server import MockServerProcess, Options

pytestmark = pytest.mark.slow

FOUR = ("play", "goofspiel", "human", "match", "--set", "cards=4")


def lines(*words):
    return "".join(f"{word}\n" for word in words)


class Terminal:
    """A command on a terminal of its own: what it shows, and keys for it."""

    def __init__(self, fd):
        self.fd = fd
        self.text = ""

    def until(self, pattern, seconds=20):
        """Read until the text since the last match has `pattern`; returns what was shown up to there."""
        ends = time.monotonic() + seconds
        os.set_blocking(self.fd, False)
        while True:
            if found := re.search(pattern, self.text):
                shown, self.text = self.text[: found.end()], self.text[found.end() :]
                return shown
            if time.monotonic() > ends:
                raise AssertionError(f"{pattern!r} never came: {self.text}")
            try:
                piece = os.read(self.fd, 65536)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            except OSError:
                piece = b""
            assert piece or re.search(pattern, self.text), self.text
            self.text += piece.decode("utf-8", "replace")

    def type(self, line):
        os.write(self.fd, f"{line}\n".encode())


@contextmanager
def terminal(*words, cwd, **environ):
    ours, theirs = pty.openpty()
    size = {"TERM": "xterm-256color", "COLUMNS": "90", "LINES": "40"}
    with subprocess.Popen(
        command(*words),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env=environment(**{**size, **environ}),
        start_new_session=True,
        preexec_fn=_take_terminal,
    ) as going:
        os.close(theirs)
        try:
            yield going, Terminal(ours)
        finally:
            going.kill()
            os.close(ours)


def _take_terminal():
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


ASKED = r"your move\? \(\? shows the rules, q stops\)\r\n"


def test_in_a_terminal_a_person_is_asked_refused_helped_and_told(tmp_path):
    with terminal(*FOUR, cwd=tmp_path) as (going, screen):
        shown = screen.until(ASKED)
        assert "Your legal bids: 1, 2, 3, 4." in shown
        screen.type("7")
        assert "that is no legal move: 7 is not a legal bid now: you hold 1, 2, 3, 4" in screen.until(ASKED)
        screen.type("?")
        assert "Goofspiel" in screen.until(ASKED)
        for bid in (1, 2, 3):
            screen.type(bid)
            assert "Round" in screen.until(ASKED)
        screen.type(4)
        assert "prizes-exhausted" in screen.until(r"not kept: ")
        assert going.wait(20) == 0


def test_ctrl_c_stops_a_person_who_thinks_at_once(tmp_path):
    with terminal(*FOUR, "--save", "kept", cwd=tmp_path) as (going, screen):
        screen.until(ASKED)
        screen.type(1)
        screen.until(ASKED)
        os.write(screen.fd, b"\x03")  # and no key after it
        shown = screen.until(r"go on with: weigh play")
        assert going.wait(20) == 130
        assert "Traceback" not in shown
    said = process(*FOUR, "--save", "kept", "--json", cwd=tmp_path, stdin=lines(2, 3, 4).encode())
    assert [move[0] for move in json.loads(said.stdout)["moves"]] == [1, 2, 3, 4]


@pytest.mark.parametrize("key", [b"\x04", b"q\n", b"quit\n"])
def test_the_end_of_input_and_q_stop_in_a_terminal(tmp_path, key):
    with terminal(*FOUR, cwd=tmp_path) as (going, screen):
        screen.until(ASKED)
        os.write(screen.fd, key)
        screen.until("stopped by the player")
        assert going.wait(20) == 130


def test_two_at_one_keyboard_hand_over_a_cleared_screen(tmp_path):
    with terminal("play", "ballast", "human", "human", cwd=tmp_path) as (going, screen):
        first = screen.until(r"Press Enter, (\w+), when nobody else looks\.")
        assert "Your hand" not in first
        screen.type("")
        shown = screen.until(ASKED)
        assert "Your hand: 1, 2, 3, 4, 5" in shown
        screen.type("place 4 2 1")
        over = screen.until(r"when nobody else looks\.")
        assert "\x1b[2J\x1b[3J\x1b[H" in over
        after = over.rpartition("\x1b[2J")[2]
        assert "place 4" not in after
        assert "weight 4" not in after
        screen.type("")
        second = screen.until(ASKED)
        assert "announced 1" in second
        assert "weight 4" not in second
        going.send_signal(signal.SIGINT)
        assert going.wait(20) == 130


def test_q_stops_at_the_handing_over_and_nothing_typed_ahead_reaches_the_next_seat(tmp_path):
    enter = r"when nobody else looks\. \(q stops\)"
    with terminal("play", "ballast", "human", "human", cwd=tmp_path) as (going, screen):
        screen.until(enter)
        screen.type("")
        screen.until(ASKED)
        screen.type("place 4 2 1\n\nplace 5 0 1")
        over = screen.until(enter)
        assert "Your hand" not in over.rpartition("\x1b[2J")[2]
        time.sleep(0.4)
        os.set_blocking(screen.fd, False)
        with pytest.raises(BlockingIOError):
            while True:
                screen.text += os.read(screen.fd, 65536).decode()
        assert "Your hand" not in screen.text
        screen.type("q")
        screen.until("stopped by the player")
        assert going.wait(20) == 130


@pytest.mark.slow
def test_a_person_who_thinks_holds_up_no_model(tmp_path):
    """The model's request leaves while the person has not moved, and its answer is in before."""
    with MockServerProcess(Options(log_size=10)) as server:
        words = ("play", "goofspiel", "human", "goofspiel/plain.md@mock:mock-small", "--set", "cards=4")
        with terminal(*words, "--base-url", server.openai_url, cwd=tmp_path) as (going, screen):
            screen.until(ASKED)
            until(lambda: server.stats()["requests"] >= 1)
            screen.type(1)
            screen.until(ASKED)
            going.send_signal(signal.SIGINT)
            assert going.wait(20) == 130
