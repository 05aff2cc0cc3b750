"""Entrants: the words that name them, and the policies they stand for.

Owns the grammar of an entrant (`match`, `PROMPT.md@provider:model`, `@name`), the names entrants get, and which games
they play. Builds policies from what it read; opens no connection and knows no provider.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from random import Random
from typing import Any

from pydantic import BaseModel, JsonValue

from weigh.games.game import AnyGame, Seat
from weigh.games.registry import GAMES
from weigh.games.values import quote
from weigh.harness.config.prompt_files import PromptFile, packaged_prompts, read_prompt
from weigh.harness.errors import ConfigError
from weigh.harness.providers.endpoints.known import default_cap
from weigh.harness.words import did_you_mean
from weigh.policies.contract import ModelClient, Player, Policy, Sampling, Style, canonical
from weigh.policies.human import NAME as HUMAN
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import scripted, scripted_names

__all__ = ["EntrantSpec", "packaged_prompts", "parse_entrant", "parse_entrants", "policies_for"]

LONGEST_NAME = 40
NO_NAMES = frozenset({"na", "nan", "null", "none"})
"""What pandas, R and others read as a missing value, in any case of letters."""
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")
_PROMPTED = re.compile(r"(?P<prompt>.+?\.md)@(?P<model>.*)", re.DOTALL)
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*:[^\s\x00-\x1f\x7f]+")
DEFAULT_SAMPLING = Sampling()
DEFAULT_STYLE: Style = "reason-then-json"
ANY_GAME = "*"
"""The key of a prompt that is not bound to one game by the config; its header may still bind it."""


@dataclass(frozen=True, slots=True)
class EntrantSpec:
    """A named policy, before it is bound to a game. Scripted, or a prompt with a model behind it."""

    name: str
    scripted: str | None = None
    """The scripted policy it plays."""
    model: str | None = None
    """`provider:model`, exactly for a prompted entrant."""
    prompts: Mapping[str, PromptFile] = field(default_factory=dict)
    """By game, or one under `ANY_GAME`."""
    style: Style | None = None
    """How it asks for answers; None leaves it to each prompt's header."""
    sampling: Sampling = DEFAULT_SAMPLING

    def plays(self, game: str) -> bool:
        """Whether it can play `game` (the name of a game)."""
        if self.scripted is not None:
            return self.scripted in scripted_names(game)
        return self.prompt_for(game) is not None

    def prompt_for(self, game: str) -> PromptFile | None:
        """The prompt it plays `game` with."""
        file = self.prompts.get(game) or self.prompts.get(ANY_GAME)
        return file if file is not None and file.prompt.suits(game) else None

    def style_with(self, file: PromptFile) -> Style:
        """How it asks for answers when it plays with `file`."""
        return self.style or file.prompt.style or DEFAULT_STYLE

    def to_json(self) -> dict[str, JsonValue]:
        """All that decides how it plays, with every default; no name and nothing that belongs to one machine."""
        if self.scripted is not None:
            return {"scripted": self.scripted}
        prompts = {game: {**file.to_json(), "style": self.style_with(file)} for game, file in self.prompts.items()}
        decisive = {"model": self.model, "prompts": prompts, "sampling": self.sampling.to_json()}
        plain: dict[str, JsonValue] = json.loads(canonical(decisive))
        return plain


def parse_entrant(
    word: str,
    folder: Path,
    *,
    name: str | None = None,
    style: Style | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
    known: Mapping[str, EntrantSpec] | None = None,
) -> EntrantSpec:
    """The entrant that `word` stands for.

    `word` is a scripted policy, `PROMPT.md@provider:model`, or `@name` for one of `known` (the entrants of a config).
    `folder` is where relative prompt paths start. Without `name` the entrant gets one made of its parts. Raises
    ConfigError with one line that quotes the word.
    """
    if word.startswith("@") and len(word) > 1:
        return _known(word[1:], known)
    if match := _PROMPTED.fullmatch(word):
        file = read_prompt(match["prompt"], folder)
        model = require_model(match["model"])
        return EntrantSpec(
            name or default_name(match["prompt"], model),
            model=model,
            prompts={ANY_GAME: file},
            style=style,
            sampling=Sampling(default_cap(model) if max_tokens is None else max_tokens, temperature),
        )
    if word in every_scripted():
        return EntrantSpec(name or word, scripted=word)
    raise ConfigError(_not_an_entrant(word), kind="not-an-entrant")


def parse_entrants(words: Sequence[str], folder: Path, **options: Any) -> tuple[EntrantSpec, ...]:
    """`parse_entrant` for each word, with the keywords it takes besides `name`.

    One policy named twice is one entrant twice, under one name. Different ones never share a name: where their short
    names are equal, each gets a piece of its word's hash.
    """
    specs = [parse_entrant(word, folder, **options) for word in words]
    namesakes: dict[str, set[str]] = {}
    for spec in specs:
        namesakes.setdefault(spec.name.casefold(), set()).add(canonical(spec.to_json()))
    return tuple(
        replace(spec, name=_marked(spec.name, word)) if len(namesakes[spec.name.casefold()]) > 1 else spec
        for word, spec in zip(words, specs, strict=True)
    )


def policies_for(specs: Iterable[EntrantSpec], game: AnyGame, config: BaseModel) -> tuple[Policy, ...]:
    """How each of `specs` plays `game` under `config`, named as the entrant is.

    Raises ConfigError for one that does not play it; filter with `EntrantSpec.plays` where that is no mistake.
    """
    return tuple(_policy(spec, game, config) for spec in specs)


def _policy(spec: EntrantSpec, game: AnyGame, config: BaseModel) -> Policy:
    if spec.scripted is not None and spec.plays(game.name):
        policy = scripted(game.name, spec.scripted)
        return policy if spec.name == policy.name else Renamed(spec.name, policy)
    file = spec.prompt_for(game.name)
    if file is None or spec.model is None:
        raise ConfigError(f"{spec.name} does not play {game.name}", kind="wrong-game")
    return PromptedPolicy(
        name=spec.name,
        prompt=file.prompt,
        model=spec.model,
        sampling=spec.sampling,
        style=spec.style_with(file),
        game=game,
        config=config,
    )


@dataclass(frozen=True, slots=True)
class Renamed:
    """A policy under an entrant's name. It plays as before, so its digest stays."""

    name: str
    policy: Policy

    @property
    def digest(self) -> str:
        return self.policy.digest

    @property
    def model(self) -> str | None:
        return self.policy.model

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> Player:
        return self.policy.sit(seat, rng, client)


def every_scripted() -> tuple[str, ...]:
    """The scripted policies of all games, sorted."""
    return tuple(sorted({name for game in GAMES for name in scripted_names(game)}))


def require_name(name: str) -> str:
    """`name`, if an entrant may be called so. Raises ConfigError."""
    if name.casefold() in NO_NAMES:
        raise ConfigError(
            f"{quote(name)} cannot name an entrant: readers of CSV take the word for a missing value",
            kind="entrant-name",
        )
    if _NAME.fullmatch(name):
        return name
    raise ConfigError(
        f"{quote(name)} cannot name an entrant: letters, digits, '.', '_' and '-', at most {LONGEST_NAME}, "
        f"first a letter or digit",
        kind="entrant-name",
    )


def require_model(word: str) -> str:
    """`word`, if it has the form `provider:model`. Raises ConfigError."""
    if _MODEL.fullmatch(word):
        return word
    raise ConfigError(
        f"{quote(word)} is no model: write provider:model, as in anthropic:claude-x or local:smollm2",
        kind="not-a-model",
    )


def default_name(prompt: str, model: str) -> str:
    """A short name for a prompt and a model: `tempo-claude-x`.

    Where letters had to be left out for it, a piece of the hash of both keeps it apart from others cut the same way.
    """
    whole = f"{PurePath(prompt).stem}-{model.partition(':')[2]}"
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", whole).lstrip("._-")
    if cleaned == whole and len(cleaned) <= LONGEST_NAME:
        return cleaned
    return _marked(cleaned, f"{prompt}@{model}")


def _marked(name: str, word: str) -> str:
    mark = hashlib.sha256(word.encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return f"{name[: LONGEST_NAME - 7]}-{mark}".lstrip("-")


def _known(name: str, known: Mapping[str, EntrantSpec] | None) -> EntrantSpec:
    if known is None:
        raise ConfigError(f"@{name} is an entrant of a config: say which one with --config", kind="config-missing")
    if name not in known:
        raise ConfigError(
            f"@{name}: the config has no entrant {quote(name)}{did_you_mean(name, known)}", kind="unknown-entrant"
        )
    return known[name]


_FORMS = "an entrant is a scripted policy ({}), PROMPT.md@provider:model, or @name"


def _not_an_entrant(word: str) -> str:
    names = every_scripted()
    if not word.strip():
        return _FORMS.format(", ".join(names))
    if word == HUMAN:
        return f"{HUMAN} is a person at a seat of `weigh play`; who plays here plays unattended"
    if " " in word.strip() and all(part in names for part in word.split()):
        return f"{quote(word)} is one word with a space in it: give each entrant as a word of its own"
    if " " in word.strip() and "@" not in word and not word.endswith(".md"):
        return f"{quote(word)} is no entrant (a program cannot play): {_FORMS.format(', '.join(names))}"
    if word.endswith(".md"):
        return f"{quote(word)} is a prompt without a model: write {word}@provider:model, as in {word}@local:smollm2"
    if "@" in word:
        return f"{quote(word)}: what stands before the @ is a prompt file and ends in .md"
    if _MODEL.fullmatch(word):
        return f"{quote(word)} is a model without a prompt: write PROMPT.md@{word}; `weigh policies` lists prompts"
    return f"{quote(word)} is no policy{did_you_mean(word, names)}"
