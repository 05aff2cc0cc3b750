"""A ladder's config: what is played, by whom, within which limits.

Owns the resolved value and its reading from a TOML file: every game, prompt file, policy and endpoint it names is
looked up, and every problem found is reported at once. `harness.config.sections` has the keys, types and bounds.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from weigh.games.values import nearest
from weigh.harness.config.designs import design, require_table
from weigh.harness.config.entrants import EntrantSpec, policies_for
from weigh.harness.config.problems import KeyPath, Problems, dotted
from weigh.harness.config.sections import (
    BINDING_LIMITS,
    Head,
    LadderGame,
    Limits,
    Rank,
    games_meant,
    name_of,
    read_endpoints,
    read_entrants,
    read_games,
    read_models,
    with_baselines,
)
from weigh.harness.errors import ConfigError, ScheduleInvalid
from weigh.harness.providers.endpoints.endpoints import Endpoint, EndpointSettings
from weigh.policies.contract import Policy, canonical
from weigh.policies.show import one_line

__all__ = ["ConfigError", "LadderConfig", "LadderGame", "load_config", "parse_config"]

LARGEST = 1_000_000
"""Bytes; what is larger is no config."""

SECTIONS = ("games", "entrants", "models", "limits", "rank")


@dataclass(frozen=True, slots=True)
class LadderConfig:
    """Everything a ladder run is ordered with."""

    source: Path
    """The file it was read from."""
    name: str
    seed: int
    results: Path
    """The folder where runs lie."""
    baselines: bool
    games: tuple[LadderGame, ...]
    """In the order of the file."""
    entrants: tuple[EntrantSpec, ...]
    """In the order of the file, then the baselines that were added."""
    model_settings: Mapping[str, EndpointSettings]
    """[models] as written: by `provider` or `provider:model`."""
    endpoints: Mapping[str, Endpoint]
    """By `provider:model`: one for every model that plays, its settings and defaults resolved."""
    limits: Limits
    rank: Rank
    warnings: tuple[str, ...] = ()
    """What is allowed and probably not meant, one line each, to be printed before the run."""

    @property
    def run_folder(self) -> Path:
        """Where this run is kept."""
        return self.results / self.name

    def playing(self, game: str) -> tuple[EntrantSpec, ...]:
        """The entrants that play a game."""
        return tuple(spec for spec in self.entrants if spec.plays(game))

    def policies(self, ladder_game: LadderGame) -> tuple[Policy, ...]:
        """How the entrants that play a game play it, named as they are."""
        return policies_for(self.playing(ladder_game.game.name), ladder_game.game, ladder_game.config)

    def to_json(self) -> dict[str, JsonValue]:
        """What decides the records of a run, with every default written out: a run goes on only where this is equal.

        Nothing of it belongs to one machine: prompt files stand with the hash of their content. Names, ceilings,
        how much is done at once and who is ranked may change from one invocation to the next, and are not here.
        """
        limits = self.limits.model_dump(mode="json")
        return {
            "seed": self.seed,
            "games": {
                entry.game.name: {
                    "blocks": entry.blocks,
                    "rows": entry.rows,
                    "config": entry.config.model_dump(mode="json"),
                }
                for entry in self.games
            },
            "entrants": {spec.name: spec.to_json() for spec in self.entrants},
            "models": {model: bearing(endpoint) for model, endpoint in self.endpoints.items()},
            "limits": {key: limits[key] for key in BINDING_LIMITS},
        }


def load_config(path: Path | str, overrides: Mapping[str, object] | None = None) -> LadderConfig:
    """Read a ladder config. Raises ConfigError with every problem found.

    `overrides` are values from the command line by dotted key (`seed`, `limits.max_usd`); they pass the same checks as
    values of the file and take their place. None as a value overrides nothing.
    """
    path = Path(path)
    return parse_config(_read(path), path, overrides)


def load_document(path: Path) -> tuple[dict[str, Any], str]:
    """The tables of a TOML file, unchecked, and its text. Raises ConfigError."""
    text = _read(path)
    return _document(text, str(path)), text


def parse_config(text: str, path: Path, overrides: Mapping[str, object] | None = None) -> LadderConfig:
    """`load_config` for a text in hand; `path` names it in messages, and its folder is where relative paths start."""
    document = _document(text, str(path))
    given = {tuple(key.split(".")): value for key, value in (overrides or {}).items() if value is not None}
    problems = Problems(str(path), text, given)
    for keys, value in given.items():
        _put(document, keys, value)

    head = problems.head(Head, document, SECTIONS)
    limits = problems.check(Limits, document.get("limits", {}), ("limits",))
    rank = problems.check(Rank, document.get("rank", {}), ("rank",))
    asked = read_games(problems, document.get("games"))
    names = [entry.game.name for entry in asked]
    settings = read_models(problems, document.get("models", {}))
    entrants = read_entrants(problems, document.get("entrants", {}), path.parent, games_meant(document.get("games")))
    endpoints = read_endpoints(problems, entrants, settings)
    if head is not None and head.baselines:
        entrants = with_baselines(entrants, names)
    name = name_of(problems, head, path)
    problems.raise_if_any()
    if head is None or limits is None or rank is None:
        raise AssertionError("a section is missing and no problem was noted")

    games = tuple(_filled(problems, entry, entrants) for entry in asked)
    problems.raise_if_any()
    return LadderConfig(
        source=path,
        name=name,
        seed=head.seed,
        results=Path(os.path.normpath(path.parent / Path(head.results).expanduser())),
        baselines=head.baselines,
        games=games,
        entrants=tuple(entrants),
        model_settings=settings,
        endpoints=endpoints,
        limits=limits,
        rank=rank,
        warnings=tuple(_warnings(entrants, games, settings)),
    )


def _filled(problems: Problems, entry: LadderGame, entrants: Sequence[EntrantSpec]) -> LadderGame:
    """A game with its number of blocks, after its entrants were counted."""
    field = sum(spec.plays(entry.game.name) for spec in entrants)
    try:
        require_table(field, entry.seats)
    except ScheduleInvalid as error:
        problems.add(("games", entry.game.name), str(error))
        return entry
    blocks = entry.blocks if entry.blocks_given else len(design(field, entry.seats).tables)
    return replace(entry, blocks=blocks, rows="rotated" if entry.seats == 2 else entry.rows)


def bearing(endpoint: Endpoint) -> dict[str, JsonValue]:
    """The part of an endpoint that can bear on what a model answers. A server on this machine counts as the same one
    wherever it listens: ports change from one invocation to the next."""
    return {
        "wire": endpoint.wire,
        "base_url": "this machine" if endpoint.loopback else endpoint.base_url,
        "fold_system": endpoint.fold_system,
        "cap_field": endpoint.cap_field,
        "supports_temperature": endpoint.supports_temperature,
        "supports_seed": endpoint.supports_seed,
        "context_tokens": endpoint.context_tokens,
    }


def _warnings(
    entrants: Sequence[EntrantSpec], games: Sequence[LadderGame], settings: Mapping[str, EndpointSettings]
) -> Iterator[str]:
    models = list(dict.fromkeys(spec.model for spec in entrants if spec.model is not None))
    for key in settings:
        if key not in models and key not in {model.partition(":")[0] for model in models}:
            yield f"models.{dotted((key,))}: no entrant plays with it{nearest(key, models)}"
    for entry in games:
        name = entry.game.name
        if not any(spec.scripted is not None and spec.plays(name) for spec in entrants):
            yield f"games.{name}: no scripted policy plays, so nothing shows what a score is worth (baselines = true)"
    twins: dict[str, list[str]] = {}
    for spec in entrants:
        twins.setdefault(canonical(spec.to_json()), []).append(spec.name)
    for names in twins.values():
        if len(names) > 1:
            yield f"entrants {', '.join(names)} are one and the same policy under {len(names)} names"


def _read(path: Path) -> str:
    """The text of a config file: UTF-8, with or without a byte order mark."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except FileNotFoundError as error:
        known = [other.name for other in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        raise ConfigError(f"{path}: no such file{nearest(path.name, known)}", kind="no-file") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}", kind="unreadable-file") from error
    if len(content) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST // 1000} kB, so no ladder config", kind="too-large")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: not UTF-8 text (byte {content[error.start]:#04x}); save it as UTF-8", kind="not-utf8"
        ) from error


_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def _document(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{source}: nested too deeply", kind="too-deep") from error
    except tomllib.TOMLDecodeError as error:
        message, line = str(error), text.count("\n") + 1
        if match := _PLACE.search(message):
            message, line = message[: match.start()], int(match[1] or line)
        words = "".join(text.splitlines()[line - 1 : line]).strip()
        if re.match(r"\[[^\"'=]*:", words):
            message += '; a name with a colon stands in quotes, as in [models."openai:gpt-5-mini"]'
        elif message.startswith(("Cannot overwrite", "Cannot declare")):
            message += "; the key or table stands here for the second time"
        elif message.startswith("Invalid value"):
            message += "; text stands in quotes"
        elif message.startswith("Expected newline") and re.match(r"[^=]*=\s*[-+]?[0-9]", words):
            message += "; a number has no zeros in front, and whatever is no number stands in quotes"
        quoted = f": {one_line(words)}" if words else ""
        raise ConfigError(
            f"{source}:{line}: not valid TOML: {message[:1].lower()}{message[1:]}{quoted}", kind="not-toml"
        ) from error
    except ValueError as error:  # Python's own bound on the digits of a number
        raise ConfigError(f"{source}: holds a number of thousands of digits", kind="not-toml") from error


def _put(document: dict[str, Any], path: KeyPath, value: object) -> None:
    """Set a value of a nested table, making the tables on the way where they are missing."""
    for key in path[:-1]:
        inner = document.setdefault(key, {})
        if not isinstance(inner, dict):
            return  # the table's own check says what is wrong with it
        document = inner
    document[path[-1]] = value
