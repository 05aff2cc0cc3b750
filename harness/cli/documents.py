"""The JSON documents that people and programs hand to `weigh resolve`, `weigh read` and `weigh verify`.

Owns their reading from a file or standard input, with a line for whatever is wrong with them, and the position that
`game`, `config`, `deal`, `seed` and `moves` describe.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn

from games.values import nearest, quote
from harness.cli.output import Refused

if TYPE_CHECKING:
    from pydantic import BaseModel

    from games.game import AnyGame, Deal, State

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
                raise Refused("standard input: closed; give a file, or send the document to it")
            raw = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(file).open("rb") as stream:
                raw = stream.read(LARGEST + 1)
    except OSError as error:
        raise Refused(f"{name}: {error.strerror or error}") from error
    except ValueError as error:  # a null character in the name
        raise Refused(f"{quote(name)}: not a file name ({error})") from error
    if len(raw) > LARGEST:
        raise Refused(f"{name}: larger than {LARGEST // 1024 // 1024} MB")
    return name, raw


def _object(name: str, raw: bytes, known: Sequence[str] | None) -> Mapping[str, Any]:
    if not raw.strip():
        raise Refused(f"{name}: empty, where a JSON object was expected")
    try:
        text = raw.decode("utf-8-sig")
        document = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except RecursionError as error:
        raise Refused(f"{name}: nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Refused(f"{name}: not UTF-8 text (byte {raw[error.start]:#04x} at {error.start})") from error
    except json.JSONDecodeError as error:
        said = f"{error.msg[:1].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno}"
        raise Refused(f"{name}: not a JSON document: {said}") from error
    except ValueError as error:
        raise Refused(f"{name}: not a JSON document: {error}") from error
    if not isinstance(document, dict):
        raise Refused(f"{name}: holds {quote(document)} and not a JSON object")
    if known is not None:
        for key in document:
            if key not in known:
                raise Refused(f"{name}: unknown key {quote(key)}{nearest(key, known)} (keys: {', '.join(known)})")
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


def position(document: Mapping[str, Any], *, stop: bool = False) -> State:
    """The state that a document describes, ended by the wall clock if `stop`."""
    from games.registry import game_named, read_config
    from games.replay import replay

    if not isinstance(document.get("game"), str):
        _refuse("game", document, "is not a name", "missing; `weigh games` lists them")
    game = game_named(document["game"])
    for key in ("config", "deal"):
        if not isinstance(document.get(key), dict | None):
            _refuse(key, document, "is not a JSON object")
    if not isinstance(document.get("moves", []), list):
        _refuse("moves", document, "is not a list of steps")
    config = read_config(game, document.get("config") or {})
    deal = _deal(document, game, config)
    return replay(game, config, deal, document.get("moves", []), stop)


def _deal(document: Mapping[str, Any], game: AnyGame, config: BaseModel) -> Deal:
    """The deal that is given, or the one that `weigh play` draws for the seed, or none for a game without chance."""
    from harness.cli.single import deal_of

    seed = document.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        _refuse("seed", document, "is not a whole number from 0 up")
    given = document.get("deal")
    if given:
        return dict(given)
    if seed is not None:
        return deal_of(game, config, seed)
    if given is None and game.deal(config, Random(0)):  # noqa: S311 - only looked at, to see whether chance plays a part
        keys = ", ".join(game.deal(config, Random(0)))  # noqa: S311
        raise Refused(f"deal: missing, and {game.name} begins with chance: give a deal ({keys}), or a seed to draw one")
    return {}


def require(document: Mapping[str, Any], key: str, fits: Callable[[object], bool], demand: str) -> Any:
    """The value of a key. Raises Refused when it is missing, or when it does not fit the demand."""
    if key not in document:
        raise Refused(f"{key}: missing; it must be {demand}")
    if not fits(document[key]):
        raise Refused(f"{key}: {quote(document[key])} is not {demand}")
    return document[key]


def _refuse(key: str, document: Mapping[str, Any], wrong: str, missing: str = "missing") -> NoReturn:
    raise Refused(f"{key}: {quote(document[key])} {wrong}" if key in document else f"{key}: {missing}")
