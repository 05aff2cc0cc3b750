"""What only a process can show: pipes, signals, encodings, terminals, other folders, the time to start."""

from __future__ import annotations

import errno
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.runner import SCRIPTED, command, config, documents, environment, process, started, weigh
from tests.waiting import until
from weigh.harness.store.store import Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with a ladder that was played; nothing here changes it."""
    folder = tmp_path_factory.mktemp("home")
    assert weigh("ladder", config(folder)).code == 0
    return folder


def on_a_terminal(*words: object, cwd: Path, columns: int = 80, **environ: str) -> tuple[int, str]:
    """Run a command with its standard output on a terminal; its exit code and what the terminal was sent."""
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(columns), "LINES": "40"}
    with subprocess.Popen(
        command(*words),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
        env=environment(**{"TERM": "xterm-256color", **size, **environ}),
    ) as going:
        os.close(theirs)
        sent = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError as error:
                if error.errno != errno.EIO:  # how a terminal says that nobody holds its other end
                    raise
                break
            if not piece:
                break
            sent += piece
        os.close(ours)
    return going.returncode, sent.decode()


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "games",
        "policies --json",
        "rank results/s",
        "rank results/s --json",
        "verify results/s",
        "ladder s.toml",
    ],
)
def test_a_reader_that_has_gone_is_no_error(run, words):
    with started(*words.split(), cwd=run) as going:
        going.stdout.close()  # before a word is written
        going.stdout = None
        _, err = going.communicate(timeout=60)
    assert going.returncode == 0
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err
    assert b"Exception ignored" not in err


def test_output_piped_into_head_ends_quietly(run):
    line = " ".join(command("export", "results/s", "-", "--format", "csv")) + " | head -1"
    said = subprocess.run(["bash", "-c", line], cwd=run, env=environment(), capture_output=True, timeout=60)
    assert said.stdout.startswith(b"run,game,block,")
    assert said.stderr in (b"", b"weigh: 18 rows in standard output\n")


def test_a_record_is_written_although_nobody_reads_the_play(tmp_path):
    with started("play", "goofspiel", "match", "random", "--out", "r.json", cwd=tmp_path) as going:
        going.stdout.close()
        going.stdout = None
        going.communicate(timeout=60)
    assert going.returncode == 0
    assert process("verify", "r.json", cwd=tmp_path).returncode == 0


def test_a_run_goes_on_although_nobody_reads_its_progress(tmp_path):
    config(tmp_path)
    with started("ladder", "s.toml", cwd=tmp_path) as going:
        going.stderr.close()
        going.stderr = None
        out, _ = going.communicate(timeout=60)
    assert going.returncode == 0
    assert out.startswith(b"goofspiel  no clear first: ")


def test_a_full_disk_behind_standard_output_is_told():
    with Path("/dev/full").open("wb") as full:
        said = subprocess.run(
            command("games"), stdout=full, stderr=subprocess.PIPE, env=environment(), cwd="/", timeout=60
        )
    assert said.returncode == 4
    assert said.stderr == b"weigh: standard output cannot be written: No space left on device\n"


def test_a_full_disk_in_the_middle_of_a_run_is_told_in_one_line(tmp_path):
    from tests.harness.web.runs import make_run

    make_run(tmp_path / "run")
    for words in (("view", "run", "--text"), ("view", "run", "-o", "-"), ("export", "run", "-", "--format", "jsonl")):
        with Path("/dev/full").open("wb") as full:
            said = subprocess.run(
                command(*words), stdout=full, stderr=subprocess.PIPE, env=environment(), cwd=tmp_path, timeout=60
            )
        assert said.returncode == 4
        assert said.stderr == b"weigh: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(run, closed):
    line = f"{' '.join(command('rank', 'results/s'))} {closed}"
    said = subprocess.run(["bash", "-c", line], cwd=run, env=environment(), capture_output=True, timeout=60)
    assert said.returncode == 0
    assert b"Traceback" not in said.stderr


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "cp1252:strict"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_c11_no_encoding_of_the_console_stops_a_command(tmp_path, environ):
    prompt = tmp_path / "würfel-🎲.md"
    prompt.write_text("Bid low. 🎲 → ≤\n", encoding="utf-8")
    config(tmp_path, "# größer 🎲\n" + SCRIPTED)
    assert process("ladder", "s.toml", cwd=tmp_path, **environ).returncode == 0
    for words in (["policies"], ["rank", "results/s"]):
        said = process(*words, cwd=tmp_path, **environ)
        assert (said.returncode, said.stderr) == (0, b""), words
    said = process("play", "goofspiel", "würfel-🎲.md@nowhere:🎲", "match", cwd=tmp_path, **environ)
    assert said.returncode == 2
    assert b"Traceback" not in said.stderr
    assert said.stderr.startswith(b'weigh: unknown provider "nowhere"')


def test_c23_files_are_utf_8_whatever_the_locale(tmp_path):
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    document = '{"game": "oshi_zumo", "seat": 0, "reply": "größer 🎲 {\\"bid\\": 5, \\"notes\\": \\"ü🎲\\"}"}'
    path = tmp_path / "größe.json"
    path.write_text(document, encoding="utf-8")
    said = process("read", path.name, cwd=tmp_path, **plain)
    assert said.returncode == 0, said.stderr
    assert b'"notes": "\\u00fc\\ud83c\\udfb2"' in said.stdout
    assert process("read", "-", cwd=tmp_path, stdin=document.encode(), **plain).stdout == said.stdout


@pytest.mark.parametrize("environ", [{}, {"CI": "true"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_c14_progress_in_a_pipe_is_plain_lines(tmp_path, environ):
    config(tmp_path)
    said = process("ladder", "s.toml", cwd=tmp_path, **environ)
    assert said.returncode == 0
    for stream in (said.stdout, said.stderr):
        assert b"\x1b" not in stream
        assert b"\r" not in stream
    assert [line[:5] for line in said.stderr.splitlines() if line.startswith(b"[")] == [
        b"[%d/6]" % n for n in range(1, 7)
    ]


@pytest.mark.parametrize("environ", [{"CI": "true"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}])
@pytest.mark.parametrize("words", ["rank results/s", "games", "play goofspiel match random"])
def test_c14_a_terminal_that_wants_no_escape_codes_gets_none(run, environ, words):
    code, sent = on_a_terminal(*words.split(), cwd=run, **environ)
    assert code == 0
    assert "\x1b" not in sent


@pytest.mark.parametrize("words", ["rank results/s", "games", "policies", "play goofspiel match random"])
def test_narrow_terminals_are_not_overrun(run, words):
    code, sent = on_a_terminal(*words.split(), cwd=run, columns=40, NO_COLOR="1")
    assert code == 0
    assert max(len(line) for line in sent.splitlines()) <= 40


def test_a_terminal_gets_colours():
    code, sent = on_a_terminal("play", "goofspiel", "match", "random", cwd=Path("/"))
    assert code == 0
    assert "\x1b[1m" in sent


def test_a_config_is_played_from_any_folder_by_any_path(tmp_path):
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    config(home)
    assert process("ladder", "../home/s.toml", cwd=away).returncode == 0
    assert (home / "results" / "s" / "run.sqlite").is_file()
    again = process("ladder", home / "s.toml", cwd=Path("/"))
    assert again.returncode == 0
    assert b"6 already finished" in again.stderr
    assert documents(away) == []
    said = process("ladder", "../home/s.toml", "--results", "here", "--name", "x", cwd=away)
    assert said.returncode == 0
    assert (away / "here" / "x" / "run.sqlite").is_file()


def test_prompts_of_a_config_lie_beside_it_and_those_of_a_command_where_one_stands(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.md").write_text("Bid low.\n", encoding="utf-8")
    text = SCRIPTED + '[entrants]\nmine = "mine.md@openai:gpt-x"\n'
    config(tmp_path / "sub", text)
    said = process("ladder", "sub/s.toml", cwd=tmp_path)
    assert b"mine: openai:gpt-x needs a key" in said.stderr
    said = process("play", "goofspiel", "mine.md@openai:gpt-x", "match", cwd=tmp_path)
    assert b"prompt file mine.md: not found" in said.stderr
    said = process("play", "goofspiel", "sub/mine.md@openai:gpt-x", "match", cwd=tmp_path)
    assert b"mine-gpt-x: openai:gpt-x needs a key" in said.stderr


def test_o04_an_interrupted_ladder_ends_with_130_and_the_same_command_goes_on(tmp_path):
    text = SCRIPTED.replace("blocks = 2", "blocks = 2000") + "[limits]\nepisodes_in_flight = 1\n"
    config(tmp_path, text)
    with started("ladder", "s.toml", "--json", cwd=tmp_path) as going:
        until((tmp_path / "results" / "s" / "run.sqlite").exists)
        time.sleep(0.5)
        going.send_signal(signal.SIGINT)
        out, err = going.communicate(timeout=60)
    assert going.returncode == 130, err
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        kept = len(store.finished())
        assert store.status == "interrupted"
    assert 0 <= kept < 6000
    assert b"Traceback" not in err
    assert out.startswith(b"{")
    again = process("ladder", "s.toml", "--max-seconds", "0.3", cwd=tmp_path)
    assert again.returncode in (0, 4)
    if kept:
        assert b"%d already finished" % kept in again.stderr


def test_an_interrupt_before_anything_was_finished_is_130_all_the_same(tmp_path):
    with started("resolve", "-", cwd=tmp_path) as idle:  # standard input is empty: it ends by itself
        idle.communicate(timeout=60)
    assert idle.returncode == 2
    config(
        tmp_path,
        SCRIPTED + '[entrants]\na = "goofspiel/plain.md@mock:m"\n[models.mock]\nbase_url = "http://127.0.0.1:9/v1"\n',
    )
    with started("ladder", "s.toml", cwd=tmp_path) as going:
        until((tmp_path / "results" / "s" / "run.sqlite").exists)
        time.sleep(0.5)
        going.send_signal(signal.SIGTERM)
        _, err = going.communicate(timeout=60)
    assert going.returncode == 130, err
    assert b"go on with: weigh ladder s.toml" in err
