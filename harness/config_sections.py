"""The tables of a ladder config, as people write them.

Owns keys, types, defaults and bounds. What a value refers to (a game, a prompt file, an endpoint) is resolved in
`harness.config`. `examples/ladder.toml` shows every key with a comment.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue, field_validator

from games.values import quote
from harness.config_problems import Section
from harness.warning_levels import MAX_FALLBACK_RATE
from policies.contract import Sampling, Style

# fmt: off
RESERVED_BODY_FIELDS = frozenset((
    "model", "messages", "input", "system", "instructions", "stream", "n", "tools", "tool_choice", "response_format",
    "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "seed",
))
# fmt: on
"""Body fields that the clients write themselves; `extra` may not."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def run_name(name: str) -> str:
    """`name`, if a folder may be called so on every system; else ValueError with a name that may."""
    if name == safe_name(name):
        return name
    raise ValueError(
        f"{quote(name)} cannot name a run folder: letters, digits, '.', '_' and '-', at most {LONGEST_NAME}, "
        f"first a letter or digit; {safe_name(name)} would do"
    )


LONGEST_NAME = 80
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def safe_name(name: str) -> str:
    """The run folder's name nearest to `name`; `name` itself when it will do."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-_")[:LONGEST_NAME].rstrip(".-")
    if not cleaned or _DEVICES.fullmatch(cleaned):
        cleaned = f"run-{cleaned}".rstrip("-")
    return cleaned


class Head(Section):
    """The keys above every table."""

    name: Annotated[str, AfterValidator(run_name)] | None = None
    """The run's folder below `results`; None for the file's own name without its ending."""
    seed: int = Field(default=0, ge=0)
    """The run seed. 0 is a seed like any other."""
    results: str = Field(default="results", min_length=1)
    """Where runs lie; relative to the folder of the config file."""
    baselines: bool = True
    """Whether the scripted policies of the games take part besides the entrants listed."""


class Limits(Section):
    """[limits]: time, and what a run may spend."""

    decision_timeout: Seconds = 60.0
    """Seconds for one attempt at one decision, with every transport retry and wait for the provider; pauses of its
    model left out."""
    episode_deadline: Seconds | None = None
    """Seconds for one episode, pauses of its models left out; None for no limit."""
    episodes_in_flight: int = Field(default=8, ge=1, le=10_000)
    replays: int = Field(default=1, ge=0, le=100)
    """How often, at the end of a sitting, episodes that an outage ended are played again."""
    outages_in_a_row: int = Field(default=5, ge=1)
    """Void episodes of one model without an answer in between, after which the run stops."""
    max_calls: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    """Input and output tokens together."""
    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_seconds: Seconds | None = None
    """Wall time of one sitting, pauses of models included."""


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

    prompt: str | dict[str, str] = Field(description='the prompt file, as prompt = "prompts/mine.md"')
    """A prompt file, or one for each game by the game's name."""
    model: str = Field(description='who answers, as model = "provider:model"')
    style: Style | None = None
    """None leaves it to the prompt's header, and without one to reason-then-json."""
    max_tokens: int = Field(default=Sampling().max_tokens, ge=1)
    """Cap on generated tokens of one reply, hidden reasoning included."""
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    """None leaves the provider's default; 0 is sent as 0."""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Sampling seed, sent where the endpoint takes one."""
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
                _require_json(item, key)
        return value

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.max_tokens, self.temperature, self.seed, self.extra)


def _require_json(value: Any, place: str) -> None:
    """Raise ValueError for what TOML can write and JSON cannot: dates, times, inf and nan."""
    match value:
        case dict():
            for key, item in value.items():
                _require_json(item, f"{place}.{key}")
        case list():
            for item in value:
                _require_json(item, place)
        case float() if not math.isfinite(value):
            raise ValueError(f"{place} must be a finite number, not {value}")
        case bool() | int() | float() | str():
            return
        case _:
            raise ValueError(f"{place} is a date or time, which JSON cannot hold; put it in quotes")
