"""Killed writers, full disks, foreign files: nothing that was kept is lost, and every refusal is one clear line."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.store.store_cases import call, manifest, new_run, planned, record
from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.store.schema import VERSION
from weigh.harness.store.store import Store

ROOT = Path(__file__).resolve().parents[3]

# One process forks a writer, lets it acknowledge a random number of calls begun and ended, kills it, and resumes.
KILLING = """
import os, random, signal, sys
from pathlib import Path
from weigh.harness.store.store import Store
from tests.harness.store.store_cases import call, planned, record
folder, rounds, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(5)
episodes = planned(40)
begun = ended = 0
lost = []
for _ in range(rounds):
    ear, mouth = os.pipe()
    writer = os.fork()
    if writer == 0:
        store = Store.open(folder)
        while True:
            number = store.begin_call(call().key, call().request, call().started)
            os.write(mouth, b"b")
            if number % 10 == 0 and number // 10 < 40:
                store.add_record(record(episodes[number // 10]))
            store.end_call(call(number=number, text=f"reply {number} " * rng.randrange(1, 200)))
            os.write(mouth, b"e")
    os.close(mouth)
    heard = b""
    wanted = rng.randrange(1, 50)
    while len(heard) < wanted:
        heard += os.read(ear, wanted - len(heard))
    if rng.random() < 0.5:
        for _ in range(rng.randrange(20_000)):
            pass
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    while rest := os.read(ear, 65536):
        heard += rest
    os.close(ear)
    begun += heard.count(b"b")
    ended += heard.count(b"e")
    with Store.open(folder) as store:
        kept = list(store.calls())
        assert [each.number for each in kept] == list(range(len(kept)))
        # The last one may have been kept without the writer living to say so.
        assert begun <= len(kept) <= begun + 1, (begun, len(kept))
        begun = len(kept)
        back = [each for each in kept if each.fate == "answered"]
        assert ended <= len(back) <= ended + 1, (ended, len(back))
        ended = len(back)
        gone = [each for each in kept if each.fate == "lost"]
        # Only the call that was out when the writer died, and for good.
        assert len(back) + len(gone) == len(kept)
        assert gone[: len(lost)] == lost and len(gone) <= len(lost) + 1
        lost = gone
        assert all(each.completion is None and each.billing == "unknown" and each.cost is None for each in lost)
        due = {episodes[each.number // 10].key for each in back if each.number % 10 == 0 and each.number < 400}
        assert due <= set(store.finished()), (due, store.finished())
print(begun, len(lost))
"""


def run_script(script: str, *arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def test_o13_kill_9_at_random_moments_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    new_run(tmp_path / "run", 40).close()
    done = run_script(KILLING, tmp_path / "run", 25)
    assert done.returncode == 0, done.stderr
    begun, lost = map(int, done.stdout.split())
    assert begun > 100
    assert lost > 3, "some writers died while a call was out"
    with Store.open(tmp_path / "run", readonly=True) as store:
        spent = store.totals()
        assert (spent.calls, spent.lost_calls, spent.unknown_cost_calls) == (begun, lost, lost)
        assert store.status == "interrupted"


def test_a_killed_run_can_be_read_before_it_is_resumed(tmp_path: Path) -> None:
    new_run(tmp_path / "run").close()
    script = (
        "import os, sys; from pathlib import Path; from weigh.harness.store.store import Store\n"
        "from tests.harness.store.store_cases import call\n"
        "store = Store.open(Path(sys.argv[1])); store.set_status('running'); store.add_call(call()); os._exit(9)"
    )
    assert run_script(script, tmp_path / "run").returncode == 9
    assert (tmp_path / "run" / "run.sqlite-wal").stat().st_size > 0
    with Store.open(tmp_path / "run", readonly=True) as reader:
        assert list(reader.calls()) == [call()]
        assert reader.status == "interrupted"


def test_two_writers_never_hold_one_run(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.set_status("running")
        with pytest.raises(StoreRefused, match=rf"is being written by another process \(pid {os.getpid()}\)"):
            Store.open(tmp_path / "run")
        script = "import sys; from pathlib import Path\n"
        script += "from weigh.harness.store.store import Store; Store.open(Path(sys.argv[1]))"
        other = run_script(script, tmp_path / "run")
        assert other.returncode == 1
        assert "is being written by another process" in other.stderr
        store.add_call(call())
    Store.open(tmp_path / "run").close()


def test_a_reader_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    new_run(tmp_path / "run").close()
    with Store.open(tmp_path / "run", readonly=True) as reader, Store.open(tmp_path / "run") as writer:
        writer.add_call(call())
        assert reader.status == "interrupted"
        assert len(list(reader.calls())) == 1


def test_o10_a_run_is_never_made_over_another(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call())
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    with pytest.raises(StoreRefused, match="holds a run already"):
        new_run(tmp_path / "run")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("mine")
    with pytest.raises(StoreRefused, match="is not an empty folder"):
        new_run(tmp_path / "notes")
    with pytest.raises(StoreRefused, match="is not an empty folder"):
        new_run(tmp_path / "notes" / "todo.txt")
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "run"]


def test_a_run_may_be_made_in_an_empty_folder_and_below_missing_ones(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    new_run(tmp_path / "empty").close()
    new_run(tmp_path / "a" / "b" / ("long" * 50)).close()
    with Store.open(tmp_path / "a" / "b" / ("long" * 50), readonly=True) as store:
        assert store.manifest.seed == 7


def test_nothing_is_left_of_a_run_whose_making_failed(tmp_path: Path) -> None:
    def broken() -> Iterator[object]:
        yield from planned(2)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        Store.create(tmp_path / "run", manifest(), broken())  # type: ignore[arg-type]
    twice = planned(1) * 2
    with pytest.raises(StoreFailed):
        Store.create(tmp_path / "run", manifest(twice), twice)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="cannot be made there"):
        new_run(tmp_path / "file" / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_is_not_a_run_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="does not exist"):
        Store.open(tmp_path / "nowhere")
    with pytest.raises(StoreRefused, match="is not a run: it has no file"):
        Store.open(tmp_path)
    (tmp_path / "run.sqlite").write_text("key,score\n" * 500)
    for readonly in (True, False):
        with pytest.raises(StoreRefused, match="is no SQLite file"):
            Store.open(tmp_path, readonly)
    with pytest.raises(StoreRefused, match="is a file, not the folder"):
        Store.open(tmp_path / "run.sqlite")
    (tmp_path / "run.sqlite").write_bytes(b"")
    with pytest.raises(StoreRefused, match="not a run of weigh"):
        Store.open(tmp_path, readonly=True)
    (tmp_path / "run.sqlite").unlink()
    db = sqlite3.connect(tmp_path / "run.sqlite")
    db.execute("CREATE TABLE mine(x)")
    db.close()
    with pytest.raises(StoreRefused, match="not a run of weigh"):
        Store.open(tmp_path)


@pytest.mark.parametrize("version", [*range(VERSION), VERSION + 1])
def test_o28_another_format_is_refused_by_its_number(tmp_path: Path, version: int) -> None:
    new_run(tmp_path / "run").close()
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    for readonly in (False, True):
        with pytest.raises(StoreRefused, match=rf"\(format {version}, this one reads {VERSION}\)"):
            Store.open(tmp_path / "run", readonly=readonly)
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


def test_a_damaged_file_is_told_and_stays_as_it_is(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        for step in range(400):
            store.add_call(call(step=step, text=f"reply {step} " * 40))
    path = tmp_path / "run" / "run.sqlite"
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = os.urandom(len(content) - 4096 * 3)
    path.write_bytes(content)
    with pytest.raises(StoreRefused, match="is damaged"), Store.open(tmp_path / "run", readonly=True) as store:
        list(store.calls())
    assert path.read_bytes() == content
    path.write_bytes(content[:5000])
    with pytest.raises(StoreRefused, match="is damaged"), Store.open(tmp_path / "run", readonly=True) as store:
        list(store.calls())


def test_o28_a_record_of_a_shape_unknown_here_is_told_at_once(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_record(record(planned(1)[0]))
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as db:
        db.execute("UPDATE records SET body = json_set(body, '$.mood', 'fine')")
    db.close()
    with Store.open(tmp_path / "run", readonly=True) as store:
        with pytest.raises(StoreRefused, match="cannot be read: mood: Extra inputs"):
            list(store.records())
        assert store.finished() == ("coin/b0000/r0",)


def test_o11_a_full_database_keeps_what_it_has_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        store.add_call(call())
        store._db.execute("PRAGMA max_page_count = 40")
        kept = 1
        with pytest.raises(StoreFailed, match=r"run\.sqlite: the disk is full; free some space, then give the same"):
            for kept in range(1, 1000):
                store.add_call(call(step=kept, text=os.urandom(3000).hex()))
        assert [each.key.step for each in store.calls()] == list(range(kept))
        store._db.execute("PRAGMA max_page_count = 100000")
        store.add_call(call(step=kept))
        store.add_record(record(planned(1)[0]))
    with Store.open(tmp_path / "run") as store:
        assert store.next_number(call(step=kept).key) == 1
        assert len(store.finished()) == 1


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="needs the right to mount a small disk")
def test_o11_a_full_disk_stops_the_run_with_one_line_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        kept = 0
        with new_run(disk / "run") as store:
            with pytest.raises(StoreFailed) as failure:
                for kept in range(100_000):
                    store.add_call(call(step=kept, text=os.urandom(2000).hex()))
            assert "the disk is full" in str(failure.value)
            assert "\n" not in str(failure.value)
            assert kept > 20
            assert [each.key.step for each in store.calls()] == list(range(kept))
        with Store.open(disk / "run", readonly=True) as store:
            assert len(list(store.calls())) == kept
        with pytest.raises((StoreFailed, StoreRefused), match=r"full|No space"):
            for number in range(1000):
                new_run(disk / f"more{number}").close()
        assert not [path.name for path in disk.iterdir() if path.name.startswith(".")]
    finally:
        subprocess.run(["umount", disk], check=True)


LIMITED = """
import resource, sys
from pathlib import Path
from weigh.harness.store.store import Store
from weigh.harness.errors import StoreFailed
from tests.harness.store.store_cases import call
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
kept = 0
with Store.open(Path(sys.argv[1])) as store:
    try:
        for kept in range(10_000):
            store.add_call(call(step=kept, text=("%06d" % kept) * 500))
    except StoreFailed as failed:
        print(kept)
        print(failed)
"""


def test_o11_a_limit_on_file_sizes_is_told_and_loses_nothing(tmp_path: Path) -> None:
    new_run(tmp_path / "run").close()
    done = run_script(LIMITED, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    kept, line = done.stdout.splitlines()
    assert "run.sqlite: " in line and "whatever was kept is safe" in line
    assert int(kept) > 3
    with Store.open(tmp_path / "run") as store:
        assert [each.key.step for each in store.calls()] == list(range(int(kept)))
        store.add_call(call(step=int(kept)))


AS_NOBODY = """
import os, sys
from pathlib import Path
from weigh.harness.store.store import Store
from weigh.harness.errors import StoreFailed
from weigh.harness.errors import StoreRefused
from tests.harness.store.store_cases import new_run
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Store.open(folder, readonly=True) as store:
    print(len(list(store.calls())))
for attempt in (lambda: Store.open(folder), lambda: new_run(folder / "inner"), lambda: new_run(folder.parent / "next")):
    try:
        attempt()
    except (StoreFailed, StoreRefused) as error:
        print(type(error).__name__, error)
"""


def test_a_folder_that_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    # Not below tmp_path, which nobody but its owner may enter.
    home = Path(tempfile.mkdtemp())
    try:
        run = home / "run"
        with new_run(run) as store:
            store.add_call(call())
        for path, mode in ((run / "run.lock", 0o444), (run / "run.sqlite", 0o444), (run, 0o555), (home, 0o555)):
            path.chmod(mode)
        done = run_script(AS_NOBODY, run)
        assert done.returncode == 0, done.stderr
        first, *others = done.stdout.splitlines()
        assert first == "1"
        assert len(others) == 3
        assert "run.lock: it cannot be written (Permission denied)" in others[0]
        assert all("cannot be" in line or "not an empty folder" in line or "run already" in line for line in others)
        assert sorted(path.name for path in run.iterdir()) == ["run.lock", "run.sqlite"]
    finally:
        for path in (home, home / "run"):
            path.chmod(0o755)
        shutil.rmtree(home)


def test_c23_names_that_are_not_ascii_work_under_any_locale(tmp_path: Path) -> None:
    folder = tmp_path / "läufe ? % # 秤"
    script = (
        "import sys; from pathlib import Path; from tests.harness.store.store_cases import *\n"
        "with new_run(Path(sys.argv[1])) as store: store.add_call(call(text='\\xe9\\u79e4'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, folder],
        cwd=ROOT,
        env={"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Store.open(folder, readonly=True) as store:
        assert [each.completion.text for each in store.calls() if each.completion] == ["é秤"]
