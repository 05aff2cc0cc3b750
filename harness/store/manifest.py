"""The manifest: what a run was ordered with, written when its folder is made and when the run is extended.

Owns what a run must be resumed under, how two manifests are told apart in words a person can act on, and how a run gets
its name. How a run may be extended is `harness.config.extension`. Knows neither where a manifest is kept nor how a
config is read.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Protocol, TypeAlias

from pydantic import BeforeValidator, Field, JsonValue

from weigh.harness.store.record import SCHEMA, Frozen
from weigh.policies.contract import canonical

SHOWN = 60
"""The most characters of one value that a line about a difference shows."""


class Planned(Protocol):
    """An episode as the schedule knows it, before it is played."""

    @property
    def key(self) -> str: ...

    @property
    def block(self) -> str: ...

    @property
    def game(self) -> str: ...

    @property
    def deal_key(self) -> str:
        """What its deal is drawn for: equal for episodes that share a deal."""

    @property
    def entrants(self) -> Sequence[str]:
        """By seat."""


def in_current_words(config: object) -> object:
    """A stored config with the words of today: earlier runs had others for a kind of rows and for what an endpoint
    takes."""
    if not isinstance(config, dict):
        return config
    games = {
        name: {**table, "rows": "rotated"} if isinstance(table, dict) and table.get("rows") == "cyclic" else table
        for name, table in table_in(config, "games").items()
    }
    models = {name: _renamed(table) for name, table in table_in(config, "models").items()}
    return config | ({"games": games} if games else {}) | ({"models": models} if models else {})


Config: TypeAlias = Annotated[dict[str, JsonValue], BeforeValidator(in_current_words)]

_RENAMED: Mapping[str, str] = {
    "seat_sittings": "episodes_by_seat",
    "sittings": "episodes_by_entrant_and_seat",
    "temperature": "supports_temperature",
    "seed": "supports_seed",
}
"""Keys of earlier manifests: of a schedule's balance, and of what an endpoint takes."""


def _renamed(table: object) -> object:
    return {_RENAMED.get(key, key): value for key, value in table.items()} if isinstance(table, dict) else table


Schedule: TypeAlias = Annotated[dict[str, JsonValue], BeforeValidator(_renamed)]


class Amendment(Frozen):
    """One extension of a run: what was added, and what the run was ordered with before."""

    amended: str
    """UTC, ISO 8601."""
    added: tuple[str, ...] = Field(strict=False)
    """Entrants that came."""
    withdrawn: tuple[str, ...] = Field(strict=False)
    """Entrants that left. What they have played stays."""
    blocks: dict[str, int]
    """How many were added, by game."""
    episodes: int = Field(ge=0)
    """How many were planned before; the others were added, here or later."""
    schedule: str
    """`schedule_digest` of those planned before."""
    config: Config
    """As it was before."""
    policies: Mapping[str, Mapping[str, JsonValue]]
    """As they were before."""
    versions: dict[str, str]
    """Those that extended the run."""


class Manifest(Frozen):
    """What a run was ordered with."""

    schema_version: int = SCHEMA
    """Of the records in the run."""
    run_id: str = Field(min_length=1)
    """Unique, see `new_run_id`. No seed is made from it."""
    created: str
    """UTC, ISO 8601."""
    seed: int
    """The run seed, from which every stream of randomness is derived. 0 is a seed like any other."""
    config: Config
    """The config as its reader understood it, defaults written out."""
    policies: Mapping[str, Mapping[str, JsonValue]]
    """By `game/entrant`: what decides how it plays, at least `digest` and `model` (null for a scripted one)."""
    schedule: str
    """`schedule_digest` of the planned episodes."""
    schedules: dict[str, Schedule] = Field(default_factory=dict)
    """By game: how balanced the planned episodes are (`ScheduleReport.to_json`)."""
    amendments: tuple[Amendment, ...] = Field(default=(), strict=False)
    """Every extension of the run, the earliest first."""
    episodes: int = Field(ge=0)
    """How many are planned."""
    versions: dict[str, str]
    """Of weigh, Python and the packages that matter. Told, never a reason to refuse a resume."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """The prompt files of the policies, whole, by their SHA-256, hex. Runs made before they were kept have none."""
    chained: bool = False
    """Whether what is final enters a hash chain (`harness.store.chain`): not in runs made before there was one."""

    @property
    def orders(self) -> tuple[Amendment | Manifest, ...]:
        """What the run was ordered with at first, then after each amendment, down to what holds now."""
        return (*self.amendments, self)

    def policy(self, game: str, entrant: str) -> Mapping[str, JsonValue] | None:
        """What decides how an entrant plays a game, of those that left too; None for one that never played it."""
        found = (order.policies.get(f"{game}/{entrant}") for order in reversed(self.orders))
        return next((policy for policy in found if policy is not None), None)


def field_of(policies: Iterable[str], game: str) -> tuple[str, ...]:
    """The entrants of a game, sorted, from the keys of `Manifest.policies`."""
    split = (key.partition("/") for key in policies)
    return tuple(sorted(entrant for played, _, entrant in split if played == game and entrant))


def new_run_id(seed: int) -> str:
    """A name no other run has: the time, the seed and 32 random bits, e.g. `20260501-142233-s7-1f0a9c3e`."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-s{seed}-{secrets.token_hex(4)}"


class ScheduleDigest:
    """SHA-256 over who plays what against whom, in order, taken in one episode at a time."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, episode: Planned) -> None:
        """Take in the next episode. Raises TypeError for one with a field that is no JSON."""
        row = [episode.key, episode.block, episode.game, episode.deal_key, list(episode.entrants)]
        self._digest.update(canonical(row).encode() + b"\n")

    def hex(self) -> str:
        """Of the episodes taken in so far."""
        return self._digest.hexdigest()


def schedule_digest(episodes: Iterable[Planned]) -> str:
    """SHA-256, hex, over who plays what against whom, in order."""
    digest = ScheduleDigest()
    for episode in episodes:
        digest.add(episode)
    return digest.hex()


def differences(old: Manifest, new: Manifest, given: Mapping[str, int | None] | None = None) -> list[str]:
    """Why a run made under `old` must not go on under `new`: one line for each difference, none when it may.

    A line names the place and both values: `limits.decision_timeout: 30 in the run, 60 in the config`.
    Run id, time and versions are no reasons. `given` says for every game how many blocks the config asks for, None
    where it leaves that open: without it, what it comes to stands there as if it were written in the config.
    """
    lines = _compare(
        {"records": old.schema_version, "seed": old.seed}, {"records": new.schema_version, "seed": new.seed}
    )
    for place, was, now in config_differences(old.config, new.config):
        game = place.removeprefix("games.").removesuffix(".blocks")
        if place == f"games.{game}.blocks" and game in table_in(new.config, "games"):
            planned = blocks_planned(old, game)
            was = was if planned is None or str(planned) == was else f"{planned} ({was} asked for)"
            now = f"none ({now} by its entrants)" if given is not None and given.get(game, 0) is None else now
        lines.append(f"{place}: {was} in the run, {now} in the config")
    lines += _compare({"policies": old.policies}, {"policies": new.policies})
    # What an extended run plans is no function of its config alone.
    if old.schedule != new.schedule and not lines and not old.amendments:
        lines.append(f"schedule: other episodes are planned ({old.episodes} in the run, {new.episodes} in the config)")
    # A config may hold the seed too.
    return list(dict.fromkeys(lines))


def blocks_planned(manifest: Manifest, game: str) -> int | None:
    """How many blocks of a game a run plans, those of its extensions too; None where its manifest does not say."""
    first = table_in(manifest.orders[0].config, "games", game).get("blocks")
    added = sum(amendment.blocks.get(game, 0) for amendment in manifest.amendments)
    return first + added if isinstance(first, int) else None


def version_notes(old: Manifest, new: Manifest) -> list[str]:
    """The versions that changed since the run was made, a line each. They do not stand against a resume."""
    return _compare(old.versions, new.versions, now="now")


def _compare(old: Mapping[str, object], new: Mapping[str, object], now: str = "in the config") -> list[str]:
    return [f"{place}: {was} in the run, {is_now} {now}" for place, was, is_now in config_differences(old, new)]


def config_differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Every place in which two nested tables differ, dotted, with both values as JSON, long ones cut."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    found = []
    for place in dict.fromkeys([*before, *after]):
        was, is_now = _text(before, place), _text(after, place)
        if was != is_now:
            found.append((place, _shown(was, is_now), _shown(is_now, was)))
    return found


def table_in(config: object, *path: str) -> Mapping[str, JsonValue]:
    """The table at a place of a config; an empty one where there is none."""
    for key in path:
        config = config.get(key) if isinstance(config, Mapping) else None
    return config if isinstance(config, Mapping) else {}


def _leaves(value: object, place: str = "") -> Iterable[tuple[str, object]]:
    """Every scalar below `value` with its dotted place; an empty list or mapping counts as a leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{place}[{index}]")
    elif place:
        yield place, value


def _text(leaves: Mapping[str, object], place: str) -> str:
    return canonical(leaves[place]) if place in leaves else "not set"


def _shown(text: str, other: str) -> str:
    """A value, cut where it is long: from a little before the first character in which it is unlike the other one."""
    if len(text) <= SHOWN:
        return text
    same = next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(other))
    start = max(0, min(same - 10, len(text) - SHOWN))
    cut = text[start : start + SHOWN]
    return f"{'…' if start else ''}{cut}{'…' if start + SHOWN < len(text) else ''}"
