"""A person at a seat of `weigh play`: piped lines, a terminal, Ctrl-C, two at one keyboard, and what is never shown."""

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

from games.registry import GAMES, game_named, read_config
from games.replay import replay_states
from harness.mock_server import MockServerProcess
from harness.mock_server.options import Options
from harness.mock_server.plan_file import read_plan
from policies.human import choices
from tests.cli.runner import command, config, documents, environment, process, weigh

FOUR = ("play", "goofspiel", "human", "match", "--set", "cards=4")


def lines(*words):
    return "".join(f"{word}\n" for word in words)


def test_piped_lines_play_an_episode_and_the_record_says_who_did(tmp_path):
    out = tmp_path / "r.json"
    said = weigh(*FOUR, "--out", out, stdin=lines(1, 2, 3, 4))
    assert said.code == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["entrants"] == ["human", "match"]
    assert [move[0] for move in record["moves"]] == [1, 2, 3, 4]
    assert {d["by"] for d in record["decisions"] if d["seat"] == 0} == {"human"}
    assert {d["by"] for d in record["decisions"] if d["seat"] == 1} == {"scripted"}
    assert all(d["faults"] == [] for d in record["decisions"])
    assert weigh("verify", out).code == 0


def test_illegal_lines_are_refused_with_the_rules_reason_and_charged_to_nobody():
    said = weigh(*FOUR, "--json", stdin=lines(1, 9, "nonsense", 1, "", '{"bid": 2}', "?", 3, 4))
    assert said.code == 0
    assert said.err.count("that is no legal move: ") == 3
    assert "9 is not a legal bid now: you hold 2, 3, 4" in said.err
    assert "nonsense" in said.err
    assert "# " in said.err or "Goofspiel" in said.err, "the rules"
    assert [move[0] for move in said.json["moves"]] == [1, 2, 3, 4]
    assert said.json["fallbacks"] == [0, 0]


def test_q_stops_and_the_same_command_goes_on_without_asking_again(tmp_path):
    kept = tmp_path / "kept"
    said = weigh(*FOUR, "--save", kept, stdin=lines(2, 4, "q"))
    assert said.code == 130
    assert said.err.splitlines()[-2] == "weigh: stopped by the player"
    assert said.err.splitlines()[-1].startswith("weigh: go on with: weigh play goofspiel human match")
    said = weigh(*FOUR, "--save", kept, "--json", stdin=lines(1, 3))
    assert said.code == 0
    assert [move[0] for move in said.json["moves"]] == [2, 4, 1, 3]
    assert said.err.count("your move?") == 2
    assert weigh("verify", kept).code == 0
    again = weigh(*FOUR, "--save", kept, "--json", stdin=lines("unused"))
    assert again.json["moves"] == said.json["moves"]
    assert "your move?" not in again.err


def test_answers_that_a_crash_cut_off_are_asked_anew(tmp_path):
    kept = tmp_path / "kept"
    weigh(*FOUR, "--save", kept, stdin=lines(2, 4, "q"))
    with (kept / "human.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"seat": 0, "mo')
    assert weigh(*FOUR, "--save", kept, stdin=lines(1, "q")).code == 130
    said = weigh(*FOUR, "--save", kept, "--json", stdin=lines(3))
    assert [move[0] for move in said.json["moves"]] == [2, 4, 1, 3]


@pytest.mark.parametrize("stdin", ["", "1\n"])
def test_input_that_ends_is_refused(tmp_path, stdin):
    said = weigh(*FOUR, "--save", tmp_path / "kept", stdin=stdin)
    assert said.code == 2
    assert "human: standard input" in said.err
    assert "Traceback" not in said.err
    if not stdin:
        assert "no terminal" in said.err
        assert documents(tmp_path) == [], "refused before anything is made"


def test_input_that_is_closed_is_refused(tmp_path):
    told = subprocess.run(
        ["bash", "-c", " ".join(command(*FOUR)) + " <&-"],
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        timeout=60,
    )
    assert told.returncode == 2
    assert b"no terminal and holds no moves" in told.stderr


def test_a_pipe_that_stays_open_is_read_line_by_line(tmp_path):
    with subprocess.Popen(
        command(*FOUR, "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as going:
        for line in (b"1\n2\n", b"3", b"\n4\n"):
            going.stdin.write(line)
            going.stdin.flush()
            time.sleep(0.1)
        out, err = going.stdout.read(), going.stderr.read()
    assert going.returncode == 0, err
    assert [move[0] for move in json.loads(out)["moves"]] == [1, 2, 3, 4]


def test_who_the_others_are_is_told_when_it_is_over_and_not_before():
    said = weigh("play", "goofspiel", "human", "match", "hoard", "--set", "cards=4", stdin=lines(1, 2, "q"))
    assert said.code == 130
    whole = said.out + said.err
    assert "match" not in whole
    assert "hoard" not in whole
    assert re.search(r"^seat 0  \w+ +you$", said.out, re.MULTILINE)
    said = weigh("play", "goofspiel", "human", "match", "hoard", "--set", "cards=4", stdin=lines(1, 2, 3, 4))
    assert "hoard" in said.out


def test_ballast_shows_no_value_that_the_seat_may_not_know():
    """The other seat's true weights stand in its own view and in the record; the person's screen has claims alone."""
    moves = ["place 1 0 5", "place 2 0 5", "q"]
    said = weigh("play", "ballast", "human", "bluffer", stdin=lines(*moves))
    assert said.code == 130
    told = [line for line in said.err.splitlines() if "placed #" in line]
    others = [line for line in told if "you placed" not in line]
    assert others
    assert not any("weight" in line for line in others), others
    assert "move " not in said.out
    assert len(said.out.splitlines()) == 3, "no event is narrated before the end"


def test_a_fault_of_another_seat_quotes_its_reply_after_the_end_only():
    with MockServerProcess(Options()) as server:
        server.follow(read_plan({"rules": [{"nth": "1", "do": "reply", "text": '{"bid": 99}'}]}))
        words = ("play", "goofspiel", "human", "goofspiel/plain.md@mock:mock-small", "--set", "cards=4")
        more = ("--base-url", server.openai_url)
        said = weigh(*words, *more, stdin=lines(1, 2, "q"))
        assert "99" not in said.out + said.err
        assert "plain" not in said.out
        server.reset()
        said = weigh(*words, *more, stdin=lines(1, 2, 3, 4))
    assert said.code == 0
    assert "moved by retry after illegal (99" in said.out


def test_a_person_of_the_config_s_name_is_refused(tmp_path):
    path = config(tmp_path, '[games.goofspiel]\n[entrants]\nhuman = "match"\n')
    said = weigh("play", "goofspiel", "human", "@human", "--config", path, stdin=lines(1))
    assert said.code == 2


@pytest.mark.parametrize("game", GAMES)
def test_a_person_who_types_a_script_s_moves_makes_its_record(game, tmp_path):
    seats = min(game_named(game).seats)
    words = ("--seed", 6, "--json")
    scripted = weigh("play", game, *["random"] * seats, *words).json
    rules = game_named(game)
    states = replay_states(rules, read_config(rules, scripted["config"]), scripted["deal"], scripted["moves"])
    typed = []
    for state, row in zip(states, scripted["moves"], strict=False):
        if 0 in state.to_act:
            typed.append(next(c.line for c in choices(state.legal(0), 5_000) if c.move == row[0]))
    said = weigh("play", game, "human", *["random"] * (seats - 1), *words, stdin=lines(*typed))
    assert said.code == 0, said.err[-500:]
    half, kept = len(typed) // 2, ("--save", tmp_path / "kept")
    people = ("play", game, "human", *["random"] * (seats - 1), *words, *kept)
    assert weigh(*people, stdin=lines(*typed[:half], "q")).code == 130
    assert weigh(*people, stdin=lines(*typed[half:])).json["moves"] == scripted["moves"]
    for field in ("moves", "events", "scores", "measures", "aliases", "deal"):
        assert said.json[field] == scripted[field]
    assert weigh("verify", "-", stdin=said.out).code == 0


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
            assert time.monotonic() < ends, self.text
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
        began = time.monotonic()
        os.write(screen.fd, b"\x03")
        shown = screen.until(r"go on with: weigh play")
        assert going.wait(20) == 130
        assert time.monotonic() - began < 5
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


def test_a_person_who_thinks_holds_up_no_model(tmp_path):
    """The model's request leaves while the person has not moved, and its answer is in before."""
    with MockServerProcess(Options(log_size=10)) as server:
        words = ("play", "goofspiel", "human", "goofspiel/plain.md@mock:mock-small", "--set", "cards=4")
        with terminal(*words, "--base-url", server.openai_url, cwd=tmp_path) as (going, screen):
            screen.until(ASKED)
            ends = time.monotonic() + 10
            while server.stats()["requests"] < 1:
                assert time.monotonic() < ends
                time.sleep(0.02)
            screen.type(1)
            screen.until(ASKED)
            going.send_signal(signal.SIGINT)
            assert going.wait(20) == 130
