"""The tables of a ladder config: as people write them, and resolved to games, prompts and endpoints.

Owns keys, types, defaults and bounds, and what each table may refer to. Notes problems where it finds them and goes on,
so that one reading finds them all. `examples/ladder.toml` shows every key with a comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, Field, JsonValue, ValidationInfo, field_validator

from weigh.games.game import AnyGame, ConfigInvalid
from weigh.games.registry import GAMES, read_config
from weigh.games.values import nearest_name, quote
from weigh.harness.config.designs import Rows
from weigh.harness.config.entrants import (
    ANY_GAME,
    EntrantSpec,
    every_scripted,
    parse_entrant,
    require_model,
    require_name,
)
from weigh.harness.config.problems import KeyPath, Problems, Section
from weigh.harness.config.prompt_files import PromptFile, read_prompt
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import ConfigError, EndpointInvalid
from weigh.harness.providers.endpoints.endpoints import Endpoint, EndpointSettings, endpoint_for
from weigh.harness.providers.endpoints.known import default_cap
from weigh.harness.words import as_written
from weigh.policies.contract import Sampling, Style
from weigh.policies.scripted.registry import yardsticks

# fmt: off
RESERVED_BODY_FIELDS = frozenset((
    "model", "messages", "input", "system", "instructions", "stream", "n", "tools", "tool_choice", "response_format",
    "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "seed",
))
# fmt: on
"""Body fields that the clients write themselves; `extra` may not."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


LONGEST_NAME = 80
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def run_name(name: str) -> str:
    """`name`, if a folder may be called so on every system; else ValueError with a name that may."""
    if name == safe_name(name):
        return name
    raise ValueError(
        f"{quote(name)} cannot name a run folder: letters, digits, '.', '_' and '-', at most {LONGEST_NAME}, "
        f"first a letter or digit; {safe_name(name)} would do"
    )


def safe_name(name: str) -> str:
    """The run folder's name nearest to `name`; `name` itself when it will do."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-_")[:LONGEST_NAME].rstrip(".-")
    if not cleaned or _DEVICES.fullmatch(cleaned):
        cleaned = f"run-{cleaned}".rstrip("-")
    return cleaned


class RunFolder(Section):
    """The keys above every table that say where a run is kept."""

    name: Annotated[str, AfterValidator(run_name)] | None = None
    """The run's folder below `results`; None for the file's own name without its ending."""
    results: str = Field(default="results", min_length=1)
    """Where runs lie; relative to the folder of the config file."""


def name_of(problems: Problems, given: RunFolder | None, path: Path) -> str:
    """The run's name: as given, else that of the file at `path` without its ending, which may not do as one."""
    name = path.stem if given is None or given.name is None else given.name
    if given is not None and name != safe_name(name):
        problems.add((), f'name is missing, and no run folder can be called {name}: name = "{safe_name(name)}"')
    return name


class Head(RunFolder):
    """The keys above every table."""

    seed: int = Field(default=0, ge=0)
    """The run seed. 0 is a seed like any other."""
    baselines: bool = True
    """Whether the scripted policies of the games take part in addition to the entrants listed."""


class Limits(Section):
    """[limits]: time, and what a run may spend."""

    decision_timeout: Seconds = 60.0
    """Seconds for one attempt at one decision, with every transport retry and wait for the provider; pauses of its
    model left out."""
    episode_deadline: Seconds | None = None
    """Seconds for one episode, pauses of its models left out; None for no limit."""
    episodes_in_flight: int = Field(default=8, ge=1, le=10_000)
    """The most episodes that are played at once."""
    replays: int = Field(default=1, ge=0, le=100)
    """How often, at the end of an invocation, episodes that an outage ended are played again."""
    outages_in_a_row: int = Field(default=5, ge=1)
    """Void episodes of one model without an answer in between, after which the run stops."""
    max_calls: int | None = Field(default=None, ge=1)
    """Model calls of the run in all its invocations; when it is reached the run stops, and can go on."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Input and output tokens together."""
    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """US dollars; calls of unknown cost are counted from above."""
    max_seconds: Seconds | None = None
    """Wall time of one invocation, pauses of models included."""

    @field_validator("episode_deadline")
    @classmethod
    def _holds_a_round(cls, value: float | None, info: ValidationInfo) -> float | None:
        shortest = 2 * info.data.get("decision_timeout", 0.0)
        if value is not None and value < shortest:
            raise ValueError(
                f"must be at least two decision timeouts ({shortest:g} s), so that both attempts at it fit"
            )
        return value


BINDING_LIMITS = ("decision_timeout", "episode_deadline")
"""The limits that can change what is recorded. A run goes on only under the same ones; the others may be changed."""


class Rank(Section):
    """[rank]: who is ranked."""

    max_fallback_rate: float = Field(default=MAX_FALLBACK_RATE, ge=0, le=1)
    """An entrant with a larger share of fallback moves is listed, not ranked."""
    max_void_rate: float = Field(default=0.1, ge=0, lt=1)
    """A run with a larger share of void episodes is no valid one; one in which all are void never is."""


class Prompted(Section):
    """[entrants.NAME]: a prompt with a model behind it."""

    retired: ClassVar[Mapping[str, str]] = {"seed": "sampling_seed"}

    prompt: str | dict[str, str] = Field(description='the prompt file, as prompt = "prompts/mine.md"')
    """A prompt file, or one for each game by the game's name."""
    model: str = Field(description='who answers, as model = "provider:model"')
    style: Style | None = None
    """None leaves it to the prompt's header, and without one to reason-then-json."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Cap on generated tokens of one reply, hidden reasoning included; None is the `default_cap` of the model."""
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    """None leaves the provider's default; 0 is sent as 0."""
    sampling_seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Sent where the endpoint takes one."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Further body fields of the endpoint, sent as they are."""

    @field_validator("prompt", mode="before")
    @classmethod
    def _one_or_by_game(cls, value: object) -> object:
        texts = value.values() if isinstance(value, dict) else (value,)
        if not texts or not all(isinstance(text, str) for text in texts):
            raise ValueError('must be a file name in quotes, or a table of them by game: { goofspiel = "a.md" }')
        return value

    @field_validator("extra", mode="before")
    @classmethod
    def _plain_and_not_ours(cls, value: object) -> object:
        if isinstance(value, dict):
            for key, item in value.items():
                if key in RESERVED_BODY_FIELDS:
                    raise ValueError(f"{key} is written by the client itself and cannot stand in extra")
                try:
                    json.dumps(item, allow_nan=False)
                except (TypeError, ValueError):
                    raise ValueError(
                        f"{key} holds a date, a time, inf or nan, which JSON cannot hold; a date goes in quotes"
                    ) from None
        return value

    @property
    def sampling(self) -> Sampling:
        cap = default_cap(self.model) if self.max_tokens is None else self.max_tokens
        return Sampling(cap, self.temperature, self.sampling_seed, self.extra)


class _Schedule(Section):
    """The keys of [games.NAME] that are not the game's own."""

    blocks: int | None = Field(default=None, ge=1, le=1_000_000)
    """Groups of episodes, in each of which every entrant sits in every seat; None for one full rotation of tables."""
    rows: Rows = "williams"
    """How neighbours are seated within a block: `williams` squares, or the rotations of one order."""

    @field_validator("rows", mode="before")
    @classmethod
    def _not_retired(cls, value: object) -> object:
        if value == "cyclic":
            raise ValueError('"cyclic" is called "rotated" now')
        return value


@dataclass(frozen=True, slots=True)
class LadderGame:
    """One game of a ladder."""

    game: AnyGame
    config: BaseModel
    blocks: int
    rows: Rows = "rotated"
    """For two seats always `rotated`: there both kinds are the same."""
    blocks_given: bool = False
    """Whether the file says how many blocks; else they are one full rotation of tables."""

    @property
    def seats(self) -> int:
        return self.game.seat_count(self.config)


def read_games(problems: Problems, tables: object) -> list[LadderGame]:
    """Every game of [games] whose table is right."""
    path: KeyPath = ("games",)
    if not isinstance(tables, dict) or not tables:
        problems.add(path, f"missing: a table for each game, as [games.{next(iter(GAMES))}]")
        return []
    found = [_game(problems, (*path, name), name, table) for name, table in tables.items()]
    return [entry for entry in found if entry is not None]


def _game(problems: Problems, path: KeyPath, name: str, table: object) -> LadderGame | None:
    game = GAMES.get(name)
    if game is None:
        problems.unknown(path[:-1], name, GAMES, "game")
        return None
    if not isinstance(table, dict):
        problems.add(path, f"must be a table, not {as_written(table)}")
        return None
    own = {key: value for key, value in table.items() if key not in _Schedule.model_fields}
    schedule = problems.check(_Schedule, {key: table[key] for key in table if key not in own}, path)
    known = (*_Schedule.model_fields, *game.config_type.model_fields)
    for key in [key for key in own if key not in known]:
        problems.unknown(path, key, known)
        del own[key]
    if problems.check(game.config_type, own, path) is None or schedule is None:
        return None
    try:
        given = schedule.blocks is not None
        return LadderGame(game, read_config(game, own), schedule.blocks or 0, schedule.rows, blocks_given=given)
    except ConfigInvalid as error:
        problems.add(path, str(error))
        return None


def games_meant(tables: object) -> list[str]:
    """The games that [games] asks for, those with a wrong table included; a misspelt one counts as the nearest known.

    For judging entrants without blaming them for what is wrong with a game. Empty when any game is not known.
    """
    if not isinstance(tables, dict):
        return []
    meant = [name if name in GAMES else nearest_name(name, list(GAMES)) for name in tables]
    known = [name for name in meant if name is not None]
    return list(dict.fromkeys(known)) if len(known) == len(meant) else []


def read_entrants(problems: Problems, tables: object, folder: Path, games: Sequence[str]) -> list[EntrantSpec]:
    """Every entrant of [entrants] that is right. `folder` is where prompt paths start.

    `games` are the ladder's, of which each entrant must play one; without any, no entrant is refused for playing none.
    """
    path: KeyPath = ("entrants",)
    specs: list[EntrantSpec] = []
    namesakes: dict[str, str] = {}
    for name, value in problems.tables(tables, path).items():
        here = (*path, name)
        try:
            spec = _entrant(problems, here, name, value, folder, games)
        except ConfigError as error:
            for line in error.lines:
                problems.add(here, line)
            continue
        other = namesakes.setdefault(name.casefold(), name)
        if other != name:
            problems.add(here, f"differs from the entrant {other} only in the case of letters")
        elif spec is not None:
            specs.append(spec)
    return specs


def _entrant(
    problems: Problems, path: KeyPath, name: str, value: object, folder: Path, games: Sequence[str]
) -> EntrantSpec | None:
    """One entrant, None after its problems were noted. Raises ConfigError for a single one."""
    if isinstance(value, dict) and value and not set(value) & set(Prompted.model_fields):
        # gpt-5.1 = "..." without quotes is, to TOML, a table gpt-5 with a key 1.
        whole = f"{name}.{next(iter(value))}"
        raise ConfigError(
            f'no key of an entrant in it; if its name is {whole}, write that in quotes: "{whole}"',
            kind="not-an-entrant",
        )
    require_name(name)
    spec = _word(name, value, folder) if isinstance(value, str) else _table(problems, path, name, value, folder)
    if spec is None:
        return None
    if name in every_scripted() and spec.scripted != name:
        raise ConfigError(
            f"{name} is the name of a scripted policy; call this entrant something else", kind="entrant-name"
        )
    if games and not any(spec.plays(game) for game in games):
        plays = [game for game in GAMES if spec.plays(game)]
        raise ConfigError(
            f"plays {', '.join(plays) or 'no game'} and none of this ladder's games: {', '.join(games)}",
            kind="plays-nothing",
        )
    return spec


def _word(name: str, word: str, folder: Path) -> EntrantSpec:
    if word.startswith("@"):
        raise ConfigError(
            f"{quote(word)} is for the command line; here stands a scripted policy or a prompt with a model",
            kind="not-an-entrant",
        )
    return parse_entrant(word, folder, name=name)


def _table(problems: Problems, path: KeyPath, name: str, value: object, folder: Path) -> EntrantSpec | None:
    if not isinstance(value, dict):
        raise ConfigError(
            f"must be a policy or PROMPT.md@provider:model in quotes, or a table, not {as_written(value)}",
            kind="not-an-entrant",
        )
    section = problems.check(Prompted, value, path)
    if section is None:
        return None
    prompts = _prompts(problems, (*path, "prompt"), section.prompt, folder)
    model = require_model(section.model)
    if prompts is None:
        return None
    return EntrantSpec(name, model=model, prompts=prompts, style=section.style, sampling=section.sampling)


def _prompts(
    problems: Problems, path: KeyPath, written: str | Mapping[str, str], folder: Path
) -> dict[str, PromptFile] | None:
    """The prompt files of one entrant by game, None after a problem was noted."""
    files: dict[str, PromptFile] = {}
    for game, name in {ANY_GAME: written}.items() if isinstance(written, str) else written.items():
        here = path if game == ANY_GAME else (*path, game)
        if game not in (ANY_GAME, *GAMES):
            problems.unknown(path, game, GAMES, "game")
            continue
        try:
            file = read_prompt(name, folder)
        except ConfigError as error:
            problems.add(here, str(error))
            continue
        if game != ANY_GAME and file.prompt.games and game not in file.prompt.games:
            problems.add(here, f"{name} is for {', '.join(file.prompt.games)}, as its header says")
            continue
        files[game] = file
    return files if len(files) == (1 if isinstance(written, str) else len(written)) else None


def read_models(problems: Problems, tables: object) -> dict[str, EndpointSettings]:
    """[models]: settings by `provider` or `provider:model`."""
    path: KeyPath = ("models",)
    found = {
        name: problems.check(EndpointSettings, table, (*path, name))
        for name, table in problems.tables(tables, path).items()
    }
    return {name: settings for name, settings in found.items() if settings is not None}


def read_endpoints(
    problems: Problems, specs: Iterable[EntrantSpec], settings: Mapping[str, EndpointSettings]
) -> dict[str, Endpoint]:
    """The endpoint of every model that plays."""
    endpoints: dict[str, Endpoint] = {}
    for spec in specs:
        if spec.model is not None and spec.model not in endpoints:
            try:
                endpoints[spec.model] = endpoint_for(spec.model, settings)
            except EndpointInvalid as error:
                table = ("models", spec.model) if spec.model in settings else ("entrants", spec.name)
                problems.add(table, str(error))
    return endpoints


def with_baselines(specs: Sequence[EntrantSpec], games: Iterable[str]) -> list[EntrantSpec]:
    """`specs`, then each scripted policy of `games` that no entrant plays yet: they show what a score is worth."""
    playing = {spec.scripted for spec in specs}
    names = dict.fromkeys(name for game in games for name in yardsticks(game))
    return [*specs, *(EntrantSpec(name, scripted=name) for name in names if name not in playing)]
