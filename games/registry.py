"""The games there are, and how one is asked for by name and by config.

Owns the list, which is written out: nothing registers itself. A new game is one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from weigh.games.ballast.rules import BALLAST
from weigh.games.game import AnyGame, ConfigInvalid, GameError
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP
from weigh.games.oshi_zumo.rules import OSHI_ZUMO
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION
from weigh.games.values import nearest, quote

_ALL: tuple[AnyGame, ...] = (GOOFSPIEL, OSHI_ZUMO, BALLAST, PERSISTENT_CALIBRATION, HALF_HEARTED_STEP)

GAMES: Mapping[str, AnyGame] = MappingProxyType({game.name: game for game in _ALL})
"""Every game by its name, in the order in which they are listed to people."""


_SHOWN = 5
"""Wrong fields of a config that a message names."""


class UnknownGame(GameError):
    """No game has this name."""


def game_named(name: object) -> AnyGame:
    """The game of that name. Raises UnknownGame, with the nearest name and the list."""
    if isinstance(name, str) and name in GAMES:
        return GAMES[name]
    hint = nearest(name, list(GAMES)) if isinstance(name, str) else ""
    raise UnknownGame(f"there is no game {quote(name)}{hint} (games: {', '.join(GAMES)})")


def read_config(game: AnyGame, fields: object) -> BaseModel:
    """The config of `game` with the fields of this mapping, and defaults for the others.

    Raises ConfigInvalid: one line that names every wrong field with its value and what it may be, and for an unknown
    key the nearest known one.
    """
    if not isinstance(fields, Mapping):
        raise ConfigInvalid(f"{game.name} config is {quote(fields)}: it must be an object of fields")
    kind: type[BaseModel] = game.config_type
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as error:
        # A default drawn from a wrong field is reported as an error of its own, which explains nothing.
        faults = [
            _fault(kind, dict(fault))
            for fault in error.errors(include_url=False)
            if fault["type"] != "default_factory_not_called"
        ]
        more = [f"and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        raise ConfigInvalid(f"{game.name} config: {'; '.join([*faults[:_SHOWN], *more])}") from None


def _fault(kind: type[BaseModel], fault: Mapping[str, Any]) -> str:
    where = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        return f"unknown key {quote(where)}{nearest(where, list(kind.model_fields))}{_known(kind)}"
    if fault["type"] == "missing":
        return f"{where} is missing"
    if fault["type"] == "invalid_key":
        return f"the key {quote(fault['input'])} is not text"
    if fault["type"] == "value_error":
        demand = str(fault["ctx"]["error"])
    else:
        demand = _bounds(kind, where) or fault["msg"].replace("Input should", "it must", 1)
    return f"{where} is {quote(fault['input'])}: {demand}"


def _known(kind: type[BaseModel]) -> str:
    return f" (keys: {', '.join(kind.model_fields)})" if kind.model_fields else " (it has no keys)"


def _bounds(kind: type[BaseModel], where: str) -> str:
    """What a whole-number field may be, from the model's own schema; an empty text for other fields."""
    schema = kind.model_json_schema()["properties"].get(where, {})
    if schema.get("type") != "integer":
        return ""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"it must be a whole number from {low} to {high}"
    return "it must be a whole number" + (f" of at least {low}" if low is not None else "")
