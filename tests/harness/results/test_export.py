"""Exports: whole or not at all, UTF-8, and harmless to a spreadsheet."""

from __future__ import annotations

import csv
import json
import os
import threading
from pathlib import Path

import pytest

from tests.harness.audit.verify.verify_cases import new_run as played_run
from tests.harness.store.store_cases import call, new_run, planned, record, void
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.results import export as export_module
from weigh.harness.results import rows as result_rows
from weigh.harness.results.export import cell, export, write_atomically
from weigh.harness.store.record import Decision, Record
from weigh.policies.contract import Completion

HOSTILE = (
    '=HYPERLINK("http://x","y")',
    "-5",
    "+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1",
    'a "quoted", line\nand more',
    "é\x00\ud83d",
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    episodes = planned(2)
    with new_run(tmp_path / "run") as store:
        for step, text in enumerate(HOSTILE):
            store.add_call(call(episodes[0].key, step=step, completion=Completion(text, "end"), latency=0.25))
        noted = tuple(
            Decision(step=0, seat=seat, by="model" if seat == 0 else "scripted", notes=text)
            for seat, text in enumerate(HOSTILE[:2])
        )
        store.add_record(record(episodes[0], (-0.5, 0.5), decisions=noted))
        store.add_record(record(episodes[1]))
        store.add_void(void(episodes[0]))
    return tmp_path / "run"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_c17_texts_that_look_like_formulas_get_an_apostrophe_in_csv(run: Path, tmp_path: Path) -> None:
    assert export(run, tmp_path / "calls.csv", "csv", dataset="calls") == len(HOSTILE)
    replies = [row["reply"] for row in rows_of(tmp_path / "calls.csv")]
    assert replies[:7] == [f"'{text}" for text in HOSTILE[:7]]
    assert replies[7] == HOSTILE[7]
    assert replies[8] == "é\\x00\\ud83d"
    assert export(run, tmp_path / "decisions.csv", "csv", dataset="decisions") == 4
    notes = [row["notes"] for row in rows_of(tmp_path / "decisions.csv")]
    assert notes == [f"'{HOSTILE[0]}", "'-5", "", ""]


def test_c17_numbers_stay_numbers_in_csv(run: Path, tmp_path: Path) -> None:
    assert export(run, tmp_path / "seats.csv", "csv") == 4
    rows = rows_of(tmp_path / "seats.csv")
    assert list(rows[0]) == list(result_rows.SEATS)
    assert [row["score"] for row in rows] == ["-0.5", "0.5", "1.0", "-1.0"]
    assert rows[0]["seat"] == "0"
    assert rows[0]["reasoning_tokens"] == "", "nobody told"
    assert cell(-1e-07, "number") == "-1e-07"
    assert cell(True, "flag") == "true"
    assert cell(None, "whole") == ""


def test_c17_jsonl_holds_texts_as_they_are(run: Path, tmp_path: Path) -> None:
    assert export(run, tmp_path / "records.jsonl", "jsonl") == 2
    lines = (tmp_path / "records.jsonl").read_bytes().splitlines()
    assert all(line.isascii() for line in lines)
    first = Record.model_validate(json.loads(lines[0]))
    assert [each.notes for each in first.decisions] == list(HOSTILE[:2])
    assert first.times is not None
    assert export(run, tmp_path / "calls.jsonl", "jsonl", dataset="calls") == len(HOSTILE)
    replies = [json.loads(line)["reply"] for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert replies == list(HOSTILE)


def test_an_exported_record_re_derives(tmp_path: Path) -> None:
    played_run(tmp_path / "run", "goofspiel", "oshi_zumo").close()
    export(tmp_path / "run", tmp_path / "all.jsonl", "jsonl")
    for line in (tmp_path / "all.jsonl").read_text().splitlines():
        assert verify_record(json.loads(line)) == []
    assert export(tmp_path / "run", tmp_path / "one.json", "json", episode="oshi_zumo/b0000/r0") == 1
    one = json.loads((tmp_path / "one.json").read_text())
    assert one["key"] == "oshi_zumo/b0000/r0"
    assert verify_record(one) == []


def test_voids_are_a_table_too(run: Path, tmp_path: Path) -> None:
    assert export(run, tmp_path / "voids.csv", "csv", dataset="voids") == 2
    assert [(row["entrant"], row["failed"], row["finished"]) for row in rows_of(tmp_path / "voids.csv")] == [
        ("ann", "true", "true"),
        ("bob", "false", "true"),
    ]


@pytest.mark.parametrize("table", ("seats", "decisions", "calls", "voids", "accounts"))
def test_parquet_holds_the_same_rows_with_their_types(run: Path, tmp_path: Path, table: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    count = export(run, tmp_path / "out.parquet", "parquet", dataset=table)
    read = parquet.read_table(tmp_path / "out.parquet")
    assert read.num_rows == count > 0
    columns = {**getattr(result_rows, table.upper()), **(result_rows.TEXTS if table == "calls" else {})}
    assert read.column_names == list(columns)
    kinds = {"text": "string", "count": "int64", "whole": "int64", "number": "double", "flag": "bool"}
    assert [str(field.type) for field in read.schema] == [kinds[kind] for kind in columns.values()]
    if table == "calls":
        assert read.column("reply").to_pylist()[:8] == list(HOSTILE[:8])


def test_an_empty_run_exports_headers(tmp_path: Path) -> None:
    new_run(tmp_path / "run").close()
    assert export(tmp_path / "run", tmp_path / "seats.csv", "csv") == 0
    assert (tmp_path / "seats.csv").read_text() == ",".join(result_rows.SEATS) + "\n"
    assert export(tmp_path / "run", tmp_path / "records.jsonl", "jsonl") == 0
    assert (tmp_path / "records.jsonl").read_bytes() == b""


def test_parquet_without_pyarrow_says_what_to_install(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(export_module, "import_module", missing)
    with pytest.raises(StoreRefused, match=r"pip install pyarrow"):
        export(run, tmp_path / "out.parquet", "parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("format", "options", "said"),
    [
        ("xlsx", {}, "unknown format xlsx"),
        ("csv", {"dataset": "moves"}, "unknown dataset moves"),
        ("csv", {"dataset": "records"}, "do not fit into csv rows"),
        ("json", {"dataset": "seats", "episode": "x"}, "json holds one record"),
        ("json", {}, "name one with --episode"),
        ("csv", {"episode": "x"}, "the other formats hold all of a run"),
        ("json", {"episode": "coin/b0009/r0"}, "has no finished episode coin/b0009/r0"),
    ],
)
def test_what_cannot_be_exported_is_told(
    run: Path, tmp_path: Path, format: str, options: dict[str, str], said: str
) -> None:
    with pytest.raises(StoreRefused, match=said):
        export(run, tmp_path / "out", format, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_o11_a_failed_export_leaves_the_old_file_and_nothing_else(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "seats.csv"
    out.write_text("old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(export_module.os, "fsync", full)
        with pytest.raises(StoreFailed, match=r"seats\.csv cannot be written: No space left"):
            export(run, out, "csv")
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "seats.csv"]
    export(run, out, "csv")
    assert out.read_text().startswith("run,game,")


def test_a_place_that_cannot_be_written_is_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="its folder does not exist"):
        export(run, tmp_path / "no" / "seats.csv", "csv")
    with pytest.raises(StoreRefused, match="is a folder"):
        export(run, tmp_path, "csv")


def test_a_text_is_written_atomically_in_utf_8(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", "é\ud83d秤\n")
    assert (tmp_path / "a.json").read_bytes() == "é\\ud83d秤\n".encode()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_pipe_is_written_into_and_stays_a_pipe(run: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    read: list[bytes] = []
    reader.start()
    export(run, pipe, "csv")
    reader.join(10)
    export(run, tmp_path / "plain.csv", "csv")
    assert read == [(tmp_path / "plain.csv").read_bytes()]
    assert pipe.is_fifo()


def test_a_link_is_followed_and_stays_a_link(run: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)
    export(run, link, "csv")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8").startswith("run,")
    write_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"


def test_a_device_is_never_replaced(run: Path) -> None:
    with pytest.raises(StoreFailed, match="cannot be written"):
        export(run, "/dev/full", "csv")
    assert Path("/dev/full").is_char_device()
