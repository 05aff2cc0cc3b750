"""The baseline file: what a baseline policy scored in which blocks, small enough to be committed.

Owns its form, its digest, and what is compared before a candidate may be held against it. `docs/reference/output.md`
describes it field by field. Knows no policies and plays nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field, JsonValue, ValidationError

from weigh.games.values import quote
from weigh.harness.errors import BaselineInvalid
from weigh.harness.store.record import Frozen
from weigh.harness.words import in_words
from weigh.policies.contract import canonical

SCHEMA: Final = 1
"""Raised whenever a reader of older files would misread a newer one."""

LARGEST: Final = 10_000_000
"""Bytes; what is larger is no baseline file."""

Score = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Measure = Annotated[float, Field(allow_inf_nan=False)]


class FieldPlayer(Frozen):
    """One policy of the field."""

    name: str
    digest: str


class FocalPolicy(Frozen):
    """The policy that played."""

    name: str
    digest: str
    model: str | None
    """None for a scripted one."""
    prompt: str | None
    """SHA-256, hex, of its prompt file."""
    style: str | None = None
    """How it asked for answers, here and below: None for a scripted one, and where an older file does not say."""
    sampling: dict[str, JsonValue] | None = None
    endpoint: str | None = None
    """Where its model was asked; `this machine` for a server on it."""


class Conditions(Frozen):
    """All that must be equal in both arms beside the policy under test."""

    game: str
    config: dict[str, JsonValue]
    seed: int = Field(ge=0)
    field: tuple[FieldPlayer, ...] = Field(strict=False, min_length=1)
    """In the order in which they take their seats."""
    rules: str
    """SHA-256, hex, of the rulebook and of scripted probe episodes: another value, and the rules, the scripted policies
    or the streams of randomness are others."""
    layout: int
    """The version of the prompts' layout. Compared where the baseline has a model."""
    decision_timeout: float = Field(gt=0, allow_inf_nan=False)
    episode_deadline: float | None = Field(gt=0, allow_inf_nan=False)


class BlockScores(Frozen):
    """What the focal policy scored in one block."""

    key: str
    scores: tuple[Score | None, ...] = Field(strict=False, min_length=2)
    """By its seat; None for an episode that is void."""

    @property
    def whole(self) -> bool:
        return None not in self.scores


class Baseline(Frozen):
    """A baseline file."""

    kind: Literal["weigh-baseline"] = "weigh-baseline"
    schema_version: int = SCHEMA
    digest: str
    """`digest_of` all the rest."""
    conditions: Conditions
    policy: FocalPolicy
    versions: dict[str, str]
    """Those that played it. Told, never a reason to refuse."""
    blocks: tuple[BlockScores, ...] = Field(strict=False, min_length=1)
    measures: dict[str, Measure | None]
    """Secondary measures over its episodes, by name; None where nothing was observed."""
    errors: dict[str, Measure | None] = Field(default_factory=dict)
    """Their standard errors, clustered by block; none in older files."""

    @property
    def whole(self) -> tuple[BlockScores, ...]:
        """The blocks without a void episode: those that are played again."""
        return tuple(block for block in self.blocks if block.whole)

    @property
    def means(self) -> tuple[float, ...]:
        """The mean score in each whole block."""
        return tuple(sum(filter(None, block.scores)) / len(block.scores) for block in self.whole)


def made(
    conditions: Conditions,
    policy: FocalPolicy,
    versions: Mapping[str, str],
    blocks: Sequence[BlockScores],
    measures: Mapping[str, float | None],
    errors: Mapping[str, float | None] | None = None,
) -> Baseline:
    """The baseline with its digest."""
    unsigned = Baseline(
        digest="",
        conditions=conditions,
        policy=policy,
        versions=dict(versions),
        blocks=tuple(blocks),
        measures=dict(measures),
        errors=dict(errors or {}),
    )
    return unsigned.model_copy(update={"digest": digest_of(unsigned)})


def digest_of(baseline: Baseline) -> str:
    """SHA-256, hex, over the canonical JSON of everything but the digest itself."""
    document = _document(baseline)
    del document["digest"]
    return hashlib.sha256(canonical(document).encode()).hexdigest()


ADDED: Final = ("style", "sampling", "endpoint")
"""Keys of `policy` that older files do not have: left out where they say nothing, as `errors` is."""


def _document(baseline: Baseline) -> dict[str, Any]:
    """The file's object."""
    document = baseline.model_dump(mode="json")
    for key in ADDED:
        if document["policy"][key] is None:
            del document["policy"][key]
    if not document["errors"]:
        del document["errors"]
    return document


def written(baseline: Baseline) -> str:
    """The file's text: equal baselines give equal bytes, and a block stands on a line of its own."""
    document = _document(baseline)
    blocks = ",\n".join(f"  {json.dumps(block)}" for block in document.pop("blocks"))
    head = json.dumps(document, indent=1)[:-2]
    return f'{head},\n "blocks": [\n{blocks}\n ]\n}}\n'


def read_baseline(text: str, source: str) -> Baseline:
    """The baseline that a file's text is. Its digest is not checked: see `faults`. Raises BaselineInvalid."""
    try:
        document = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise BaselineInvalid(f"{source}: is no baseline file: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != "weigh-baseline":
        raise BaselineInvalid(f"{source}: is no baseline file; `weigh gate --save-baseline FILE` writes one")
    version = document.get("schema_version")
    if version != SCHEMA or isinstance(version, bool):
        newer = isinstance(version, int) and version > SCHEMA
        remedy = "upgrade weigh" if newer else "save the baseline again"
        raise BaselineInvalid(
            f"{source}: its schema_version is {quote(version)}, this version of weigh reads {SCHEMA}; {remedy}"
        )
    try:
        return Baseline.model_validate(document)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)[0]
        where = ".".join(map(str, details["loc"]))
        raise BaselineInvalid(f"{source}: {where}: {in_words(details, Baseline)}") from error


def faults(baseline: Baseline, now: Conditions, seats: int | None = None) -> list[str]:
    """Why no candidate may be held against this baseline under the conditions of today, a line each; none when it may.

    A line names what differs with both values: `config.cards: 13 in the baseline, 6 now`. `seats` is how many scores a
    block has; None for whatever the first one has.
    """
    lines = []
    if digest_of(baseline) != baseline.digest:
        lines.append("digest: the file was edited after it was saved; restore it, or save the baseline again")
    was, is_now = baseline.conditions, now
    for place in ("game", "seed", "decision_timeout", "episode_deadline"):
        lines += _compare(place, getattr(was, place), getattr(is_now, place))
    lines += _compare("config", was.config, is_now.config)
    names = [[player.name for player in side.field] for side in (was, is_now)]
    if names[0] != names[1]:
        lines.append(f"field: {', '.join(names[0])} in the baseline, {', '.join(names[1])} now")
    else:
        for old, new in zip(was.field, is_now.field, strict=True):
            lines += _compare(f"field.{old.name}.digest", old.digest, new.digest)
    if baseline.policy.model is not None:
        lines += _compare("layout", was.layout, is_now.layout)
    if not lines or lines[-1].startswith("digest"):  # else it follows from what is named already
        lines += _compare("rules", was.rules, is_now.rules)
    wanted = seats if seats is not None else len(baseline.blocks[0].scores)
    odd = next((block for block in baseline.blocks if len(block.scores) != wanted), None)
    if odd is not None and not lines:
        lines.append(f"blocks: {quote(odd.key)} has {len(odd.scores)} scores, and a block here has {wanted}")
    return lines


def _compare(place: str, was: object, is_now: object) -> list[str]:
    before, after = dict(_leaves(was, place)), dict(_leaves(is_now, place))
    return [
        f"{where}: {_said(before, where)} in the baseline, {_said(after, where)} now"
        for where in dict.fromkeys([*before, *after])
        if _said(before, where) != _said(after, where)
    ]


def _said(leaves: Mapping[str, object], where: str) -> str:
    return canonical(leaves[where]) if where in leaves else "not set"


def _leaves(value: object, place: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{place}[{index}]")
    else:
        yield place, value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {quote(twice)} stands twice in one object")
    return document
