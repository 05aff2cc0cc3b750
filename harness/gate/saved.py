"""Whether a baseline file is what the run it was saved from makes of it.

Owns the comparison of the two, and the finding of runs that can be compared. A file's own digest shows that it was
edited by hand; who edits it and makes the digest again is found here alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, zip_longest
from math import isclose
from pathlib import Path
from typing import Final

from weigh.harness.audit.verify.findings import Finding, show
from weigh.harness.config.blocks import Block, Role
from weigh.harness.config.schedule import Episode
from weigh.harness.errors import StoreRefused
from weigh.harness.gate.baseline import Baseline, digest_of
from weigh.harness.gate.conduct import measures_of
from weigh.harness.store.kinds import ARM, kind_of
from weigh.harness.store.manifest import Manifest, table_in
from weigh.harness.store.store import Store

ROLE: Final[Role] = "baseline"


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
            if not _close(value, true.get(name)):
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
    said = baseline.conditions
    return {
        "seed": said.seed,
        "config": said.config,
        "field": {player.name: player.digest for player in said.field},
        "order": [player.name for player in said.field],
        "rules": said.rules,
        "layout": said.layout,
        "decision_timeout": said.decision_timeout,
        "episode_deadline": said.episode_deadline,
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
        "seed": manifest.seed,
        "config": table_in(manifest.config, "games", game).get("config"),
        "field": {str(name): _policy(manifest, game, str(name)).get("digest") for name in field},
        "order": field,
        "rules": gate.get("rules"),
        "layout": gate.get("layout"),
        "decision_timeout": limits.get("decision_timeout"),
        "episode_deadline": limits.get("episode_deadline"),
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


def _close(told: float | None, true: float | None) -> bool:
    if told is None or true is None:
        return told is true
    return isclose(told, true, rel_tol=1e-9, abs_tol=1e-12)
