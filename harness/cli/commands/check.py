"""`weigh resolve`, `weigh read` and `weigh verify`: the rules, the reader and the recomputation, open to anyone.

Owns the reading of the JSON documents that are handed to them, with a line for whatever is wrong with one, and the
position that `game`, `config`, `deal`, `seed` and `moves` describe.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, NoReturn, TypeAlias

import typer
from pydantic import BaseModel

from weigh.games.game import AnyGame, Deal, State
from weigh.games.registry import game_named, read_config
from weigh.games.replay import replay
from weigh.games.values import nearest, quote
from weigh.harness.audit.verify.findings import Finding
from weigh.harness.audit.verify.record import name_of, verify_record, verify_records
from weigh.harness.audit.verify.run import Verdict, verify_run
from weigh.harness.cli.options import JsonFlag, newest
from weigh.harness.cli.output import print_json, print_note, print_text
from weigh.harness.errors import INCONCLUSIVE, WRONG, Refused
from weigh.harness.run.play.single import deal_of
from weigh.harness.store.store import Store
from weigh.harness.words import plural, shown
from weigh.policies.contract import STOPS
from weigh.policies.layout import hint_for
from weigh.policies.reply import read_reply

Document = Annotated[str, typer.Argument(metavar="FILE|-", help="A JSON file, or - for standard input.")]
AlwaysJson = Annotated[
    bool, typer.Option("--json", show_default=False, help="Accepted, and always on: the output is one JSON object.")
]

Demand: TypeAlias = tuple[Callable[[object], bool], str]
"""Whether a value fits, and what it must be."""

_OBJECT: Demand = (lambda value: isinstance(value, dict | None), "a JSON object")
POSITION: Mapping[str, Demand] = {
    "game": (lambda value: isinstance(value, str), "a name; `weigh games` lists them"),
    "config": _OBJECT,
    "deal": _OBJECT,
    "seed": (lambda value: value is None or (type(value) is int and value >= 0), "a whole number from 0 up"),
    "moves": (lambda value: isinstance(value, list), "a list of steps"),
}
RESOLVE: Mapping[str, Demand] = {**POSITION, "stop": (lambda value: isinstance(value, bool), "true or false")}
READ: Mapping[str, Demand] = {
    **POSITION,
    "seat": (lambda value: type(value) is int, "the number of a seat"),
    "reply": (lambda value: isinstance(value, str | None), "a text, or null for none"),
    "stop": (lambda value: value in STOPS, f"one of {', '.join(STOPS)}"),
}
BASELINE = "weigh-baseline"


def resolve(file: Document, json: AlwaysJson = True) -> None:
    """Play given moves through the rules and print where they lead.

    The document is one JSON object. Absent keys: config {}, moves []; a deal is drawn from the seed.

      {"game": "oshi_zumo", "config": {"coins": 6}, "moves": [[3, 2], [1, 4]]}
      {"game": "goofspiel", "seed": 7, "moves": [], "stop": true}

    A step holds one entry per seat, null for a seat that has no move to make. "stop": true ends the episode after the
    last step, as a deadline would. The answer has the keys over, reason, ending, scores (null while the game is on),
    to_act, measures (while the game is on, as they stand) and events.

      weigh resolve moves.json
      weigh resolve - < moves.json

    Exit codes: 0 fine; 2 bad input, with the step, the seat, the move and why.
    """
    document = read_document(file, RESOLVE, ["game"])
    state = position(document, stop=document.get("stop", False))
    outcome = state.outcome
    # What the game would report if the clock stopped it here.
    reported = outcome if outcome is not None else state.stop().outcome
    print_json(
        {
            "over": outcome is not None,
            "reason": outcome.reason if outcome else None,
            "ending": outcome.ending if outcome else None,
            "scores": [float(score) for score in outcome.scores] if outcome else None,
            "to_act": sorted(state.to_act),
            "measures": dict(reported.measures) if reported else {},
            "events": [event.to_json() for event in state.events],
        }
    )


def read(file: Document, json: AlwaysJson = True) -> None:
    """Show how a model's reply would be read, and the hint it would get.

    The document is one JSON object: a position as for `weigh resolve` (game, config, deal or seed, moves so far), the
    seat, its reply, and why it stopped: "end" (the default), "length", "refusal", "tool_calls", "malformed", "pause" or
    "unknown".

      {"game": "oshi_zumo", "seat": 0, "reply": "I bid {\\"bid\\": 5}", "stop": "end"}

    The answer has the keys move, fault, detail, candidates, notes and hint; move is null when there is a fault, fault
    and hint are null when there is none. A reply that is null had no text.

      weigh read reply.json
      weigh read - < reply.json

    Exit codes: 0 fine, whatever the reading; 2 bad input.
    """
    document = read_document(file, READ, ["game", "seat", "reply"])
    seat, reply, stop = document["seat"], document["reply"], document.get("stop", "end")
    state = position(document)
    if seat not in state.to_act:
        acting = ", ".join(map(str, sorted(state.to_act))) or "none: the episode is over"
        raise Refused(
            f"seat: {seat} has no move to make after these moves (seats to act: {acting})", kind="seat-does-not-act"
        )
    legal = state.legal(seat)
    reading = read_reply(reply, stop, legal)
    print_json(
        {
            "move": None if reading.fault else reading.move,
            "fault": reading.fault,
            "detail": reading.detail,
            "candidates": reading.candidates,
            "notes": reading.notes,
            "hint": hint_for(reading, legal),
        }
    )


def verify(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[RECORD|RUN]",
            help="A record as JSON (- for standard input), .jsonl, or a run folder; else the newest run.",
        ),
    ] = None,
    json: JsonFlag = False,
    run: Annotated[
        Path | None, typer.Option("--run", metavar="RUN", help="The run that a baseline file was saved from.")
    ] = None,
) -> None:
    """Recompute records from their moves, and say what differs.

    Moves are played through the rules again and everything derived is compared: events, awards, scores, endings,
    counters. In a run, deals and aliases are drawn again too, every reply is read again, and every planned episode must
    be there, and no other. A baseline file of a gate is compared with the run it was saved from (--run), which is
    checked as well.

      weigh verify results/demo
      weigh verify record.json
      weigh verify baseline.json --run results/gate-goofspiel-mine/baseline-91f6708a

    Exit codes: 0 everything is reproduced; 1 something does not, and is named; 2 bad input; 3 a run without any record.
    """
    if target is None:
        if run is not None:
            raise Refused("--run: name the baseline file that was saved from it too")
        target = str(newest())
    if run is not None:
        _verify_baseline(target, run, json)
    elif target != "-" and Path(target).is_dir():
        _verify_run(Path(target), json)
    elif target.endswith(".jsonl"):
        _verify_lines(target, json)
    else:
        _verify_record(target, json)


def _verify_record(file: str, json: bool) -> None:
    data = load(file)
    if data.get("kind") == BASELINE:
        raise Refused(
            f"{file}: is a baseline file; say which run it was saved from, with --run RUN", kind="run-missing"
        )
    name = name_of(data, "standard input" if file == "-" else file)
    findings = verify_record(data)
    _report(findings, json, {"record": data.get("key")}, name, f"{name}: OK, {_recomputed(1)}")


def _verify_baseline(file: str, folder: Path, json: bool) -> None:
    from weigh.harness.gate.baseline import check_baseline, load_baseline

    baseline = load_baseline(Path(file))
    with Store.open(folder, readonly=True) as store:
        findings = verify_run(store).findings or list(check_baseline(baseline, store))
    head = {"file": file, "run": str(folder), "blocks": len(baseline.blocks)}
    _report(findings, json, head, file, f"{file}: {len(baseline.blocks)} blocks are those of {folder}")


def _verify_lines(file: str, json: bool) -> None:
    records, findings = verify_records(load_lines(file))
    _report(findings, json, {"file": file, "records": records}, file, f"{file}: OK, {_recomputed(records)}")
    _require_some(records, file)


def _verify_run(folder: Path, json: bool) -> None:
    with Store.open(folder, readonly=True) as store:
        report_run(folder, verify_run(store), json)


def report_run(folder: Path, verdict: Verdict, json: bool = False) -> None:
    """What checking a run came to, on standard output. Raises typer.Exit unless all is well."""
    counts = {
        "run": str(folder),
        "run_id": verdict.run_id,
        "planned": verdict.planned,
        "records": verdict.records,
        "voids": verdict.voids,
        "calls": verdict.calls,
    }
    praise = f"{folder}: OK, {_recomputed(verdict.records, verdict.calls)}"
    _report(verdict.findings, json, counts, str(folder), praise)
    _require_some(verdict.records, str(folder))


def _report(findings: Sequence[Finding], json: bool, head: Mapping[str, Any], name: str, praise: str) -> None:
    """The verdict on standard output; what is wrong in one line on standard error as well, and exit code 1 for it."""
    if json:
        print_json({**head, "ok": not findings, "findings": [finding.to_json() for finding in findings]})
    else:
        for finding in findings:
            print_text(shown(str(finding), limit=2_000))
    if findings:
        count = plural(len(findings), "finding")
        print_note(shown(f"weigh: {name} does not reproduce: {count}; the first: {findings[0]}", limit=2_000))
        raise typer.Exit(WRONG)
    if not json:
        print_text(shown(praise, limit=2_000))


def _recomputed(records: int, calls: int = 0) -> str:
    read = f", {plural(calls, 'model call')} read again" if calls else ""
    return f"{plural(records, 'record')} recomputed{read}, no differences"


def _require_some(records: int, name: str) -> None:
    if not records:
        print_note(f"weigh: {name} holds no finished episode, so nothing was checked")
        raise typer.Exit(INCONCLUSIVE)


LARGEST = 64 * 1024 * 1024
"""Bytes; a larger document is refused before it is read."""


def load(file: str, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    """A JSON object from a file, or from standard input for `-`, with no key that is not `known` (None: any key)."""
    name, raw = _content(file)
    return _object(name, raw, known)


def load_lines(file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The JSON objects of a file with one on each line, each with its place; empty lines are passed over."""
    name, raw = _content(file)
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.strip():
            yield f"{name}:{number}", _object(f"{name}:{number}", line, None)


def _content(file: str) -> tuple[str, bytes]:
    """What a person calls the file, and its bytes."""
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            if sys.stdin is None:
                raise Refused("standard input: closed; give a file, or send the document to it", kind="no-input")
            raw = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(file).open("rb") as stream:
                raw = stream.read(LARGEST + 1)
    except OSError as error:
        raise Refused(f"{name}: {error.strerror or error}", kind="unreadable-file") from error
    except ValueError as error:  # a null character in the name
        raise Refused(f"{quote(name)}: not a file name ({error})", kind="unreadable-file") from error
    if len(raw) > LARGEST:
        raise Refused(f"{name}: larger than {LARGEST // 1024 // 1024} MB", kind="too-large")
    return name, raw


def _object(name: str, raw: bytes, known: Sequence[str] | None) -> Mapping[str, Any]:
    if not raw.strip():
        raise Refused(f"{name}: empty, where a JSON object was expected", kind="empty-file")
    try:
        text = raw.decode("utf-8-sig")
        document = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except RecursionError as error:
        raise Refused(f"{name}: nested too deeply", kind="too-deep") from error
    except UnicodeDecodeError as error:
        raise Refused(
            f"{name}: not UTF-8 text (byte {raw[error.start]:#04x} at {error.start})", kind="not-utf8"
        ) from error
    except json.JSONDecodeError as error:
        said = f"{error.msg[:1].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno}"
        raise Refused(f"{name}: not a JSON document: {said}", kind="not-json") from error
    except ValueError as error:
        raise Refused(f"{name}: not a JSON document: {error}", kind="not-json") from error
    if not isinstance(document, dict):
        raise Refused(f"{name}: holds {quote(document)} and not a JSON object", kind="not-an-object")
    if known is not None:
        for key in document:
            if key not in known:
                raise Refused(
                    f"{name}: unknown key {quote(key)}{nearest(key, known)} (keys: {', '.join(known)})",
                    kind="unknown-key",
                )
    return document


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {quote(twice)} stands twice in one object")
    return whole


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def read_document(file: str, keys: Mapping[str, Demand], needed: Sequence[str]) -> Mapping[str, Any]:
    """A document with no other than these keys, the `needed` ones among them, each with a value that fits."""
    document = load(file, tuple(keys))
    for key in needed:
        if key not in document:
            raise Refused(f"{key}: missing; it must be {keys[key][1]}", kind="key-missing")
    for key, value in document.items():
        fits, demand = keys[key]
        if not fits(value):
            raise Refused(f"{key}: {quote(value)} is not {demand}", kind="bad-value")
    return document


def position(document: Mapping[str, Any], *, stop: bool = False) -> State:
    """The state that a document describes, ended by the wall clock if `stop`. Raises Refused for none that there is."""
    game = game_named(document["game"])
    config = read_config(game, document.get("config") or {})
    return replay(game, config, _deal(document, game, config), document.get("moves", []), stop)


def _deal(document: Mapping[str, Any], game: AnyGame, config: BaseModel) -> Deal:
    """The deal that is given, or the one that `weigh play` draws for the seed, or none for a game without chance."""
    given, seed = document.get("deal"), document.get("seed")
    if given:
        return dict(given)
    if seed is not None:
        return deal_of(game, config, seed)
    keys = game.deal(config, Random(0))  # noqa: S311 - only looked at, to see whether chance plays a part
    if given is None and keys:
        raise Refused(
            f"deal: missing, and {game.name} begins with chance: give a deal ({', '.join(keys)}), or a seed to draw "
            "one",
            kind="deal-missing",
        )
    return {}
