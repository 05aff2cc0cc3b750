"""A run in files for other tools: JSONL, JSON, CSV and Parquet.

Owns the file formats, and that a file appears whole or not at all. Rows come from `harness.results.rows`; memory does
not grow with the run.

Model text is hostile to spreadsheets: a cell that begins like a formula is run as one. In CSV such texts get a leading
apostrophe; numbers stay numbers. JSONL and Parquet hold texts as they are.
"""

from __future__ import annotations

import csv
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from weigh.harness.errors import StoreFailed, StoreRefused
from weigh.harness.results import rows as result_rows
from weigh.harness.results.measures import MEASURES, measure_rows
from weigh.harness.results.rows import Cell, Columns, Kind, Row
from weigh.harness.store.folder import LOCK_FILE as LOCK
from weigh.harness.store.schema import FILE as RUN
from weigh.harness.store.store import Store
from weigh.harness.store.texts import printable
from weigh.policies.contract import canonical

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a cell must not begin with, the full-width forms included, which some spreadsheets read alike."""

BATCH: Final = 10_000
"""Rows of one Parquet row group."""

_DATASETS: Final[Mapping[str, tuple[Columns, Callable[[Store], Iterator[Row]]]]] = {
    "seats": (result_rows.SEATS, result_rows.seat_rows),
    "decisions": (result_rows.DECISIONS, result_rows.decision_rows),
    "calls": ({**result_rows.CALLS, **result_rows.TEXTS}, lambda store: result_rows.call_rows(store, texts=True)),
    "voids": (result_rows.VOIDS, result_rows.void_rows),
    "accounts": (result_rows.ACCOUNTS, result_rows.account_rows),
    "measures": (MEASURES, measure_rows),
}
FORMATS: Final = ("jsonl", "json", "csv", "parquet")
DATASETS: Final = ("records", *_DATASETS)


def export(
    run: str | Path, out: str | Path, format: str, *, dataset: str | None = None, episode: str | None = None
) -> int:
    """Write a dataset of a run to the file `out`, replacing what is there; returns how many rows or records it holds.

    jsonl      one object per line: whole records, or the rows of another `dataset`
    json       the one record named by `episode`, which is not needed where one episode is finished
    csv        the rows of `dataset`, `seats` unless told otherwise
    parquet    likewise; needs the extra `export`

    Raises StoreRefused for a run that cannot be read and for what cannot be combined, StoreFailed for a full disk.
    """
    dataset = dataset or ("records" if format in ("jsonl", "json") else "seats")
    _check(format, dataset, episode)
    target = Path(out)
    with Store.open(Path(run), readonly=True) as store:
        if format == "json":
            return _lines(target, [_one(store, episode)])
        if dataset == "records":
            return _lines(target, _records(store))
        columns, rows = _DATASETS[dataset]
        if format == "jsonl":
            return _lines(target, (dict(zip(columns, row, strict=True)) for row in rows(store)))
        if format == "csv":
            return _csv(target, columns, rows(store))
        return _parquet(target, columns, rows(store))


def is_of_a_run(path: Path) -> bool:
    """Whether a file is, or would be, one of those that a run keeps itself in: `run.sqlite`, what SQLite keeps beside
    it, and the lock. Links are followed; the case of letters does not count, as on some disks it does not."""
    return any(
        name in (LOCK, RUN) or name.startswith(f"{RUN}-") for name in (path.name.lower(), path.resolve().name.lower())
    )


def write_atomically(target: Path, text: str) -> None:
    """Make `target` hold `text` in UTF-8, or leave it as it is. Raises StoreRefused or StoreFailed."""
    with _appearing(target) as stream:
        stream.write(printable(text).encode("utf-8"))


def cell(value: Cell, kind: Kind) -> str:
    """A value as CSV shows it: a gap as nothing, a text that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if kind != "text":
        return str(value).lower() if isinstance(value, bool) else repr(value)
    text = printable(str(value)).replace("\0", "\\x00")
    return f"'{text}" if text.startswith(FORMULA) else text


def _check(format: str, dataset: str, episode: str | None) -> None:
    if format not in FORMATS:
        raise StoreRefused(f"unknown format {format}; known: {', '.join(FORMATS)}", kind="format-unknown")
    if dataset not in DATASETS:
        raise StoreRefused(f"unknown dataset {dataset}; known: {', '.join(DATASETS)}", kind="dataset-unknown")
    if format in ("csv", "parquet") and dataset == "records":
        raise StoreRefused(
            f"records do not fit into {format} rows; export them as jsonl, or export another dataset",
            kind="options-conflict",
        )
    if format == "json" and dataset != "records":
        raise StoreRefused(f"json holds one record; export {dataset} as jsonl, csv or parquet", kind="options-conflict")
    if format != "json" and episode is not None:
        raise StoreRefused("only json holds one episode; the other formats hold all of a run", kind="options-conflict")


def _one(store: Store, episode: str | None) -> object:
    """The record of the episode, or of the only one that is finished."""
    if episode is None:
        finished = store.finished()
        if len(finished) != 1:
            raise StoreRefused(
                f"json holds one record, and {store.folder} has {len(finished)} finished episodes: name one with "
                f"--episode, {f'as {finished[0]}' if finished else 'once there is one'}",
                kind="episode-missing",
            )
        episode = finished[0]
    record = store.record(episode)
    if record is None:
        raise StoreRefused(
            f"{store.folder} has no finished episode {episode}; `weigh export` as jsonl shows all keys",
            kind="no-episode",
        )
    return record.model_dump(mode="json")


def _records(store: Store) -> Iterator[object]:
    for _, body, times in store.bodies():
        yield {**json.loads(body), "times": json.loads(times) if times else None}


def _lines(target: Path, objects: Iterable[object]) -> int:
    count = 0
    with _appearing(target) as stream:
        for value in objects:
            stream.write(canonical(value).encode("ascii") + b"\n")
            count += 1
    return count


def _csv(target: Path, columns: Columns, rows: Iterable[Row]) -> int:
    count = 0
    kinds = tuple(columns.values())
    with _appearing(target) as stream:
        sheet = csv.writer(_Utf8(stream), lineterminator="\r\n")
        sheet.writerow(columns)
        for row in rows:
            sheet.writerow([cell(value, kind) for value, kind in zip(row, kinds, strict=True)])
            count += 1
    return count


def _parquet(target: Path, columns: Columns, rows: Iterator[Row]) -> int:
    try:
        # By name, so that the types of an optional package are nobody's concern when it is not there.
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise StoreRefused("Parquet needs pyarrow: pip install pyarrow", kind="package-missing") from error
    types: dict[Kind, Any] = {
        "text": pa.string(),
        "count": pa.int64(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    count = 0
    with _appearing(target) as stream, pq.ParquetWriter(stream, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            cells = [[_arrow(value) for value in column] for column in zip(*batch, strict=True)]
            writer.write_table(pa.table(cells, schema=schema))
            count += len(batch)
    return count


def _arrow(value: Cell) -> Cell:
    return printable(value) if isinstance(value, str) else value


class _Utf8:
    """What `csv` writes to, a row at a time: UTF-8 whatever the locale, and lines that end in `\\n`.

    `csv` quotes a cell for the characters of its own line ends only, so it is told `\\r\\n`: a bare `\\r` in a text
    would break the row for its readers.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text.removesuffix("\r\n").encode("utf-8") + b"\n")


@contextmanager
def _appearing(target: Path) -> Iterator[Any]:
    """A binary file that takes its name when it is complete and on the disk; on any error nothing has changed.

    A link is followed. A pipe or a device is written into as it is: it cannot be replaced, and must not be.
    """
    if target.is_dir():
        raise StoreRefused(f"{target} is a folder; give the name of a file", kind="target-is-folder")
    if is_of_a_run(target):
        raise StoreRefused(f"{target} is where a run keeps what was played; give another name", kind="target-is-runs")
    if target.exists() and not target.is_file():
        with _telling(target), target.open("wb") as stream:
            yield stream
        return
    target = target.resolve()
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    with _telling(target):
        try:
            with draft.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def _telling(target: Path) -> Iterator[None]:
    """What the system says about `target`, in one line: who gave the name is to mend it, or the disk is."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreRefused(f"{target}: its folder does not exist", kind="no-folder") from error
    except PermissionError as error:
        raise StoreRefused(f"{target} may not be written here; choose another place", kind="not-writable") from error
    except OSError as error:
        raise StoreFailed(f"{target} cannot be written: {error.strerror or error}", kind="write-failed") from error
