"""The baseline file: what a baseline policy scored in which blocks, small enough to be committed.

Owns its form, its digest, what is compared before a candidate may be held against it, and whether it is what the run it
was saved from makes of it: a file's own digest shows a slip, not who edits it and makes the digest again.
`docs/reference/output.md` describes it field by field. Plays nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from math import isclose
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, JsonValue, ValidationError

from weigh.games.values import quote
from weigh.harness.audit.verify.findings import Finding, show
from weigh.harness.config.blocks import Block, Role
from weigh.harness.config.schedule import Episode
from weigh.harness.errors import BaselineInvalid, Refused, StoreRefused
from weigh.harness.gate.measures import measures_of
from weigh.harness.store.kinds import ARM, kind_of
from weigh.harness.store.manifest import Manifest, config_differences, table_in
from weigh.harness.store.record import Frozen
from weigh.harness.store.store import Store
from weigh.harness.words import in_words
from weigh.policies.contract import canonical

SCHEMA: Final = 1
"""Raised whenever a reader of older files would misread a newer one."""

LARGEST: Final = 10_000_000
"""Bytes; what is larger is no baseline file."""

ROLE: Final[Role] = "baseline"

Score = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Measure = Annotated[float, Field(allow_inf_nan=False)]


class FieldPlayer(Frozen):
    """One policy of the field."""

    name: str
    digest: str


class PolicyIdentity(Frozen):
    """The policy of an arm, by all that tells it from another."""

    name: str
    digest: str
    """SHA-256, hex."""
    model: str | None = None
    """None for a scripted one."""
    prompt: str | None = None
    """SHA-256, hex, of its prompt file."""
    style: str | None = None
    """How it asks for answers, here and below: None for a scripted one, and where an older file does not say."""
    sampling: dict[str, JsonValue] | None = None
    """`max_tokens`, `temperature` (None: the provider's), `seed` and `extra`."""
    endpoint: str | None = None
    """Where its model is asked; `this machine` for a server on it."""

    def __str__(self) -> str:
        """In one line: name, digest, model, prompt and sampling."""
        parts = [self.name, f"digest {self.digest[:12]}"]
        if self.model is not None:
            parts += [self.model, f"prompt {(self.prompt or '-')[:12]}"]
            parts += [self.style] if self.style is not None else []
            settings = [(key, value) for key, value in (self.sampling or {}).items() if key in ALWAYS or value]
            known = self.sampling is not None
            parts += [_setting(key, value) for key, value in settings] if known else ["sampling not known"]
        return ", ".join(parts)


ALWAYS: Final = ("temperature",)
"""Settings that are told where they are not set, too."""


def _setting(key: str, value: object) -> str:
    text = {"temperature": "of the provider", "seed": "not set"}.get(key, "-") if value is None else str(value)
    return f"{key.replace('_', ' ')} {text}"


def differing(mine: PolicyIdentity, theirs: PolicyIdentity) -> tuple[str, ...]:
    """In what a policy differs from another: `prompt`, `temperature 1.7`. Empty for one and the same."""
    if mine.model is None or theirs.model is None:
        return () if mine.digest == theirs.digest else (f"policy {mine.name}",)
    found = [f"model {mine.model}"] if mine.model != theirs.model else []
    found += ["prompt"] if mine.prompt != theirs.prompt else []
    found += [f"style {mine.style}"] if theirs.style not in (None, mine.style) else []
    if mine.sampling is not None and theirs.sampling is not None:
        keys = dict.fromkeys([*theirs.sampling, *mine.sampling])
        values = {key: mine.sampling.get(key) for key in keys if mine.sampling.get(key) != theirs.sampling.get(key)}
        found += [_setting(key, value) for key, value in values.items()]
    found += [f"endpoint {mine.endpoint}"] if theirs.endpoint not in (None, mine.endpoint) else []
    return tuple(found) if found or mine.digest == theirs.digest else ("policy digest",)


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
    policy: PolicyIdentity
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
    policy: PolicyIdentity,
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


def load_baseline(path: Path) -> Baseline:
    """The baseline of a file. Raises Refused where there is none."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise Refused(
            f"{path}: {error.strerror or error}; `weigh gate --save-baseline FILE` writes one", kind="no-baseline"
        ) from error
    if len(content) > LARGEST:
        raise Refused(f"{path}: larger than {LARGEST // 1_000_000} MB, so no baseline file", kind="baseline")
    try:
        return read_baseline(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: not UTF-8 text, so no baseline file", kind="baseline") from error
    except BaselineInvalid as error:
        raise Refused(str(error), kind=error.kind) from error


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
    edited = len(lines)
    was, is_now = baseline.conditions, now
    names = [[player.name for player in side.field] for side in (was, is_now)]
    kept = {"field", "rules"} if baseline.policy.model is not None else {"field", "rules", "layout"}
    before, after = (side.model_dump(mode="json", exclude=kept) for side in (was, is_now))
    if names[0] != names[1]:
        lines.append(f"opponents: {', '.join(names[0])} in the baseline, {', '.join(names[1])} now")
    else:
        for side, conditions in ((before, was), (after, is_now)):
            side["opponents"] = {player.name: {"digest": player.digest} for player in conditions.field}
    found = config_differences(before, after)
    if len(lines) == edited and not found:  # else it follows from what is named already
        found = config_differences({"rules": was.rules}, {"rules": is_now.rules})
    lines += [f"{place}: {one} in the baseline, {other} now" for place, one, other in found]
    wanted = seats if seats is not None else len(baseline.blocks[0].scores)
    odd = next((block for block in baseline.blocks if len(block.scores) != wanted), None)
    if odd is not None and not lines:
        lines.append(f"blocks: {quote(odd.key)} has {len(odd.scores)} scores, and a block here has {wanted}")
    return lines


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {quote(twice)} stands twice in one object")
    return document


def check_baseline(baseline: Baseline, store: Store) -> Iterator[Finding]:
    """Everything in which a baseline file differs from the run it is said to be saved from."""
    if digest_of(baseline) != baseline.digest:
        yield Finding("digest", "is not that of the file", show(baseline.digest), show(digest_of(baseline)))
    if not is_of(baseline, store.manifest):
        ordered, named = _ordered(store.manifest, baseline.conditions.game), _named(baseline)
        if ordered is None:
            yield Finding("the run", "is not one that a baseline of this game is saved from")
            return
        for key, said in named.items():
            if said != ordered[key]:
                yield Finding(key, "is not that of the run", show(said), show(ordered[key]))
        return
    blocks = _blocks(store, baseline.conditions.game)[: len(baseline.blocks)]
    scores = _scores(store)
    for saved, played in zip_longest(baseline.blocks, blocks):
        due = None if played is None else [scores.get(episode.key) for episode in played.episodes]
        if played is None or saved.key != played.key:
            yield Finding("blocks", "are not those of the run", show(saved.key), show(played and played.key))
            return
        if list(saved.scores) != due:
            yield Finding("scores", "are not those of the run", show(list(saved.scores)), show(due), saved.key)
    measured = measures_of(store, blocks, ROLE)
    for where, told, true in (
        ("measures", baseline.measures, measured.values),
        ("errors", baseline.errors, measured.errors),
    ):
        for name, value in told.items():
            if not _equal(value, true.get(name)):
                yield Finding(f"{where}.{name}", "is not that of the run", show(value), show(true.get(name)))


def is_of(baseline: Baseline, manifest: Manifest) -> bool:
    """Whether a run was ordered as the baseline was: then its first blocks are those of the file."""
    return _named(baseline) == _ordered(manifest, baseline.conditions.game)


def run_against(baseline: Baseline, results: Path) -> Path | None:
    """A run below `results` whose scores a baseline of scripted policies has not; None where there is none.

    Scripted policies play the same whenever they are asked, so that every run of the same order must agree. A model
    does not: its file may be of another run than one that lies here.
    """
    for place in sorted([*results.glob(f"gate-*/{ROLE}-*"), *results.glob(f"gate-*/*/{ROLE}-*")]):
        try:
            with Store.open(place, readonly=True) as store:
                if not is_of(baseline, store.manifest) or _model(store.manifest, baseline.conditions.game) is not None:
                    continue
                kept = {block.key: block for block in _blocks(store, baseline.conditions.game)}
                scores = _scores(store)
        except StoreRefused:
            continue
        for saved in baseline.blocks:
            due = [scores.get(episode.key) for episode in kept[saved.key].episodes] if saved.key in kept else []
            if due and None not in due and list(saved.scores) != due:
                return place
    return None


def _named(baseline: Baseline) -> dict[str, object]:
    """What decides a baseline's scores, as its file says it."""
    return {
        **baseline.conditions.model_dump(mode="json"),
        "policy": baseline.policy.digest,
        "model": baseline.policy.model,
    }


def _ordered(manifest: Manifest, game: str) -> dict[str, object] | None:
    """The same as a run's manifest says it; None for a run that is no baseline of this game."""
    gate, limits = table_in(manifest.config, ARM), table_in(manifest.config, "limits")
    field = gate.get("field")
    if kind_of(manifest) != "arm" or gate.get("role") != ROLE or not isinstance(field, list):
        return None
    return {
        "game": game,
        "seed": manifest.seed,
        "config": table_in(manifest.config, "games", game).get("config"),
        "field": [{"name": name, "digest": _policy(manifest, game, str(name)).get("digest")} for name in field],
        **{name: gate.get(name) for name in ("rules", "layout")},
        **{name: limits.get(name) for name in ("decision_timeout", "episode_deadline")},
        "policy": _policy(manifest, game, ROLE).get("digest"),
        "model": _model(manifest, game),
    }


def _policy(manifest: Manifest, game: str, name: str) -> Mapping[str, object]:
    return manifest.policy(game, name) or {}


def _model(manifest: Manifest, game: str) -> object:
    return _policy(manifest, game, ROLE).get("model")


def _blocks(store: Store, game: str) -> list[Block]:
    rows = (row for row in store.episodes() if row.game == game and row.deal_key)
    return [
        Block(key, tuple(Episode(row.key, row.game, row.block, row.entrants, row.deal_key) for row in block))
        for key, block in groupby(rows, key=lambda row: row.block)
    ]


def _scores(store: Store) -> dict[str, float]:
    """What the baseline scored, by the episodes that are finished."""
    return {
        record.key: record.scores[record.entrants.index(ROLE)] for record in store.records() if ROLE in record.entrants
    }


def _equal(told: float | None, true: float | None) -> bool:
    if told is None or true is None:
        return told is true
    return isclose(told, true, rel_tol=1e-9, abs_tol=1e-12)
