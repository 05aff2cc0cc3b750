"""A person at a seat of `weigh play`: piped lines, what is kept and gone on with, and what is never shown."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time

import pytest

from tests.cli.runner import command, config, documents, environment, weigh
from weigh.games.registry import GAMES, game_named, read_config
from weigh.games.replay import replay_states
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan
from weigh.policies.human import choices

pytestmark = pytest.mark.slow

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


def test_a_piped_line_that_is_no_legal_move_ends_the_command_with_the_rules_reason(tmp_path):
    for line, reason in (("9", "9 is not a legal bid now: you hold 2, 3, 4"), ("nonsense", "nonsense"), ("1", "1")):
        said = weigh(*FOUR, "--json", stdin=lines(1, line, 2, 3, 4))
        assert (said.code, said.out) == (2, "")
        last = said.err.splitlines()[-1]
        assert last.startswith("weigh: human: a line of standard input is no legal move: ")
        assert reason in last
        assert said.err.count("no legal move") == 1
    said = weigh(*FOUR, "--save", tmp_path / "kept", stdin=lines(2, 9))
    assert said.code == 2
    assert said.err.splitlines()[-1].startswith("weigh: go on with: ")
    assert weigh(*FOUR, "--save", tmp_path / "kept", stdin=lines(1, 3, 4)).code == 0


def test_piped_lines_without_a_move_are_passed_over_and_a_question_shows_the_rules():
    said = weigh(*FOUR, "--json", stdin=lines(1, "", '{"bid": 2}', "?", 3, 4))
    assert said.code == 0
    assert "Goofspiel" in said.err, "the rules"
    assert [move[0] for move in said.json["moves"]] == [1, 2, 3, 4]
    assert said.json["fallbacks"] == [0, 0]


@pytest.mark.parametrize(
    ("endless", "reason"),
    [
        ("yes 99", "99 is not a legal bid now"),
        ("yes ''", "100 lines of standard input in a row hold no move"),
        ("yes '?'", "100 lines of standard input in a row hold no move"),
        ("yes x | tr -d '\\n'", "4,096 characters are too many for a move"),
        ("cat /dev/zero", "no legal move"),
    ],
)
def test_endless_input_ends_the_command_at_once_and_fills_no_memory(tmp_path, endless, reason):
    told = subprocess.run(
        ["bash", "-c", f"ulimit -v 1500000; {endless} | {' '.join(command(*FOUR))}; exit ${{PIPESTATUS[-1]}}"],
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        timeout=20,
    )
    last = told.stderr.decode().splitlines()[-1]
    assert (told.returncode, last.startswith("weigh: human: ")) == (2, True), last
    assert reason in last


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_signals_stop_a_person_whose_pipe_holds_more_than_was_asked_for(tmp_path, number):
    """The rival takes its time, so that a line is wanted now and then only; what nobody asked for stays in the pipe."""
    with MockServerProcess(Options(latency="2000ms")) as server:
        words = ("play", "goofspiel", "human", "goofspiel/plain.md@mock:mock-small", "--set", "cards=9")
        with (
            subprocess.Popen(["yes", "1"], stdout=subprocess.PIPE) as endless,
            subprocess.Popen(
                command(*words, "--base-url", server.openai_url),
                stdin=endless.stdout,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=tmp_path,
                env=environment(),
            ) as going,
        ):
            endless.stdout.close()
            while b"your move?" not in going.stderr.readline():
                pass
            time.sleep(0.3)
            going.send_signal(number)
            going.send_signal(number)
            said = going.stderr.read().decode()
            assert going.wait(10) == 130, said
            endless.kill()
    assert "Traceback" not in said


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
    checked = weigh("verify", kept)
    assert checked.code == 0
    assert checked.out.endswith(
        "OK, 1 record recomputed, 0 of them in full, no differences; "
        "not checked: the moves of human in goofspiel (a person's)\n"
    )
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


@pytest.mark.parametrize("wait", [{}, {"retry_after": "700ms"}], ids=["retried", "paused"])
@pytest.mark.slow
def test_a_passing_failure_of_a_rival_names_nobody_before_the_end(wait):
    with MockServerProcess(Options()) as server:
        rules = [{"nth": "1", "do": "respond", "status": 429, **wait}]
        words = ("play", "goofspiel", "human", "goofspiel/plain.md@mock:SECRETMODEL", "--set", "cards=4")
        more = ("--base-url", server.openai_url, "--timeout", 0.6 if wait else 60)
        server.follow(read_plan({"rules": rules}))
        said = weigh(*words, *more, stdin=lines(1, "q"))
        assert said.code == 130
        assert said.err.count("waiting for a provider\n") == 1
        for hidden in ("SECRETMODEL", "429", "passing", server.openai_url):
            assert hidden not in said.out + said.err.partition("go on with")[0]
        server.reset()
        server.follow(read_plan({"rules": rules}))
        said = weigh(*words, *more, stdin=lines(1, 2, 3, 4))
    assert said.code == 0
    early, late = said.err[: said.err.rindex("your move?")], said.err[said.err.rindex("your move?") :]
    assert early.count("your move?") == 3
    assert "429" not in early
    assert "SECRETMODEL" not in early
    assert "a passing failure: status 429 from " in late
    assert ("mock:SECRETMODEL is paused until " in late) == bool(wait)


def test_without_a_seed_the_deal_is_a_new_one_each_time_and_the_seed_is_told_at_the_end(tmp_path):
    ten = ("play", "goofspiel", "human", "match", "--set", "cards=8")
    bids = lines(*range(1, 9))
    said = [weigh(*ten, "--json", stdin=bids).json for _ in range(3)]
    assert len({json.dumps(one["deal"]) for one in said}) > 1
    shown = weigh(*ten, stdin=bids)
    first, last = shown.out.splitlines()[0], shown.out.splitlines()[-1]
    assert first == "goofspiel"
    seed = re.fullmatch(r"seed (\d+)", last)[1]
    again = weigh(*ten, "--seed", seed, stdin=bids)
    assert again.out.splitlines()[0] == f"goofspiel, seed {seed}"
    assert again.out.splitlines()[1:] == shown.out.splitlines()[1:-1]
    assert weigh("play", "goofspiel", "match", "match").out.startswith("goofspiel, seed 0\n")


def test_a_run_folder_keeps_the_seed_and_the_same_command_goes_on_with_it(tmp_path):
    kept = ("--save", tmp_path / "kept")
    stopped = weigh(*FOUR, *kept, stdin=lines(2, "q"))
    assert stopped.code == 130
    assert "seed" not in stopped.out
    done = weigh(*FOUR, *kept, stdin=lines(4, 1, 3))
    assert done.code == 0
    seed = done.out.splitlines()[-1].removeprefix("seed ")
    assert weigh(*FOUR, *kept, "--seed", seed, "--json", stdin=lines("unused")).code == 0
    other = weigh(*FOUR, *kept, "--seed", int(seed) + 1, stdin=lines("unused"))
    assert other.code == 2
    assert "seed" in other.err


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("[" * 100_000, ("human.jsonl, line 2: nested too deeply",)),
        ('{"seat": 0, "move": ' + "[" * 985 + "]" * 985 + "}", ("human.jsonl, line 2: nested too deeply",)),
        ('{"seat": 0, "move": ' + "[" * 100_000, ("human.jsonl, line 2: nested too deeply",)),
        ('{"seat": 99, "move": 1}', ("human.jsonl, line 2: seat 99 is no person's here (seats: 0)",)),
        ('{"seat": 1, "move": 1}', ("line 2: seat 1 is no person's",)),
        ('{"seat": "0", "move": 1}', ("line 2: seat", "is no person's")),
        ('{"seat": true, "move": 1}', ("line 2: seat true is no person's",)),
    ],
)
def test_kept_moves_that_cannot_be_are_refused_in_one_line(tmp_path, line, parts):
    kept = tmp_path / "kept"
    weigh(*FOUR, "--save", kept, stdin=lines(2, "q"))
    with (kept / "human.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    before = (kept / "human.jsonl").read_text(encoding="utf-8")
    weigh(*FOUR, "--save", kept, stdin=lines(1)).refused(*parts)
    assert (kept / "human.jsonl").read_text(encoding="utf-8") == before


def test_a_kept_null_is_no_move_and_is_asked_anew(tmp_path):
    words = ("play", "persistent_calibration", "human", *["random"] * 3, "--save", tmp_path / "kept")
    weigh(*words, stdin=lines(1, "q"))
    with (tmp_path / "kept" / "human.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"seat": 0, "move": null}\n')
    said = weigh(*words, stdin=lines("q"))
    assert said.code == 130, said.err
    assert said.err.count("your move?") == 1


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
